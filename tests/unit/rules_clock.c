/* rules_clock.c - rules about clocks of CPUs, and findings that clocks may
 * explain. */
#include "tests/unit/rules.h"

/* Thread 5 ends on CPU 0, and then seems to run on CPU 1. */
#define EXIT_AND_HIT                                                           \
	"10 fork 5 1; 15 map 5 code; 50 exit 5 cpu=0; 60 hit 5 code cpu=1"
/* Thread 9 has had cookie 1 of a CPU, so that its next one is made later, and
 * not in a stay that began before the capture. */
#define HAD_1(cpu)                                                             \
	"2 sample 9/1@" cpu " cpu=" cpu "; 3 chain 9/1@" cpu " cpu=" cpu ";"
/* Two chains on CPU 0 have counters of CPU 1 that are newer than those of two
 * samples which CPU 1 seems to make 5 us later. */
#define AHEAD                                                                  \
	"100 chain 11/3@1 cpu=0; 5100 sample 12/1@1 cpu=1;"                    \
	"5200 sample 11/3@1 cpu=1; 5300 chain 12/1@1 cpu=1;"                   \
	"5400 chain 13/7@1 cpu=0; 6900 sample 14/5@1 cpu=1;"                   \
	"6910 sample 13/7@1 cpu=1; 6920 chain 14/5@1 cpu=1;"

static const struct rules_row rules_cpu_rows[] = {
	{
		"clocks_that_nothing_bounds_may_put_a_hit_after_the_exit",
		EXIT_AND_HIT,
		.rule = "exit_order",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_counter_of_the_exits_cpu_bounds_the_clock_of_the_hit",
		HAD_1("0") "5 sample 9/3@0 cpu=0; 6 chain 9/3@0 cpu=1;" EXIT_AND_HIT,
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.n = 1,
	},
	{
		"the_first_cookie_of_a_thread_may_be_older_and_bounds_no_clock",
		"5 sample 9/1@0 cpu=0; 6 chain 9/1@0 cpu=1;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"unless_the_thread_is_new",
		"1 fork 9 1 cpu=0; 5 sample 9/1@0 cpu=0;"
		"6 chain 9/1@0 cpu=1;" EXIT_AND_HIT,
		.rule = "after_exit",
	},
	{
		"a_bound_that_is_too_wide_proves_no_hit_after_the_exit",
		HAD_1("0") "5 sample 9/3@0 cpu=0; 15 chain 9/3@0 cpu=1;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"a_bound_on_the_other_clock_proves_no_hit_after_the_exit",
		HAD_1("1") "5 sample 9/3@1 cpu=1; 6 chain 9/3@1 cpu=0;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"a_clock_that_is_ahead_does_not_bound_itself",
		HAD_1("1") "7 sample 9/3@1 cpu=1; 6 chain 9/5@1 cpu=0;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"a_sample_that_did_not_make_its_counter_bounds_no_clock",
		HAD_1("0") "4 sample 9/3@0 cpu=1; 5 sample 9/3@0 cpu=0;"
			   "6 chain 9/3@0 cpu=1;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"bounds_add_up_over_a_third_cpu",
		HAD_1("0") "5 sample 9/3@0 cpu=0; 7 chain 9/3@0 cpu=2;"
			   "4 sample 8/1@2 cpu=2; 5 chain 8/1@2 cpu=2;"
			   "7 sample 8/3@2 cpu=2; 9 chain 8/3@2 cpu=1;" EXIT_AND_HIT,
		.rule = "after_exit",
	},
	{
		"another_session_may_have_made_the_counter_of_a_bound",
		HAD_1("0") "5 sample 9/3@0 cpu=0; 6 chain 9/3@0 cpu=1;" EXIT_AND_HIT
			   "; 70 chain 20/5@0; 71 chain 20/7@0",
		.rule = "exit_order",
	},
	{
		"what_a_new_thread_does_bounds_the_clock_of_its_cpu",
		"2 fork 8 1 cpu=0; 6 sample 8 cpu=1;" EXIT_AND_HIT,
		.rule = "after_exit",
	},
	{
		"a_thread_may_still_run_when_its_id_is_used_again_so_soon",
		"0 fork 8 1; 1 exit 8 cpu=0; 2 fork 8 1 cpu=0;"
		"6 sample 8 cpu=1;" EXIT_AND_HIT,
		.rule = "exit_order",
	},
	{
		"on_the_cpu_of_the_exit_clocks_put_nothing_after_it",
		EXIT_AND_HIT "; 70 hit 5 code cpu=0",
		.rule = "after_exit",
		.time = 60,
	},
	{
		"clocks_do_not_differ_by_so_much_as_to_put_a_hit_after_its_exit",
		EXIT_AND_HIT "; 1s hit 5 code cpu=1",
		.rule = "after_exit",
		.time = 60,
	},
	{
		"counters_that_were_seen_before_they_were_made_are_a_skew",
		AHEAD,
		.rule = "clock_skew",
		.since = 100,
		.time = 5100,
		.n = 2,
	},
};

START_TEST(rules_cpu_row_holds)
{
	struct fake *f = fake_new();

	script_play_on(f, rules_cpu_rows[_i].records);
	rules_check(f, &rules_cpu_rows[_i]);
}
END_TEST

/* The clock of CPU 1 is ahead by 15 ms. */
#define FAR_AHEAD                                                              \
	"1000000 chain 11/3@1 cpu=0; 16000000 sample 12/1@1 cpu=1;"            \
	"16100000 sample 11/3@1 cpu=1; 16200000 chain 12/1@1 cpu=1;"           \
	"17000000 chain 13/7@1 cpu=0; 32000000 sample 14/5@1 cpu=1;"           \
	"32100000 sample 13/7@1 cpu=1; 32200000 chain 14/5@1 cpu=1;"
/* Thread 1 has a cookie on CPU 2, and another one, as a row says. */
#define OLD_COOKIE                                                             \
	FAR_AHEAD "50000000 sample 1/1@2 cpu=2; 50100000 chain 1/1@2 cpu=2;"
/* Thread 5 is made twice, and nothing tells of its end before. */
#define REUSED                                                                 \
	FAR_AHEAD                                                              \
	"50000000 fork 5 1 cpu=0; 51000000 sample 5 cpu=0;"                    \
	"100000000 fork 5 1 cpu=0;"
/* Thread 5 runs long after its end. */
#define ENDED_EARLY                                                            \
	FAR_AHEAD "50000000 fork 5 1 cpu=0; 51000000 map 5 code cpu=0;"        \
		  "52000000 exit 5 cpu=0; 100000000 hit 5 code cpu=0;"

static const struct rules_skew_row {
	const char *name, *records;
	size_t n; /* findings */
	const char *rule;
} rules_skew_rows[] = {
	{ "clocks_that_differ_change_nothing_on_one_cpu",
	  OLD_COOKIE "51000000 sample 1/3@2 cpu=2; 52000000 chain 1/3@2 cpu=2;"
		     "53000000 sample 1/1@2 cpu=2",
	  1, "cookie_reused" },
	{ "clocks_of_other_cpus_change_nothing",
	  OLD_COOKIE "51000000 sample 1/3@3 cpu=3; 52000000 chain 1/3@3 cpu=3;"
		     "76000000 sample 1/1@2 cpu=2",
	  1, "cookie_reused" },
	{ "clocks_that_differ_may_have_swapped_two_cookies",
	  OLD_COOKIE "85000000 sample 1/9@1 cpu=1; 86000000 chain 1/9@1 cpu=1;"
		     "110000000 sample 1/1@2 cpu=2",
	  0, "cookie_reused" },
	{ "clocks_may_have_put_a_long_stay_before_what_closed_it",
	  OLD_COOKIE "51000000 sample 1/9@1 cpu=1; 52000000 chain 1/9@1 cpu=1;"
		     "96000000 sample 1/1@2 cpu=2",
	  0, "cookie_reused" },
	{ "clocks_that_differ_by_less_have_not",
	  OLD_COOKIE "85000000 sample 1/9@1 cpu=1; 86000000 chain 1/9@1 cpu=1;"
		     "120000000 sample 1/1@2 cpu=2",
	  1, "cookie_reused" },
	{ "clocks_do_not_bring_a_cookie_of_another_thread_back",
	  OLD_COOKIE "51000000 sample 1/3@2 cpu=2; 52000000 chain 1/3@2 cpu=2;"
		     "53000000 sample 1/5@2 cpu=2; 54000000 chain 1/5@2 cpu=2;"
		     "55000000 sample 1/7@2 cpu=2; 56000000 chain 1/7@2 cpu=2;"
		     "57000000 sample 1/9@2 cpu=2; 58000000 chain 1/9@2 cpu=2;"
		     "60000000 sample 2/1@2 cpu=1",
	  1, "cookie_reused" },
	{ "nor_one_of_the_thread_itself_on_one_cpu",
	  OLD_COOKIE "51000000 sample 1/3@2 cpu=2; 52000000 chain 1/3@2 cpu=2;"
		     "53000000 sample 1/5@2 cpu=2; 54000000 chain 1/5@2 cpu=2;"
		     "55000000 sample 1/7@2 cpu=2; 56000000 chain 1/7@2 cpu=2;"
		     "57000000 sample 1/9@2 cpu=2; 58000000 chain 1/9@2 cpu=2;"
		     "60000000 sample 1/1@2 cpu=2",
	  1, "cookie_reused" },
	{ "but_perhaps_by_way_of_another_cpu",
	  OLD_COOKIE "51000000 sample 1/3@2 cpu=2; 52000000 chain 1/3@2 cpu=2;"
		     "53000000 sample 1/5@2 cpu=2; 54000000 chain 1/5@2 cpu=2;"
		     "55000000 sample 1/7@2 cpu=2; 56000000 chain 1/7@2 cpu=2;"
		     "57000000 sample 1/9@2 cpu=2; 58000000 chain 1/9@2 cpu=2;"
		     "60000000 sample 1/1@2 cpu=1",
	  0, "cookie_reused" },
	{ "clocks_may_have_put_the_exit_behind_the_next_use_of_the_tid",
	  REUSED "105000000 exit 5 cpu=1", 0, "tid_reused" },
	{ "clocks_that_differ_by_less_leave_the_tid_in_use",
	  REUSED "140000000 exit 5 cpu=1", 1, "tid_reused" },
	{ "clocks_may_have_put_the_fork_behind_what_the_new_thread_does",
	  ENDED_EARLY "105000000 fork 5 1 cpu=1", 0, "after_exit" },
	{ "clocks_that_differ_by_less_leave_it_behind_the_exit",
	  ENDED_EARLY "140000000 fork 5 1 cpu=1", 1, "after_exit" },
};

START_TEST(rules_skew_row_holds)
{
	const struct rules_skew_row *row = &rules_skew_rows[_i];
	struct fake *f = fake_new();
	uint32_t rule = rules_index(row->rule);
	size_t n = 0;
	bool skew = false;

	script_play_on(f, row->records);
	struct all_facts all = stitch_all(&f, 1);

	for (size_t i = 0; i < all.n; i++) {
		if (all.fact[i].kind != FACT_FINDING)
			continue;
		n += all.fact[i].finding.rule == rule;
		skew |= all.fact[i].finding.rule == RULE_CLOCK_SKEW;
	}
	ck_assert(skew);
	ck_assert_uint_eq(n, row->n);
	facts_done(&all);
}
END_TEST

/* ---- clock_step */

/* Every 100 ms a record; from the 30th on the clock is `back` behind. */
static struct fake *rules_stepping(uint64_t back)
{
	struct fake *f = fake_new();

	f->event[1].type = 1;
	for (uint64_t i = 0; i < 80; i++) {
		uint64_t t = 5 * SCRIPT_SECOND + i * SCRIPT_SECOND / 10;
		struct fake_rec *s =
			fake_sample(f, i < 30 ? t : t - back, 5, 0);

		s->rec.sample.event = 1;
		s = fake_sample(f, t, 6, 0);
		s->rec.cpu = 1;
		s->rec.sample.event = 1;
	}
	return f;
}

#define BACK 2500000000
#define LITTLE 900000000

static const struct rules_clock_row {
	const char *name;
	const char *capture; /* facts about it, as in script.h */
	uint64_t back;	     /* ns */
	uint32_t type;	     /* of the event; 0: as it is */
	const char *rule;    /* NULL: nothing is found */
} rules_clock_rows[] = {
	{ "a_clock_that_is_set_back_is_a_finding", "", BACK, 0, "clock_step" },
	{ "records_a_little_out_of_order_are_no_clock_step", "", LITTLE, 0,
	  NULL },
	{ "an_overwritten_ring_shows_no_clock_step", "overwrite", BACK, 0,
	  NULL },
	{ "a_folder_of_files_shows_no_clock_step", "dir", BACK, 0, NULL },
	{ "a_capture_of_some_tasks_shows_no_clock_step", "per_task", BACK, 0,
	  NULL },
	/* the processor may hold records of a PMU back */
	{ "an_event_of_the_processor_shows_no_clock_step", "", BACK, 4, NULL },
	{ "a_pipe_shows_a_clock_step_by_what_comes_late", "trusting", BACK, 0,
	  "clock_step" },
	{ "a_pipe_a_little_out_of_order_shows_no_clock_step", "trusting",
	  LITTLE, 0, NULL },
};

START_TEST(rules_clock_row_holds)
{
	const struct rules_clock_row *row = &rules_clock_rows[_i];
	struct fake *f = rules_stepping(row->back);

	script_play_on(f, row->capture);
	if (row->type)
		f->event[1].type = row->type;
	struct fact_finding one = rules_only(f, row->rule);

	if (row->rule && !*row->capture) {
		ck_assert_int_eq(one.cpu, 0);
		ck_assert_uint_gt(one.n, 1);
	}
}
END_TEST

START_TEST(another_session_may_have_made_the_counters_that_come_late)
{
	struct fake *f = fake_new();

	script_play_on(f, AHEAD "7000 chain 20/9@1; 7001 chain 20/11@1");
	rules_only(f, NULL);
}
END_TEST

/* The first number is allowed, and its array may have room for the second. */
START_TEST(a_cpu_that_no_kernel_has_shows_no_clock_step)
{
	struct fake *f = rules_stepping(BACK);

	for (size_t i = 0; i < f->n; i++)
		f->rec[i].rec.cpu = f->rec[i].rec.cpu ? 65000 : 65536;
	rules_only(f, NULL);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(rules_cpu_row_holds, rules_cpu_rows),
	RUN_TABLE(rules_skew_row_holds, rules_skew_rows),
	RUN_TABLE(rules_clock_row_holds, rules_clock_rows),
};

RUN_TABLES("rules_clock", tables,
	   another_session_may_have_made_the_counters_that_come_late,
	   a_cpu_that_no_kernel_has_shows_no_clock_step)
