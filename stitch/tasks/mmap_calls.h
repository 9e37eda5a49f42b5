/* mmap_calls.h - derives mappings from mmap, munmap and mremap calls, if their
 * events were recorded.
 *
 * Two events of a thread describe a call: the first has the arguments, the
 * second the result. The mapped file is only known as a file descriptor; its
 * path comes from an openat call, or from a mapping that is already known. */
#pragma once
#include <stdint.h>

struct frames;
struct mmap_calls;
struct losses;
struct record;
struct resolve;
struct source;
struct tasks;

struct mmap_calls_in {
	struct tasks *tasks;
	struct resolve *resolve;
	const struct frames *frames;
	struct losses *losses;
	const struct source *src;
	uint32_t thread; /* slot of the thread */
};

struct mmap_calls *mmap_calls_new(void);
void mmap_calls_free(struct mmap_calls *cs);
/* Takes each sample of a system call event, in time order. */
void mmap_calls_take(struct mmap_calls *cs, const struct mmap_calls_in *in,
		     const struct record *rec);
