/* softirq.c - how softirqs were entered, told by addresses: stacks of a kernel
 * without names, in which the proof holds or must fall. */
#include "analyze/causes/softirq.h"
#include "tests/unit/run.h"

/* Innermost first. The entry of system calls is at 0x1130, those of two
 * interrupts at 0x1e06 and 0x1e46; code far away is the rest of the kernel. */
#define ENTRY 0x1130
#define IRQ 0x1e06
#define IRQ2 0x1e46
#define CALLS 0x2ed511	/* in do_syscall_64() */
#define HANDLER 0x2f251 /* in sysvec_...(), of the interrupt itself */
#define LEAVES 0x2f252	/* likewise, of softirqs behind it */
#define EXIT 0x1603e	/* in irq_exit_rcu() */
#define WORK 0x1f3f0	/* other work before the return to user mode */
#define WAKES 0x3a89c4
#define SENDS 0x6bb796
#define FORK 0x248fea

enum {
	SLEEPER = 1,
	USER_IRQ,
	KERNEL_IRQ,
	ASKED
};

struct stack {
	uint32_t id;
	unsigned int roles;
	uint64_t addr[8];
};

static const struct stack sleeper = { SLEEPER,
				      SOFTIRQ_SLEEP | SOFTIRQ_THREAD,
				      { WAKES, CALLS, ENTRY } };
static const struct stack user_irq = { USER_IRQ,
				       SOFTIRQ_HARDIRQ | SOFTIRQ_THREAD,
				       { WAKES, HANDLER, IRQ } };
static const struct stack kernel_irq = { KERNEL_IRQ,
					 SOFTIRQ_ASKED | SOFTIRQ_THREAD,
					 { WAKES, EXIT, LEAVES, IRQ, SENDS,
					   CALLS, ENTRY } };

static size_t depth(const struct stack *st)
{
	size_t n = 0;

	while (n < 8 && st->addr[n])
		n++;
	return n;
}

/* What is told of the last of these stacks. */
static enum timeline_context stacks_tell(const struct stack *const *st,
					 size_t n)
{
	struct softirqs *s = mem_new(1, sizeof(*s));
	enum timeline_context context;

	for (size_t i = 0; i < n; i++) {
		softirqs_want(s, st[i]->id, st[i]->roles);
		ck_assert(softirqs_is_wanted(s, st[i]->id));
		softirqs_take(s, st[i]->id, st[i]->addr, depth(st[i]));
		ck_assert(!softirqs_is_wanted(s, st[i]->id));
	}
	softirqs_learn(s);
	context = softirqs_context(s, st[n - 1]->id);
	softirqs_release(s);
	free(s);
	return context;
}

#define TOLD(...)                                                              \
	stacks_tell((const struct stack *const[]){ __VA_ARGS__ },              \
		    sizeof((const struct stack *const[]){ __VA_ARGS__ }) /     \
			    sizeof(const struct stack *))

static struct stack asked(const uint64_t *addr, size_t n)
{
	struct stack st = { ASKED, SOFTIRQ_ASKED | SOFTIRQ_THREAD, { 0 } };

	for (size_t i = 0; i < n; i++)
		st.addr[i] = addr[i];
	return st;
}

#define ASK(...)                                                               \
	asked((const uint64_t[]){ __VA_ARGS__ },                               \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

START_TEST(a_call_that_nothing_interrupted_ran_its_softirq)
{
	struct stack own = ASK(WAKES, EXIT + 9, SENDS, CALLS, ENTRY);

	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &own), CONTEXT_INLINE);
	/* not without a stack that shows what is an entry of what */
	ck_assert_int_eq(TOLD(&sleeper, &own), CONTEXT_SOFTIRQ_UNKNOWN);
	ck_assert_int_eq(TOLD(&user_irq, &own), CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(another_call_in_the_entry_may_be_anything)
{
	struct stack other = ASK(WAKES, EXIT + 9, SENDS, CALLS + 7, ENTRY);

	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &other),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(an_interrupt_of_a_call_is_behind_its_softirq)
{
	struct stack known = ASK(WAKES, EXIT, LEAVES, IRQ, SENDS, CALLS, ENTRY);
	struct stack unseen =
		ASK(WAKES, EXIT, LEAVES, IRQ2, SENDS, CALLS, ENTRY);

	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &known), CONTEXT_SOFTIRQ);
	/* it may be a page fault */
	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &unseen),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(before_user_mode_the_thread_may_do_work_of_its_own)
{
	struct stack left = ASK(WAKES, EXIT, LEAVES + 9, IRQ);
	struct stack work = ASK(WAKES, SENDS, WORK, IRQ);

	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &left),
			 CONTEXT_SOFTIRQ_UNKNOWN);
	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &kernel_irq, &left),
			 CONTEXT_SOFTIRQ);
	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &kernel_irq, &work),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(one_entry_for_all_tells_nothing)
{
	const struct stack fred = { USER_IRQ,
				    SOFTIRQ_HARDIRQ | SOFTIRQ_THREAD,
				    { WAKES, HANDLER, ENTRY } };
	/* an idle CPU has no user mode, and proves nothing of it */
	const struct stack idle = { KERNEL_IRQ,
				    SOFTIRQ_HARDIRQ,
				    { WAKES, HANDLER, IRQ } };
	struct stack own = ASK(WAKES, EXIT + 9, SENDS, CALLS, ENTRY);

	ck_assert_int_eq(TOLD(&sleeper, &fred, &own), CONTEXT_SOFTIRQ_UNKNOWN);
	ck_assert_int_eq(TOLD(&sleeper, &fred, &idle, &own),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(a_stack_that_was_cut_tells_nothing)
{
	struct stack cut = ASK(WAKES, EXIT + 9, SENDS, CALLS);

	ck_assert_int_eq(TOLD(&sleeper, &user_irq, &cut),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

START_TEST(a_thread_of_the_kernel_tells_nothing)
{
	const struct stack kernel_sleeper = { SLEEPER,
					      SOFTIRQ_SLEEP | SOFTIRQ_THREAD,
					      { WAKES, SENDS, FORK } };
	struct stack own = ASK(WAKES, EXIT + 9, SENDS, FORK);

	ck_assert_int_eq(TOLD(&kernel_sleeper, &user_irq, &own),
			 CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

/* What n more sleepers, each with an entry of its own, leave of a proof. */
static enum timeline_context tell_with_more(uint32_t n)
{
	struct stack st[20];
	const struct stack *all[23] = { &sleeper, &user_irq };
	struct stack own = ASK(WAKES, EXIT + 9, SENDS, CALLS, ENTRY);

	for (uint32_t i = 0; i < n; i++) {
		st[i] = sleeper;
		st[i].id = ASKED + 1 + i;
		st[i].addr[2] = ENTRY + 16 * (i + 1);
		all[2 + i] = &st[i];
	}
	all[2 + n] = &own;
	return stacks_tell(all, 3 + n);
}

START_TEST(where_everything_looks_like_an_entry_nothing_is_told)
{
	ck_assert_int_eq(tell_with_more(1), CONTEXT_INLINE);
	ck_assert_int_eq(tell_with_more(20), CONTEXT_SOFTIRQ_UNKNOWN);
}
END_TEST

static enum timeline_context judged(int vector, enum softirq_raised raised,
				    enum timeline_context entered,
				    enum softirq_premise want)
{
	const struct softirq_facts f = { vector, (uint8_t)raised, entered,
					 false };
	enum softirq_premise premise;
	enum timeline_context context = softirq_judge(&f, &premise);

	ck_assert_int_eq(premise, want);
	return context;
}

#define INLINE CONTEXT_INLINE
#define LEAF CONTEXT_SOFTIRQ
#define OPEN CONTEXT_SOFTIRQ_UNKNOWN

/* A disk's, that a thread ran as it turned softirqs on, is no thread's, nor is
 * one of which only the way in is known. */
START_TEST(only_packets_are_a_threads_own)
{
	for (int v = 0; v < SOFTIRQ_VECTORS; v++) {
		bool net = v == SOFTIRQ_NET_TX || v == SOFTIRQ_NET_RX;

		ck_assert_int_eq(judged(v, RAISED_UNKNOWN, INLINE,
					net ? SOFTIRQ_IF_NO_IRQ : SOFTIRQ_SURE),
				 net ? INLINE : LEAF);
		ck_assert_int_eq(judged(v, RAISED_UNKNOWN, OPEN, SOFTIRQ_SURE),
				 net ? OPEN : LEAF);
		/* an interrupt may run what the thread has raised */
		ck_assert_int_eq(judged(v, RAISED_UNKNOWN, LEAF, SOFTIRQ_SURE),
				 net ? OPEN : LEAF);
	}
	ck_assert_int_eq(judged(-1, RAISED_UNKNOWN, OPEN, SOFTIRQ_SURE), OPEN);
	ck_assert_int_eq(judged(-1, RAISED_UNKNOWN, LEAF, SOFTIRQ_SURE), LEAF);
}
END_TEST

/* Where only the way in is known, it may be a disk's of who waits for one. */
START_TEST(a_wait_for_a_disk_needs_the_vector)
{
	struct softirq_facts f = { -1, RAISED_UNKNOWN, INLINE, true };
	enum softirq_premise premise;

	ck_assert_int_eq(softirq_judge(&f, &premise), OPEN);
	f.disk = false;
	ck_assert_int_eq(softirq_judge(&f, &premise), INLINE);
	ck_assert_int_eq(premise, SOFTIRQ_IF_NO_IRQ);
}
END_TEST

/* An interrupt's packets may have those of a thread among them, which runs them
 * where it turns softirqs on: the thread's own raised nothing. */
START_TEST(who_raised_packets_has_them)
{
	static const enum timeline_context entered[] = { INLINE, OPEN, LEAF };

	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(judged(SOFTIRQ_NET_RX, RAISED_OWN, entered[i],
					SOFTIRQ_IF_NOT_STEERED),
				 INLINE);
		ck_assert_int_eq(judged(SOFTIRQ_NET_RX, RAISED_IRQ, entered[i],
					SOFTIRQ_SURE),
				 entered[i] == LEAF ? LEAF : OPEN);
		ck_assert_int_eq(judged(SOFTIRQ_NET_RX, RAISED_MIXED,
					entered[i], SOFTIRQ_SURE),
				 OPEN);
	}
}
END_TEST

RUN("softirq", a_wait_for_a_disk_needs_the_vector,
    only_packets_are_a_threads_own, who_raised_packets_has_them,
    a_call_that_nothing_interrupted_ran_its_softirq,
    another_call_in_the_entry_may_be_anything,
    an_interrupt_of_a_call_is_behind_its_softirq,
    before_user_mode_the_thread_may_do_work_of_its_own,
    one_entry_for_all_tells_nothing, a_stack_that_was_cut_tells_nothing,
    a_thread_of_the_kernel_tells_nothing,
    where_everything_looks_like_an_entry_nothing_is_told)
