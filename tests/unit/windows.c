/* windows.c - tests of stitch/windows.c. */
#include "stitch/windows.h"

#include "tests/unit/run.h"

START_TEST(nothing_overlaps_when_nothing_was_lost)
{
	struct windows ws = { 0 };

	ck_assert(!windows_overlap(&ws, INT64_MIN, INT64_MAX));
	windows_add(&ws, 5, 5);
	windows_add(&ws, 9, 3);
	ck_assert(!windows_overlap(&ws, INT64_MIN, INT64_MAX));
	windows_release(&ws);
}
END_TEST

START_TEST(answers_agree_with_a_plain_search)
{
	uint64_t seed = 4;

	for (int round = 0; round < 30000; round++) {
		struct windows ws = { 0 };
		size_t n = rnd_below(&seed, 13);
		int64_t from = (int64_t)rnd_below(&seed, 100);
		int64_t to = from + 1 + (int64_t)rnd_below(&seed, 30);
		bool want = false;

		for (size_t i = 0; i < n; i++) {
			int64_t t0 = (int64_t)rnd_below(&seed, 120);
			int64_t t1 = t0 + 1 + (int64_t)rnd_below(&seed, 9);

			windows_add(&ws, t0, t1);
			want |= t1 > from && t0 < to;
		}
		must(windows_overlap(&ws, from, to) == want);
		windows_release(&ws);
	}
}
END_TEST

START_TEST(windows_may_be_added_after_a_question)
{
	struct windows ws = { 0 };

	windows_add(&ws, 10, 20);
	ck_assert(!windows_overlap(&ws, 20, 30));
	windows_add(&ws, 25, 26);
	ck_assert(windows_overlap(&ws, 20, 30));
	windows_release(&ws);
}
END_TEST

START_TEST(too_many_become_wider_but_none_goes_away)
{
	struct windows ws = { 0 };
	int64_t n = 300000;

	for (int64_t i = 0; i < n; i++)
		windows_add(&ws, 10 * i, 10 * i + 1);
	ck_assert_uint_le(ws.n, 1 << 16);
	for (int64_t i = 0; i < n; i += 97)
		must(windows_overlap(&ws, 10 * i, 10 * i + 1));
	ck_assert(!windows_overlap(&ws, 10 * n + 5, 10 * n + 6));
	windows_release(&ws);
}
END_TEST

RUN("windows", nothing_overlaps_when_nothing_was_lost,
    answers_agree_with_a_plain_search, windows_may_be_added_after_a_question,
    too_many_become_wider_but_none_goes_away)
