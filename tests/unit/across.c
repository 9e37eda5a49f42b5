/* across.c - joins across captures of one kernel: sessions.h,
 * stitch/join/shared_threads.h, and what join.c, missing_reason.c and
 * counters.c make of them. */
#include "stitch/join/join.h"

#include "stitch/audit/counters.h"
#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "stitch/join/sessions.h"
#include "tests/unit/run.h"
#include "tests/unit/facts.h"

/* Two captures of one kernel. */
static struct fake *a, *b;

static void begin(void)
{
	a = fake_new();
	b = fake_new();
}

static struct all_facts together(void)
{
	struct fake *f[] = { a, b };

	return stitch_line(f, 2, true);
}

static void expect(const struct all_facts *all, uint32_t event,
		   enum request_verdict verdict, uint32_t flags)
{
	const struct fact_request *r = request_of(all, event);

	ck_assert_str_eq(request_verdict_name(r->verdict),
			 request_verdict_name(verdict));
	ck_assert_uint_eq(r->flags, flags);
	ck_assert_int_eq(r->chain != 0, verdict == REQ_MATCHED);
}

static void expect_chain(const struct all_facts *all, uint32_t id,
			 uint16_t source, enum chain_verdict verdict,
			 uint32_t flags)
{
	const struct fact_chain *c = chain_of(all, id);

	ck_assert_uint_eq(c->source, source);
	ck_assert_str_eq(chain_verdict_name(c->verdict),
			 chain_verdict_name(verdict));
	ck_assert_uint_eq(c->flags, flags);
}

static const struct fact_session *session(const struct all_facts *all,
					  uint16_t source)
{
	for (size_t i = 0; fact_at(all, FACT_SESSION, i); i++)
		if (fact_at(all, FACT_SESSION, i)->session.source == source)
			return &fact_at(all, FACT_SESSION, i)->session;
	ck_abort_msg("no session");
}

START_TEST(a_chain_of_another_capture_completes_a_request)
{
	begin();
	fake_sample(a, 10, 1, 5);
	fake_chain(b, 30, 1, 5);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, VERDICT_OTHER_CAPTURE);
	ck_assert_int_eq(request_of(&all, 1)->latency, 20);
	/* perf would have shown the first file without it */
	ck_assert_int_eq(request_of(&all, 1)->as_perf, AS_PERF_BARE_END);
	expect_chain(&all, 1, 1, CHAIN_USED, VERDICT_OTHER_CAPTURE);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 0);
	ck_assert_uint_eq(session(&all, 0)->no_chain, 0);
	ck_assert_uint_eq(session(&all, 1)->no_sample, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_that_two_captures_recorded_is_stored_once)
{
	begin();
	fake_sample(a, 10, 1, 5);
	fake_chain(b, 30, 1, 5);
	fake_chain(a, 31, 1, 5);
	fake_sample(b, 40, 1, 5);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, 0);
	expect(&all, 2, REQ_MATCHED, VERDICT_AFTER);
	ck_assert_int_eq(request_of(&all, 1)->latency, 20);
	ck_assert_int_eq(request_of(&all, 1)->as_perf, AS_PERF_MERGED);
	ck_assert_int_eq(request_of(&all, 1)->held, 21);
	ck_assert_uint_eq(request_of(&all, 1)->as_tid, 1);
	ck_assert_uint_eq(fact_count(&all, FACT_CHAIN), 1);
	expect_chain(&all, 1, 1, CHAIN_USED, 0);
	ck_assert_uint_eq(chain_of(&all, 1)->n_events, 2);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1);
	const struct fact_copy *c = &fact_at(&all, FACT_COPY, 0)->copy;

	ck_assert_uint_eq(c->chain, 1);
	ck_assert_uint_eq(c->source, 0);
	ck_assert_int_eq(c->time, 31);
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_after_the_copies_needs_no_other_capture)
{
	begin();
	fake_chain(a, 10, 1, 5);
	fake_chain(b, 11, 1, 5);
	fake_sample(b, 20, 1, 5);
	fake_sample(a, 21, 1, 5);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, VERDICT_AFTER);
	expect(&all, 2, REQ_MATCHED, VERDICT_AFTER);
	facts_done(&all);
}
END_TEST

START_TEST(other_addresses_are_a_conflict)
{
	begin();
	fake_sample(a, 10, 1, 5);
	fake_chain(a, 30, 1, 5);
	fake_chain(b, 31, 1, 5)->ip[1]++;
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, 0);
	expect_chain(&all, 1, 0, CHAIN_USED, 0);
	expect_chain(&all, 2, 1, CHAIN_DUPLICATE, VERDICT_CONFLICT);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_twice_in_one_capture_is_a_duplicate_all_the_same)
{
	begin();
	fake_sample(a, 10, 1, 5);
	fake_chain(a, 30, 1, 5);
	fake_chain(b, 31, 1, 5);
	fake_chain(b, 32, 1, 5);
	struct all_facts all = together();
	expect_chain(&all, 1, 0, CHAIN_USED, 0);
	expect_chain(&all, 2, 1, CHAIN_DUPLICATE, 0);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1);
	facts_done(&all);
}
END_TEST

/* The addresses are the same; one capture does not know what they are. */
START_TEST(a_copy_may_look_different)
{
	begin();
	fake_map(a, 1, 1, 0x1000, 0x2000, "/bin/prog");
	fake_sample(a, 10, 1, 5);
	fake_chain(a, 30, 1, 5);
	fake_chain(b, 31, 1, 5);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, 0);
	ck_assert_uint_eq(fact_count(&all, FACT_CHAIN), 1);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1);
	facts_done(&all);
}
END_TEST

START_TEST(captures_that_are_not_together_share_nothing)
{
	begin();
	fake_sample(a, 10, 1, 5);
	fake_chain(a, 30, 1, 5);
	fake_chain(b, 31, 1, 5);
	struct fake *f[] = { a, b };
	struct all_facts all = stitch_line(f, 2, false);
	expect_chain(&all, 1, 0, CHAIN_USED, 0);
	expect_chain(&all, 2, 1, CHAIN_FOREIGN, 0);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 0);
	facts_done(&all);
}
END_TEST

/* Clocks that are apart: the records of one capture come in a body. */
START_TEST(a_copy_may_come_many_cookies_later)
{
	begin();
	for (uint64_t i = 1; i <= 1000; i++) {
		fake_sample(a, 10 * i, 1, i);
		fake_chain(a, 10 * i + 5, 1, i);
		fake_chain(b, 10 * i + 5000, 1, i);
		fake_sample(b, 10 * i + 5001, 1, i);
	}
	struct all_facts all = together();
	ck_assert_uint_eq(fact_count(&all, FACT_CHAIN), 1000);
	ck_assert_uint_eq(fact_count(&all, FACT_COPY), 1000);
	for (size_t i = 0; fact_at(&all, FACT_CHAIN, i); i++) {
		const struct fact *f = fact_at(&all, FACT_CHAIN, i);

		must(f->chain.verdict == CHAIN_USED);
		must(f->chain.n_events == 2 && !f->chain.flags);
	}
	facts_done(&all);
}
END_TEST

START_TEST(an_exit_in_a_per_task_session_is_completed_by_another)
{
	begin();
	a->src.info.system_wide = TRI_NO;
	fake_sample(a, 10, 1, 5);
	fake_exit(a, 20, 1);
	fake_exit(b, 20, 1);
	fake_chain(b, 21, 1, 5);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, VERDICT_OTHER_CAPTURE);
	expect_chain(&all, 1, 1, CHAIN_USED,
		     VERDICT_AFTER_EXIT | VERDICT_OTHER_CAPTURE);
	facts_done(&all);
}
END_TEST

START_TEST(a_lost_sample_of_another_capture_explains_a_chain)
{
	begin();
	fake_sample(a, 5, 2, 7);
	fake_chain(a, 6, 2, 7);
	fake_sample(b, 7, 3, 9);
	fake_lost(b, 20, 0, 3);
	fake_chain(b, 21, 3, 9);
	fake_chain(a, 22, 1, 5);
	struct all_facts all = together();
	expect_chain(&all, 3, 0, CHAIN_SAMPLE_LOST, 0);
	ck_assert_uint_ne(chain_of(&all, 3)->loss, 0);
	facts_done(&all);
}
END_TEST

/* ftrace asks, LTTng has the stacks: the process logged its own. */
START_TEST(a_stack_that_was_logged_elsewhere_answers_a_nonce)
{
	begin();
	a->src.info.cookies = COOKIES_FTRACE;
	b->src.info.cookies = COOKIES_LTTNG;
	struct fake_rec *fr = fake_sample(a, 10, 1, 5);

	fr->rec.flags = REC_F_NONCE;
	fr->rec.sample.asked = -1;
	fake_chain(b, 30, 1, 5)->rec.flags = REC_F_NONCE;
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, VERDICT_OTHER_CAPTURE | VERDICT_NONCE);
	expect_chain(&all, 1, 1, CHAIN_USED,
		     VERDICT_OTHER_CAPTURE | VERDICT_NONCE);
	facts_done(&all);
}
END_TEST

/* ---- the join by itself, with one thread that both captures know */

struct rig {
	struct fact_queue q;
	struct losses *ls;
	struct join *jn;
	struct join_task view[2];
	uint32_t events, chains;
	struct fact_request r[8];
	struct fact_chain c[8];
};

static struct rig rg;

static void rig_begin(const struct source_info *x, const struct source_info *y)
{
	memset(&rg, 0, sizeof(rg));
	rg.ls = losses_new();
	rg.jn = join_new(&rg.q, rg.ls, NULL);
	join_together(rg.jn, 1, 0);
	join_source(rg.jn, 0, x);
	join_source(rg.jn, 1, y);
}

static void rig_sample(uint16_t source, int64_t time, uint64_t cookie)
{
	const struct join_sample s = { .event = ++rg.events,
				       .source = source,
				       .tid = 1,
				       .thread = 1,
				       .time = time,
				       .cookie = cookie };

	join_sample(rg.jn, join_task_of(rg.jn, source, 1, &rg.view[source]),
		    &s);
}

static void rig_chain(uint16_t source, int64_t time, uint64_t cookie)
{
	const struct join_chain c = { .id = ++rg.chains,
				      .source = source,
				      .tid = 1,
				      .thread = 1,
				      .time = time,
				      .cookie = cookie,
				      .uraw = (uint32_t)cookie,
				      .asked_cpu = -1 };

	join_chain(rg.jn, join_task_of(rg.jn, source, 1, &rg.view[source]), &c);
}

static void rig_lose(uint16_t source, uint32_t id, int64_t t0, int64_t t1)
{
	const struct loss l = { id, 0, t0, t1 };

	losses_add(rg.ls, source, &l);
}

static void rig_end(enum join_reason why, int64_t end)
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

static const struct source_info whole = {
	.has_time = true,
	.system_wide = TRI_YES,
	.last_ns = 1000,
};

START_TEST(a_newer_cookie_in_another_capture_closes_one)
{
	rig_begin(&whole, &whole);
	rig_sample(0, 10, 5);
	rig_sample(1, 50, 6);
	rig_chain(1, 60, 6);
	rig_chain(0, 61, 6);
	rig_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_UNEXPLAINED);
	ck_assert_int_eq(rg.r[1].end, END_COOKIE);
	ck_assert_int_eq(rg.r[1].until, 50);
}
END_TEST

START_TEST(the_exit_that_another_capture_saw_closes_one)
{
	rig_begin(&whole, &whole);
	rig_chain(1, 5, 4);
	rig_chain(0, 6, 4);
	rig_sample(0, 10, 5);
	rig_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].end, END_EXIT);
	ck_assert_int_eq(rg.r[1].until, 70 + 2000000);
}
END_TEST

START_TEST(what_was_due_after_the_own_end_is_pending)
{
	struct source_info less = whole;

	less.last_ns = 40;
	rig_begin(&less, &whole);
	rig_chain(0, 5, 4);
	rig_sample(0, 10, 5);
	rig_chain(1, 60, 6);
	rig_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].verdict, REQ_PENDING_END);
	ck_assert_int_eq(rg.r[1].end, END_CAPTURE);
	ck_assert_int_eq(rg.r[1].until, 40);
}
END_TEST

START_TEST(who_records_no_chains_is_excused_by_who_does)
{
	struct source_info asks = whole;

	asks.cookies = COOKIES_FTRACE;
	rig_begin(&asks, &whole);
	rig_lose(1, 7, 15, 20);
	rig_chain(1, 5, 4);
	rig_sample(0, 10, 5);
	rig_chain(1, 60, 6);
	rig_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_CHAIN_LOST);
	ck_assert_uint_eq(rg.r[1].loss, 7);
}
END_TEST

START_TEST(who_records_chains_is_not_excused_by_others)
{
	rig_begin(&whole, &whole);
	rig_lose(1, 7, 15, 20);
	rig_chain(0, 4, 4);
	rig_chain(1, 5, 4);
	rig_sample(0, 10, 5);
	rig_chain(1, 60, 6);
	rig_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_int_eq(rg.r[1].verdict, REQ_UNEXPLAINED);
}
END_TEST

START_TEST(samples_of_one_cookie_have_the_verdict_of_their_capture)
{
	struct source_info some = whole;

	some.system_wide = TRI_NO;
	rig_begin(&some, &whole);
	rig_lose(1, 7, 15, 80);
	rig_chain(0, 4, 4);
	rig_chain(1, 5, 4);
	rig_sample(0, 10, 5);
	rig_sample(1, 11, 5);
	rig_sample(0, 12, 5);
	rig_end(JOIN_EXIT, 70);
	ck_assert_int_eq(rg.r[1].verdict, REQ_EXIT_PER_TASK);
	ck_assert_int_eq(rg.r[2].verdict, REQ_CHAIN_LOST);
	ck_assert_int_eq(rg.r[3].verdict, REQ_EXIT_PER_TASK);
}
END_TEST

START_TEST(an_exec_that_another_capture_saw_is_between)
{
	rig_begin(&whole, &whole);
	rig_sample(0, 10, 5);
	join_task_exec(&rg.view[1], 20);
	rig_chain(1, 30, 5);
	rig_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_uint_eq(rg.r[1].flags, VERDICT_EXEC | VERDICT_OTHER_CAPTURE);
	ck_assert_int_eq(rg.r[1].exec, 20);
}
END_TEST

START_TEST(totals_are_of_each_capture)
{
	struct cookie_totals sum[2];

	rig_begin(&whole, &whole);
	rig_sample(0, 10, 5);
	rig_sample(1, 11, 5);
	rig_sample(1, 20, 6);
	rig_chain(0, 30, 7);
	rig_chain(1, 31, 7);
	rig_chain(1, 32, 8);
	for (uint16_t i = 0; i < 2; i++)
		join_retire(rg.jn, &rg.view[i], JOIN_CAPTURE, TIME_NONE);
	join_end(rg.jn);
	join_totals(rg.jn, 0, &sum[0]);
	join_totals(rg.jn, 1, &sum[1]);
	rig_end(JOIN_CAPTURE, TIME_NONE);
	ck_assert_uint_eq(sum[0].no_chain, 1);
	ck_assert_uint_eq(sum[1].no_chain, 2);
	ck_assert_uint_eq(sum[0].no_sample, 1);
	ck_assert_uint_eq(sum[1].no_sample, 2);
	ck_assert_uint_eq(sum[0].foreign, 1);
	ck_assert_uint_eq(sum[1].foreign, 2);
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

static struct fake_rec *asked(struct fake *f, uint64_t time, int32_t on,
			      int32_t cpu, uint32_t count)
{
	struct fake_rec *fr = fake_sample(
		f, time, 1, (uint64_t)count << 32 | (uint32_t)(cpu + 1));

	fr->rec.cpu = on;
	return fr;
}

static void told(struct fake *f, uint64_t time, int32_t cpu, uint32_t count)
{
	fake_chain(f, time, 1, (uint64_t)count << 32 | (uint32_t)(cpu + 1));
}

static size_t n_gaps(const struct all_facts *all)
{
	return fact_count(all, FACT_GAP);
}

START_TEST(a_counter_that_another_capture_has_is_not_missing)
{
	begin();
	for (uint32_t i = 0; i < 10; i++) {
		asked(i % 2 ? b : a, 10 * i, 0, 0, 2 * i + 1);
		told(i % 2 ? b : a, 10 * i + 1, 0, 2 * i + 1);
	}
	struct all_facts all = together();
	ck_assert_uint_eq(n_gaps(&all), 0);
	ck_assert_uint_eq(fact_count(&all, FACT_COUNTER), 1);
	ck_assert_uint_eq(fact_at(&all, FACT_COUNTER, 0)->counter.seen, 10);
	ck_assert_uint_eq(session(&all, 0)->missing, 0);
	ck_assert_ptr_null(session(&all, 0)->reason);
	ck_assert_ptr_nonnull(session(&all, 1)->reason);
	facts_done(&all);
}
END_TEST

START_TEST(a_counter_that_nobody_has_is_missing_once)
{
	begin();
	a->src.info.system_wide = TRI_NO;
	for (uint32_t i = 0; i < 10; i++) {
		if (i == 5)
			continue;
		asked(a, 10 * i, 0, 0, 2 * i + 1);
		told(a, 10 * i + 1, 0, 2 * i + 1);
		told(b, 10 * i + 2, 0, 2 * i + 1);
	}
	struct all_facts all = together();
	ck_assert_uint_eq(n_gaps(&all), 1);
	const struct fact_gap *g = &fact_at(&all, FACT_GAP, 0)->gap;

	ck_assert_uint_eq(g->source, 1);
	ck_assert_uint_eq(g->n, 1);
	ck_assert_int_eq(g->verdict, GAP_UNCOUNTED);
	ck_assert_uint_eq(session(&all, 1)->missing, 1);
	ck_assert_uint_eq(session(&all, 0)->missing, 0);
	facts_done(&all);
}
END_TEST

/* What the other capture lost may have been the first sample of 5, too. */
START_TEST(a_loss_of_the_other_capture_explains_a_gap)
{
	begin();
	asked(a, 10, 0, 0, 3);
	told(a, 11, 0, 3);
	told(b, 12, 0, 3);
	fake_lost(b, 15, 0, 1);
	asked(a, 20, 0, 0, 5);
	told(a, 21, 0, 5);
	asked(a, 30, 0, 0, 9);
	told(a, 31, 0, 9);
	struct all_facts all = together();
	ck_assert_uint_eq(n_gaps(&all), 1);
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
	begin();
	a->src.info.system_wide = TRI_NO;
	asked(a, 10, 0, 0, 1);
	told(a, 11, 0, 1);
	asked(a, 20, 0, 0, 5);
	told(a, 21, 0, 5);
	told(b, 50, 0, 7);
	asked(b, 49, 0, 0, 7);
	struct all_facts all = together();
	ck_assert_uint_eq(n_gaps(&all), 1);
	ck_assert_int_eq(fact_at(&all, FACT_GAP, 0)->gap.verdict, GAP_FOREIGN);
	facts_done(&all);
}
END_TEST

START_TEST(the_first_sample_may_be_in_another_capture)
{
	begin();
	asked(b, 10, 1, 1, 3);
	asked(a, 11, 0, 1, 3);
	told(a, 20, 1, 3);
	told(b, 21, 1, 3);
	struct all_facts all = together();
	expect(&all, 1, REQ_MATCHED, 0);
	expect(&all, 2, REQ_MATCHED, 0);
	facts_done(&all);
}
END_TEST

/* The clock of one is a little behind: its counters are not late for it. */
START_TEST(a_capture_is_late_by_its_own_counters_only)
{
	begin();
	asked(a, 10, 0, 0, 5);
	told(a, 11, 0, 5);
	asked(b, 12, 0, 0, 3);
	told(b, 13, 0, 3);
	asked(a, 20, 0, 0, 1);
	told(a, 21, 0, 1);
	struct all_facts all = together();
	expect(&all, 2, REQ_MATCHED, 0);
	expect(&all, 3, REQ_MATCHED, VERDICT_FIRST_LOST);
	facts_done(&all);
}
END_TEST

RUN("across", a_chain_of_another_capture_completes_a_request,
    a_chain_that_two_captures_recorded_is_stored_once,
    a_sample_after_the_copies_needs_no_other_capture,
    other_addresses_are_a_conflict,
    a_chain_twice_in_one_capture_is_a_duplicate_all_the_same,
    a_copy_may_look_different, captures_that_are_not_together_share_nothing,
    a_copy_may_come_many_cookies_later,
    an_exit_in_a_per_task_session_is_completed_by_another,
    a_lost_sample_of_another_capture_explains_a_chain,
    a_stack_that_was_logged_elsewhere_answers_a_nonce,
    a_newer_cookie_in_another_capture_closes_one,
    the_exit_that_another_capture_saw_closes_one,
    what_was_due_after_the_own_end_is_pending,
    who_records_no_chains_is_excused_by_who_does,
    who_records_chains_is_not_excused_by_others,
    samples_of_one_cookie_have_the_verdict_of_their_capture,
    an_exec_that_another_capture_saw_is_between, totals_are_of_each_capture,
    a_line_has_so_many_captures_and_no_more,
    a_counter_that_another_capture_has_is_not_missing,
    a_counter_that_nobody_has_is_missing_once,
    a_loss_of_the_other_capture_explains_a_gap,
    a_counter_before_the_witness_began_proves_nothing,
    the_first_sample_may_be_in_another_capture,
    a_capture_is_late_by_its_own_counters_only)
