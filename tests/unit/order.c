/* order.c - tests of stitch/order/order.c over sources made of arrays. */
#include "stitch/order/order.h"

#include <stdlib.h>

#include "stitch/order/clocks.h"
#include "stitch/base/ledger.h"
#include "tests/unit/run.h"
#include "tests/unit/fake.h"

static int cmp(const void *a, const void *b)
{
	const struct ref *x = a;
	const struct ref *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* All refs of the sources, as qsort() orders them. */
static struct ref *sorted(struct fake *const *f, size_t n_fake, size_t *n)
{
	struct ref *all = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t s = 0; s < n_fake; s++) {
		for (size_t i = 0; i < f[s]->n; i++) {
			mem_grow(all, cap, *n + 1);
			all[*n] = f[s]->rec[i].ref;
			all[*n].source = (uint16_t)s;
			all[(*n)++].handle = i;
		}
	}
	if (*n)
		qsort(all, *n, sizeof(*all), cmp);
	return all;
}

enum shape {
	SHAPE_RINGS, /* ascending pieces, as recorders write */
	SHAPE_RANDOM,
	SHAPE_BACKWARD, /* newest first */
	SHAPE_FEW_KEYS,
	SHAPES
};

static uint64_t order_key_of(enum shape shape, size_t i, size_t n,
			     uint64_t *seed)
{
	switch (shape) {
	case SHAPE_RINGS:
		return i / 500 * 400 + i % 500 + rnd_below(seed, 3);
	case SHAPE_BACKWARD:
		return n - i;
	case SHAPE_FEW_KEYS:
		return rnd_below(seed, 4);
	default:
		return rnd_below(seed, n);
	}
}

static struct fake *shaped(enum shape shape, size_t n, uint64_t *seed)
{
	struct fake *f = fake_new();

	for (size_t i = 0; i < n; i++)
		fake_add(f, REC_MARK,
			 (enum record_class)rnd_below(seed, CLASS_EXIT + 1),
			 order_key_of(shape, i, n, seed), 1);
	return f;
}

/* Everything comes out, in qsort's order, decoded once and released. */
static void check_order(struct fake **f, size_t n_fake, uint64_t limit,
			struct ledger *lg)
{
	struct order *ord = order_new(lg, limit, NULL);
	size_t n, released = 0, i = 0;
	struct record *rec;
	struct err err;

	for (size_t s = 0; s < n_fake; s++) {
		f[s]->n_released = &released;
		order_add(ord, &f[s]->src);
	}
	struct ref *want = sorted(f, n_fake, &n);
	int got;

	while ((got = order_next(ord, &rec, &err)) > 0) {
		must(i < n);
		must(rec->source == want[i].source);
		must(rec->off == 100 + want[i].handle);
		must(!(rec->flags & REC_F_LATE));
		i++;
	}
	ck_assert_int_eq(got, 0);
	ck_assert_uint_eq(i, n);
	ck_assert_uint_eq(released, n);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 0);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	free(want);
	order_free(ord);
}

static void one_shape(enum shape shape, size_t n_fake, size_t n, uint64_t limit,
		      uint64_t *seed)
{
	struct ledger *lg = ledger_new();
	struct fake *f[4];

	for (size_t s = 0; s < n_fake; s++)
		f[s] = shaped(shape, n / (s + 1), seed);
	check_order(f, n_fake, limit, lg);
	ledger_free(lg);
}

static void all_shapes(size_t n_fake, size_t n, uint64_t limit, uint64_t seed)
{
	for (int shape = 0; shape < SHAPES; shape++)
		one_shape((enum shape)shape, n_fake, n, limit, &seed);
}

START_TEST(one_source_comes_out_as_qsort_orders_it)
{
	const size_t n[] = { 0, 1, 2, 100, 2048, 2049, 30000 };

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		all_shapes(1, n[i], 0, i);
}
END_TEST

START_TEST(several_sources_come_out_as_qsort_orders_them)
{
	all_shapes(4, 20000, 0, 5);
	all_shapes(2, 10, 0, 6);
}
END_TEST

START_TEST(a_tiny_memory_limit_changes_nothing)
{
	all_shapes(1, 60000, 1, 7);
	all_shapes(3, 30000, 1, 8);
}
END_TEST

START_TEST(more_runs_than_buffers_are_merged_first)
{
	uint64_t seed = 9;

	/* The smallest limit spills 2048 refs or a few more at a time. */
	if (RUN_ELSEWHERE)
		one_shape(SHAPE_RANDOM, 1, 400000, 1, &seed);
	else
		all_shapes(1, 400000, 1, seed);
}
END_TEST

/* How many of three records come out as late. */
static size_t count_late(struct order *ord)
{
	struct record *rec;
	size_t n = 0;

	while (order_next(ord, &rec, NULL) > 0)
		n += (rec->flags & REC_F_LATE) != 0;
	return n;
}

START_TEST(a_late_record_is_given_out_flagged_and_counted)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct fake *f = fake_new();
	struct ledger_entry e;
	struct record *rec;
	size_t late = 0, n = 0;

	f->trusting = true;
	for (uint64_t t = 1; t <= 10000; t++)
		fake_add(f, REC_MARK, CLASS_SAMPLE, t, 1);
	fake_add(f, REC_MARK, CLASS_SAMPLE, 10, 1);
	fake_add(f, REC_MARK, CLASS_SAMPLE, 20000, 1);
	order_add(ord, &f->src);
	for (; order_next(ord, &rec, NULL) > 0; n++) {
		if (!(rec->flags & REC_F_LATE))
			continue;
		late++;
		ck_assert_uint_eq(rec->time, 10);
		ck_assert_int_eq(ledger_take(lg, &e), 1);
		ck_assert_uint_eq(e.t0, 10);
		ck_assert_uint_gt(e.t1, 10);
		ck_assert_uint_le(e.t1, 10000);
		ck_assert_str_eq(e.what, "late");
	}
	ck_assert_uint_eq(n, 10002);
	ck_assert_uint_eq(late, 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 1);
	order_free(ord);
	ledger_free(lg);
}
END_TEST

START_TEST(untimed_records_are_never_late)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct fake *f = fake_new();

	f->trusting = true;
	for (uint64_t t = 1; t <= 10000; t++)
		fake_add(f, REC_MARK, CLASS_SAMPLE, t, 1);
	fake_add(f, REC_MARK, CLASS_SAMPLE, UINT64_MAX, 1);
	fake_add(f, REC_MARK, CLASS_SAMPLE, 20000, 1);
	order_add(ord, &f->src);
	ck_assert_uint_eq(count_late(ord), 0);
	order_free(ord);
	ledger_free(lg);
}
END_TEST

START_TEST(equal_bytes_at_one_instant_are_duplicates)
{
	struct order *ord = order_new(NULL, 0, NULL);
	struct fake *f = fake_new();
	struct record *rec;
	bool dup[5];

	fake_sample(f, 5, 1, 7)->twin = 1;
	fake_sample(f, 5, 1, 8)->twin = 2;
	fake_sample(f, 5, 1, 7)->twin = 1;
	fake_sample(f, 6, 1, 7)->twin = 1;
	fake_sample(f, 6, 1, 9);
	order_add(ord, &f->src);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
		dup[i] = rec->flags & REC_F_DUPLICATE;
	}
	ck_assert(!dup[0] && !dup[1] && dup[2] && !dup[3] && !dup[4]);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 0);
	order_free(ord);
}
END_TEST

START_TEST(a_broken_record_is_damage_and_the_rest_goes_on)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct fake *f = fake_new();
	struct ledger_entry e;
	struct record *rec;

	fake_sample(f, 1, 1, 1);
	fake_sample(f, 2, 1, 1)->broken = true;
	fake_sample(f, 3, 1, 1);
	order_add(ord, &f->src);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
	ck_assert_uint_eq(rec->time, 3);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 0);
	ck_assert_int_eq(ledger_take(lg, &e), 1);
	ck_assert_int_eq(e.kind, LEDGER_DAMAGE);
	ck_assert_str_eq(e.detail, "fake: broken record");
	ck_assert_uint_eq(e.t0, 1);
	ck_assert_uint_eq(e.t1, 2);
	order_free(ord);
	ledger_free(lg);
}
END_TEST

START_TEST(a_source_that_fails_ends_and_the_others_go_on)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct fake *bad = fake_new();
	struct fake *good = fake_new();
	struct record *rec;
	size_t n = 0;

	for (uint64_t t = 1; t <= 10; t++) {
		fake_sample(bad, t, 1, 1);
		fake_sample(good, t, 1, 1);
	}
	bad->fail_at = 4;
	order_add(ord, &bad->src);
	order_add(ord, &good->src);
	while (order_next(ord, &rec, NULL) > 0)
		n++;
	ck_assert_uint_eq(n, 14);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
	order_free(ord);
	ledger_free(lg);
}
END_TEST

START_TEST(records_of_no_interest_are_left_out)
{
	struct order *ord = order_new(NULL, 0, NULL);
	struct fake *f = fake_new();
	struct record *rec;

	fake_add(f, REC_NONE, CLASS_SAMPLE, 1, 1);
	fake_sample(f, 2, 1, 1);
	order_add(ord, &f->src);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
	ck_assert_uint_eq(rec->time, 2);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 0);
	order_free(ord);
}
END_TEST

/* One of no interest behind it does not take its place. */
START_TEST(the_last_record_stays_at_the_end)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct fake *f = fake_new();
	struct record *rec, *last;

	fake_sample(f, 1, 1, 1);
	fake_add(f, REC_NONE, CLASS_SAMPLE, 2, 1);
	order_add(ord, &f->src);
	ck_assert_int_eq(order_next(ord, &last, NULL), 1);
	ck_assert_int_eq(order_next(ord, &rec, NULL), 0);
	ck_assert_int_eq(last->kind, REC_SAMPLE);
	ck_assert_uint_eq(last->time, 1);
	order_free(ord);
	ledger_free(lg);
}
END_TEST

START_TEST(a_temporary_folder_that_is_not_there_is_an_error)
{
	struct order *ord = order_new(NULL, 1, "/nonexistent/folder");
	uint64_t seed = 1;
	struct fake *f = shaped(SHAPE_BACKWARD, 50000, &seed);
	struct record *rec;
	struct err err;

	order_add(ord, &f->src);
	ck_assert_int_eq(order_next(ord, &rec, &err), -1);
	ck_assert_int_eq(err.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/folder"));
	order_free(ord);
}
END_TEST

START_TEST(stopping_in_the_middle_leaves_nothing_behind)
{
	struct order *ord = order_new(NULL, 1, NULL);
	uint64_t seed = 1;
	struct fake *f = shaped(SHAPE_BACKWARD, 50000, &seed);
	struct record *rec;

	order_add(ord, &f->src);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
	order_free(ord);
}
END_TEST

/* Four sources on clocks of their own: what comes out is sorted on the
 * timeline, with its own time beside. */
static void check_aligned(uint64_t limit, size_t n, uint64_t seed)
{
	const struct clock_map map[4] = {
		{ .offset = 0 },
		{ .offset = -700, .drift = -DRIFT_ONE / 5, .at = 900 },
		{ .offset = 41, .drift = DRIFT_ONE / 7, .at = 1 },
		{ .tsc = { 300, 5, 4 }, .offset = 9 },
	};
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, limit, NULL);
	struct record *rec;
	uint64_t last = 0;
	size_t count = 0;

	for (int i = 0; i < 4; i++) {
		struct fake *f = shaped((enum shape)(i % SHAPES), n, &seed);

		for (size_t k = 0; k < n; k++) {
			f->rec[k].ref.key += 1000;
			f->rec[k].rec.time = f->rec[k].ref.key;
		}
		f->src.info.first_ns = 1000;
		f->src.info.last_ns = 1000 + n;
		order_add(ord, &f->src);
	}
	for (unsigned int i = 0; i < 4; i++)
		order_align(ord, i, &map[i]);
	ck_assert_uint_eq(order_source(ord, 3)->info.first_ns, 621);
	while (order_next(ord, &rec, NULL) > 0) {
		must(rec->time == clock_map_time(&map[rec->source], rec->raw));
		must(rec->time >= last);
		must(!(rec->flags & REC_F_LATE));
		last = rec->time;
		count++;
	}
	ck_assert_uint_eq(count, 4 * n);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 0);
	order_free(ord);
	ledger_free(lg);
}

START_TEST(sources_with_clocks_of_their_own_are_sorted_on_the_timeline)
{
	check_aligned(0, 50, 1);
	check_aligned(0, 20000, 2);
	check_aligned(1, 60000, 3);
}
END_TEST

START_TEST(what_has_no_time_comes_where_its_own_capture_starts)
{
	const struct clock_map none = { .offset = 0 };
	const struct clock_map late = { .offset = 500 };
	struct order *ord = order_new(NULL, 0, NULL);
	const uint16_t want[] = { 0, 1, 1, 0, 1 };
	struct fake *a = fake_new();
	struct fake *b = fake_new();
	struct record *rec;

	fake_sample(a, 600, 1, 0);
	fake_sample(a, 700, 1, 0);
	fake_comm(b, UINT64_MAX, 1, "x", false);
	fake_sample(b, 150, 1, 0);
	fake_lost(b, 250, 0, 3);
	b->rec[2].rec.lost.has_since = true;
	b->rec[2].rec.lost.since = 160;
	a->src.info.first_ns = 600;
	b->src.info.first_ns = 150;
	order_add(ord, &a->src);
	order_add(ord, &b->src);
	order_align(ord, 0, &none);
	order_align(ord, 1, &late);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(order_next(ord, &rec, NULL), 1);
		ck_assert_uint_eq(rec->source, want[i]);
		ck_assert_int_eq(record_time(rec) == TIME_NONE, i == 1);
	}
	ck_assert_uint_eq(rec->lost.since, 660);
	ck_assert_uint_eq(rec->raw, 250);
	order_free(ord);
}
END_TEST

RUN("order", one_source_comes_out_as_qsort_orders_it,
    several_sources_come_out_as_qsort_orders_them,
    a_tiny_memory_limit_changes_nothing,
    more_runs_than_buffers_are_merged_first,
    a_late_record_is_given_out_flagged_and_counted,
    untimed_records_are_never_late, equal_bytes_at_one_instant_are_duplicates,
    a_broken_record_is_damage_and_the_rest_goes_on,
    a_source_that_fails_ends_and_the_others_go_on,
    records_of_no_interest_are_left_out, the_last_record_stays_at_the_end,
    a_temporary_folder_that_is_not_there_is_an_error,
    stopping_in_the_middle_leaves_nothing_behind,
    sources_with_clocks_of_their_own_are_sorted_on_the_timeline,
    what_has_no_time_comes_where_its_own_capture_starts)
