/* mmap_calls.h - what system calls change in an address space: mmap, munmap and
 * mremap, when their events were recorded.
 *
 * A call is known by two events of its thread: the first has the arguments,
 * the second the result. Nothing says which file was mapped but the number of
 * an open file; a mapping that was known already may tell, or openat. */
#ifndef STITCH_TASKS_MMAP_CALLS_H
#define STITCH_TASKS_MMAP_CALLS_H
#include <stdbool.h>
#include <stdint.h>

struct mmap_calls;
struct losses;
struct record;
struct resolve;
struct source;
struct tasks;

struct mmap_calls_in {
	struct tasks *tasks;
	struct resolve *resolve;
	struct losses *losses;
	const struct source *src;
	uint32_t thread; /* slot */
};

struct mmap_calls *mmap_calls_new(void);
void mmap_calls_free(struct mmap_calls *cs);
/* Every sample of an event of a system call, in time order. */
void mmap_calls_take(struct mmap_calls *cs, const struct mmap_calls_in *in,
		     const struct record *rec);
#endif
