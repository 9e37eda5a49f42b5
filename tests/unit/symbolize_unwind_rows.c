/* symbolize_unwind_rows.c - the table of how to step from a frame to its
 * caller. */
#include "symbolize/cfi/unwind_rows.h"

#include <stdbool.h>

#include "run.h"

static struct unwind_rule sp(int64_t cfa)
{
	return (struct unwind_rule){ .kind = ROW_SP,
				     .cfa = cfa,
				     .fp = { PLACE_SAME, 0 },
				     .ra = { PLACE_CFA, -8 } };
}

static void func(struct unwind_rows *t, uint64_t start, uint64_t end,
		 int64_t cfa)
{
	struct unwind_rule r = sp(cfa);

	unwind_rows_begin(t, start, end);
	unwind_rows_add(t, start, &r);
	unwind_rows_end(t);
}

/* The CFA at an address; -1: a gap; -2: outside of all. */
static int64_t rows_test_at(const struct unwind_rows *t, uint64_t addr)
{
	const struct unwind_row *r = unwind_rows_find(t, addr);

	if (!r)
		return -2;
	return unwind_row_kind(r) == ROW_GAP ? -1 : r->cfa;
}

START_TEST(functions_come_in_any_order)
{
	struct unwind_rows *t = unwind_rows_new(8);

	func(t, 0x3000, 0x3100, 3);
	func(t, 0x1000, 0x1100, 1);
	func(t, 0x2000, 0x2100, 2);
	unwind_rows_finish(t);
	ck_assert_int_eq(rows_test_at(t, 0xfff), -2);
	ck_assert_int_eq(rows_test_at(t, 0x1000), 1);
	ck_assert_int_eq(rows_test_at(t, 0x10ff), 1);
	ck_assert_int_eq(rows_test_at(t, 0x1100), -1);
	ck_assert_int_eq(rows_test_at(t, 0x2080), 2);
	ck_assert_int_eq(rows_test_at(t, 0x2fff), -1);
	ck_assert_int_eq(rows_test_at(t, 0x30ff), 3);
	ck_assert_int_eq(rows_test_at(t, 0x3100), -2);
	unwind_rows_free(t);
}
END_TEST

START_TEST(the_later_beginning_holds)
{
	struct unwind_rows *t = unwind_rows_new(8);

	func(t, 0x1000, 0x2000, 1);
	func(t, 0x1800, 0x1900, 2);
	unwind_rows_finish(t);
	ck_assert_int_eq(rows_test_at(t, 0x17ff), 1);
	ck_assert_int_eq(rows_test_at(t, 0x1800), 2);
	ck_assert_int_eq(rows_test_at(t, 0x1900), -2);
	unwind_rows_free(t);
}
END_TEST

START_TEST(what_is_far_away_is_left_out_not_cut)
{
	struct unwind_rows *t = unwind_rows_new(8);

	func(t, 0x1000, 0x2000, 1);
	func(t, 0x200000000, 0x200000100, 2);
	unwind_rows_finish(t);
	ck_assert_int_eq(rows_test_at(t, 0x200000000), -2);
	ck_assert_int_eq(rows_test_at(t, 0x1000), 1);
	unwind_rows_free(t);
}
END_TEST

START_TEST(an_empty_table_has_nothing)
{
	struct unwind_rows *t = unwind_rows_new(8);

	unwind_rows_finish(t);
	ck_assert_ptr_null(unwind_rows_find(t, 0));
	ck_assert_ptr_null(unwind_rows_find(t, UINT64_MAX));
	unwind_rows_free(t);
	unwind_rows_free(NULL);
}
END_TEST

/* Every place that fits is read as it was told, the others are complex. */
START_TEST(places_are_kept_or_the_row_is_complex)
{
	static const struct {
		struct place_rule p;
		bool fits;
	} c[] = {
		{ { PLACE_SAME, 0 }, true },
		{ { PLACE_UNDEFINED, 0 }, true },
		{ { PLACE_CFA, -8 }, true },
		{ { PLACE_CFA, -32768 * 8 }, true },
		{ { PLACE_CFA, -32769 * 8 }, false },
		{ { PLACE_CFA, 0x3fff * 8 }, true },
		{ { PLACE_CFA, 0x4000 * 8 }, false },
		{ { PLACE_CFA, -12 }, false },
		{ { PLACE_FP, 0 }, true },
		{ { PLACE_FP, -0x1000 * 8 }, true },
		{ { PLACE_FP, -0x1001 * 8 }, false },
		{ { PLACE_FP, 0xfff * 8 }, true },
		{ { PLACE_FP, 0x1000 * 8 }, false },
		{ { PLACE_SP, -0x800 * 8 }, true },
		{ { PLACE_SP, 0x7ff * 8 }, true },
		{ { PLACE_SP, 0x800 * 8 }, false },
		{ { PLACE_REG, 0 }, true },
		{ { PLACE_REG, 33 }, true },
		{ { PLACE_REG, 128 }, false },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct unwind_rows *t = unwind_rows_new(8);
		struct unwind_rule r = sp(16);
		struct unwind_rule got;

		r.fp = c[i].p;
		r.flags = ROW_SIGNED;
		unwind_rows_begin(t, 0x1000, 0x1100);
		unwind_rows_add(t, 0x1000, &r);
		unwind_rows_end(t);
		unwind_rows_finish(t);
		unwind_rows_rule(t, unwind_rows_find(t, 0x1000), &got);
		ck_assert_uint_eq(got.flags, ROW_SIGNED);
		ck_assert_uint_eq(got.kind, c[i].fits ? ROW_SP : ROW_COMPLEX);
		if (c[i].fits) {
			ck_assert_int_eq(got.fp.kind, c[i].p.kind);
			ck_assert_int_eq(got.fp.off, c[i].p.off);
			ck_assert_int_eq(got.cfa, 16);
		}
		unwind_rows_free(t);
	}
}
END_TEST

START_TEST(a_large_frame_is_complex)
{
	struct unwind_rows *t = unwind_rows_new(8);

	func(t, 0x1000, 0x1100, 0x7fffff);
	func(t, 0x2000, 0x2100, 0x800000);
	unwind_rows_finish(t);
	ck_assert_int_eq(rows_test_at(t, 0x1000), 0x7fffff);
	ck_assert_int_eq(unwind_row_kind(unwind_rows_find(t, 0x2000)),
			 ROW_COMPLEX);
	unwind_rows_free(t);
}
END_TEST

/* A table of any functions says of each address what a plain search says. */
START_TEST(blocks_change_no_answer)
{
	uint64_t seed = 7;

	for (int round = 0; round < 200; round++) {
		int64_t want[4096];
		struct unwind_rows *t = unwind_rows_new(8);
		uint64_t end = 0;

		for (size_t i = 0; i < 4096; i++)
			want[i] = -1;
		for (uint64_t pc = rnd_below(&seed, 50); pc < 4000;
		     pc = end + rnd_below(&seed, 3) * rnd_below(&seed, 90)) {
			end = pc + 1 + rnd_below(&seed, 80);
			unwind_rows_begin(t, pc, end);
			for (uint64_t a = pc; a < end;
			     a += 1 + rnd_below(&seed, 20)) {
				int64_t cfa = (int64_t)rnd_below(&seed, 4) * 8;
				struct unwind_rule r = sp(cfa);

				unwind_rows_add(t, a, &r);
				for (uint64_t k = a; k < end; k++)
					want[k] = cfa;
			}
			unwind_rows_end(t);
		}
		unwind_rows_finish(t);
		for (uint64_t a = 0; a < end; a++) {
			int64_t got = rows_test_at(t, a);

			must((got < 0 ? -1 : got) == want[a]);
		}
		must(rows_test_at(t, end) == -2);
		unwind_rows_free(t);
	}
}
END_TEST

RUN("rows", functions_come_in_any_order, the_later_beginning_holds,
    what_is_far_away_is_left_out_not_cut, an_empty_table_has_nothing,
    places_are_kept_or_the_row_is_complex, a_large_frame_is_complex,
    blocks_change_no_answer)
