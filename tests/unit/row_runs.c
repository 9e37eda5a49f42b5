/* row_runs.c - tests of schema/db/row_runs.c. */
#include "schema/db/row_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define ROWS 200000u

/* What was taken. */
struct taken {
	uint32_t n;
	int64_t last;
	uint32_t stop_at; /* 0: never */
};

static size_t runs_row(int64_t key, char row[64])
{
	return (size_t)snprintf(row, 64, "row %lld%.*s", (long long)key,
				(int)(key % 40),
				"........................................");
}

static int runs_expect(void *arg, int64_t key, const void *row, size_t len)
{
	struct taken *t = arg;
	char want[64];

	must(!t->n || key >= t->last);
	must(len == runs_row(key, want) && !memcmp(row, want, len));
	t->last = key;
	return ++t->n == t->stop_at ? 7 : 0;
}

static bool runs_put(struct row_runs *rr, int64_t key)
{
	char row[64];

	return row_runs_add(rr, key, row, runs_row(key, row));
}

/* Each key comes at most `group` places from where it belongs. Returns how many
 * rows were refused. */
static uint32_t runs_shuffled(struct row_runs *rr, struct taken *t,
			      uint32_t group, uint64_t *state)
{
	uint32_t *key = mem_new(group, sizeof(*key));
	uint32_t refused = 0;

	for (uint32_t at = 0; at < ROWS; at += group) {
		for (uint32_t i = 0; i < group; i++)
			key[i] = at + i;
		for (uint32_t i = group; i > 1; i--) {
			uint32_t k = (uint32_t)rnd_below(state, i);
			uint32_t swap = key[i - 1];

			key[i - 1] = key[k];
			key[k] = swap;
		}
		for (uint32_t i = 0; i < group; i++)
			refused += !runs_put(rr, key[i]);
		if (rr->bytes > 1 << 20)
			must(!row_runs_take(rr, 1 << 19, runs_expect, t));
	}
	free(key);
	return refused;
}

START_TEST(rows_that_are_almost_in_order_are_put_in_order)
{
	static const uint32_t group[] = { 1, 2, 8, 50 };
	uint64_t state = 1;

	for (size_t i = 0; i < sizeof(group) / sizeof(*group); i++) {
		struct row_runs rr = { .n = 0 };
		struct taken t = { 0 };

		ck_assert_uint_eq(runs_shuffled(&rr, &t, group[i], &state), 0);
		ck_assert_int_eq(row_runs_take(&rr, 0, runs_expect, &t), 0);
		ck_assert_uint_eq(t.n, ROWS);
		ck_assert_uint_eq(rr.bytes, 0);
		row_runs_release(&rr);
	}
}
END_TEST

START_TEST(a_row_below_one_that_was_taken_is_refused)
{
	struct row_runs rr = { .n = 0 };
	struct taken t = { 0 };

	ck_assert(runs_put(&rr, 10) && runs_put(&rr, 5) && runs_put(&rr, 20));
	ck_assert_int_eq(row_runs_take(&rr, rr.bytes - 1, runs_expect, &t), 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert(!runs_put(&rr, 4) && !runs_put(&rr, 5) && runs_put(&rr, 6));
	ck_assert_int_eq(row_runs_take(&rr, 0, runs_expect, &t), 0);
	ck_assert_uint_eq(t.n, 4);
	row_runs_release(&rr);
}
END_TEST

/* As mappings come, process by process: each begins a run, and is it alone if
 * it has one row. */
START_TEST(rows_in_thousands_of_runs_are_put_in_order)
{
	static const uint32_t each[] = { 1, 3, 50 };

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct row_runs rr = { .n = 0 };
		struct taken t = { 0 };

		for (uint32_t at = ROWS / each[i]; at-- > 0;)
			for (uint32_t k = 0; k < each[i]; k++)
				must(runs_put(&rr, at * each[i] + k));
		ck_assert_uint_le(rr.n, ROW_RUNS_MAX);
		ck_assert_int_eq(row_runs_take(&rr, 0, runs_expect, &t), 0);
		ck_assert_uint_eq(t.n, ROWS / each[i] * each[i]);
		ck_assert_uint_eq(rr.bytes, 0);
		ck_assert(runs_put(&rr, ROWS));
		row_runs_release(&rr);
	}
}
END_TEST

START_TEST(what_fn_returns_ends_the_taking)
{
	struct row_runs rr = { .n = 0 };
	struct taken t = { .stop_at = 3 };

	for (int i = 0; i < 10; i++)
		ck_assert(runs_put(&rr, i));
	ck_assert_int_eq(row_runs_take(&rr, 0, runs_expect, &t), 7);
	ck_assert_uint_eq(t.n, 3);
	row_runs_release(&rr);
}
END_TEST

/* One run after the other is long, and keeps one row. */
START_TEST(runs_that_were_long_give_their_memory_back)
{
	struct row_runs rr = { .n = 0 };
	size_t cap = 0;

	for (int i = 0; i < ROW_RUNS_MAX; i++) {
		struct taken t = { 0 };
		const int64_t end = (int64_t)(ROW_RUNS_MAX - i) << 40;

		for (int k = 0; k < 30000; k++)
			ck_assert(runs_put(&rr, (int64_t)i * 30000 + k));
		ck_assert(runs_put(&rr, end));
		ck_assert_int_eq(row_runs_take(&rr, (size_t)(i + 1) * 100,
					       runs_expect, &t),
				 0);
	}
	for (int i = 0; i < ROW_RUNS_MAX; i++)
		cap += rr.run[i].cap;
	ck_assert_uint_lt(cap, 4 << 20);
	row_runs_release(&rr);
}
END_TEST

RUN("row_runs", rows_that_are_almost_in_order_are_put_in_order,
    a_row_below_one_that_was_taken_is_refused,
    rows_in_thousands_of_runs_are_put_in_order, what_fn_returns_ends_the_taking,
    runs_that_were_long_give_their_memory_back)
