/* ledger.c - tests of stitch/base/ledger.c. */
#include <string.h>

#include "stitch/order/clocks.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "tests/unit/run.h"

static const struct ledger_entry loss = {
	.kind = LEDGER_LOSS,
	.what = "lost",
	.n = 3,
	.cpu = 1,
	.event = -1,
	.counts = true,
};

START_TEST(entries_come_out_in_the_order_they_went_in)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry e = loss;
	struct ledger_entry out;

	for (uint64_t i = 0; i < 100; i++) {
		e.off = i;
		ledger_add(lg, &e);
	}
	for (uint64_t i = 0; i < 100; i++) {
		ck_assert_int_eq(ledger_take(lg, &out), 1);
		ck_assert_uint_eq(out.off, i);
	}
	ck_assert_int_eq(ledger_take(lg, &out), 0);
	ledger_free(lg);
}
END_TEST

START_TEST(detail_is_copied)
{
	struct ledger *lg = ledger_new();
	struct err err;
	struct ledger_entry out;

	err_set(&err, ERR_FORMAT, "broken");
	ledger_damage(lg, 2, "record", 64, 8, &err);
	memset(&err, 'x', sizeof(err));
	ck_assert_int_eq(ledger_take(lg, &out), 1);
	ck_assert_str_eq(out.detail, "broken");
	ck_assert_int_eq(out.kind, LEDGER_DAMAGE);
	ck_assert_uint_eq(out.capture, 2);
	ck_assert_uint_eq(out.n, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(too_many_entries_of_a_kind_become_one_with_their_sum)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry out;
	size_t n = 0;

	for (int i = 0; i < LEDGER_MAX + 10; i++)
		ledger_add(lg, &loss);
	ledger_damage(lg, 0, "record", 0, 0, NULL);
	ledger_end(lg);
	ledger_end(lg);
	while (ledger_take(lg, &out))
		n++;
	ck_assert_uint_eq(n, LEDGER_MAX + 2);
	ck_assert_str_eq(out.what, "more");
	ck_assert_uint_eq(out.n, 30);
	ck_assert_int_eq(out.kind, LEDGER_LOSS);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_LOSS), LEDGER_MAX + 10);
	ledger_free(lg);
}
END_TEST

START_TEST(taking_as_one_goes_keeps_the_limit)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry out;
	size_t n = 0;

	for (int i = 0; i < LEDGER_MAX + 10; i++) {
		ledger_add(lg, &loss);
		n += (size_t)ledger_take(lg, &out);
	}
	ck_assert_uint_eq(n, LEDGER_MAX);
	ledger_end(lg);
	ck_assert_int_eq(ledger_take(lg, &out), 1);
	ck_assert_uint_eq(out.n, 30);
	ledger_free(lg);
}
END_TEST

START_TEST(skips_are_counted_by_key_and_come_at_the_end)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry out;

	for (int i = 0; i < 50; i++)
		ledger_skip(lg, 0, "type", 7 + i % 2, 100 + (uint64_t)i, NULL);
	ledger_skip(lg, 1, "type", 7, 5, NULL);
	ck_assert_int_eq(ledger_take(lg, &out), 0);
	ledger_end(lg);
	ck_assert_int_eq(ledger_take(lg, &out), 1);
	ck_assert_uint_eq(out.len, 7);
	ck_assert_uint_eq(out.n, 25);
	ck_assert_uint_eq(out.off, 100);
	ck_assert_int_eq(ledger_take(lg, &out), 1);
	ck_assert_uint_eq(out.len, 8);
	ck_assert_uint_eq(out.n, 25);
	ck_assert_int_eq(ledger_take(lg, &out), 1);
	ck_assert_uint_eq(out.capture, 1);
	ck_assert_uint_eq(out.n, 1);
	ck_assert_int_eq(ledger_take(lg, &out), 0);
	ledger_free(lg);
}
END_TEST

START_TEST(too_many_kinds_of_skips_become_one)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry out = { 0 };
	uint64_t sum = 0;
	size_t n = 0;

	for (uint64_t i = 0; i < LEDGER_MAX + 5; i++)
		ledger_skip(lg, 0, "type", i, i, NULL);
	ledger_end(lg);
	for (; ledger_take(lg, &out); n++)
		sum += out.n;
	ck_assert_uint_eq(n, LEDGER_MAX + 1);
	ck_assert_uint_eq(sum, LEDGER_MAX + 5);
	ledger_free(lg);
}
END_TEST

START_TEST(sums_stay_at_their_end)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry e = loss;

	for (int i = 0; i < LEDGER_MAX; i++)
		ledger_add(lg, &loss);
	e.n = UINT64_MAX;
	ledger_add(lg, &e);
	ledger_add(lg, &e);
	ledger_end(lg);
	while (ledger_take(lg, &e))
		;
	ck_assert_str_eq(e.what, "more");
	ck_assert(e.n == UINT64_MAX);
	ledger_free(lg);
}
END_TEST

START_TEST(damage_takes_records_where_they_were)
{
	static const struct ledger_entry at = {
		.kind = LEDGER_DAMAGE,
		.capture = 3,
		.what = "record",
		.t0 = 4,
		.t1 = 5,
		.cpu = -1,
		.event = -1,
	};
	struct ledger *lg = ledger_new();
	struct ledger_broken b;

	ledger_add(lg, &at);
	ck_assert(ledger_damaged(lg, 3));
	ck_assert(ledger_broken(lg, 3, &b));
	ck_assert_uint_eq(b.n, 1);
	ck_assert_uint_eq(b.time[0], 5);
	ck_assert(!b.end && !b.anywhere);
	ledger_damage(lg, 3, "compressed", 0, 0, NULL);
	ledger_damage(lg, 3, "record", 0, 0, NULL);
	ck_assert(ledger_broken(lg, 3, &b));
	ck_assert(b.n == 1 && b.end && b.anywhere);
	ck_assert(!ledger_broken(lg, 2, &b));
	ledger_free(lg);
}
END_TEST

START_TEST(damaged_names_take_no_record)
{
	struct ledger *lg = ledger_new();
	struct ledger_broken b;

	ledger_damage(lg, 0, "feature", 0, 0, NULL);
	ledger_damage(lg, 0, "fields", 0, 0, NULL);
	/* files beside the capture */
	ledger_damage(lg, 0, "perf map", 0, 0, NULL);
	ledger_damage(lg, 0, "jitdump", 0, 0, NULL);
	ck_assert(ledger_damaged(lg, 0));
	ck_assert(!ledger_broken(lg, 0, &b));
	ledger_free(lg);
}
END_TEST

START_TEST(too_many_broken_records_may_be_anywhere)
{
	struct ledger_entry e = { .kind = LEDGER_DAMAGE, .what = "record" };
	struct ledger *lg = ledger_new();
	struct ledger_broken b;

	for (e.t1 = 1; e.t1 < 40000; e.t1++)
		ledger_add(lg, &e);
	ck_assert(ledger_broken(lg, 0, &b));
	ck_assert_uint_lt(b.n, 20000);
	ck_assert(b.anywhere);
	ledger_free(lg);
}
END_TEST

START_TEST(without_a_ledger_nothing_happens)
{
	struct ledger_entry out;
	struct ledger_broken b;

	ledger_add(NULL, &loss);
	ledger_damage(NULL, 0, "x", 0, 0, NULL);
	ledger_skip(NULL, 0, "x", 0, 0, NULL);
	ledger_end(NULL);
	ck_assert_int_eq(ledger_take(NULL, &out), 0);
	ck_assert(!ledger_broken(NULL, 0, &b));
	ledger_free(NULL);
}
END_TEST

START_TEST(times_of_a_reader_are_put_on_the_timeline)
{
	const struct clock_map map = { .offset = -100 };
	struct ledger *lg = ledger_new();
	struct ledger_entry e = { .kind = LEDGER_ORDER,
				  .capture = 1,
				  .what = "late",
				  .t0 = 500,
				  .t1 = 600,
				  .n = 1 };

	ledger_align(lg, 1, &map);
	ledger_add(lg, &e);
	e.on_line = true;
	ledger_add(lg, &e);
	e.on_line = false;
	e.capture = 2;
	ledger_add(lg, &e);
	for (int i = 0; i < 3; i++) {
		struct ledger_entry got;

		ck_assert_int_eq(ledger_take(lg, &got), 1);
		ck_assert_uint_eq(got.t0, i ? 500 : 400);
		ck_assert_uint_eq(got.t1, i ? 600 : 500);
	}
	ledger_free(lg);
}
END_TEST

/* Adds what damaged files lead to, most of it too often for a row each. */
static void ledger_add_much(struct ledger *lg)
{
	struct ledger_entry late = { .kind = LEDGER_ORDER,
				     .what = "late",
				     .n = 1 };
	struct ledger_entry timed = { .kind = LEDGER_DAMAGE, .what = "record" };
	struct err err;

	for (uint64_t i = 0; i < 3 * LEDGER_MAX; i++) {
		late.t0 = i;
		late.t1 = i + 1;
		timed.t1 = i + 1;
		late.n = 1 + (i > 2 * LEDGER_MAX);
		err_set(&err, ERR_FORMAT, "entry %d", (int)i);
		ledger_damage(lg, i / (2 * LEDGER_MAX), "entry", i, 8, &err);
		ledger_add(lg, &late);
		ledger_skip(lg, 0, "record of unknown kind", i / LEDGER_MAX, i,
			    NULL);
		if (i % 1000 == 0)
			ledger_add(lg, &timed);
		if (i % 1000 == 1)
			ledger_add(lg, &loss);
	}
}

static bool ledger_take_same(struct ledger *a, struct ledger *b)
{
	struct ledger_entry x, y;

	if (!ledger_take(a, &x))
		return false;
	must(ledger_take(b, &y));
	must(x.kind == y.kind && x.capture == y.capture && x.off == y.off &&
	     x.len == y.len && x.t0 == y.t0 && x.t1 == y.t1 && x.n == y.n);
	must(!strcmp(x.what, y.what));
	must(!x.detail == !y.detail &&
	     (!x.detail || !strcmp(x.detail, y.detail)));
	return true;
}

START_TEST(a_queue_of_too_many_entries_keeps_their_sums)
{
	struct ledger *lg = ledger_new();
	struct ledger *as = ledger_new();
	struct ledger *queue = ledger_new_queue();
	struct ledger_broken b, c;
	struct ledger_entry out;

	ledger_add_much(as);
	ledger_add_much(queue);
	ck_assert_uint_lt(ledger_queued(queue), 2 * LEDGER_MAX + 3000);
	ledger_pass(queue, lg, SIZE_MAX);
	for (uint16_t i = 0; i < 2; i++) {
		ck_assert(ledger_broken(lg, i, &b));
		ck_assert(ledger_broken(as, i, &c));
		ck_assert_uint_eq(b.n, c.n);
		ck_assert(b.end == c.end && b.anywhere == c.anywhere);
	}
	for (int k = 0; k < LEDGER_KINDS; k++) {
		ck_assert_uint_eq(ledger_count(lg, (enum ledger_kind)k),
				  ledger_count(as, (enum ledger_kind)k));
	}
	ledger_end(lg);
	ledger_end(as);
	while (ledger_take_same(as, lg))
		;
	ck_assert_int_eq(ledger_take(lg, &out), 0);
	ledger_free(queue);
	ledger_free(as);
	ledger_free(lg);
}
END_TEST

/* Each block of records has a queue, and a file may fill them all. */
START_TEST(all_queues_together_keep_no_more_than_a_ledger)
{
	struct ledger *queue = ledger_new_queue();
	struct ledger *other = ledger_new_queue();

	ledger_add_much(queue);
	ledger_swap(other, queue);
	ledger_add_much(queue);
	ck_assert_uint_lt(ledger_queued(queue), LEDGER_MAX / 10);
	ledger_free(other);
	ledger_free(queue);
}
END_TEST

struct taker {
	struct ledger *lg;
	uint64_t calls, taken;
};

static void taker_take(void *arg)
{
	struct taker *t = arg;
	struct ledger_entry e;

	t->calls++;
	/* an entry that is added meanwhile is no reason to be called again */
	ledger_add(t->lg, &loss);
	while (ledger_take(t->lg, &e) > 0)
		t->taken++;
}

START_TEST(somebody_is_called_when_many_entries_wait)
{
	struct taker t = { .lg = ledger_new() };
	struct ledger_entry e;
	uint64_t rest = 0;

	ledger_when_many(t.lg, taker_take, &t);
	for (int i = 0; i < 50000; i++)
		ledger_note(t.lg, 0, "note", "text");
	while (ledger_take(t.lg, &e) > 0)
		rest++;
	ck_assert_uint_ge(t.calls, 10);
	ck_assert_uint_lt(rest, 5000);
	ck_assert_uint_eq(t.taken + rest, 50000 + t.calls);
	ledger_free(t.lg);
}
END_TEST

RUN("ledger", entries_come_out_in_the_order_they_went_in, detail_is_copied,
    too_many_entries_of_a_kind_become_one_with_their_sum,
    taking_as_one_goes_keeps_the_limit,
    skips_are_counted_by_key_and_come_at_the_end,
    too_many_kinds_of_skips_become_one, sums_stay_at_their_end,
    damage_takes_records_where_they_were, damaged_names_take_no_record,
    too_many_broken_records_may_be_anywhere, without_a_ledger_nothing_happens,
    times_of_a_reader_are_put_on_the_timeline,
    a_queue_of_too_many_entries_keeps_their_sums,
    all_queues_together_keep_no_more_than_a_ledger,
    somebody_is_called_when_many_entries_wait)
