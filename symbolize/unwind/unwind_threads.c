/* unwind_threads.c - threads that unwind stack dumps before their samples are
 * due. */
#include "symbolize/unwind/unwind_threads.h"

#include <pthread.h>

#include "stitch/base/mem.h"
#include "stitch/base/thread.h"

/* The most jobs at a time. Each has room for a stack: 4 MiB in all, however
 * many threads there are. A woken thread may get a processor only after some
 * milliseconds, in each of which 128 dumps were due. */
#define JOBS 512
/* Size of a queue; jobs that the main thread took back keep their place until a
 * thread passes it. */
#define QUEUE ((size_t)4 * JOBS)
/* A waiting thread is woken once there are this many jobs: waking it costs more
 * than one job, and the woken thread often takes the main one's processor. With
 * 8 that was a tenth of the main thread's time, and as much again until it went
 * on. If fewer are due, the main thread does them itself. */
#define BATCH 64
/* The same for jobs that are due soon: with 64, the main thread did most of
 * them, as a short process has no more. */
#define BATCH_SOON 8
/* Registers and rules of a frame are the largest part: some KiB. */
#define STACK_BYTES ((size_t)256 << 10)

/* How often to check whether a job has ended before going to sleep: most jobs
 * take less time than that. */
#define LOOKS 4000

/* The state of a job, which begin, take, done and finish change without a lock,
 * each in one thread. A lock around each step cost more than half of the jobs
 * themselves. */
enum job_state {
	JOB_FREE,
	JOB_WAITS,
	JOB_RUNS,
	JOB_DUE, /* it runs, and the main thread sleeps until it is done */
	JOB_DONE,
};

struct unwind_thread {
	struct unwind_threads *all;
	struct unwinder *uw;
	pthread_t thread;
};

/* A ring of indices: the i-th that was added is at i % QUEUE. */
struct job_queue {
	atomic_uint job[QUEUE];
	atomic_size_t added, taken; /* taken: by threads, or too late */
};

struct unwind_threads {
	struct unwind_thread thread[UNWIND_THREADS_MAX];
	unsigned int n;
	unwind_job_fn *fn;
	struct unwind_job *job;
	/* only for the main thread: jobs that are free */
	uint32_t free[JOBS], n_free;
	struct job_queue soon, others;
	atomic_uint idle; /* threads that sleep, or soon will */
	/* for sleeping only: */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	bool stop; /* protected by lock */
};

static bool unwind_job_move(struct unwind_job *j, int from, int to)
{
	return atomic_compare_exchange_strong(&j->state, &from, to);
}

/* Returns how many jobs a queue has, including those that were taken back. */
static size_t job_queue_length(struct job_queue *q)
{
	/* what is taken was added before */
	size_t taken = atomic_load(&q->taken);

	return atomic_load(&q->added) - taken;
}

/* Returns the next waiting job of a queue, or NULL. The main thread may have
 * taken a job back, and put a later one into its place. */
static struct unwind_job *job_queue_take(struct unwind_threads *t,
					 struct job_queue *q)
{
	size_t at = atomic_load(&q->taken);

	while (at != atomic_load(&q->added)) {
		if (!atomic_compare_exchange_weak(&q->taken, &at, at + 1))
			continue;
		struct unwind_job *j =
			&t->job[atomic_load(&q->job[at++ % QUEUE])];

		if (unwind_job_move(j, JOB_WAITS, JOB_RUNS))
			return j;
	}
	return NULL;
}

/* Sleeps until there may be a job. Returns false at the end. */
static bool unwind_threads_sleep(struct unwind_threads *t)
{
	pthread_mutex_lock(&t->lock);
	atomic_fetch_add(&t->idle, 1);
	/* after this, the main thread sees that the thread is idle, or the
	 * thread sees the job */
	if (!t->stop && !job_queue_length(&t->soon) &&
	    !job_queue_length(&t->others))
		pthread_cond_wait(&t->more, &t->lock);
	atomic_fetch_sub(&t->idle, 1);
	bool go_on = !t->stop;

	pthread_mutex_unlock(&t->lock);
	return go_on;
}

static void *unwind_thread_main(void *arg)
{
	struct unwind_thread *me = arg;
	struct unwind_threads *t = me->all;

	for (;;) {
		struct unwind_job *j = job_queue_take(t, &t->soon);

		if (!j)
			j = job_queue_take(t, &t->others);
		if (!j && !unwind_threads_sleep(t))
			return NULL;
		if (!j)
			continue;
		t->fn(me->uw, j);
		if (atomic_exchange(&j->state, JOB_DONE) != JOB_DUE)
			continue;
		pthread_mutex_lock(&t->lock);
		pthread_cond_signal(&t->done);
		pthread_mutex_unlock(&t->lock);
	}
}

struct unwind_threads *unwind_threads_new(struct unwinder *const *uw,
					  unsigned int n, unwind_job_fn *fn)
{
	struct unwind_threads *t = mem_new(1, sizeof(*t));

	t->fn = fn;
	t->job = mem_new(JOBS, sizeof(*t->job));
	while (t->n_free < JOBS) {
		t->free[t->n_free] = JOBS - 1 - t->n_free;
		t->n_free++;
	}
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	pthread_cond_init(&t->done, NULL);
	for (; t->n < n; t->n++) {
		struct unwind_thread *w = &t->thread[t->n];

		w->all = t;
		w->uw = uw[t->n];
		if (!thread_start(&w->thread, STACK_BYTES, "unwinding",
				  unwind_thread_main, w))
			break;
	}
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
	free_all(t->job, t);
}

struct unwind_job *unwind_threads_begin(struct unwind_threads *t,
					const struct unwind_in *in, bool soon)
{
	struct job_queue *q = soon ? &t->soon : &t->others;
	size_t n = atomic_load(&q->added);

	if (!t->n_free || n - atomic_load(&q->taken) == QUEUE)
		return NULL;
	uint32_t at = t->free[--t->n_free];
	struct unwind_job *j = &t->job[at];

	j->in = *in;
	j->out = (struct unwind_out){ .ip = j->ip, .max = UNWIND_JOB_MAX };
	j->dated = j->stuck = false;
	atomic_store(&j->state, JOB_WAITS);
	atomic_store(&q->job[n % QUEUE], at);
	atomic_store(&q->added, n + 1);
	if (atomic_load(&t->idle) &&
	    (job_queue_length(&t->soon) >= BATCH_SOON ||
	     job_queue_length(&t->soon) + job_queue_length(&t->others) >=
		     BATCH)) {
		pthread_mutex_lock(&t->lock);
		pthread_cond_signal(&t->more);
		pthread_mutex_unlock(&t->lock);
	}
	return j;
}

bool unwind_threads_finish(struct unwind_threads *t, struct unwind_job *job)
{
	t->free[t->n_free++] = (uint32_t)(job - t->job);
	if (unwind_job_move(job, JOB_WAITS, JOB_FREE))
		return false;
	for (int i = 0; i < LOOKS && atomic_load(&job->state) != JOB_DONE; i++)
		;
	if (unwind_job_move(job, JOB_RUNS, JOB_DUE)) {
		pthread_mutex_lock(&t->lock);
		while (atomic_load(&job->state) != JOB_DONE)
			pthread_cond_wait(&t->done, &t->lock);
		pthread_mutex_unlock(&t->lock);
	}
	atomic_store(&job->state, JOB_FREE);
	return true;
}
