/* unwind_places.h - caches the rows of addresses that were looked up before.
 *
 * Threads that unwind share one cache: a row that one has looked up serves the
 * others, and memory does not depend on their number. Any thread may find at
 * any time; only one at a time may put.
 *
 * To look up an address again costs 0.3 us, half of a short walk: 152,679 stack
 * dumps of a compiler have 73,000 addresses, more than the 65,536 places, of
 * one address each, that each thread had before. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "symbolize/cfi/unwind_rows.h"

#define PLACES_WAYS 2

/* 32 bytes. Its number is odd while it is written; a reader that sees two
 * different numbers has read parts of two versions. */
struct unwind_place {
	atomic_uint number;
	_Atomic uint64_t pc, epoch; /* epoch 0: empty */
	_Atomic uint64_t row;	    /* all of a struct unwind_row but pc */
};

struct unwind_places {
	void *memory;
	struct unwind_place *place; /* ways of a set share a cache line */
};

/* Creates a cache of 4 MiB, of which unused pages take no memory. */
struct unwind_places *unwind_places_new(void);
void unwind_places_free(struct unwind_places *ps);
/* Stores the row (without its pc) of an address in an epoch, which must not be
 * 0. */
void unwind_places_put(struct unwind_places *ps, uint64_t pc, uint64_t epoch,
		       const struct unwind_row *row);

/* Returns the first place of an address's set. Processes of one program may
 * share addresses. */
static inline struct unwind_place *
unwind_places_set(const struct unwind_places *ps, uint64_t pc, uint64_t epoch)
{
	uint64_t hash =
		(pc ^ epoch * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;

	return &ps->place[(hash >> 48) * PLACES_WAYS];
}

/* Returns true and *row, but for its pc, if the place has the address. */
static inline bool unwind_place_read(const struct unwind_place *p, uint64_t pc,
				     uint64_t epoch, struct unwind_row *row)
{
	unsigned int number =
		atomic_load_explicit(&p->number, memory_order_acquire);
	bool same = atomic_load_explicit(&p->pc, memory_order_acquire) == pc;

	same &= atomic_load_explicit(&p->epoch, memory_order_acquire) == epoch;
	if (!same)
		return false;
	uint64_t packed = atomic_load_explicit(&p->row, memory_order_acquire);

	memcpy((char *)row + sizeof(row->pc), &packed, sizeof(packed));
	return !(number & 1) &&
	       number == atomic_load_explicit(&p->number, memory_order_relaxed);
}

/* Returns true and *row, but for its pc, if the address is known. */
static inline bool unwind_places_find(const struct unwind_places *ps,
				      uint64_t pc, uint64_t epoch,
				      struct unwind_row *row)
{
	const struct unwind_place *p = unwind_places_set(ps, pc, epoch);

	for (unsigned int i = 0; i < PLACES_WAYS; i++)
		if (unwind_place_read(&p[i], pc, epoch, row))
			return true;
	return false;
}
