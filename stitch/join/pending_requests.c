/* pending_requests.c - samples with a cookie, until two things are known of
 * each: what became of its request, and what others would have shown for it. */
#include "stitch/join/pending_requests.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/join/join_data.h"
#include "stitch/base/mem.h"

#define WAITING_MAX (1u << 20)

void waits_init(struct waits *ws, struct facts *out)
{
	*ws = (struct waits){ .out = out, .n = 1 };
	ws->wait = mem_grow(NULL, &ws->cap, 1, sizeof(*ws->wait));
}

void waits_release(struct waits *ws)
{
	table_release(&ws->by_tid);
	free(ws->wait);
	free(ws->given);
}

void waits_source(struct waits *ws, uint16_t source)
{
	ws->given = mem_reach(ws->given, &ws->n_given, &ws->cap_given,
			      source + 1u, sizeof(*ws->given));
}

/* Different for all (source, tid), so that the hash is the key. */
static uint64_t tid_key(uint16_t source, int32_t tid)
{
	return hash_u64((uint64_t)source << 32 | (uint32_t)tid);
}

static void hold(struct waits *ws, uint32_t i)
{
	struct wait *w = &ws->wait[i];
	uint64_t key = tid_key(w->source, w->tid);
	uint32_t first = table_find(&ws->by_tid, key, NULL, NULL, NULL);

	w->held = true;
	w->left = w->right = i;
	if (first == TABLE_NONE) {
		table_add(&ws->by_tid, key, i);
		return;
	}
	w->right = first;
	w->left = ws->wait[first].left;
	ws->wait[w->left].right = i;
	ws->wait[first].left = i;
}

/* Takes one out of the ring of its tid. */
static void let_go(struct waits *ws, uint32_t i)
{
	struct wait *w = &ws->wait[i];
	uint64_t key = tid_key(w->source, w->tid);

	w->held = false;
	if (table_remove(&ws->by_tid, key, i) && w->right != i)
		table_add(&ws->by_tid, key, w->right);
	ws->wait[w->left].right = w->right;
	ws->wait[w->right].left = w->left;
}

uint32_t waits_add(struct waits *ws, const struct wait *w)
{
	uint32_t i = ws->free;

	if (i) {
		ws->free = ws->wait[i].next;
	} else {
		ws->wait = mem_grow(ws->wait, &ws->cap, ws->n + 1,
				    sizeof(*ws->wait));
		i = (uint32_t)ws->n++;
	}
	ws->wait[i] = *w;
	ws->used++;
	if (!w->alone)
		hold(ws, i);
	return i;
}

/* Both halves are known. */
static void give_out(struct waits *ws, uint32_t i)
{
	struct wait *w = &ws->wait[i];
	struct fact *f = facts_new(ws->out);

	f->kind = FACT_REQUEST;
	f->request = w->r;
	w->next = ws->free;
	ws->free = i;
	ws->used--;
}

static void unlink_decided(struct waits *ws, uint32_t i)
{
	const struct wait *w = &ws->wait[i];

	if (w->prev)
		ws->wait[w->prev].next = w->next;
	else
		ws->oldest = w->next;
	if (w->next)
		ws->wait[w->next].prev = w->prev;
	else
		ws->newest = w->prev;
}

void waits_decided(struct waits *ws, uint32_t i)
{
	struct wait *w = &ws->wait[i];

	w->decided = true;
	if (!w->held) {
		give_out(ws, i);
		return;
	}
	w->next = 0;
	w->prev = ws->newest;
	if (ws->newest)
		ws->wait[ws->newest].next = i;
	else
		ws->oldest = i;
	ws->newest = i;
}

/* What others show is known. */
static void settle(struct waits *ws, uint32_t i)
{
	if (!ws->wait[i].decided)
		return;
	unlink_decided(ws, i);
	give_out(ws, i);
}

static int64_t held_for(const struct wait *w, int64_t until)
{
	int64_t d;

	if (w->time == TIME_NONE || until == TIME_NONE ||
	    __builtin_sub_overflow(until, w->time, &d))
		return TIME_NONE;
	return d;
}

static void mark_late(const struct waits *ws, struct wait *w)
{
	if (w->r.event < ws->given[w->source])
		w->r.flags |= VERDICT_PERF_LATE;
}

void waits_chain(struct waits *ws, const struct join_chain *c)
{
	uint64_t key = tid_key(c->source, c->tid);
	uint32_t first = table_find(&ws->by_tid, key, NULL, NULL, NULL);
	uint32_t i = first;

	if (first == TABLE_NONE)
		return;
	table_remove(&ws->by_tid, key, first);
	do {
		struct wait *w = &ws->wait[i];
		uint32_t right = w->right;

		w->held = false;
		w->r.as_perf = w->r.cookie == c->cookie ? AS_PERF_MERGED
							: AS_PERF_BARE;
		w->r.as_tid = c->id;
		w->r.held = held_for(w, c->time);
		mark_late(ws, w);
		waits_other(ws, w->source, w->r.event);
		settle(ws, i);
		i = right;
	} while (i != first);
}

void waits_other(struct waits *ws, uint16_t source, uint32_t event)
{
	if (event > ws->given[source])
		ws->given[source] = event;
}

/* perf gives out the rest in the order in which it came, so that only what
 * went out before can make a sample late. */
void waits_end(struct waits *ws)
{
	for (size_t k = 1; k < ws->n; k++) {
		struct wait *w = &ws->wait[k];

		if (!w->held)
			continue;
		let_go(ws, (uint32_t)k);
		w->r.as_perf = AS_PERF_BARE_END;
		mark_late(ws, w);
		settle(ws, (uint32_t)k);
	}
}

bool waits_full(const struct waits *ws)
{
	return ws->used >= WAITING_MAX;
}

bool waits_make_room(struct waits *ws)
{
	while (waits_full(ws) && ws->oldest) {
		uint32_t i = ws->oldest;

		let_go(ws, i);
		settle(ws, i);
	}
	return !waits_full(ws);
}
