/* pair_kinds.c - the table of pairs of events, and how names match it; parses
 * texts that programs write to trace_marker. */
#include "analyze/latency/pair_kinds.h"

#include <stdio.h>
#include <string.h>

/* Takes the part up to the first '|', or all of it. */
static struct marker_part marker_take(struct marker_part *s)
{
	const char *bar = memchr(s->p, '|', s->n);
	struct marker_part out = { s->p, bar ? (size_t)(bar - s->p) : s->n };
	size_t gone = out.n + (bar != NULL);

	s->p += gone;
	s->n -= gone;
	return out;
}

/* Takes the part after the last '|'. Returns false if there is none. */
static bool marker_take_last(struct marker_part *s, struct marker_part *out)
{
	size_t n = s->n;

	while (n && s->p[n - 1] != '|')
		n--;
	*out = (struct marker_part){ s->p + n, s->n - n };
	if (!n)
		return false;
	s->n = n - 1;
	return true;
}

static bool marker_is_number(struct marker_part s)
{
	size_t n = s.n && s.p[0] == '-';

	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n == s.n && s.n && s.p[n - 1] != '-';
}

/* Removes what some writers add to the text of atrace: Chromium
 * "|KEY=VALUE;KEY=VALUE|CATEGORY", OpenHarmony a level and a tag, "|M62". */
static void marker_cut(struct marker_part *s)
{
	struct marker_part rest = *s, last, args;

	if (!marker_take_last(&rest, &last) || !rest.n)
		return;
	if (!strncmp(rest.p, "H:", 2) && last.n == 3 &&
	    memchr("DICM", last.p[0], 4) &&
	    marker_is_number((struct marker_part){ last.p + 1, 2 })) {
		*s = rest;
		return;
	}
	if (!last.n || !marker_take_last(&rest, &args) || !rest.n)
		return;
	for (size_t n; args.n; args.p += n, args.n -= n) {
		const char *end = memchr(args.p, ';', args.n);

		n = end ? (size_t)(end - args.p) + 1 : args.n;
		if (!memchr(args.p, '=', n))
			return;
	}
	*s = rest;
}

/* Takes a cookie, or the value of a counter, which a category may follow;
 * OpenHarmony writes it after a blank. Returns false if there is none. */
static bool marker_take_cookie(struct marker_part *s, struct marker_part *out,
			       bool counts)
{
	struct marker_part rest = *s, before;

	if (marker_take_last(s, out)) {
		rest = *s;
		if (counts && !marker_is_number(*out) &&
		    marker_take_last(&rest, &before) &&
		    marker_is_number(before)) {
			*s = rest;
			*out = before;
		}
		return true;
	}
	while (s->n && s->p[s->n - 1] != ' ')
		s->n--;
	*out = (struct marker_part){ s->p + s->n, rest.n - s->n };
	if (!s->n || strncmp(s->p, "H:", 2) != 0 || !marker_is_number(*out))
		return false;
	s->n--;
	return true;
}

bool marker_parse(const char *text, struct marker *out)
{
	struct marker_part s = { text, strlen(text) };
	struct marker_part pid;

	*out = (struct marker){ .letter = text[0] };
	while (s.n && strchr("\n\r ", s.p[s.n - 1]))
		s.n--;
	if (!s.n || !strchr("BESFGHCIN", text[0]) ||
	    (s.n > 1 && text[1] != '|'))
		return false;
	if (s.n == 1)
		return text[0] == 'E';
	s.p += 2;
	s.n -= 2;
	pid = marker_take(&s);
	for (size_t i = 0; i < pid.n && i < 10; i++) {
		/* some writers have the name there, which no end needs */
		if (pid.p[i] < '0' || pid.p[i] > '9')
			return text[0] == 'E';
		out->pid = out->pid * 10 + (pid.p[i] - '0');
	}
	if (strchr("BSF", text[0]))
		marker_cut(&s);
	if (strchr("SFGHC", text[0]) &&
	    !marker_take_cookie(&s, &out->cookie, text[0] == 'C'))
		return false;
	if (text[0] == 'G' || text[0] == 'N')
		out->track = marker_take(&s);
	else if (text[0] == 'H')
		out->track = s;
	if (text[0] != 'E' && text[0] != 'H')
		out->name = s;
	return text[0] == 'E' || s.n;
}

/* Each row names the functions of Linux that trace, and when they write a begin
 * and an end. "Read" has the versions, as far as the text shows them, of the
 * sources in which that was looked up again; a row without it was only compared
 * with recorded events (tests/pairs).
 *
 * raw_syscalls come first: with both, syscalls:* repeats some of them. */
const struct pair_kind pair_kinds[] = {
	/* kernel/entry/common.c and arch/: syscall_trace_enter(),
	 * syscall_exit_work(). A thread has one call at a time; exec returns in
	 * the first thread of the process, clone in both, sigreturn with the
	 * number -1 on x86-64, exit never. What a signal restarts is a call of
	 * its own. One that a tracer or seccomp denies has an exit without an
	 * enter. Read: 5.11. */
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
	/* kernel/irq/handle.c: __handle_irq_event_percpu(). A line that is
	 * shared has an entry and an exit for each action, one after the other;
	 * a line does not interrupt itself. Lines of a CPU and NMIs have theirs
	 * in kernel/irq/chip.c. Read: 2.6.36 (handle_IRQ_event()), 5.x, 6.19.
	 */
	{ .word = "irq",
	  .begin = "irq:irq_handler_entry",
	  .end = "irq:irq_handler_exit",
	  .key = { "irq" },
	  .name = "name",
	  .scope = PAIR_CPU },
	/* kernel/softirq.c: handle_softirqs() (__do_softirq() before 6.9),
	 * which a CPU runs once at a time. Read: 6.1 with later fixes. */
	{ .word = "softirq",
	  .begin = "irq:softirq_entry",
	  .end = "irq:softirq_exit",
	  .key = { "vec" },
	  .scope = PAIR_CPU },
	/* __raise_softirq_irqoff() traces, and sets a bit that may be set
	 * already: a softirq that is raised again before it runs runs once.
	 * Read: as above. */
	{ .word = "softirq-wait",
	  .begin = "irq:softirq_raise",
	  .end = "irq:softirq_entry",
	  .key = { "vec" },
	  .again = PAIR_PART,
	  .scope = PAIR_CPU },
	/* block/blk-mq.c: blk_mq_start_request(), blk_update_request() for each
	 * part that a driver reports as done, with the sector where it begins,
	 * blk_complete_request() for all of it (batches, since 5.16), and
	 * __blk_mq_requeue_request(). Read: 5.15, 6.18; blk_insert_flush():
	 * 5.15. A request of two threads for the same sectors is two requests
	 * with the same fields. The operation of a request does not change, but
	 * block/blk-flush.c clears PREFLUSH and FUA of the requests that it
	 * issues itself: it completes a sequence once more, with no sectors. A
	 * flush is issued at sector 0 (blk_rq_trace_sector()), or -1 before
	 * 5.14, and completes at -1. */
	{ .word = "block",
	  .begin = "block:block_rq_issue",
	  .end = "block:block_rq_complete",
	  .cancel = "block:block_rq_requeue",
	  .key = { "dev", "sector" },
	  .direction = "rwbs",
	  .length = "nr_sector",
	  .again = PAIR_SET,
	  .scope = PAIR_ANY },
	/* block/blk-mq.c and the elevators: a request that is inserted may be
	 * merged into another, which then is issued with another length, and is
	 * no longer issued itself: attempt_merge() traces block_rq_merge for it
	 * since 5.9. Read: 5.10, 5.11, 6.18; blk_mq_insert_requests(): 6.4. A
	 * request that is issued directly was not inserted, so that it may be
	 * taken for a merged one at the same sectors. */
	{ .word = "block-queue",
	  .begin = "block:block_rq_insert",
	  .end = "block:block_rq_issue",
	  .cancel = "block:block_rq_merge",
	  .direct = true,
	  .key = { "dev", "sector" },
	  .direction = "rwbs",
	  .length = "nr_sector",
	  .again = PAIR_EITHER,
	  .scope = PAIR_ANY },
	/* kernel/workqueue.c: process_one_work(), in the worker's thread, which
	 * has one work at a time; the work may be gone at the end, and its
	 * memory another work. Read: 5.x, 6.5. */
	{ .word = "work",
	  .begin = "workqueue:workqueue_execute_start",
	  .end = "workqueue:workqueue_execute_end",
	  .key = { "work" },
	  .name = "function" },
	/* __queue_work(), of a work that is not pending. process_one_work()
	 * clears PENDING before it traces the start, so that it may be queued
	 * in between, which takes a few instructions if nothing interrupts it.
	 * Read: 5.x, 6.5, 6.18. cancel_work() and mod_delayed_work() trace
	 * nothing, nor does insert_wq_barrier(), whose works start without
	 * having been queued. */
	{ .word = "work-wait",
	  .begin = "workqueue:workqueue_queue_work",
	  .end = "workqueue:workqueue_execute_start",
	  .key = { "work" },
	  .name = "function",
	  .again = PAIR_EITHER,
	  .is_pending = true,
	  .scope = PAIR_ANY },
	/* __queue_work(), or later pwq_activate_work() (__pwq_activate_work()
	 * since 6.9): once for each time that it is queued, when max_active
	 * lets it run. Read: 5.x, 6.9, 6.18. */
	{ .word = "work-ready",
	  .begin = "workqueue:workqueue_activate_work",
	  .end = "workqueue:workqueue_execute_start",
	  .key = { "work" },
	  .name = "function",
	  .again = PAIR_EITHER,
	  .is_pending = true,
	  .scope = PAIR_ANY },
	/* kernel/softirq.c: tasklet_action_common(), since 6.4. A tasklet runs
	 * on one CPU at a time (tasklet_trylock()), one after another. Read:
	 * 6.1 with later fixes, which has the events with the function alone;
	 * 6.12. */
	{ .word = "tasklet",
	  .begin = "irq:tasklet_entry",
	  .end = "irq:tasklet_exit",
	  .key = { "tasklet" },
	  .name = "func",
	  .scope = PAIR_CPU },
	/* kernel/time/timer.c: call_timer_fn(), and
	 * kernel/time/hrtimer.c: __run_hrtimer(). Read, of the second: 5.x,
	 * 7.1. */
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
	/* mod_timer() of a timer that waits traces a cancel, if it is moved,
	 * and a start. detach_timer() and __run_hrtimer() trace a cancel of a
	 * timer that expires, too, just before the entry; for hrtimers,
	 * hrtimer_start has was_armed since 7.1, and neither a start nor an
	 * expiry has a cancel. Read: debug_deactivate() of both in 5.x,
	 * hrtimers in 7.1. */
	{ .word = "timer-wait",
	  .begin = "timer:timer_start",
	  .end = "timer:timer_expire_entry",
	  .cancel = "timer:timer_cancel",
	  .key = { "timer" },
	  .name = "function",
	  .again = PAIR_RESTART,
	  .scope = PAIR_ANY,
	  .cancel_ends = true },
	{ .word = "timer-wait",
	  .begin = "timer:hrtimer_start",
	  .end = "timer:hrtimer_expire_entry",
	  .cancel = "timer:hrtimer_cancel",
	  .key = { "hrtimer" },
	  .name = "function",
	  .again = PAIR_RESTART,
	  .scope = PAIR_ANY,
	  .cancel_ends = true },
	/* kernel/locking/mutex.c, since 5.19: __mutex_lock_common() begins with
	 * MUTEX|SPIN; when it goes to sleep, with MUTEX; and with both again
	 * each time that the first waiter is woken, until it ends. Read: 6.1,
	 * 6.17, 7.1. The other locks there (queued spinlocks and rwlocks,
	 * rwsem, rtmutex, its rwbase, percpu-rwsem, semaphores) begin once; a
	 * lock inside them has another address. No thread waits for a lock
	 * twice at a time: no interrupt takes the lock that it interrupted. */
	{ .word = "lock",
	  .begin = "lock:contention_begin",
	  .end = "lock:contention_end",
	  .key = { "lock_addr" },
	  .object = "lock_addr",
	  .part = { "flags", { 32, "MUTEX" }, { 1, "SPIN" } },
	  .again = PAIR_PART },
	/* mm/vmscan.c: try_to_free_pages(), try_to_free_mem_cgroup_pages(),
	 * __node_reclaim(): a thread reclaims in one of them at a time, as
	 * PF_MEMALLOC keeps its allocations meanwhile from another. Read: 3.8,
	 * 5.3, 6.18, of the first two. */
	{ .word = "reclaim",
	  .begin = "vmscan:mm_vmscan_direct_reclaim_begin",
	  .end = "vmscan:mm_vmscan_direct_reclaim_end",
	  .name = "order" },
	{ .word = "reclaim",
	  .begin = "vmscan:mm_vmscan_memcg_reclaim_begin",
	  .end = "vmscan:mm_vmscan_memcg_reclaim_end",
	  .name = "order" },
	{ .word = "reclaim",
	  .begin = "vmscan:mm_vmscan_node_reclaim_begin",
	  .end = "vmscan:mm_vmscan_node_reclaim_end",
	  .name = "order" },
	/* mm/compaction.c: compact_zone(), of a thread that allocates or of
	 * kcompactd, which are in it once: it calls migrate_pages() with pages
	 * of its own. Read: 4.4, 4.9, 5.18, from the begin on. */
	{ .word = "compaction",
	  .begin = "compaction:mm_compaction_begin",
	  .end = "compaction:mm_compaction_end" },
	/* mm/migrate.c: migrate_pages(), which has a begin since 5.17. A thread
	 * that gets memory for the pages it moves may compact, and so is in it
	 * twice. Read: 5.17, 6.5, 6.18, of the begin. */
	{ .word = "migration",
	  .begin = "migrate:mm_migrate_pages_start",
	  .end = "migrate:mm_migrate_pages",
	  .name = "reason",
	  .again = PAIR_STACK },
	/* drivers/dma-buf/dma-fence.c: dma_fence_init(), and
	 * dma_fence_signal_timestamp_locked() (and i915, of its own) once for
	 * each; one that is freed before has a destroy alone. A driver may make
	 * several with one number. Since 6.17 the end has other names. Read:
	 * 4.9 (init), 6.1 (i915), 7.1. */
	{ .word = "fence",
	  .begin = "dma_fence:dma_fence_init",
	  .end = "dma_fence:dma_fence_signaled",
	  .cancel = "dma_fence:dma_fence_destroy",
	  .key = { "context", "seqno" },
	  .name = "timeline",
	  .again = PAIR_SET,
	  .scope = PAIR_ANY },
	/* drivers/dma-buf/dma-fence.c: dma_fence_wait_timeout(), around the
	 * driver's own wait; dma_fence_wait_any_timeout() has no records. Read:
	 * 4.10, 4.11, 6.12. */
	{ .word = "fence-wait",
	  .begin = "dma_fence:dma_fence_wait_start",
	  .end = "dma_fence:dma_fence_wait_end",
	  .key = { "context", "seqno" },
	  .name = "timeline" },
	/* arch/x86/kvm/x86.c: vcpu_enter_guest(), which goes on as long as
	 * svm_vcpu_run(), vmx_vcpu_run() and tdx_vcpu_run() say that the guest
	 * is entered again (EXIT_FASTPATH_REENTER_GUEST). These trace the entry
	 * by 6.8; before, such an exit may have none. Read: 6.8, 6.18. */
	{ .word = "kvm",
	  .begin = "kvm:kvm_exit",
	  .end = "kvm:kvm_entry",
	  .name = "exit_reason" },
	/* kernel/trace/trace_functions_graph.c: trace_graph_entry() writes the
	 * begin and then takes calltime (before it, in 7.2);
	 * trace_graph_return() takes rettime and then writes the end, if the
	 * return address was replaced. A thread has one call of each depth at a
	 * time, those of interrupts among them. The second form has the return
	 * address: 6.13. With tracing_thresh there are no begins. */
	{ .word = "call",
	  .begin = "ftrace:funcgraph_entry",
	  .begin_too = "ftrace:fgraph_retaddr_entry",
	  .end = "ftrace:funcgraph_exit",
	  .name = "func",
	  .again = PAIR_NEST,
	  .counted = true },
	/* gcc's -finstrument-functions with liblttng-ust-cyg-profile.so, or
	 * with liblttng-ust-cyg-profile-fast.so, whose ends have no fields:
	 * LTTng-UST 2.1 to 2.14. The innermost frames of their stacks have the
	 * names. longjmp leaves functions without an end. */
	{ .word = "user-call",
	  .begin = "lttng_ust_cyg_profile:func_entry",
	  .end = "lttng_ust_cyg_profile:func_exit",
	  .name = "addr",
	  .again = PAIR_NEST,
	  .here = true },
	{ .word = "user-call",
	  .begin = "lttng_ust_cyg_profile_fast:func_entry",
	  .end = "lttng_ust_cyg_profile_fast:func_exit",
	  .name = "addr",
	  .again = PAIR_NEST,
	  .here = true },
	/* kernel/trace/trace_kprobe.c, kernel/trace/trace_uprobe.c and, since
	 * 6.5, kernel/trace/trace_fprobe.c: a probe on the begin of a function
	 * has __probe_ip, one on its return __probe_func. The returns of a
	 * thread come in the order of rethooks (kretprobe instances before
	 * 6.7), which may run out: such a return is missed, and counted in
	 * kprobe_profile alone. */
	{ .word = "probe",
	  .begin = "probe:NAME",
	  .end = "probe:NAME__return",
	  .again = PAIR_NEST,
	  .probes = true },
	/* Texts that programs write to trace_marker, as atrace, systrace and
	 * Chromium do: "B|PID|NAME" and "E" of a thread, "S|PID|NAME|COOKIE"
	 * and "F" of a process, "G|PID|TRACK|NAME|COOKIE" and
	 * "H|PID|TRACK|COOKIE". */
	{ .word = "slice",
	  .begin = "ftrace:print",
	  .end = "ftrace:print",
	  .marks = "BE",
	  .again = PAIR_NEST },
	{ .word = "async",
	  .begin = "ftrace:print",
	  .end = "ftrace:print",
	  .marks = "SF",
	  .key = { "pid", "cookie", "name" },
	  .scope = PAIR_ANY },
	{ .word = "async",
	  .begin = "ftrace:print",
	  .end = "ftrace:print",
	  .marks = "GH",
	  .key = { "pid", "cookie", "track" },
	  .scope = PAIR_ANY },
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
	/* modifiers may follow: "sched:sched_switch/max-stack=8/" */
	*rest = event + n;
	*len = strcspn(*rest, ":/");
	return star ? *len > 0 : *len == 0;
}

/* blk_fill_rwbs(), kernel/trace/blktrace.c: PREFLUSH, then the operation, then
 * the flags: FUA, read-ahead, sync, meta. */
int64_t pair_direction(const char *text, int64_t flags)
{
	/* write, discard, read and flush of LTTng's enum block_rq_type */
	if (!text)
		return flags & 0x107;
	return text[0] == 'F' && text[1] && strchr("RWDNZ", text[1]) ? text[1]
								     : text[0];
}

/* perf probe: "NAME" and "NAME__return", both with "_N" where there are several
 * (tools/perf/util/probe-event.c, get_new_event_name()). tracefs: "p_NAME_OFF"
 * and "r_NAME_OFF" unless a name is given, and of fprobes "NAME__entry" and
 * "NAME__exit". */
bool pair_probe_name(const char *event, char name[PAIR_PROBE_NAME])
{
	static const char *const suffix[] = { "__return", "__exit", "__entry" };
	const char *colon = strchr(event, ':');
	const char *bare = colon ? colon + 1 : event;
	int len = (int)strcspn(bare, ":/");
	bool returns = !strncmp(bare, "r_", 2);

	if (returns || !strncmp(bare, "p_", 2)) {
		/* with offset 0, NAME is that of the function */
		if (len > 4 && !strncmp(bare + len - 2, "_0", 2))
			len -= 2;
		snprintf(name, PAIR_PROBE_NAME, "%.*s", len - 2, bare + 2);
		return returns;
	}
	snprintf(name, PAIR_PROBE_NAME, "%.*s", len, bare);
	for (size_t i = 0; i < sizeof(suffix) / sizeof(*suffix); i++) {
		char *at = strstr(name, suffix[i]);
		const char *rest = at ? at + strlen(suffix[i]) : NULL;

		if (!at || rest[strspn(rest, "_0123456789")])
			continue;
		memmove(at, rest, strlen(rest) + 1);
		return i < 2;
	}
	return false;
}

const struct pair_kind *pair_nests(const char *event)
{
	char probe[PAIR_PROBE_NAME];

	for (size_t i = 0; i < pair_kinds_n; i++) {
		const struct pair_kind *k = &pair_kinds[i];
		const char *const of[] = { k->begin, k->end, k->begin_too };
		const char *rest;
		size_t len;

		if (k->again == PAIR_NEST && k->probes &&
		    pair_probe_name(event, probe))
			return k;
		for (size_t e = 0; e < 3 && k->again == PAIR_NEST; e++)
			if (of[e] && pair_name_is(of[e], event, &rest, &len))
				return k;
	}
	return NULL;
}
