/* thread.c - starts threads, and sums up what they did. */
#include "stitch/base/thread.h"

#include <signal.h>

#include "stitch/base/mem.h"
#include "stitch/base/now.h"

/* What a new thread runs. */
struct thread_begin {
	const char *kind;
	void *(*fn)(void *);
	void *arg;
};

static pthread_mutex_t works_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_work works[THREAD_KINDS];
static size_t n_works;

/* Returns the sums of a kind, which may be new; NULL if there are THREAD_KINDS
 * others. Call it with the lock held. */
static struct thread_work *works_of(const char *kind)
{
	size_t i = 0;

	while (i < n_works && strcmp(works[i].kind, kind) != 0)
		i++;
	if (i == THREAD_KINDS)
		return NULL;
	n_works += i == n_works;
	works[i].kind = kind;
	return &works[i];
}

static void *thread_run(void *arg)
{
	const struct thread_begin b = *(struct thread_begin *)arg;
	const int64_t start = now_ns();

	free(arg);
	/* the thread names itself, which needs no file in /proc */
	pthread_setname_np(pthread_self(), b.kind);
	void *ret = b.fn(b.arg);

	pthread_mutex_lock(&works_lock);
	struct thread_work *w = works_of(b.kind);

	if (w) {
		w->threads++;
		w->busy += now_of(CLOCK_THREAD_CPUTIME_ID);
		w->lived += now_ns() - start;
	}
	pthread_mutex_unlock(&works_lock);
	return ret;
}

bool thread_start(pthread_t *thread, size_t stack, const char *kind,
		  void *(*fn)(void *), void *arg)
{
	struct thread_begin *b = mem_new(1, sizeof(*b));
	pthread_attr_t attr;
	sigset_t all, old;

	*b = (struct thread_begin){ kind, fn, arg };
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(thread, &attr, thread_run, b);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (error)
		free(b);
	return !error;
}

void thread_used(const char *kind, uint64_t used, uint64_t of, const char *unit)
{
	pthread_mutex_lock(&works_lock);
	struct thread_work *w = works_of(kind);

	if (w) {
		w->used += used;
		w->of += of;
		w->unit = unit;
	}
	pthread_mutex_unlock(&works_lock);
}

size_t thread_works(struct thread_work out[THREAD_KINDS])
{
	pthread_mutex_lock(&works_lock);
	size_t n = n_works;

	memcpy(out, works, n * sizeof(*out));
	pthread_mutex_unlock(&works_lock);
	return n;
}
