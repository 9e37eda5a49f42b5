/* ctf.c - libFuzzer target: decodes the packets of a stream file. The first
 * byte chooses the metadata, which together have every class;
 * tests/fuzz/ctf_meta.c is for metadata. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/plan.h"
#include "stitch/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TYPES                                                                  \
	"/* CTF 1.8 */ typealias integer { size = 8; } := u8;"                 \
	"typealias integer { size = 16; align = 8; } := u16;"                  \
	"typealias integer { size = 32; align = 8; } := u32;"                  \
	"typealias integer { size = 64; align = 8; } := u64;"                  \
	"typealias integer { size = 3; } := u3;"                               \
	"typealias integer { size = 5; } := u5;"                               \
	"typealias integer { size = 8; encoding = UTF8; } := ch;"              \
	"clock { name = c; freq = 1000; };"
#define EVENTS_OF(more)                                                        \
	" event.header := struct { enum : u5 { compact = 0 ... 30,"            \
	" extended = 31 } id; variant <id> { struct { integer { size = 27;"    \
	" map = clock.c.value; } t; } compact; struct { u32 id; u64 t;"        \
	" } extended; } v; } align(8);" more

static const char *const metadata[] = {
	TYPES
	"trace { major = 1; minor = 8; byte_order = le;"
	" packet.header := struct { u32 magic; u32 stream_id; }; };"
	"stream { id = 0; packet.context := struct { u32 content_size;"
	" u32 packet_size; u8 cpu_id; string note; };" EVENTS_OF(
		" event.context := struct { u32 vpid; u32 vtid; ch"
		" procname[17]; u64 ip; u32 n; u64"
		" callstack_user[n]; };") " };"
					  "event { name = a; id = 0; fields := struct { u3 x; u5 y; u16 n;"
					  " u32 l[n]; string s; u8 k; ch t[k]; ch f[5]; u8 b[k]; }; };"
					  "event { name = b; id = 1; fields := struct { enum : u8 { p = 0"
					  " ... 9, q = 17, r } e; variant <e> { u64 p; struct { u8 m;"
					  " string s[m]; } q; struct {} r; } v; struct { u16 d; struct {"
					  " u3 i; } in; } o[2]; floating_point { exp_dig = 8;"
					  " mant_dig = 24; align = 8; } g; }; };"
					  "event { name = \"stitch:ustack\"; id = 2; fields := struct {"
					  " u64 cookie; u32 n; u64 ips[n]; }; };"
					  "event { name = sched_switch; id = 3; fields := struct { ch"
					  " prev_comm[16]; u32 prev_tid; u64 prev_state; ch"
					  " next_comm[16]; u32 next_tid; u64 n; struct {} z[n]; }; };",
	TYPES "trace { major = 1; minor = 8; byte_order = be; };"
	      "event { name = a; fields := struct { u3 x; u5 y; u16 n;"
	      " u5 l[n]; integer { size = 63; align = 1; } w; string s;"
	      " integer { size = 64; align = 64; } z[n]; }; };",
#define CLASS(name, more)                                                      \
	"{\"name\":\"" name "\",\"field-class\":{\"type\":\"" more "}}"
	"\x1e{\"type\":\"preamble\",\"version\":2}\n"
	"\x1e{\"type\":\"data-stream-class\"}\n"
	"\x1e{\"type\":\"event-record-class\",\"name\":\"e\","
	"\"payload-field-class\":{\"type\":\"structure\","
	"\"member-classes\":[" CLASS("a", "variable-length-unsigned-integer\"") "," CLASS("b", "variable-length-signed-integer\"") "," CLASS("s", "null-terminated-string\",\"encoding\":\"utf-16le\"") "," CLASS(
		"d",
		"dynamic-length-blob\",\"length-field-location\":"
		"{\"path\":[\"a\"]}") "," CLASS("t",
						"dynamic-length-string\",\"encoding\":\"utf-32be\","
						"\"length-field-location\":{\"path\":[\"a\"]}") "," CLASS("o",
													  "optional\",\"selector-field-location\":"
													  "{\"path\":[\"b\"]},\"selector-field-ranges\":[[-5,5]],"
													  "\"field-class\":{\"type\":\"static-length-blob\","
													  "\"length\":3}") "," CLASS("l",
																     "dynamic-length-array\",\"length-field-location\":"
																     "{\"path\":[\"a\"]},\"element-field-class\":{\"type\":"
																     "\"structure\"}") "]}}\n",
};

#define METADATA (sizeof(metadata) / sizeof(*metadata))

static struct ctf ctf;
static struct ctf_schema *schema[METADATA];
static struct ctf_state state;
static unsigned char payload[1 << 18];
#define SLOTS 64
static uint64_t slot[SLOTS], clock_value[SLOTS];

static struct ctf_schema *fuzz_ctf_schema(size_t i)
{
	struct bytes b;

	if (schema[i])
		return schema[i];
	bytes_init(&b, metadata[i], strlen(metadata[i]), "metadata", 0, false);
	schema[i] = ctf_schema_new(&b);
	if (schema[i]->err) {
		fputs(schema[i]->err->msg, stderr);
		abort();
	}
	return schema[i];
}

/* Decodes one event. Returns false at the end of the packet or at damage. */
static bool fuzz_ctf_event(const struct ctf_schema *sm,
			   const struct ctf_packet *p)
{
	struct ctf_state *st = &state;
	const uint64_t at = st->cur.at;
	const char *why;

	if (at >= p->end || ctf_run(&p->plan->header, st))
		return false;
	struct ctf_class *cl = ctf_class_of(&ctf, sm, p->plan,
					    st->role[CTF_EVENT_CLASS_ID], &why);

	if (!cl)
		return false;
	ctf_state_clear(st);
	st->raw = payload;
	st->raw_len = cl->fixed;
	const uint64_t body = st->cur.at;

	st->cur.at = p->context;
	st->again = true;
	if (cl->packet.n && ctf_run(&cl->packet, st))
		abort();
	st->again = false;
	st->cur.at = body;
	if (ctf_run(&cl->event_fields, st))
		return false;
	if (st->cur.at > p->end || st->raw_len > sizeof(payload) ||
	    st->cur.at < at)
		abort();
	return st->cur.at > at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctf_packet p;
	struct bytes b;

	if (!size)
		return 0;
	const struct ctf_schema *sm = fuzz_ctf_schema(*data % METADATA);

	if (sm->n_slot >= SLOTS || sm->tree.n_clock >= SLOTS)
		abort();
	memset(slot, 0, sizeof(slot));
	memset(clock_value, 0, sizeof(clock_value));
	state.slot = slot;
	state.clock = clock_value;
	bytes_init(&b, data + 1, size - 1, "stream", 0, false);
	while (bytes_left(&b)) {
		uint64_t len;

		if (!ctf_packet_read(sm, &state, &b, NULL, &p)) {
			while (fuzz_ctf_event(sm, &p))
				;
			len = p.len;
		} else {
			len = ctf_packet_find(sm, &state, &b, 1, NULL, &p);
		}
		if (!len || bytes_skip(&b, len, NULL))
			abort();
	}
	return 0;
}
