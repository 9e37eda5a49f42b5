/* account.c - tests of stitch/audit/account.c. */
#include "stitch/audit/account.h"

#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "tests/unit/run.h"

/* One capture: records go in, entries of the ledger come out. */
struct set {
	struct ledger *ledger;
	struct losses *losses;
	struct account *ac;
	struct source src;
	struct ledger_entry e[64];
	size_t n;
};

static void account_begin(struct set *s)
{
	memset(s, 0, sizeof(*s));
	s->src.info.has_time = true;
	s->ledger = ledger_new();
	s->losses = losses_new();
	s->ac = account_new(s->ledger, s->losses);
}

static void account_start(struct set *s)
{
	account_begin(s);
	account_source(s->ac, 0, &s->src);
}

static void account_test_end(struct set *s)
{
	account_end(s->ac);
	while (s->n < 64 && ledger_take(s->ledger, &s->e[s->n]))
		s->n += s->e[s->n].kind == LEDGER_LOSS;
}

static void account_done(struct set *s)
{
	account_free(s->ac);
	losses_free(s->losses);
	ledger_free(s->ledger);
}

/* The i-th entry of a kind; NULL: there are fewer. */
static const struct ledger_entry *account_test_entry(const struct set *s,
						     const char *what, size_t i)
{
	for (size_t k = 0; k < s->n; k++)
		if (!strcmp(s->e[k].what, what) && !i--)
			return &s->e[k];
	return NULL;
}

static uint64_t counted(const struct set *s)
{
	uint64_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		n += s->e[k].counts ? s->e[k].n : 0;
	return n;
}

/* Does anything explain what is missing from that CPU between the two? */
static bool explained(struct set *s, int32_t cpu, int64_t from, int64_t to)
{
	return losses_find(s->losses, 0, cpu, from, to) != 0;
}

static struct record rec_of(enum record_kind kind, uint64_t time, int32_t cpu)
{
	struct record r = { .kind = kind, .time = time, .cpu = cpu };

	r.pid = r.tid = 1;
	if (time == UINT64_MAX) {
		r.flags = REC_F_UNTIMED;
		r.time = 0;
	}
	return r;
}

static void account_test_sample(struct set *s, uint64_t time, int32_t cpu)
{
	struct record r = rec_of(REC_SAMPLE, time, cpu);

	account_record(s->ac, &r);
}

static void account_test_lost(struct set *s, uint64_t time, int32_t cpu,
			      uint64_t n, uint32_t flags)
{
	struct record r = rec_of(REC_LOST, time, cpu);

	r.flags |= flags;
	r.lost.n = n;
	r.lost.event = 1;
	account_record(s->ac, &r);
}

static void account_lost_samples(struct set *s, int32_t cpu, uint64_t n,
				 uint32_t flags)
{
	struct record r = rec_of(REC_LOST_TOTAL, UINT64_MAX, cpu);

	r.flags |= flags;
	r.lost.n = n;
	r.lost.event = 1;
	account_record(s->ac, &r);
}

static void account_test_mark(struct set *s, const char *name, uint64_t time,
			      int32_t cpu, const char *key, uint64_t value)
{
	const struct extra x[] = { { .name = "at", .value = 7 },
				   { .name = key, .value = value } };
	struct record r = rec_of(REC_MARK, time, cpu);

	r.mark.name = name;
	r.mark.event = !strcmp(key, "id") ? (uint32_t)value : 0;
	r.mark.extra = x;
	r.mark.n_extra = 2;
	account_record(s->ac, &r);
}

static void account_expect(const struct ledger_entry *e, int32_t cpu,
			   uint64_t t0, uint64_t t1, uint64_t n, bool counts)
{
	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(e->cpu, cpu);
	ck_assert_uint_eq(e->t0, t0);
	ck_assert_uint_eq(e->t1, t1);
	ck_assert_uint_eq(e->n, n);
	ck_assert_int_eq(e->counts, counts);
}

START_TEST(nothing_is_said_of_a_capture_that_lost_nothing)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_sample(&s, 20, 1);
	account_test_mark(&s, "bpf", 30, 0, "id", 4);
	account_lost_samples(&s, 0, 0, 0);
	account_test_end(&s);
	ck_assert_uint_eq(counted(&s), 0);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

START_TEST(lost_is_since_the_last_record_of_its_ring)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_sample(&s, 15, 1);
	account_test_lost(&s, 20, 0, 5, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 0, 10, 20, 5, true);
	ck_assert(explained(&s, 0, 11, 12));
	ck_assert(!explained(&s, 1, 0, 99));
	account_done(&s);
}
END_TEST

/* A record with its place in the capture. */
static void at_place(struct set *s, enum record_kind kind, uint64_t time,
		     int32_t cpu, uint64_t seq)
{
	struct record r = rec_of(kind, time, cpu);

	r.seq = seq;
	if (kind == REC_LOST) {
		r.lost.n = 5;
		r.lost.event = -1;
	}
	account_record(s->ac, &r);
}

/* The record that follows a loss in its ring has an earlier time than LOST. */
START_TEST(lost_ends_with_the_record_behind_it)
{
	struct set s;

	account_start(&s);
	at_place(&s, REC_SAMPLE, 10, 0, 1);
	at_place(&s, REC_SAMPLE, 20, 0, 3);
	at_place(&s, REC_SAMPLE, 21, 1, 9);
	at_place(&s, REC_LOST, 22, 0, 2);
	at_place(&s, REC_SAMPLE, 30, 0, 4);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 0, 10, 20, 5, true);
	ck_assert(explained(&s, 0, 11, 12));
	ck_assert(!explained(&s, 0, 20, 22));
	account_done(&s);
}
END_TEST

START_TEST(lost_of_a_ring_whose_times_go_back_is_between_both)
{
	struct set s;

	account_start(&s);
	at_place(&s, REC_SAMPLE, 20, 0, 3);
	at_place(&s, REC_SAMPLE, 21, 0, 1);
	at_place(&s, REC_LOST, 22, 0, 2);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 0, 19, 21, 5, true);
	account_done(&s);
}
END_TEST

/* As where the first record of a ring tells of a loss. */
START_TEST(lost_in_front_of_a_ring_is_since_the_start)
{
	struct set s;

	account_start(&s);
	at_place(&s, REC_SAMPLE, 20, 0, 3);
	at_place(&s, REC_LOST, 22, 0, 2);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 0, 0, 20, 5, true);
	ck_assert(explained(&s, 0, 1, 2));
	account_done(&s);
}
END_TEST

static void in_ring(struct set *s, enum record_kind kind, uint64_t time,
		    uint32_t ring, uint64_t n)
{
	struct record r = rec_of(kind, time, 0);

	r.ring = ring;
	if (kind != REC_SAMPLE) {
		r.lost.n = n;
		r.lost.event = -1;
	}
	account_record(s->ac, &r);
}

START_TEST(each_of_several_rings_of_a_cpu_has_its_own_losses)
{
	struct set s;

	account_start(&s);
	in_ring(&s, REC_SAMPLE, 10, 0, 0);
	in_ring(&s, REC_SAMPLE, 15, 2, 0);
	in_ring(&s, REC_SAMPLE, 18, 0, 0);
	in_ring(&s, REC_LOST, 20, 2, 5);
	in_ring(&s, REC_SAMPLE, 25, 2, 0);
	in_ring(&s, REC_LOST_TOTAL, UINT64_MAX, 2, 7);
	in_ring(&s, REC_LOST_TOTAL, UINT64_MAX, 0, 3);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 0, 15, 20, 5, true);
	account_expect(account_test_entry(&s, "lost_end", 0), 0, 18, 25, 3,
		       true);
	account_expect(account_test_entry(&s, "lost_end", 1), 0, 25, 0, 2,
		       true);
	ck_assert_uint_eq(counted(&s), 10);
	/* any ring of that CPU */
	ck_assert(explained(&s, 0, 16, 17));
	ck_assert(!explained(&s, 0, 11, 14));
	account_done(&s);
}
END_TEST

START_TEST(lost_of_a_cpu_without_records_is_since_the_start)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_lost(&s, 20, 3, 5, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), 3, 0, 20, 5, true);
	ck_assert(explained(&s, 3, 1, 2));
	account_done(&s);
}
END_TEST

START_TEST(lost_without_a_cpu_may_be_of_a_ring_that_was_silent_for_long)
{
	struct set s;

	account_start(&s);
	for (uint64_t t = 10; t < 100; t += 10)
		account_test_sample(&s, t, -1);
	account_test_lost(&s, 100, -1, 5, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), -1, 0, 100, 5, true);
	ck_assert(explained(&s, -1, 11, 12));
	ck_assert(!explained(&s, -1, 100, 110));
	account_done(&s);
}
END_TEST

START_TEST(lost_that_was_written_twice_counts_once)
{
	struct set s;

	account_start(&s);
	account_test_lost(&s, 20, 0, 5, 0);
	account_test_lost(&s, 20, 0, 5, REC_F_DUPLICATE);
	account_lost_samples(&s, 0, 5, 0);
	account_test_end(&s);
	ck_assert_uint_eq(counted(&s), 5);
	ck_assert_ptr_null(account_test_entry(&s, "lost_end", 0));
	account_done(&s);
}
END_TEST

START_TEST(recorders_sum_beyond_the_rings_is_lost_at_the_end)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_lost(&s, 20, 0, 5, 0);
	account_test_sample(&s, 25, 0);
	account_test_sample(&s, 90, 1);
	account_lost_samples(&s, 0, 6, 0);
	account_lost_samples(&s, 0, 2, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost_end", 0), 0, 25, 90, 3,
		       true);
	ck_assert_ptr_null(account_test_entry(&s, "lost_end", 1));
	ck_assert_uint_eq(counted(&s), 8);
	ck_assert(explained(&s, 0, 80, 1000));
	ck_assert(!explained(&s, 0, 21, 24));
	ck_assert(!explained(&s, 1, 0, 1000));
	account_done(&s);
}
END_TEST

START_TEST(lost_end_of_a_ring_without_any_record_is_since_the_start)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_lost_samples(&s, 2, 6, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost_end", 0), 2, 0, 10, 6,
		       true);
	ck_assert(explained(&s, 2, 1, 2));
	account_done(&s);
}
END_TEST

START_TEST(recorders_sum_is_told_but_not_counted)
{
	struct set s;

	account_start(&s);
	account_lost_samples(&s, 2, 6, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost_total", 0), 2, 0, 0, 6,
		       false);
	ck_assert_int_eq(account_test_entry(&s, "lost_total", 0)->event, 1);
	account_done(&s);
}
END_TEST

START_TEST(sum_counted_is_the_larger_of_the_two_also_per_cpu)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_sample(&s, 11, 1);
	account_test_lost(&s, 20, 0, 10, 0);
	account_lost_samples(&s, 0, 4, 0);
	account_lost_samples(&s, 1, 9, 0);
	account_test_end(&s);
	/* 10 by the rings, 13 by the recorder */
	ck_assert_uint_eq(counted(&s), 13);
	account_expect(account_test_entry(&s, "lost_end", 0), 1, 11, 20, 3,
		       true);
	account_done(&s);
}
END_TEST

START_TEST(ring_that_surely_lost_is_named_when_nothing_is_left_to_count)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 11, 1);
	account_test_lost(&s, 20, 0, 10, 0);
	account_lost_samples(&s, 1, 9, 0);
	account_test_end(&s);
	ck_assert_uint_eq(counted(&s), 10);
	account_expect(account_test_entry(&s, "lost_end", 0), 1, 11, 20, 0,
		       false);
	ck_assert(explained(&s, 1, 12, 13));
	account_done(&s);
}
END_TEST

START_TEST(sums_without_a_cpu_make_one_loss_of_any_ring)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, -1);
	account_test_lost(&s, 20, -1, 5, 0);
	account_test_sample(&s, 30, -1);
	account_lost_samples(&s, 1, 9, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost_end", 0), -1, 0, 30, 4,
		       true);
	ck_assert_uint_eq(counted(&s), 9);
	ck_assert(explained(&s, 7, 1, 2));
	account_done(&s);
}
END_TEST

START_TEST(losses_without_times_may_be_at_any)
{
	struct set s;

	account_start(&s);
	account_test_lost(&s, UINT64_MAX, -1, 5, 0);
	account_lost_samples(&s, -1, 9, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "lost", 0), -1, 0, 0, 5, true);
	account_expect(account_test_entry(&s, "lost_end", 0), -1, 0, 0, 4,
		       true);
	ck_assert(explained(&s, 0, 1, 2));
	account_done(&s);
}
END_TEST

static void reading(struct set *s, uint64_t time, int32_t cpu, uint64_t id,
		    uint64_t n)
{
	const struct extra x[] = { { .name = "read.value", .value = 7 },
				   { .name = "read.0.id", .value = id },
				   { .name = "read.0.lost", .value = n },
				   { .name = "read.1.id", .value = id + 1 },
				   { .name = "read.1.lost", .value = 0 } };
	struct record r = rec_of(REC_SAMPLE, time, cpu);

	r.sample.extra = x;
	r.sample.n_extra = 5;
	account_record(s->ac, &r);
}

START_TEST(a_count_in_samples_that_grows_is_a_loss_between_them)
{
	struct set s;

	account_start(&s);
	reading(&s, 10, 0, 40, 3);
	reading(&s, 20, 1, 50, 9);
	reading(&s, 30, 0, 40, 3);
	reading(&s, 40, 0, 40, 8);
	reading(&s, 50, 0, 40, 8);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "read_lost", 0), 0, 30, 40, 5,
		       false);
	ck_assert_ptr_null(account_test_entry(&s, "read_lost", 1));
	ck_assert_uint_eq(counted(&s), 0);
	ck_assert(losses_find(s.losses, 0, 0, 30, 31));
	ck_assert(!losses_find(s.losses, 0, 0, 40, 41));
	account_done(&s);
}
END_TEST

START_TEST(hardware_losses_are_not_in_the_recorders_sum)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_lost(&s, 20, 0, 5, REC_F_HARDWARE);
	account_lost_samples(&s, 0, 3, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "hardware", 0), 0, 10, 20, 5,
		       true);
	ck_assert_int_eq(account_test_entry(&s, "hardware", 0)->event, 1);
	/* nothing tells when the capture ended */
	account_expect(account_test_entry(&s, "lost_end", 0), 0, 20, 0, 3,
		       true);
	ck_assert_uint_eq(counted(&s), 8);
	account_done(&s);
}
END_TEST

START_TEST(what_a_filter_dropped_was_not_lost)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_lost_samples(&s, 0, 50, REC_F_FILTERED);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "filtered", 0), 0, 0, 0, 50,
		       false);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

START_TEST(throttled_is_from_stop_to_start_of_one_event)
{
	struct set s;

	account_start(&s);
	account_test_mark(&s, "throttle", 10, 0, "id", 1);
	account_test_mark(&s, "throttle", 11, 0, "id", 2);
	account_test_mark(&s, "throttle", 12, 1, "id", 1);
	account_test_mark(&s, "throttle", 13, 0, "id", 1);
	account_test_mark(&s, "unthrottle", 20, 0, "id", 1);
	account_test_mark(&s, "unthrottle", 21, 1, "id", 1);
	account_test_mark(&s, "unthrottle", 22, 0, "id", 2);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "throttled", 0), 0, 10, 20, 0,
		       false);
	account_expect(account_test_entry(&s, "throttled", 1), 1, 12, 21, 0,
		       false);
	account_expect(account_test_entry(&s, "throttled", 2), 0, 11, 22, 0,
		       false);
	ck_assert_int_eq(account_test_entry(&s, "throttled", 0)->event, 0);
	ck_assert_int_eq(account_test_entry(&s, "throttled", 2)->event, 1);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

START_TEST(event_still_stopped_at_the_end_is_so_until_the_last_record)
{
	struct set s;

	account_start(&s);
	account_test_mark(&s, "throttle", 10, 0, "stream_id", 1);
	account_test_sample(&s, 70, 1);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "throttled", 0), 0, 10, 70, 0,
		       false);
	ck_assert_int_eq(account_test_entry(&s, "throttled", 0)->event, -1);
	account_done(&s);
}
END_TEST

START_TEST(event_stopped_before_the_capture_has_no_beginning)
{
	struct set s;

	account_start(&s);
	account_test_mark(&s, "unthrottle", 10, 0, "stream_id", 1);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "throttled", 0), 0, 0, 10, 0,
		       false);
	account_done(&s);
}
END_TEST

START_TEST(stopped_events_have_a_limit)
{
	struct set s;

	account_start(&s);
	for (uint64_t i = 0; i < 100000; i++)
		account_test_mark(&s, "throttle", 10 + i, 0, "id", i);
	account_test_mark(&s, "unthrottle", 200000, 0, "id", 99999);
	account_test_end(&s);
	ck_assert_uint_eq(ledger_count(s.ledger, LEDGER_LOSS), 4097);
	account_expect(&s.e[0], 0, 0, 200000, 0, false);
	account_done(&s);
}
END_TEST

START_TEST(aux_data_with_holes_is_told)
{
	struct set s;

	account_start(&s);
	account_test_mark(&s, "aux", 10, 2, "flags", 0);
	account_test_mark(&s, "aux", 11, 2, "flags", 2);
	account_test_mark(&s, "aux", 12, 2, "flags", 1);
	account_test_mark(&s, "aux", 13, 2, "flags", 4);
	account_test_mark(&s, "aux", 14, 2, "flags", 8);
	account_test_end(&s);
	ck_assert_uint_eq(s.n, 3);
	for (size_t i = 0; i < 3; i++)
		account_expect(account_test_entry(&s, "aux", i), 2, 12 + i,
			       12 + i, 0, false);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

START_TEST(ring_that_overwrites_has_an_unknown_past)
{
	struct set s;

	account_begin(&s);
	s.src.info.overwrite = true;
	account_source(s.ac, 0, &s.src);
	account_test_sample(&s, UINT64_MAX, 0);
	account_test_sample(&s, 10, 0);
	account_test_sample(&s, 12, 3);
	account_test_sample(&s, 14, 0);
	account_test_end(&s);
	ck_assert_uint_eq(s.n, 2);
	account_expect(account_test_entry(&s, "overwritten", 0), 0, 0, 10, 0,
		       false);
	account_expect(account_test_entry(&s, "overwritten", 1), 3, 0, 12, 0,
		       false);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

static void account_damage(struct set *s, const char *what, uint64_t time)
{
	const struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.what = what,
		.t0 = time ? time - 1 : 0,
		.t1 = time,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};

	ledger_add(s->ledger, &e);
}

START_TEST(broken_record_is_missing_at_its_time_only)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_damage(&s, "record", 50);
	account_test_sample(&s, 90, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "damage", 0), -1, 49, 50, 1,
		       false);
	ck_assert(explained(&s, 0, 40, 60));
	ck_assert(!explained(&s, 0, 10, 49));
	ck_assert(!explained(&s, 0, 50, 90));
	account_done(&s);
}
END_TEST

START_TEST(bytes_of_unknown_time_may_be_missing_anywhere)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_damage(&s, "record", 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "damage", 0), -1, 0, 0, 0, false);
	ck_assert(explained(&s, 0, 1, 2));
	account_done(&s);
}
END_TEST

START_TEST(file_that_ends_early_lost_what_comes_after)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_test_sample(&s, 30, 1);
	account_damage(&s, "truncated", 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "damage", 0), -1, 30, 0, 0,
		       false);
	ck_assert_uint_eq(s.n, 1);
	ck_assert(explained(&s, 0, 15, 16));
	ck_assert(!explained(&s, 0, 1, 9));
	ck_assert(!explained(&s, 1, 15, 16));
	ck_assert(explained(&s, -1, 99, 100));
	account_done(&s);
}
END_TEST

START_TEST(recorder_that_was_killed_lost_the_end)
{
	struct set s;

	account_begin(&s);
	s.src.info.truncated = true;
	account_source(s.ac, 0, &s.src);
	account_test_sample(&s, 10, 0);
	account_test_end(&s);
	account_expect(account_test_entry(&s, "damage", 0), -1, 10, 0, 0,
		       false);
	account_done(&s);
}
END_TEST

START_TEST(damaged_names_explain_no_missing_record)
{
	struct set s;

	account_start(&s);
	account_test_sample(&s, 10, 0);
	account_damage(&s, "feature", 0);
	account_damage(&s, "tracing data", 0);
	account_damage(&s, "fields", 5);
	account_test_end(&s);
	ck_assert_uint_eq(s.n, 0);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	account_done(&s);
}
END_TEST

START_TEST(captures_do_not_explain_each_other)
{
	struct set s;
	struct record r = rec_of(REC_LOST, 20, 0);

	account_start(&s);
	account_source(s.ac, 2, &s.src);
	r.source = 2;
	r.lost.n = 4;
	account_record(s.ac, &r);
	account_test_end(&s);
	ck_assert_uint_eq(losses_any(s.losses, 0), 0);
	ck_assert_uint_eq(losses_any(s.losses, 2), 1);
	account_done(&s);
}
END_TEST

START_TEST(wild_numbers_are_taken_as_they_are)
{
	struct set s;

	account_start(&s);
	account_test_lost(&s, UINT64_MAX - 1, INT32_MAX, UINT64_MAX, 0);
	account_test_lost(&s, 5, INT32_MIN, UINT64_MAX, 0);
	account_lost_samples(&s, 70000, UINT64_MAX, 0);
	account_lost_samples(&s, 65535, UINT64_MAX, 0);
	account_damage(&s, "record", UINT64_MAX);
	account_test_mark(&s, "unthrottle", UINT64_MAX, INT32_MIN, "id",
			  UINT64_MAX);
	account_test_end(&s);
	ck_assert_ptr_null(account_test_entry(&s, "lost_end", 0));
	account_done(&s);
}
END_TEST

RUN("account", nothing_is_said_of_a_capture_that_lost_nothing,
    lost_is_since_the_last_record_of_its_ring,
    lost_ends_with_the_record_behind_it,
    lost_of_a_ring_whose_times_go_back_is_between_both,
    lost_in_front_of_a_ring_is_since_the_start,
    each_of_several_rings_of_a_cpu_has_its_own_losses,
    lost_of_a_cpu_without_records_is_since_the_start,
    lost_without_a_cpu_may_be_of_a_ring_that_was_silent_for_long,
    lost_that_was_written_twice_counts_once,
    recorders_sum_beyond_the_rings_is_lost_at_the_end,
    lost_end_of_a_ring_without_any_record_is_since_the_start,
    recorders_sum_is_told_but_not_counted,
    sum_counted_is_the_larger_of_the_two_also_per_cpu,
    ring_that_surely_lost_is_named_when_nothing_is_left_to_count,
    sums_without_a_cpu_make_one_loss_of_any_ring,
    losses_without_times_may_be_at_any,
    a_count_in_samples_that_grows_is_a_loss_between_them,
    hardware_losses_are_not_in_the_recorders_sum,
    what_a_filter_dropped_was_not_lost,
    throttled_is_from_stop_to_start_of_one_event,
    event_still_stopped_at_the_end_is_so_until_the_last_record,
    event_stopped_before_the_capture_has_no_beginning,
    stopped_events_have_a_limit, aux_data_with_holes_is_told,
    ring_that_overwrites_has_an_unknown_past,
    broken_record_is_missing_at_its_time_only,
    bytes_of_unknown_time_may_be_missing_anywhere,
    file_that_ends_early_lost_what_comes_after,
    recorder_that_was_killed_lost_the_end,
    damaged_names_explain_no_missing_record, captures_do_not_explain_each_other,
    wild_numbers_are_taken_as_they_are)
