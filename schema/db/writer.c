/* writer.c - the thread that inserts blocks into SQLite. */
#include "schema/db/writer.h"

#include <pthread.h>
#include <sqlite3.h>

#include "schema/db/bulk.h"
#include "schema/db/insert.h"
#include "schema/guard/guard.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/thread.h"

#define QUEUE_BYTES (2u << 20)
/* The thread is woken once this many bytes wait: waking it costs the main
 * thread a third of filling a block. */
#define WAKE_BYTES (QUEUE_BYTES / 4)
#define STACK_BYTES ((size_t)1 << 20)

struct writer {
	sqlite3 *db;
	const char *path;
	bool wanted;   /* start a thread with the first block */
	bool threaded; /* the thread runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* blocks in queue; room in queue */
	/* protected by lock: */
	struct block *first, **last;
	size_t bytes;	     /* queued or being inserted */
	struct block *spare; /* blocks to be used again */
	bool stop;
	int failed; /* -1 once err is set */
	struct err err;
};

/* Inserts the block, unless an earlier one failed. */
static void writer_insert(struct writer *wr, struct block *b)
{
	int rc = wr->failed ? 0 : insert_block(wr->db, b);

	if (rc) {
		struct err err;

		problem_set(wr->db, wr->path, rc, &err);
		if (wr->threaded)
			pthread_mutex_lock(&wr->lock);
		wr->err = err;
		wr->failed = -1;
		if (wr->threaded)
			pthread_mutex_unlock(&wr->lock);
	}
}

/* Keeps a block for reuse: memory that is freed and allocated again costs the
 * main thread a fault for each of its pages. There are never more such blocks
 * than were queued or open at a time. */
static void writer_keep(struct writer *wr, struct block *b)
{
	if (b->size != BLOCK_USUAL) {
		block_free(b);
		return;
	}
	b->next = wr->spare;
	wr->spare = b;
}

static void *writer_run(void *arg)
{
	struct writer *wr = arg;

	pthread_mutex_lock(&wr->lock);
	for (;;) {
		while (!wr->first && !wr->stop)
			pthread_cond_wait(&wr->more, &wr->lock);
		if (!wr->first)
			break;
		struct block *b = wr->first;
		size_t size = b->size;

		wr->first = b->next;
		if (!wr->first)
			wr->last = &wr->first;
		pthread_mutex_unlock(&wr->lock);
		writer_insert(wr, b);
		pthread_mutex_lock(&wr->lock);
		writer_keep(wr, b);
		wr->bytes -= size;
		pthread_cond_signal(&wr->less);
	}
	pthread_mutex_unlock(&wr->lock);
	return NULL;
}

struct writer *writer_new(sqlite3 *db, const char *path, bool thread)
{
	struct writer *wr = mem_new(1, sizeof(*wr));

	wr->db = db;
	wr->path = path;
	wr->last = &wr->first;
	pthread_mutex_init(&wr->lock, NULL);
	pthread_cond_init(&wr->more, NULL);
	pthread_cond_init(&wr->less, NULL);
	wr->wanted = thread;
	return wr;
}

void writer_free(struct writer *wr)
{
	if (!wr)
		return;
	if (wr->threaded) {
		pthread_mutex_lock(&wr->lock);
		wr->stop = true;
		pthread_cond_signal(&wr->more);
		pthread_mutex_unlock(&wr->lock);
		pthread_join(wr->thread, NULL);
	}
	while (wr->spare) {
		struct block *b = wr->spare;

		wr->spare = b->next;
		block_free(b);
	}
	pthread_cond_destroy(&wr->less);
	pthread_cond_destroy(&wr->more);
	pthread_mutex_destroy(&wr->lock);
	free(wr);
}

static int writer_result(struct writer *wr, struct err *err)
{
	if (wr->failed && err)
		*err = wr->err;
	return wr->failed;
}

int writer_put(struct writer *wr, struct block *b, struct err *err)
{
	/* The thread starts with the first block, because readers of captures
	 * may fork before that. A child forked while another thread holds a
	 * lock keeps it locked for ever: with gcc's address sanitizer, which
	 * does not release its own lock in the child, that happened once in
	 * some thousand ingests. */
	if (wr->wanted) {
		wr->wanted = false;
		/* without a thread the caller inserts, which is slower */
		wr->threaded = thread_start(&wr->thread, STACK_BYTES, "writing",
					    writer_run, wr);
	}
	if (!wr->threaded) {
		writer_insert(wr, b);
		writer_keep(wr, b);
		return writer_result(wr, err);
	}
	pthread_mutex_lock(&wr->lock);
	while (wr->bytes && wr->bytes + b->size > QUEUE_BYTES) {
		pthread_cond_signal(&wr->more);
		pthread_cond_wait(&wr->less, &wr->lock);
	}
	b->next = NULL;
	*wr->last = b;
	wr->last = &b->next;
	wr->bytes += b->size;
	if (wr->bytes >= WAKE_BYTES)
		pthread_cond_signal(&wr->more);
	int rc = writer_result(wr, err);

	pthread_mutex_unlock(&wr->lock);
	return rc;
}

struct block *writer_spare(struct writer *wr)
{
	if (wr->threaded)
		pthread_mutex_lock(&wr->lock);
	struct block *b = wr->spare;

	if (b)
		wr->spare = b->next;
	if (wr->threaded)
		pthread_mutex_unlock(&wr->lock);
	return b;
}

int writer_wait(struct writer *wr, struct err *err)
{
	if (!wr->threaded)
		return writer_result(wr, err);
	pthread_mutex_lock(&wr->lock);
	pthread_cond_signal(&wr->more);
	while (wr->bytes)
		pthread_cond_wait(&wr->less, &wr->lock);
	int rc = writer_result(wr, err);

	pthread_mutex_unlock(&wr->lock);
	return rc;
}
