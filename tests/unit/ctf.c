/* ctf.c - tests of the CTF reader: a trace of a few bytes in, a line for each
 * event out. Behind it, the pool and the rules of requests and chains. */
#include "formats/ctf/ctf.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "tests/unit/run.h"

#define FILES_MAX 3

/* A trace: its metadata, the bytes of its files in hexadecimal, and what is
 * read: "@TIME NAME FIELD=VALUE ...", and damage. */
struct ctf_case {
	const char *name, *meta;
	const char *file[FILES_MAX];
	const char *want;
};

static char folder[32];

/* Options of the next read_folder(). */
static const struct source_opts *opened_with;

static void put_file(const char *name, const void *data, size_t n)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!n) {
		unlink(path);
		return;
	}
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, n, f), n);
	fclose(f);
}

static unsigned int hex_value(char c)
{
	return c <= '9' ? (unsigned int)(c - '0')
			: (unsigned int)(c - 'a') + 10;
}

/* Two digits are a byte; blanks and what follows '#' up to '\n' do not count;
 * "*N" fills with zeros up to N bytes. */
static size_t hex_take(const char *s, unsigned char *out)
{
	size_t n = 0;

	for (; s && *s; s++) {
		if (*s == '#')
			s += strcspn(s, "\n");
		if (*s == '*')
			for (size_t to = strtoul(s + 1, (char **)&s, 10);
			     n < to;)
				out[n++] = 0;
		if (*s == ' ' || *s == '\n' || !*s) {
			s -= !*s;
			continue;
		}
		out[n++] =
			(unsigned char)(hex_value(s[0]) << 4 | hex_value(s[1]));
		s++;
	}
	return n;
}

static void print_field(FILE *f, const struct field_def *def,
			const struct field *v)
{
	const unsigned char *blob = v->blob;

	fprintf(f, " %s=", def->name);
	if (!v->present)
		fputs("?", f);
	else if (v->text)
		fprintf(f, "'%s'", v->text);
	else if (!def->is_text && !def->is_blob)
		fprintf(f, def->is_signed ? "%" PRId64 : "%" PRIu64, v->num);
	for (uint32_t i = 0; blob && i < v->len; i++)
		fprintf(f, "%02x", blob[i]);
}

static void print_chain(FILE *f, const struct record *rec)
{
	const struct addrs *user = &rec->chain.user;

	fprintf(f, "@%" PRIu64 " chain %" PRIu64, rec->time, rec->chain.cookie);
	for (size_t i = 0; i < user->n; i++)
		if (user->place && user->place[i])
			fprintf(f, " %s", user->place[i]->symbol);
		else
			fprintf(f, " u:%" PRIx64, user->ip[i]);
	fputc('\n', f);
}

static void print_record(FILE *f, struct source *src, const struct record *rec)
{
	struct field v[64];
	struct err err;

	if (rec->kind == REC_CHAIN)
		print_chain(f, rec);
	if (rec->kind == REC_LOST)
		fprintf(f, "@%" PRIu64 " lost %" PRIu64 "\n", rec->time,
			rec->lost.n);
	if (rec->kind == REC_COMM)
		fprintf(f, "@%" PRIu64 " comm %d %s\n", rec->time, rec->tid,
			rec->comm.name);
	if (rec->kind != REC_SAMPLE)
		return;
	const struct event_def *e = &src->events[rec->sample.event];

	fprintf(f, "@%" PRIu64 " %s", rec->time, e->name);
	if (rec->cpu >= 0)
		fprintf(f, " cpu%d", rec->cpu);
	if (rec->tid >= 0)
		fprintf(f, " %d/%d", rec->pid, rec->tid);
	if (!opened_with || !opened_with->no_fields) {
		ck_assert_uint_lt(e->n_fields, 64);
		ck_assert(!src->ops->fields(src, &rec->sample, v, &err));
		for (uint32_t i = 0; i < e->n_fields; i++)
			print_field(f, &e->fields[i], &v[i]);
	}
	for (size_t i = 0; i < rec->sample.kern.n; i++)
		fprintf(f, " k:%" PRIx64, rec->sample.kern.ip[i]);
	for (size_t i = 0; i < rec->sample.user.n; i++)
		fprintf(f, " u:%" PRIx64, rec->sample.user.ip[i]);
	for (size_t i = 0; i < rec->sample.n_extra; i++)
		fprintf(f, " %s", rec->sample.extra[i].name);
	fputc('\n', f);
}

/* The text behind the folder's name. */
static void print_damage(FILE *f, struct ledger *lg)
{
	struct ledger_entry e;

	while (ledger_take(lg, &e)) {
		const char *slash = e.detail ? strrchr(e.detail, '/') : NULL;

		if (e.kind == LEDGER_DAMAGE)
			fprintf(f, "%s\n", slash ? slash + 1 : e.what);
		else if (e.kind == LEDGER_ORDER)
			fprintf(f, "%s at %" PRIu64 "\n", e.what, e.off);
	}
}

static char *read_folder(void)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct source *src = ctf_ops.open(folder, opened_with, lg, &err);
	struct record rec;
	struct ref ref;

	if (!src || src->ops->scan(src, &err)) {
		fprintf(f, "%s\n", strrchr(err.msg, '/') + 1);
	} else {
		while (src->ops->next(src, &ref, &err) > 0) {
			ck_assert(!src->ops->decode(src, &ref, &rec, &err));
			print_record(f, src, &rec);
			src->ops->release(src, &ref);
		}
	}
	source_close(src);
	print_damage(f, lg);
	fclose(f);
	ledger_free(lg);
	return out;
}

static void read_case(const struct ctf_case *c)
{
	static unsigned char data[65536];
	char name[8];

	put_file("metadata", c->meta, strlen(c->meta));
	for (int i = 0; i < FILES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		put_file(name, data, hex_take(c->file[i], data));
	}
	char *got = read_folder();

	if (strcmp(got, c->want) != 0)
		ck_abort_msg("%s:\n%s---- wanted:\n%s", c->name, got, c->want);
	free(got);
}

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/ctf-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	char name[8];

	for (int i = 0; i < FILES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		put_file(name, NULL, 0);
	}
	put_file("metadata", NULL, 0);
	rmdir(folder);
}

static void read_cases(const struct ctf_case *c, size_t n)
{
	make_folder();
	for (size_t i = 0; i < n; i++)
		read_case(&c[i]);
	remove_folder();
}

#define READ(cases) read_cases(cases, sizeof(cases) / sizeof(*(cases)))

/* ---- fields */

#define TYPES                                                                  \
	"/* CTF 1.8 */ typealias integer { size = 8; } := u8;"                 \
	"typealias integer { size = 16; align = 8; } := u16;"                  \
	"typealias integer { size = 32; align = 8; } := u32;"                  \
	"typealias integer { size = 64; align = 8; } := u64;"                  \
	"typealias integer { size = 8; signed = true; } := s8;"
#define LE TYPES "trace { major = 1; minor = 8; byte_order = le; };"
#define BE TYPES "trace { major = 1; minor = 8; byte_order = be; };"
#define FIELDS(members) "event { name = e; fields := struct {" members "}; };"

#define MEMBER(name, more)                                                     \
	"{\"name\":\"" name "\",\"field-class\":{\"type\":\"" more "}}"
#define CTF2(members)                                                          \
	"\x1e{\"type\":\"preamble\",\"version\":2}\n"                          \
	"\x1e{\"type\":\"data-stream-class\"}\n"                               \
	"\x1e{\"type\":\"event-record-class\",\"name\":\"e\","                 \
	"\"payload-field-class\":{\"type\":\"structure\","                     \
	"\"member-classes\":[" members "]}}\n"
#define FIXED(kind, bits, order)                                               \
	kind "\",\"length\":" bits ",\"byte-order\":\"" order "\""

static const struct ctf_case field_cases[] = {
	{ .name = "numbers_of_variable_length",
	  .meta = CTF2(MEMBER("a", "variable-length-unsigned-integer\"") "," MEMBER(
		  "b",
		  "variable-length-signed-integer\"") "," MEMBER("c",
								 "variable-length-unsigned-integer\"")),
	  .file = { "e58e26 40 ffffffffffffffffff01"
		    "8000 8080808080808080807f 00"
		    "00 00 ffffffffffffffffff02" },
	  .want = "@0 e a=624485 b=-64 c=18446744073709551615\n"
		  "@0 e a=0 b=-9223372036854775808 c=0\n"
		  "s0+0x1b: a number of variable length has more than 64 "
		  "bits: 12 bytes\n" },
	{ .name = "text_of_wide_characters",
	  .meta = CTF2(MEMBER(
		  "a",
		  "null-terminated-string\",\"encoding\":"
		  "\"utf-16le\"") "," MEMBER("b",
					     "static-length-string\",\"encoding\":"
					     "\"utf-32be\",\"length\":8") "," MEMBER("c",
										     "static-length-blob\",\"length\":3")),
	  .file = { "4100 e900 3dd800de 0000 000020ac 00000000 010203" },
	  .want = "@0 e a='A\xc3\xa9\xf0\x9f\x98\x80' b='\xe2\x82\xac' "
		  "c=010203\n" },
	{ .name = "optionals_booleans_and_other_bit_orders",
	  .meta = CTF2(MEMBER("a", FIXED("fixed-length-boolean", "8", "little-endian")) "," MEMBER(
		  "o",
		  "optional\",\"selector-field-location\":"
		  "{\"path\":[\"a\"]},\"field-class\":{"
		  "\"type\":\"" FIXED(
			  "fixed-length-unsigned-integer", "16",
			  "big-endian") "}") "," MEMBER("r",
							FIXED("fixed-length-unsigned-integer",
							      "8",
							      "little-endian") ",\"bit-order\":\"last-to-first\"") "," MEMBER("h",
															      FIXED("fixed-length-floating-point-number",
																    "16",
																    "little-endian"))),
	  .file = { "04 0102 9e 003c 00 9e 00c0" },
	  .want = "@0 e a=1 o='258' r=121 h='1'\n"
		  "@0 e a=0 o='null' r=121 h='-2'\n" },
	{ .name = "numbers_of_whole_bytes",
	  .meta = LE FIELDS("u8 a; u16 b; u32 c; u64 d; s8 e;"),
	  .file = { "01 0203 04050607 08090a0b0c0d0e0f ff" },
	  .want = "@0 e a=1 b=770 c=117835012 d=1084818905618843912 e=-1\n" },
	{ .name = "numbers_of_the_other_byte_order",
	  .meta = BE FIELDS("u8 a; u16 b; u32 c; u64 d;"),
	  .file = { "01 0203 04050607 08090a0b0c0d0e0f" },
	  .want = "@0 e a=1 b=515 c=67438087 d=579005069656919567\n" },
	{ .name = "bits_of_little_endian_numbers",
	  .meta = LE FIELDS("integer { size = 3; } a; integer { size = 5; } b;"
			    "integer { size = 12; } c;"
			    "integer { size = 4; } d;"),
	  .file = { "b5 34 12" },
	  .want = "@0 e a=5 b=22 c=564 d=1\n" },
	{ .name = "bits_of_big_endian_numbers",
	  .meta = BE FIELDS("integer { size = 3; } a; integer { size = 5; } b;"
			    "integer { size = 12; } c;"
			    "integer { size = 4; } d;"),
	  .file = { "b5 34 12" },
	  .want = "@0 e a=5 b=21 c=833 d=2\n" },
	{ .name = "a_number_that_touches_nine_bytes",
	  .meta = LE FIELDS("integer { size = 4; } a;"
			    "integer { size = 64; align = 1; } b;"
			    "integer { size = 4; signed = true; } c;"),
	  .file = { "21 43 65 87 a9 cb ed 0f 81" },
	  .want = "@0 e a=1 b=1224658842671273010 c=-8\n" },
	{ .name = "a_list_of_nothing_aligns",
	  .meta = LE FIELDS("u8 n; integer { size = 32; align = 32; } l[n];"
			    "u8 z;"),
	  .file = { "00 ff ff ff 07" },
	  .want = "@0 e n=0 l='[]' z=7\n" },
	{ .name = "text_bytes_lists_and_structures",
	  .meta = LE FIELDS("string s; u8 b[2]; u16 l[2]; struct { u8 x;"
			    " struct { u8 y; } i; } o;"
			    " struct { u8 p; string q; } a[2];"),
	  .file = { "686900 0102 03000400 05 06 07 6100 08 6200" },
	  .want = "@0 e s='hi' b=0102 l='[3,4]' o_x=5 o_i_y=6"
		  " a='[{\"p\":7,\"q\":\"a\"},{\"p\":8,\"q\":\"b\"}]'\n" },
	{ .name = "enumerations_variants_and_reals",
	  .meta = LE FIELDS(
		  "enum : u8 { x = 0 ... 3, y = 2, z = 9 } t;"
		  "variant <t> { u8 x; string z; } v;"
		  "floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f;"),
	  .file = { "02 05 0000c03f 09 6f6b00 000020c0 08 00 00000000" },
	  .want = "@0 e t=2 t_label='x|y' v='5' f='1.5'\n"
		  "@0 e t=9 t_label='z' v='ok' f='-2.5'\n"
		  "s0+0xe: a selector has a value that no option has: 6 "
		  "bytes\n" },
	{ .name = "text_arrays_end_at_a_null",
	  .meta = LE FIELDS(
		  "integer { size = 8; encoding = UTF8; } t[4];"
		  "u8 n; integer { size = 8; encoding = UTF8; } u[n];"),
	  .file = { "6f6b0061 03 616263" },
	  .want = "@0 e t='ok' n=3 u='abc'\n" },
	{ .name = "text_in_lists_is_quoted",
	  .meta = LE FIELDS("struct { string s; } a[3];"),
	  .file = { "612262005c000109c3a900" },
	  .want = "@0 e a='[{\"s\":\"a\\\"b\"},{\"s\":\"\\\\\"},"
		  "{\"s\":\"\\u0001\\u0009\xc3\xa9\"}]'\n" },
	{ .name = "wide_text_in_lists_is_quoted",
	  .meta = CTF2(MEMBER("a", "static-length-array\",\"length\":2,"
				   "\"element-field-class\":{\"type\":"
				   "\"static-length-string\",\"length\":4,"
				   "\"encoding\":\"utf-16le\"}")),
	  .file = { "41002200 e9000000" },
	  .want = "@0 e a='[\"A\\\"\",\"\xc3\xa9\"]'\n" },
	{ .name = "hexadecimal_and_large_numbers_of_lists_are_text",
	  .meta = LE FIELDS("integer { size = 16; align = 8; base = 16; } h[2];"
			    "u64 n[2]; integer { size = 16; align = 8;"
			    " base = 16; } top;"),
	  .file = { "0000 efbe 0500000000000000 ffffffffffffffff 0f00" },
	  .want = "@0 e h='[\"0x0\",\"0xbeef\"]'"
		  " n='[5,\"18446744073709551615\"]' top=15\n" },
	{ .name = "reals_of_16_bits",
	  .meta = CTF2(MEMBER("a", "static-length-array\",\"length\":6,"
				   "\"element-field-class\":{\"type\":\"" FIXED(
					   "fixed-length-floating-point-number",
					   "16", "big-endian") "}")),
	  .file = { "7c00 fc00 7e00 0001 03ff 3555" },
	  .want = "@0 e a='[\"inf\",\"-inf\",\"nan\",5.96046448e-08,"
		  "6.09755516e-05,0.333251953]'\n" },
	{ .name = "reals_of_128_bits_are_shown_as_bits",
	  .meta = CTF2(MEMBER(
		  "a",
		  FIXED("fixed-length-floating-point-number", "128",
			"little-endian")) "," MEMBER("b",
						     FIXED("fixed-length-floating-point-number",
							   "128",
							   "big-endian"))),
	  .file = { "0100000000000000 000000000000ff3f"
		    "3fff000000000000 0000000000000002" },
	  .want = "@0 e a='\"0x3fff000000000000 0x1\"'"
		  " b='\"0x3fff000000000000 0x2\"'\n" },
	{ .name = "stacks_of_perf_have_marks",
	  .meta = LE "env { tracer_name = \"perf\"; };" FIELDS(
		  "u32 perf_tid; u64 perf_ip; u32 perf_callchain_size;"
		  " u64 perf_callchain[perf_callchain_size]; u64 period;"),
	  .file = { "05000000 1000000000000000 06000000"
		    "80ffffffffffffff 11000000000000ff 12000000000000ff"
		    "00feffffffffffff 2100000000000000 2200000000000000"
		    "0700000000000000" },
	  .want = "@0 e -1/5 perf_ip=16 perf_callchain_size=6 period=7"
		  " k:ff00000000000011 k:ff00000000000012 u:21 u:22\n" },
	{ .name = "stacks_of_short_addresses",
	  .meta = LE "stream { event.context := struct { u8 n;"
		     " u32 callstack_user[n]; }; };" FIELDS("u8 z;"),
	  .file = { "02 11000000 12000000 07 03 21000000" },
	  .want = "@0 e ctx_n=2 z=7 u:11 u:12\n"
		  "s0+0xa: a field goes beyond the end of the packet: 5 bytes\n" },
	{ .name = "stack_of_short_addresses_that_was_cut",
	  .meta = LE "stream { event.context := struct { u8 n;"
		     " u32 callstack_user[n]; }; };" FIELDS("u8 z;"),
	  .file = { "02 11000000 ffffffff 07" },
	  .want = "@0 e ctx_n=2 z=7 u:11 callstack_user_cut\n" },
	{ .name = "text_beyond_the_end_is_damage",
	  .meta = LE FIELDS("u8 a; string s;"),
	  .file = { "01 6100 02 6162" },
	  .want = "@0 e a=1 s='a'\n"
		  "s0+0x3: a string has no end: 3 bytes\n" },
};

START_TEST(fields_are_read)
{
	READ(field_cases);
}
END_TEST

/* What follows a skipped field must be found, so damage is where it was. */
static const struct ctf_case skip_cases[] = {
	{ .name = "lists_text_bytes_and_options",
	  .meta = LE FIELDS(
		  "u8 n; integer { size = 16; align = 8; } l[n]; string s;"
		  "string t[n]; struct { u8 x; } o[n]; u8 b[n];"
		  " integer { size = 5; align = 1; } five[n];"
		  " integer { size = 24; align = 32; } gap[n];"
		  " enum : u8 { p = 1, q = 2 } e;"
		  " variant <e> { u8 p; string q; } v; u64 last;"),
	  .file = { "02 01000200 616200 6300 00 0506 0708 ffff # to bit 10\n"
		    "000000 0a0b0c00 0d0e0f 02 6f6b00 0102030405060708"
		    "00 00 000000 01 09 0807060504030201"
		    "0000 0000 0000 03" },
	  .want = "@0 e\n@0 e\n"
		  "s0+0x36: a selector has a value that no option has: 7 "
		  "bytes\n" },
	{ .name = "a_list_that_is_too_long",
	  .meta = LE FIELDS("u8 n; u16 l[n]; u8 z;"),
	  .file = { "01 0100 07 02 0100" },
	  .want = "@0 e\n"
		  "s0+0x4: a field goes beyond the end of the packet: 3 "
		  "bytes\n" },
	{ .name = "classes_of_ctf_2",
	  .meta = CTF2(MEMBER("n", "variable-length-unsigned-integer\"") "," MEMBER(
		  "b",
		  "dynamic-length-blob\","
		  "\"length-field-location\":"
		  "{\"path\":[\"n\"]}") "," MEMBER("t",
						   "dynamic-length-string\","
						   "\"length-field-location\":"
						   "{\"path\":[\"n\"]}") "," MEMBER("c",
										    "static-length-blob\",\"length\":2") "," MEMBER("s",
																    "null-terminated-string\"")),
	  .file = { "02 0102 6162 0304 6300 00 0506 00 01 01 61 0203" },
	  .want = "@0 e\n@0 e\n"
		  "s0+0xd: a string has no end: 5 bytes\n" },
};

START_TEST(fields_that_nobody_reads_are_skipped)
{
	static const struct source_opts opts = { .no_fields = true };

	opened_with = &opts;
	READ(skip_cases);
	opened_with = NULL;
}
END_TEST

static const struct ctf_case chain_cases[] = {
	{ .name = "stacks_of_interpreters_are_names",
	  .meta = LE FIELDS("u64 cookie; u8 n; string frames[n];"),
	  .file = { "0500000000000000 03 666f6f00 00 62617200"
		    "0600000000000000 00"
		    "0700000000000000 02 666f6f00 6261" },
	  .want = "@0 e cookie=5 n=3\n@0 chain 5 foo  bar\n"
		  "@0 e cookie=6 n=0\n@0 chain 6\n"
		  "s0+0x1b: a string has no end: 15 bytes\n" },
	{ .name = "stacks_of_addresses",
	  .meta = LE FIELDS("u64 cookie; u8 n; u64 frames[n];"),
	  .file = { "0500000000000000 02"
		    "1100000000000000 1200000000000000" },
	  .want = "@0 e cookie=5 n=2\n@0 chain 5 u:11 u:12\n" },
};

START_TEST(stacks_that_come_late_have_addresses_or_names)
{
	static const struct source_opts opts = { .chain = "e(cookie,frames)" };

	opened_with = &opts;
	READ(chain_cases);
	opened_with = NULL;
}
END_TEST

/* ---- packets, clocks, losses */

#define PACKETS_OF(lost) PACKETS_AT(lost, "1000000000")
#define PACKETS_AT(lost, freq)                                                 \
	TYPES "trace { major = 1; minor = 8; byte_order = le;"                 \
	      " uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\";"              \
	      " packet.header := struct { u32 magic; u8 uuid[16]; }; };"       \
	      "clock { name = c; freq = " freq "; offset = 5; };"              \
	      "typealias integer { size = 64; align = 8;"                      \
	      " map = clock.c.value; } := t64;"                                \
	      "typealias integer { size = 8; map = clock.c.value; } := t8;"    \
	      "stream { packet.context := struct { t64 timestamp_begin;"       \
	      " t64 timestamp_end; u32 content_size; u32 packet_size;" lost    \
	      " packet_seq_num; u8 cpu_id; };"                                 \
	      " event.header := struct { t8 timestamp; }; };" FIELDS("u8 a;")
#define PACKETS PACKETS_OF(" u8 events_discarded; u8")
#define PACKETS32 PACKETS_OF(" u32 events_discarded; u8")
#define ID "c11ffcc1 0102030405060708090a0b0c0d0e0f10 "
/* Packets of 17 bytes with one event; the head is content, size and CPU. */
#define CPU64                                                                  \
	LE "stream { packet.context := struct { u32 content_size;"             \
	   " u32 packet_size; u64 cpu_id; }; };" FIELDS("u8 a;")
#define OF_CPU(low, high, a) "88000000 88000000 " low high a
/* A packet with 47 bytes of head: begin and end, content and size in bits (two
 * bytes each), counters of discarded events and of packets. */
#define PK(id, b, e, content, size, lost, seq)                                 \
	id b "000000000000 " e "000000000000 " content "0000 " size            \
	     "0000 " lost seq "03 "
/* With two events, 51 bytes, or padded to 64. */
#define TWO(b, e, lost, seq) PK(ID, b, e, "9801", "9801", lost, seq)
#define TWO64(b, e, lost, seq) PK(ID, b, e, "9801", "0002", lost, seq)
/* The same, 54 bytes, with a counter of discarded events that does not wrap. */
#define TWO32(b, e, lost, seq) PK(ID, b, e, "b001", "b001", lost "000000 ", seq)
#define OTHER "c11ffcc1 1102030405060708090a0b0c0d0e0f10 "

static const struct ctf_case packet_cases[] = {
	{ .name = "a_time_of_few_bits_wraps",
	  .meta = PACKETS,
	  .file = { PK(ID, "f001", "0004", "c801", "c801", "00",
		       "00") "f001 f502 0203 0204 0105 ff" },
	  .want = "@496 e cpu3 a=1\n@501 e cpu3 a=2\n@514 e cpu3 a=3\n"
		  "@514 e cpu3 a=4\n@769 e cpu3 a=5\n"
		  "s0+0x39: a field goes beyond the end of the packet: 1 "
		  "bytes\n" },
	{ .name = "many_events_may_be_discarded_in_a_tick",
	  .meta = PACKETS_AT(" u8 events_discarded; u8", "1000000"),
	  .file = { TWO("1000", "2000", "00", "01") "1001 1102" TWO(
		  "2000", "2000", "05", "02") "2003 2004" },
	  .want = "@16000 e cpu3 a=1\n@17000 e cpu3 a=2\n@32000 lost 5\n"
		  "@32000 e cpu3 a=3\n@32000 e cpu3 a=4\n" },
	{ .name = "counters_of_packets_tell_losses",
	  .meta = PACKETS,
	  .file = { TWO("1000", "2000", "00", "fe") "1001 1102" TWO(
		  "3000", "4000", "05",
		  "ff") "3003 3104" TWO("5000", "6010", "03",
					"03") "5005 5106" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@64 lost 5\n"
		  "@48 e cpu3 a=3\n@49 e cpu3 a=4\n"
		  "@4192 lost 254\n@80 lost 0\n"
		  "@80 e cpu3 a=5\n@81 e cpu3 a=6\n" },
	{ .name = "discarded_events_that_go_back_are_a_note",
	  .meta = PACKETS32,
	  .file = { TWO32("1000", "1800", "00", "00") "1001 1102" TWO32(
		  "2000", "2800", "05",
		  "01") "2003 2104" TWO32("3000", "3800", "00",
					  "02") "3005 3106" TWO32("4000",
								  "4800", "09",
								  "03") "4007 "
									"410"
									"8" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@40 lost 5\n"
		  "@32 e cpu3 a=3\n@33 e cpu3 a=4\n"
		  "@48 e cpu3 a=5\n@49 e cpu3 a=6\n@72 lost 4\n"
		  "@64 e cpu3 a=7\n@65 e cpu3 a=8\n" },
	{ .name = "discarded_events_may_be_counted_anew",
	  .meta = PACKETS32,
	  .file = { TWO32("1000", "1800", "09", "00") "1001 1102" TWO32(
		  "2000", "2800", "02",
		  "01") "2003 2104" TWO32("3000", "3800", "05",
					  "02") "3005 3106" },
	  .want = "@24 lost 0\n@16 e cpu3 a=1\n@17 e cpu3 a=2\n"
		  "@32 e cpu3 a=3\n@33 e cpu3 a=4\n@56 lost 3\n"
		  "@48 e cpu3 a=5\n@49 e cpu3 a=6\n" },
	{ .name = "the_first_packet_does_not_tell_how_many_were_lost",
	  .meta = PACKETS,
	  .file = { TWO("1000", "2000", "09", "07") "1001 1102" },
	  .want = "@32 lost 0\n@16 e cpu3 a=1\n@17 e cpu3 a=2\n" },
	{ .name = "streams_are_merged_and_padding_is_skipped",
	  .meta = PACKETS,
	  .file = { TWO64("1000", "2000", "00", "00") "1001 2002 *64" TWO(
			    "3000", "4000", "00", "01") "3003 3104",
		    TWO("1800", "2800", "00", "00") "1805 2806" },
	  .want = "@16 e cpu3 a=1\n@24 e cpu3 a=5\n@32 e cpu3 a=2\n"
		  "@40 e cpu3 a=6\n@48 e cpu3 a=3\n@49 e cpu3 a=4\n" },
	{ .name = "an_empty_packet_and_one_without_an_end_count",
	  .meta = PACKETS,
	  .file = { PK(ID, "1000", "2000", "7801", "7801", "00", "00")
			    PK(ID, "3000", "0000", "9801", "9801", "00",
			       "01") "3003 3104" TWO("5000", "6000", "02",
						     "02") "5005 5106" },
	  .want = "@48 e cpu3 a=3\n@49 e cpu3 a=4\n@96 lost 2\n"
		  "@80 e cpu3 a=5\n@81 e cpu3 a=6\n" },
	{ .name = "a_time_that_goes_back_is_noted_and_read",
	  .meta = PACKETS,
	  .file = { TWO("5000", "6000", "00", "00") "5001 5102" TWO(
		  "1000", "2000", "00", "01") "1003 1104" },
	  .want = "@80 e cpu3 a=1\n@81 e cpu3 a=2\n@16 e cpu3 a=3\n"
		  "@17 e cpu3 a=4\nregress at 98\nregress at 100\n" },
	{ .name = "a_cut_packet_is_read_as_far_as_it_is_there",
	  .meta = PACKETS,
	  .file = { TWO("1000", "2000", "00", "00") "1001 1102" TWO(
		  "3000", "4000", "00", "01") "3003 31" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "s0+0x33: the file ends inside this packet, whose events "
		  "are read as far as they are there: 50 bytes\n" },
	{ .name = "a_packet_is_found_behind_bytes_that_are_none",
	  .meta = PACKETS,
	  .file = { TWO("1000", "2000", "00",
			"00") "1001 1102 c11ffcc1 0102" TWO("3000", "4000",
							    "00",
							    "01") "3003 3104" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "@49 e cpu3 a=4\n"
		  "s0+0x33: no packet of this trace: it has another uuid: 6 "
		  "bytes\n" },
	{ .name = "a_size_beyond_the_file_does_not_cost_the_next_packet",
	  .meta = PACKETS,
	  .file = { PK(ID, "1000", "2000", "9801", "98f1", "00",
		       "00") "1001 1102" TWO("3000", "4000", "00",
					     "01") "3003 3104" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "@49 e cpu3 a=4\n"
		  "s0+0x0: a packet's size goes beyond the file: 0 bytes\n" },
	{ .name = "a_size_into_the_next_packet_does_not_cost_it",
	  .meta = PACKETS,
	  .file = { PK(ID, "1000", "2000", "9801", "0002", "00",
		       "00") "1001 1102" TWO("3000", "4000", "00",
					     "01") "3003 3104" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "@49 e cpu3 a=4\n"
		  "s0+0x33: a packet begins inside another: 0 bytes\n" },
	{ .name = "heads_that_do_not_fit_are_damage_and_events_are_kept",
	  .meta = PACKETS,
	  .file = { TWO("1000", "1100", "00", "00") "1001 1202" TWO("3000", "2000", "00", "01") "3003 3104" TWO(
		  "5000",
		  "6000",
		  "f1",
		  "02") "5005 5106" TWO("7000", "8000", "f1",
					"02") "7007 7108" TWO("7800", "9000",
							      "f1",
							      "03") "7809 790a" },
	  .want = "@16 e cpu3 a=1\n@18 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "@49 e cpu3 a=4\n@96 lost 241\n@80 e cpu3 a=5\n"
		  "@81 e cpu3 a=6\n@112 e cpu3 a=7\n@113 e cpu3 a=8\n"
		  "@120 e cpu3 a=9\n@121 e cpu3 a=10\n"
		  "s0+0x0: a packet ends before its last event: 47 bytes\n"
		  "s0+0x33: a packet ends before it begins: 47 bytes\n"
		  "s0+0x99: the number of a packet is not above that of the "
		  "one before: 47 bytes\n"
		  "s0+0xcc: a packet begins before the end of the one before "
		  "it: 47 bytes\n" },
	{ .name = "only_all_ones_in_32_or_64_bits_are_an_unknown_cpu",
	  .meta = CPU64,
	  .file = { OF_CPU("ffffffff", "00000000", "01"),
		    OF_CPU("ffffffff", "ffffffff", "02"),
		    OF_CPU("ffffffff", "01000000", "03") },
	  .want = "@0 e a=1\n@0 e a=2\n@0 e a=3\n"
		  "s2+0x0: a packet of a CPU that cannot be: 16 bytes\n" },
	{ .name = "all_packets_may_have_another_uuid_than_the_metadata",
	  .meta = PACKETS,
	  .file = { PK(OTHER, "1000", "2000", "9801", "9801", "00",
		       "00") "1001 1102" PK(OTHER, "3000", "4000", "9801",
					    "9801", "00", "01") "3003 3104" },
	  .want = "@16 e cpu3 a=1\n@17 e cpu3 a=2\n@48 e cpu3 a=3\n"
		  "@49 e cpu3 a=4\n" },
	{ .name = "a_packet_of_another_trace_is_damage",
	  .meta = PACKETS,
	  .file = { PK(OTHER, "1000", "2000", "9801", "9801", "00",
		       "00") "1001 1102" TWO("3000", "4000", "00",
					     "01") "3003 3104" },
	  .want = "@48 e cpu3 a=3\n@49 e cpu3 a=4\n"
		  "s0+0x0: no packet of this trace: it has another uuid: 51 "
		  "bytes\n" },
};

START_TEST(packets_are_read)
{
	READ(packet_cases);
}
END_TEST

/* ---- values that cannot be */

/* An event: time, thread, addresses of the kernel, a. */
#define BOUNDS(env)                                                            \
	TYPES "typealias integer { size = 32; align = 8; signed = true; }"     \
	      " := s32; trace { major = 1; minor = 8; byte_order = le; };"     \
	      "env { " env " }; clock { name = c; freq = 1000000000; };"       \
	      "typealias integer { size = 64; align = 8;"                      \
	      " map = clock.c.value; } := t64;"                                \
	      "stream { event.header := struct { t64 timestamp; };"            \
	      " event.context := struct { s32 tid; u64 ip; u8 n;"              \
	      " u64 callstack_kernel[n]; }; };" FIELDS("u8 a;")
#define NO_IP "0000000000000000 "
#define AT(time) time "00000000000000 "
#define ODD                                                                                \
	AT("10")                                                                           \
	"05000000" NO_IP                                                                   \
	"01 100000a1ffffffff 01" AT("20") "ffffffff" NO_IP "00 02" AT(                     \
		"30") "feffffff" NO_IP                                                     \
		      "00 03" AT("40") "01004000" NO_IP "00 04" AT(                        \
			      "50") "05000000" NO_IP "01 0010000000000000 05"              \
				    "0000000000000001 05000000" NO_IP                      \
				    "00 06" AT("60") "00004000 0000000000004000 00 07" AT( \
					    "70") "05000000 00000000000000f0 00 08"

static const struct ctf_case bound_cases[] = {
	{ .name = "of_a_kernel_whose_machine_is_not_told",
	  .meta = BOUNDS("tracer_name = \"lttng-modules\";"),
	  .file = { ODD },
	  .want = "@16 e -1/5 ctx_ip=0 ctx_n=1 a=1 k:ffffffffa1000010\n"
		  "@32 e ctx_ip=0 ctx_n=0 a=2\n"
		  "@96 e -1/4194304 ctx_ip=18014398509481984 ctx_n=0 a=7"
		  " u:40000000000000\n"
		  "@112 e -1/5 ctx_ip=17293822569102704640 ctx_n=0 a=8"
		  " u:f000000000000000\n"
		  "s0+0x34: an event of a thread or process that cannot be: "
		  "22 bytes\n"
		  "s0+0x4a: an event of a thread or process that cannot be: "
		  "22 bytes\n"
		  "s0+0x60: an event with an address that cannot be: 30 "
		  "bytes\n"
		  "s0+0x7e: an event with a time that is years from those "
		  "before it: 22 bytes\n" },
	{ .name = "of_programs",
	  .meta = BOUNDS("tracer_name = \"lttng-ust\"; domain = \"ust\";"),
	  .file = { AT(
		  "10") "05000000" NO_IP
			"00 01" AT("60") "00004000 0000000000004000 00 07" AT(
				"70") "05000000 00000000000000f0 00 08" },
	  .want = "@16 e -1/5 ctx_ip=0 ctx_n=0 a=1\n"
		  "@96 e -1/4194304 ctx_ip=18014398509481984 ctx_n=0 a=7"
		  " u:40000000000000\n"
		  "s0+0x2c: an event with an address that cannot be: 22 "
		  "bytes\n" },
	{ .name = "of_a_known_machine",
	  .meta = BOUNDS("tracer_name = \"perf\"; machine = \"x86_64\";"),
	  .file = { AT("10") "05000000 0000000000000040 00 01" AT(
		  "60") "05000000" NO_IP
			"01 0010000000000000 07" AT(
				"70") "05000000 00000000000000ff 00 08" },
	  .want = "@112 e -1/5 ctx_ip=18374686479671623680 ctx_n=0 a=8\n"
		  "s0+0x0: an event with an address that cannot be: 22 bytes\n"
		  "s0+0x16: an event with an address that cannot be: 30 "
		  "bytes\n" },
	{ .name = "of_no_Linux_any_may_be",
	  .meta = BOUNDS("tracer_name = \"barectf\";"),
	  .file = { AT("10") "feffffff 0000000000000040 00 01" },
	  .want = "@16 e ctx_ip=4611686018427387904 ctx_n=0 a=1"
		  " u:4000000000000000\n" },
};

START_TEST(values_that_cannot_be_are_damage)
{
	READ(bound_cases);
}
END_TEST

/* ---- names of threads, in every event */

#define NAMES                                                                   \
	LE "clock { name = c; freq = 1000000000; };"                            \
	   "typealias integer { size = 8; map = clock.c.value; } := t8;"        \
	   "stream { event.header := struct { t8 timestamp; };"                 \
	   " event.context := struct { u32 vtid;"                               \
	   " integer { size = 8; encoding = UTF8; } procname[4]; }; };" FIELDS( \
		   "u8 a;")
/* Names that end with a 0, or with their field. */
#define AB "61620000"
#define ABC "61626300"
#define ABCD "61626364"
#define NAMED(t, tid, name) t tid "000000" name "07 "
/* Events of the kernel with a thread and a name. */
#define OF_SCHED(event)                                                        \
	LE "clock { name = c; freq = 1000000000; };"                           \
	   "typealias integer { size = 8; map = clock.c.value; } := t8;"       \
	   "stream { event.header := struct { t8 timestamp; }; };"             \
	   "event { name = " event "; fields := struct { u32 tid;"             \
	   " integer { size = 8; encoding = UTF8; } comm[4]; }; };"

static const struct ctf_case name_cases[] = {
	{ .name = "a_name_is_told_once",
	  .meta = NAMES,
	  .file = { NAMED("10", "05", AB) NAMED("12", "05", AB)
			    NAMED("14", "06", AB) NAMED("16", "05", AB) },
	  .want = "@16 comm 5 ab\n@16 e -1/5 a=7\n@18 e -1/5 a=7\n"
		  "@20 comm 6 ab\n@20 e -1/6 a=7\n@22 e -1/5 a=7\n" },
	{ .name = "names_that_begin_alike_differ",
	  .meta = NAMES,
	  .file = { NAMED("10", "05", AB) NAMED("12", "05", ABC)
			    NAMED("14", "05", ABCD) NAMED("16", "05", AB) },
	  .want = "@16 comm 5 ab\n@16 e -1/5 a=7\n"
		  "@18 comm 5 abc\n@18 e -1/5 a=7\n"
		  "@20 comm 5 abcd\n@20 e -1/5 a=7\n"
		  "@22 comm 5 ab\n@22 e -1/5 a=7\n" },
	{ .name = "another_stream_may_tell_another_name_between",
	  .meta = NAMES,
	  .file = { NAMED("10", "05", AB) NAMED("14", "05", AB),
		    NAMED("12", "05", ABC) NAMED("16", "05", ABC) },
	  .want = "@16 comm 5 ab\n@16 e -1/5 a=7\n"
		  "@18 comm 5 abc\n@18 e -1/5 a=7\n"
		  "@20 comm 5 ab\n@20 e -1/5 a=7\n"
		  "@22 comm 5 abc\n@22 e -1/5 a=7\n" },
	{ .name = "a_wakeup_has_the_name_of_its_thread",
	  .meta = OF_SCHED("sched_waking"),
	  .file = { "10 05000000 " AB },
	  .want = "@16 comm 5 ab\n@16 sched_waking tid=5 comm='ab'\n" },
	{ .name = "a_wait_has_the_name_of_the_thread_that_waits",
	  .meta = OF_SCHED("sched_process_wait"),
	  .file = { "10 05000000 " AB },
	  .want = "@16 sched_process_wait tid=5 comm='ab'\n" },
};

START_TEST(names_are_told_when_they_change)
{
	READ(name_cases);
}
END_TEST

/* ---- chunks */

#define CHUNK(n, b, e, lost, seq, events)                                      \
	ID n "00000000000000" b "00000000000000 " e                            \
	     "00000000000000 d8010000 d8010000 " lost seq "03" events
#define CHUNKS                                                                 \
	TYPES "trace { major = 1; minor = 8; byte_order = le;"                 \
	      " uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\";"              \
	      " packet.header := struct { u32 magic; u8 uuid[16];"             \
	      " u64 stream_instance_id; }; };"                                 \
	      "clock { name = c; freq = 1000000000; };"                        \
	      "typealias integer { size = 64; align = 8;"                      \
	      " map = clock.c.value; } := t64;"                                \
	      "typealias integer { size = 8; map = clock.c.value; } := t8;"    \
	      "stream { packet.context := struct { t64 timestamp_begin;"       \
	      " t64 timestamp_end; u32 content_size; u32 packet_size;"         \
	      " u8 events_discarded; u8 packet_seq_num; u8 cpu_id; };"         \
	      " event.header := struct { t8 timestamp; }; };" FIELDS("u8 a;")

/* Chunks of one uuid, and a snapshot that has the last packet of them, too. */
START_TEST(chunks_follow_each_other_by_number_and_copies_are_read_once)
{
	static const char *const name[] = { "a", "b", "c", "copy" };
	static const char *const file[] = {
		CHUNK("01", "50", "60", "07", "02", "5005 5106"),
		CHUNK("01", "10", "20", "02", "00", "1001 1102"),
		CHUNK("01", "30", "40", "02", "01", "3003 3104"),
		CHUNK("01", "50", "60", "07", "02", "5005 5106")
			CHUNK("01", "70", "80", "09", "03", "7007 7108"),
	};
	unsigned char data[160];
	char path[128];

	make_folder();
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, name[i]);
		ck_assert(!mkdir(path, 0700));
		snprintf(path, sizeof(path), "%s/metadata", name[i]);
		put_file(path, CHUNKS, strlen(CHUNKS));
		snprintf(path, sizeof(path), "%s/s", name[i]);
		put_file(path, data, hex_take(file[i], data));
	}
	char *got = read_folder();

	ck_assert_str_eq(got, "@32 lost 0\n@16 e cpu3 a=1\n@17 e cpu3 a=2\n"
			      "@48 e cpu3 a=3\n@49 e cpu3 a=4\n@96 lost 5\n"
			      "@80 e cpu3 a=5\n@128 lost 2\n@81 e cpu3 a=6\n"
			      "@112 e cpu3 a=7\n"
			      "@113 e cpu3 a=8\n");
	free(got);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/metadata", name[i]);
		put_file(path, NULL, 0);
		snprintf(path, sizeof(path), "%s/s", name[i]);
		put_file(path, NULL, 0);
		snprintf(path, sizeof(path), "%s/%s", folder, name[i]);
		rmdir(path);
	}
	remove_folder();
}
END_TEST

#define UST(minor)                                                             \
	CHUNKS "env { tracer_name = \"lttng-ust\"; tracer_major = 2;"          \
	       " tracer_minor = " minor "; };"
#define FIRST CHUNK("01", "10", "30", "00", "00", "1001 1102")
#define SAME CHUNK("02", "12", "30", "00", "00", "1203 1304")
#define NEXT CHUNK("02", "30", "50", "00", "01", "3105 3206")
#define NO_EVENT                                                               \
	ID "0200000000000000 1200000000000000 1200000000000000"                \
	   " b8010000 d8010000 000003 00000000"
#define NOT_WRITTEN                                                            \
	"s0+0x3b: the stream's next packet was not written, while another "    \
	"stream goes on for 0 us: the recorder was killed, or still writes "   \
	"('lttng stop' ends it)\n"
#define CHUNK_NAME "20261125T134214+0000-20261125T134215+0000-0"

/* 'lttng stop' ends all streams, behind their last events: one that ends before
 * an event of another one lacks its next packet. A rotation and a snapshot do
 * not stop the events, and before 2.13 streams without events had no packet. */
START_TEST(a_stream_that_was_not_ended_is_damage)
{
	static const struct {
		const char *name, *meta, *file[2], *want;
	} cases[] = {
		{ "t", UST("13"), { FIRST, SAME }, "" },
		{ "t", UST("13"), { FIRST, SAME NEXT }, NOT_WRITTEN },
		{ "t", UST("12"), { FIRST, SAME NEXT }, "" },
		{ CHUNK_NAME, UST("13"), { FIRST, SAME NEXT }, "" },
		{ "snapshot-1-20261125-134214-0",
		  UST("13"),
		  { FIRST, SAME NEXT },
		  "" },
		{ "t", UST("13"), { FIRST, NO_EVENT }, "" },
		/* ended, and begun once more */
		{ "t", UST("13"), { FIRST, NO_EVENT NEXT }, NOT_WRITTEN },
		{ "t",
		  UST("13"),
		  { FIRST, "" },
		  "s1+0x0: no packet of this stream is there: the recorder was "
		  "killed, or still writes ('lttng stop' ends it), or the "
		  "file was emptied\n" },
		{ "t", UST("12"), { FIRST, "" }, "" },
		{ CHUNK_NAME, UST("13"), { FIRST, "" }, "" },
		{ "t", UST("13"), { "", "" }, "" },
	};
	unsigned char data[160];
	char path[128];

	make_folder();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].name);
		ck_assert(!mkdir(path, 0700));
		snprintf(path, sizeof(path), "%s/metadata", cases[i].name);
		put_file(path, cases[i].meta, strlen(cases[i].meta));
		for (int k = 0; k < 2; k++) {
			snprintf(path, sizeof(path), "%s/%s/s%d", folder,
				 cases[i].name, k);
			FILE *f = fopen(path, "w");

			ck_assert_ptr_nonnull(f);
			size_t n = hex_take(cases[i].file[k], data);

			ck_assert_uint_eq(fwrite(data, 1, n, f), n);
			fclose(f);
		}
		char *got = read_folder();
		char *found = strstr(got, "\ns");

		ck_assert_msg(!strcmp(found ? found + 1 : "", cases[i].want),
			      "case %zu: %s", i, got);
		free(got);
		for (int k = 0; k < 3; k++) {
			snprintf(path, sizeof(path), "%s/%s", cases[i].name,
				 k == 2 ? "metadata"
				 : k	? "s1"
					: "s0");
			put_file(path, NULL, 0);
		}
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].name);
		ck_assert(!rmdir(path));
	}
	remove_folder();
}
END_TEST

/* Index: its magic, version, size of entries, and one of packet 0. */
START_TEST(an_index_without_its_stream_file_is_damage)
{
	static const char head[] = "c1f1dcc1 00000001 00000001 00000048";
	unsigned char data[160];
	char path[128];

	make_folder();
	snprintf(path, sizeof(path), "%s/index", folder);
	ck_assert(!mkdir(path, 0700));
	put_file("metadata", UST("13"), strlen(UST("13")));
	put_file("s0", data, hex_take(FIRST, data));
	put_file("index/s0.idx", data, hex_take(head, data) + 72);
	put_file("index/s1.idx", data, hex_take(head, data));
	put_file("index/s2", data, hex_take(head, data) + 72);
	char *got = read_folder();

	ck_assert_str_eq(got, "@16 e cpu3 a=1\n@17 e cpu3 a=2\n");
	free(got);
	put_file("index/s1.idx", data, hex_take(head, data) + 72);
	got = read_folder();
	ck_assert_str_eq(got, "@16 e cpu3 a=1\n@17 e cpu3 a=2\n"
			      "s1+0x0: the file is missing, though its index "
			      "has packets: give the folder as it was "
			      "recorded\n");
	free(got);
	put_file("index/s0.idx", NULL, 0);
	put_file("index/s1.idx", NULL, 0);
	put_file("index/s2", NULL, 0);
	ck_assert(!rmdir(path));
	remove_folder();
}
END_TEST

/* Of three packets of one size, which the index has, the file has the first. */
START_TEST(a_file_that_ends_before_its_index_does_is_damage)
{
	static const char head[] = "c1f1dcc1 00000001 00000001 00000048";
	unsigned char data[300] = { 0 };
	char want[300];
	char path[128];
	const size_t len = hex_take(FIRST, data);

	make_folder();
	snprintf(path, sizeof(path), "%s/index", folder);
	ck_assert(!mkdir(path, 0700));
	put_file("metadata", UST("13"), strlen(UST("13")));
	put_file("s0", data, len);
	memset(data, 0, sizeof(data));
	size_t at = hex_take(head, data);

	for (size_t i = 0; i < 3; i++, at += 72) {
		data[at + 7] = (unsigned char)(i * len);
		data[at + 14] = (unsigned char)(len * 8 >> 8);
		data[at + 15] = (unsigned char)(len * 8);
	}
	put_file("index/s0.idx", data, at);
	snprintf(want, sizeof(want),
		 "@16 e cpu3 a=1\n@17 e cpu3 a=2\ns0+0x%zx: the file ends "
		 "here, 2 packets short of its index: it was cut, or copied "
		 "while it was written\n",
		 len);
	char *got = read_folder();

	ck_assert_str_eq(got, want);
	free(got);
	put_file("index/s0.idx", NULL, 0);
	ck_assert(!rmdir(path));
	remove_folder();
}
END_TEST

/* A clock that is not said to count from 1970 does not tell the wall's time,
 * whatever its offset; LTTng does not say it of its own. */
START_TEST(only_a_clock_of_1970_tells_wall_time)
{
	static const struct {
		const char *more;
		bool wall;
	} kinds[] = {
		{ "clock { name = c; offset_s = 5; };", false },
		{ "clock { name = c; offset_s = 5; absolute = TRUE; };", true },
		{ "env { tracer_name = \"lttng-ust\"; };"
		  "clock { name = c; offset_s = 5; };",
		  true },
	};
	unsigned char data[8];
	char meta[1024];

	make_folder();
	put_file("s0", data, hex_take("10 01", data));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct err err = { 0 };

		snprintf(meta, sizeof(meta),
			 LE "%s stream { packet.context := struct {"
			    " integer { size = 8; map = clock.c.value; }"
			    " timestamp_begin; }; };" FIELDS("u8 a;"),
			 kinds[i].more);
		put_file("metadata", meta, strlen(meta));
		struct ledger *lg = ledger_new();
		struct source *src =
			ctf_ops.open(folder, opened_with, lg, &err);

		ck_assert_msg(src != NULL, "%s", err.msg);
		ck_assert_uint_eq(src->info.wall_ns,
				  kinds[i].wall ? 5000000016 : 0);
		source_close(src);
		ledger_free(lg);
	}
	remove_folder();
}
END_TEST

/* Each element takes a step, and no bytes. */
START_TEST(lists_of_nothing_end_with_their_packet)
{
	static const struct ctf_case cases[] = {
		{ .name = "as_many_as_bytes_and_some",
		  .meta = LE FIELDS("u8 n; struct {} l[n];"),
		  .file = { "03 00 02" },
		  .want = "@0 e n=3 l='[{},{},{}]'\n@0 e n=0 l='[]'\n"
			  "@0 e n=2 l='[{},{}]'\n" },
		{ .name = "more_than_that",
		  .meta = LE "event { name = e; fields := struct { u8 n;"
			     " struct {} l[n]; }; };",
		  .file = { "ff ff" },
		  .want = "" },
	};

	make_folder();
	read_case(&cases[0]);
	put_file("metadata", cases[1].meta, strlen(cases[1].meta));
	unsigned char data[8];

	put_file("s0", data, hex_take(cases[1].file[0], data));
	char *got = read_folder();

	ck_assert_ptr_nonnull(
		strstr(got, "s0+0x1: a list of nothing has no end: 1 bytes\n"));
	free(got);
	remove_folder();
}
END_TEST

/* A file of magic numbers: each begins a head whose text has no end. */
START_TEST(heads_without_an_end_do_not_take_the_square_of_the_file)
{
	static const char meta[] =
		TYPES "trace { major = 1; minor = 8; byte_order = le;"
		      " packet.header := struct { u32 magic; string s; }; };"
		      "stream { }; event { name = e; fields := struct {"
		      " u8 a; }; };";
	const size_t n = (size_t)4 << 20;
	unsigned char *data = mem_new(n, 1);

	for (size_t i = 0; i < n; i += 4)
		memcpy(data + i, "\xc1\x1f\xfc\xc1", 4);
	make_folder();
	put_file("metadata", meta, strlen(meta));
	put_file("s", data, n);
	char *got = read_folder();

	ck_assert_str_eq(got, "s+0x0: a string has no end: 4194304 bytes\n");
	free(got);
	put_file("s", NULL, 0);
	remove_folder();
	free(data);
}
END_TEST

/* ---- sizes */

/* Text, bytes and JSON go to the payload's end, whose places have 16 bits; a
 * stack has its own place. */
START_TEST(a_payload_above_64_KiB_is_cut_and_stacks_are_not)
{
	static const char meta[] =
		LE "stream { event.context := struct { u16 n;"
		   " u64 callstack_user[n]; }; };" FIELDS(
			   "u32 k; u8 b[k]; u32 l[k]; string s; u8 z;");
	enum {
		STACK = 9000,
		BYTES = 40000
	};
	const size_t len = 2 + STACK * 8 + 4 + BYTES * 5 + 3;
	unsigned char *data = mem_new(len, 1);

	data[0] = STACK & 255;
	data[1] = STACK >> 8;
	for (size_t i = 0; i < STACK; i++)
		data[2 + i * 8] = (unsigned char)(i % 255 + 1);
	data[2 + STACK * 8] = BYTES & 255;
	data[3 + STACK * 8] = BYTES >> 8;
	data[len - 3] = 'x';
	data[len - 1] = 7;
	make_folder();
	put_file("metadata", meta, strlen(meta));
	put_file("s0", data, len);
	char *got = read_folder();

	ck_assert_ptr_nonnull(strstr(got, "@0 e ctx_n=9000 k=40000 b=0000"));
	ck_assert_ptr_nonnull(strstr(got, " l='[0,0,"));
	ck_assert_ptr_nonnull(strstr(got, " s='' z=7 u:1 u:2 "));
	ck_assert_ptr_nonnull(strstr(got, " u:4b\n"));
	/* two digits a byte, and 7 a frame at most */
	must(strlen(got) < 2 * 65536 + 7 * STACK);
	free(got);
	free(data);
	remove_folder();
}
END_TEST

/* A label is not in the event, so short events could have long payloads. */
START_TEST(labels_take_256_times_their_packet)
{
	enum {
		LABEL = 400
	};
	char label[LABEL + 1];
	char meta[1000];
	char want[2000];

	memset(label, 'l', LABEL);
	label[LABEL] = 0;
	snprintf(meta, sizeof(meta),
		 LE FIELDS("enum : u8 { %s = 0, z = 1 } t;"), label);
	/* of 1024 bytes, with a 0 behind each */
	snprintf(want, sizeof(want),
		 "@0 e t=0 t_label='%s'\n@0 e t=0 t_label='%s'\n"
		 "@0 e t=0 t_label='%.*s'\n@0 e t=1 t_label=''\n",
		 label, label, 1024 - 2 * (LABEL + 1) - 1, label);
	make_folder();
	put_file("metadata", meta, strlen(meta));
	put_file("s0", "\0\0\0\1", 4);
	char *got = read_folder();

	ck_assert_str_eq(got, want);
	free(got);
	remove_folder();
}
END_TEST

/* Each event looks at 60,000 labels, of which the first ones say that they are
 * not the number's. */
START_TEST(events_that_would_look_at_more_labels_than_that_have_none)
{
	enum {
		LABELS = 60000
	};
	const size_t room = (size_t)LABELS * 20;
	char *meta = mem_new(room, 1);
	unsigned char data[100] = { 0 };
	size_t n = (size_t)snprintf(meta, room, "%s",
				    LE "event { name = e; fields := struct {"
				       " enum : u16 { ");

	for (int i = 0; i < LABELS; i++)
		n += (size_t)snprintf(meta + n, room - n, "l%d = %d, ", i, i);
	snprintf(meta + n, room - n, "} t; }; };");
	make_folder();
	put_file("metadata", meta, strlen(meta));
	put_file("s0", data, sizeof(data));
	char *got = read_folder();
	size_t labels = 0;

	for (const char *at = got; (at = strstr(at, "t_label='l0'")); at++)
		labels++;
	/* 100 bytes are 25,600, of which each takes 15,000 */
	ck_assert_uint_eq(labels, 2);
	free(got);
	free(meta);
	remove_folder();
}
END_TEST

/* ---- damage */

#define FOUR_PACKETS                                                           \
	TWO("1000", "2000", "00", "00")                                        \
	"1001 1102" TWO64("3000", "4000", "00", "01") "3003 3104 *115" TWO(    \
		"5000", "6000", "00",                                          \
		"02") "5005 5106" TWO("7000", "8000", "00", "03") "7007 7108"
static const size_t packet_ends[] = { 0, 51, 115, 166, 217 };

static size_t count_events(const char *text)
{
	size_t n = 0;

	while ((text = strstr(text, " e cpu3"))) {
		n++;
		text++;
	}
	return n;
}

START_TEST(every_cut_keeps_all_events_in_front_of_it)
{
	unsigned char data[256];
	size_t len = hex_take(FOUR_PACKETS, data);
	size_t whole = 0;

	ck_assert_uint_eq(len, 217);
	make_folder();
	put_file("metadata", PACKETS, strlen(PACKETS));
	for (size_t at = 1; at <= len; at++) {
		put_file("s0", data, at);
		char *got = read_folder();
		bool end = at == packet_ends[whole + 1];

		whole += end;
		must(count_events(got) >= 2 * whole);
		must(count_events(got) <= 2 * whole + 2);
		must(end == !strstr(got, "s0+0x"));
		free(got);
	}
	remove_folder();
}
END_TEST

/* Also a flip may make a size or a time that is not told apart; but what is
 * read ends, and other packets are there. */
START_TEST(every_flip_costs_one_packet_at_most)
{
	unsigned char data[256];
	size_t len = hex_take(FOUR_PACKETS, data);

	make_folder();
	put_file("metadata", PACKETS, strlen(PACKETS));
	for (size_t bit = 0; bit < len * 8; bit++) {
		data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		put_file("s0", data, len);
		char *got = read_folder();

		if (count_events(got) < 6)
			ck_abort_msg("bit %zu: %s", bit, got);
		free(got);
		data[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	remove_folder();
}
END_TEST

START_TEST(pool_keeps_what_is_not_released_and_reuses_the_rest)
{
	struct ctf_pool pool = { 0 };
	uint64_t keep, h[64];
	uint64_t state = 1;

	memcpy(ctf_pool_take(&pool, 8, &keep), "kept!!!", 8);
	for (int round = 0; round < 4000; round++) {
		for (int i = 0; i < 64; i++) {
			size_t len = 1 + rnd_below(&state, 700);

			memset(ctf_pool_take(&pool, len, &h[i]), i, len);
		}
		for (int i = 0; i < 64; i++) {
			must(*(char *)ctf_pool_at(&pool, h[i]) == i);
			ctf_pool_drop(&pool, h[i]);
		}
	}
	ck_assert_str_eq(ctf_pool_at(&pool, keep), "kept!!!");
	ck_assert_uint_le(pool.n, 8);
	ctf_pool_release(&pool);
}
END_TEST

static bool nothing_is_listed;

/* The C library's, for the reader too. */
int scandir(const char *dir, struct dirent ***list,
	    int (*wanted)(const struct dirent *),
	    int (*order)(const struct dirent **, const struct dirent **))
{
	static int (*real)(
		const char *, struct dirent ***, int (*)(const struct dirent *),
		int (*)(const struct dirent **, const struct dirent **));

	errno = EACCES;
	if (nothing_is_listed)
		return -1;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "scandir64");
	return real(dir, list, wanted, order);
}

START_TEST(a_folder_that_cannot_be_listed_is_damage)
{
	make_folder();
	put_file("metadata", PACKETS, strlen(PACKETS));
	nothing_is_listed = true;
	char *got = read_folder();

	nothing_is_listed = false;
	ck_assert_msg(strstr(got, "its files cannot be listed") != NULL, "%s",
		      got);
	free(got);
	remove_folder();
}
END_TEST

START_TEST(rules_are_taken_apart)
{
	struct ctf ctf = {
		.opts = { .request = "a:b(c) d(e)", .chain = "f:g(h,i)" },
	};
	struct err err;

	ck_assert_int_eq(ctf_rules_read(&ctf, &err), 0);
	ck_assert_str_eq(ctf_rule_of(&ctf, "a:b", false)->cookie, "c");
	ck_assert_str_eq(ctf_rule_of(&ctf, "d", false)->cookie, "e");
	ck_assert_str_eq(ctf_rule_of(&ctf, "f:g", true)->ips, "i");
	ck_assert_ptr_null(ctf_rule_of(&ctf, "f:g", false));
	ctf_rules_release(&ctf);
}
END_TEST

START_TEST(rules_that_are_none_are_refused)
{
	static const char *const bad[] = { "a",	    "a(",     "(b)",   "a()",
					   "a(b,)", "a(b,c)", "a(b) x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ctf ctf = { .opts = { .request = bad[i] } };
		struct err err = { 0 };

		ck_assert_int_eq(ctf_rules_read(&ctf, &err), -1);
		ck_assert_int_eq(err.code, ERR_USAGE);
		ctf_rules_release(&ctf);
	}
}
END_TEST

RUN("ctf", fields_are_read, fields_that_nobody_reads_are_skipped,
    stacks_that_come_late_have_addresses_or_names, packets_are_read,
    chunks_follow_each_other_by_number_and_copies_are_read_once,
    a_stream_that_was_not_ended_is_damage,
    an_index_without_its_stream_file_is_damage,
    a_file_that_ends_before_its_index_does_is_damage,
    heads_without_an_end_do_not_take_the_square_of_the_file,
    a_payload_above_64_KiB_is_cut_and_stacks_are_not,
    labels_take_256_times_their_packet,
    events_that_would_look_at_more_labels_than_that_have_none,
    every_cut_keeps_all_events_in_front_of_it, values_that_cannot_be_are_damage,
    every_flip_costs_one_packet_at_most,
    pool_keeps_what_is_not_released_and_reuses_the_rest,
    a_folder_that_cannot_be_listed_is_damage, rules_are_taken_apart,
    rules_that_are_none_are_refused, only_a_clock_of_1970_tells_wall_time,
    lists_of_nothing_end_with_their_packet, names_are_told_when_they_change)
