/* page_chains.h - what a page holds of the causes of its waits: their chains,
 * as in cli/causes/chain.h.
 *
 * The block `chains` of a page has for each chain:
 *
 * - the number of its wait, how many edges and how many segments
 * - for each edge: zigzag of its time since the wait's begin, the waiter's
 *   thread, the waker's thread, the state that it is called by if it is no
 *   thread (CHAIN_STATES: it is), proof, 1 + the number of the interrupt's name
 *   among `irqs` (0: it has none)
 * - for each segment, without holes: ns, thread, state, proof, CPU + 1 (0:
 *   none), how many edges lead to it, and the numbers of these */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct causes;
struct json;
struct page_chains;
struct stacks;

/* A wait that a chain is asked for. */
struct page_chain_ask {
	int64_t tid, from, to;
	uint32_t wait; /* number in the page */
	uint32_t comm; /* comm.id of the thread */
};

struct page_chains *page_chains_new(const struct stacks *s);
void page_chains_free(struct page_chains *p);
/* Makes the chains of waits of one capture: the longest of each thread first,
 * until there are as many as a page can hold. The asks change their order. */
void page_chains_add(struct page_chains *p, const struct causes *c,
		     struct page_chain_ask *ask, size_t n);
/* Writes how many there are, how many waits have none, words of states, names
 * of interrupts, and the premise. */
void page_chains_meta(const struct page_chains *p, struct json *j);
/* Encodes the block; thread_of numbers the threads of the page by comm.id. */
void page_chains_encode(struct page_chains *p,
			uint32_t (*thread_of)(void *arg, uint32_t comm),
			void *arg);
void page_chains_write(const struct page_chains *p, FILE *out);
