/* pairing.c - tests of analyze/latency: rows for each trap, and captures from
 * which records were removed. */
#include "analyze/latency/pairing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/latency/calls.h"
#include "analyze/latency/lost_times.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "tests/unit/run.h"

/* records: "TIME begin|first|end|cancel THREAD NAME [RET]", in order; a '/' in
 * NAME parts call and tag: "execve/59"; first: a begin that has none before it.
 * NAME is the tag of a call, and the key of others. losses: "FROM-TO CPU N", N
 * '?' for an unknown number, CPU '*' for any, N 'off' for a time in which the
 * recorder was not on. */
struct pairing_row {
	const char *name, *kind, *records, *losses, *intervals;
};

#define CALLS "raw_syscalls:sys_enter"

static const struct pairing_row pairing_rows[] = {
	{ "a_call_without_losses_is_proved", CALLS,
	  "10 begin 1 read; 20 end 1 read 5", "", "10-20 proved" },
	{ "one_lost_record_hides_no_other_call", CALLS,
	  "10 begin 1 read; 20 end 1 read", "12-15 0 1", "10-20 proved" },
	{ "two_lost_records_may_be_an_end_and_a_begin", CALLS,
	  "10 begin 1 read; 20 end 1 read", "12-15 0 2",
	  "10-20 consistent loss" },
	{ "a_lost_record_on_each_of_two_processors_is_two", CALLS,
	  "10 begin 1 read; 20 end 1 read", "12-15 0 1; 13-14 1 1",
	  "10-20 consistent loss" },
	{ "an_unknown_number_is_any", CALLS, "10 begin 1 read; 20 end 1 read",
	  "12-15 0 ?", "10-20 consistent loss" },
	{ "a_loss_beside_a_call_hides_nothing_of_it", CALLS,
	  "10 begin 1 read; 20 end 1 read", "5-10 0 9; 20-30 0 9",
	  "10-20 proved" },
	{ "where_a_processor_was_not_on_a_call_may_be_two", CALLS,
	  "10 begin 1 read; 20 end 1 read", "-12 1 off",
	  "10-20 consistent start" },
	{ "an_end_without_a_begin_is_of_before_the_recording", CALLS,
	  "20 end 1 futex", "-5 0 off", "?-20 began before" },
	{ "an_end_behind_a_loss_has_lost_its_begin", CALLS,
	  "10 begin 1 read; 11 end 1 read; 20 end 1 futex", "12-15 0 1",
	  "10-11 proved; ?-20 begin lost loss" },
	{ "an_end_that_nothing_explains_is_unexplained", CALLS,
	  "10 begin 1 read; 11 end 1 read; 20 end 1 futex", "",
	  "10-11 proved; ?-20 unexplained" },
	{ "what_is_open_at_the_end_is_unfinished", CALLS, "10 begin 1 poll", "",
	  "10-? unfinished" },
	{ "a_begin_before_a_loss_and_another_has_lost_its_end", CALLS,
	  "10 begin 1 poll; 20 begin 1 read; 30 end 1 read", "12-15 0 1",
	  "10-? end lost loss; 20-30 proved" },
	{ "another_call_ends_none", CALLS, "10 begin 1 poll; 20 end 1 read",
	  "12-15 0 2", "10-? end lost loss; ?-20 begin lost loss" },
	{ "another_thread_ends_none", CALLS,
	  "10 begin 1 read; 12 begin 2 read; 15 end 2 read; 20 end 1 read", "",
	  "12-15 proved; 10-20 proved" },
	{ "a_call_in_which_another_thread_ends_it_is_unfinished", CALLS,
	  "10 begin 1 futex; 20 begin 2 exit_group", "", "10-? unfinished" },
	{ "exit_never_returns", CALLS, "10 begin 1 exit_group", "", "" },
	{ "clone_returns_twice", CALLS,
	  "10 begin 1 clone; 15 end 2 clone 0; 20 end 1 clone 2", "",
	  "10-20 proved" },
	{ "a_parent_whose_clone_began_before_has_its_end", CALLS,
	  "20 end 1 clone 2", "-5 0 off", "?-20 began before" },
	{ "vfork_returns_in_the_child_first", CALLS,
	  "10 begin 1 vfork; 12 end 2 vfork 0; 13 begin 2 execve;"
	  "14 end 2 execve 0; 15 end 1 vfork 2",
	  "", "13-14 proved; 10-15 proved" },
	{ "execve_of_another_thread_returns_in_the_first_one", CALLS,
	  "10 begin 11 execve; 20 end 10 execve 0", "", "10-20 proved" },
	{ "execve_of_another_thread_ends_the_call_of_the_first_one", CALLS,
	  "5 begin 10 futex; 10 begin 11 execve; 20 end 10 execve 0", "",
	  "5-? cancelled exec; 10-20 proved" },
	{ "sigreturn_returns_with_the_number_minus_one", CALLS,
	  "10 begin 1 rt_sigreturn; 11 end 1 -1 -4", "", "10-11 proved" },
	{ "sigreturn_without_an_end_is_cancelled", CALLS,
	  "10 begin 1 rt_sigreturn; 12 begin 1 read; 13 end 1 read", "",
	  "10-? cancelled sigreturn; 12-13 proved" },
	{ "minus_one_ends_no_other_call", CALLS,
	  "10 begin 1 read; 11 end 1 -1 -4", "",
	  "10-? unexplained; ?-11 unexplained" },
	{ "a_call_that_a_signal_restarts_is_two", CALLS,
	  "10 begin 1 nanosleep; 12 end 1 nanosleep -516;"
	  "14 begin 1 restart_syscall; 20 end 1 restart_syscall 0",
	  "", "10-12 proved; 14-20 proved" },
	{ "records_that_are_there_twice_count_once", CALLS,
	  "10 begin 1 read; 10 begin 1 read; 20 end 1 read; 20 end 1 read", "",
	  "10-20 proved" },
	{ "works_that_are_there_twice_count_once",
	  "workqueue:workqueue_execute_start",
	  "10 begin 1 7; 10 begin 1 7; 20 end 1 7; 20 end 1 7;"
	  "30 begin 1 7; 40 end 1 7",
	  "", "10-20 proved; 30-40 proved" },
	{ "an_interrupt_is_one_of_its_processor", "irq:irq_handler_entry",
	  "10 begin 1 30; 20 end 1 30", "12-15 1 9", "10-20 proved" },
	{ "a_loss_of_its_processor_may_hide_an_interrupt",
	  "irq:irq_handler_entry", "10 begin 1 30; 20 end 1 30", "12-15 0 2",
	  "10-20 consistent loss" },
	{ "a_loss_of_an_unknown_processor_may_be_of_any",
	  "irq:irq_handler_entry", "10 begin 1 30; 20 end 1 30", "12-15 * 2",
	  "10-20 consistent loss" },
	{ "nested_interrupts_have_their_own_ends", "irq:irq_handler_entry",
	  "10 begin 1 30; 12 begin 1 31; 14 end 1 31; 20 end 1 30", "",
	  "12-14 proved; 10-20 proved" },
	{ "a_shared_line_has_an_interval_for_each_action",
	  "irq:irq_handler_entry",
	  "10 begin 1 30; 12 end 1 30; 12 begin 1 30; 20 end 1 30", "",
	  "10-12 proved; 12-20 proved" },
	{ "a_softirq_waits_since_it_was_raised_first", "irq:softirq_raise",
	  "5 end 1 3; 10 begin 1 3; 15 begin 1 3; 20 end 1 3", "",
	  "?-5 began before; 10-20 proved" },
	{ "an_earlier_raise_may_be_lost", "irq:softirq_raise",
	  "5 end 1 3; 10 begin 1 3; 20 end 1 3", "6-8 0 1",
	  "?-5 began before; 10-20 consistent loss" },
	{ "a_timer_that_starts_again_was_cancelled", "timer:timer_start",
	  "10 begin 1 7; 15 begin 1 7; 20 end 1 7", "",
	  "10-? cancelled restart; 15-20 proved" },
	{ "a_timer_that_is_cancelled_has_no_length", "timer:timer_start",
	  "10 begin 1 7; 15 cancel 1 7", "", "10-? cancelled cancel" },
	{ "one_lost_record_may_start_a_timer_again", "timer:timer_start",
	  "10 begin 1 7; 20 end 1 7", "12-15 0 1", "10-20 consistent loss" },
	{ "a_request_ends_on_another_processor", "block:block_rq_issue",
	  "10 begin 1 800; 20 end 2 800", "", "10-20 proved" },
	{ "a_request_that_was_merged_is_unexplained", "block:block_rq_issue",
	  "20 end 1 800", "-5 0 off", "?-20 unexplained merged" },
	{ "a_requeue_cancels_a_request", "block:block_rq_issue",
	  "10 begin 1 800; 12 cancel 1 800; 14 begin 1 800; 20 end 1 800", "",
	  "10-? cancelled cancel; 14-20 proved" },
	{ "a_mutex_begins_when_it_spins", "lock:contention_begin",
	  "10 begin 1 9; 12 begin 1 9; 20 end 1 9", "", "10-20 proved" },
	{ "where_it_begins_again_one_lost_record_may_be_an_end",
	  "lock:contention_begin", "10 begin 1 9; 15 begin 1 9; 20 end 1 9",
	  "12-14 0 1", "10-20 consistent loss" },
	{ "one_lost_record_behind_all_begins_is_no_end_and_begin",
	  "lock:contention_begin", "10 begin 1 9; 12 begin 1 9; 20 end 1 9",
	  "13-15 0 1", "10-20 proved" },
	{ "a_loss_that_a_begin_is_in_counts_once", "lock:contention_begin",
	  "10 first 1 9; 20 end 1 9", "8-14 0 1", "10-20 proved" },
	{ "a_lock_without_parts_that_begins_again_has_lost_its_end",
	  "lock:contention_begin", "10 first 1 9; 15 first 1 9; 20 end 1 9",
	  "12-14 0 1", "10-? end lost loss; 15-20 proved" },
	{ "a_mutex_that_is_woken_and_spins_is_the_same_wait",
	  "lock:contention_begin",
	  "10 begin 1 9; 12 part 1 9; 15 begin 1 9; 16 part 1 9; 20 end 1 9",
	  "", "10-20 proved" },
	{ "a_mutex_that_sleeps_has_begun_before", "lock:contention_begin",
	  "12 part 1 9; 20 end 1 9", "-5 0 off", "?-20 began before" },
	{ "two_lost_records_before_may_be_its_first_begins",
	  "lock:contention_begin", "10 begin 1 9; 20 end 1 9", "5-8 0 2",
	  "10-20 consistent loss" },
	{ "a_thread_that_ended_a_wait_was_in_no_other", "lock:contention_begin",
	  "5 begin 1 8; 9 end 1 8; 10 begin 1 9; 20 end 1 9", "3-4 0 1",
	  "5-9 proved; 10-20 proved" },
	{ "two_requests_at_one_sector_are_ambiguous", "block:block_rq_issue",
	  "10 begin 1 800; 12 begin 2 800; 15 end 1 800; 20 end 1 800", "",
	  "10-15 ambiguous [5-10]; 12-20 ambiguous [3-8]" },
	{ "three_have_the_ends_of_each_other", "block:block_rq_issue",
	  "10 begin 1 8; 12 begin 2 8; 15 end 1 8; 16 begin 1 8; 20 end 1 8;"
	  "21 end 1 8",
	  "",
	  "10-15 ambiguous [5-11]; 12-20 ambiguous [3-9];"
	  " 16-21 ambiguous [4-5]" },
	{ "a_loss_among_several_proves_nothing", "block:block_rq_issue",
	  "10 begin 1 8; 12 begin 2 8; 15 end 1 8; 20 end 1 8", "16-17 0 1",
	  "10-15 consistent loss; 12-20 consistent loss" },
	{ "one_lost_begin_may_take_the_end_of_a_request",
	  "block:block_rq_issue", "10 begin 1 8; 20 end 1 8", "12-15 0 1",
	  "10-20 consistent loss" },
	{ "an_end_too_many_proves_that_there_were_several",
	  "block:block_rq_issue", "10 begin 1 8; 20 end 1 8; 30 end 1 8",
	  "-5 0 off", "?-30 unexplained merged; 10-20 consistent start" },
	{ "one_of_several_that_is_queued_again_is_any", "block:block_rq_issue",
	  "10 begin 1 8; 12 begin 1 8; 14 cancel 1 8; 20 end 1 8", "",
	  "12-? cancelled cancel; 10-20 consistent merged" },
	{ "a_cancel_before_the_end_is_a_part_of_it", "timer:timer_start",
	  "10 begin 1 7; 19 cancel 1 7; 20 end 1 7", "", "10-20 proved" },
	{ "a_work_that_is_queued_again_is_one_of_both",
	  "workqueue:workqueue_queue_work",
	  "10 begin 1 7; 15 begin 1 7; 20 end 1 7", "",
	  "10-? unexplained; 15-20 consistent restart" },
	{ "the_other_one_may_end_later", "workqueue:workqueue_queue_work",
	  "10 begin 1 7; 15 begin 1 7; 20 end 1 7; 25 end 1 7", "",
	  "10-? unexplained; 15-20 consistent restart; ?-25 unexplained" },
	{ "one_lost_record_may_queue_a_work_again",
	  "workqueue:workqueue_queue_work", "10 begin 1 7; 20 end 1 7",
	  "12-15 1 1", "10-20 consistent loss" },
	{ "recursion_is_a_stack", NULL,
	  "10 begin 1 0; 12 begin 1 0; 14 end 1 0; 20 end 1 0", "",
	  "12-14 proved; 10-20 proved" },
	{ "a_timer_may_begin_again_in_a_task_that_records_nothing",
	  "timer:timer_start", "10 begin 1 7; 20 end 1 7", "12-15 1 task",
	  "10-20 consistent silent" },
	{ "what_it_did_has_no_begin", "timer:timer_start", "20 end 1 7",
	  "12-15 1 task", "?-20 begin lost silent" },
	{ "calls_of_others_are_whole_beside_it", "raw_syscalls:sys_enter",
	  "10 begin 1 read; 20 end 1 read", "12-15 0 task", "10-20 proved" },
	{ "not_where_any_record_is_missing", "raw_syscalls:sys_enter",
	  "10 begin 1 read; 20 end 1 read", "12-15 0 silent",
	  "10-20 consistent silent" },
	{ "one_lost_begin_of_a_recursion_may_move_an_end", NULL,
	  "10 begin 1 0; 20 end 1 0", "12-15 0 1", "10-20 consistent loss" },
};

/* Recursion, as --pair has it. */
static const struct pair_kind pairing_own = {
	.word = "own", .begin = "f", .end = "g", .again = PAIR_STACK
};

static const struct pair_kind *pairing_kind(const char *begin)
{
	for (size_t i = 0; begin && i < pair_kinds_n; i++)
		if (!strcmp(pair_kinds[i].begin, begin))
			return &pair_kinds[i];
	return &pairing_own;
}

static uint8_t pairing_call(const char *name)
{
	if (!strncmp(name, "exit", 4))
		return PAIRING_NEVER_RETURNS;
	if (!strcmp(name, "execve"))
		return PAIRING_EXEC;
	if (!strcmp(name, "clone") || !strcmp(name, "vfork"))
		return PAIRING_CLONE;
	return strcmp(name, "rt_sigreturn") ? PAIRING_PLAIN : PAIRING_SIGRETURN;
}

static int64_t pairing_number(const char *name)
{
	char *end;
	int64_t n = strtoll(name, &end, 10);

	return *end ? (int64_t)(hash_content(name, strlen(name), 0) >> 1) : n;
}

static void pairing_put(void *arg, const struct interval *i)
{
	char *out = arg;
	size_t n = strlen(out);
	char from[24] = "?";
	char to[24] = "?";

	if (i->begin != INTERVAL_NEVER)
		snprintf(from, sizeof(from), "%" PRId64, i->begin);
	if (i->end != INTERVAL_NEVER)
		snprintf(to, sizeof(to), "%" PRId64, i->end);
	snprintf(out + n, 512 - n, "%s%s-%s %s%s%s", n ? "; " : "", from, to,
		 interval_verdict_word(i->verdict), i->reason ? " " : "",
		 interval_reason_word(i->reason));
	n = strlen(out);
	if (i->verdict == INTERVAL_AMBIGUOUS)
		snprintf(out + n, 512 - n, " [%" PRId64 "-%" PRId64 "]",
			 i->least, i->most);
}

static void pairing_read_losses(struct lost_times *l, const char *text)
{
	char copy[256];
	char *save;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *p = strtok_r(copy, ";", &save); p;
	     p = strtok_r(NULL, ";", &save)) {
		struct lost_time t = { .from = INT64_MIN, .n = -1, .id = 1 };
		char *dash = strchr(p, '-');
		char cpu[8];
		char n[8];

		if (dash > p && dash[-1] != ' ')
			t.from = strtoll(p, NULL, 10);
		ck_assert_int_eq(
			sscanf(dash + 1, "%" SCNd64 " %7s %7s", &t.to, cpu, n),
			3);
		t.cpu = *cpu == '*' ? -1 : (int32_t)strtol(cpu, NULL, 10);
		t.of_tasks = !strcmp(n, "task");
		t.silent = t.of_tasks || !strcmp(n, "silent");
		if (t.silent || !strcmp(n, "off"))
			t.id = 0;
		else if (*n != '?')
			t.n = strtol(n, NULL, 10);
		lost_times_add(l, 0, &t);
	}
	lost_times_seal(l);
}

static void pairing_read(struct pairing *p, const struct pair_kind *k,
			 const char *text)
{
	char copy[512];
	char *save;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *at = strtok_r(copy, ";", &save); at;
	     at = strtok_r(NULL, ";", &save)) {
		struct pairing_record r = { .kind = k,
					    .event = 1,
					    .born = INT64_MIN };
		char role[8];
		char name[32];
		int n = sscanf(at, "%" SCNd64 " %7s %u %31s %" SCNd64, &r.time,
			       role, &r.thread, name, &r.ret);

		ck_assert_int_ge(n, 4);
		r.has_ret = n == 5;
		r.process = r.thread / 10;
		r.begins = *role == 'f'	  ? PAIRING_FIRST
			   : *role == 'p' ? PAIRING_PART
					  : PAIRING_EITHER;
		r.role = *role == 'e'	? PAIRING_END
			 : *role == 'c' ? PAIRING_CANCEL
					: PAIRING_BEGIN;
		if (k->calls) {
			r.tag = pairing_number(name);
			r.call = pairing_call(name);
		} else {
			r.key[0] = pairing_number(name);
		}
		pairing_take(p, &r);
	}
	pairing_end(p);
}

START_TEST(pairing_row_test)
{
	const struct pairing_row *row = &pairing_rows[_i];
	struct lost_times *l = mem_new(1, sizeof(*l));
	char got[512] = "";
	struct pairing *p = pairing_new(l, pairing_put, NULL, got);

	pairing_read_losses(l, row->losses);
	pairing_read(p, pairing_kind(row->kind), row->records);
	ck_assert_str_eq(got, row->intervals);
	pairing_free(p);
	lost_times_release(l);
	free(l);
}
END_TEST

/* ---- removed records */

#define TRUTH_THREADS 5
#define TRUTH_CPUS 3
#define TRUTH_RECORDS 400

struct truth_record {
	int64_t time, other; /* the time of its begin, or of its end */
	uint32_t thread;
	int32_t cpu;
	int64_t tag;
	bool begins, gone, told;
};

struct truth {
	struct truth_record r[TRUTH_RECORDS];
	size_t n;
	uint64_t proved, falsely, consistent;
};

/* Threads call, one after the other and on any processor: a few calls, so that
 * equal ones follow each other. */
static void truth_make(struct truth *t, uint64_t *seed)
{
	size_t open[TRUTH_THREADS];

	memset(open, 0xff, sizeof(open));
	*t = (struct truth){ .n = TRUTH_RECORDS };
	for (size_t i = 0; i < t->n; i++) {
		uint32_t thread = (uint32_t)rnd_below(seed, TRUTH_THREADS);
		struct truth_record *r = &t->r[i];

		*r = (struct truth_record){
			.time = (int64_t)i * 10 + 10,
			.other = INTERVAL_NEVER,
			.thread = thread + 1,
			.cpu = (int32_t)rnd_below(seed, TRUTH_CPUS),
			.tag = 1 + (int64_t)rnd_below(seed, 3),
			.begins = open[thread] == SIZE_MAX,
		};
		if (r->begins) {
			open[thread] = i;
			continue;
		}
		r->tag = t->r[open[thread]].tag;
		r->other = t->r[open[thread]].time;
		t->r[open[thread]].other = r->time;
		open[thread] = SIZE_MAX;
	}
}

/* Removes records of a ring: single ones, pairs or bursts. */
static void truth_remove(struct truth *t, uint64_t *seed)
{
	size_t burst = (size_t)1 << rnd_below(seed, 4);
	size_t times = 1 + rnd_below(seed, 6);

	for (size_t k = 0; k < times; k++) {
		int32_t cpu = (int32_t)rnd_below(seed, TRUTH_CPUS);
		size_t n = burst;

		for (size_t i = rnd_below(seed, t->n); n && i < t->n; i++)
			if (t->r[i].cpu == cpu && n--)
				t->r[i].gone = true;
	}
}

/* Tells what is missing between two neighbours of each ring. A recorder knows
 * no record of a ring behind the last one. */
static void truth_lose(const struct truth *t, struct lost_times *l)
{
	for (int32_t cpu = 0; cpu < TRUTH_CPUS; cpu++) {
		struct lost_time at = { .from = 0, .id = 1, .cpu = cpu };

		for (size_t i = 0; i < t->n; i++) {
			if (t->r[i].cpu != cpu)
				continue;
			if (t->r[i].gone) {
				at.n++;
				continue;
			}
			at.to = t->r[i].time;
			if (at.n)
				lost_times_add(l, 0, &at);
			at.from = at.to;
			at.n = 0;
		}
		at.to = INT64_MAX;
		at.n = -1;
		at.id = 0;
		lost_times_add(l, 0, &at);
	}
	lost_times_seal(l);
}

static struct truth_record *truth_record_at(struct truth *t, int64_t time)
{
	return time == INTERVAL_NEVER ? NULL : &t->r[time / 10 - 1];
}

static void truth_take(void *arg, const struct interval *i)
{
	struct truth *t = arg;
	struct truth_record *b = truth_record_at(t, i->begin);
	struct truth_record *e = truth_record_at(t, i->end);

	if (b)
		b->told = true;
	if (e)
		e->told = true;
	if (i->verdict == INTERVAL_CONSISTENT)
		t->consistent++;
	if (i->verdict != INTERVAL_PROVED)
		return;
	t->proved++;
	t->falsely += b->other != e->time;
}

/* Every record that is left is in an interval, and one whose other half was
 * removed is in none that is proved. */
START_TEST(no_proved_interval_is_false_whatever_is_removed)
{
	uint64_t seed = (uint64_t)_i + 1;
	uint64_t proved = 0;
	uint64_t consistent = 0;

	for (int k = 0; k < 2000 / RUN_FEWER; k++) {
		struct lost_times *l = mem_new(1, sizeof(*l));
		struct truth t;
		struct pairing *p = pairing_new(l, truth_take, NULL, &t);

		truth_make(&t, &seed);
		truth_remove(&t, &seed);
		truth_lose(&t, l);
		for (size_t i = 0; i < t.n; i++) {
			const struct truth_record *r = &t.r[i];
			const struct pairing_record one = {
				.kind = pairing_kind(CALLS),
				.time = r->time,
				.event = (int64_t)i + 1,
				.tag = r->tag,
				.thread = r->thread,
				.cpu = r->cpu,
				.role = r->begins ? PAIRING_BEGIN : PAIRING_END,
			};

			if (!r->gone)
				pairing_take(p, &one);
		}
		pairing_end(p);
		ck_assert_uint_eq(t.falsely, 0);
		for (size_t i = 0; i < t.n; i++)
			ck_assert(t.r[i].gone || t.r[i].told);
		proved += t.proved;
		consistent += t.consistent;
		pairing_free(p);
		lost_times_release(l);
		free(l);
	}
	ck_assert_uint_gt(proved, 0);
	ck_assert_uint_gt(consistent, 0);
}
END_TEST

START_TEST(calls_have_the_numbers_of_their_machine)
{
	static const struct {
		const char *machine;
		int64_t number;
		const char *name;
	} known[] = {
		{ "x86_64", 0, "read" },
		{ "x86_64", 59, "execve" },
		{ "i386", 3, "read" },
		{ "i386", 11, "execve" },
		{ "aarch64", 63, "read" },
		{ "aarch64", 221, "execve" },
		{ "aarch64", 62, "lseek" },
		{ "aarch64", 79, "newfstatat" },
		{ "aarch64", 98, "futex" },
		{ "aarch64", 113, "clock_gettime" },
		{ "aarch64", 291, "statx" },
		{ "s390x", 3, "read" },
		{ "s390x", 11, "execve" },
		{ "x86_64", 435, "clone3" },
		{ "s390x", 449, "futex_waitv" },
		{ "x86_64", 471, "rseq_slice_yield" },
		{ "aarch64", 470, "listns" },
		{ "x86_64", 336, "uprobe" },
		{ "x86_64", 5000, "NR 5000" },
		{ "x86_64", -1, "NR -1" },
		{ "mips", 3, "NR 3" },
		{ "", 3, "NR 3" },
		{ "all", 424, "NR 424" },
	};
	char name[CALLS_NAME];

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		ck_assert_str_eq(
			calls_name(known[i].machine, known[i].number, name),
			known[i].name);
}
END_TEST

START_TEST(names_of_events_match_as_recorders_write_them)
{
	const char *rest;
	size_t n;

	ck_assert(pair_name_is("irq:softirq_entry", "irq:softirq_entry", &rest,
			       &n));
	ck_assert(
		pair_name_is("irq:softirq_entry", "softirq_entry", &rest, &n));
	ck_assert(pair_name_is("irq:softirq_entry", "irq:softirq_entry:k",
			       &rest, &n));
	ck_assert(pair_name_is("irq:softirq_entry", "inst/irq:softirq_entry",
			       &rest, &n));
	ck_assert(pair_name_is("lock:contention_begin",
			       "lock:contention_begin/s=1/", &rest, &n));
	ck_assert(!pair_name_is("irq:softirq_entry", "irq:softirq_entry2",
				&rest, &n));
	ck_assert(pair_name_is("syscalls:sys_enter_*",
			       "syscalls:sys_enter_read", &rest, &n));
	ck_assert_uint_eq(n, 4);
	ck_assert(!pair_name_is("syscalls:sys_enter_*", "syscalls:sys_enter_",
				&rest, &n));
}
END_TEST

static const struct run_table pairing_tables[] = {
	RUN_TABLE(pairing_row_test, pairing_rows),
	RUN_TIMES(no_proved_interval_is_false_whatever_is_removed, 4),
};

RUN_TABLES("pairing", pairing_tables, calls_have_the_numbers_of_their_machine,
	   names_of_events_match_as_recorders_write_them)
