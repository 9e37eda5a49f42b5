/* task_rules.c - which records scheduling events lead to. */
#include <check.h>

#include "formats/reader/task_rules.h"
#include "run.h"
#include "stitch/record.h"

static struct known_tasks known;

static unsigned int told_of(enum event_role role, int64_t tid, const char *name,
			    int64_t tid2, const char *name2)
{
	const struct task_event ev = {
		.role = role,
		.tid = tid,
		.tid2 = tid2,
		.name = scan_of(name, name ? strlen(name) : 0),
		.name2 = scan_of(name2, name2 ? strlen(name2) : 0),
		.copies = true,
		.clone_flags = -1,
	};

	return known_tasks_event(&known, &ev);
}

START_TEST(a_name_is_a_record_only_when_it_is_new)
{
	ck_assert_uint_eq(told_of(ROLE_SWITCH, 7, "a", 8, "b"),
			  TASK_COMM | TASK_COMM2);
	ck_assert_uint_eq(told_of(ROLE_SWITCH, 7, "a", 8, "c"), TASK_COMM2);
	ck_assert_uint_eq(told_of(ROLE_NAMED, 7, "a", -1, NULL), 0);
	ck_assert_uint_eq(told_of(ROLE_RENAME, 7, "", -1, NULL), TASK_COMM);
	ck_assert_uint_eq(told_of(ROLE_RENAME, 7, "", -1, NULL), 0);
	ck_assert_uint_eq(told_of(ROLE_RENAME, 7, "a", -1, NULL), TASK_COMM);
	ck_assert(!known_tasks_rename(&known, 7, "z", 1, false));
	ck_assert(known_tasks_rename(&known, 9, "z", 1, false));
	ck_assert_uint_eq(told_of(ROLE_NAMED, 9, "y", -1, NULL), TASK_COMM);
	/* the ends of what Linux has */
	ck_assert(known_tasks_rename(&known, (1 << 22) - 1, "z", 1, false));
	ck_assert(known_tasks_has_name(&known, (1 << 22) - 1));
	ck_assert(!known_tasks_has_name(&known, (1 << 22) - 2));
	ck_assert(!known_tasks_rename(&known, 1 << 22, "z", 1, true));
	ck_assert(!known_tasks_has_name(&known, 1 << 22));
	known_tasks_release(&known);
}
END_TEST

START_TEST(a_fork_is_told_once_until_the_task_ends)
{
	ck_assert_uint_eq(told_of(ROLE_NEWTASK, 7, "a", 9, "a"),
			  TASK_FORK | TASK_COMM2);
	ck_assert_uint_eq(told_of(ROLE_FORK, 7, "a", 9, "a"), TASK_COMM);
	ck_assert_uint_eq(told_of(ROLE_EXIT, 9, "a", -1, NULL), TASK_EXIT);
	ck_assert_uint_eq(told_of(ROLE_FORK, 7, "a", 9, "a"),
			  TASK_FORK | TASK_COMM2);
	ck_assert_uint_eq(told_of(ROLE_FORK, 7, "a", 0, "a"), 0);
	known_tasks_release(&known);
}
END_TEST

START_TEST(a_fork_with_flags_tells_the_process_until_records_are_lost)
{
	struct task_event ev = {
		.role = ROLE_NEWTASK, .tid = 7, .tid2 = 9, .copies = true
	};

	ck_assert(!known_tasks_has_process(&known, 9));
	known_tasks_event(&known, &ev);
	ck_assert(known_tasks_has_process(&known, 9));
	/* a thread of that process, and of one that is not known */
	ev = (struct task_event){ ROLE_NEWTASK, .tid = 9, .tid2 = 10,
				  .clone_flags = 0x10000 };
	known_tasks_event(&known, &ev);
	ck_assert(known_tasks_has_process(&known, 10));
	ev.tid = 7;
	ev.tid2 = 11;
	known_tasks_event(&known, &ev);
	ck_assert(!known_tasks_has_process(&known, 11));
	ev.has_process = true;
	known_tasks_event(&known, &ev);
	ck_assert(known_tasks_has_process(&known, 11));
	/* a fork that does not tell begins another life */
	ev = (struct task_event){ ROLE_FORK, .tid = 7, .tid2 = 11,
				  .clone_flags = -1 };
	known_tasks_event(&known, &ev);
	ck_assert(!known_tasks_has_process(&known, 11));
	known.n_lost++;
	ck_assert(!known_tasks_has_process(&known, 9));
	ck_assert(!known_tasks_has_process(&known, 10));
	known_tasks_release(&known);
}
END_TEST

START_TEST(an_exec_is_told_even_with_the_same_name)
{
	ck_assert_uint_eq(told_of(ROLE_NAMED, 7, "a", -1, NULL), TASK_COMM);
	ck_assert_uint_eq(told_of(ROLE_EXEC, 7, "a", -1, NULL), TASK_COMM);
	ck_assert_uint_eq(told_of(ROLE_EXEC, 7, NULL, -1, NULL), 0);
	known_tasks_release(&known);
}
END_TEST

START_TEST(clone_flags_tell_the_process_of_a_child)
{
	struct task_event ev = { .tid2 = 9, .clone_flags = 0x10000 };
	struct record rec = { .tid = 7 };

	task_fork_record(&ev, 5, -1, &rec);
	ck_assert_int_eq(rec.pid, 5);
	ck_assert_int_eq(rec.fork.ptid, 7);
	ck_assert_int_eq(rec.fork.ppid, -1);
	ev.clone_flags = 0;
	rec = (struct record){ .tid = 7 };
	task_fork_record(&ev, 5, -1, &rec);
	ck_assert_int_eq(rec.pid, 9);
	ev.clone_flags = -1;
	rec = (struct record){ .tid = 7 };
	task_fork_record(&ev, 5, -1, &rec);
	ck_assert_int_eq(rec.pid, -1);
	ck_assert_int_eq(rec.fork.ptid, -1);
}
END_TEST

START_TEST(fields_of_an_event_by_its_name)
{
	const struct task_fields *f = task_fields_find("sched", "sched_switch");

	ck_assert_str_eq(f->tid2, "next_pid");
	ck_assert_int_eq(task_fields_find("sched", "sched_waking")->role,
			 ROLE_NAMED);
	ck_assert_ptr_null(task_fields_find("irq", "softirq_entry"));
	/* the name of the thread that waits, and the id of another */
	ck_assert_ptr_null(task_fields_find("sched", "sched_process_wait"));
}
END_TEST

RUN("task_rules", a_name_is_a_record_only_when_it_is_new,
    a_fork_is_told_once_until_the_task_ends,
    a_fork_with_flags_tells_the_process_until_records_are_lost,
    an_exec_is_told_even_with_the_same_name,
    clone_flags_tell_the_process_of_a_child, fields_of_an_event_by_its_name)
