/* irqs.c - finds the interrupt in which a wake-up was made. */
#include "analyze/causes/irqs.h"

#include <inttypes.h>

#include "stitch/base/search.h"

#define CPUS_MAX 65536
#define NESTED_MAX 4 /* interrupt, softirq, and a timer in each */
#define NAME_MAX 64

struct irq_open {
	enum irq_kind kind;
	int vector;
	enum softirq_raised raised;
	bool hard;
	int64_t time, raised_since;
	const char *what;
};

/* Who raised NET_TX or NET_RX on a CPU since that softirq last ran. */
struct irq_raised {
	int64_t since; /* time at which it last ran; `seen`: that time is
			* known */
	int32_t by;    /* last thread that raised it; 0: none so far */
	bool seen, others, irq;
};

/* A CPU and the interrupts that it is in, innermost last. */
struct irq_cpu {
	struct irq_open open[NESTED_MAX];
	size_t n;
	struct irq_raised raised[2];
	/* either of them, since the current thread came onto the CPU */
	struct irq_raised here;
	bool raises;	 /* softirq_raise is recorded here */
	bool softs;	 /* softirq_entry of some vectors is recorded here */
	bool no_packets; /* of all vectors but NET_TX and NET_RX */
};

void irqs_change(struct irqs *q)
{
	for (size_t i = 0; i < q->n_cpu; i++)
		q->cpu[i] = (struct irq_cpu){ 0 };
}

void irqs_release(struct irqs *q)
{
	free_all(q->cpu, q->wake, q->name);
	arena_release(&q->text);
}

enum irq_kind irqs_kind(const char *name, bool *leaves)
{
	static const struct {
		const char *begin;
		enum irq_kind kind;
	} events[] = {
		{ "irq_handler_", IRQ_HARD },
		{ "softirq_", IRQ_SOFT },
		{ "irq_softirq_", IRQ_SOFT },
		{ "hrtimer_expire_", IRQ_TIMER },
		{ "timer_hrtimer_expire_", IRQ_TIMER },
		{ "timer_expire_", IRQ_TIMER },
	};

	if (!strncmp(name, "block_rq_complete", 17))
		return IRQ_DISK;
	if (!strncmp(name, "softirq_raise", 13))
		return IRQ_RAISE;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		size_t len = strlen(events[i].begin);
		const char *end = name + len;

		if (strncmp(name, events[i].begin, len) != 0)
			continue;
		*leaves = !strncmp(end, "exit", 4);
		if (*leaves || !strncmp(end, "entry", 5))
			return events[i].kind;
	}
	return IRQ_NONE;
}

static struct irq_cpu *irqs_cpu(struct irqs *q, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	return mem_at(q->cpu, q->n_cpu, q->cap_cpu, cpu);
}

static const char *irqs_text(struct irqs *q, const char *text)
{
	for (size_t i = 0; i < q->n_name; i++)
		if (!strcmp(q->name[i], text))
			return q->name[i];
	return *mem_add(q->name, q->n_name, q->cap_name) =
		       arena_strdup(&q->text, text);
}

static const char *irqs_device(struct irqs *q, const char *name)
{
	char text[NAME_MAX];

	if (!name || !*name)
		return NULL;
	snprintf(text, sizeof(text), "irq:%s", name);
	return irqs_text(q, text);
}

/* Returns the record of who raised a softirq on a CPU; NULL: the vector is not
 * one of packets. */
static struct irq_raised *irqs_raised(struct irq_cpu *c, int64_t vector)
{
	return vector == SOFTIRQ_NET_TX	  ? &c->raised[0]
	       : vector == SOFTIRQ_NET_RX ? &c->raised[1]
					  : NULL;
}

static void irqs_note(struct irq_raised *r, int32_t current,
		      enum softirq_raised how)
{
	if (how == RAISED_IRQ) {
		r->irq = true;
		return;
	}
	r->others |= how != RAISED_OWN || current <= 0 ||
		     (r->by && r->by != current);
	r->by = current;
}

void irqs_switch(struct irqs *q, int32_t cpu, int64_t time)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);

	if (c)
		c->here = (struct irq_raised){ .since = time,
					       .seen = c->raises && c->softs };
}

void irqs_raise(struct irqs *q, int32_t cpu, const struct irq_entry *e,
		enum softirq_raised how)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_raised *r = c ? irqs_raised(c, e->vector) : NULL;
	const struct irq_open *in;

	if (c)
		c->raises = true;
	if (!r)
		return;
	/* left-over packets, and answers to packets, belong to whoever raised
	 * the first one */
	in = c->n && !e->hard ? &c->open[c->n - 1] : NULL;
	if (how == RAISED_IRQ && in && in->kind == IRQ_SOFT &&
	    in->vector == e->vector)
		how = in->raised == RAISED_UNKNOWN ? RAISED_MIXED : in->raised;
	irqs_note(r, e->current, how);
	irqs_note(&c->here, e->current, how);
}

/* Returns who raised the softirq that the current thread runs now. */
static enum softirq_raised irqs_who(const struct irq_raised *r, int32_t current)
{
	if (!r->seen || (!r->by && !r->others && !r->irq))
		return RAISED_UNKNOWN;
	if (!r->by && !r->others)
		return RAISED_IRQ;
	return r->irq || r->others || r->by != current ? RAISED_MIXED
						       : RAISED_OWN;
}

void irqs_enter(struct irqs *q, int32_t cpu, const struct irq_entry *e)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_raised *r;
	struct irq_open *in;

	if (!c)
		return;
	if (c->n == NESTED_MAX) /* the ends of these interrupts were lost */
		c->n = 0;
	in = &c->open[c->n++];
	*in = (struct irq_open){
		.kind = e->kind,
		.vector = -1,
		.time = e->time,
		.hard = e->hard,
		.what = e->kind == IRQ_TIMER  ? "timer"
			: e->kind == IRQ_SOFT ? softirq_name(e->vector)
					      : irqs_device(q, e->name),
	};
	if (e->kind != IRQ_SOFT)
		return;
	c->softs = true;
	c->no_packets = e->no_packets;
	in->vector = in->what ? (int)e->vector : -1;
	r = irqs_raised(c, e->vector);
	if (!r)
		return;
	in->raised = irqs_who(r, e->current);
	in->raised_since = r->since;
	*r = (struct irq_raised){ .since = e->time, .seen = c->raises };
}

/* block_rq_complete comes before the wake-ups that it causes, and these before
 * the next request: so threads woken in this interrupt from here on waited for
 * this disk. */
void irqs_disk(struct irqs *q, int32_t cpu, bool hard, int64_t dev)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_open *in = c && c->n ? &c->open[c->n - 1] : NULL;
	char text[NAME_MAX];

	if (!in || in->hard != hard || in->kind == IRQ_TIMER || dev < 0)
		return;
	/* the kernel's own encoding: MAJOR(), MINOR() */
	snprintf(text, sizeof(text), "disk:%" PRId64 ",%" PRId64, dev >> 20,
		 dev & 0xfffff);
	in->what = irqs_text(q, text);
}

void irqs_leave(struct irqs *q, int32_t cpu, enum irq_kind kind, bool hard)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	const struct irq_open *in = c && c->n ? &c->open[c->n - 1] : NULL;

	if (!c)
		return;
	if (in && in->kind == kind && (kind != IRQ_TIMER || in->hard == hard))
		c->n--;
	else if (kind != IRQ_TIMER) /* a timer's entry may be missing */
		c->n = 0;	    /* beginnings or ends were lost */
}

void irqs_wake(struct irqs *q, int32_t cpu, int64_t event, bool hard,
	       bool timer)
{
	const struct irq_cpu *c = irqs_cpu(q, cpu);
	const struct irq_open *in = c && c->n ? &c->open[c->n - 1] : NULL;
	const struct irq_open *soft = in;
	bool known;

	if (!in && !hard && c && c->here.seen)
		*mem_add(q->wake, q->n_wake, q->cap_wake) = (struct irq_wake){
			.event = event,
			.since = c->here.since,
			.vector = -1,
			.packets = c->no_packets,
			.raised = irqs_who(&c->here, c->here.by),
			.raised_since = c->here.since,
		};
	if (!in || in->hard != hard)
		return;
	/* a timer may expire inside a softirq */
	while (soft > c->open && soft->kind == IRQ_TIMER)
		soft--;
	/* inside it may be interrupts without events of their own */
	known = in->what && (timer || in->kind != IRQ_TIMER);
	if (known || soft->vector >= 0)
		*mem_add(q->wake, q->n_wake, q->cap_wake) = (struct irq_wake){
			.event = event,
			.what = known ? in->what : NULL,
			.since = hard ? in->time : soft->time,
			.vector = hard ? -1 : soft->vector,
			.raised = soft->raised,
			.raised_since = soft->raised_since,
		};
}

const struct irq_wake *irqs_find(const struct irqs *q, int64_t event)
{
	size_t at = search_where(q->n_wake, i, q->wake[i].event >= event);

	return at < q->n_wake && q->wake[at].event == event ? &q->wake[at]
							    : NULL;
}
