/* decode_ahead.c - has a thread read, order and decode records before they are
 * due. Measured: ingest of a trace.dat takes two thirds of the time. */
#include "stitch/order/decode_ahead.h"

#include <pthread.h>
#include <stdatomic.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/thread.h"
#include "stitch/record.h"
#include "stitch/source.h"

static const void *keep_bytes(struct arena *a, const void *p, size_t n)
{
	return p ? memcpy(arena_take(a, n), p, n) : NULL;
}

static const char *keep_text(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static void keep_places(struct arena *a, struct addrs *list)
{
	const struct place **own;

	if (!list->place)
		return;
	own = arena_take(a, list->n * sizeof(*own));
	for (uint32_t i = 0; i < list->n; i++) {
		const struct place *p = list->place[i];
		struct place *copy = NULL;

		if (p) {
			copy = arena_take(a, sizeof(*copy));
			*copy = *p;
			copy->path = keep_text(a, p->path);
			copy->symbol = keep_text(a, p->symbol);
		}
		own[i] = copy;
	}
	list->place = own;
}

static void keep_addrs(struct arena *a, struct addrs *list)
{
	if (!list->n && !list->place)
		return;
	if (!list->lasts)
		list->ip = keep_bytes(a, list->ip, list->n * sizeof(*list->ip));
	keep_places(a, list);
}

static const struct extra *keep_extras(struct arena *a, const struct extra *e,
				       uint32_t n)
{
	struct extra *own;

	if (!e || !n)
		return NULL;
	own = arena_take(a, n * sizeof(*own));
	for (uint32_t i = 0; i < n; i++) {
		own[i] = e[i];
		own[i].blob = keep_bytes(a, e[i].blob, e[i].len);
	}
	return own;
}

static const struct call *keep_call(struct arena *a, const struct call *c)
{
	struct call *own;

	if (!c)
		return NULL;
	own = arena_take(a, sizeof(*own));
	*own = *c;
	own->path = keep_text(a, c->path);
	return own;
}

void keep_record(struct record *rec, struct arena *a)
{
	struct rec_sample *s = &rec->sample;
	struct addrs *held = NULL;

	switch (rec->kind) {
	case REC_SAMPLE:
		keep_addrs(a, &s->kern);
		keep_addrs(a, &s->user);
		s->call = keep_call(a, s->call);
		/* few samples have these lists */
		if (!s->n_held && !s->user_regs.n && !s->n_branch &&
		    !s->n_extra && !s->n_member)
			break;
		if (s->held && s->n_held) {
			held = arena_take(a, s->n_held * sizeof(*held));
			memcpy(held, s->held, s->n_held * sizeof(*held));
			for (uint32_t i = 0; i < s->n_held; i++)
				keep_addrs(a, &held[i]);
		}
		s->held = held;
		s->user_regs.v =
			keep_bytes(a, s->user_regs.v,
				   s->user_regs.n * sizeof(*s->user_regs.v));
		s->branch = keep_bytes(a, s->branch,
				       s->n_branch * sizeof(*s->branch));
		s->extra = keep_extras(a, s->extra, s->n_extra);
		s->member = keep_bytes(a, s->member,
				       s->n_member * sizeof(*s->member));
		break;
	case REC_CHAIN:
		keep_addrs(a, &rec->chain.user);
		break;
	case REC_MAP:
		rec->map.path = keep_text(a, rec->map.path);
		rec->map.id = keep_bytes(a, rec->map.id, rec->map.id_len);
		break;
	case REC_KSYMBOL:
		rec->ksymbol.name = keep_text(a, rec->ksymbol.name);
		break;
	case REC_COMM:
		rec->comm.name = keep_text(a, rec->comm.name);
		break;
	case REC_MARK:
		rec->mark.name = keep_text(a, rec->mark.name);
		rec->mark.extra =
			keep_extras(a, rec->mark.extra, rec->mark.n_extra);
		break;
	default: /* other records have only numbers */
		break;
	}
}

/* Records of a block: waking a thread costs as much as some records. */
#define BLOCK_RECORDS 512
/* Maximum number of records to decode for a block: damaged ones take up its
 * memory and ledger, too, until it is given back. */
#define BLOCK_TRIES 4096
#define BLOCKS 24
/* A caller that waits is woken once this many blocks are full. With the first
 * one, and half as many blocks, both slept and woke each other for each block:
 * an ingest of two million events on two processors took a tenth longer. */
#define WAKE 4
/* Bytes that the records of all blocks may point to, except the last one of
 * each; the larger limit is for records with stack dumps, some hundred of which
 * are unwound ahead. */
#define BYTES ((size_t)6 << 20)
#define BYTES_DUMPS ((size_t)12 << 20)
#define STACK_BYTES ((size_t)512 << 10)

/* A source as the caller sees it. */
struct shown_source {
	struct source src; /* must be the first */
	struct source_ops ops;
	struct source *real;
	struct event_def *events; /* events of src */
	uint32_t known; /* number of events shown so far; only the thread uses
			 * it */
};

/* Changes of a source since the previous block. */
struct block_news {
	uint64_t pos;
	bool truncated; /* source_info.truncated, which may be known last */
	struct event_def *events; /* NULL: nothing new */
	uint32_t n_events;
};

/* A record begins on a cache line (record.h). */
#define LINE 64
struct lined_record {
	_Alignas(LINE) struct record rec;
};

struct record_block {
	struct lined_record rec[BLOCK_RECORDS];
	size_t said[BLOCK_RECORDS]; /* number of ledger calls up to each
				     * record */
	uint32_t n;
	uint64_t before; /* records of earlier blocks */
	bool last;
	int rc; /* last block: the result of fn, with err */
	struct err err;
	struct arena arena;
	/* Refs to release when the block is filled again, as their records are
	 * used up by then; bytes: what these records point to. */
	struct ref *old;
	size_t n_old, cap_old, bytes;
	struct ledger *ledger;
	struct block_news *news; /* by source */
};

/* Data that one thread writes for each record must not share a cache line, or
 * two that are fetched together, with data that the other one reads for each:
 * this took 0.1 s of 0.9 s for two million records. */
#define APART 128

struct decode_ahead {
	size_t n;
	size_t n_block;
	size_t block_bytes; /* share of BYTES or BYTES_DUMPS for one block */
	struct shown_source *shown;
	decode_ahead_fn *fn;
	void *arg;
	struct ledger *queue;	      /* the thread's */
	struct record_block *filling; /* the thread's */
	uint64_t decoded; /* number of records; used only by the thread */
	struct record_block *block; /* ring of blocks, aligned in `memory` */
	void *memory;
	char apart[APART];
	/* from here on used only by the caller */
	struct ledger *to;
	decode_ahead_passed_fn *passed; /* NULL: records are not kept */
	void *passed_arg;
	size_t taken;
	bool begun, threaded;
	pthread_t thread;
	uint32_t at; /* the next record in block[taken] */
	bool has;    /* the caller has block[taken], which is `now` */
	struct record_block *now;
	size_t ahead;	   /* decode_ahead_peek(): block of the next record */
	uint32_t ahead_at; /* index of that record in the block */
	char apart_too[APART];
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* signalled for full blocks; for empty
				    * blocks */
	atomic_size_t made;	   /* protected by lock, except for reading */
	/* protected by lock: */
	size_t wanted; /* blocks made when the caller is woken */
	size_t freed;  /* blocks that are no longer needed */
	bool stop;
};

static struct source *shown_source_real(struct source *src)
{
	return ((struct shown_source *)src)->real;
}

static int shown_source_fields(struct source *src, const struct rec_sample *s,
			       struct field *out, struct err *err)
{
	struct source *real = shown_source_real(src);

	return real->ops->fields(real, s, out, err);
}

static int shown_source_print(struct source *src, const struct rec_sample *s,
			      char *buf, size_t size)
{
	struct source *real = shown_source_real(src);

	return real->ops->print(real, s, buf, size);
}

struct source *decode_ahead_source(const struct decode_ahead *da, size_t i)
{
	return i < da->n ? &da->shown[i].src : NULL;
}

void decode_ahead_release(struct decode_ahead *da, const struct ref *ref)
{
	struct source *src = da->shown[ref->source].real;
	struct record_block *b = da->filling;

	if (!src->ops->lasting) {
		src->ops->release(src, ref);
		return;
	}
	*mem_add(b->old, b->n_old, b->cap_old) = *ref;
	b->bytes += ref->len;
}

/* Releases the old content of a block, and fills it with new records. */
static void record_block_fill(struct decode_ahead *da, struct record_block *b)
{
	/* local copies, as the caller writes to *da for each record */
	decode_ahead_fn *fn = da->fn;
	void *arg = da->arg;
	struct ledger *queue = da->queue;
	const size_t block_bytes = da->block_bytes;
	uint32_t n = 0;
	uint32_t tries = 0;
	int rc = 1;

	for (size_t i = 0; i < b->n_old; i++) {
		struct source *src = da->shown[b->old[i].source].real;

		src->ops->release(src, &b->old[i]);
	}
	b->n_old = b->bytes = 0;
	arena_clear(&b->arena);
	da->filling = b;
	for (size_t i = 0; i < da->n; i++)
		da->shown[i].real->arena = &b->arena;
	while (n < BLOCK_RECORDS && tries++ < BLOCK_TRIES &&
	       b->bytes + b->arena.used < block_bytes &&
	       (rc = fn(arg, &b->rec[n].rec, &b->err)) > 0) {
		if (rc == DECODED_NOTHING)
			continue;
		struct record *rec = &b->rec[n].rec;
		const struct source_ops *ops = da->shown[rec->source].real->ops;

		if (!ops->lasting && !ops->fills_arena) {
			keep_record(rec, &b->arena);
		} else if (!ops->fills_arena && rec->kind == REC_SAMPLE) {
			keep_places(&b->arena, &rec->sample.kern);
			keep_places(&b->arena, &rec->sample.user);
			if (rec->sample.call)
				rec->sample.call =
					keep_call(&b->arena, rec->sample.call);
		} else if (!ops->fills_arena && rec->kind == REC_CHAIN) {
			keep_places(&b->arena, &rec->chain.user);
		}
		b->said[n++] = ledger_queued(queue);
	}
	b->n = n;
	b->before = da->decoded;
	da->decoded += n;
	b->rc = rc;
	b->last = rc <= 0;
	ledger_swap(b->ledger, queue);
	/* Note new events of the sources. Flags of known events change until
	 * the end, but are not used before. */
	for (size_t i = 0; i < da->n; i++) {
		struct shown_source *s = &da->shown[i];
		struct block_news *news = &b->news[i];

		news->pos = s->real->pos;
		news->truncated = s->real->info.truncated;
		if (s->real->n_events == s->known && !b->last)
			continue;
		s->known = news->n_events = s->real->n_events;
		news->events = mem_dup(s->real->events,
				       s->known * sizeof(*news->events));
	}
}

/* The thread: fills blocks until the last record, or until it must stop. */
static void *decode_ahead_main(void *arg)
{
	struct decode_ahead *da = arg;
	bool last = false;

	pthread_mutex_lock(&da->lock);
	while (!last && !da->stop) {
		if (da->made - da->freed == da->n_block) {
			pthread_cond_wait(&da->less, &da->lock);
			continue;
		}
		struct record_block *b = &da->block[da->made % da->n_block];

		pthread_mutex_unlock(&da->lock);
		record_block_fill(da, b);
		last = b->last;
		pthread_mutex_lock(&da->lock);
		da->made++;
		if (last || da->made >= da->wanted ||
		    da->made - da->freed == da->n_block)
			pthread_cond_signal(&da->more);
	}
	pthread_mutex_unlock(&da->lock);
	/* Giving back the memory of a large file takes some ms, in which the
	 * caller can work. */
	for (size_t i = 0; i < da->n; i++) {
		struct source *src = da->shown[i].real;

		if (src->ops->decoded)
			src->ops->decoded(src);
	}
	return NULL;
}

void decode_ahead_give_back(struct decode_ahead *da)
{
	pthread_mutex_lock(&da->lock);
	da->freed++;
	/* wake the thread only once half of the blocks are empty */
	if (da->made - da->freed <= da->n_block / 2)
		pthread_cond_signal(&da->less);
	pthread_mutex_unlock(&da->lock);
}

void decode_ahead_keep(struct decode_ahead *da, decode_ahead_passed_fn *passed,
		       void *arg)
{
	da->passed = passed;
	da->passed_arg = arg;
}

/* Gives back the used-up block, and takes the next one. */
static struct record_block *decode_ahead_take(struct decode_ahead *da)
{
	if (da->has && da->passed)
		da->passed(da->passed_arg, false);
	else if (da->has)
		decode_ahead_give_back(da);
	da->taken += da->has;
	struct record_block *b = &da->block[da->taken % da->n_block];

	pthread_mutex_lock(&da->lock);
	da->wanted = da->taken + WAKE;
	/* The thread may sleep until half of the blocks are empty, while a user
	 * of kept blocks waits for more before it gives them back: then only
	 * the caller is awake. */
	if (da->threaded && da->made == da->taken)
		pthread_cond_signal(&da->less);
	while (da->threaded && da->made == da->taken)
		pthread_cond_wait(&da->more, &da->lock);
	if (!da->threaded) {
		while (da->made - da->freed == da->n_block)
			pthread_cond_wait(&da->less, &da->lock);
		record_block_fill(da, b);
		da->made++;
	}
	pthread_mutex_unlock(&da->lock);
	da->has = true;
	da->now = b;
	da->at = 0;
	/* Show the events that the sources had when the block was full. */
	bool changes = false;

	for (size_t i = 0; i < da->n; i++)
		changes |= b->news[i].events != NULL;
	if (changes && da->passed)
		da->passed(da->passed_arg, true);
	for (size_t i = 0; i < da->n; i++) {
		struct shown_source *s = &da->shown[i];
		struct block_news *news = &b->news[i];

		s->src.pos = news->pos;
		s->src.info.truncated = news->truncated;
		if (!news->events)
			continue;
		free(s->events);
		s->src.events = s->events = news->events;
		s->src.n_events = news->n_events;
		news->events = NULL;
	}
	return b;
}

int decode_ahead_next(struct decode_ahead *da, struct record **rec,
		      struct err *err)
{
	struct record_block *b = da->now;

	if (!da->begun) {
		da->begun = true;
		da->threaded = thread_start(&da->thread, STACK_BYTES,
					    "decoding", decode_ahead_main, da);
	}
	while (!da->has || (da->at == b->n && !b->last)) {
		if (da->has)
			ledger_pass(b->ledger, da->to, SIZE_MAX);
		b = decode_ahead_take(da);
	}
	if (da->at < b->n) {
		ledger_pass(b->ledger, da->to, b->said[da->at]);
		*rec = &b->rec[da->at++].rec;
		return 1;
	}
	ledger_pass(b->ledger, da->to, SIZE_MAX);
	if (b->rc < 0)
		*err = b->err;
	return b->rc;
}

const struct record *decode_ahead_soon(const struct decode_ahead *da, size_t n)
{
	return da->has && n <= da->now->n - da->at
		       ? &da->now->rec[da->at + n - 1].rec
		       : NULL;
}

const struct record *decode_ahead_peek(struct decode_ahead *da,
				       uint64_t *number)
{
	if (da->ahead < da->taken) {
		da->ahead = da->taken;
		da->ahead_at = 0;
	}
	if (da->ahead == da->taken && da->ahead_at < da->at)
		da->ahead_at = da->at;
	while (da->ahead < atomic_load(&da->made)) {
		struct record_block *b = &da->block[da->ahead % da->n_block];

		if (da->ahead_at < b->n) {
			*number = b->before + da->ahead_at + 1;
			return &b->rec[da->ahead_at++].rec;
		}
		da->ahead++;
		da->ahead_at = 0;
	}
	return NULL;
}

struct decode_ahead *decode_ahead_new(struct source *const *src, size_t n,
				      decode_ahead_fn *fn, void *arg,
				      struct ledger *lg, struct ledger **queue)
{
	for (size_t i = 0; i < n; i++)
		if (!src[i]->ops->apart || !src[i]->ops->apart(src[i]))
			return NULL;
	struct decode_ahead *da = mem_new(1, sizeof(*da));

	da->n = n;
	da->n_block = BLOCKS;
	da->block_bytes = BYTES / BLOCKS;
	for (size_t i = 0; i < n; i++)
		if (src[i]->info.dumps)
			da->block_bytes = BYTES_DUMPS / BLOCKS;
	da->fn = fn;
	da->arg = arg;
	da->to = lg;
	*queue = da->queue = ledger_new_queue();
	/* not aligned_alloc(): unused pages of zeros cost nothing */
	da->memory = mem_new(da->n_block + 1, sizeof(*da->block));
	da->block = (void *)(((uintptr_t)da->memory + LINE - 1) / LINE * LINE);
	for (size_t i = 0; i < da->n_block; i++) {
		da->block[i].ledger = ledger_new_queue();
		da->block[i].news = mem_new(n, sizeof(*da->block[i].news));
	}
	da->shown = mem_new(da->n, sizeof(*da->shown));
	for (size_t i = 0; i < da->n; i++) {
		struct shown_source *s = &da->shown[i];

		s->src = *src[i];
		s->real = src[i];
		s->ops = (struct source_ops){
			.name = src[i]->ops->name,
			.summary = src[i]->ops->summary,
			.fields = src[i]->ops->fields ? shown_source_fields
						      : NULL,
			.print = src[i]->ops->print ? shown_source_print : NULL,
		};
		s->src.ops = &s->ops;
		s->known = src[i]->n_events;
		s->events =
			mem_dup(src[i]->events, s->known * sizeof(*s->events));
		s->src.events = s->events;
		src[i]->ledger = da->queue;
	}
	pthread_mutex_init(&da->lock, NULL);
	pthread_cond_init(&da->more, NULL);
	pthread_cond_init(&da->less, NULL);
	return da;
}

void decode_ahead_free(struct decode_ahead *da)
{
	if (!da)
		return;
	if (da->threaded) {
		pthread_mutex_lock(&da->lock);
		da->stop = true;
		pthread_cond_signal(&da->less);
		pthread_mutex_unlock(&da->lock);
		pthread_join(da->thread, NULL);
	}
	pthread_mutex_destroy(&da->lock);
	pthread_cond_destroy(&da->more);
	pthread_cond_destroy(&da->less);
	for (size_t i = 0; i < da->n_block; i++) {
		struct record_block *b = &da->block[i];

		for (size_t k = 0; k < da->n; k++)
			free(b->news[k].events);
		free(b->news);
		ledger_free(b->ledger);
		free(b->old);
		arena_release(&b->arena);
	}
	for (size_t i = 0; i < da->n; i++)
		free(da->shown[i].events);
	free_all(da->shown, da->memory);
	ledger_free(da->queue);
	free(da);
}
