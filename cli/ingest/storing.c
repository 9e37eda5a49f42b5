/* storing.c - stores facts, in a thread of its own if records allow that.
 *
 * Facts point to records, which stay valid while a thread reads ahead: a block
 * of facts ends where one of records does, and gives that back. Measured, of
 * the processor's time: the main thread had 78 % and has 56 with stacks of a
 * whole system, with LTTng events 57 and 28. */
#include "cli/ingest/storing.h"

#include <pthread.h>

#include "cli/ingest/lock_names.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/thread.h"
#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/order/order.h"
#include "stitch/source.h"

#define FACTS 1024
#define BLOCKS 12
/* The thread is woken once this many blocks wait: waking it costs the main
 * thread as much as some dozen records, and on two processors the woken thread
 * often takes its place for a while. They are fewer than the blocks of
 * decode_ahead.c, so that no thread waits for blocks of records that wait here.
 */
#define WAKE 8
#define STACK_BYTES ((size_t)1 << 20)

struct fact_block {
	struct fact *fact; /* owned */
	size_t n, cap;
	struct arena lists;
	bool passed; /* the last one of a block of records */
};

struct storing {
	struct maker *mk;
	struct order *order;
	bool no_fields, threaded;
	struct fact_queue *in; /* the main thread's */
	bool broken;	       /* the main thread's: failed was seen */
	pthread_t thread;
	struct fact_block *block; /* a ring */
	/* the thread's */
	struct field *field;
	size_t field_cap;
	struct ledger *queue;
	struct lock_names *locks; /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* blocks that are full; that are empty */
	/* protected by lock: */
	size_t made, taken;
	bool waits, stop;
	int failed; /* -1 once err is set */
	struct err err;
};

/* Sets fields that are stacks to the ids of their raw chains. */
static void put_held(const struct fact_event *e, const struct event_def *def,
		     struct field *f)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < def->n_fields; i++) {
		if (!def->fields[i].is_stack)
			continue;
		if (at == e->rec->sample.n_held)
			return;
		uint32_t id = e->held[at++];

		if (id)
			f[i] = (struct field){ .present = true, .num = id };
	}
}

/* Stores the payload of a tracepoint as columns. A payload that cannot be
 * decoded is counted as damage; its event is kept. */
static int put_fields(struct storing *s, const struct fact_event *e,
		      struct err *err)
{
	const struct record *rec = e->rec;
	struct err broken; /* fields() fills it, but only when it fails */
	uint32_t n;

	if (s->no_fields || e->type == UINT32_MAX || !rec ||
	    rec->kind != REC_SAMPLE || !rec->sample.raw)
		return 0;
	struct source *src = order_source(s->order, e->source);

	if (!src->ops->fields || e->type >= src->n_events)
		return 0;
	const struct event_def *def = &src->events[e->type];
	bool lock = lock_names_wants(s->locks, src->index, e->type, def);
	bool store = store_wants_fields(s->mk, src, e->type);

	if (lock && !store)
		lock = lock_names_may_wait(s->locks, src, e->type,
					   rec->sample.call);
	n = def->n_fields;
	if (!n || (!lock && !store))
		return 0;
	mem_grow(s->field, s->field_cap, n);
	if (src->ops->fields(src, &rec->sample, s->field, &broken)) {
		ledger_damage(s->queue, src->index, "fields", rec->off, 0,
			      &broken);
		return 0;
	}
	if (lock)
		lock_names_take(s->locks,
				&(struct lock_from){ src->index, e->type,
						     e->thread,
						     src->info.arch },
				def, s->field);
	if (!store)
		return 0;
	if (rec->sample.n_held)
		put_held(e, def, s->field);
	return store_fields(s->mk, src, e->type, e->id, s->field, n, err);
}

static int storing_take(struct storing *s, const struct fact *f,
			struct err *err)
{
	if (store_fact(s->mk, f, err))
		return -1;
	return f->kind == FACT_EVENT ? put_fields(s, &f->event, err) : 0;
}

static void *storing_main(void *arg)
{
	struct storing *s = arg;
	struct err err;
	int failed = 0;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (s->taken == s->made && !s->stop)
			pthread_cond_wait(&s->more, &s->lock);
		if (s->stop)
			break;
		struct fact_block *b = &s->block[s->taken % BLOCKS];

		pthread_mutex_unlock(&s->lock);
		for (size_t i = 0; i < b->n && !failed; i++)
			failed = storing_take(s, &b->fact[i], &err);
		arena_clear(&b->lists);
		if (b->passed)
			order_give_back(s->order);
		pthread_mutex_lock(&s->lock);
		if (failed && !s->failed)
			s->err = err;
		s->failed = failed;
		s->taken++;
		if (s->waits && s->made - s->taken <= BLOCKS / 2)
			pthread_cond_signal(&s->less);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Fills a block with the facts that are due. What facts point to goes with the
 * last one of the queue: blocks are emptied one after the other. */
static void storing_fill(struct fact_queue *q, struct fact_block *b)
{
	size_t left = fact_queue_left(q) - q->due;
	const struct fact_queue was = *q;

	if (q->head || left > q->due) {
		/* more facts are left than are due, as at the end, which
		 * reports all threads at once: those that are due are copied */
		mem_grow(b->fact, b->cap, q->due);
		if (q->due)
			memcpy(b->fact, q->fact + q->head,
			       q->due * sizeof(*q->fact));
		q->head += q->due;
	} else {
		/* the block and the queue change arrays, and the other facts
		 * are copied */
		q->n = was.n - was.due;
		q->fact = mem_grow_to(b->fact, &b->cap, q->n + FACTS,
				      sizeof(*b->fact));
		q->cap = b->cap;
		if (q->n)
			memcpy(q->fact, was.fact + was.due,
			       q->n * sizeof(*q->fact));
		b->fact = was.fact;
		b->cap = was.cap;
	}
	if (!left) {
		q->lists = b->lists;
		b->lists = was.lists;
	}
	b->n = q->due;
	q->gone += q->due;
	q->due = 0;
}

/* Returns when there is an empty block, or, with `all`, only such blocks. */
static void storing_submit(struct storing *s, bool passed, bool all)
{
	storing_fill(s->in, &s->block[s->made % BLOCKS]);
	s->block[s->made % BLOCKS].passed = passed;
	pthread_mutex_lock(&s->lock);
	s->made++;
	if (all || s->made - s->taken >= WAKE)
		pthread_cond_signal(&s->more);
	s->waits = true;
	while (s->made - s->taken > (all ? 0 : BLOCKS - 1))
		pthread_cond_wait(&s->less, &s->lock);
	s->waits = false;
	s->broken = s->failed;
	pthread_mutex_unlock(&s->lock);
}

/* See decode_ahead_keep(). */
static void storing_passed(void *arg, bool changes)
{
	storing_submit(arg, !changes, changes);
}

struct storing *storing_new(struct maker *mk, struct order *order,
			    struct fact_queue *queue, struct lock_names *locks,
			    bool no_fields)
{
	struct storing *s = mem_new(1, sizeof(*s));

	s->mk = mk;
	s->in = queue;
	s->order = order;
	s->locks = locks;
	s->no_fields = no_fields;
	s->queue = ledger_new_queue();
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->less, NULL);
	s->block = mem_new(BLOCKS, sizeof(*s->block));
	s->threaded = order_keep(order, NULL, NULL) &&
		      thread_start(&s->thread, STACK_BYTES, "storing",
				   storing_main, s);
	if (s->threaded)
		order_keep(order, storing_passed, s);
	return s;
}

void storing_free(struct storing *s)
{
	if (!s)
		return;
	if (s->threaded) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_cond_signal(&s->more);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->less);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	for (size_t i = 0; i < BLOCKS; i++) {
		free(s->block[i].fact);
		arena_release(&s->block[i].lists);
	}
	free_all(s->block, s->field);
	ledger_free(s->queue);
	free(s);
}

uint64_t storing_until(const struct storing *s, uint64_t most)
{
	/* without a thread, a record is valid until the next one is taken */
	return s->threaded ? most : s->in->gone + fact_queue_left(s->in) + 1;
}

int storing_put(struct storing *s, struct err *err)
{
	struct fact_queue *q = s->in;

	if (s->threaded) {
		if (q->due >= FACTS)
			storing_submit(s, false, false);
		return s->broken ? storing_wait(s, err) : 0;
	}
	for (size_t i = 0; i < q->due; i++)
		if (storing_take(s, &q->fact[q->head + i], err))
			return -1;
	q->gone += q->due;
	q->head += q->due;
	q->due = 0;
	if (!fact_queue_left(q))
		arena_clear(&q->lists);
	return 0;
}

int storing_wait(struct storing *s, struct err *err)
{
	if (!s->threaded)
		return 0;
	storing_submit(s, false, true);
	if (s->failed)
		*err = s->err;
	return s->failed;
}

void storing_tell(struct storing *s, struct ledger *lg)
{
	if (!ledger_queued(s->queue))
		return;
	ledger_pass(s->queue, lg, SIZE_MAX);
	ledger_free(s->queue);
	s->queue = ledger_new_queue();
}
