/* unwind_threads.c - threads that unwind stack dumps before their samples are
 * due. */
#include "symbolize/unwind/unwind_threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"

/* Jobs that may wait. Each has room for a stack: 2 MiB in all, however many
 * threads there are. */
#define JOBS 256
/* A thread that waits is woken for so many jobs: waking it costs more than one
 * job. Those that are due before that the main thread does itself. */
#define BATCH 16
/* The default of 8 MiB would count as data under a memory limit. Registers and
 * rules of a frame are the largest part: some KiB. */
#define STACK_BYTES ((size_t)512 << 10)

enum job_state {
	JOB_FREE,
	JOB_WAITS,
	JOB_RUNS,
	JOB_DONE,
};

struct unwind_thread {
	struct unwind_threads *all;
	struct unwinder *uw;
	pthread_t thread;
};

struct unwind_threads {
	struct unwind_thread thread[UNWIND_THREADS_MAX];
	unsigned int n;
	unwind_job_fn *fn;
	struct unwind_job *job; /* a ring: job i is at i % JOBS */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	/* protected by lock, as the states of jobs are: */
	size_t added, taken;
	unsigned int idle; /* threads that wait for a job */
	bool stop;
};

/* Returns the next job that waits, or NULL. */
static struct unwind_job *unwind_threads_take(struct unwind_threads *t)
{
	while (t->taken != t->added) {
		struct unwind_job *j = &t->job[t->taken++ % JOBS];

		if (j->state == JOB_WAITS) {
			j->state = JOB_RUNS;
			return j;
		}
	}
	return NULL;
}

static void *unwind_thread_main(void *arg)
{
	struct unwind_thread *me = arg;
	struct unwind_threads *t = me->all;
	struct unwind_job *j;

	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		j = unwind_threads_take(t);
		if (!j) {
			t->idle++;
			pthread_cond_wait(&t->more, &t->lock);
			t->idle--;
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		t->fn(me->uw, j);
		pthread_mutex_lock(&t->lock);
		j->state = JOB_DONE;
		pthread_cond_signal(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Signals are blocked in the threads: the main thread handles them. */
static void unwind_threads_start(struct unwind_threads *t,
				 struct unwinder *const *uw, unsigned int n)
{
	pthread_attr_t attr;
	sigset_t all, old;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (; t->n < n; t->n++) {
		struct unwind_thread *w = &t->thread[t->n];

		w->all = t;
		w->uw = uw[t->n];
		if (pthread_create(&w->thread, &attr, unwind_thread_main, w))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

struct unwind_threads *unwind_threads_new(struct unwinder *const *uw,
					  unsigned int n, unwind_job_fn *fn)
{
	struct unwind_threads *t = mem_new(1, sizeof(*t));

	t->fn = fn;
	t->job = mem_new(JOBS, sizeof(*t->job));
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	pthread_cond_init(&t->done, NULL);
	unwind_threads_start(t, uw, n);
	if (t->n)
		return t;
	unwind_threads_free(t);
	return NULL;
}

void unwind_threads_free(struct unwind_threads *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->more);
	pthread_mutex_unlock(&t->lock);
	for (unsigned int i = 0; i < t->n; i++)
		pthread_join(t->thread[i].thread, NULL);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->more);
	pthread_cond_destroy(&t->done);
	free(t->job);
	free(t);
}

static void unwind_job_set(struct unwind_job *j, const struct unwind_in *in)
{
	j->in = *in;
	j->regs = *in->regs;
	if (j->regs.n > 64)
		j->regs.n = 64;
	memcpy(j->value, in->regs->v, j->regs.n * sizeof(*j->value));
	j->regs.v = j->value;
	j->in.regs = &j->regs;
	j->out = (struct unwind_out){ .ip = j->ip, .max = UNWIND_JOB_MAX };
	j->dated = j->stuck = false;
}

struct unwind_job *unwind_threads_begin(struct unwind_threads *t,
					const struct unwind_in *in)
{
	pthread_mutex_lock(&t->lock);
	struct unwind_job *j = &t->job[t->added % JOBS];
	bool room = t->added - t->taken < JOBS && j->state == JOB_FREE;

	if (room) {
		unwind_job_set(j, in);
		j->state = JOB_WAITS;
		t->added++;
		if (t->idle && t->added - t->taken >= BATCH)
			pthread_cond_signal(&t->more);
	}
	pthread_mutex_unlock(&t->lock);
	return room ? j : NULL;
}

bool unwind_threads_finish(struct unwind_threads *t, struct unwind_job *job)
{
	pthread_mutex_lock(&t->lock);
	while (job->state == JOB_RUNS)
		pthread_cond_wait(&t->done, &t->lock);
	bool done = job->state == JOB_DONE;

	job->state = JOB_FREE;
	pthread_mutex_unlock(&t->lock);
	return done;
}
