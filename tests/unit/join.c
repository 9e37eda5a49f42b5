/* join.c - the rules of the deferred join and the ways it can fail, each as a
 * small capture: backstitch-formats(5), "Deferred stacks: join rules" and
 * "Failure modes". */
#include "stitch/join/sessions.h"
#include "stitch/join/join.h"

#include "stitch/audit/counters.h"
#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "tests/unit/run.h"
#include "tests/unit/facts.h"

static struct all_facts run(struct fake *f)
{
	return stitch_all(&f, 1);
}

/* A joined pair elsewhere: the capture has chains at all. */
static void normal_pair(struct fake *f, uint64_t time)
{
	fake_sample(f, time, 999, 999);
	fake_chain(f, time + 1, 999, 999);
}

static void expect(const struct all_facts *all, uint32_t event,
		   enum request_verdict verdict, enum confidence conf,
		   uint32_t flags)
{
	const struct fact_request *r = request_of(all, event);

	ck_assert_str_eq(request_verdict_name(r->verdict),
			 request_verdict_name(verdict));
	ck_assert_int_eq(r->confidence, conf);
	ck_assert_uint_eq(r->flags, flags);
	ck_assert_int_eq(r->chain != 0, verdict == REQ_MATCHED);
	ck_assert_int_eq(r->uraw != 0, verdict == REQ_MATCHED);
}

static void expect_chain(const struct all_facts *all, uint32_t id,
			 enum chain_verdict verdict, uint32_t n_events,
			 uint32_t flags)
{
	const struct fact_chain *c = chain_of(all, id);

	ck_assert_str_eq(chain_verdict_name(c->verdict),
			 chain_verdict_name(verdict));
	ck_assert_uint_eq(c->n_events, n_events);
	ck_assert_uint_eq(c->flags, flags);
}

START_TEST(a_chain_joins_the_sample_before_it)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_chain(f, 30, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, 0);
	ck_assert_int_eq(request_of(&all, 1)->latency, 20);
	expect_chain(&all, 1, CHAIN_USED, 1, 0);
	facts_done(&all);
}
END_TEST

START_TEST(many_samples_share_one_chain)
{
	struct fake *f = fake_new();

	for (uint64_t i = 0; i < 64; i++)
		fake_sample(f, 10 + i, 1, 5);
	fake_chain(f, 100, 1, 5);
	struct all_facts all = run(f);
	for (uint32_t i = 1; i <= 64; i++)
		expect(&all, i, REQ_MATCHED, CONF_PROVED, 0);
	expect_chain(&all, 1, CHAIN_USED, 64, 0);
	facts_done(&all);
}
END_TEST

START_TEST(user_stack_before_its_sample_still_joins)
{
	struct fake *f = fake_new();

	fake_chain(f, 10, 1, 5);
	fake_sample(f, 15, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, VERDICT_AFTER);
	ck_assert_int_eq(request_of(&all, 1)->latency, -5);
	expect_chain(&all, 1, CHAIN_USED, 1, 0);
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
	fake_sample(f, 100, 1, 1);
	struct all_facts all = run(f);
	expect(&all, JOIN_RECENT + 1, REQ_MATCHED, CONF_PROVED, VERDICT_AFTER);
	expect_chain(&all, 1, CHAIN_USED, 2, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_after_exit_joins)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	fake_chain(f, 21, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, 0);
	expect_chain(&all, 1, CHAIN_USED, 1, VERDICT_AFTER_EXIT);
	ck_assert_uint_eq(fact_count(&all, FACT_THREAD), 1);
	facts_done(&all);
}
END_TEST

START_TEST(exec_between_is_flagged)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_comm(f, 15, 1, "new", true);
	fake_chain(f, 20, 1, 5);
	fake_sample(f, 30, 1, 6);
	fake_chain(f, 40, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, VERDICT_EXEC);
	expect(&all, 2, REQ_MATCHED, CONF_PROVED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_new_name_alone_is_no_exec)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_comm(f, 15, 1, "new", false);
	fake_chain(f, 20, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(exec_between_chain_and_late_sample_is_flagged)
{
	struct fake *f = fake_new();

	fake_chain(f, 10, 1, 5);
	fake_comm(f, 15, 1, "new", true);
	fake_sample(f, 20, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, VERDICT_AFTER | VERDICT_EXEC);
	facts_done(&all);
}
END_TEST

START_TEST(a_reused_tid_keeps_its_lives_apart)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	fake_fork(f, 30, 1, 999);
	fake_sample(f, 40, 1, 6);
	fake_chain(f, 50, 1, 6);
	struct all_facts all = run(f);
	/* System-wide, no loss: there is no reason for it. */
	expect(&all, 2, REQ_UNEXPLAINED, CONF_UNEXPLAINED, 0);
	expect(&all, 3, REQ_MATCHED, CONF_PROVED, VERDICT_REUSED_TID);
	expect_chain(&all, 2, CHAIN_USED, 1, VERDICT_REUSED_TID);
	ck_assert_uint_eq(fact_count(&all, FACT_THREAD), 3);
	facts_done(&all);
}
END_TEST

START_TEST(a_life_replaced_without_exit_did_not_exit)
{
	struct fake *f = fake_new();

	f->src.info.system_wide = TRI_NO;
	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_fork(f, 30, 1, 999);
	fake_sample(f, 40, 1, 6);
	fake_exit(f, 50, 1);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_UNEXPLAINED, CONF_UNEXPLAINED, 0);
	expect(&all, 3, REQ_EXIT_PER_TASK, CONF_EXPLAINED, VERDICT_REUSED_TID);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_lost_on_another_cpu_is_explained)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 5, 2, 4)->rec.cpu = 3;
	fake_chain(f, 6, 2, 4)->rec.cpu = 3;
	fake_sample(f, 10, 1, 5);
	fake_lost(f, 15, 3, 100);
	fake_sample(f, 20, 1, 6);
	fake_chain(f, 25, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 3, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	expect(&all, 4, REQ_MATCHED, CONF_PROVED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_loss_told_of_much_later_still_explains)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	for (uint64_t c = 6; c < 200; c++) {
		fake_sample(f, 10 * c, 1, c);
		fake_chain(f, 10 * c + 5, 1, c);
	}
	/* Nothing came from that CPU before: lost from the start. */
	fake_lost(f, 5000, 3, 100);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_loss_elsewhere_in_time_explains_nothing)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 3, 7, 3)->rec.cpu = 3;
	fake_lost(f, 5, 3, 100);
	fake_sample(f, 10, 1, 5);
	fake_sample(f, 20, 1, 6);
	fake_chain(f, 25, 1, 6);
	fake_sample(f, 30, 2, 8)->rec.cpu = 3;
	fake_lost(f, 35, 3, 100);
	struct all_facts all = run(f);
	expect(&all, 3, REQ_UNEXPLAINED, CONF_UNEXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_loss_sorted_behind_its_follower_has_its_window)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	/* The record behind LOST has its time and a smaller class. */
	fake_lost(f, 20, 0, 9);
	fake_map(f, 20, 1, 0x1000, 0x1000, "/bin/a");
	fake_sample(f, 30, 1, 6);
	fake_chain(f, 40, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_loss_at_an_unknown_time_may_explain_all)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_sample(f, 20, 1, 6);
	fake_chain(f, 25, 1, 6);
	fake_lost(f, UINT64_MAX, -1, 3);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(what_is_open_at_the_end_is_pending)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_PENDING_END, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(exit_in_a_per_task_session_explains)
{
	struct fake *f = fake_new();

	f->src.info.system_wide = TRI_NO;
	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_EXIT_PER_TASK, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(exit_in_a_system_wide_session_explains_nothing)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_UNEXPLAINED, CONF_UNEXPLAINED, 0);
	facts_done(&all);
}
END_TEST

/* The EXIT itself may be the last record that fitted into the ring. */
START_TEST(loss_right_after_the_exit_explains)
{
	struct fake *f = fake_new();

	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	fake_lost(f, 1000, 0, 3);
	fake_sample(f, 2000, 2, 7);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(exit_right_before_the_end_leaves_the_chain_pending)
{
	struct fake *f = fake_new();

	f->src.info.last_ns = 400000;
	normal_pair(f, 1);
	fake_sample(f, 10, 1, 5);
	fake_exit(f, 20, 1);
	struct all_facts all = run(f);
	expect(&all, 2, REQ_PENDING_END, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_marker_without_cookie_cannot_be_joined)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 0)->rec.sample.defer = DEFER_MARK;
	fake_chain(f, 20, 1, 5);
	fake_chain(f, 30, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_UNJOINABLE, CONF_EXPLAINED, 0);
	expect_chain(&all, 1, CHAIN_UNJOINABLE, 0, 0);
	expect_chain(&all, 2, CHAIN_FOREIGN, 0, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_user_half_taken_at_once_is_a_refused_request)
{
	struct fake *f = fake_new();
	struct fake_rec *s = fake_sample(f, 10, 1, 0);

	s->rec.sample.defer = DEFER_DIRECT;
	s->rec.sample.user.n = 2;
	s = fake_sample(f, 20, 1, 0);
	s->rec.sample.defer = DEFER_DIRECT;
	s->rec.sample.user.n = 2;
	s->rec.sample.event = 1;
	struct all_facts all = run(f);
	expect(&all, 1, REQ_REFUSED, CONF_PROVED, 0);
	/* The other event asked for nothing. */
	ck_assert_uint_eq(fact_count(&all, FACT_REQUEST), 1);
	facts_done(&all);
}
END_TEST

START_TEST(a_kernel_thread_asks_for_nothing)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 0);
	struct all_facts all = run(f);
	ck_assert_uint_eq(fact_count(&all, FACT_REQUEST), 0);
	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), 1);
	facts_done(&all);
}
END_TEST

START_TEST(a_file_without_any_chain_was_stripped)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 20, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_STRIPPED, CONF_EXPLAINED, 0);
	expect(&all, 2, REQ_STRIPPED, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_file_without_any_chain_but_with_losses_lost_them)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_lost(f, 15, 0, 100);
	fake_sample(f, 20, 1, 6);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	expect(&all, 2, REQ_PENDING_END, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(the_same_chain_again_is_a_duplicate)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_chain(f, 20, 1, 5);
	fake_chain(f, 21, 1, 5);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, 0);
	expect_chain(&all, 1, CHAIN_USED, 1, 0);
	expect_chain(&all, 2, CHAIN_DUPLICATE, 0, 0);
	facts_done(&all);
}
END_TEST

START_TEST(another_chain_for_the_same_cookie_is_a_conflict)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_map(f, 11, 1, 0x1000, 0x2000, "/bin/a");
	fake_chain(f, 20, 1, 5);
	fake_chain(f, 21, 1, 5)->ip[0] = 0x1888;
	struct all_facts all = run(f);
	ck_assert_uint_eq(request_of(&all, 1)->chain, 1);
	expect_chain(&all, 1, CHAIN_USED, 1, 0);
	expect_chain(&all, 2, CHAIN_DUPLICATE, 0, VERDICT_CONFLICT);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_nobody_asked_for_is_foreign)
{
	struct fake *f = fake_new();

	fake_chain(f, 10, 1, 5);
	struct all_facts all = run(f);
	expect_chain(&all, 1, CHAIN_FOREIGN, 0, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_whose_samples_were_lost_says_so)
{
	struct fake *f = fake_new();

	fake_sample(f, 5, 1, 4);
	fake_chain(f, 6, 1, 4);
	fake_lost(f, 9, 0, 9);
	fake_chain(f, 10, 1, 5);
	fake_chain(f, 20, 1, 6);
	struct all_facts all = run(f);
	expect_chain(&all, 2, CHAIN_SAMPLE_LOST, 0, 0);
	expect_chain(&all, 3, CHAIN_FOREIGN, 0, 0);
	facts_done(&all);
}
END_TEST

START_TEST(an_overwritten_ring_explains_both_halves)
{
	struct fake *f = fake_new();

	f->src.info.overwrite = true;
	fake_chain(f, 10, 1, 5);
	fake_sample(f, 20, 1, 6);
	fake_sample(f, 30, 1, 7);
	fake_chain(f, 40, 1, 7);
	struct all_facts all = run(f);
	expect_chain(&all, 1, CHAIN_OVERWRITTEN, 0, 0);
	expect(&all, 1, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	expect(&all, 2, REQ_MATCHED, CONF_PROVED, 0);
	facts_done(&all);
}
END_TEST

/* Per-thread captures have no times: the key is the place, all untimed. */
static struct fake_rec *untime(struct fake_rec *r)
{
	r->ref.untimed = 1;
	r->rec.time = 0;
	return r;
}

START_TEST(a_capture_without_times_joins_in_file_order)
{
	struct fake *f = fake_new();

	f->src.info.has_time = false;
	untime(fake_sample(f, 1, 1, 5));
	untime(fake_comm(f, 2, 1, "new", true));
	untime(fake_chain(f, 3, 1, 5));
	untime(fake_sample(f, 4, 1, 5));
	untime(fake_sample(f, 5, 1, 6));
	untime(fake_lost(f, 6, -1, 5));
	untime(fake_sample(f, 7, 1, 7));
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, VERDICT_EXEC);
	ck_assert_int_eq(request_of(&all, 1)->latency, TIME_NONE);
	expect(&all, 2, REQ_MATCHED, CONF_PROVED, VERDICT_AFTER);
	expect(&all, 3, REQ_CHAIN_LOST, CONF_EXPLAINED, 0);
	expect(&all, 4, REQ_PENDING_END, CONF_EXPLAINED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(without_a_tid_the_cookie_alone_decides)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_chain(f, 20, -1, 5);
	fake_sample(f, 30, -1, 6);
	fake_chain(f, 40, 2, 6);
	fake_sample(f, 50, 2, 6);
	struct all_facts all = run(f);
	expect(&all, 1, REQ_MATCHED, CONF_PROVED, 0);
	expect(&all, 2, REQ_MATCHED, CONF_PROVED, 0);
	expect(&all, 3, REQ_MATCHED, CONF_PROVED, VERDICT_AFTER);
	expect_chain(&all, 2, CHAIN_USED, 2, 0);
	facts_done(&all);
}
END_TEST

START_TEST(one_cookie_of_two_threads_is_two_stacks)
{
	/* As after a wrap of the 32-bit counter. */
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 5);
	fake_sample(f, 11, 2, 5);
	fake_chain(f, 20, 2, 5);
	fake_chain(f, 21, 1, 5);
	struct all_facts all = run(f);
	ck_assert_uint_eq(request_of(&all, 1)->chain, 2);
	ck_assert_uint_eq(request_of(&all, 2)->chain, 1);
	facts_done(&all);
}
END_TEST

START_TEST(captures_do_not_share_cookies)
{
	struct fake *f[2] = { fake_new(), fake_new() };

	fake_sample(f[0], 10, 1, 5);
	fake_sample(f[1], 11, 1, 5);
	fake_chain(f[1], 20, 1, 5);
	struct all_facts all = stitch_all(f, 2);
	expect(&all, 1, REQ_PENDING_END, CONF_EXPLAINED, 0);
	expect(&all, 2, REQ_MATCHED, CONF_PROVED, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_sample_in_user_mode_keeps_its_ip)
{
	struct fake *f = fake_new();
	struct fake_rec *s = fake_sample(f, 10, 1, 5);

	s->rec.flags = REC_F_USER;
	s->rec.sample.ip = 0x1005;
	fake_chain(f, 20, 1, 5);
	struct all_facts all = run(f);
	const struct fact_request *r = request_of(&all, 1);
	ck_assert_uint_eq(r->ip, 0x1005);
	ck_assert_uint_eq(r->flags, VERDICT_USER_HIT);
	ck_assert_uint_eq(frames_get_raw(all.frames, r->uraw)->ip[0], r->ip);
	facts_done(&all);
}
END_TEST

START_TEST(stack_quality_is_said)
{
	const uint32_t n[] = { 0, 1, 2 };
	const enum quality want[] = { QUALITY_EMPTY, QUALITY_ONE,
				      QUALITY_OPEN };
	struct fake *f = fake_new();

	for (uint32_t i = 0; i < 3; i++)
		fake_chain(f, 10 + i, 1, 5 + i)->rec.chain.user.n = n[i];
	struct all_facts all = run(f);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(chain_of(&all, i + 1)->quality, want[i]);
	facts_done(&all);
}
END_TEST

/* Made to hurt: one cookie for all. It took a minute when the entries of a
 * cookie were looked through. */
#define SAME_COOKIE 100000

START_TEST(many_threads_may_have_one_cookie)
{
	struct fake *f = fake_new();
	size_t n = 0;

	for (int32_t i = 1; i <= SAME_COOKIE; i++)
		fake_sample(f, 10 + (uint64_t)i, i, 5);
	for (int32_t i = SAME_COOKIE; i >= 1; i--)
		fake_chain(f, 2000000 - (uint64_t)i, i, 5);
	struct all_facts all = run(f);
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

/* Entries of one cookie come and go in any order, some without a tid. */
START_TEST(one_cookie_of_several_threads_in_any_order)
{
	struct fake *f = fake_new();

	for (int32_t i = 1; i <= 4; i++)
		fake_sample(f, (uint64_t)i, i, 5);
	fake_chain(f, 10, 3, 5);
	fake_exit(f, 11, 3);
	fake_chain(f, 20, 1, 5);
	fake_exit(f, 21, 1);
	fake_sample(f, 30, 7, 5);
	fake_chain(f, 31, 7, 5);
	fake_chain(f, 40, 4, 5);
	fake_chain(f, 50, 2, 5);
	struct all_facts all = run(f);
	static const uint32_t chain[] = { 2, 5, 1, 4, 3 };
	static const uint32_t late[] = { 1, 1, 0, 1, 0 };

	for (uint32_t i = 1; i <= 5; i++) {
		expect(&all, i, REQ_MATCHED, CONF_PROVED,
		       late[i - 1] ? VERDICT_PERF_LATE : 0);
		ck_assert_uint_eq(request_of(&all, i)->chain, chain[i - 1]);
	}
	facts_done(&all);
}
END_TEST

/* Cookies are counted, not samples and not records. */
START_TEST(cookies_without_their_other_half_are_counted)
{
	struct fact_queue q = { 0 };
	struct losses *ls = losses_new();
	struct join *jn = join_new(&q, ls, NULL);
	const struct source_info info = { .has_time = true };
	const struct loss lost = { 1, 0, 90, 99 };
	struct join_task task[3] = { 0 };
	struct cookie_totals sum[2];

	losses_add(ls, 1, &lost);
	join_source(jn, 0, &info);
	join_source(jn, 1, &info);
	for (uint32_t i = 1; i <= 6; i++) {
		const struct join_sample s = { .event = i,
					       .source = 1,
					       .tid = 1,
					       .time = i,
					       .cookie = i / 2 + 1 };

		join_sample(jn, &task[1], &s);
	}
	for (uint32_t i = 1; i <= 6; i++) {
		const struct join_chain c = { .id = i,
					      .source = 1,
					      .tid = 2,
					      .time = 90 + i / 2,
					      .cookie = 100 + i / 2,
					      .asked_cpu = i < 6 };

		join_chain(jn, &task[2], &c);
	}
	for (size_t i = 0; i < 3; i++)
		join_retire(jn, &task[i], JOIN_CAPTURE, TIME_NONE);
	join_end(jn);
	join_totals(jn, 0, &sum[0]);
	join_totals(jn, 1, &sum[1]);
	ck_assert_uint_eq(sum[0].no_chain + sum[0].no_sample + sum[0].foreign,
			  0);
	ck_assert_uint_eq(sum[1].no_chain, 4);
	ck_assert_uint_eq(sum[1].no_sample, 4);
	/* The last was asked for on the CPU that lost. */
	ck_assert_uint_eq(sum[1].foreign, 3);
	join_free(jn);
	losses_free(ls);
	fact_queue_release(&q);
}
END_TEST

RUN("join", a_chain_joins_the_sample_before_it, many_samples_share_one_chain,
    user_stack_before_its_sample_still_joins,
    a_sample_joins_one_of_the_last_cookies, a_chain_after_exit_joins,
    exec_between_is_flagged, a_new_name_alone_is_no_exec,
    exec_between_chain_and_late_sample_is_flagged,
    a_reused_tid_keeps_its_lives_apart,
    a_life_replaced_without_exit_did_not_exit,
    a_chain_lost_on_another_cpu_is_explained,
    a_loss_told_of_much_later_still_explains,
    a_loss_elsewhere_in_time_explains_nothing,
    a_loss_sorted_behind_its_follower_has_its_window,
    a_loss_at_an_unknown_time_may_explain_all,
    what_is_open_at_the_end_is_pending, exit_in_a_per_task_session_explains,
    exit_in_a_system_wide_session_explains_nothing,
    loss_right_after_the_exit_explains,
    exit_right_before_the_end_leaves_the_chain_pending,
    a_marker_without_cookie_cannot_be_joined,
    a_user_half_taken_at_once_is_a_refused_request,
    a_kernel_thread_asks_for_nothing, a_file_without_any_chain_was_stripped,
    a_file_without_any_chain_but_with_losses_lost_them,
    the_same_chain_again_is_a_duplicate,
    another_chain_for_the_same_cookie_is_a_conflict,
    a_chain_nobody_asked_for_is_foreign,
    a_chain_whose_samples_were_lost_says_so,
    an_overwritten_ring_explains_both_halves,
    a_capture_without_times_joins_in_file_order,
    without_a_tid_the_cookie_alone_decides,
    one_cookie_of_two_threads_is_two_stacks, captures_do_not_share_cookies,
    a_sample_in_user_mode_keeps_its_ip, stack_quality_is_said,
    many_threads_may_have_one_cookie,
    one_cookie_of_several_threads_in_any_order,
    cookies_without_their_other_half_are_counted)
