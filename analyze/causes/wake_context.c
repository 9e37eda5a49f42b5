/* wake_context.c - finds the context of a wake-up: a thread's own code, or an
 * interrupt, and which. */
#include "analyze/causes/wake_context.h"

#include "analyze/causes/proof.h"
#include "analyze/causes/missing.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/timeline.h"
#include "analyze/causes/causes_types.h"
#include "analyze/causes/irqs.h"
#include "analyze/causes/wait_cause.h"
#include "schema/columns.h"
#include "schema/db/addrs.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/task_state.h"

/* Bits of common_flags. */
#define FLAG_IRQS_OFF 0x01
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI 0x40
#define FLAG_BH_OFF 0x80 /* since Linux 5.17 */
#define FLAG_INTERRUPT (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)

#define STATE_SLEEPS (STATE_SLEEPING | STATE_UNINTERRUPTIBLE)

/* Maximum number of kernel addresses; longer stacks are ignored. */
#define FRAMES_MAX 1024

/* A wake-up in a softirq that has a stack. */
struct wake_open {
	int64_t event;
	uint32_t kraw;
	int8_t vector; /* by the function names in its stack; -1: not known */
};

struct wake_contexts {
	struct timeline *t;
	struct wait_causes *words;
	struct irqs irqs;
	bool x86_64; /* else addresses are not interpreted */
	struct softirqs softirqs;
	struct wake_open *open; /* by event */
	size_t n_open, cap_open;
	const struct causes_names *names;
	const struct offcpu_stack *stack; /* by the timeline's numbers */
	struct wake_ksoftirqd {
		int32_t cpu;
		uint32_t thread;
	} * ksoftirqd;
	size_t n_ksoftirqd, cap_ksoftirqd;
	bool cards;	      /* some wake-up rests on SOFTIRQ_IF_NO_IRQ */
	struct table premise; /* by event, enum softirq_premise */
};

struct wake_contexts *wake_contexts_new(struct timeline *t,
					struct wait_causes *w, bool x86_64)
{
	struct wake_contexts *wc = mem_new(1, sizeof(*wc));

	wc->t = t;
	wc->words = w;
	wc->x86_64 = x86_64;
	return wc;
}

void wake_contexts_free(struct wake_contexts *wc)
{
	if (!wc)
		return;
	softirqs_release(&wc->softirqs);
	irqs_release(&wc->irqs);
	table_release(&wc->premise);
	free_all(wc->open, wc->ksoftirqd, wc);
}

void wake_contexts_change(struct wake_contexts *wc)
{
	irqs_change(&wc->irqs);
}

/* ---- events */

/* Returns the context by common_flags (-1: unknown), or by the stack if the
 * flags do not suffice. Who caused a softirq is judged after all events are
 * read. */
static enum timeline_context wake_context(struct wait_causes *w, int64_t flags,
					  uint32_t kraw)
{
	int vector;
	enum timeline_context stack = wait_causes_context(w, kraw, &vector);
	bool soft = stack == CONTEXT_INLINE || stack == CONTEXT_SOFTIRQ;

	if (flags < 0)
		return soft ? CONTEXT_SOFTIRQ_UNKNOWN : stack;
	if (flags & FLAG_NMI)
		return CONTEXT_NMI;
	if (flags & FLAG_HARDIRQ)
		return stack == CONTEXT_TIMER ? CONTEXT_TIMER : CONTEXT_HARDIRQ;
	if (!(flags & FLAG_SOFTIRQ))
		return stack == CONTEXT_SIGNAL ? stack : CONTEXT_TASK;
	return stack == CONTEXT_TIMER ? stack : CONTEXT_SOFTIRQ_UNKNOWN;
}

/* Notes the stack of an event if softirqs_learn() can use it. */
static void wake_note_stack(struct wake_contexts *wc, int64_t flags,
			    uint32_t kraw, const struct timeline_record *rec)
{
	unsigned int roles = rec->current > 0 ? SOFTIRQ_THREAD : 0;

	if (kraw && rec->kind >= TIMELINE_WAKING &&
	    rec->context == CONTEXT_SOFTIRQ_UNKNOWN)
		*mem_add(wc->open, wc->n_open, wc->cap_open) =
			(struct wake_open){ rec->id, kraw, -1 };
	if (!wc->x86_64 || !kraw || flags < 0)
		return;
	if (rec->kind == TIMELINE_SWITCH && !(flags & FLAG_INTERRUPT) &&
	    rec->state > 0 && !(rec->state & 0xff & ~STATE_SLEEPS))
		softirqs_want(&wc->softirqs, kraw, roles | SOFTIRQ_SLEEP);
	if (rec->kind < TIMELINE_WAKING || (flags & FLAG_NMI))
		return;
	if (flags & FLAG_HARDIRQ)
		softirqs_want(&wc->softirqs, kraw, roles | SOFTIRQ_HARDIRQ);
	else if (flags & FLAG_SOFTIRQ)
		softirqs_want(&wc->softirqs, kraw, roles | SOFTIRQ_ASKED);
}

/* Returns who raises a softirq in a record with these flags. An interrupt that
 * runs softirqs may interrupt a thread with softirqs on: RAISED_MIXED. */
static enum softirq_raised wake_raised(int64_t flags)
{
	if (flags > 0 && (flags & FLAG_INTERRUPT))
		return RAISED_IRQ;
	return flags > 0 && (flags & FLAG_BH_OFF) ? RAISED_OWN : RAISED_MIXED;
}

void wake_contexts_take(struct wake_contexts *wc,
			const struct causes_type *type,
			const struct causes_fields *f, uint32_t kraw,
			struct timeline_record *rec)
{
	int64_t flags = causes_fields_int(f, FIELDS_FLAGS);
	bool wakes = rec->kind >= TIMELINE_WAKING;
	int vector;

	if (flags >= 0) {
		rec->interrupt = flags & FLAG_INTERRUPT;
		rec->irqs_off = flags & FLAG_IRQS_OFF;
	}
	if (wakes)
		rec->context = (uint8_t)wake_context(wc->words, flags, kraw);
	wake_note_stack(wc, flags, kraw, rec);
	/* the stack, if there is one, would show a timer's function */
	bool timer = !wakes || wait_causes_context(wc->words, kraw, &vector) !=
				       CONTEXT_HARDIRQ;
	bool hard = flags > 0 && (flags & FLAG_HARDIRQ);
	const struct irq_entry e = {
		.kind = (enum irq_kind)type->irq,
		.time = rec->time,
		.hard = hard,
		.name = causes_fields_text(f, FIELDS_DEVICE),
		.vector = causes_fields_int(f, FIELDS_VECTOR),
		.current = rec->current,
		.no_packets = type->no_packets,
	};

	/* events between two samples are missing */
	if (type->sampled)
		return;
	if (e.kind == IRQ_RAISE)
		irqs_raise(&wc->irqs, rec->cpu, &e, wake_raised(flags));
	else if (flags < 0)
		return;
	else if (e.kind == IRQ_DISK && (flags & FLAG_INTERRUPT))
		irqs_disk(&wc->irqs, rec->cpu, hard,
			  causes_fields_int(f, FIELDS_DISK));
	else if (e.kind == IRQ_DISK)
		return;
	else if (e.kind && type->leaves)
		irqs_leave(&wc->irqs, rec->cpu, e.kind, hard);
	else if (e.kind)
		irqs_enter(&wc->irqs, rec->cpu, &e);
	else if (rec->kind == TIMELINE_SWITCH)
		irqs_switch(&wc->irqs, rec->cpu, rec->time);
	else if (rec->kind >= TIMELINE_WAKING && (flags & FLAG_INTERRUPT))
		irqs_wake(&wc->irqs, rec->cpu, rec->id, hard, timer);
}

/* ---- softirqs of a kernel without names */

/* Returns the entry of a wake-up in a softirq with a stack; NULL: it has
 * none. */
static struct wake_open *wake_open(const struct wake_contexts *wc,
				   int64_t event)
{
	size_t at = search_where(wc->n_open, i, wc->open[i].event >= event);

	return event && at < wc->n_open && wc->open[at].event == event
		       ? &wc->open[at]
		       : NULL;
}

/* Returns what the events of interrupts prove about a wake-up; NULL:
 * nothing. */
static const struct irq_wake *wake_irq(const struct wake_contexts *wc,
				       int64_t event, int32_t cpu, int64_t time)
{
	const struct irq_wake *q = event ? irqs_find(&wc->irqs, event) : NULL;

	return q && !missing_in(wc->t, cpu, q->since, time, false) ? q : NULL;
}

/* Returns whether a thread is a ksoftirqd, which runs only softirqs. */
static bool wake_is_ksoftirqd(const struct wake_contexts *wc, int32_t tid)
{
	return tid > 0 &&
	       !strncmp(causes_names_comm(wc->names, tid), "ksoftirqd/", 10);
}

/* Returns whether a CPU may have left softirqs to its ksoftirqd, which is ready
 * or running: other threads run them, too. */
static bool wake_is_left(const struct wake_contexts *wc, int32_t cpu,
			 int64_t time)
{
	size_t i = wc->t->n_thread;

	for (size_t k = 0; k < wc->n_ksoftirqd; k++)
		if (wc->ksoftirqd[k].cpu == cpu)
			i = wc->ksoftirqd[k].thread;
	if (i == wc->t->n_thread)
		return false;
	const struct numbers stays = lists_get(&wc->t->stays, i);
	const struct numbers wakes = lists_get(&wc->t->wakes, i);
	size_t on = search_where(
		stays.n, k,
		timeline_stay(wc->t, numbers_get(&stays, k)).to > time);
	size_t woken = search_where(
		wakes.n, k,
		timeline_wake(wc->t, numbers_get(&wakes, k)).time > time);
	struct timeline_stay last = { .to = TIMELINE_START };

	if (on < stays.n &&
	    timeline_stay(wc->t, numbers_get(&stays, on)).from <= time)
		return true;
	if (on)
		last = timeline_stay(wc->t, numbers_get(&stays, on - 1));
	return (on && (last.state <= 0 || !(last.state & STATE_SLEEPS))) ||
	       (woken &&
		timeline_wake(wc->t, numbers_get(&wakes, woken - 1)).time >
			last.to);
}

/* Returns the last stay of the waiter on a CPU before a wake-up, whose .to is
 * TIMELINE_START if there is none. */
static struct timeline_stay wake_last_stay(const struct wake_contexts *wc,
					   const struct timeline_wake *w)
{
	const struct numbers id = lists_get(&wc->t->stays, w->waiter);
	size_t place = search_where(
		id.n, i,
		timeline_stay(wc->t, numbers_get(&id, i)).to > w->time);

	return place ? timeline_stay(wc->t, numbers_get(&id, place - 1))
		     : (struct timeline_stay){ .to = TIMELINE_START,
					       .state = -1 };
}

/* Returns the context of a wake-up by a signal: that of the thread that sent
 * it, if the waiter waited for a signal or a child, or if what it waited for or
 * who sent it is not known. */
static enum timeline_context wake_by_signal(const struct wake_contexts *wc,
					    const struct timeline_wake *w)
{
	const struct timeline_stay last = wake_last_stay(wc, w);
	uint32_t number;

	if (w->waker <= 0 || last.to == TIMELINE_START ||
	    !timeline_stack(wc->t, timeline_stay_out(&last), &number))
		return CONTEXT_TASK;
	enum wait_cause cause =
		wait_causes_get(wc->words, last.state, &wc->stack[number]);

	if (cause == WAIT_UNKNOWN)
		cause = wait_causes_of_user(wc->words, &wc->stack[number]);
	switch (cause) {
	case WAIT_UNKNOWN:
	case WAIT_READY:
	case WAIT_SIGNAL:
	case WAIT_CHILD:
		return CONTEXT_TASK;
	default:
		return CONTEXT_SIGNAL;
	}
}

/* Decides what caused the softirq of a wake-up, by flags, stack and events of
 * interrupts. */
static enum timeline_context wake_judge(struct wake_contexts *wc,
					const struct timeline_wake *w,
					const struct irq_wake *q)
{
	int64_t event = w->event;
	struct wake_open *at = wake_open(wc, event);

	/* a sched_wakeup without a stack has that of its sched_waking */
	if (!at && w->number & 1) {
		struct timeline_wake first =
			timeline_wake(wc->t, w->number - 1);

		if (first.cpu == w->cpu && first.waker == w->waker)
			at = wake_open(wc, first.event);
	}
	uint32_t kraw = at ? at->kraw : 0;
	struct softirq_facts f = { .vector = -1 };
	enum softirq_premise premise;
	enum timeline_context context;

	f.entered = wait_causes_context(wc->words, kraw, &f.vector);
	/* if the stack has names, that of the softirq's function is among
	 * them */
	if (f.entered == CONTEXT_INLINE && f.vector < 0)
		f.entered = CONTEXT_SOFTIRQ_UNKNOWN;
	else if (f.entered != CONTEXT_INLINE && f.entered != CONTEXT_SOFTIRQ)
		f.entered = wc->x86_64 ? softirqs_context(&wc->softirqs, kraw)
				       : CONTEXT_SOFTIRQ_UNKNOWN;
	if (at)
		at->vector = (int8_t)f.vector;
	/* ksoftirqd is woken between softirqs, for all that are left */
	if (wake_is_ksoftirqd(wc, w->waker) ||
	    wake_is_ksoftirqd(wc, timeline_tid(wc->t, w->waiter)))
		return CONTEXT_SOFTIRQ;
	if (q && q->vector >= 0)
		f.vector = q->vector;
	else if (q && q->packets)
		f.vector = SOFTIRQ_NET_RX; /* or NET_TX, judged alike */
	if (q) {
		f.raised = (uint8_t)q->raised;
		if (timeline_is_blind(wc->t) ||
		    (q->vector < 0 && wake_is_left(wc, w->cpu, w->time)) ||
		    missing_in(wc->t, w->cpu, q->raised_since, w->time, true))
			f.raised = RAISED_UNKNOWN;
	}
	int32_t state = wake_last_stay(wc, w).state;

	f.disk = state > 0 && (state & STATE_UNINTERRUPTIBLE);
	context = softirq_judge(&f, &premise);
	if (premise != SOFTIRQ_SURE && event)
		table_add(&wc->premise, hash_u64((uint64_t)event), premise);
	wc->cards |= premise == SOFTIRQ_IF_NO_IRQ;
	return context;
}

/* Returns the context of a wake-up in an interrupt, a timer, a disk, or a
 * softirq, or by a signal. */
static uint8_t wake_find_context(void *arg, const struct timeline_wake *w)
{
	struct wake_contexts *wc = arg;
	const struct irq_wake *q = wake_irq(wc, w->event, w->cpu, w->time);

	if (w->context == CONTEXT_SIGNAL)
		return (uint8_t)wake_by_signal(wc, w);
	if (q && q->what && !strncmp(q->what, "disk:", 5))
		return CONTEXT_DISK;
	if (q && q->what && !strcmp(q->what, "timer"))
		return CONTEXT_TIMER;
	if (w->context != CONTEXT_SOFTIRQ_UNKNOWN)
		return w->context;
	return (uint8_t)wake_judge(wc, w, q);
}

int wake_contexts_settle(struct wake_contexts *wc, struct store *db,
			 const struct causes_names *names,
			 const struct offcpu_stack *stack, struct err *err)
{
	wc->names = names;
	wc->stack = stack;
	for (uint32_t i = 0; i < wc->t->n_thread; i++) {
		int cpu;

		if (sscanf(causes_names_comm(names, timeline_tid(wc->t, i)),
			   "ksoftirqd/%d", &cpu) == 1)
			*mem_add(wc->ksoftirqd, wc->n_ksoftirqd,
				 wc->cap_ksoftirqd) =
				(struct wake_ksoftirqd){ cpu, i };
	}
	if (wc->n_open && wc->x86_64) {
		struct rows *r = rows_of(db, "causes_addrs", err);
		uint64_t *addr = mem_new(FRAMES_MAX, sizeof(*addr));

		while (rows_step(r)) {
			int64_t id = rows_int(r, CAUSES_ADDRS_ID);
			struct value v = rows_value(r, CAUSES_ADDRS_ADDRS);
			int n;

			if (id < 1 || id > UINT32_MAX ||
			    !softirqs_is_wanted(&wc->softirqs, (uint32_t)id))
				continue;
			n = store_addrs(v.text, v.len, addr, FRAMES_MAX);
			if (n > 0)
				softirqs_take(&wc->softirqs, (uint32_t)id, addr,
					      (size_t)n);
		}
		free(addr);
		if (rows_end(r, err))
			return -1;
		softirqs_learn(&wc->softirqs);
	}
	timeline_settle(wc->t, wake_find_context, wc);
	return 0;
}

const char *wake_contexts_what(const struct wake_contexts *wc,
			       const struct proof_edge *e)
{
	const struct irq_wake *q = wake_irq(wc, e->event, e->cpu, e->time);
	const struct wake_open *at = wake_open(wc, e->event);

	if (e->context == CONTEXT_TIMER)
		return "timer";
	return q && q->what ? q->what : softirq_name(at ? at->vector : -1);
}

enum softirq_premise wake_contexts_premise(const struct wake_contexts *wc,
					   const struct proof_edge *e)
{
	uint32_t premise =
		table_find_hash(&wc->premise, hash_u64((uint64_t)e->event));

	return premise == TABLE_NONE || e->context != CONTEXT_INLINE
		       ? SOFTIRQ_SURE
		       : (enum softirq_premise)premise;
}

const char *wake_contexts_cards(const struct wake_contexts *wc)
{
	return wc->cards
		       ? "if no interrupt raised the softirqs that threads ran"
		       : NULL;
}
