/* ctf_header.c - event headers of LTTng, read at once and in several steps. */
#include "formats/ctf/ctf.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

#define BYTES 24u

/* Both forms of LTTng's headers, and one whose ids are others. */
static const struct {
	const char *name, *header;
} headers[] = {
	{ "an_id_of_5_bits_with_27_of_the_clock",
	  "enum : u5 { compact = 0 ... 30, extended = 31 } id; variant <id> {"
	  " struct { t27 timestamp; } compact;"
	  " struct { u32 id; t64 timestamp; } extended; } v;" },
	{ "an_id_of_16_bits_with_32_of_the_clock",
	  "enum : u16 { compact = 0 ... 65534, extended = 65535 } id;"
	  " variant <id> { struct { t32 timestamp; } compact;"
	  " struct { u32 id; t64 timestamp; } extended; } v;" },
	{ "ids_that_no_option_has",
	  "enum : u5 { compact = 7 ... 9, extended = 0 ... 5 } id;"
	  " variant <id> { struct { t27 timestamp; } compact;"
	  " struct { u32 id; t64 timestamp; } extended; } v;" },
};

static struct ctf_schema *ctf_header_schema(const char *order,
					    const char *header)
{
	char text[2048];
	struct bytes b;

	snprintf(
		text, sizeof(text),
		"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = %s; };"
		"clock { name = c; };"
		"typealias integer { size = 5; align = 1; } := u5;"
		"typealias integer { size = 16; align = 8; } := u16;"
		"typealias integer { size = 32; align = 8; } := u32;"
		"typealias integer { size = 27; align = 1;"
		" map = clock.c.value; } := t27;"
		"typealias integer { size = 32; align = 8;"
		" map = clock.c.value; } := t32;"
		"typealias integer { size = 64; align = 8;"
		" map = clock.c.value; } := t64;"
		"stream { event.header := struct { %s } align(8); };"
		"event { name = e; };",
		order, header);
	bytes_init(&b, text, strlen(text), "metadata", 0, false);
	struct ctf_schema *sm = ctf_schema_new(&b);

	ck_assert_ptr_null(sm->err);
	return sm;
}

/* What a header leads to. */
struct header_end {
	uint64_t rc, at, id, time, clock, roles, slot;
};

typedef int ctf_header_fn(const struct ctf_program *p, struct ctf_state *st);

static struct header_end ctf_header_read(ctf_header_fn *fn,
					 const struct ctf_program *p,
					 const unsigned char *data,
					 uint64_t from)
{
	uint64_t slot[CTF_SLOTS_MAX] = { 0 };
	uint64_t clock[2] = { 0x123456789abc, 0 };
	struct ctf_state st = { .slot = slot, .clock = clock };

	bytes_init(&st.cur.b, data, BYTES, "packet", 0, false);
	st.cur.at = from * 8;
	st.cur.end = BYTES * 8;
	const int rc = fn(p, &st);

	return (struct header_end){
		.rc = rc != 0,
		.at = st.cur.at,
		.id = st.role[CTF_EVENT_CLASS_ID],
		.time = st.role[CTF_CLOCK],
		.clock = clock[0],
		.roles = st.roles,
		.slot = slot[1],
	};
}

/* Compares both ways for headers with all first bytes, at all places of a short
 * packet. Returns how many could be read. */
static size_t ctf_header_compare(const struct ctf_program *p)
{
	unsigned char data[BYTES];
	uint64_t seed = 1;
	size_t n_read = 0;

	for (unsigned int i = 0; i < 256u * BYTES; i++) {
		const uint64_t from = i % BYTES;

		for (size_t k = 0; k < BYTES; k++)
			data[k] = (unsigned char)rnd(&seed);
		data[from] = (unsigned char)(i / BYTES);
		if (i % 7 == 0)
			data[(from + 1) % BYTES] = 0xff;
		const struct header_end a =
			ctf_header_read(ctf_run, p, data, from);
		const struct header_end b =
			ctf_header_read(ctf_run_header, p, data, from);

		must(!memcmp(&a, &b, sizeof(a)));
		n_read += !a.rc;
	}
	return n_read;
}

/* What is read at once is a number of the host, whose first bit must be the
 * lowest. */
#define IS_AT_ONCE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

START_TEST(a_header_that_is_read_at_once_is_read_as_its_parts_are)
{
	struct ctf_schema *sm = ctf_header_schema("le", headers[_i].header);
	const struct ctf_program *p = &sm->plan[0].header;

	ck_assert_uint_gt(p->n, 1);
	ck_assert_uint_eq(p->brief.bits != 0, IS_AT_ONCE);
	ck_assert_uint_gt(ctf_header_compare(p), 200);
	ctf_schema_free(sm);
}
END_TEST

/* Big-endian numbers have their first bit at the other end, on each host. */
START_TEST(a_big_endian_header_is_not_read_at_once)
{
	struct ctf_schema *sm = ctf_header_schema("be", headers[0].header);

	ck_assert_uint_eq(sm->plan[0].header.brief.bits, 0);
	ctf_schema_free(sm);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(
	a_header_that_is_read_at_once_is_read_as_its_parts_are, headers) };

RUN_TABLES("ctf_header", tables, a_big_endian_header_is_not_read_at_once)
