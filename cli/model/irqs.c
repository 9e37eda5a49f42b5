/* irqs.c - in which interrupt a wake-up was made. */
#include "cli/model/irqs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define CPUS_MAX 65536
#define NESTED_MAX 4 /* interrupt, softirq, and a timer in each */
#define NAME_MAX 64
#define NET_RX 3

struct irq_open {
	enum irq_kind kind;
	int64_t time;
	const char *what;
	int64_t since; /* own: nothing else raised it since */
	bool hard;
	bool own; /* the current thread raised it, in its own call */
};

/* Who raised NET_RX on a CPU since it ran last. */
struct irq_raised {
	int64_t since; /* it ran last; seen: the time is known */
	int32_t by;    /* the one thread; 0: nobody so far */
	bool seen, others;
};

/* The interrupts that a CPU is in, innermost last. */
struct irq_cpu {
	struct irq_open open[NESTED_MAX];
	size_t n;
	struct irq_raised raised;
	bool raises; /* softirq_raise is recorded here */
};

struct irq_wake {
	int64_t event, since;
	const char *what;
	int64_t raised; /* since when all is known of who raised it */
	bool own;
};

struct irqs {
	struct irq_cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct irq_wake *wake; /* by event */
	size_t n_wake, cap_wake;
	const char **name; /* of devices and disks, each once */
	size_t n_name, cap_name;
	struct arena text;
};

struct irqs *irqs_new(void)
{
	return mem_new(1, sizeof(struct irqs));
}

void irqs_change(struct irqs *q)
{
	for (size_t i = 0; i < q->n_cpu; i++)
		q->cpu[i] = (struct irq_cpu){ 0 };
}

void irqs_free(struct irqs *q)
{
	if (!q)
		return;
	free(q->cpu);
	free(q->wake);
	free(q->name);
	arena_release(&q->text);
	free(q);
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
	q->cpu = mem_reach(q->cpu, &q->n_cpu, &q->cap_cpu, (size_t)cpu + 1,
			   sizeof(*q->cpu));
	return &q->cpu[cpu];
}

static const char *irqs_softirq(int64_t vector)
{
	static const char *const what[] = {
		"softirq:HI",	   "softirq:TIMER", "softirq:NET_TX",
		"softirq:NET_RX",  "softirq:BLOCK", "softirq:IRQ_POLL",
		"softirq:TASKLET", "softirq:SCHED", "softirq:HRTIMER",
		"softirq:RCU",
	};

	return vector >= 0 && vector < (int64_t)ARRAY_SIZE(what) ? what[vector]
								 : NULL;
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

void irqs_raise(struct irqs *q, int32_t cpu, const struct irq_entry *e,
		bool own)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_raised *r = c ? &c->raised : NULL;

	if (!r)
		return;
	c->raises = true;
	if (e->vector != NET_RX)
		return;
	r->others |= !own || e->current <= 0 || (r->by && r->by != e->current);
	r->by = e->current;
}

void irqs_enter(struct irqs *q, int32_t cpu, const struct irq_entry *e)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_raised r = { 0 };

	if (!c)
		return;
	if (c->n == NESTED_MAX) /* ends were lost */
		c->n = 0;
	if (e->kind == IRQ_SOFT && e->vector == NET_RX) {
		r = c->raised;
		c->raised = (struct irq_raised){ .since = e->time,
						 .seen = c->raises };
	}
	c->open[c->n++] = (struct irq_open){
		.kind = e->kind,
		.time = e->time,
		.hard = e->hard,
		.since = r.since,
		.own = r.seen && r.by > 0 && r.by == e->current && !r.others,
		.what = e->kind == IRQ_TIMER  ? "timer"
			: e->kind == IRQ_SOFT ? irqs_softirq(e->vector)
					      : irqs_device(q, e->name),
	};
}

/* block_rq_complete comes first, then what it wakes, then the next request: so
 * what is woken in this interrupt from here on waited for this disk. */
void irqs_disk(struct irqs *q, int32_t cpu, bool hard, int64_t dev)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);
	struct irq_open *in = c && c->n ? &c->open[c->n - 1] : NULL;
	char text[NAME_MAX];

	if (!in || in->hard != hard || in->kind == IRQ_TIMER || dev < 0)
		return;
	/* as the kernel keeps it: MAJOR(), MINOR() */
	snprintf(text, sizeof(text), "disk:%" PRId64 ",%" PRId64, dev >> 20,
		 dev & 0xfffff);
	in->what = irqs_text(q, text);
}

void irqs_leave(struct irqs *q, int32_t cpu, enum irq_kind kind)
{
	struct irq_cpu *c = irqs_cpu(q, cpu);

	if (!c)
		return;
	if (c->n && c->open[c->n - 1].kind == kind)
		c->n--;
	else
		c->n = 0; /* beginnings or ends were lost */
}

void irqs_wake(struct irqs *q, int32_t cpu, int64_t event, bool hard,
	       bool timer)
{
	const struct irq_cpu *c = irqs_cpu(q, cpu);
	const struct irq_open *in = c && c->n ? &c->open[c->n - 1] : NULL;

	/* interrupts without events of their own may be inside */
	if (in && in->what && in->hard == hard &&
	    (timer || in->kind != IRQ_TIMER))
		*mem_add(q->wake, q->n_wake, q->cap_wake) =
			(struct irq_wake){ event, in->time, in->what, in->since,
					   in->own };
}

static const struct irq_wake *irqs_find(const struct irqs *q, int64_t event)
{
	size_t at = search_where(q->n_wake, i, q->wake[i].event >= event);

	return at < q->n_wake && q->wake[at].event == event ? &q->wake[at]
							    : NULL;
}

const char *irqs_what(const struct irqs *q, int64_t event, int64_t *since)
{
	const struct irq_wake *w = irqs_find(q, event);

	if (!w)
		return NULL;
	*since = w->since;
	return w->what;
}

bool irqs_is_own(const struct irqs *q, int64_t event, int64_t *since)
{
	const struct irq_wake *w = irqs_find(q, event);

	if (!w || !w->own)
		return false;
	*since = w->raised;
	return true;
}
