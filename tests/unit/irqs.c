/* irqs.c - whose call ran a softirq: who raised it, in records made by hand. */
#include "cli/model/irqs.h"
#include "tests/unit/run.h"

enum {
	NET_RX = 3,
	RCU = 9
};
enum {
	A = 11,
	B = 12
};

#define EVENT 7

static void rx_raised(struct irqs *q, int32_t current, int64_t vector, bool own)
{
	irqs_raise(q, 0,
		   &(struct irq_entry){ .vector = vector, .current = current },
		   own);
}

static void rx_ran(struct irqs *q, int64_t time, int32_t current,
		   int64_t vector)
{
	irqs_enter(q, 0,
		   &(struct irq_entry){ .kind = IRQ_SOFT,
					.time = time,
					.vector = vector,
					.current = current });
	irqs_leave(q, 0, IRQ_SOFT);
}

/* NET_RX ran at 100, so that all is known of it from there on. */
static struct irqs *rx_known(void)
{
	struct irqs *q = irqs_new();

	rx_raised(q, B, RCU, false);
	rx_ran(q, 100, B, NET_RX);
	return q;
}

/* A wakes a thread in NET_RX, or in another one. */
static bool rx_is_own(struct irqs *q, int64_t vector)
{
	int64_t since = 0;
	bool own;

	irqs_enter(q, 0,
		   &(struct irq_entry){ .kind = IRQ_SOFT,
					.time = 200,
					.vector = vector,
					.current = A });
	irqs_wake(q, 0, EVENT, false, false);
	own = irqs_is_own(q, EVENT, &since);
	if (own)
		ck_assert_int_eq(since, 100);
	irqs_free(q);
	return own;
}

START_TEST(a_softirq_that_the_thread_raised_is_its_own)
{
	struct irqs *q = rx_known();

	rx_raised(q, A, NET_RX, true);
	ck_assert(rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, A, NET_RX, true);
	rx_raised(q, A, NET_RX, true);
	rx_raised(q, A, RCU, false);
	ck_assert(rx_is_own(q, NET_RX));
}
END_TEST

START_TEST(a_softirq_that_nobody_raised_is_nobodys)
{
	ck_assert(!rx_is_own(rx_known(), NET_RX));
}
END_TEST

/* An interrupt, another softirq, and a thread with softirqs on: there an
 * interrupt may run them, with what others left. */
START_TEST(a_softirq_that_something_else_raised_too_is_nobodys)
{
	for (int before = 0; before < 2; before++) {
		struct irqs *q = rx_known();

		if (before)
			rx_raised(q, A, NET_RX, false);
		rx_raised(q, A, NET_RX, true);
		if (!before)
			rx_raised(q, A, NET_RX, false);
		ck_assert(!rx_is_own(q, NET_RX));
	}
}
END_TEST

START_TEST(a_softirq_that_another_thread_raised_is_nobodys)
{
	struct irqs *q = rx_known();

	rx_raised(q, B, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, B, NET_RX, true);
	rx_raised(q, A, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, 0, NET_RX, true); /* an idle CPU has no calls */
	rx_raised(q, A, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));
}
END_TEST

/* What RCU calls back is of anybody. */
START_TEST(only_of_packets_is_who_raised_them_who_sent_them)
{
	struct irqs *q = rx_known();

	rx_raised(q, A, RCU, true);
	ck_assert(!rx_is_own(q, RCU));
}
END_TEST

/* Before it ran for the first time, something may have raised it before the
 * first record, or before softirq_raise was on. */
START_TEST(a_softirq_is_nobodys_until_it_ran_once)
{
	struct irqs *q = irqs_new();

	rx_raised(q, A, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));

	q = irqs_new();
	rx_ran(q, 100, B, NET_RX);
	rx_raised(q, A, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	irqs_change(q);
	rx_raised(q, A, NET_RX, true);
	ck_assert(!rx_is_own(q, NET_RX));
}
END_TEST

START_TEST(a_wake_up_behind_the_softirq_is_not_in_it)
{
	struct irqs *q = rx_known();
	int64_t since;

	rx_raised(q, A, NET_RX, true);
	rx_ran(q, 200, A, NET_RX);
	irqs_wake(q, 0, EVENT, false, false);
	ck_assert(!irqs_is_own(q, EVENT, &since));
	irqs_free(q);
}
END_TEST

RUN("irqs", a_softirq_that_the_thread_raised_is_its_own,
    a_softirq_that_nobody_raised_is_nobodys,
    a_softirq_that_something_else_raised_too_is_nobodys,
    a_softirq_that_another_thread_raised_is_nobodys,
    only_of_packets_is_who_raised_them_who_sent_them,
    a_softirq_is_nobodys_until_it_ran_once,
    a_wake_up_behind_the_softirq_is_not_in_it)
