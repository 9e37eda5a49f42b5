/* wake_context.h - finds the context of a wake-up: a thread's own code, or an
 * interrupt, and which.
 *
 * Three sources decide: the flags and the stack of the event, the events of
 * interrupts around it (irqs.h), and the addresses of stacks where the kernel
 * has no names (softirq.h).
 *
 * Order of calls: wake_contexts_new(); wake_contexts_take() for each event, in
 * the order of the timeline; wake_contexts_settle(), when the timeline is
 * sealed; then the other functions. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/softirq.h"

struct causes_fields;
struct causes_names;
struct causes_type;
struct err;
struct offcpu_stack;
struct proof_edge;
struct store;
struct wait_causes;
struct wake_contexts;

/* Returns a new object, to be freed by wake_contexts_free(). t is borrowed, w
 * only until wake_contexts_settle(). x86_64: whether the machine is one. */
struct wake_contexts *wake_contexts_new(struct timeline *t,
					struct wait_causes *w, bool x86_64);
void wake_contexts_free(struct wake_contexts *wc); /* NULL is fine */
/* Further events belong to another capture. */
void wake_contexts_change(struct wake_contexts *wc);
/* Takes an event whose fields are read, and sets rec->context if it is a
 * wake-up; kraw: the kernel half of its stack. */
void wake_contexts_take(struct wake_contexts *wc,
			const struct causes_type *type,
			const struct causes_fields *f, uint32_t kraw,
			struct timeline_record *rec);
/* Sets the context of the timeline's wake-ups in interrupts and by signals,
 * once all names are known; names and stack[], by the timeline's numbers, are
 * borrowed for the call. Returns 0, or -1 and *err. */
int wake_contexts_settle(struct wake_contexts *wc, struct store *db,
			 const struct causes_names *names,
			 const struct offcpu_stack *stack, struct err *err);
/* Returns the interrupt that woke, as "timer", "irq:NAME", "softirq:VECTOR" or
 * "disk:MAJOR,MINOR", if events of the capture prove it; NULL: not known. */
const char *wake_contexts_what(const struct wake_contexts *wc,
			       const struct proof_edge *e);
/* Returns the premise of the proof that the edge's thread woke in a softirq. */
enum softirq_premise wake_contexts_premise(const struct wake_contexts *wc,
					   const struct proof_edge *e);
/* Returns the text of SOFTIRQ_IF_NO_IRQ; NULL: no wake-up has that premise. */
const char *wake_contexts_cards(const struct wake_contexts *wc);
