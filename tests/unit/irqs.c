/* irqs.c - whose call ran a softirq: who raised it, in records made by hand. */
#include "analyze/causes/irqs.h"
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

static void rx_raised(struct irqs *q, int32_t current, int64_t vector,
		      enum softirq_raised how)
{
	irqs_raise(q, 0,
		   &(struct irq_entry){ .vector = vector, .current = current },
		   how);
}

static void rx_ran(struct irqs *q, int64_t time, int32_t current,
		   int64_t vector)
{
	irqs_enter(q, 0,
		   &(struct irq_entry){ .kind = IRQ_SOFT,
					.time = time,
					.vector = vector,
					.current = current });
	irqs_leave(q, 0, IRQ_SOFT, false);
}

/* NET_RX ran at 100, so that all is known of it from there on. */
static struct irqs *rx_known(void)
{
	struct irqs *q = mem_new(1, sizeof(*q));

	rx_raised(q, B, RCU, RAISED_MIXED);
	rx_ran(q, 100, B, NET_RX);
	return q;
}

/* A wakes a thread in NET_RX, or in another one. Returns who raised it. */
static enum softirq_raised rx_raised_by(struct irqs *q, int64_t vector)
{
	const struct irq_wake *w;
	enum softirq_raised by;

	irqs_enter(q, 0,
		   &(struct irq_entry){ .kind = IRQ_SOFT,
					.time = 200,
					.vector = vector,
					.current = A });
	irqs_wake(q, 0, EVENT, false, false);
	w = irqs_find(q, EVENT);
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->vector, vector);
	ck_assert_int_eq(w->since, 200);
	by = w->raised;
	if (by == RAISED_OWN)
		ck_assert_int_eq(w->raised_since, 100);
	irqs_release(q);
	free(q);
	return by;
}

static bool rx_is_own(struct irqs *q, int64_t vector)
{
	return rx_raised_by(q, vector) == RAISED_OWN;
}

START_TEST(a_softirq_that_the_thread_raised_is_its_own)
{
	struct irqs *q = rx_known();

	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_raised(q, A, RCU, RAISED_MIXED);
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
			rx_raised(q, A, NET_RX, RAISED_MIXED);
		rx_raised(q, A, NET_RX, RAISED_OWN);
		if (!before)
			rx_raised(q, A, NET_RX, RAISED_MIXED);
		ck_assert(!rx_is_own(q, NET_RX));
	}
}
END_TEST

START_TEST(a_softirq_that_another_thread_raised_is_nobodys)
{
	struct irqs *q = rx_known();

	rx_raised(q, B, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, B, NET_RX, RAISED_OWN);
	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	rx_raised(q, 0, NET_RX, RAISED_OWN); /* an idle CPU has no calls */
	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));
}
END_TEST

/* What RCU calls back is of anybody. */
START_TEST(only_of_packets_is_who_raised_them_who_sent_them)
{
	struct irqs *q = rx_known();

	rx_raised(q, A, RCU, RAISED_OWN);
	ck_assert(!rx_is_own(q, RCU));
}
END_TEST

/* Before it ran for the first time, something may have raised it before the
 * first record, or before softirq_raise was on. */
START_TEST(a_softirq_is_nobodys_until_it_ran_once)
{
	struct irqs *q = mem_new(1, sizeof(*q));

	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));

	q = mem_new(1, sizeof(*q));
	rx_ran(q, 100, B, NET_RX);
	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));

	q = rx_known();
	irqs_change(q);
	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert(!rx_is_own(q, NET_RX));
}
END_TEST

START_TEST(a_wake_up_behind_the_softirq_is_not_in_it)
{
	struct irqs *q = rx_known();
	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_ran(q, 200, A, NET_RX);
	irqs_wake(q, 0, EVENT, false, false);
	ck_assert_ptr_null(irqs_find(q, EVENT));
	irqs_release(q);
	free(q);
}
END_TEST

/* B ran, and A came onto the CPU at 150. Returns who raised what A runs, of
 * which no record tells where it begins; RAISED_UNKNOWN, too, if nothing is
 * noted. */
static enum softirq_raised rx_raised_here(struct irqs *q)
{
	const struct irq_wake *w;
	enum softirq_raised by = RAISED_UNKNOWN;

	irqs_wake(q, 0, EVENT, false, false);
	w = irqs_find(q, EVENT);
	if (w) {
		ck_assert_int_eq(w->vector, -1);
		ck_assert_int_eq(w->raised_since, 150);
		by = w->raised;
	}
	irqs_release(q);
	free(q);
	return by;
}

static struct irqs *rx_came(void)
{
	struct irqs *q = rx_known();

	rx_raised(q, B, NET_RX, RAISED_IRQ);
	irqs_switch(q, 0, 150);
	return q;
}

START_TEST(where_softirqs_begin_is_not_needed_of_packets)
{
	struct irqs *q = rx_came();

	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_raised(q, A, RCU, RAISED_IRQ);
	ck_assert_int_eq(rx_raised_here(q), RAISED_OWN);

	ck_assert_int_eq(rx_raised_here(rx_came()), RAISED_UNKNOWN);

	q = rx_came();
	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_raised(q, A, NET_RX, RAISED_IRQ);
	ck_assert_int_eq(rx_raised_here(q), RAISED_MIXED);

	q = rx_came();
	rx_raised(q, A, NET_RX, RAISED_MIXED);
	ck_assert_int_eq(rx_raised_here(q), RAISED_MIXED);
}
END_TEST

/* What was pending when the recording began runs with the first softirq. */
START_TEST(what_may_be_left_from_before_is_nobodys)
{
	struct irqs *q = mem_new(1, sizeof(*q));

	rx_raised(q, B, RCU, RAISED_MIXED);
	irqs_switch(q, 0, 150);
	rx_raised(q, A, NET_RX, RAISED_OWN);
	ck_assert_int_eq(rx_raised_here(q), RAISED_UNKNOWN);
}
END_TEST

/* A network card, and nobody else; or a card and the thread. */
START_TEST(what_interrupts_raised_alone_is_theirs)
{
	struct irqs *q = rx_known();

	rx_raised(q, B, NET_RX, RAISED_IRQ);
	rx_raised(q, A, NET_RX, RAISED_IRQ);
	ck_assert_int_eq(rx_raised_by(q, NET_RX), RAISED_IRQ);

	q = rx_known();
	rx_raised(q, A, NET_RX, RAISED_OWN);
	rx_raised(q, A, NET_RX, RAISED_IRQ);
	ck_assert_int_eq(rx_raised_by(q, NET_RX), RAISED_MIXED);

	q = mem_new(1, sizeof(*q));
	rx_raised(q, B, NET_RX, RAISED_IRQ);
	ck_assert_int_eq(rx_raised_by(q, NET_RX), RAISED_UNKNOWN);
}
END_TEST

/* What NET_RX leaves for its next run is of who raised the first. */
START_TEST(what_is_left_is_of_who_raised_the_first)
{
	struct irqs *q = rx_known();

	rx_raised(q, A, NET_RX, RAISED_OWN);
	irqs_enter(q, 0,
		   &(struct irq_entry){ .kind = IRQ_SOFT,
					.time = 100,
					.vector = NET_RX,
					.current = A });
	rx_raised(q, A, NET_RX, RAISED_IRQ);
	irqs_leave(q, 0, IRQ_SOFT, false);
	ck_assert(rx_is_own(q, NET_RX));
}
END_TEST

/* A timer that expires in softirq TIMER is in that softirq. */
START_TEST(a_timer_in_a_softirq_has_its_vector)
{
	struct irqs *q = mem_new(1, sizeof(*q));
	const struct irq_wake *w;

	irqs_enter(q, 0,
		   &(struct irq_entry){
			   .kind = IRQ_SOFT, .time = 10, .vector = 1 });
	irqs_enter(q, 0, &(struct irq_entry){ .kind = IRQ_TIMER, .time = 12 });
	irqs_wake(q, 0, EVENT, false, true);
	w = irqs_find(q, EVENT);
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->vector, 1);
	ck_assert_int_eq(w->since, 10);
	ck_assert_str_eq(w->what, "timer");
	irqs_release(q);
	free(q);
}
END_TEST

static const char *timer_wakes(struct irqs *q, int64_t event)
{
	const struct irq_wake *w;

	irqs_wake(q, 0, event, true, true);
	w = irqs_find(q, event);
	return w ? w->what : NULL;
}

/* The tick, whose entry is not recorded, interrupts a softirq, or a timer that
 * expires in one; and it expires before and after one that is. */
START_TEST(the_end_of_a_timer_without_entry_ends_no_other)
{
	const struct irq_entry soft = { .kind = IRQ_SOFT, .vector = 8 };
	const struct irq_entry late = { .kind = IRQ_TIMER, .time = 5 };
	const struct irq_entry woke = { .kind = IRQ_TIMER, .hard = true };
	struct irqs *q = mem_new(1, sizeof(*q));
	const struct irq_wake *w;

	irqs_enter(q, 0, &soft);
	irqs_leave(q, 0, IRQ_TIMER, true);
	irqs_enter(q, 0, &late);
	irqs_leave(q, 0, IRQ_TIMER, true);
	irqs_wake(q, 0, 1, false, true);
	w = irqs_find(q, 1);
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->vector, 8);
	ck_assert_str_eq(w->what, "timer");
	irqs_leave(q, 0, IRQ_TIMER, false);
	irqs_leave(q, 0, IRQ_SOFT, false);

	ck_assert_ptr_null(timer_wakes(q, 2));
	irqs_leave(q, 0, IRQ_TIMER, true);
	irqs_enter(q, 0, &woke);
	ck_assert_str_eq(timer_wakes(q, 3), "timer");
	irqs_leave(q, 0, IRQ_TIMER, true);
	irqs_leave(q, 0, IRQ_TIMER, true);
	ck_assert_ptr_null(timer_wakes(q, 4));
	irqs_release(q);
	free(q);
}
END_TEST

/* Of a recording that has all softirqs but those of packets. */
START_TEST(what_is_in_no_other_softirq_is_in_one_of_packets)
{
	for (int left_out = 0; left_out < 2; left_out++) {
		struct irqs *q = mem_new(1, sizeof(*q));
		const struct irq_wake *w;

		rx_raised(q, B, RCU, RAISED_MIXED);
		irqs_enter(q, 0,
			   &(struct irq_entry){ .kind = IRQ_SOFT,
						.time = 10,
						.vector = RCU,
						.no_packets = left_out });
		irqs_leave(q, 0, IRQ_SOFT, false);
		irqs_switch(q, 0, 150);
		rx_raised(q, A, NET_RX, RAISED_OWN);
		irqs_wake(q, 0, EVENT, false, false);
		w = irqs_find(q, EVENT);
		ck_assert_ptr_nonnull(w);
		ck_assert_int_eq(w->packets, left_out);
		ck_assert_int_eq(w->raised, RAISED_OWN);
		irqs_release(q);
		free(q);
	}
}
END_TEST

RUN("irqs", what_is_in_no_other_softirq_is_in_one_of_packets,
    what_interrupts_raised_alone_is_theirs,
    what_is_left_is_of_who_raised_the_first,
    a_timer_in_a_softirq_has_its_vector,
    the_end_of_a_timer_without_entry_ends_no_other,
    a_softirq_that_the_thread_raised_is_its_own,
    a_softirq_that_nobody_raised_is_nobodys,
    a_softirq_that_something_else_raised_too_is_nobodys,
    a_softirq_that_another_thread_raised_is_nobodys,
    only_of_packets_is_who_raised_them_who_sent_them,
    a_softirq_is_nobodys_until_it_ran_once,
    where_softirqs_begin_is_not_needed_of_packets,
    what_may_be_left_from_before_is_nobodys,
    a_wake_up_behind_the_softirq_is_not_in_it)
