/* across.c - joins across captures of one kernel: sessions.h,
 * stitch/join/sessions.h, and what join.c, missing_reason.c and
 * counters.c make of them. */
#include "stitch/join/join.h"

#include "stitch/audit/counters.h"
#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "stitch/base/clock_map.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/join/sessions.h"
#include "tests/unit/script.h"
#include "tests/unit/facts.h"

/* ---- two captures that go through all of stitch/ */

struct across_row {
	const char *name;
	const char *records; /* of captures a and b; see script.h */
	struct {
		uint32_t event;
		enum request_verdict verdict;
		uint32_t flags;
	} request[4];
	struct {
		uint32_t id;
		uint16_t source;
		enum chain_verdict verdict;
		uint32_t flags;
		bool has_loss; /* false: not asked */
	} chain[3];
	/* How many facts of a kind there are, and 1; 0: not asked. */
	size_t chains, copies;
	bool apart; /* nothing says that the captures are of one kernel */
};

/* Stored as 1 + n, so that 0 is "not asked". */
#define N(n) ((n) + 1)

static const struct across_row across_rows[] = {
	{
		"a_sample_after_the_copies_needs_no_other_capture",
		"10 chain 1/5; b: 11 chain 1/5; b: 20 sample 1/5; 21 sample 1/5",
		.request = { { .event = 1, REQ_MATCHED, VERDICT_AFTER },
			     { .event = 2, REQ_MATCHED, VERDICT_AFTER } },
	},
	{
		"other_addresses_are_a_conflict",
		"10 sample 1/5; 30 chain 1/5; b: 31 chain 1/5 ip1=0x2001",
		.request = { { .event = 1, REQ_MATCHED } },
		.chain = { { .id = 1, 0, CHAIN_USED },
			   { .id = 2, 1, CHAIN_DUPLICATE, VERDICT_CONFLICT } },
		.copies = N(0),
	},
	{
		"a_chain_twice_in_one_capture_is_a_duplicate_all_the_same",
		"10 sample 1/5; 30 chain 1/5; b: 31 chain 1/5; b: 32 chain 1/5",
		.chain = { { .id = 1, 0, CHAIN_USED },
			   { .id = 2, 1, CHAIN_DUPLICATE } },
		.copies = N(1),
	},
	/* The addresses are the same; capture b does not know what is mapped
	   there. */
	{
		"a_copy_may_look_different",
		"1 map 1 0x1000 len=0x2000; 10 sample 1/5; 30 chain 1/5;"
		"b: 31 chain 1/5",
		.request = { { .event = 1, REQ_MATCHED } },
		.chains = N(1),
		.copies = N(1),
	},
	{
		"captures_that_are_not_together_share_nothing",
		"10 sample 1/5; 30 chain 1/5; b: 31 chain 1/5",
		.chain = { { .id = 1, 0, CHAIN_USED },
			   { .id = 2, 1, CHAIN_UNEXPLAINED } },
		.copies = N(0),
		.apart = true,
	},
	{
		"an_exit_in_a_per_task_session_is_completed_by_another",
		"per_task; 10 sample 1/5; 20 exit 1; b: 20 exit 1;"
		"b: 21 chain 1/5",
		.request = { { .event = 1,
			       REQ_MATCHED,
			       VERDICT_OTHER_CAPTURE } },
		.chain = { { .id = 1,
			     1,
			     CHAIN_USED,
			     VERDICT_AFTER_EXIT | VERDICT_OTHER_CAPTURE } },
	},
	{
		"a_lost_sample_of_another_capture_explains_a_chain",
		"5 sample 2/7; 6 chain 2/7; b: 7 sample 3/9; b: 20 lost 0;"
		"b: 21 chain 3/9; 22 chain 1/5",
		.chain = { { .id = 3,
			     0,
			     CHAIN_SAMPLE_LOST,
			     .has_loss = true } },
	},
	/* ftrace asks, and LTTng has the stacks that the process logged itself.
	 */
	{
		"a_stack_that_was_logged_elsewhere_answers_a_nonce",
		"ftrace; b: lttng; 10 sample 1/5 nonce; b: 30 chain 1/5 nonce",
		.request = { { .event = 1,
			       REQ_MATCHED,
			       VERDICT_OTHER_CAPTURE | VERDICT_NONCE } },
		.chain = { { .id = 1,
			     1,
			     CHAIN_USED,
			     VERDICT_OTHER_CAPTURE | VERDICT_NONCE } },
	},
	{
		"the_first_sample_may_be_in_another_capture",
		"b: 10 sample 1/3@1 cpu=1; 11 sample 1/3@1 cpu=0;"
		"20 chain 1/3@1; b: 21 chain 1/3@1",
		.request = { { .event = 1, REQ_MATCHED },
			     { .event = 2, REQ_MATCHED } },
	},
	/* The clock of b is a little behind: its counters are not late for it.
	 */
	{
		"a_capture_is_late_by_its_own_counters_only",
		"10 sample 1/5@0; 11 chain 1/5@0; b: 12 sample 1/3@0;"
		"b: 13 chain 1/3@0; 20 sample 1/1@0; 21 chain 1/1@0",
		.request = { { .event = 2, REQ_MATCHED },
			     { .event = 3, REQ_MATCHED, VERDICT_FIRST_LOST } },
	},
};

static struct all_facts across_play(const char *records, bool together)
{
	struct fake *f[SCRIPT_CAPTURES] = { fake_new(), fake_new() };

	return stitch_line(f, script_play(f, records), together);
}

START_TEST(across_row_holds)
{
	const struct across_row *row = &across_rows[_i];
	struct all_facts all = across_play(row->records, !row->apart);

	for (size_t i = 0; row->request[i].event; i++) {
		const struct fact_request *r =
			facts_request_of(&all, row->request[i].event);
		enum request_verdict want = row->request[i].verdict;

		ck_assert_str_eq(request_verdict_name(r->verdict),
				 request_verdict_name(want));
		ck_assert_uint_eq(r->flags, row->request[i].flags);
		ck_assert_int_eq(r->chain != 0, want == REQ_MATCHED);
	}
	for (size_t i = 0; row->chain[i].id; i++) {
		const struct fact_chain *c =
			facts_chain_of(&all, row->chain[i].id);

		ck_assert_uint_eq(c->source, row->chain[i].source);
		ck_assert_str_eq(chain_verdict_name(c->verdict),
				 chain_verdict_name(row->chain[i].verdict));
		ck_assert_uint_eq(c->flags, row->chain[i].flags);
		if (row->chain[i].has_loss)
			ck_assert_uint_ne(c->loss, 0);
	}
	if (row->chains)
		ck_assert_uint_eq(fact_count(&all, FACT_CHAIN) + 1,
				  row->chains);
	if (row->copies)
		ck_assert_uint_eq(fact_count(&all, FACT_COPY) + 1, row->copies);
	facts_done(&all);
}
END_TEST

static const struct fact_session *across_session(const struct all_facts *all,
						 uint16_t source)
{
	for (size_t i = 0; fact_at(all, FACT_SESSION, i); i++)
		if (fact_at(all, FACT_SESSION, i)->session.source == source)
			return &fact_at(all, FACT_SESSION, i)->session;
	ck_abort_msg("no session");
}

START_TEST(a_chain_of_another_capture_completes_a_request)
{
	struct all_facts all =
		across_play("10 sample 1/5; b: 30 chain 1/5", true);

	const struct fact_request *r = facts_request_of(&all, 1);
	const struct fact_chain *c = facts_chain_of(&all, 1);

	ck_assert_int_eq(r->verdict, REQ_MATCHED);
	ck_assert_uint_eq(r->flags, VERDICT_OTHER_CAPTURE);
	ck_assert_uint_ne(r->chain, 0);
	ck_assert_int_eq(r->latency, 20);
	/* perf would have shown the first file without it */
	ck_assert_int_eq(r->as_perf, AS_PERF_BARE_END);
	ck_assert_uint_eq(c->source, 1);
	ck_assert_int_eq(c->verdict, CHAIN_USED);
	ck_assert_uint_eq(c->flags, VERDICT_OTHER_CAPTURE);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 0);
	ck_assert_uint_eq(across_session(&all, 0)->no_chain, 0);
	ck_assert_uint_eq(across_session(&all, 1)->no_sample, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_that_two_captures_recorded_is_stored_once)
{
	struct all_facts all = across_play(
		"10 sample 1/5; b: 30 chain 1/5; 31 chain 1/5; b: 40 sample 1/5",
		true);

	const struct fact_request *r = facts_request_of(&all, 1);
	const struct fact_chain *chain = facts_chain_of(&all, 1);

	ck_assert_int_eq(r->verdict, REQ_MATCHED);
	ck_assert_uint_eq(r->flags, 0);
	ck_assert_int_eq(r->latency, 20);
	ck_assert_int_eq(r->as_perf, AS_PERF_MERGED);
	ck_assert_int_eq(r->held, 21);
	ck_assert_uint_eq(r->as_tid, 1);
	r = facts_request_of(&all, 2);
	ck_assert_int_eq(r->verdict, REQ_MATCHED);
	ck_assert_uint_eq(r->flags, VERDICT_AFTER);
	ck_assert_uint_eq(fact_count(&all, FACT_CHAIN), 1);
	ck_assert_uint_eq(chain->source, 1);
	ck_assert_int_eq(chain->verdict, CHAIN_USED);
	ck_assert_uint_eq(chain->flags, 0);
	ck_assert_uint_eq(chain->n_events, 2);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1);
	const struct fact_copy *c = &fact_at(&all, FACT_COPY, 0)->copy;

	ck_assert_uint_eq(c->chain, 1);
	ck_assert_uint_eq(c->source, 0);
	ck_assert_int_eq(c->time, 31);
	facts_done(&all);
}
END_TEST

/* The clocks are apart: all records of b come behind those of a. */
START_TEST(a_copy_may_come_many_cookies_later)
{
	struct fake *a = fake_new(), *b = fake_new();
	struct fake *f[] = { a, b };

	for (uint64_t i = 1; i <= 1000; i++) {
		fake_sample(a, 10 * i, 1, i);
		fake_chain(a, 10 * i + 5, 1, i);
		fake_chain(b, 10 * i + 5000, 1, i);
		fake_sample(b, 10 * i + 5001, 1, i);
	}
	struct all_facts all = stitch_line(f, 2, true);
	ck_assert_uint_eq(fact_count(&all, FACT_CHAIN), 1000);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1000);
	for (size_t i = 0; fact_at(&all, FACT_CHAIN, i); i++) {
		const struct fact *one = fact_at(&all, FACT_CHAIN, i);

		must(one->chain.verdict == CHAIN_USED);
		must(one->chain.n_events == 2 && !one->chain.flags);
	}
	facts_done(&all);
}
END_TEST

/* ---- the join by itself, with one thread that both captures have */

struct across_join {
	struct fact_queue q;
	struct losses *ls;
	struct join *jn;
	struct join_task view[2];
	uint32_t events, chains;
	struct fact_request r[8];
	struct fact_chain c[8];
};

static struct across_join rg;

static void across_join_begin(const struct source_info *x,
			      const struct source_info *y)
{
	memset(&rg, 0, sizeof(rg));
	rg.ls = losses_new();
	rg.jn = join_new(&rg.q, rg.ls, NULL);
	join_together(rg.jn, 1, 0);
	join_source(rg.jn, 0, x);
	join_source(rg.jn, 1, y);
}

/* A record "TIME sample COOKIE", "TIME chain COOKIE", "TIME exec", or a loss
 * "T0 lost T1", which has the id 7. */
static void across_join_step(uint16_t source, const struct script_line *l)
{
	const char *kind = l->word[1];
	int64_t time = (int64_t)script_number(l, 0);
	uint64_t n = l->n > 2 ? script_number(l, 2) : 0;

	if (!strcmp(kind, "sample")) {
		const struct join_sample sample = { .event = ++rg.events,
						    .source = source,
						    .tid = 1,
						    .thread = 1,
						    .time = time,
						    .cookie = n };

		join_sample(rg.jn,
			    join_task_of(rg.jn, source, 1, &rg.view[source]),
			    &sample);
	} else if (!strcmp(kind, "chain")) {
		const struct join_chain chain = { .id = ++rg.chains,
						  .source = source,
						  .tid = 1,
						  .thread = 1,
						  .time = time,
						  .cookie = n,
						  .uraw = (uint32_t)n,
						  .asked_cpu = -1 };

		join_chain(rg.jn,
			   join_task_of(rg.jn, source, 1, &rg.view[source]),
			   &chain);
	} else if (!strcmp(kind, "lost")) {
		const struct loss loss = { 7, 0, time, (int64_t)n };

		losses_add(rg.ls, source, &loss);
	} else {
		ck_assert_str_eq(kind, "exec");
		join_task_exec(&rg.view[source], time);
	}
}

static void across_join_play(const char *steps)
{
	struct script_line l;
	uint16_t source;

	while (script_next(&steps, &l, &source))
		across_join_step(source, &l);
}

static void across_join_end(enum join_reason why, int64_t end)
{
	struct fact f;

	join_retire(rg.jn, &rg.view[0], JOIN_CAPTURE, TIME_NONE);
	join_retire(rg.jn, &rg.view[1], why, end);
	join_end(rg.jn);
	while (fact_queue_take(&rg.q, &f)) {
		if (f.kind == FACT_REQUEST)
			rg.r[f.request.event] = f.request;
		else if (f.kind == FACT_CHAIN)
			rg.c[f.chain.id] = f.chain;
	}
	join_free(rg.jn);
	losses_free(rg.ls);
	fact_queue_release(&rg.q);
}

static const struct source_info across_whole = {
	.has_time = true,
	.system_wide = TRI_YES,
	.last_ns = 1000,
};

START_TEST(a_newer_cookie_in_another_capture_closes_one)
{
	across_join_begin(&across_whole, &across_whole);
	across_join_play(
		"10 sample 5; b: 50 sample 6; b: 60 chain 6; 61 chain 6");
	across_join_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_UNEXPLAINED);
	ck_assert_int_eq(rg.r[1].end, END_COOKIE);
	ck_assert_int_eq(rg.r[1].until, 50);
}
END_TEST

START_TEST(the_exit_that_another_capture_saw_closes_one)
{
	across_join_begin(&across_whole, &across_whole);
	across_join_play("b: 5 chain 4; 6 chain 4; 10 sample 5");
	across_join_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].end, END_EXIT);
	ck_assert_int_eq(rg.r[1].until, 70 + 2000000);
}
END_TEST

START_TEST(what_was_due_after_the_own_end_is_pending)
{
	struct source_info less = across_whole;

	less.last_ns = 40;
	across_join_begin(&less, &across_whole);
	across_join_play("5 chain 4; 10 sample 5; b: 60 chain 6");
	across_join_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].verdict, REQ_PENDING_END);
	ck_assert_int_eq(rg.r[1].end, END_CAPTURE);
	ck_assert_int_eq(rg.r[1].until, 40);
}
END_TEST

START_TEST(who_records_no_chains_is_excused_by_who_does)
{
	struct source_info asks = across_whole;

	asks.cookies = COOKIES_FTRACE;
	across_join_begin(&asks, &across_whole);
	across_join_play(
		"b: 15 lost 20; b: 5 chain 4; 10 sample 5; b: 60 chain 6");
	across_join_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_CHAIN_LOST);
	ck_assert_uint_eq(rg.r[1].loss, 7);
}
END_TEST

START_TEST(who_records_chains_is_not_excused_by_others)
{
	across_join_begin(&across_whole, &across_whole);
	across_join_play("b: 15 lost 20; 4 chain 4; b: 5 chain 4; 10 sample 5;"
			 "b: 60 chain 6");
	across_join_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_UNEXPLAINED);
}
END_TEST

START_TEST(samples_of_one_cookie_have_the_verdict_of_their_capture)
{
	struct source_info some = across_whole;

	some.system_wide = TRI_NO;
	across_join_begin(&some, &across_whole);
	across_join_play("b: 15 lost 80; 4 chain 4; b: 5 chain 4; 10 sample 5;"
			 "b: 11 sample 5; 12 sample 5");
	across_join_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].verdict, REQ_EXIT_PER_TASK);
	ck_assert_int_eq(rg.r[2].verdict, REQ_CHAIN_LOST);
	ck_assert_int_eq(rg.r[3].verdict, REQ_EXIT_PER_TASK);
}
END_TEST

START_TEST(an_exec_that_another_capture_saw_is_between)
{
	across_join_begin(&across_whole, &across_whole);
	across_join_play("10 sample 5; b: 20 exec; b: 30 chain 5");
	across_join_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_uint_eq(rg.r[1].flags, VERDICT_EXEC | VERDICT_OTHER_CAPTURE);
	ck_assert_int_eq(rg.r[1].exec, 20);
}
END_TEST

START_TEST(totals_are_of_each_capture)
{
	struct cookie_totals sum[2];

	across_join_begin(&across_whole, &across_whole);
	across_join_play(
		"10 sample 5; b: 11 sample 5; b: 20 sample 6; 30 chain 7;"
		"b: 31 chain 7; b: 32 chain 8");
	for (uint16_t i = 0; i < 2; i++)
		join_retire(rg.jn, &rg.view[i], JOIN_CAPTURE, TIME_NONE);
	join_end(rg.jn);
	sum[0] = join_session(rg.jn, 0)->totals;
	sum[1] = join_session(rg.jn, 1)->totals;
	across_join_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_uint_eq(sum[0].no_chain, 1);
	ck_assert_uint_eq(sum[1].no_chain, 2);
	ck_assert_uint_eq(sum[0].no_sample, 1);
	ck_assert_uint_eq(sum[1].no_sample, 2);
	/* One thread that asked here proves no other session. */
	ck_assert_uint_eq(sum[0].foreign, 0);
	ck_assert_uint_eq(sum[1].foreign, 0);
}
END_TEST

START_TEST(a_line_has_so_many_captures_and_no_more)
{
	struct sessions ss = { 0 };

	for (uint16_t i = 1; i < LINE_MAX + 2; i++)
		sessions_together(&ss, i, 0);
	ck_assert_uint_eq(ss.at[LINE_MAX - 1]->line, 0);
	ck_assert_uint_eq(ss.at[LINE_MAX - 1]->bit,
			  (uint64_t)1 << (LINE_MAX - 1));
	ck_assert_uint_eq(ss.at[LINE_MAX]->line, LINE_MAX);
	ck_assert(session_is_alone(ss.at[LINE_MAX]));
	sessions_release(&ss);
}
END_TEST

/* ---- counters */

/* A cookie of thread 1 on CPU 0, and its chain. */
static void across_count(struct fake *f, uint64_t time, uint32_t count)
{
	uint64_t cookie = (uint64_t)count << 32 | 1;

	fake_sample(f, time, 1, cookie);
	fake_chain(f, time + 1, 1, cookie);
}

START_TEST(a_counter_that_another_capture_has_is_not_missing)
{
	struct fake *f[] = { fake_new(), fake_new() };

	for (uint32_t i = 0; i < 10; i++)
		across_count(f[i % 2], 10 * i, 2 * i + 1);
	struct all_facts all = stitch_line(f, 2, true);
	ck_assert_uint_eq(fact_count(&all, FACT_GAP), 0);
	ck_assert_uint_eq(fact_count(&all, FACT_COUNTER), 1);
	ck_assert_uint_eq(fact_at(&all, FACT_COUNTER, 0)->counter.seen, 10);
	ck_assert_uint_eq(across_session(&all, 0)->missing, 0);
	ck_assert_ptr_null(across_session(&all, 0)->reason);
	ck_assert_ptr_nonnull(across_session(&all, 1)->reason);
	facts_done(&all);
}
END_TEST

START_TEST(a_counter_that_nobody_has_is_missing_once)
{
	struct fake *f[] = { fake_new(), fake_new() };

	f[0]->src.info.system_wide = TRI_NO;
	for (uint32_t i = 0; i < 10; i++) {
		if (i == 5)
			continue;
		across_count(f[0], 10 * i, 2 * i + 1);
		fake_chain(f[1], 10 * i + 2, 1,
			   (uint64_t)(2 * i + 1) << 32 | 1);
	}
	struct all_facts all = stitch_line(f, 2, true);
	ck_assert_uint_eq(fact_count(&all, FACT_GAP), 1);
	const struct fact_gap *g = &fact_at(&all, FACT_GAP, 0)->gap;

	ck_assert_uint_eq(g->source, 1);
	ck_assert_uint_eq(g->n, 1);
	ck_assert_int_eq(g->verdict, GAP_UNCOUNTED);
	ck_assert_uint_eq(across_session(&all, 1)->missing, 1);
	ck_assert_uint_eq(across_session(&all, 0)->missing, 0);
	facts_done(&all);
}
END_TEST

/* What b lost may have been the first sample of 5, too. */
START_TEST(a_loss_of_the_other_capture_explains_a_gap)
{
	struct all_facts all = across_play(
		"5 sample 1/1@0; 6 chain 1/1@0;"
		"10 sample 1/3@0; 11 chain 1/3@0; b: 12 chain 1/3@0; b: 15 lost 0;"
		"20 sample 1/5@0; 21 chain 1/5@0; 30 sample 1/9@0; 31 chain 1/9@0",
		true);

	ck_assert_uint_eq(fact_count(&all, FACT_GAP), 1);
	const struct fact_gap *g = &fact_at(&all, FACT_GAP, 0)->gap;

	ck_assert_int_eq(g->verdict, GAP_LOST);
	ck_assert_uint_ne(g->loss, 0);
	ck_assert_int_eq(g->t0, 10);
	ck_assert_int_eq(g->t1, 30);
	facts_done(&all);
}
END_TEST

START_TEST(a_counter_before_the_witness_began_proves_nothing)
{
	struct all_facts all = across_play(
		"per_task; 10 sample 1/1@0; 11 chain 1/1@0; 20 sample 1/5@0;"
		"21 chain 1/5@0; b: 50 chain 1/7@0; b: 49 sample 1/7@0",
		true);

	ck_assert_uint_eq(fact_count(&all, FACT_GAP), 1);
	ck_assert_int_eq(fact_at(&all, FACT_GAP, 0)->gap.verdict, GAP_FOREIGN);
	facts_done(&all);
}
END_TEST

/* perf lists what a process has mapped after ftrace has begun: its stacks
 * before are resolved by that at the end, back to its last exec, but marked. */
START_TEST(a_list_made_later_names_earlier_stacks_since_the_exec)
{
	static const struct {
		uint64_t time;
		enum image_kind kind;
		uint32_t flags;
	} want[] = { { 10, IMAGE_UNKNOWN_USER, 0 },
		     { 30, IMAGE_FILE, FRAME_UNCERTAIN },
		     { 120, IMAGE_FILE, 0 } };
	struct fake *f[] = { NULL, NULL };
	const struct clock_map same = { 0 };
	const struct fact *fact;
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	size_t n = script_play(f, "- name 5; - map 5 code; 100 name 9;"
				  "b: 10 hit 5 code; b: 20 exec 5;"
				  "b: 30 hit 5 code; b: 120 hit 5 code");
	const struct stitch_opts opts = { .unwinder = NULL };
	uint32_t raw[3] = { 0 }, process = 0;
	struct err err;

	f[0]->src.info.first_ns = 100;
	f[0]->src.info.last_ns = 100;
	for (size_t i = 0; i < n; i++)
		order_add(ord, &f[i]->src);
	order_align(ord, 0, &same);
	struct stitch *st = stitch_new(ord, fr, lg, &opts);

	for (uint16_t i = 0; i < n; i++)
		stitch_together(st, i, 0);
	while (next_fact(st, &fact, &err) > 0) {
		for (size_t i = 0; i < 3 && fact->kind == FACT_EVENT; i++)
			if (fact->event.time == (int64_t)want[i].time)
				raw[i] = fact->event.uraw;
		if (fact->kind == FACT_PROCESS && fact->process.pid == 5)
			process = fact->process.id;
	}
	struct late_maps *late = stitch_late_maps(st);

	late_maps_sort(late);
	ck_assert_uint_eq(late->n, 1);
	ck_assert_int_eq(late->map[0].from, 20);
	/* the second time it is known */
	for (size_t k = 0; k < 6; k++) {
		const size_t i = k % 3;
		uint32_t now = late_maps_again(late, fr, process,
					       (int64_t)want[i].time,
					       UINT64_MAX, raw[i]);
		const struct frame *at = frames_get_frame(
			fr, frames_get_stack(fr, frames_get_raw(fr, now)->stack)
				    ->frame);

		ck_assert_int_eq(frames_get_image(fr, at->image)->kind,
				 want[i].kind);
		ck_assert_uint_eq(at->flags & FRAME_UNCERTAIN, want[i].flags);
	}
	stitch_free(st);
	order_free(ord);
	frames_free(fr);
	ledger_free(lg);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(across_row_holds,
						     across_rows) };

RUN_TABLES("across", tables, a_chain_of_another_capture_completes_a_request,
	   a_chain_that_two_captures_recorded_is_stored_once,
	   a_copy_may_come_many_cookies_later,
	   a_newer_cookie_in_another_capture_closes_one,
	   the_exit_that_another_capture_saw_closes_one,
	   what_was_due_after_the_own_end_is_pending,
	   who_records_no_chains_is_excused_by_who_does,
	   who_records_chains_is_not_excused_by_others,
	   samples_of_one_cookie_have_the_verdict_of_their_capture,
	   an_exec_that_another_capture_saw_is_between,
	   totals_are_of_each_capture, a_line_has_so_many_captures_and_no_more,
	   a_counter_that_another_capture_has_is_not_missing,
	   a_counter_that_nobody_has_is_missing_once,
	   a_loss_of_the_other_capture_explains_a_gap,
	   a_counter_before_the_witness_began_proves_nothing,
	   a_list_made_later_names_earlier_stacks_since_the_exec)
