/* run.c - a list of records through stitch, and all that it says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/order/order.h"
#include "stitch/base/table.h"
#include "stitch/stitch.h"
#include "tests/next_fact.h"
#include "tests/truth/truth.h"

/* ---- a source that gives out a list as it is */

struct list_source {
	struct source src;
	const struct list *list;
	uint16_t source;
	size_t at;
};

static int src_next(struct source *src, struct ref *ref, struct err *err)
{
	struct list_source *ls = (struct list_source *)src;
	const struct list *l = ls->list;

	(void)err;
	while (ls->at < l->n && l->at[ls->at].source != ls->source)
		ls->at++;
	if (ls->at == l->n) {
		src->floor = UINT64_MAX;
		return 0;
	}
	const struct record *r = l->at[ls->at].rec;

	/* The list is in the order that is wanted: one class for all. */
	*ref = (struct ref){
		.key = is_timed(r) ? r->time : 0,
		.seq = ls->at,
		.handle = ls->at,
		.len = 64,
		.untimed = !is_timed(r),
	};
	ls->at++;
	return 1;
}

static int src_decode(struct source *src, const struct ref *ref,
		      struct record *rec, struct err *err)
{
	const struct list_source *ls = (struct list_source *)src;

	(void)err;
	*rec = *ls->list->at[ref->handle].rec;
	rec->off = ref->handle;
	return 0;
}

static bool src_same(struct source *src, const struct ref *a,
		     const struct ref *b)
{
	(void)src;
	(void)a;
	(void)b;
	return false;
}

static void src_close(struct source *src)
{
	free(src);
}

struct source *list_source(const struct slice *s, const struct list *l,
			   uint16_t source)
{
	static const struct source_ops ops = {
		.name = "list",
		.next = src_next,
		.decode = src_decode,
		.same = src_same,
		.close = src_close,
	};
	struct list_source *ls = mem_new(1, sizeof(*ls));

	ls->src = *s->cap->src;
	ls->src.ops = &ops;
	ls->src.floor = 0;
	ls->src.info = *info_of(s, source);
	ls->list = l;
	ls->source = source;
	return &ls->src;
}

/* ---- facts to rows */

struct comm_name {
	char name[32];
};

#define ADD(r, what, value)                                                    \
	do {                                                                   \
		mem_grow((r)->what, (r)->cap_##what, (r)->n_##what + 1);       \
		(r)->what[(r)->n_##what++] = (value);                          \
	} while (0)

/* What an image is, without its number. */
static uint64_t run_hash_image(const struct image *m)
{
	uint64_t h = m->path ? hash_content(m->path, strlen(m->path), 1) : 1;

	h = hash_pair(h, (uint64_t)m->kind << 32 | m->maj << 8 | m->min);
	h = hash_pair(h, m->ino);
	return hash_pair(h, hash_content(m->id, m->id_len, 2));
}

static uint64_t hash_raw(const struct result *r, const struct frames *fr,
			 uint32_t id)
{
	const struct raw_chain *rc = frames_get_raw(fr, id);
	uint64_t h = 7;
	uint32_t st = rc->stack;
	uint32_t n;

	for (uint32_t i = 0; i < rc->n && st; i++) {
		const struct stack *k = frames_get_stack(fr, st);
		const struct frame *f = frames_get_frame(fr, k->frame);

		h = hash_pair(h, *frames_raw_ips(fr, rc, i, &n));
		h = hash_pair(h, r->image[f->image]);
		h = hash_pair(h, f->off);
		st = k->parent;
	}
	return h;
}

static void hash_all(struct result *r, const struct frames *fr)
{
	uint32_t n = fr->n_image;
	uint32_t raws = fr->n_raw;

	mem_grow(r->image, r->cap_image, n + 1u);
	mem_grow(r->raw, r->cap_raw, raws + 1u);
	r->raw[0] = 0;
	for (uint32_t i = 1; i <= n; i++)
		r->image[i] = run_hash_image(frames_get_image(fr, i));
	for (uint32_t i = 1; i <= raws; i++)
		r->raw[i] = hash_raw(r, fr, i);
}

static void run_take_event(struct result *r, const struct fact_event *f)
{
	size_t i = f->rec->off;
	struct event_row *e = &r->event[i];

	e->has = true;
	e->f = *f;
	mem_grow(r->item_of_event, r->cap_item_event, f->id + 1u);
	r->item_of_event[f->id] = (uint32_t)i;
	if (f->comm && f->comm <= r->n_comm)
		memcpy(e->comm, r->comm[f->comm - 1].name, sizeof(e->comm));
}

/* Rows of requests and chains are put where their items are at the end, when
 * all stacks are known; until then the fact alone is kept. */
static void take_request(struct result *r, const struct fact_request *f)
{
	struct request_row *q = &r->request[r->item_of_event[f->event]];

	q->twice |= q->has;
	q->has = true;
	q->f = *f;
}

static void run_take_comm(struct result *r, const struct fact_comm *f)
{
	struct comm_name n;

	memset(&n, 0, sizeof(n));
	snprintf(n.name, sizeof(n.name), "%s", f->name);
	ADD(r, comm, n);
}

static void take_fact(struct result *r, const struct fact *f)
{
	if (f->kind == FACT_EVENT)
		run_take_event(r, &f->event);
	else if (f->kind == FACT_REQUEST)
		take_request(r, &f->request);
	else if (f->kind == FACT_CHAIN)
		ADD(r, told, f->chain);
	else if (f->kind == FACT_COMM)
		run_take_comm(r, &f->comm);
	else if (f->kind == FACT_PROCESS)
		ADD(r, process, f->process);
	else if (f->kind == FACT_THREAD)
		ADD(r, thread, f->thread);
	else if (f->kind == FACT_GAP)
		ADD(r, gap, f->gap);
	else if (f->kind == FACT_COUNTER)
		ADD(r, counter, f->counter);
	else if (f->kind == FACT_SESSION)
		ADD(r, session, f->session);
	else if (f->kind == FACT_COPY)
		ADD(r, copy, f->copy);
	else if (f->kind == FACT_MAPPING)
		r->maps++;
	else if (f->kind == FACT_FINDING)
		ADD(r, finding, ((struct finding_row){ f->finding, 0, -1 }));
}

static void run_clear(struct result *r, const struct list *l)
{
	r->n = l->n;
	mem_grow(r->event, r->cap_event, l->n + 1);
	mem_grow(r->request, r->cap_request, l->n + 1);
	mem_grow(r->chain, r->cap_chain, l->n + 1);
	memset(r->event, 0, l->n * sizeof(*r->event));
	memset(r->request, 0, l->n * sizeof(*r->request));
	memset(r->chain, 0, l->n * sizeof(*r->chain));
	mem_grow(r->item_of_chain, r->cap_item_chain, l->n + 1);
	r->n_process = r->n_thread = r->n_gap = r->n_counter = 0;
	r->n_session = r->n_finding = r->n_loss = r->n_comm = r->n_copy = 0;
	r->n_told = 0;
	r->maps = 0;
	r->failed = false;
}

/* Chains have numbers in the order in which they come; copies are told of in
 * the same order. */
static void place_chains(struct result *r, const struct list *l)
{
	uint32_t ids = 0;
	size_t n = 0;

	r->item_of_chain[0] = NOWHERE;
	mem_grow(r->copy_item, r->cap_copy_item, r->n_copy + 1);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->at[i].rec->kind != REC_CHAIN)
			continue;
		if (n < r->n_copy && r->copy[n].source == l->at[i].source &&
		    r->copy[n].time == truth_time_of(l->at[i].rec))
			r->copy_item[n++] = i;
		else
			r->item_of_chain[++ids] = i;
	}
	while (n < r->n_copy)
		r->copy_item[n++] = 0;
	for (size_t i = 0; i < r->n_told; i++) {
		const struct fact_chain *f = &r->told[i];
		struct chain_row *c = &r->chain[r->item_of_chain[f->id]];

		c->twice |= c->has;
		c->has = true;
		c->f = *f;
	}
}

/* Row numbers become places in the list, and stacks their content. */
static void run_settle(struct result *r, const struct list *l,
		       const struct frames *fr)
{
	hash_all(r, fr);
	place_chains(r, l);
	for (size_t i = 0; i < r->n; i++) {
		struct event_row *e = &r->event[i];
		struct request_row *q = &r->request[i];

		e->kern = e->has ? r->raw[e->f.kraw] : 0;
		e->user = e->has ? r->raw[e->f.uraw] : 0;
		for (size_t k = 0; e->has && k < r->n_thread; k++)
			if (r->thread[k].id == e->f.thread)
				e->thread = (uint32_t)k;
		q->chain = q->as_tid = NOWHERE;
		if (q->has) {
			q->chain = r->item_of_chain[q->f.chain];
			q->as_tid = r->item_of_chain[q->f.as_tid];
			q->user = r->raw[q->f.uraw];
		}
		if (r->chain[i].has)
			r->chain[i].user = r->raw[r->chain[i].f.uraw];
	}
	for (size_t i = 0; i < r->n_finding; i++) {
		struct finding_row *f = &r->finding[i];

		f->event = f->f.event ? r->item_of_event[f->f.event] : NOWHERE;
		for (size_t k = 0; k < r->n_thread; k++)
			if (r->thread[k].id == f->f.thread)
				f->tid = r->thread[k].tid;
	}
}

void run_list(const struct slice *s, const struct list *l, struct result *out)
{
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct ledger_entry e;
	const struct fact *f;
	struct err err;
	int got;

	run_clear(out, l);
	order_add(ord, list_source(s, l, 0));
	if (s->pair)
		order_add(ord, list_source(s, l, 1));
	struct stitch *st = stitch_new(ord, fr, lg, NULL);

	for (uint16_t i = 0; s->pair && i < 2; i++)
		stitch_together(st, i, 0);
	while ((got = next_fact(st, &f, &err)) > 0)
		take_fact(out, f);
	out->failed = got < 0;
	if (out->failed)
		snprintf(out->error, sizeof(out->error), "%s", err.msg);
	while (ledger_take(lg, &e))
		if (e.kind == LEDGER_LOSS)
			ADD(out, loss, e);
	run_settle(out, l, fr);
	stitch_free(st);
	order_free(ord);
	ledger_free(lg);
	frames_free(fr);
}

void result_release(struct result *r)
{
	free(r->event);
	free(r->request);
	free(r->chain);
	free(r->process);
	free(r->thread);
	free(r->gap);
	free(r->counter);
	free(r->session);
	free(r->copy);
	free(r->copy_item);
	free(r->told);
	free(r->finding);
	free(r->loss);
	free(r->comm);
	free(r->item_of_event);
	free(r->item_of_chain);
	free(r->image);
	free(r->raw);
	*r = (struct result){ 0 };
}
