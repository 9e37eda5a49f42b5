/* pending_requests.c - what perf 7.2, and the rule of the next chain of a
 * thread id, would have shown for each sample: backstitch-formats(5), "Deferred
 * stacks: how perf joins". */
#include "stitch/join/join.h"

#include "tests/unit/joins.h"

struct wait_row {
	const char *name;
	const char *records; /* see script.h */
	struct {
		uint32_t event;
		enum as_perf as_perf;
		uint32_t as_tid;
		int64_t held;
		enum request_verdict verdict; /* 0: any */
		uint32_t chain;		      /* 0: any */
	} request[3];
	uint32_t late[2], in_time[2]; /* events */
};

static const struct wait_row wait_rows[] = {
	{
		"perf_merges_samples_with_the_next_chain",
		"10 sample 1/5; 12 sample 1/5; 30 chain 1/5",
		.request = { { .event = 1, AS_PERF_MERGED, 1, 20 },
			     { .event = 2, AS_PERF_MERGED, 1, 18 } },
	},
	/* The chain of the first sample comes later. */
	{
		"any_chain_of_the_tid_ends_the_wait",
		"10 sample 1/5; 20 sample 1/6; 25 chain 2/7; 30 chain 1/6;"
		"40 chain 1/5",
		.request = { { .event = 1,
			       AS_PERF_BARE,
			       2,
			       20,
			       REQ_MATCHED,
			       3 },
			     { .event = 2, AS_PERF_MERGED, 2, 10 } },
	},
	{
		"a_sample_after_its_chain_is_held_until_the_next_one",
		"10 chain 1/5; 15 sample 1/5; 20 sample 1/6; 30 chain 1/6",
		.request = { { .event = 1,
			       AS_PERF_BARE,
			       2,
			       15,
			       REQ_MATCHED,
			       1 },
			     { .event = 2, AS_PERF_MERGED, 2, 10 } },
	},
	{
		"without_a_next_chain_samples_are_held_to_the_end",
		"10 chain 1/5; 15 sample 1/5; 20 sample 2/6; 30 chain 3/7",
		.request = { { .event = 1,
			       AS_PERF_BARE_END,
			       0,
			       TIME_NONE,
			       REQ_MATCHED },
			     { .event = 2,
			       AS_PERF_BARE_END,
			       0,
			       TIME_NONE,
			       REQ_PENDING_END } },
	},
	{
		"lives_of_a_tid_are_not_told_apart",
		"10 sample 1/5; 20 exit 1; 30 fork 1 999; 50 chain 1/6",
		.request = { { .event = 1,
			       AS_PERF_BARE,
			       1,
			       40,
			       REQ_UNEXPLAINED } },
	},
	{
		"a_duplicate_chain_counts_as_a_chain",
		"10 sample 1/5; 20 chain 1/5; 25 sample 1/5; 26 sample 1/5;"
		"30 chain 1/5",
		.request = { { .event = 1, AS_PERF_MERGED, 1, 10 },
			     { .event = 2,
			       AS_PERF_MERGED,
			       2,
			       5,
			       REQ_MATCHED,
			       1 },
			     { .event = 3, AS_PERF_MERGED, 2, 4 } },
	},
	/* The cookies alone join them. */
	{
		"tasks_without_a_tid_are_one_to_perf",
		"10 sample -1/5; 11 sample 2/6; 20 chain -1/6; 30 chain 2/5",
		.request = { { .event = 1,
			       AS_PERF_BARE,
			       1,
			       10,
			       REQ_MATCHED,
			       2 },
			     { .event = 2,
			       AS_PERF_BARE,
			       2,
			       19,
			       REQ_MATCHED,
			       1 } },
	},
	/* Nor does one make a sample of the other late. */
	{
		"captures_do_not_share_tids",
		"10 sample 1/5; b: 11 sample 1/5; b: 20 chain 1/5",
		.request = { { .event = 1, AS_PERF_BARE_END, 0, TIME_NONE },
			     { .event = 2, AS_PERF_MERGED, 1, 9 } },
		.in_time = { 1 },
	},
	{
		"what_waits_for_no_chain_is_not_held",
		"10 sample 1 mark; 12 sample 1 direct n=2; 20 chain 1/5",
		.request = { { .event = 1, 0, 0, TIME_NONE, REQ_UNJOINABLE },
			     { .event = 2, 0, 0, TIME_NONE, REQ_REFUSED } },
	},
	{
		"without_times_how_long_is_not_known",
		"no_times; 1 sample 1/5; 2 chain 1/5",
		.request = { { .event = 1, AS_PERF_MERGED, 1, TIME_NONE } },
	},
	{
		"a_sample_is_late_behind_one_that_waits_for_nothing",
		"10 sample 1/5; 15 sample 2; 18 sample 1/5; 20 chain 1/5",
		.late = { 1 },
		.in_time = { 3 },
	},
	/* The third is given out at the end, but nothing later was before. */
	{
		"a_sample_is_late_behind_one_whose_chain_was_sooner",
		"10 sample 1/5; 11 sample 2/6; 12 sample 3/7; 20 chain 2/6;"
		"21 chain 1/5",
		.late = { 1 },
		.in_time = { 2, 3 },
	},
	{
		"samples_held_to_the_end_may_be_late",
		"10 sample 1/5; 11 sample 2/6; 12 sample 3; 13 sample 1/5",
		.late = { 1, 2 },
		.in_time = { 4 },
	},
};

static bool waits_late(const struct all_facts *all, uint32_t event)
{
	return facts_request_of(all, event)->flags & VERDICT_PERF_LATE;
}

START_TEST(wait_row_holds)
{
	const struct wait_row *row = &wait_rows[_i];
	struct all_facts all = joins_run(row->records);

	for (size_t i = 0; i < 3 && row->request[i].event; i++) {
		const struct fact_request *r =
			facts_request_of(&all, row->request[i].event);

		ck_assert_int_eq(r->as_perf, row->request[i].as_perf);
		ck_assert_uint_eq(r->as_tid, row->request[i].as_tid);
		ck_assert_int_eq(r->held, row->request[i].held);
		if (row->request[i].verdict)
			ck_assert_int_eq(r->verdict, row->request[i].verdict);
		if (row->request[i].chain)
			ck_assert_uint_eq(r->chain, row->request[i].chain);
	}
	for (size_t i = 0; i < 2; i++) {
		must(!row->late[i] || waits_late(&all, row->late[i]));
		must(!row->in_time[i] || !waits_late(&all, row->in_time[i]));
	}
	facts_done(&all);
}
END_TEST

static const struct source_info timed = { .has_time = true };

/* Against join.c itself: more than a fake capture should hold. */
START_TEST(samples_that_wait_have_a_limit_and_none_is_lost)
{
	size_t n = 0, most = 3u << 20;
	struct join_rig rg;
	struct fact f;

	if (RUN_ELSEWHERE)
		return;
	join_rig_init(&rg, &timed);
	for (size_t i = 0; i < most; i++) {
		struct join_sample s = { .event = (uint32_t)i + 1,
					 .tid = 1,
					 .time = (int64_t)i,
					 .cookie = 7 };

		join_sample(rg.jn, &rg.task, &s);
		while (fact_queue_take(&rg.q, &f))
			n++;
	}
	must(n >= most / 2);
	join_retire(rg.jn, &rg.task, JOIN_CAPTURE, TIME_NONE);
	join_end(rg.jn);
	while (fact_queue_take(&rg.q, &f))
		n++;
	ck_assert_uint_eq(n, most);
	join_rig_release(&rg);
}
END_TEST

START_TEST(samples_that_were_joined_wait_no_more)
{
	struct join_rig rg;
	struct fact f;

	if (RUN_ELSEWHERE)
		return;
	join_rig_init(&rg, &timed);
	for (uint32_t i = 1; i <= 3u << 19; i++) {
		const struct join_sample s = {
			.event = i, .tid = 1, .time = i, .cookie = i
		};
		struct join_chain c = {
			.id = i, .tid = 1, .cookie = i, .uraw = 1
		};

		join_sample(rg.jn, &rg.task, &s);
		join_chain(rg.jn, &rg.task, &c);
		while (fact_queue_take(&rg.q, &f))
			must(f.kind == FACT_CHAIN ||
			     f.request.verdict == REQ_MATCHED);
	}
	/* If too many seemed to wait, the first of two would be given up. */
	const struct join_sample s = {
		.event = 1, .tid = 1, .time = 1, .cookie = UINT64_MAX
	};

	join_sample(rg.jn, &rg.task, &s);
	while (fact_queue_take(&rg.q, &f))
		must(f.kind == FACT_CHAIN);
	join_sample(rg.jn, &rg.task, &s);
	must(!fact_queue_take(&rg.q, &f));
	join_rig_release(&rg);
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
	struct join_rig rg;
	/* Of unknown CPUs, whose clocks may differ: cookies may overlap. */
	struct join_chain c = { .id = 1, .tid = 1, .cpu = -1, .cookie = 5 };
	struct join_sample s = { .event = 1, .tid = 1, .cpu = -1, .cookie = 6 };
	struct fact f;

	join_rig_init(&rg, &timed);
	join_chain(rg.jn, &rg.task, &c);
	if (open)
		join_sample(rg.jn, &rg.task, &s);
	s.cookie = 5;
	for (s.event = 2; s.event <= last; s.event++) {
		join_sample(rg.jn, &rg.task, &s);
		if (s.event == 3)
			come_and_go(rg.jn, &rg.q);
	}
	for (uint32_t i = 2; i < 2 + more; i++) {
		const struct fact_request r = next_request(&rg.q);

		must(r.event == i && r.chain == 1);
		must(!r.as_perf && !r.as_tid);
	}
	must(!fact_queue_take(&rg.q, &f));
	c.id = 2;
	c.cookie = 6;
	join_chain(rg.jn, &rg.task, &c);
	for (uint32_t i = 2 + more; i <= last; i++) {
		const struct fact_request r = next_request(&rg.q);

		must(r.event == i && r.chain == 1);
		must(r.as_perf == AS_PERF_BARE && r.as_tid == 2);
	}
	if (open) {
		const struct fact_request r = next_request(&rg.q);

		must(r.event == 1 && r.chain == 2);
		must(r.as_perf == AS_PERF_MERGED && r.as_tid == 2);
	}
	must(!fact_queue_take(&rg.q, &f));
	join_rig_release(&rg);
}

START_TEST(what_is_held_too_long_is_given_out_as_not_known)
{
	if (!RUN_ELSEWHERE)
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
	struct all_facts all = stitch_all(&f, 1);
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

static const struct run_table tables[] = { RUN_TABLE(wait_row_holds,
						     wait_rows) };

RUN_TABLES("pending_requests", tables,
	   samples_that_wait_have_a_limit_and_none_is_lost,
	   samples_that_were_joined_wait_no_more,
	   what_is_held_too_long_is_given_out_as_not_known,
	   random_captures_are_as_a_list_walked_at_every_chain)
