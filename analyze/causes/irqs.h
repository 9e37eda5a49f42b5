/* irqs.h - finds the interrupt in which a wake-up was made, and its name, from
 * the events of interrupts, timers and disks.
 *
 * A thread that sends a packet over loopback raises the softirq NET_RX itself,
 * while softirqs are off, and runs it when it turns them on: between the two,
 * no interrupt runs softirqs. So if it is the only one that raised NET_RX since
 * NET_RX last ran on this CPU, its call makes the wake-ups in that softirq.
 * softirq_judge() decides this.
 *
 * A server sends and receives hundreds of thousands of packets a second, and so
 * 'record' leaves out the begin and end of NET_TX and NET_RX. Then the softirqs
 * raised since the thread came onto the CPU decide: before a thread can leave
 * the CPU, pending softirqs are run with all others, or left to ksoftirqd,
 * which is woken. 'record' keeps the entry of timers that wake a thread, and
 * the exit of all timers, as the kernel can filter only the entry by function.
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
	IRQ_DISK,  /* block_rq_complete, inside an interrupt */
	IRQ_RAISE, /* softirq_raise */
};

/* Returns whether an interrupt writes events of this kind. */
static inline bool irq_interrupts(enum irq_kind kind)
{
	return kind == IRQ_HARD || kind == IRQ_SOFT || kind == IRQ_TIMER;
}

/* The interrupts of all CPUs. All zeros is empty. */
struct irqs {
	struct irq_cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct irq_wake *wake; /* by event */
	size_t n_wake, cap_wake;
	const char **name; /* of devices and disks, each once */
	size_t n_name, cap_name;
	struct arena text;
};
/* Forgets the state of all CPUs: further records belong to another capture. */
void irqs_change(struct irqs *q);
void irqs_release(struct irqs *q);
/* Returns the kind of an event by its name without the system; *leaves: whether
 * it is the end. */
enum irq_kind irqs_kind(const char *name, bool *leaves);
/* A record of an interrupt. hard: its flags say that it is in a hardirq. name:
 * the device, borrowed; vector: the softirq. */
struct irq_entry {
	enum irq_kind kind;
	int64_t time;
	bool hard;
	const char *name;
	int64_t vector;
	int32_t current; /* tid; -1: unknown */
	bool no_packets; /* softirqs of packets are not recorded, all others
			  * are */
};
/* Notes that another thread comes onto the CPU. */
void irqs_switch(struct irqs *q, int32_t cpu, int64_t time);
void irqs_enter(struct irqs *q, int32_t cpu, const struct irq_entry *e);
/* Notes that a request of a disk was completed, by its dev_t. */
void irqs_disk(struct irqs *q, int32_t cpu, bool hard, int64_t dev);
/* Notes the end of an interrupt. hard: in a hardirq, by the record's flags. */
void irqs_leave(struct irqs *q, int32_t cpu, enum irq_kind kind, bool hard);
/* Notes a wake-up; events must ascend. timer: a timer may have made it. */
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
	/* `what` and `vector` are valid if no record of that CPU is lost
	 * between the time `since` and the event. */
	/* "timer", "irq:NAME", "softirq:VECTOR" or "disk:MAJOR,MINOR"; NULL:
	 * not known */
	const char *what;
	int64_t since;
	int vector;   /* number of the softirq; -1: none, or its entry is not
		       * recorded */
	bool packets; /* if the wake-up is in a softirq, that is NET_TX or
		       * NET_RX: the entries of all others are recorded, and
		       * there is none */
	/* who raised that softirq of packets; valid if no record is lost since
	 * raised_since */
	enum softirq_raised raised;
	int64_t raised_since;
};
/* Returns the interrupt of a wake-up, valid until the next irqs_wake(); NULL:
 * no record shows one. */
const struct irq_wake *irqs_find(const struct irqs *q, int64_t event);
