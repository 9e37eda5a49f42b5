/* pair_kinds.c - the table of pairs of events, and how names match it. */
#include "analyze/latency/pair_kinds.h"

#include <string.h>

/* raw_syscalls come first: with both, syscalls:* repeats some of them. */
const struct pair_kind pair_kinds[] = {
	{ .word = "syscall",
	  .begin = "raw_syscalls:sys_enter",
	  .end = "raw_syscalls:sys_exit",
	  .tag = "id",
	  .calls = true },
	{ .word = "syscall",
	  .begin = "syscalls:sys_enter_*",
	  .end = "syscalls:sys_exit_*",
	  .calls = true },
	{ .word = "syscall",
	  .begin = "syscall_entry_*",
	  .end = "syscall_exit_*",
	  .calls = true },
	{ .word = "syscall",
	  .begin = "compat_syscall_entry_*",
	  .end = "compat_syscall_exit_*",
	  .calls = true },
	/* A line that is shared has an entry and an exit for each action, one
	 * after the other. */
	{ .word = "irq",
	  .begin = "irq:irq_handler_entry",
	  .end = "irq:irq_handler_exit",
	  .key = { "irq" },
	  .name = "name",
	  .scope = PAIR_CPU },
	{ .word = "softirq",
	  .begin = "irq:softirq_entry",
	  .end = "irq:softirq_exit",
	  .key = { "vec" },
	  .scope = PAIR_CPU },
	/* A softirq that is raised again before it runs runs once. */
	{ .word = "softirq-wait",
	  .begin = "irq:softirq_raise",
	  .end = "irq:softirq_entry",
	  .key = { "vec" },
	  .rule = PAIR_FIRST,
	  .scope = PAIR_CPU },
	{ .word = "block",
	  .begin = "block:block_rq_issue",
	  .end = "block:block_rq_complete",
	  .cancel = "block:block_rq_requeue",
	  .key = { "dev", "sector" },
	  .scope = PAIR_ANY,
	  .loose = true },
	{ .word = "block-queue",
	  .begin = "block:block_rq_insert",
	  .end = "block:block_rq_issue",
	  .key = { "dev", "sector" },
	  .scope = PAIR_ANY,
	  .loose = true },
	{ .word = "work",
	  .begin = "workqueue:workqueue_execute_start",
	  .end = "workqueue:workqueue_execute_end",
	  .key = { "work" },
	  .name = "function" },
	/* PENDING is cleared before execute_start, so a work that queues itself
	 * has its start first. */
	{ .word = "work-wait",
	  .begin = "workqueue:workqueue_queue_work",
	  .end = "workqueue:workqueue_execute_start",
	  .key = { "work" },
	  .name = "function",
	  .scope = PAIR_ANY },
	{ .word = "timer",
	  .begin = "timer:timer_expire_entry",
	  .end = "timer:timer_expire_exit",
	  .key = { "timer" },
	  .name = "function",
	  .scope = PAIR_CPU },
	{ .word = "timer",
	  .begin = "timer:hrtimer_expire_entry",
	  .end = "timer:hrtimer_expire_exit",
	  .key = { "hrtimer" },
	  .name = "function",
	  .scope = PAIR_CPU },
	/* mod_timer() of one that waits has no timer_cancel, only a start. */
	{ .word = "timer-wait",
	  .begin = "timer:timer_start",
	  .end = "timer:timer_expire_entry",
	  .cancel = "timer:timer_cancel",
	  .key = { "timer" },
	  .name = "function",
	  .rule = PAIR_AGAIN,
	  .scope = PAIR_ANY },
	{ .word = "timer-wait",
	  .begin = "timer:hrtimer_start",
	  .end = "timer:hrtimer_expire_entry",
	  .cancel = "timer:hrtimer_cancel",
	  .key = { "hrtimer" },
	  .name = "function",
	  .rule = PAIR_AGAIN,
	  .scope = PAIR_ANY },
	/* A mutex begins twice: when the thread spins, and when it goes to
	 * sleep (Linux 6.0, kernel/locking/mutex.c). */
	{ .word = "lock",
	  .begin = "lock:contention_begin",
	  .end = "lock:contention_end",
	  .key = { "lock_addr" },
	  .rule = PAIR_FIRST },
	{ .word = "kvm",
	  .begin = "kvm:kvm_exit",
	  .end = "kvm:kvm_entry",
	  .name = "exit_reason" },
};
const size_t pair_kinds_n = sizeof(pair_kinds) / sizeof(*pair_kinds);

bool pair_name_is(const char *pattern, const char *event, const char **rest,
		  size_t *len)
{
	const char *colon = strchr(event, ':');
	const char *slash = strchr(event, '/');
	size_t n = strlen(pattern);
	bool star = pattern[n - 1] == '*';
	const char *bare = strchr(pattern, ':');

	/* an event of an ftrace instance: "INSTANCE/system:name" */
	if (slash && colon && slash < colon)
		event = slash + 1;
	/* LTTng has no systems */
	if (!colon && bare)
		pattern = bare + 1;
	n = strlen(pattern) - star;
	*len = 0;
	if (strncmp(pattern, event, n) != 0)
		return false;
	/* behind it may be modifiers: "sched:sched_switch/max-stack=8/" */
	*rest = event + n;
	*len = strcspn(*rest, ":/");
	return star ? *len > 0 : *len == 0;
}
