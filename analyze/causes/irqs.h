/* irqs.h - in which interrupt a wake-up was made: the names that the events of
 * interrupts, timers and disks give.
 *
 * A thread that sends a packet over loopback raises the softirq NET_RX itself,
 * while softirqs are off, and runs it when it turns them on: between the two,
 * no interrupt runs softirqs. So where it is the only one that raised NET_RX
 * since that ran last on this CPU, what is woken there is woken by its call.
 * softirq_judge() decides it.
 *
 * A server sends and receives hundreds of thousands of packets a second, and so
 * 'record' leaves out where NET_TX and NET_RX begin and end. Then what was
 * raised since the thread came onto the CPU tells: what is pending is run
 * before a thread can leave it, with all other softirqs, or left to ksoftirqd,
 * which is woken. Of timers it keeps the entry of those that wake a thread, and
 * the exit of all, as the kernel can filter only the entry by function.
 *
 * Order of calls: irqs_switch(), irqs_raise(), irqs_enter(), irqs_leave() and
 * irqs_wake() for each record of a CPU in the order of its ring; then
 * irqs_find(). */
#pragma once
#include <stdbool.h>

#include "analyze/causes/softirq.h"
#include "stitch/base/mem.h"

enum irq_kind {
	IRQ_NONE,
	IRQ_HARD,  /* irq_handler_entry */
	IRQ_SOFT,  /* softirq_entry */
	IRQ_TIMER, /* hrtimer_expire_entry, timer_expire_entry */
	IRQ_DISK,  /* block_rq_complete, which is inside of one */
	IRQ_RAISE, /* softirq_raise */
};

/* Returns whether such an event is written by an interrupt. */
static inline bool irq_interrupts(enum irq_kind kind)
{
	return kind == IRQ_HARD || kind == IRQ_SOFT || kind == IRQ_TIMER;
}

/* All zeros is empty. */
struct irqs {
	struct irq_cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct irq_wake *wake; /* by event */
	size_t n_wake, cap_wake;
	const char **name; /* of devices and disks, each once */
	size_t n_name, cap_name;
	struct arena text;
};
/* The records from here on are of another capture. */
void irqs_change(struct irqs *q);
void irqs_release(struct irqs *q);
/* Returns what an event is of, by its name without system; *leaves: it is the
 * end. */
enum irq_kind irqs_kind(const char *name, bool *leaves);
/* hard: in a hardirq, as the record's flags say. name: of the device, borrowed;
 * vector: of the softirq. */
struct irq_entry {
	enum irq_kind kind;
	int64_t time;
	bool hard;
	const char *name;
	int64_t vector;
	int32_t current; /* tid; -1: unknown */
	bool no_packets; /* all softirqs but those of packets are recorded */
};
/* Another thread comes onto the CPU. */
void irqs_switch(struct irqs *q, int32_t cpu, int64_t time);
void irqs_enter(struct irqs *q, int32_t cpu, const struct irq_entry *e);
/* Notes that a request of a disk was completed, by its dev_t. */
void irqs_disk(struct irqs *q, int32_t cpu, bool hard, int64_t dev);
/* hard: in a hardirq, as the record's flags say. */
void irqs_leave(struct irqs *q, int32_t cpu, enum irq_kind kind, bool hard);
/* Notes a wake-up, events in ascending order. timer: a timer may have made it.
 */
void irqs_wake(struct irqs *q, int32_t cpu, int64_t event, bool hard,
	       bool timer);
/* Notes that a softirq was raised. how: RAISED_OWN by thread e->current in a
 * call of its own, in which softirqs are off; RAISED_IRQ in an interrupt or a
 * softirq; else RAISED_MIXED. */
void irqs_raise(struct irqs *q, int32_t cpu, const struct irq_entry *e,
		enum softirq_raised how);

/* The interrupt in which a wake-up was made. */
struct irq_wake {
	int64_t event;
	/* `what` and `vector` hold if no record of that CPU is lost between
	 * `since` and the event. */
	/* "timer", "irq:NAME", "softirq:VECTOR" or "disk:MAJOR,MINOR"; NULL:
	 * not known */
	const char *what;
	int64_t since;
	int vector;   /* of the softirq; -1: it is in none, or the entry of the
		       * softirq is not recorded */
	bool packets; /* if it is in a softirq, that is NET_TX or NET_RX: no
		       * other one that is recorded was entered */
	/* who raised that softirq (of packets), if no record is lost since
	 * raised_since */
	enum softirq_raised raised;
	int64_t raised_since;
};
/* Returns the interrupt of a wake-up; NULL: no record of one tells. */
const struct irq_wake *irqs_find(const struct irqs *q, int64_t event);
