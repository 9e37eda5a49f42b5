/* irqs.h - in which interrupt a wake-up was made: the names that the events of
 * interrupts, timers and disks give.
 *
 * Order of calls: irqs_new(); irqs_enter(), irqs_leave() and irqs_wake() for
 * each record of a CPU in the order of its ring; then irqs_what(). */
#ifndef CLI_MODEL_IRQS_H
#define CLI_MODEL_IRQS_H
#include <stdbool.h>
#include <stdint.h>

struct irqs;

enum irq_kind {
	IRQ_NONE,
	IRQ_HARD,  /* irq_handler_entry */
	IRQ_SOFT,  /* softirq_entry */
	IRQ_TIMER, /* hrtimer_expire_entry, timer_expire_entry */
	IRQ_DISK,  /* block_rq_complete, which is inside of one */
};

struct irqs *irqs_new(void);
void irqs_free(struct irqs *q);
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
};
void irqs_enter(struct irqs *q, int32_t cpu, const struct irq_entry *e);
/* Notes that a request of a disk was completed, by its dev_t. */
void irqs_disk(struct irqs *q, int32_t cpu, bool hard, int64_t dev);
void irqs_leave(struct irqs *q, int32_t cpu, enum irq_kind kind);
/* Notes a wake-up, events in ascending order. timer: a timer may have made it.
 */
void irqs_wake(struct irqs *q, int32_t cpu, int64_t event, bool hard,
	       bool timer);
/* Returns "timer", "irq:NAME", "softirq:VECTOR" or "disk:MAJOR,MINOR", if no
 * record of that CPU is lost between *since and the event; NULL: it is not
 * known. */
const char *irqs_what(const struct irqs *q, int64_t event, int64_t *since);
#endif
