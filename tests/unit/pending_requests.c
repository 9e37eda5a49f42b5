/* pending_requests.c - what perf 7.2, and the rule of the next chain of a
 * thread id, would have shown for each sample: backstitch-formats(5), "Deferred
 * stacks: how perf joins". */
#include "stitch/join/pending_requests.h"

#include "stitch/fact_queue.h"
#include "stitch/join/join.h"
#include "stitch/base/losses.h"
#include "tests/unit/run.h"
#include "tests/unit/facts.h"

static struct all_facts waits_run(struct fake *f)
{
	return stitch_all(&f, 1);
}

static void waits_expect(const struct all_facts *all, uint32_t event,
			 enum as_perf as_perf, uint32_t as_tid, int64_t held)
{
	const struct fact_request *r = facts_request_of(all, event);

	ck_assert_int_eq(r->as_perf, as_perf);
	ck_assert_uint_eq(r->as_tid, as_tid);
	ck_assert_int_eq(r->held, held);
}

static void waits_expect_end(const struct all_facts *all, uint32_t event)
{
	waits_expect(all, event, AS_PERF_BARE_END, 0, TIME_NONE);
}

static bool waits_late(const struct all_facts *all, uint32_t event)
{
	return facts_request_of(all, event)->flags & VERDICT_PERF_LATE;
}

START_TEST(perf_merges_samples_with_the_next_chain)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 12, 1, 5);
	fake_chain(f, 30, 1, 5);
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_MERGED, 1, 20);
	waits_expect(&all, 2, AS_PERF_MERGED, 1, 18);
	facts_done(&all);
}
END_TEST

START_TEST(any_chain_of_the_tid_ends_the_wait)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 20, 1, 6);
	fake_chain(f, 25, 2, 7);
	fake_chain(f, 30, 1, 6);
	fake_chain(f, 40, 1, 5);
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_BARE, 2, 20);
	waits_expect(&all, 2, AS_PERF_MERGED, 2, 10);
	/* Its own came later. */
	ck_assert_int_eq(facts_request_of(&all, 1)->verdict, REQ_MATCHED);
	ck_assert_uint_eq(facts_request_of(&all, 1)->chain, 3);
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_after_its_chain_is_held_until_the_next_one)
{
	struct fake *f = fake_new();

	fake_chain(f, 10, 1, 5);
	fake_sample(f, 15, 1, 5);
	fake_sample(f, 20, 1, 6);
	fake_chain(f, 30, 1, 6);
	struct all_facts all = waits_run(f);
	ck_assert_int_eq(facts_request_of(&all, 1)->verdict, REQ_MATCHED);
	ck_assert_uint_eq(facts_request_of(&all, 1)->chain, 1);
	ck_assert_int_eq(facts_request_of(&all, 1)->latency, -5);
	waits_expect(&all, 1, AS_PERF_BARE, 2, 15);
	waits_expect(&all, 2, AS_PERF_MERGED, 2, 10);
	facts_done(&all);
}
END_TEST

START_TEST(without_a_next_chain_samples_are_held_to_the_end)
{
	struct fake *f = fake_new();

	fake_chain(f, 10, 1, 5);
	fake_sample(f, 15, 1, 5);
	fake_sample(f, 20, 2, 6);
	fake_chain(f, 30, 3, 7);
	struct all_facts all = waits_run(f);
	ck_assert_int_eq(facts_request_of(&all, 1)->verdict, REQ_MATCHED);
	waits_expect_end(&all, 1);
	ck_assert_int_eq(facts_request_of(&all, 2)->verdict, REQ_PENDING_END);
	waits_expect_end(&all, 2);
	facts_done(&all);
}
END_TEST

START_TEST(lives_of_a_tid_are_not_told_apart)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	fake_fork(f, 30, 1, 999);
	fake_chain(f, 50, 1, 6);
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_BARE, 1, 40);
	ck_assert_int_eq(facts_request_of(&all, 1)->verdict, REQ_UNEXPLAINED);
	facts_done(&all);
}
END_TEST

START_TEST(a_duplicate_chain_counts_as_a_chain)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_chain(f, 20, 1, 5);
	fake_sample(f, 25, 1, 5);
	fake_sample(f, 26, 1, 5);
	fake_chain(f, 30, 1, 5);
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_MERGED, 1, 10);
	waits_expect(&all, 2, AS_PERF_MERGED, 2, 5);
	waits_expect(&all, 3, AS_PERF_MERGED, 2, 4);
	ck_assert_int_eq(facts_chain_of(&all, 2)->verdict, CHAIN_DUPLICATE);
	ck_assert_uint_eq(facts_request_of(&all, 2)->chain, 1);
	facts_done(&all);
}
END_TEST

START_TEST(tasks_without_a_tid_are_one_to_perf)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, -1, 5);
	fake_sample(f, 11, 2, 6);
	fake_chain(f, 20, -1, 6);
	fake_chain(f, 30, 2, 5);
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_BARE, 1, 10);
	waits_expect(&all, 2, AS_PERF_BARE, 2, 19);
	/* The cookies alone join them. */
	ck_assert_uint_eq(facts_request_of(&all, 1)->chain, 2);
	ck_assert_uint_eq(facts_request_of(&all, 2)->chain, 1);
	facts_done(&all);
}
END_TEST

START_TEST(captures_do_not_share_tids)
{
	struct fake *f[2] = { fake_new(), fake_new() };

	fake_sample(f[0], 10, 1, 5);
	fake_sample(f[1], 11, 1, 5);
	fake_chain(f[1], 20, 1, 5);
	struct all_facts all = stitch_all(f, 2);
	waits_expect_end(&all, 1);
	waits_expect(&all, 2, AS_PERF_MERGED, 1, 9);
	/* Nor does one make a sample of the other late. */
	must(!waits_late(&all, 1));
	facts_done(&all);
}
END_TEST

START_TEST(what_waits_for_no_chain_is_not_held)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 0)->rec.sample.defer = DEFER_MARK;
	struct fake_rec *s = fake_sample(f, 12, 1, 0);
	s->rec.sample.defer = DEFER_DIRECT;
	s->rec.sample.user.n = 2;
	fake_chain(f, 20, 1, 5);
	struct all_facts all = waits_run(f);
	ck_assert_int_eq(facts_request_of(&all, 1)->verdict, REQ_UNJOINABLE);
	waits_expect(&all, 1, 0, 0, TIME_NONE);
	ck_assert_int_eq(facts_request_of(&all, 2)->verdict, REQ_REFUSED);
	waits_expect(&all, 2, 0, 0, TIME_NONE);
	facts_done(&all);
}
END_TEST

START_TEST(without_times_how_long_is_not_known)
{
	struct fake *f = fake_new();

	f->src.info.has_time = false;
	fake_sample(f, 1, 1, 5);
	fake_chain(f, 2, 1, 5);
	for (size_t i = 0; i < f->n; i++) {
		f->rec[i].ref.untimed = 1;
		f->rec[i].rec.flags = REC_F_UNTIMED;
	}
	struct all_facts all = waits_run(f);
	waits_expect(&all, 1, AS_PERF_MERGED, 1, TIME_NONE);
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_is_late_behind_one_that_waits_for_nothing)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 15, 2, 0);
	fake_sample(f, 18, 1, 5);
	fake_chain(f, 20, 1, 5);
	struct all_facts all = waits_run(f);
	must(waits_late(&all, 1));
	must(!waits_late(&all, 3));
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_is_late_behind_one_whose_chain_was_sooner)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 11, 2, 6);
	fake_sample(f, 12, 3, 7);
	fake_chain(f, 20, 2, 6);
	fake_chain(f, 21, 1, 5);
	struct all_facts all = waits_run(f);
	must(waits_late(&all, 1));
	must(!waits_late(&all, 2));
	/* Given out at the end, but nothing later was before. */
	must(!waits_late(&all, 3));
	facts_done(&all);
}
END_TEST

START_TEST(samples_held_to_the_end_may_be_late)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 11, 2, 6);
	fake_sample(f, 12, 3, 0);
	fake_sample(f, 13, 1, 5);
	struct all_facts all = waits_run(f);
	must(waits_late(&all, 1));
	must(waits_late(&all, 2));
	must(!waits_late(&all, 4));
	facts_done(&all);
}
END_TEST

/* Against join.c itself: more than a fake capture should hold. */
START_TEST(samples_that_wait_have_a_limit_and_none_is_lost)
{
	struct fact_queue q = { 0 };
	struct losses *ls = losses_new();
	struct join *jn = join_new(&q, ls, NULL);
	struct source_info info = { .has_time = true };
	struct join_task task = { 0 };
	size_t n = 0, most = 3u << 20;
	struct fact f;

	join_source(jn, 0, &info);
	for (size_t i = 0; i < most; i++) {
		struct join_sample s = { .event = (uint32_t)i + 1,
					 .tid = 1,
					 .time = (int64_t)i,
					 .cookie = 7 };

		join_sample(jn, &task, &s);
		while (fact_queue_take(&q, &f))
			n++;
	}
	must(n >= most / 2);
	join_retire(jn, &task, JOIN_CAPTURE, TIME_NONE);
	join_end(jn);
	while (fact_queue_take(&q, &f))
		n++;
	ck_assert_uint_eq(n, most);
	join_free(jn);
	losses_free(ls);
	fact_queue_release(&q);
}
END_TEST

START_TEST(samples_that_were_joined_wait_no_more)
{
	struct fact_queue q = { 0 };
	struct losses *ls = losses_new();
	struct join *jn = join_new(&q, ls, NULL);
	struct source_info info = { .has_time = true };
	struct join_task task = { 0 };
	struct fact f;

	join_source(jn, 0, &info);
	for (uint32_t i = 1; i <= 3u << 19; i++) {
		const struct join_sample s = {
			.event = i, .tid = 1, .time = i, .cookie = i
		};
		struct join_chain c = { .id = i, .tid = 1, .cookie = i };

		join_sample(jn, &task, &s);
		join_chain(jn, &task, &c);
		while (fact_queue_take(&q, &f))
			must(f.kind == FACT_CHAIN ||
			     f.request.verdict == REQ_MATCHED);
	}
	/* If too many seemed to wait, the first of two would be given up. */
	const struct join_sample s = {
		.event = 1, .tid = 1, .time = 1, .cookie = UINT64_MAX
	};

	join_sample(jn, &task, &s);
	while (fact_queue_take(&q, &f))
		must(f.kind == FACT_CHAIN);
	join_sample(jn, &task, &s);
	must(!fact_queue_take(&q, &f));
	join_free(jn);
	losses_free(ls);
	fact_queue_release(&q);
}
END_TEST

static struct fact_request next_request(struct fact_queue *q)
{
	struct fact f;

	must(fact_queue_take(q, &f) && f.kind == FACT_REQUEST);
	return f.request;
}

/* Another thread has a sample after its chain, and then one more chain. */
static void come_and_go(struct join *jn, struct fact_queue *q)
{
	struct join_task task = { 0 };
	struct join_chain c = { .id = 8, .tid = 8, .cookie = 8 };
	const struct join_sample s = { .event = 1, .tid = 8, .cookie = 8 };
	struct fact f;

	join_chain(jn, &task, &c);
	join_sample(jn, &task, &s);
	c.id = c.cookie = 9;
	join_chain(jn, &task, &c);
	must(next_request(q).as_tid == 9);
	must(!fact_queue_take(q, &f));
}

/* The same, with the events 2 to last after their chain; before them, if
 * `open`, an event 1 that is not decided, so that what goes first is in the
 * middle of what is held for the tid. */
static void hold_too_many(bool open)
{
	const uint32_t more = 10, last = (1u << 20) + more + 1 - open;
	const struct source_info info = { .has_time = true };
	struct fact_queue q = { 0 };
	struct losses *ls = losses_new();
	struct join *jn = join_new(&q, ls, NULL);
	struct join_task task = { 0 };
	/* Of unknown CPUs, whose clocks may differ: cookies may overlap. */
	struct join_chain c = { .id = 1, .tid = 1, .cpu = -1, .cookie = 5 };
	struct join_sample s = { .event = 1, .tid = 1, .cpu = -1, .cookie = 6 };
	struct fact f;

	join_source(jn, 0, &info);
	join_chain(jn, &task, &c);
	if (open)
		join_sample(jn, &task, &s);
	s.cookie = 5;
	for (s.event = 2; s.event <= last; s.event++) {
		join_sample(jn, &task, &s);
		if (s.event == 3)
			come_and_go(jn, &q);
	}
	for (uint32_t i = 2; i < 2 + more; i++) {
		const struct fact_request r = next_request(&q);

		must(r.event == i && r.chain == 1);
		must(!r.as_perf && !r.as_tid);
	}
	must(!fact_queue_take(&q, &f));
	c.id = 2;
	c.cookie = 6;
	join_chain(jn, &task, &c);
	for (uint32_t i = 2 + more; i <= last; i++) {
		const struct fact_request r = next_request(&q);

		must(r.event == i && r.chain == 1);
		must(r.as_perf == AS_PERF_BARE && r.as_tid == 2);
	}
	if (open) {
		const struct fact_request r = next_request(&q);

		must(r.event == 1 && r.chain == 2);
		must(r.as_perf == AS_PERF_MERGED && r.as_tid == 2);
	}
	must(!fact_queue_take(&q, &f));
	join_free(jn);
	losses_free(ls);
	fact_queue_release(&q);
}

START_TEST(what_is_held_too_long_is_given_out_as_not_known)
{
	hold_too_many(false);
	hold_too_many(true);
}
END_TEST

/* Every sample once, whatever the order, and as a plain list would have it. */
#define TIDS 5
#define STEPS 20000

START_TEST(random_captures_are_as_a_list_walked_at_every_chain)
{
	struct fake *f = fake_new();
	uint64_t seed = 42, now = 10;
	uint32_t events = 0, chains = 0;
	static uint32_t tid_of[STEPS], want[STEPS], by[STEPS];
	static uint64_t cookie_of[STEPS];

	for (size_t k = 0; k < STEPS; k++, now += 10) {
		uint32_t tid = 1 + (uint32_t)rnd_below(&seed, TIDS);
		uint64_t cookie = tid * 1000000 + k / 50 + rnd_below(&seed, 2);

		if (rnd_below(&seed, 3)) {
			fake_sample(f, now, (int32_t)tid, cookie);
			tid_of[events] = tid;
			cookie_of[events] = cookie;
			want[events++] = AS_PERF_BARE_END;
			continue;
		}
		fake_chain(f, now, (int32_t)tid, cookie);
		chains++;
		for (uint32_t i = 0; i < events; i++) {
			if (tid_of[i] != tid || by[i])
				continue;
			by[i] = chains;
			want[i] = cookie_of[i] == cookie ? AS_PERF_MERGED
							 : AS_PERF_BARE;
		}
	}
	struct all_facts all = waits_run(f);
	uint32_t n = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct fact_request *r = &all.fact[i].request;

		if (all.fact[i].kind != FACT_REQUEST)
			continue;
		must(r->as_perf == want[r->event - 1]);
		must(r->as_tid == by[r->event - 1]);
		by[r->event - 1] = UINT32_MAX; /* once */
		n++;
	}
	ck_assert_uint_eq(n, events);
	facts_done(&all);
}
END_TEST

RUN("pending_requests", perf_merges_samples_with_the_next_chain,
    any_chain_of_the_tid_ends_the_wait,
    a_sample_after_its_chain_is_held_until_the_next_one,
    without_a_next_chain_samples_are_held_to_the_end,
    lives_of_a_tid_are_not_told_apart, a_duplicate_chain_counts_as_a_chain,
    tasks_without_a_tid_are_one_to_perf, captures_do_not_share_tids,
    what_waits_for_no_chain_is_not_held, without_times_how_long_is_not_known,
    a_sample_is_late_behind_one_that_waits_for_nothing,
    a_sample_is_late_behind_one_whose_chain_was_sooner,
    samples_held_to_the_end_may_be_late,
    samples_that_wait_have_a_limit_and_none_is_lost,
    samples_that_were_joined_wait_no_more,
    what_is_held_too_long_is_given_out_as_not_known,
    random_captures_are_as_a_list_walked_at_every_chain)
