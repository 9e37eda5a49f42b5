/* join.c - the rules of the deferred join and the ways in which it can fail,
 * each as a small capture: backstitch-formats(5), "Deferred stacks: join rules"
 * and "Failure modes". */
#include "stitch/join/sessions.h"
#include "stitch/audit/counters.h"
#include "tests/unit/joins.h"

struct join_request {
	uint32_t event;
	enum request_verdict verdict;
	uint32_t flags;
	uint32_t chain;	 /* 0: any */
	int64_t latency; /* 0: any */
};

struct join_deferred {
	uint32_t id;
	enum chain_verdict verdict;
	uint32_t n_events;
	uint32_t flags;
};

struct join_row {
	const char *name;
	const char *records; /* see script.h */
	struct join_request request[6];
	struct join_deferred chain[3];
	struct {
		bool asked;
		size_t n;
	} threads, requests, events; /* how many facts of the kind */
};

#define N(n)                                                                   \
	{                                                                      \
		true, n                                                        \
	}

static const struct join_row join_rows[] = {
	{
		"a_chain_joins_the_sample_before_it",
		"10 sample 1/5; 30 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED, .latency = 20 } },
		.chain = { { .id = 1, CHAIN_USED, 1 } },
	},
	{
		"user_stack_before_its_sample_still_joins",
		"10 chain 1/5; 15 sample 1/5",
		.request = { { .event = 1,
			       REQ_MATCHED,
			       VERDICT_AFTER,
			       .latency = -5 } },
		.chain = { { .id = 1, CHAIN_USED, 1 } },
	},
	{
		"a_chain_after_exit_joins",
		"10 sample 1/5; 20 exit 1; 21 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED } },
		.chain = { { .id = 1, CHAIN_USED, 1, VERDICT_AFTER_EXIT } },
		.threads = N(1),
	},
	{
		"exec_between_is_flagged",
		"10 sample 1/5; 15 exec 1; 20 chain 1/5; 30 sample 1/6; 40 chain 1/6",
		.request = { { .event = 1, REQ_MATCHED, VERDICT_EXEC },
			     { .event = 2, REQ_MATCHED } },
	},
	{
		"a_new_name_alone_is_no_exec",
		"10 sample 1/5; 15 name 1; 20 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED } },
	},
	{
		"exec_between_chain_and_late_sample_is_flagged",
		"10 chain 1/5; 15 exec 1; 20 sample 1/5",
		.request = { { .event = 1,
			       REQ_MATCHED,
			       VERDICT_AFTER | VERDICT_EXEC } },
	},
	/* Nothing was lost, so that no reason is known for the first one. */
	{
		"a_reused_tid_keeps_its_lives_apart",
		"1 pair; 10 sample 1/5; 20 exit 1; 30 fork 1 999;"
		"40 sample 1/6; 50 chain 1/6",
		.request = { { .event = 2, REQ_UNEXPLAINED },
			     { .event = 3, REQ_MATCHED, VERDICT_REUSED_TID } },
		.chain = { { .id = 2, CHAIN_USED, 1, VERDICT_REUSED_TID } },
		.threads = N(3),
	},
	{
		"a_life_replaced_without_exit_did_not_exit",
		"per_task; 1 pair; 10 sample 1/5; 30 fork 1 999; 40 sample 1/6;"
		"50 exit 1",
		.request = { { .event = 2, REQ_UNEXPLAINED },
			     { .event = 3,
			       REQ_EXIT_PER_TASK,
			       VERDICT_REUSED_TID } },
	},
	{
		"a_chain_lost_on_another_cpu_is_explained",
		"1 pair; 5 sample 2/4 cpu=3; 6 chain 2/4 cpu=3; 10 sample 1/5;"
		"15 lost 3; 20 sample 1/6; 25 chain 1/6",
		.request = { { .event = 3, REQ_CHAIN_LOST },
			     { .event = 4, REQ_MATCHED } },
	},
	{
		"a_loss_elsewhere_in_time_explains_nothing",
		"1 pair; 3 sample 7/3 cpu=3; 5 lost 3; 10 sample 1/5; 20 sample 1/6;"
		"25 chain 1/6; 30 sample 2/8 cpu=3; 35 lost 3",
		.request = { { .event = 3, REQ_UNEXPLAINED } },
	},
	/* The record behind LOST has its time and a smaller class. */
	{
		"a_loss_sorted_behind_its_follower_has_its_window",
		"1 pair; 10 sample 1/5; 20 lost 0; 20 map 1 0x1000; 30 sample 1/6;"
		"40 chain 1/6",
		.request = { { .event = 2, REQ_CHAIN_LOST } },
	},
	{
		"a_loss_at_an_unknown_time_may_explain_all",
		"1 pair; 10 sample 1/5; 20 sample 1/6; 25 chain 1/6; - lost -1",
		.request = { { .event = 2, REQ_CHAIN_LOST } },
	},
	{
		"what_is_open_at_the_end_is_pending",
		"1 pair; 10 sample 1/5",
		.request = { { .event = 2, REQ_PENDING_END } },
	},
	{
		"exit_in_a_per_task_session_explains",
		"per_task; 1 pair; 10 sample 1/5; 20 exit 1",
		.request = { { .event = 2, REQ_EXIT_PER_TASK } },
	},
	{
		"exit_in_a_system_wide_session_explains_nothing",
		"1 pair; 10 sample 1/5; 20 exit 1",
		.request = { { .event = 2, REQ_UNEXPLAINED } },
	},
	/* The EXIT itself may be the last record that fitted into the ring. */
	{
		"loss_right_after_the_exit_explains",
		"1 pair; 10 sample 1/5; 20 exit 1; 1000 lost 0; 2000 sample 2/7",
		.request = { { .event = 2, REQ_CHAIN_LOST } },
	},
	{
		"exit_right_before_the_end_leaves_the_chain_pending",
		"last=400000; 1 pair; 10 sample 1/5; 20 exit 1",
		.request = { { .event = 2, REQ_PENDING_END } },
	},
	{
		"a_marker_without_cookie_cannot_be_joined",
		"10 sample 1 mark; 20 chain 1/5; 30 chain 1/6",
		.request = { { .event = 1, REQ_UNJOINABLE } },
		.chain = { { .id = 1, CHAIN_UNJOINABLE },
			   { .id = 2, CHAIN_UNEXPLAINED } },
	},
	/* The event of the second sample does not ask for deferred stacks. */
	{
		"a_user_half_taken_at_once_is_a_refused_request",
		"10 sample 1 direct n=2; 20 sample 1 direct n=2 event=1",
		.request = { { .event = 1, REQ_REFUSED } },
		.requests = N(1),
	},
	{
		"a_kernel_thread_asks_for_nothing",
		"10 sample 1",
		.requests = N(0),
		.events = N(1),
	},
	{
		"a_file_without_any_chain_was_stripped",
		"10 sample 1/5; 20 sample 1/6",
		.request = { { .event = 1, REQ_STRIPPED },
			     { .event = 2, REQ_STRIPPED } },
	},
	{
		"a_file_without_any_chain_but_with_losses_lost_them",
		"10 sample 1/5; 15 lost 0; 20 sample 1/6",
		.request = { { .event = 1, REQ_CHAIN_LOST },
			     { .event = 2, REQ_PENDING_END } },
	},
	{
		"the_same_chain_again_is_a_duplicate",
		"10 sample 1/5; 20 chain 1/5; 21 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED } },
		.chain = { { .id = 1, CHAIN_USED, 1 },
			   { .id = 2, CHAIN_DUPLICATE } },
	},
	{
		"another_chain_for_the_same_cookie_is_a_conflict",
		"10 sample 1/5; 11 map 1 0x1000 len=0x2000; 20 chain 1/5;"
		"21 chain 1/5 ip=0x1888",
		.request = { { .event = 1, REQ_MATCHED, .chain = 1 } },
		.chain = { { .id = 1, CHAIN_USED, 1 },
			   { .id = 2,
			     CHAIN_DUPLICATE,
			     .flags = VERDICT_CONFLICT } },
	},
	{
		"a_cookie_that_comes_back_joins_its_own_chain",
		"10 sample 1/5; 11 chain 1/5; 20 sample 1/6; 21 chain 1/6;"
		"30 sample 1/5; 31 chain 1/5 ip1=0x2001; 40 sample 1/7;"
		"41 chain 1/7",
		.request = { { .event = 1, REQ_MATCHED, .chain = 1 },
			     { .event = 3, REQ_MATCHED, .chain = 3 } },
		.chain = { { .id = 1, CHAIN_USED, 1 },
			   { .id = 3, CHAIN_USED, 1 } },
	},
	{
		"a_cookie_that_comes_back_without_a_chain_joins_no_older_one",
		"10 sample 1/5; 11 chain 1/5; 20 sample 1/6; 21 chain 1/6;"
		"30 sample 1/5; 40 sample 1/7; 41 chain 1/7",
		.request = { { .event = 1, REQ_MATCHED, .chain = 1 },
			     { .event = 3, REQ_UNEXPLAINED } },
		.chain = { { .id = 1, CHAIN_USED, 1 } },
	},
	{
		"one_chain_nobody_asked_for_proves_no_other_session",
		"5 sample 1/4; 6 chain 1/4; 10 chain 1/5; 20 sample 1/6;"
		"21 chain 1/6",
		.chain = { { .id = 1, CHAIN_USED, 1 },
			   { .id = 2, CHAIN_UNEXPLAINED } },
	},
	{
		"a_thread_that_never_asked_here_proves_another_session",
		"10 chain 1/5; 20 chain 1/6",
		.chain = { { .id = 1, CHAIN_FOREIGN },
			   { .id = 2, CHAIN_FOREIGN } },
	},
	{
		"chains_in_a_row_of_two_threads_prove_another_session",
		"1 sample 1/1; 2 chain 1/1; 3 sample 2/2; 4 chain 2/2;"
		"10 chain 1/5; 11 chain 1/6; 12 chain 2/7; 13 chain 2/8",
		.chain = { { .id = 3, CHAIN_FOREIGN },
			   { .id = 5, CHAIN_FOREIGN },
			   { .id = 6, CHAIN_FOREIGN } },
	},
	{
		"chains_in_a_row_of_one_thread_prove_no_other_session",
		"1 sample 1/1; 2 chain 1/1; 3 sample 2/2; 4 chain 2/2;"
		"10 chain 1/5; 11 chain 1/6; 12 chain 2/7",
		.chain = { { .id = 3, CHAIN_UNEXPLAINED },
			   { .id = 4, CHAIN_UNEXPLAINED },
			   { .id = 5, CHAIN_UNEXPLAINED } },
	},
	{
		"a_request_without_a_reason_leaves_no_other_session_proved",
		"1 sample 1/1; 2 chain 1/1; 3 sample 1/2; 4 sample 1/3;"
		"5 chain 1/3; 10 chain 2/5; 11 chain 2/6",
		.request = { { .event = 2, REQ_UNEXPLAINED } },
		.chain = { { .id = 3, CHAIN_UNEXPLAINED },
			   { .id = 4, CHAIN_UNEXPLAINED } },
	},
	{
		"a_chain_whose_samples_were_lost_says_so",
		"5 sample 1/4; 6 chain 1/4; 9 lost 0; 10 chain 1/5; 20 chain 1/6",
		.chain = { { .id = 2, CHAIN_SAMPLE_LOST },
			   { .id = 3, CHAIN_UNEXPLAINED } },
	},
	{
		"an_overwritten_ring_explains_both_halves",
		"overwrite; 10 chain 1/5; 20 sample 1/6; 30 sample 1/7; 40 chain 1/7",
		.request = { { .event = 1, REQ_CHAIN_LOST },
			     { .event = 2, REQ_MATCHED } },
		.chain = { { .id = 1, CHAIN_OVERWRITTEN } },
	},
	{
		"a_capture_without_times_joins_in_file_order",
		"no_times; 1 sample 1/5; 2 exec 1; 3 chain 1/5; 4 sample 1/5;"
		"5 sample 1/6; 6 lost -1; 7 sample 1/7",
		.request = { { .event = 1,
			       REQ_MATCHED,
			       VERDICT_EXEC,
			       .latency = TIME_NONE },
			     { .event = 2, REQ_MATCHED, VERDICT_AFTER },
			     { .event = 3, REQ_CHAIN_LOST },
			     { .event = 4, REQ_PENDING_END } },
	},
	{
		"without_a_tid_the_cookie_alone_decides",
		"10 sample 1/5; 20 chain -1/5; 30 sample -1/6; 40 chain 2/6;"
		"50 sample 2/6",
		.request = { { .event = 1, REQ_MATCHED },
			     { .event = 2, REQ_MATCHED },
			     { .event = 3, REQ_MATCHED, VERDICT_AFTER } },
		.chain = { { .id = 2, CHAIN_USED, 2 } },
	},
	/* As after a wrap of the 32-bit counter. */
	{
		"one_cookie_of_two_threads_is_two_stacks",
		"10 sample 1/5; 11 sample 2/5; 20 chain 2/5; 21 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED, VERDICT_PERF_LATE, 2 },
			     { .event = 2, REQ_MATCHED, .chain = 1 } },
	},
	{
		"captures_do_not_share_cookies",
		"10 sample 1/5; b: 11 sample 1/5; b: 20 chain 1/5",
		.request = { { .event = 1, REQ_PENDING_END },
			     { .event = 2, REQ_MATCHED } },
	},
	{
		"one_cookie_of_several_threads_in_any_order",
		"1 sample 1/5; 2 sample 2/5; 3 sample 3/5; 4 sample 4/5;"
		"10 chain 3/5; 11 exit 3; 20 chain 1/5; 21 exit 1;"
		"30 sample 7/5; 31 chain 7/5; 40 chain 4/5; 50 chain 2/5",
		.request = { { .event = 1, REQ_MATCHED, VERDICT_PERF_LATE, 2 },
			     { .event = 2, REQ_MATCHED, VERDICT_PERF_LATE, 5 },
			     { .event = 3, REQ_MATCHED, 0, 1 },
			     { .event = 4, REQ_MATCHED, VERDICT_PERF_LATE, 4 },
			     { .event = 5, REQ_MATCHED, 0, 3 } },
	},
};

/* A verdict says how sure it is. */
static enum confidence join_confidence(enum request_verdict verdict)
{
	switch (verdict) {
	case REQ_MATCHED:
	case REQ_REFUSED:
		return CONF_PROVED;
	case REQ_UNEXPLAINED:
		return CONF_UNEXPLAINED;
	default:
		return CONF_EXPLAINED;
	}
}

static void join_expect(const struct all_facts *all,
			const struct join_request *want)
{
	const struct fact_request *r = facts_request_of(all, want->event);
	bool matched = want->verdict == REQ_MATCHED;

	ck_assert_str_eq(request_verdict_name(r->verdict),
			 request_verdict_name(want->verdict));
	ck_assert_int_eq(r->confidence, join_confidence(want->verdict));
	ck_assert_uint_eq(r->flags, want->flags);
	ck_assert_int_eq(r->chain != 0, matched);
	ck_assert_int_eq(r->uraw != 0, matched);
	if (want->chain)
		ck_assert_uint_eq(r->chain, want->chain);
	if (want->latency)
		ck_assert_int_eq(r->latency, want->latency);
}

static void join_expect_chain(const struct all_facts *all,
			      const struct join_deferred *want)
{
	const struct fact_chain *c = facts_chain_of(all, want->id);

	ck_assert_str_eq(chain_verdict_name(c->verdict),
			 chain_verdict_name(want->verdict));
	ck_assert_uint_eq(c->n_events, want->n_events);
	ck_assert_uint_eq(c->flags, want->flags);
}

START_TEST(join_row_holds)
{
	const struct join_row *row = &join_rows[_i];
	struct all_facts all = joins_run(row->records);

	for (const struct join_request *r = row->request; r->event; r++)
		join_expect(&all, r);
	for (const struct join_deferred *c = row->chain; c->id; c++)
		join_expect_chain(&all, c);
	if (row->threads.asked)
		ck_assert_uint_eq(fact_count(&all, FACT_THREAD),
				  row->threads.n);
	if (row->requests.asked)
		ck_assert_uint_eq(fact_count(&all, FACT_REQUEST),
				  row->requests.n);
	if (row->events.asked)
		ck_assert_uint_eq(fact_count(&all, FACT_EVENT), row->events.n);
	facts_done(&all);
}
END_TEST

START_TEST(many_samples_share_one_chain)
{
	struct fake *f = fake_new();

	for (uint64_t i = 0; i < 64; i++)
		fake_sample(f, 10 + i, 1, 5);
	fake_chain(f, 100, 1, 5);
	struct all_facts all = stitch_all(&f, 1);
	for (uint32_t i = 1; i <= 64; i++)
		join_expect(&all,
			    &(struct join_request){ .event = i, REQ_MATCHED });
	join_expect_chain(&all,
			  &(struct join_deferred){ .id = 1, CHAIN_USED, 64 });
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_joins_one_of_the_last_cookies)
{
	struct fake *f = fake_new();

	for (uint64_t c = 1; c <= JOIN_RECENT; c++) {
		fake_sample(f, 10 * c, 1, c);
		fake_chain(f, 10 * c + 1, 1, c);
	}
	/* of a CPU whose clock differs a little */
	script_play_on(f, "100 sample 1/1 cpu=1");
	struct all_facts all = stitch_all(&f, 1);
	join_expect(&all, &(struct join_request){ .event = JOIN_RECENT + 1,
						  REQ_MATCHED,
						  VERDICT_AFTER });
	join_expect_chain(&all,
			  &(struct join_deferred){ .id = 1, CHAIN_USED, 2 });
	facts_done(&all);
}
END_TEST

START_TEST(a_loss_told_of_much_later_still_explains)
{
	struct fake *f = fake_new();

	script_play_on(f, "1 pair");
	fake_sample(f, 10, 1, 5);
	for (uint64_t c = 6; c < 200; c++) {
		fake_sample(f, 10 * c, 1, c);
		fake_chain(f, 10 * c + 5, 1, c);
	}
	/* Nothing came from CPU 3 before: it may have lost records from the
	 * start on. */
	fake_lost(f, 5000, 3, 100);
	struct all_facts all = stitch_all(&f, 1);
	join_expect(&all, &(struct join_request){ .event = 2, REQ_CHAIN_LOST });
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_in_user_mode_keeps_its_ip)
{
	struct all_facts all =
		joins_run("10 sample 1/5 user ip=0x1005; 20 chain 1/5");
	const struct fact_request *r = facts_request_of(&all, 1);
	ck_assert_uint_eq(r->ip, 0x1005);
	ck_assert_uint_eq(r->flags, VERDICT_USER_HIT);
	ck_assert_uint_eq(frames_get_raw(all.frames, r->uraw)->inner[0], r->ip);
	facts_done(&all);
}
END_TEST

START_TEST(stack_quality_is_said)
{
	const enum quality want[] = { QUALITY_EMPTY, QUALITY_ONE,
				      QUALITY_OPEN };
	struct all_facts all = joins_run(
		"10 chain 1/5 n=0; 11 chain 1/6 n=1; 12 chain 1/7 n=2");

	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(facts_chain_of(&all, i + 1)->quality, want[i]);
	facts_done(&all);
}
END_TEST

/* The worst case: one cookie for all. It took a minute when each entry of a
 * cookie was looked at in turn. */
#define SAME_COOKIE 100000

START_TEST(many_threads_may_have_one_cookie)
{
	struct fake *f = fake_new();
	size_t n = 0;

	for (int32_t i = 1; i <= SAME_COOKIE; i++)
		fake_sample(f, 10 + (uint64_t)i, i, 5);
	for (int32_t i = SAME_COOKIE; i >= 1; i--)
		fake_chain(f, 2000000 - (uint64_t)i, i, 5);
	struct all_facts all = stitch_all(&f, 1);
	for (size_t i = 0; i < all.n; i++) {
		const struct fact_request *r = &all.fact[i].request;

		if (all.fact[i].kind != FACT_REQUEST)
			continue;
		must(r->verdict == REQ_MATCHED);
		must(r->chain == SAME_COOKIE + 1 - r->event);
		n++;
	}
	ck_assert_uint_eq(n, SAME_COOKIE);
	facts_done(&all);
}
END_TEST

/* Losses of the recording explain nothing then. */
START_TEST(perf_inject_took_the_chains_whatever_was_lost)
{
	const struct source_info info = { .has_time = true, .injected = true };
	const struct join_sample s = {
		.event = 1, .tid = 1, .time = 10, .cookie = 5
	};
	const struct loss lost = { 1, 0, 11, 99 };
	struct join_rig rg;
	struct fact f;

	join_rig_init(&rg, &info);
	losses_add(rg.ls, 0, &lost);
	join_sample(rg.jn, &rg.task, &s);
	join_retire(rg.jn, &rg.task, JOIN_CAPTURE, TIME_NONE);
	join_end(rg.jn);
	ck_assert(fact_queue_take(&rg.q, &f));
	ck_assert_int_eq(f.kind, FACT_REQUEST);
	ck_assert_int_eq(f.request.verdict, REQ_STRIPPED);
	join_rig_release(&rg);
}
END_TEST

/* Cookies are counted, not samples and not records. */
START_TEST(cookies_without_their_other_half_are_counted)
{
	const struct source_info info = { .has_time = true };
	struct join_rig rg;
	const struct loss lost = { 1, 0, 90, 99 };
	struct join_task task[3] = { 0 };
	struct cookie_totals sum[2];

	join_rig_init(&rg, &info);
	losses_add(rg.ls, 1, &lost);
	join_source(rg.jn, 1, &info);
	for (uint32_t i = 1; i <= 6; i++) {
		const struct join_sample s = { .event = i,
					       .source = 1,
					       .tid = 1,
					       .time = i,
					       .cookie = i / 2 + 1 };

		join_sample(rg.jn, &task[1], &s);
	}
	for (uint32_t i = 1; i <= 6; i++) {
		const struct join_chain c = { .id = i,
					      .source = 1,
					      .tid = 2,
					      .time = 90 + i / 2,
					      .cookie = 100 + i / 2,
					      .asked_cpu = i < 6 };

		join_chain(rg.jn, &task[2], &c);
	}
	for (size_t i = 0; i < 3; i++)
		join_retire(rg.jn, &task[i], JOIN_CAPTURE, TIME_NONE);
	join_end(rg.jn);
	sum[0] = join_session(rg.jn, 0)->totals;
	sum[1] = join_session(rg.jn, 1)->totals;
	ck_assert_uint_eq(sum[0].no_chain + sum[0].no_sample + sum[0].foreign,
			  0);
	ck_assert_uint_eq(sum[1].no_chain, 4);
	ck_assert_uint_eq(sum[1].no_sample, 4);
	/* Nothing proves another session. */
	ck_assert_uint_eq(sum[1].foreign, 0);
	join_rig_release(&rg);
}
END_TEST

/* A program asks for several stacks before the first of them comes, and again
 * and again. Their chains must not wait for the end: nothing is unknown. */
#define ASKED_AT_ONCE (2 * JOIN_RECENT)
#define ROUNDS 2000

START_TEST(complete_cookies_that_others_followed_do_not_wait_for_the_end)
{
	const struct source_info info = { .has_time = true };
	size_t told = 0;
	struct join_rig rg;
	struct fact f;

	join_rig_init(&rg, &info);
	for (uint32_t i = 0; i < ROUNDS * 2 * ASKED_AT_ONCE; i++) {
		const uint32_t round = i / (2 * ASKED_AT_ONCE);
		const uint32_t n = round * ASKED_AT_ONCE + i % ASKED_AT_ONCE;
		const struct join_sample s = {
			.event = n + 1, .tid = 1, .time = i, .cookie = n
		};
		const struct join_chain c = {
			.id = n + 1, .tid = 1, .time = i, .cookie = n
		};

		if (i / ASKED_AT_ONCE % 2)
			join_chain(rg.jn, &rg.task, &c);
		else
			join_sample(rg.jn, &rg.task, &s);
	}
	while (fact_queue_take(&rg.q, &f))
		told += f.kind == FACT_CHAIN && f.chain.verdict == CHAIN_USED &&
			f.chain.n_events == 1;
	ck_assert_uint_ge(told, (ROUNDS - 1) * ASKED_AT_ONCE - 4096);
	join_rig_release(&rg);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(join_row_holds,
						     join_rows) };

RUN_TABLES("join", tables, many_samples_share_one_chain,
	   perf_inject_took_the_chains_whatever_was_lost,
	   a_sample_joins_one_of_the_last_cookies,
	   a_loss_told_of_much_later_still_explains,
	   a_sample_in_user_mode_keeps_its_ip, stack_quality_is_said,
	   many_threads_may_have_one_cookie,
	   cookies_without_their_other_half_are_counted,
	   complete_cookies_that_others_followed_do_not_wait_for_the_end)
