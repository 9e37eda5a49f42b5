/* sframe.c - tests of symbolize/sframe/sframe.c with
 * sections made by hand. */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "stitch/base/err.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe.h"

#define ADDR 0x2000u

/* A section in the making. */
struct made {
	unsigned char b[512];
	size_t n;
	bool big;
};

static void sframe_put(struct made *m, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		m->b[m->n++] = (unsigned char)(v >> (8 * (m->big ? bytes - 1 - i
								 : i)));
}

struct opts {
	unsigned int version, flags, abi, rows_len, funcs, aux;
	int fixed_ra;
};

static struct made sframe_test_head(struct opts o)
{
	static const unsigned int entry[] = { 0, 17, 20, 16 };
	struct made m = { .big = o.abi == SFRAME_S390X ||
				 o.abi == SFRAME_AARCH64_BE };

	sframe_put(&m, 0xdee2, 2);
	sframe_put(&m, o.version, 1);
	sframe_put(&m, o.flags, 1);
	sframe_put(&m, o.abi, 1);
	sframe_put(&m, 0, 1);
	sframe_put(&m, (uint64_t)(int64_t)o.fixed_ra, 1);
	sframe_put(&m, o.aux, 1);
	sframe_put(&m, o.funcs, 4);
	sframe_put(&m, 0, 4);
	sframe_put(&m, o.rows_len, 4);
	sframe_put(&m, 0, 4);
	sframe_put(&m, o.version < 4 ? o.funcs * entry[o.version] : 0, 4);
	for (unsigned int i = 0; i < o.aux; i++)
		sframe_put(&m, 0xaa, 1);
	return m;
}

static int sframe_test_init(struct sframe *sf, const struct made *m,
			    struct err *err)
{
	return sframe_init(sf, m->b, m->n, "test", 0, ADDR, err);
}

static void func_v2(struct made *m, int32_t start, uint32_t size, uint32_t at,
		    uint32_t n, unsigned int info, unsigned int rep)
{
	sframe_put(m, (uint32_t)start, 4);
	sframe_put(m, size, 4);
	sframe_put(m, at, 4);
	sframe_put(m, n, 4);
	sframe_put(m, info, 1);
	sframe_put(m, rep, 1);
	sframe_put(m, 0, 2);
}

/* One function of version 2 on amd64: sp+8, then sp+16 with FP at c-16. */
static struct made plain_v2(unsigned int info, unsigned int rep)
{
	struct made m = sframe_test_head((struct opts){ .version = 2,
							.abi = SFRAME_AMD64,
							.fixed_ra = -8,
							.funcs = 1,
							.rows_len = 7 });

	func_v2(&m, -0x1000, 32, 0, 2, info, rep);
	sframe_put(&m, 0, 1);
	sframe_put(&m, 1 | 1 << 1, 1);
	sframe_put(&m, 8, 1);
	sframe_put(&m, 1, 1);
	sframe_put(&m, 1 | 2 << 1, 1);
	sframe_put(&m, 16, 1);
	sframe_put(&m, 0xf0, 1);
	return m;
}

START_TEST(function_and_rows_of_version_2)
{
	struct made m = plain_v2(0, 0);
	struct sframe_cursor c;
	struct sframe_func f;
	struct sframe_rule rule;
	struct sframe_row row;
	struct sframe sf;
	struct err err;

	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	ck_assert_uint_eq(f.start, 0x1000);
	ck_assert_uint_eq(f.size, 32);
	sframe_rows(&sf, &f, &c);
	ck_assert_int_eq(sframe_row(&c, &row, &err), 1);
	ck_assert_int_eq(sframe_rule(&sf, &f, &row, &rule, &err), 0);
	ck_assert_uint_eq(rule.cfa.reg, 7);
	ck_assert_int_eq(rule.cfa.off, 8);
	ck_assert_int_eq(rule.fp.kind, SFRAME_NONE);
	ck_assert_int_eq(rule.ra.kind, SFRAME_FIXED);
	ck_assert_int_eq(rule.ra.off, -8);
	ck_assert_int_eq(sframe_row(&c, &row, &err), 1);
	ck_assert_int_eq(sframe_rule(&sf, &f, &row, &rule, &err), 0);
	ck_assert_uint_eq(row.pc, 1);
	ck_assert_int_eq(rule.fp.kind, SFRAME_MEMORY);
	ck_assert_int_eq(rule.fp.off, -16);
	ck_assert_int_eq(sframe_row(&c, &row, &err), 0);
	ck_assert_uint_eq(sframe_row_bytes(&c), 7);
}
END_TEST

START_TEST(starts_count_from_their_field_when_the_flag_says_so)
{
	struct made m = plain_v2(0, 0);
	struct sframe_func f;
	struct sframe sf;
	struct err err;

	m.b[3] = SFRAME_PCREL;
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	ck_assert_uint_eq(f.start, 0x1000 + 28);
	ck_assert_uint_eq(sframe_func_field(&sf, 0), ADDR + 28);
}
END_TEST

START_TEST(auxiliary_header_is_stepped_over)
{
	struct made m = sframe_test_head((struct opts){ .version = 2,
							.abi = SFRAME_AMD64,
							.fixed_ra = -8,
							.funcs = 1,
							.aux = 5,
							.rows_len = 0 });
	struct sframe_func f;
	struct sframe sf;
	struct err err;

	func_v2(&m, -0x1000, 16, 0, 0, 0, 0);
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	ck_assert_uint_eq(f.start, 0x1000);
	ck_assert_uint_eq(f.n, 0);
}
END_TEST

/* Version 3, s390x, big-endian: FP in f1, RA as the link register has it. */
START_TEST(flexible_rows_of_version_3_on_s390x)
{
	struct made m = sframe_test_head((struct opts){ .version = 3,
							.flags = SFRAME_PCREL,
							.abi = SFRAME_S390X,
							.funcs = 1,
							.rows_len = 12 });
	struct sframe_cursor c;
	struct sframe_func f;
	struct sframe_rule rule;
	struct sframe_row row;
	struct sframe sf;
	struct err err;

	sframe_put(&m, (uint64_t)-0x1000, 8);
	sframe_put(&m, 40, 4);
	sframe_put(&m, 0, 4);
	sframe_put(&m, 1, 2);	 /* rows */
	sframe_put(&m, 0x80, 1); /* signal frame, addresses of one byte */
	sframe_put(&m, 1, 1);	 /* flexible */
	sframe_put(&m, 0, 1);
	sframe_put(&m, 0, 1); /* the row */
	sframe_put(&m, 5 << 1, 1);
	sframe_put(&m, 15 << 3 | 1, 1); /* CFA: r15 + 20 * 8 + 160 */
	sframe_put(&m, 20, 1);
	sframe_put(&m, 0, 1); /* RA: none */
	sframe_put(&m, 17 << 3 | 1, 1);
	sframe_put(&m, 0, 1);
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	ck_assert_uint_eq(f.start, ADDR + 28 - 0x1000);
	ck_assert(f.signal && f.flex);
	sframe_rows(&sf, &f, &c);
	ck_assert_int_eq(sframe_row(&c, &row, &err), 1);
	ck_assert_int_eq(sframe_rule(&sf, &f, &row, &rule, &err), 0);
	ck_assert_uint_eq(rule.cfa.reg, 15);
	ck_assert_int_eq(rule.cfa.off, 320);
	ck_assert_int_eq(rule.ra.kind, SFRAME_PADDED);
	ck_assert_int_eq(rule.fp.kind, SFRAME_VALUE);
	ck_assert_uint_eq(rule.fp.reg, 17);
}
END_TEST

START_TEST(version_1_repeats_after_16_bytes)
{
	struct made m = sframe_test_head((struct opts){ .version = 1,
							.abi = SFRAME_AMD64,
							.fixed_ra = -8,
							.funcs = 1,
							.rows_len = 6 });
	struct sframe_func f;
	struct unwind_rule rule;
	struct sframe sf;
	struct err err;
	uint32_t bad;

	sframe_put(&m, (uint32_t)-0x1000, 4);
	sframe_put(&m, 48, 4);
	sframe_put(&m, 0, 4);
	sframe_put(&m, 2, 4);
	sframe_put(&m, 16, 1);
	sframe_put(&m, 0, 1);
	sframe_put(&m, 1 | 1 << 1, 1);
	sframe_put(&m, 8, 1);
	sframe_put(&m, 11, 1);
	sframe_put(&m, 1 | 1 << 1, 1);
	sframe_put(&m, 16, 1);
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	ck_assert_uint_eq(f.rep, 16);
	struct unwind_rows *t = sframe_table(&sf, &bad);
	ck_assert_uint_eq(bad, 0);
	const struct unwind_row *row = unwind_rows_find(t, 0x102c);
	ck_assert_ptr_nonnull(row);
	unwind_rows_rule(t, row, &rule);
	ck_assert_int_eq(rule.kind, ROW_PLT);
	ck_assert_int_eq(rule.cfa, 11);
	unwind_rows_free(t);
}
END_TEST

START_TEST(repeated_rows_are_in_the_table_for_each_block)
{
	struct made m = plain_v2(16, 8);
	struct unwind_rule rule;
	struct sframe sf;
	struct err err;
	uint32_t bad;

	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	struct unwind_rows *t = sframe_table(&sf, &bad);
	ck_assert_uint_eq(bad, 0);
	for (uint64_t i = 0; i < 32; i++) {
		const struct unwind_row *row = unwind_rows_find(t, 0x1000 + i);

		ck_assert_ptr_nonnull(row);
		unwind_rows_rule(t, row, &rule);
		ck_assert_int_eq(rule.cfa, i % 8 ? 16 : 8);
		ck_assert_int_eq(rule.fp.kind, i % 8 ? PLACE_CFA : PLACE_SAME);
	}
	unwind_rows_free(t);
}
END_TEST

/* A block of 2 bytes, of which the first has no row: 2 billion of them. */
START_TEST(rows_that_repeat_too_often_are_left_out)
{
	struct made m = plain_v2(16, 2);
	struct sframe sf;
	struct err err;
	uint32_t bad;

	memset(m.b + 28 + 4, 0xff, 4);
	m.b[28 + 12] = 1;
	m.b[48] = 1;
	m.b[31] = 0; /* start: in the lower half */
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	struct unwind_rows *t = sframe_table(&sf, &bad);
	ck_assert_uint_eq(bad, 1);
	ck_assert_uint_eq(unwind_rows_count(t), 0);
	unwind_rows_free(t);
}
END_TEST

/* Many functions, each with all the rows. */
START_TEST(functions_that_share_rows_end_soon)
{
	struct made m = sframe_test_head((struct opts){ .version = 2,
							.abi = SFRAME_AMD64,
							.fixed_ra = -8,
							.funcs = 9,
							.rows_len = 6 });
	static const struct sframe_visitor none;
	struct sframe sf;
	struct err err;

	for (int i = 0; i < 9; i++)
		func_v2(&m, -0x1000 + 32 * i, 32, 0, 2, 0, 0);
	for (unsigned int i = 0; i < 2; i++) {
		sframe_put(&m, i, 1);
		sframe_put(&m, 1 | 1 << 1, 1);
		sframe_put(&m, 8, 1);
	}
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_uint_eq(sframe_visit(&sf, &none, NULL), 5);
}
END_TEST

struct broken {
	size_t at; /* byte of plain_v2() that is changed */
	unsigned char to;
	int where; /* 0: the header is refused; 1: the function; 2: the row,
		    * 3: its rule */
};

static const struct broken broken[] = {
	{ 0, 0, 0 },	     /* magic */
	{ 2, 0, 0 },	     /* version */
	{ 2, 4, 0 },	     /* version */
	{ 3, 8, 0 },	     /* flags */
	{ 4, 0, 0 },	     /* machine */
	{ 4, 4, 0 },	     /* machine of the other order */
	{ 7, 255, 0 },	     /* auxiliary header past the end */
	{ 8, 9, 0 },	     /* functions past the end */
	{ 11, 0xff, 0 },     /* 4 billion of them */
	{ 16, 200, 0 },	     /* rows past the end */
	{ 20, 200, 0 },	     /* functions begin past the end */
	{ 27, 0xff, 0 },     /* rows begin past the end */
	{ 24, 0, 0 },	     /* rows begin within the functions */
	{ 28 + 8, 8, 1 },    /* rows of the function past the end */
	{ 28 + 12, 99, 1 },  /* too many */
	{ 28 + 15, 255, 1 }, /* 4 billion */
	{ 28 + 16, 3, 1 },   /* row type */
	{ 28 + 16, 16, 1 },  /* repeats after 0 bytes */
	{ 48 + 0, 40, 2 },   /* row after the end of the function */
	{ 48 + 1, 0x63, 2 }, /* words of size 3 */
	{ 48 + 1, 31, 2 },   /* words past the end */
	{ 48 + 1, 7, 3 },    /* words without a meaning */
};

static int where_refused(const struct made *m, struct err *err)
{
	struct sframe_cursor c;
	struct sframe_func f;
	struct sframe_rule rule;
	struct sframe_row row;
	struct sframe sf;

	if (sframe_test_init(&sf, m, err))
		return 0;
	if (sframe_func(&sf, 0, &f, err))
		return 1;
	sframe_rows(&sf, &f, &c);
	if (sframe_row(&c, &row, err) < 0)
		return 2;
	return sframe_rule(&sf, &f, &row, &rule, err) ? 3 : 4;
}

START_TEST(broken_parts_are_refused)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct made m = plain_v2(0, 0);
		struct err err = { 0 };

		m.b[broken[i].at] = broken[i].to;
		ck_assert_msg(where_refused(&m, &err) == broken[i].where,
			      "byte %zu, %u: %s", broken[i].at, broken[i].to,
			      err.msg);
		ck_assert(err.msg[0]);
	}
}
END_TEST

START_TEST(rows_have_to_grow)
{
	struct made m = plain_v2(0, 0);
	struct sframe_cursor c;
	struct sframe_func f;
	struct sframe_row row;
	struct sframe sf;
	struct err err;

	m.b[48 + 3] = 0;
	ck_assert_int_eq(sframe_test_init(&sf, &m, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), 0);
	sframe_rows(&sf, &f, &c);
	ck_assert_int_eq(sframe_row(&c, &row, &err), 1);
	ck_assert_int_eq(sframe_row(&c, &row, &err), -1);
}
END_TEST

START_TEST(every_cut_is_refused)
{
	struct made whole = plain_v2(0, 0);
	struct sframe sf;
	struct err err;

	for (size_t n = 0; n < whole.n; n++) {
		unsigned char *part = malloc(n ? n : 1);

		memcpy(part, whole.b, n);
		ck_assert_int_eq(
			sframe_init(&sf, part, n, "test", 0, ADDR, &err), -1);
		free(part);
	}
}
END_TEST

START_TEST(function_around_the_address_space_is_refused)
{
	struct made m = plain_v2(0, 0);
	struct sframe_func f;
	struct sframe sf;
	struct err err;

	ck_assert_int_eq(sframe_init(&sf, m.b, m.n, "test", 0, 0xfff, &err), 0);
	ck_assert_int_eq(sframe_func(&sf, 0, &f, &err), -1);
}
END_TEST

RUN("sframe", function_and_rows_of_version_2,
    starts_count_from_their_field_when_the_flag_says_so,
    auxiliary_header_is_stepped_over, flexible_rows_of_version_3_on_s390x,
    version_1_repeats_after_16_bytes,
    repeated_rows_are_in_the_table_for_each_block,
    rows_that_repeat_too_often_are_left_out, functions_that_share_rows_end_soon,
    broken_parts_are_refused, rows_have_to_grow, every_cut_is_refused,
    function_around_the_address_space_is_refused)
