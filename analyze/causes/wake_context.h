/* wake_context.h - in what a wake-up was made: in the code of a thread, or in
 * which interrupt.
 *
 * Three things tell it: the flags and the stack of the event, the events of
 * interrupts around it (irqs.h), and the addresses of stacks where the kernel
 * has no names (softirq.h).
 *
 * Order of calls: wake_contexts_new(); wake_contexts_take() for each event, in
 * the order of the timeline; wake_contexts_settle(), when the timeline is
 * sealed; then the questions. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/softirq.h"

struct causes_fields;
struct causes_names;
struct causes_type;
struct err;
struct proof_edge;
struct store;
struct wait_causes;
struct wake_contexts;

/* t is borrowed, w until wake_contexts_settle(). x86_64: the machine is one.
 * The caller calls wake_contexts_free(). */
struct wake_contexts *wake_contexts_new(struct timeline *t,
					struct wait_causes *w, bool x86_64);
void wake_contexts_free(struct wake_contexts *wc); /* NULL is fine */
/* The events from here on are of another capture. */
void wake_contexts_change(struct wake_contexts *wc);
/* Takes an event whose fields are read; kraw: the kernel's half of its stack.
 * Sets the context of a wake-up. */
void wake_contexts_take(struct wake_contexts *wc,
			const struct causes_type *type,
			const struct causes_fields *f, uint32_t kraw,
			struct timeline_record *rec);
/* Tells the timeline what interrupts did, and whose softirqs are, when all
 * names are known; names is borrowed for the call. Returns 0, or -1 and *err.
 */
int wake_contexts_settle(struct wake_contexts *wc, struct store *db,
			 const struct causes_names *names, struct err *err);
/* Returns what woke in an interrupt, "timer", "irq:NAME", "softirq:VECTOR" or
 * "disk:MAJOR,MINOR", as events of the capture prove it; NULL: not known. */
const char *wake_contexts_what(const struct wake_contexts *wc,
			       const struct proof_edge *e);
/* Returns on what it rests that a thread woke in a softirq. */
enum softirq_premise wake_contexts_premise(const struct wake_contexts *wc,
					   const struct proof_edge *e);
/* Returns the words of SOFTIRQ_IF_NO_IRQ; NULL: no wake-up rests on it. */
const char *wake_contexts_cards(const struct wake_contexts *wc);
