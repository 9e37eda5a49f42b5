/* unwind_threads.h - threads that unwind stack dumps before their samples are
 * due.
 *
 * The main thread begins jobs in about the order in which it ends them; those
 * whose process has only just got its mappings are due before others that it
 * has begun. A job that no thread has taken when it is due is taken back, so
 * the main thread waits for at most one stack. Results do not depend on who
 * made them: see unwind.c.
 *
 * Measured on two processors with 59,565 stack dumps of a compiler (503 MB):
 * the main thread has a quarter less to do. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stitch/unwinder.h"

#define UNWIND_THREADS_MAX 64
/* Room for the addresses of a stack. */
#define UNWIND_JOB_MAX 1024

struct unwind_job {
	struct unwind_in in;
	struct unwind_out out; /* out.ip is ip */
	bool dated;	       /* as for finish() */
	bool stuck;	       /* only the main thread can do it */
	uint32_t added;	       /* tables of debug files when it was done */
	uint64_t ip[UNWIND_JOB_MAX];
	atomic_int state; /* of unwind_threads.c */
};

/* Does a job. */
typedef void unwind_job_fn(struct unwinder *uw, struct unwind_job *job);

struct unwind_threads;

/* Starts a thread for each of n unwinders, which are borrowed. Returns NULL if
 * none could be started. */
struct unwind_threads *unwind_threads_new(struct unwinder *const *uw,
					  unsigned int n, unwind_job_fn *fn);
void unwind_threads_free(struct unwind_threads *t);
/* Copies in. soon: threads take it before all jobs that are not. Returns NULL
 * if there is no room. */
struct unwind_job *unwind_threads_begin(struct unwind_threads *t,
					const struct unwind_in *in, bool soon);
/* Waits until the job is done. Returns false if no thread has begun it. Its
 * results are borrowed until the next begin. */
bool unwind_threads_finish(struct unwind_threads *t, struct unwind_job *job);
