/* thread.h - starts threads, and sums up what they did.
 *
 * The sums are for the whole program, like those of getrusage(): a thread adds
 * its own when it ends, and the user of its work adds how much of it was
 * used. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over the ended threads of one kind. */
struct thread_work {
	const char *kind;
	unsigned int threads;
	/* ns that all of them were on a processor, and from start to end */
	int64_t busy, lived;
	/* of `of` units of work that they could have done, `used` were done by
	 * them and used; of 0: they do all of it */
	uint64_t used, of;
	const char *unit; /* of both */
};

/* Most kinds. */
#define THREAD_KINDS 16

/* Starts a thread with a stack of this many bytes: the default of 8 MiB would
 * count as data under a memory limit. Signals are blocked in it: the main
 * thread handles them. kind: a static string of at most 15 bytes, which becomes
 * the thread's name. Returns false if no thread could be started. */
bool thread_start(pthread_t *thread, size_t stack, const char *kind,
		  void *(*fn)(void *), void *arg);
/* Adds to `used` and `of` of a kind; unit is a static string. */
void thread_used(const char *kind, uint64_t used, uint64_t of,
		 const char *unit);
/* Fills the sums of all kinds. Returns how many there are. */
size_t thread_works(struct thread_work out[THREAD_KINDS]);
