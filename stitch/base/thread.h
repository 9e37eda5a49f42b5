/* thread.h - starts threads, and sums up what they did.
 *
 * The sums are of the whole program, as getrusage() has them: a thread adds its
 * own when it ends, and whoever uses its work says how much of it was used. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the threads of one kind did, as far as they have ended. */
struct thread_work {
	const char *kind;
	unsigned int threads;
	/* ns: on a processor; from its start to its end, of all of them */
	int64_t busy, lived;
	/* how much of the work that they could have done was theirs and was
	 * used; of 0: they do all of it */
	uint64_t used, of;
	const char *unit; /* of both */
};

/* Most kinds. */
#define THREAD_KINDS 16

/* Starts a thread with so small a stack: the default of 8 MiB would count as
 * data under a memory limit. Signals are blocked in it: the main thread handles
 * them. kind: a static string of at most 15 bytes, which becomes the thread's
 * name. Returns false if there is none. */
bool thread_start(pthread_t *thread, size_t stack, const char *kind,
		  void *(*fn)(void *), void *arg);
/* Adds to the sums of a kind; unit is a static string. */
void thread_used(const char *kind, uint64_t used, uint64_t of,
		 const char *unit);
/* Fills the sums of all kinds. Returns how many there are. */
size_t thread_works(struct thread_work out[THREAD_KINDS]);
