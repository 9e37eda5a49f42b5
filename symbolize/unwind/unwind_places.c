/* unwind_places.c - caches the rows of addresses that were looked up before. */
#include "symbolize/unwind/unwind_places.h"

#include "stitch/base/mem.h"

#define SETS ((size_t)1 << 16)
#define LINE sizeof(struct unwind_place[PLACES_WAYS])

_Static_assert(LINE == 64, "a set is a cache line");
_Static_assert(sizeof(struct unwind_row) == sizeof(uint32_t) + sizeof(uint64_t),
	       "a row fits a place");

struct unwind_places *unwind_places_new(void)
{
	struct unwind_places *ps = mem_new(1, sizeof(*ps));

	ps->memory = mem_new(SETS + 1, LINE);
	ps->place = (void *)(((uintptr_t)ps->memory + LINE - 1) & ~(LINE - 1));
	return ps;
}

void unwind_places_free(struct unwind_places *ps)
{
	if (!ps)
		return;
	free_all(ps->memory, ps);
}

static void unwind_place_write(struct unwind_place *p, uint64_t pc,
			       uint64_t epoch, uint64_t row)
{
	unsigned int number =
		atomic_load_explicit(&p->number, memory_order_relaxed);

	atomic_store_explicit(&p->number, number + 1, memory_order_relaxed);
	atomic_store_explicit(&p->pc, pc, memory_order_release);
	atomic_store_explicit(&p->epoch, epoch, memory_order_release);
	atomic_store_explicit(&p->row, row, memory_order_release);
	atomic_store_explicit(&p->number, number + 2, memory_order_release);
}

void unwind_places_put(struct unwind_places *ps, uint64_t pc, uint64_t epoch,
		       const struct unwind_row *row)
{
	struct unwind_place *p = unwind_places_set(ps, pc, epoch);
	uint64_t packed;

	memcpy(&packed, (const char *)row + sizeof(row->pc), sizeof(packed));
	/* replaces the least recent one of the set */
	for (unsigned int i = PLACES_WAYS - 1; i; i--)
		unwind_place_write(&p[i],
				   atomic_load_explicit(&p[i - 1].pc,
							memory_order_relaxed),
				   atomic_load_explicit(&p[i - 1].epoch,
							memory_order_relaxed),
				   atomic_load_explicit(&p[i - 1].row,
							memory_order_relaxed));
	unwind_place_write(p, pc, epoch, packed);
}
