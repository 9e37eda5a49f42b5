/* missing_reason.c - the evidence beside a verdict: which exec, what ended the
 * wait for a chain and when, which loss of which CPU. */
#include "stitch/join/missing_reason.h"

#include "tests/unit/joins.h"

#define MS 1000000

static void rig_loss(struct join_rig *rg, uint32_t id, int32_t cpu, int64_t t0,
		     int64_t t1)
{
	const struct loss l = { id, cpu, t0, t1 };

	losses_add(rg->ls, 0, &l);
}

static void rig_sample(struct join_rig *rg, int64_t time, uint64_t cookie)
{
	const struct join_sample s = {
		.event = ++rg->events, .tid = 1, .time = time, .cookie = cookie
	};

	join_sample(rg->jn, &rg->task, &s);
}

static void rig_chain(struct join_rig *rg, int64_t time, uint64_t cookie,
		      int32_t asked_cpu)
{
	const struct join_chain c = { .id = ++rg->chains,
				      .tid = 1,
				      .time = time,
				      .cookie = cookie,
				      .asked_cpu = asked_cpu };

	join_chain(rg->jn, &rg->task, &c);
}

/* Ends the capture and gives the facts of both kinds, by id. */
static void rig_end(struct join_rig *rg, struct fact_request *r,
		    struct fact_chain *c)
{
	struct fact f;

	join_retire(rg->jn, &rg->task, JOIN_CAPTURE, TIME_NONE);
	join_end(rg->jn);
	while (fact_queue_take(&rg->q, &f)) {
		if (f.kind == FACT_REQUEST && r)
			r[f.request.event - 1] = f.request;
		else if (f.kind == FACT_CHAIN && c)
			c[f.chain.id - 1] = f.chain;
	}
	join_rig_release(rg);
}

static const struct source_info timed = { .has_time = true,
					  .system_wide = TRI_YES };

/* What ended the wait for a chain, and when. */
static const struct due_row {
	const char *name;
	const char *records; /* see script.h */
	struct {
		uint32_t event;
		enum request_end end;
		int64_t until;
		int64_t exec; /* 0: none */
	} request[3];
} due_rows[] = {
	{
		"an_exec_between_has_its_time",
		"5 exec 1; 10 sample 1/5; 15 exec 1; 20 chain 1/5; 25 exec 1;"
		"30 sample 1/5",
		{ { .event = 1, 0, TIME_NONE, 15 },
		  { .event = 2, 0, TIME_NONE, 25 } },
	},
	{
		"a_newer_cookie_says_when_the_chain_was_due",
		"1 pair; 10 sample 1/5; 12 sample 1/5; 20 chain 1/6",
		{ { .event = 2, END_COOKIE, 20 },
		  { .event = 3, END_COOKIE, 20 } },
	},
	/* It comes a little after the EXIT. */
	{
		"an_exit_says_when_the_chain_was_due",
		"1 pair; 10 sample 1/5; 20 exit 1",
		{ { .event = 2, END_EXIT, 20 + 2 * MS } },
	},
	{
		"another_life_says_when_the_chain_was_due",
		"1 pair; 10 sample 1/5; 30 fork 1 999; 40 sample 1/6;"
		"50 chain 1/6",
		{ { .event = 2, END_REUSED, 30 } },
	},
	{
		"what_is_open_waits_until_the_end_of_the_capture",
		"last=777; 1 pair; 10 sample 1/5",
		{ { .event = 2, END_CAPTURE, 777 } },
	},
	{
		"a_pipe_ends_with_its_last_record",
		"trusting; 1 pair; 10 sample 1/5; 60 sample 2",
		{ { .event = 2, END_CAPTURE, 60 } },
	},
	{
		"a_file_that_was_not_scanned_has_no_end",
		"1 pair; 10 sample 1/5",
		{ { .event = 2, END_CAPTURE, TIME_NONE } },
	},
};

START_TEST(due_row_holds)
{
	const struct due_row *row = &due_rows[_i];
	struct all_facts all = joins_run(row->records);

	for (size_t i = 0; i < 3 && row->request[i].event; i++) {
		const struct fact_request *r =
			facts_request_of(&all, row->request[i].event);
		int64_t exec = row->request[i].exec;

		ck_assert_int_eq(r->end, row->request[i].end);
		ck_assert_int_eq(r->until, row->request[i].until);
		ck_assert_int_eq(r->exec, exec ? exec : TIME_NONE);
		ck_assert_uint_eq(r->loss, 0);
	}
	facts_done(&all);
}
END_TEST

START_TEST(a_joined_request_needs_no_excuse)
{
	struct all_facts all =
		joins_run("10 sample 1/5; 15 lost 0; 20 chain 1/5");
	const struct fact_request *r = facts_request_of(&all, 1);
	ck_assert_int_eq(r->exec, TIME_NONE);
	ck_assert_uint_eq(r->loss, 0);
	ck_assert_int_eq(r->end, 0);
	ck_assert_int_eq(r->until, TIME_NONE);
	ck_assert_uint_eq(facts_chain_of(&all, 1)->loss, 0);
	ck_assert_int_eq(facts_chain_of(&all, 1)->from, TIME_NONE);
	facts_done(&all);
}
END_TEST

START_TEST(a_lost_chain_names_the_loss_in_its_time)
{
	struct join_rig rg;
	struct fact_request r[4];

	join_rig_init(&rg, &timed);
	rig_loss(&rg, 7, 0, 2, 10);
	rig_loss(&rg, 8, 3, 12, 18);
	rig_loss(&rg, 9, 0, 20, 25);
	rig_sample(&rg, 10, 5);
	rig_sample(&rg, 20, 6);
	rig_sample(&rg, 30, 7);
	rig_chain(&rg, 40, 8, -1);
	rig_end(&rg, r, NULL);
	/* On whatever CPU: the task may return to user mode on any. */
	ck_assert_uint_eq(r[0].loss, 8);
	ck_assert_uint_eq(r[1].loss, 9);
	ck_assert_int_eq(r[1].verdict, REQ_CHAIN_LOST);
	ck_assert_uint_eq(r[2].loss, 0);
	ck_assert_int_eq(r[2].verdict, REQ_UNEXPLAINED);
}
END_TEST

/* A sample may be later than its chain, but few are. */
START_TEST(a_loss_after_the_last_sample_is_the_likely_one)
{
	for (int64_t second = 20; second <= 30; second += 10) {
		struct join_rig rg;
		struct fact_request r[2];

		join_rig_init(&rg, &timed);
		rig_loss(&rg, 7, 0, 12, 15);
		rig_loss(&rg, 8, 0, 22, 25);
		rig_sample(&rg, 10, 5);
		rig_sample(&rg, second, 5);
		rig_chain(&rg, 40, 6, -1);
		rig_end(&rg, r, NULL);
		ck_assert_int_eq(r[0].verdict, REQ_CHAIN_LOST);
		ck_assert_uint_eq(r[0].loss, second == 20 ? 8 : 7);
		ck_assert_uint_eq(r[1].loss, r[0].loss);
	}
}
END_TEST

START_TEST(a_loss_at_an_unknown_time_is_named)
{
	struct join_rig rg;
	struct fact_request r[2];

	join_rig_init(&rg, &timed);
	rig_loss(&rg, 7, -1, TIME_NONE, TIME_NONE);
	rig_sample(&rg, 10, 5);
	rig_chain(&rg, 20, 6, -1);
	rig_end(&rg, r, NULL);
	ck_assert_uint_eq(r[0].loss, 7);
}
END_TEST

START_TEST(without_times_any_loss_is_named)
{
	const struct source_info untimed = { .system_wide = TRI_YES };
	struct join_rig rg;
	struct fact_request r[2];
	struct fact_chain c[1];

	join_rig_init(&rg, &untimed);
	rig_loss(&rg, 7, 2, 1, 2);
	rig_sample(&rg, TIME_NONE, 5);
	rig_chain(&rg, TIME_NONE, 6, 0);
	rig_end(&rg, r, c);
	ck_assert_uint_eq(r[0].loss, 7);
	ck_assert_int_eq(r[0].end, END_COOKIE);
	ck_assert_int_eq(r[0].until, TIME_NONE);
	ck_assert_uint_eq(c[0].loss, 7);
}
END_TEST

START_TEST(an_overwritten_ring_is_named_as_the_loss)
{
	const struct source_info info = { .has_time = true, .overwrite = true };
	struct join_rig rg;
	struct fact_request r[1];
	struct fact_chain c[2];

	join_rig_init(&rg, &info);
	rig_loss(&rg, 7, 0, INT64_MIN, 4);
	rig_sample(&rg, 10, 5);
	rig_chain(&rg, 20, 6, 0);
	rig_end(&rg, r, c);
	ck_assert_int_eq(r[0].verdict, REQ_CHAIN_LOST);
	ck_assert_uint_eq(r[0].loss, 7);
	ck_assert_int_eq(c[0].verdict, CHAIN_OVERWRITTEN);
	ck_assert_uint_eq(c[0].loss, 7);
}
END_TEST

/* The request was made on the CPU that is in the cookie. */
START_TEST(a_lost_sample_names_the_loss_of_its_cpu)
{
	static const int32_t cpu[] = { 0, 3, 1, -1 };
	static const uint32_t loss[] = { 8, 7, 0, 7 };

	for (size_t i = 0; i < 4; i++) {
		struct join_rig rg;
		struct fact_chain c[2];

		join_rig_init(&rg, &timed);
		rig_loss(&rg, 7, 3, 12, 15);
		rig_loss(&rg, 8, 0, 14, 18);
		rig_chain(&rg, 10, 5, cpu[i]);
		rig_chain(&rg, 20, 6, cpu[i]);
		rig_end(&rg, NULL, c);
		ck_assert_uint_eq(c[1].loss, loss[i]);
		ck_assert_int_eq(c[1].verdict,
				 loss[i] ? CHAIN_SAMPLE_LOST : CHAIN_FOREIGN);
	}
}
END_TEST

START_TEST(a_loss_on_an_unknown_cpu_may_be_of_the_cookies)
{
	struct join_rig rg;
	struct fact_chain c[2];

	join_rig_init(&rg, &timed);
	rig_loss(&rg, 7, -1, 12, 15);
	rig_chain(&rg, 10, 5, 2);
	rig_chain(&rg, 20, 6, 2);
	rig_end(&rg, NULL, c);
	ck_assert_uint_eq(c[0].loss, 0);
	ck_assert_uint_eq(c[1].loss, 7);
}
END_TEST

START_TEST(a_lost_sample_is_later_than_what_its_thread_did_before)
{
	struct all_facts all = joins_run(
		"10 chain 1/5; 20 sample 1/6; 30 chain 1/7; 31 chain 1/7");
	ck_assert_int_eq(facts_chain_of(&all, 1)->from, TIME_NONE);
	ck_assert_int_eq(facts_chain_of(&all, 2)->from, 20);
	/* A duplicate says nothing of its samples. */
	ck_assert_int_eq(facts_chain_of(&all, 3)->from, TIME_NONE);
	facts_done(&all);
}
END_TEST

/* The tid of a task that is gone is -1, whichever task it was. */
START_TEST(tasks_without_a_tid_are_not_one_thread)
{
	struct all_facts all =
		joins_run("5 lost 0; 10 chain -1/5; 30 chain -1/7");
	ck_assert_int_eq(facts_chain_of(&all, 2)->from, TIME_NONE);
	ck_assert_int_eq(facts_chain_of(&all, 2)->verdict, CHAIN_SAMPLE_LOST);
	facts_done(&all);
}
END_TEST

START_TEST(a_lost_first_sample_is_flagged)
{
	struct join_rig rg;
	struct fact_request r[3];
	const struct join_sample s = { .event = 1,
				       .tid = 1,
				       .time = 5,
				       .cookie = 5,
				       .flags = VERDICT_FIRST_LOST };

	join_rig_init(&rg, &timed);
	join_sample(rg.jn, &rg.task, &s);
	rg.events = 1;
	rig_sample(&rg, 6, 5);
	rig_chain(&rg, 10, 5, -1);
	rig_end(&rg, r, NULL);
	ck_assert_uint_eq(r[0].flags, VERDICT_FIRST_LOST);
	ck_assert_uint_eq(r[1].flags, 0);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(due_row_holds, due_rows) };

RUN_TABLES("missing_reason", tables, a_joined_request_needs_no_excuse,
	   a_lost_chain_names_the_loss_in_its_time,
	   a_loss_after_the_last_sample_is_the_likely_one,
	   a_loss_at_an_unknown_time_is_named, without_times_any_loss_is_named,
	   an_overwritten_ring_is_named_as_the_loss,
	   a_lost_sample_names_the_loss_of_its_cpu,
	   a_loss_on_an_unknown_cpu_may_be_of_the_cookies,
	   a_lost_sample_is_later_than_what_its_thread_did_before,
	   tasks_without_a_tid_are_not_one_thread,
	   a_lost_first_sample_is_flagged)
