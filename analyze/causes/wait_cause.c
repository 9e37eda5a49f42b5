/* wait_cause.c - finds what a thread waits for from the kernel functions in its
 * stack. */
#include "analyze/causes/wait_cause.h"

#include "analyze/causes/softirq.h"
#include "analyze/samples/code.h"
#include "analyze/stacks/label.h"
#include "analyze/causes/offcpu.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/words.h"
#include "stitch/files/path.h"

#define CAUSE_DIFFERS 255

struct wait_causes {
	struct stacks *stacks;
	struct cause_pair {
		uint8_t inner; /* what a thread waits for, or CAUSE_DIFFERS */
		uint8_t outer; /* the call or fault in which it waits, or
				* CAUSE_DIFFERS */
		bool known;
	} * known, *other; /* known: by raw chain; other: by `index` */
	size_t n, cap;
	struct table index; /* by cause_key() */
	size_t n_other, cap_other;
	/* by raw chain: (enum timeline_context + 1) * 16 + vector + 1; 0: not
	 * known yet */
	uint8_t *context;
	size_t n_context, cap_context;
	struct label_list frames;
};

/* A cause, and how the names of its functions begin. */
struct cause_names {
	enum wait_cause cause;
	const char *begin[13];
};

/* The function of a system call is often not in the stack, because it jumps to
 * the next one: __x64_sys_read() to ksys_read(). */
static const struct cause_names cause_functions[] = {
	{ WAIT_FUTEX, { "do_futex", "futex_wait", "__futex_wait" } },
	{ WAIT_POLL,
	  { "do_sys_poll", "core_sys_select", "do_select", "do_pselect",
	    "do_epoll_", "ep_poll" } },
	{ WAIT_READ, { "ksys_read", "ksys_pread", "do_readv", "vfs_read" } },
	{ WAIT_WRITE,
	  { "ksys_write", "ksys_pwrite", "do_writev", "vfs_write" } },
	{ WAIT_TIMER,
	  { "do_nanosleep", "hrtimer_nanosleep", "common_nsleep" } },
	{ WAIT_CHILD, { "kernel_wait4", "kernel_waitid", "do_wait" } },
	{ WAIT_SIGNAL,
	  { "do_sigtimedwait", "sigsuspend", "do_signal_stop", "ptrace_stop",
	    "do_freezer_trap" } },
	{ WAIT_URING, { "io_cqring_wait" } },
	{ WAIT_IPC,
	  { "do_semtimedop", "__do_semtimedop", "do_msgrcv", "do_msgsnd",
	    "do_mq_timed" } },
	{ WAIT_CLONE, { "kernel_clone" } },
	{ WAIT_EXEC, { "do_execve", "bprm_execve" } },
	{ WAIT_EXIT, { "do_exit", "do_group_exit" } },
	{ WAIT_SOCKET, { "inet_csk_accept", "sock_recvmsg", "sock_sendmsg" } },
	{ WAIT_FILE, { "do_sys_open", "ksys_sync", "vfs_fsync" } },
	{ WAIT_MEMORY, { "vm_mmap_pgoff" } },
	{ WAIT_KERNEL,
	  { "kthread", "worker_thread", "smpboot_thread_fn", "io_wq_worker",
	    "io_sq_thread", "vhost_task_fn" } },
};

/* Names after __x64_sys_ and similar; readlink must precede read. */
static const struct cause_names cause_calls[] = {
	{ WAIT_FUTEX, { "futex" } },
	{ WAIT_POLL, { "poll", "ppoll", "select", "pselect", "epoll_" } },
	{ WAIT_FILE,
	  { "readlink", "open", "close", "fsync", "fdatasync", "sync", "stat",
	    "newfstat", "newstat", "getdents", "unlink", "rename", "flock" } },
	{ WAIT_READ, { "read", "pread" } },
	{ WAIT_WRITE, { "write", "pwrite" } },
	{ WAIT_TIMER, { "nanosleep", "clock_nanosleep" } },
	{ WAIT_CHILD, { "wait" } },
	{ WAIT_SIGNAL, { "rt_sig", "pause" } },
	{ WAIT_SOCKET, { "recv", "send", "accept", "connect" } },
	{ WAIT_MEMORY, { "mmap", "munmap", "mprotect", "madvise", "brk" } },
	{ WAIT_EXEC, { "execve" } },
	{ WAIT_CLONE, { "clone", "fork", "vfork" } },
	{ WAIT_EXIT, { "exit" } },
	{ WAIT_IOCTL, { "ioctl" } },
	{ WAIT_URING, { "io_uring_enter" } },
	{ WAIT_IPC, { "semop", "semtimedop", "msgrcv", "msgsnd", "mq_timed" } },
};

/* Functions that may wait inside any call or fault, so that they decide
 * wherever they are in the stack: those of Linux's mm/ and virt/kvm/. */
static const struct cause_names cause_within[] = {
	{ WAIT_RECLAIM,
	  { "try_to_free_pages", "do_try_to_free_pages",
	    "try_to_free_mem_cgroup_pages", "throttle_direct_reclaim",
	    "reclaim_throttle", "shrink_node", "mem_cgroup_handle_over_high",
	    "__mem_cgroup_handle_over_high", "mem_cgroup_oom_synchronize",
	    "try_to_compact_pages", "compact_zone" } },
	{ WAIT_SWAP,
	  { "do_swap_page", "swap_read_folio", "swap_readpage",
	    "swapin_readahead", "shmem_swapin" } },
	{ WAIT_NUMA,
	  { "do_numa_page", "do_huge_pmd_numa_page", "migrate_misplaced_" } },
	{ WAIT_DIRTY, { "balance_dirty_pages" } },
	{ WAIT_GUEST, { "kvm_vcpu_block", "kvm_vcpu_halt" } },
};

#define cause_begins(name, begin) (!strncmp(name, begin, strlen(begin)))

/* Returns whether a name begins with a word of a list. */
#define cause_is_any(name, list) cause_in_list(name, list, ARRAY_SIZE(list))
static bool cause_in_list(const char *name, const char *const *begin, size_t n)
{
	return any_where(n, i, cause_begins(name, begin[i]));
}

static enum wait_cause cause_in(const struct cause_names *of, size_t n,
				const char *name)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(of->begin); k++)
			if (of[i].begin[k] &&
			    cause_begins(name, of[i].begin[k]))
				return of[i].cause;
	return WAIT_UNKNOWN;
}

enum wait_cause wait_cause_of_call(const char *call)
{
	return cause_in(cause_calls, ARRAY_SIZE(cause_calls), call);
}

/* Functions that handle a page fault. */
static const char *const cause_faults[] = {
	"exc_page_fault", "do_user_addr_fault", "handle_mm_fault",
	"do_page_fault",  "do_mem_abort",	"do_dat_exception",
};

/* Returns what a kernel function waits for, if it is in a list or the entry of
 * a system call; else WAIT_UNKNOWN. */
static enum wait_cause cause_of_function(const char *name)
{
	static const char *const begin[] = {
		"__x64_sys_",	"__ia32_sys_",	"__ia32_compat_sys_",
		"__arm64_sys_", "__s390x_sys_", "__se_sys_",
		"__do_sys_"
	};
	enum wait_cause cause =
		cause_in(cause_functions, ARRAY_SIZE(cause_functions), name);

	/* what others call to create and stop a thread of the kernel */
	if (cause_begins(name, "kthread_"))
		return WAIT_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(begin) && !cause; i++)
		if (cause_begins(name, begin[i]))
			cause = cause_in(cause_calls, ARRAY_SIZE(cause_calls),
					 name + strlen(begin[i]));
	return cause;
}

struct wait_causes *wait_causes_new(struct stacks *s)
{
	struct wait_causes *c = mem_new(1, sizeof(*c));

	c->stacks = s;
	return c;
}

void wait_causes_free(struct wait_causes *c)
{
	if (!c)
		return;
	table_release(&c->index);
	free_all(c->known, c->other, c->context, c->frames.label, c);
}

/* Returns the frames of one or both halves of a stack, outermost first, valid
 * until the next call. */
static const struct label_list *cause_read(struct wait_causes *c,
					   const struct stacks_group *g)
{
	c->frames.n = 0;
	stacks_get(c->stacks, g, &c->frames);
	return &c->frames;
}

static const struct label_list *cause_read_kernel(struct wait_causes *c,
						  uint32_t kraw)
{
	const struct stacks_group half = { .cpu = -1, .kraw = kraw };

	return cause_read(c, &half);
}

/* Returns whether the chain exists: its id, which is an index here, comes from
 * a database. */
static bool cause_has_chain(const struct wait_causes *c, uint32_t kraw)
{
	return kraw && kraw < c->stacks->code->n_chain;
}

/* Returns what a kernel half waits for; the chain must exist. */
static struct cause_pair cause_by_kernel(struct wait_causes *c, uint32_t kraw)
{
	mem_reach(c->known, c->n, c->cap, (size_t)kraw + 1);
	if (!c->known[kraw].known) {
		const struct label_list *l = cause_read_kernel(c, kraw);
		enum wait_cause cause = WAIT_UNKNOWN, within = WAIT_UNKNOWN,
				inner;

		for (size_t i = 0; i < l->n; i++) {
			const char *name =
				labels_get(c->stacks->labels, l->label[i])
					->name;

			inner = cause_in(cause_within, ARRAY_SIZE(cause_within),
					 name);
			if (inner)
				within = inner;
			else if (cause_is_any(name, cause_faults))
				cause = WAIT_FAULT;
			else if (!cause)
				cause = cause_of_function(name);
		}
		c->known[kraw] =
			(struct cause_pair){ (uint8_t)(within ?: cause),
					     (uint8_t)cause, true };
	}
	return c->known[kraw];
}

/* Returns the key under which waits without a kernel half find those with one:
 * whether they are as for a disk, like a page fault on the way back from a
 * call, and the user half or, for a kernel thread, the name. */
static uint64_t cause_key(bool disk, const struct offcpu_stack *at)
{
	return hash_u64((at->uraw ?: (uint64_t)1 << 32 | at->comm) << 1 | disk);
}

void wait_causes_learn(struct wait_causes *c, bool disk,
		       const struct offcpu_stack *at)
{
	struct cause_pair cause = { 0 };
	uint32_t id;

	if (cause_has_chain(c, at->kraw))
		cause = cause_by_kernel(c, at->kraw);
	if (!cause.inner || (!at->uraw && cause.inner != WAIT_KERNEL))
		return;
	id = table_find_or_add(&c->index, cause_key(disk, at), c->n_other);
	if (id == c->n_other)
		*mem_add(c->other, c->n_other, c->cap_other) = cause;
	if (c->other[id].inner != cause.inner)
		c->other[id].inner = CAUSE_DIFFERS;
	if (c->other[id].outer != cause.outer)
		c->other[id].outer = CAUSE_DIFFERS;
}

enum wait_cause wait_causes_get(struct wait_causes *c, int64_t state,
				const struct offcpu_stack *at)
{
	uint32_t id;

	if (offcpu_state(state)[0] == 'R')
		return WAIT_READY;
	if (!at || at->kraw)
		return at && cause_has_chain(c, at->kraw)
			       ? cause_by_kernel(c, at->kraw).inner
			       : WAIT_UNKNOWN;
	id = table_find_hash(&c->index,
			     cause_key(offcpu_state(state)[0] == 'D', at));
	if (id == TABLE_NONE)
		return WAIT_UNKNOWN;
	return c->other[id].inner != CAUSE_DIFFERS   ? c->other[id].inner
	       : c->other[id].outer != CAUSE_DIFFERS ? c->other[id].outer
						     : WAIT_UNKNOWN;
}

/* ---- where */

/* Scheduler functions, which are in every stack of a switch or a wake-up: those
 * of kernel/sched/, and pollwake of fs/select.c. */
static const char *const cause_scheduler[] = {
	"__schedule",	     "schedule",
	"preempt_schedule",  "io_schedule",
	"__traceiter_",	     "trace_event_raw_event_",
	"perf_trace_sched_", "perf_event_",
	"try_to_wake_up",    "ttwu_",
	"wake_up_",	     "__wake_up",
	"swake_up_",	     "default_wake_function",
	"autoremove_wake_",  "woken_wake_",
	"pollwake",
};

/* Returns a name of the C library or the kernel without its underscores and
 * without GI, glibc's internal name of a function that a program may
 * replace. */
static const char *cause_plain(const char *name)
{
	name += strspn(name, "_");
	return name + (strncmp(name, "GI_", 3) ? 0 : 3 + strspn(name + 3, "_"));
}

bool wait_cause_is_lock(const char *name)
{
	static const char *const begin[] = {
		"pthread_mutex_lock",
		"pthread_mutex_timedlock",
		"pthread_mutex_clocklock",
		"pthread_rwlock_",
		"lll_lock_wait",
		"mutex_lock",
		"ww_mutex_lock",
		"rt_mutex_lock",
		"rwsem_down_",
	};

	return cause_is_any(cause_plain(name), begin);
}

/* Returns whether a kernel function takes a lock for its caller: those that
 * wait, and the others in .sched.text and .spinlock.text (Linux 5.10 to 6.18)
 * in which a lock is contended. A stack may end in any of them. */
static bool cause_takes_lock(const char *name)
{
	static const char *const begin[] = {
		"down_",	   "percpu_down_", "percpu_rwsem_wait",
		"ldsem_down_",	   "raw_spin_",	   "raw_read_",
		"raw_write_",	   "queued_",	   "native_queued_spin_",
		"pv_queued_spin_", "resilient_",   "rt_mutex_",
		"rt_spin_",	   "rt_read_",	   "rt_write_",
		"rwbase_",	   "rtlock_",	   "osq_lock",
		"mutex_unlock",	   "wait_for_com", "task_blocks_on_rt_mutex",
		"ww_mutex_",	   ".slowpath",	   "raw_callee_save___pv_",
	};

	if (wait_cause_is_lock(name))
		return true;
	name += strspn(name, "_");
	return !strcmp(name, "down") || cause_is_any(name, begin);
}

/* Returns whether a function belongs to the C or C++ library, linked
 * statically. Names with two underscores and those in std do. inner: no
 * function of the program was seen below it. */
static bool cause_is_static_libc(const char *name, bool inner)
{
	static const char *const begin[] = { "__", "std::", "pthread_" };
	static const char *const call[] = {
		"accept",	 "clock_nanosleep", "epoll_pwait",
		"epoll_wait",	 "fsync",	    "futex_wait",
		"lll_lock_wait", "nanosleep",	    "poll",
		"ppoll",	 "pselect",	    "read",
		"recv",		 "recvfrom",	    "recvmsg",
		"select",	 "sem_wait",	    "send",
		"sendmsg",	 "sendto",	    "sleep",
		"syscall",	 "usleep",	    "wait4",
		"waitid",	 "waitpid",	    "write",
	};

	return cause_is_any(name, begin) ||
	       (inner &&
		any_where(ARRAY_SIZE(call), i, !strcmp(name, call[i])));
}

static bool cause_is_library(const struct label *f, bool inner)
{
	static const char *const begin[] = {
		"libc.so",   "libc-2.",	  "libpthread", "ld-linux",
		"ld-2.",     "ld-musl",	  "libc.musl",	"[vdso]",
		"libstdc++", "libc++.so", "libc++abi",	"libgcc_s",
		"librt.so",  "librt-2.",
	};
	const char *name = f->image[0] == '/' ? path_base(f->image) : f->image;

	return cause_is_any(name, begin) ||
	       cause_is_static_libc(f->name, inner);
}

/* Returns whether a frame is code of a file: an address in a thread's stack or
 * in the heap is a stale word, or code of a JIT compiler. */
static bool cause_is_code(const struct label *l)
{
	static const char *const data[] = { "[stack", "[heap" };

	return l->kind != LABEL_MISSING && l->kind != LABEL_GROUP &&
	       l->kind != LABEL_WAIT && strcmp(l->name, "[unknown]") != 0 &&
	       !cause_is_any(l->name, data);
}

bool wait_cause_is_own(const struct label *f)
{
	return !f->kernel && cause_is_code(f) && !cause_is_library(f, true);
}

/* Returns whether a frame stands for a missing caller. A function without a
 * frame of its own hides its caller, or library functions between them: the
 * missing one is the code that waits. */
static bool cause_is_gap(const struct label *l)
{
	return l->kind == LABEL_MISSING && !strcmp(l->name, STACK_NAMES_GAP);
}

/* Returns the place that waits, and in *depth the number of frames from the
 * outermost one to it. */
static struct wait_place cause_find_place(const struct wait_causes *c,
					  const struct label_list *l,
					  size_t *depth)
{
	const struct labels *labels = c->stacks->labels;
	struct wait_place kernel = { 0 };
	struct wait_place user = { 0 };
	size_t inner = 0;

	*depth = 0;
	for (size_t i = l->n; i-- > 0;) {
		const struct label *f = labels_get(labels, l->label[i]);

		if (f->kernel && !kernel.has_in &&
		    !cause_is_any(f->name, cause_scheduler)) {
			kernel.has_in = true;
			kernel.in = l->label[i];
			*depth = i + 1;
		}
		if (!f->kernel && !user.has_inner && cause_is_code(f)) {
			user.has_inner = true;
			user.inner = l->label[i];
			inner = i + 1;
		}
		if (f->kernel || cause_is_library(f, !user.has_in))
			continue;
		/* after a frame in no image, the next ones may be wrong */
		if (!cause_is_code(f) && !cause_is_gap(f))
			break;
		if (user.has_in) {
			user.has_caller = true;
			user.caller = l->label[i];
			break;
		}
		user.has_in = true;
		user.in = l->label[i];
		*depth = i + 1;
	}
	/* without other code, the library's function is the place */
	if (!user.has_in && !kernel.has_in && user.has_inner) {
		user.has_in = true;
		user.in = user.inner;
		*depth = inner;
	}
	return user.has_in ? user : kernel;
}

struct wait_place wait_causes_place(struct wait_causes *c,
				    const struct offcpu_stack *at)
{
	const struct stacks_group g = offcpu_group(at);
	size_t depth;

	return cause_find_place(c, cause_read(c, &g), &depth);
}

enum wait_cause wait_causes_of_user(struct wait_causes *c,
				    const struct offcpu_stack *at)
{
	const struct wait_place p = wait_causes_place(c, at);
	const struct label *f =
		p.has_inner ? labels_get(c->stacks->labels, p.inner) : NULL;

	if (!f || !cause_is_library(f, true))
		return WAIT_UNKNOWN;
	const char *name = cause_plain(f->name);

	return wait_cause_of_call(name + (strncmp(name, "libc_", 5) ? 0 : 5));
}

const char *wait_causes_in(struct wait_causes *c, const struct wait_place *p)
{
	struct labels *labels = c->stacks->labels;
	const struct label *in = p->has_in ? labels_get(labels, p->in) : NULL;
	char text[512];

	if (!in || !cause_is_gap(in) || !(p->has_caller || p->has_inner))
		return in ? label_shown(in) : "";
	if (p->has_caller)
		snprintf(text, sizeof(text), STACK_NAMES_GAP " < %.400s",
			 label_shown(labels_get(labels, p->caller)));
	else
		snprintf(text, sizeof(text), "%.400s < " STACK_NAMES_GAP,
			 label_shown(labels_get(labels, p->inner)));
	return labels_get(labels, labels_add_name(labels, LABEL_MISSING, text))
		->name;
}

const struct label *wait_causes_caller(struct wait_causes *c, uint32_t kraw,
				       uint32_t uraw, bool kernel,
				       bool *missing)
{
	const struct stacks_group g = { .cpu = -1, .kraw = kraw, .uraw = uraw };
	const struct label_list *l = cause_read(c, &g);

	*missing = false;
	for (size_t i = l->n; i-- > 0;) {
		const struct label *f =
			labels_get(c->stacks->labels, l->label[i]);

		if (cause_is_gap(f))
			*missing = true;
		else if (f->kernel ? kernel &&
					     !cause_is_any(f->name,
							   cause_scheduler) &&
					     !cause_takes_lock(f->name)
				   : !cause_is_library(f, true))
			return cause_is_code(f) ? f : NULL;
	}
	return NULL;
}

void wait_causes_cut(const struct wait_causes *c, struct label_list *l)
{
	const struct labels *labels = c->stacks->labels;
	size_t depth;

	while (l->n &&
	       labels_get(labels, l->label[l->n - 1])->kind == LABEL_WAIT)
		l->n--;
	cause_find_place(c, l, &depth);
	l->n = depth;
}

/* ---- in what it was woken */

static const char *const cause_timers[] = {
	"hrtimer_wakeup", "__hrtimer_run_queues", "hrtimer_interrupt",
	"call_timer_fn",  "run_timer_softirq",	  "process_timeout",
};

static const char *const cause_irqs[] = {
	"handle_irq_event", "common_interrupt", "__common_interrupt",
	"gic_handle_irq",   "do_IRQ",		"handle_softirqs",
	"__do_softirq",	    "irq_exit_rcu",	"__irq_exit_rcu",
	"__sysvec_",	    "sysvec_",		"flush_smp_call_function_queue",
	"el1_interrupt",    "el0_interrupt",
};

static const char *const cause_softirqs[] = { "handle_softirqs", "__do_softirq",
					      "__softirqentry_text_start" };

/* Returns how the softirq in frame `at` was entered, by the next frames
 * outwards. */
static enum timeline_context cause_of_softirq(const struct labels *labels,
					      const struct label_list *l,
					      size_t at)
{
	static const char *const between[] = {
		"do_softirq",	  "__do_softirq",  "asm_call_",
		"invoke_softirq", "call_on_stack", "call_on_irq_stack"
	};
	static const char *const own[] = { "__local_bh_enable",
					   "local_bh_enable", "netif_rx" };
	static const char *const after[] = { "irq_exit", "__irq_exit",
					     "run_ksoftirqd", "el0_", "el1_" };

	while (at-- > 0) {
		const char *f = labels_get(labels, l->label[at])->name;

		if (cause_is_any(f, own))
			return CONTEXT_INLINE;
		if (cause_is_any(f, after))
			return CONTEXT_SOFTIRQ;
		if (!cause_is_any(f, cause_softirqs) &&
		    !cause_is_any(f, between))
			return CONTEXT_SOFTIRQ_UNKNOWN;
	}
	return CONTEXT_SOFTIRQ_UNKNOWN;
}

/* Functions in which all kernel work for a thread begins: a stack that reaches
 * one without an interrupt is the thread's own. */
static const char *const cause_entries[] = { "do_syscall_",  "ret_from_fork",
					     "el0_svc",	     "do_el0_svc",
					     "__do_syscall", "system_call" };

/* Returns the vector of the softirq that a function handles; -1: none. */
static int cause_vector(const char *name)
{
	static const struct {
		const char *begin;
		int vector;
	} functions[] = {
		{ "tasklet_hi_action", 0 },
		{ "run_timer_softirq", 1 },
		{ "__run_timers", 1 },
		{ "run_timer_base", 1 },
		{ "net_tx_action", SOFTIRQ_NET_TX },
		{ "net_rx_action", SOFTIRQ_NET_RX },
		{ "blk_done_softirq", 4 },
		{ "blk_complete_reqs", 4 },
		{ "irq_poll_softirq", 5 },
		{ "tasklet_action", 6 },
		{ "run_rebalance_domains", 7 },
		{ "sched_balance_softirq", 7 },
		{ "_nohz_idle_balance", 7 },
		{ "hrtimer_run_softirq", 8 },
		{ "rcu_core", 9 },
		{ "rcu_process_callbacks", 9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (cause_begins(name, functions[i].begin))
			return functions[i].vector;
	return -1;
}

/* What sends a signal or ends the threads of a process, and wakes for that
 * (kernel/signal.c), and what calls the same functions but sends none: the end
 * of a child, work for a task (5.10), the freezers of suspend and of cgroups,
 * ptrace, and live patches (5.10). */
static const char *const cause_signals[] = {
	"complete_signal", "signal_wake_up", "zap_other_threads", "zap_process"
};
static const char *const cause_no_signals[] = {
	"do_notify_parent",   "task_work_add", "fake_signal_wake_up",
	"cgroup_freeze_task", "ptrace_",       "klp_send_signals"
};

/* Returns the context of a kernel stack, and *vector; -1: not known. */
static enum timeline_context cause_find_context(const struct labels *labels,
						const struct label_list *l,
						int *vector)
{
	enum timeline_context context = CONTEXT_UNKNOWN;
	bool timed = false;
	bool entered = false;
	bool work = false;
	bool signal = false;
	bool other = false;

	*vector = -1;
	for (size_t i = 0; i < l->n; i++) {
		const char *f = labels_get(labels, l->label[i])->name;

		timed |= cause_is_any(f, cause_timers);
		work |= !strncmp(f, "irq_work_", 9);
		entered |= cause_is_any(f, cause_entries);
		signal |= cause_is_any(f, cause_signals);
		other |= cause_is_any(f, cause_no_signals);
		if (cause_is_any(f, cause_softirqs))
			context = cause_of_softirq(labels, l, i), *vector = -1;
		else if (i &&
			 cause_is_any(labels_get(labels, l->label[i - 1])->name,
				      cause_softirqs))
			*vector = cause_vector(f);
		else if (cause_is_any(f, cause_irqs) &&
			 context != CONTEXT_INLINE)
			context = CONTEXT_HARDIRQ;
	}
	/* the tick, a timer, runs work that interrupts left: it wakes perf and
	 * kworkers, not threads that wait for a timer */
	if (timed && !work)
		return CONTEXT_TIMER;
	if (context || !entered)
		return context;
	return signal && !other ? CONTEXT_SIGNAL : CONTEXT_TASK;
}

enum timeline_context wait_causes_context(struct wait_causes *c, uint32_t kraw,
					  int *vector)
{
	*vector = -1;
	if (!cause_has_chain(c, kraw))
		return CONTEXT_UNKNOWN;
	mem_reach(c->context, c->n_context, c->cap_context, (size_t)kraw + 1);
	if (!c->context[kraw]) {
		enum timeline_context found = cause_find_context(
			c->stacks->labels, cause_read_kernel(c, kraw), vector);

		c->context[kraw] = (uint8_t)((found + 1) << 4 | (*vector + 1));
	}
	*vector = (c->context[kraw] & 0xf) - 1;
	return (enum timeline_context)((c->context[kraw] >> 4) - 1);
}

WORDS_FUNCTION(
	wait_cause_word, enum wait_cause, [WAIT_UNKNOWN] = "",
	[WAIT_FAULT] = "page fault", [WAIT_FUTEX] = "futex",
	[WAIT_POLL] = "poll", [WAIT_READ] = "read", [WAIT_WRITE] = "write",
	[WAIT_SOCKET] = "socket", [WAIT_TIMER] = "timer",
	[WAIT_CHILD] = "child", [WAIT_SIGNAL] = "signal", [WAIT_FILE] = "file",
	[WAIT_URING] = "io_uring", [WAIT_IPC] = "ipc",
	[WAIT_RECLAIM] = "reclaim", [WAIT_SWAP] = "swap", [WAIT_NUMA] = "numa",
	[WAIT_DIRTY] = "dirty pages", [WAIT_GUEST] = "guest",
	[WAIT_MEMORY] = "memory", [WAIT_EXEC] = "exec", [WAIT_CLONE] = "fork",
	[WAIT_EXIT] = "exit", [WAIT_IOCTL] = "ioctl",
	[WAIT_KERNEL] = "kernel work", [WAIT_READY] = "a CPU",
	[WAIT_THROTTLED] = "throttled", [WAIT_HELD] = "not run");
