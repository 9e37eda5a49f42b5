/* page_waits.h - what a page holds of threads off the CPU, and of what ran on
 * the CPUs, from the switches of the scheduler.
 *
 * page_waits_load(), page_waits_encode(), then _meta and _write. Blocks of the
 * page, as described in page_data.h; times are ns since the page's t0:
 *
 * - waits: zigzag of begin's difference to the wait before, ns, group, what it
 *   waited for, 0 or 1 + ns from begin until it was ready, and the proof of its
 *   waker (0: unknown, or none; 1: likely; 2: proved), which unless it is 0
 *   is followed by the group of the waker's stack, and what it was. What for
 *   and what it was are 0 (not known; a thread), or 1 + the number of a word of
 *   meta
 * - runs: zigzag of begin's difference to the run before, ns, cpu, thread
 *
 * Both are ordered by end, so those of one thread or CPU by begin as well.
 *
 * - chains, as in analyze/causes/chain.h: of each the number of its wait, how
 * many edges and how many segments; for each edge: zigzag of its time since the
 *   wait's begin, the waiter's thread, the waker's thread, the state that it is
 *   called by if it is no thread (CHAIN_STATES: it is), proof, 1 + the number
 *   of the interrupt's name among `irqs` (0: it has none); for each segment,
 *   without holes: ns, thread, state, proof, CPU + 1 (0: none), how many edges
 *   lead to it, and the numbers of these */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct err;
struct filter;
struct offcpu_sums;
struct json;
struct page_waits;
struct stacks;
struct store;

/* Adds the waits that the filter selects to the stacks, as groups of an event
 * of their own. Returns an object to be freed, which is empty if the database
 * has no switches, or NULL and *err. */
struct page_waits *page_waits_load(struct store *db, const char *path,
				   const struct filter *filter,
				   struct stacks *s, struct err *err);
void page_waits_free(struct page_waits *w);
/* Returns the counts of all waits, also of those that are not drawn. */
const struct offcpu_sums *page_waits_sums(const struct page_waits *w);
/* Returns the event of the waits, -1 if there is none. */
int page_waits_event(const struct page_waits *w);
/* Writes how many waits and runs there are, the numbers of those that are
 * not in the page, whether wake-ups were recorded, and the words of wakers. */
void page_waits_meta(const struct page_waits *w, struct json *j);
/* Encodes the blocks; thread_of numbers the threads of the page by comm.id. */
void page_waits_encode(struct page_waits *w, int64_t t0,
		       uint32_t (*thread_of)(void *arg, uint32_t comm),
		       void *arg);
/* Writes the blocks. */
void page_waits_write(const struct page_waits *w, FILE *out);
