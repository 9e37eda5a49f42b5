/* ctf.c - libFuzzer target: decodes the packets of a CTF trace: metadata, then
 * a stream file, with a 0xff between them. Metadata is parsed when it is not
 * that of the input before. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctf ctf;
static struct ctf_schema *schema;
static char *meta;
static size_t meta_len;
static struct ctf_state state;
static unsigned char payload[1 << 18];

static void fuzz_ctf_forget(void)
{
	ctf_schema_free(schema);
	schema = NULL;
	for (size_t i = 0; i < ctf.n_event; i++)
		tp_format_release(&ctf.event[i].fmt);
	table_release(&ctf.by_layout);
	arena_release(&ctf.arena);
	free(ctf.event);
	free(ctf.def);
	free(meta);
	free(state.slot);
	free(state.clock);
	ctf_state_release(&state);
	ctf = (struct ctf){ 0 };
}

static void fuzz_ctf_learn(const uint8_t *data, size_t n)
{
	struct bytes b;

	if (schema && n == meta_len && !memcmp(meta, data, n))
		return;
	fuzz_ctf_forget();
	meta = mem_dup(n ? data : (const uint8_t *)"", n);
	meta_len = n;
	bytes_init(&b, meta, n, "metadata", 0, false);
	schema = ctf_schema_new(&b);
	state.slot = mem_new(schema->n_slot + 1u, sizeof(*state.slot));
	state.clock = mem_new(schema->tree.n_clock + 1u, sizeof(*state.clock));
}

/* Decodes one event. Returns false at the end of the packet or at damage. */
static bool fuzz_ctf_event(const struct ctf_packet *p)
{
	struct ctf_state *st = &state;
	const uint64_t at = st->cur.at;

	if (at >= p->end || ctf_run(&p->plan->header, st))
		return false;
	struct ctf_class *cl = ctf_class_of(&ctf, schema, p->plan,
					    st->role[CTF_EVENT_CLASS_ID]);

	if (!cl || cl->fixed > sizeof(payload) / 2)
		return false;
	ctf_state_clear(st);
	st->raw = payload;
	st->raw_len = cl->fixed;
	if (ctf_run(&cl->event_fields, st))
		return false;
	if (st->cur.at > p->end || st->raw_len > sizeof(payload) ||
	    st->cur.at < at)
		abort();
	return st->cur.at > at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
	size_t n = cut ? (size_t)(cut - data) : size;
	struct ctf_packet p;
	struct bytes b;

	fuzz_ctf_learn(data, n);
	if (!cut || schema->err)
		return 0;
	bytes_init(&b, cut + 1, size - n - 1, "stream", 0, false);
	while (bytes_left(&b)) {
		uint64_t len;

		if (!ctf_packet_read(schema, &state, &b, NULL, &p)) {
			while (fuzz_ctf_event(&p))
				;
			len = p.len;
		} else {
			len = ctf_packet_find(schema, &state, &b, 1, NULL, &p);
		}
		if (!len || bytes_skip(&b, len, NULL))
			abort();
	}
	return 0;
}
