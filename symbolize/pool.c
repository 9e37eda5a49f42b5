/* pool.c - names several images at once, each in a separate thread.
 *
 * Measured on two CPUs: naming 12 libraries with compressed debug information
 * took 0.38 s with two threads and 0.66 s with one, the whole command 0.53 s
 * instead of 0.82 s. For 67 programs with little debug information it was 0.50
 * s instead of 0.52 s, since storing names is most of the work there. With a
 * filled name cache threads make no difference. */
#include "symbolize/pool.h"

#include <pthread.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/thread.h"
#include "symbolize/symbolize.h"

#define THREADS_MAX 64
/* Images whose results may wait in memory, per thread. */
#define AHEAD 4
/* Stack of a thread: demanglers that recurse 2000 levels need less than 1
 * MiB. */
#define STACK_BYTES ((size_t)4 << 20)

/* One image and, once it is done, its names. */
struct pool_job {
	struct image img; /* its path is owned */
	const struct code_place *code;
	size_t n;
	struct symbol *result; /* results; their strings are in text */
	size_t n_result, cap_result;
	struct arena text;
	struct image_report rep;
	struct err err;
	int rc;
	bool done;
};

struct pool_worker {
	struct pool *pool;
	struct symbolizer *sy;
	pthread_t thread;
};

struct pool {
	struct pool_worker worker[THREADS_MAX];
	size_t n_workers;
	size_t cap;	       /* size of jobs[], a ring buffer */
	struct pool_job *jobs; /* job i is at i % cap */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	/* Totals since the start, protected by `lock`: */
	size_t added, begun, given;
	bool stop;
};

bool pool_takes(const struct image *img)
{
	return img->kind == IMAGE_FILE;
}

/* Consecutive symbols often have the same strings, which are then stored
 * once. */
static const char *pool_keep_string(struct pool_job *j, const char *s,
				    const char *last)
{
	if (!s || (last && !strcmp(s, last)))
		return s ? last : NULL;
	return arena_strdup(&j->text, s);
}

static int pool_collect(void *arg, const struct symbol *sym,
			struct err *err UNUSED)
{
	static const struct symbol none;
	struct pool_job *j = arg;

	mem_grow(j->result, j->cap_result, j->n_result + 1);
	const struct symbol *last =
		j->n_result ? &j->result[j->n_result - 1] : &none;
	struct symbol *s = &j->result[j->n_result++];

	*s = *sym;
	s->name = pool_keep_string(j, sym->name, last->name);
	s->raw_name =
		sym->raw_name == sym->name
			? s->name
			: pool_keep_string(j, sym->raw_name, last->raw_name);
	s->file = pool_keep_string(j, sym->file, last->file);
	s->how = pool_keep_string(j, sym->how, last->how);
	return 0;
}

static void *pool_worker_main(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->stop && p->begun == p->added)
			pthread_cond_wait(&p->more, &p->lock);
		if (p->stop)
			break;
		struct pool_job *j = &p->jobs[p->begun++ % p->cap];

		pthread_mutex_unlock(&p->lock);
		j->rc = symbolize_image(w->sy, &j->img, j->code, j->n,
					pool_collect, j, &j->rep, &j->err);
		pthread_mutex_lock(&p->lock);
		j->done = true;
		pthread_cond_signal(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct pool *pool_new(const struct symbolize_opts *o, unsigned int threads)
{
	if (threads < 2)
		return NULL;
	lower_to(threads, THREADS_MAX);

	struct pool *p = mem_new(1, sizeof(*p));

	p->cap = (size_t)threads * AHEAD;
	p->jobs = mem_new(p->cap, sizeof(*p->jobs));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	pthread_cond_init(&p->done, NULL);
	while (p->n_workers < threads) {
		struct pool_worker *w = &p->worker[p->n_workers];

		*w = (struct pool_worker){ .pool = p, .sy = symbolize_new(o) };
		if (!thread_start(&w->thread, STACK_BYTES, "naming",
				  pool_worker_main, w)) {
			symbolize_free(w->sy);
			break;
		}
		p->n_workers++;
	}
	if (p->n_workers)
		return p;
	pool_free(p);
	return NULL;
}

static void pool_job_release(struct pool_job *j)
{
	free_all((char *)j->img.path, j->result);
	arena_release(&j->text);
	report_release(&j->rep);
	memset(j, 0, sizeof(*j));
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->n_workers; i++) {
		pthread_join(p->worker[i].thread, NULL);
		symbolize_free(p->worker[i].sy);
	}
	for (size_t i = 0; i < p->cap; i++)
		pool_job_release(&p->jobs[i]);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->done);
	free_all(p->jobs, p);
}

/* needs no lock: only the calling thread changes these two */
bool pool_has_room(const struct pool *p)
{
	return p->added - p->given < p->cap;
}

void pool_add(struct pool *p, const struct image *img,
	      const struct code_place *code, size_t n)
{
	struct pool_job *j = &p->jobs[p->added % p->cap];

	j->img = *img;
	j->img.path = mem_strdup(img->path);
	j->code = code;
	j->n = n;
	pthread_mutex_lock(&p->lock);
	p->added++;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

int pool_next(struct pool *p, symbol_fn *fn, void *arg,
	      struct image_report *rep, struct err *err)
{
	struct pool_job *j = &p->jobs[p->given % p->cap];

	pthread_mutex_lock(&p->lock);
	while (!j->done)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);

	int rc = j->rc;

	if (rc && err)
		*err = j->err;
	for (size_t i = 0; !rc && i < j->n_result; i++)
		rc = fn(arg, &j->result[i], err);
	*rep = j->rep;
	memset(&j->rep, 0, sizeof(j->rep));
	pool_job_release(j);
	p->given++;
	return rc;
}
