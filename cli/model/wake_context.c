/* wake_context.c - in what a wake-up was made: in the code of a thread, or in
 * which interrupt. */
#include "cli/model/wake_context.h"

#include <stdlib.h>

#include "cli/causes/proof.h"
#include "cli/causes/missing.h"
#include "cli/causes/softirq.h"
#include "cli/causes/timeline.h"
#include "cli/model/causes_types.h"
#include "cli/model/irqs.h"
#include "cli/model/wait_cause.h"
#include "schema/columns.h"
#include "schema/db/addrs.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/task_state.h"

/* Bits of common_flags. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI 0x40
#define FLAG_BH_OFF 0x80 /* since Linux 5.17 */
#define FLAG_INTERRUPT (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)

#define STATE_SLEEPS (STATE_SLEEPING | STATE_UNINTERRUPTIBLE)

/* Longer stacks of the kernel tell nothing. */
#define FRAMES_MAX 1024

/* A wake-up in a softirq that nothing explains yet. */
struct wake_open {
	int64_t event;
	uint32_t kraw;
};

struct wake_contexts {
	struct timeline *t;
	struct wait_causes *words;
	struct irqs *irqs;
	struct softirqs *softirqs; /* NULL: addresses tell nothing */
	struct wake_open *open;	   /* by event */
	size_t n_open, cap_open;
	struct table raised; /* events: wake-ups that irqs_is_own() tells */
};

struct wake_contexts *wake_contexts_new(struct timeline *t,
					struct wait_causes *w, bool x86_64)
{
	struct wake_contexts *wc = mem_new(1, sizeof(*wc));

	wc->t = t;
	wc->words = w;
	wc->irqs = irqs_new();
	if (x86_64)
		wc->softirqs = softirqs_new();
	return wc;
}

void wake_contexts_free(struct wake_contexts *wc)
{
	if (!wc)
		return;
	softirqs_free(wc->softirqs);
	irqs_free(wc->irqs);
	table_release(&wc->raised);
	free(wc->open);
	free(wc);
}

void wake_contexts_change(struct wake_contexts *wc)
{
	irqs_change(wc->irqs);
}

/* ---- events */

/* Returns the context by common_flags (-1: unknown), and by the stack where
 * they are not enough. */
static enum timeline_context wake_context(struct wait_causes *w, int64_t flags,
					  uint32_t kraw)
{
	enum timeline_context stack = wait_causes_context(w, kraw);

	if (flags < 0)
		return stack;
	if (flags & FLAG_NMI)
		return CONTEXT_NMI;
	if (flags & FLAG_HARDIRQ)
		return stack == CONTEXT_TIMER ? CONTEXT_TIMER : CONTEXT_HARDIRQ;
	if (!(flags & FLAG_SOFTIRQ))
		return CONTEXT_TASK;
	return stack == CONTEXT_INLINE || stack == CONTEXT_SOFTIRQ ||
			       stack == CONTEXT_TIMER
		       ? stack
		       : CONTEXT_SOFTIRQ_UNKNOWN;
}

/* Notes what the stack of an event may tell of softirqs. */
static void wake_note_stack(struct wake_contexts *wc, int64_t flags,
			    uint32_t kraw, const struct timeline_record *rec)
{
	unsigned int roles = rec->current > 0 ? SOFTIRQ_THREAD : 0;

	if (!wc->softirqs || !kraw || flags < 0)
		return;
	if (rec->kind == TIMELINE_SWITCH && !(flags & FLAG_INTERRUPT) &&
	    rec->state > 0 && !(rec->state & 0xff & ~STATE_SLEEPS))
		softirqs_want(wc->softirqs, kraw, roles | SOFTIRQ_SLEEP);
	if (rec->kind < TIMELINE_WAKING || (flags & FLAG_NMI))
		return;
	if (flags & FLAG_HARDIRQ)
		softirqs_want(wc->softirqs, kraw, roles | SOFTIRQ_HARDIRQ);
	else if (flags & FLAG_SOFTIRQ)
		softirqs_want(wc->softirqs, kraw, roles | SOFTIRQ_ASKED);
	if (rec->context == CONTEXT_SOFTIRQ_UNKNOWN)
		*mem_add(wc->open, wc->n_open, wc->cap_open) =
			(struct wake_open){ rec->id, kraw };
}

/* Notes which function of an interrupt begins or ends, or what is woken in one.
 * timer: a timer's function may have made the wake-up. */
static void wake_note_irq(struct wake_contexts *wc,
			  const struct causes_type *type,
			  const struct causes_fields *f, bool timer,
			  const struct timeline_record *rec)
{
	int64_t flags = causes_fields_int(f, FIELDS_FLAGS);
	bool hard = flags > 0 && (flags & FLAG_HARDIRQ);
	const struct irq_entry e = {
		.kind = (enum irq_kind)type->irq,
		.time = rec->time,
		.hard = hard,
		.name = causes_fields_text(f, FIELDS_DEVICE),
		.vector = causes_fields_int(f, FIELDS_VECTOR),
		.current = rec->current,
	};

	/* those between two that were sampled are not known */
	if (type->sampled)
		return;
	if (e.kind == IRQ_RAISE)
		irqs_raise(wc->irqs, rec->cpu, &e,
			   flags > 0 && (flags & FLAG_BH_OFF) &&
				   !(flags & FLAG_INTERRUPT));
	else if (flags < 0)
		return;
	else if (e.kind == IRQ_DISK && (flags & FLAG_INTERRUPT))
		irqs_disk(wc->irqs, rec->cpu, hard,
			  causes_fields_int(f, FIELDS_DISK));
	else if (e.kind == IRQ_DISK)
		return;
	else if (e.kind && type->leaves)
		irqs_leave(wc->irqs, rec->cpu, e.kind);
	else if (e.kind)
		irqs_enter(wc->irqs, rec->cpu, &e);
	else if (rec->kind >= TIMELINE_WAKING && (flags & FLAG_INTERRUPT))
		irqs_wake(wc->irqs, rec->cpu, rec->id, hard, timer);
}

void wake_contexts_take(struct wake_contexts *wc,
			const struct causes_type *type,
			const struct causes_fields *f, uint32_t kraw,
			struct timeline_record *rec)
{
	int64_t flags = causes_fields_int(f, FIELDS_FLAGS);
	bool wakes = rec->kind >= TIMELINE_WAKING;

	if (wakes)
		rec->context = (uint8_t)wake_context(wc->words, flags, kraw);
	wake_note_stack(wc, flags, kraw, rec);
	/* its stack, if it has one, shows a timer's function */
	wake_note_irq(wc, type, f,
		      !wakes || wait_causes_context(wc->words, kraw) !=
					CONTEXT_HARDIRQ,
		      rec);
}

/* ---- softirqs of a kernel without names */

static int wake_load_addrs(struct wake_contexts *wc, struct store *db,
			   struct err *err)
{
	struct rows *r = rows_of(db, "causes_addrs", err);
	uint64_t *addr = mem_new(FRAMES_MAX, sizeof(*addr));

	while (rows_step(r)) {
		int64_t id = rows_int(r, CAUSES_ADDRS_ID);
		struct value v = rows_value(r, CAUSES_ADDRS_ADDRS);
		int n;

		if (id < 1 || id > UINT32_MAX ||
		    !softirqs_is_wanted(wc->softirqs, (uint32_t)id))
			continue;
		n = store_addrs(v.text, v.len, addr, FRAMES_MAX);
		if (n > 0)
			softirqs_take(wc->softirqs, (uint32_t)id, addr,
				      (size_t)n);
	}
	free(addr);
	return rows_end(r, err);
}

/* Returns whether records of a CPU may be missing between two times. */
static bool wake_lost(const struct wake_contexts *wc, int32_t cpu, int64_t from,
		      int64_t to)
{
	const struct missing_ask ask = { from, to, cpu, TIMELINE_NONE };

	return missing_in(wc->t, &ask).losses > 0;
}

/* Returns how a softirq was entered: by the addresses of its stack, or by who
 * raised it. */
static uint8_t wake_find_context(void *arg, const struct timeline_wake *w)
{
	struct wake_contexts *wc = arg;
	int64_t event = timeline_wake_event(w);
	size_t at = search_where(wc->n_open, i, wc->open[i].event >= event);
	enum timeline_context context = CONTEXT_SOFTIRQ_UNKNOWN;
	int64_t since;

	if (at < wc->n_open && wc->open[at].event == event)
		context = softirqs_context(wc->softirqs, wc->open[at].kraw);
	if (context != CONTEXT_SOFTIRQ_UNKNOWN || timeline_is_blind(wc->t) ||
	    !irqs_is_own(wc->irqs, event, &since) ||
	    wake_lost(wc, w->cpu, since, w->time))
		return context;
	table_add(&wc->raised, hash_u64((uint64_t)event), 0);
	return CONTEXT_INLINE;
}

int wake_contexts_settle(struct wake_contexts *wc, struct store *db,
			 struct err *err)
{
	if (wc->n_open) {
		if (wake_load_addrs(wc, db, err))
			return -1;
		softirqs_learn(wc->softirqs);
	}
	timeline_settle(wc->t, wake_find_context, wc);
	return 0;
}

const char *wake_contexts_what(const struct wake_contexts *wc,
			       const struct proof_edge *e)
{
	int64_t since;
	const char *what =
		e->event ? irqs_what(wc->irqs, e->event, &since) : NULL;

	if (e->context == CONTEXT_TIMER)
		return "timer";
	return what && !wake_lost(wc, e->cpu, since, e->time) ? what : NULL;
}

bool wake_contexts_rest_on_raise(const struct wake_contexts *wc,
				 const struct proof_edge *e)
{
	return e->context == CONTEXT_INLINE &&
	       table_find_hash(&wc->raised, hash_u64((uint64_t)e->event)) !=
		       TABLE_NONE;
}
