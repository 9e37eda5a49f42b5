/* pending_requests.c - requests that wait for their verdict, and for what perf
 * would show. */
#include "stitch/join/pending_requests.h"

#include "stitch/fact_queue.h"
#include "stitch/join/join_data.h"
#include "stitch/base/mem.h"

#define WAITING_MAX (1u << 20)

void pending_requests_init(struct pending_requests *ws, struct fact_queue *out)
{
	*ws = (struct pending_requests){ .out = out, .n = 1 };
	ws->wait = mem_grow_to(NULL, &ws->cap, 1, sizeof(*ws->wait));
}

void pending_requests_release(struct pending_requests *ws)
{
	table_release(&ws->by_tid);
	free_all(ws->wait, ws->given);
}

/* Unique for each (source, tid), so the hash is the key. */
static uint64_t pending_tid_key(uint16_t source, int32_t tid)
{
	return hash_u64((uint64_t)source << 32 | (uint32_t)tid);
}

void pending_requests_hold(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	uint64_t key = pending_tid_key(w->source, w->tid);
	uint32_t first = table_find_hash(&ws->by_tid, key);

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

/* Removes a request from the ring of its tid. */
static void pending_release_held(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	uint64_t key = pending_tid_key(w->source, w->tid);

	w->held = false;
	if (table_remove(&ws->by_tid, key, i) && w->right != i)
		table_add(&ws->by_tid, key, w->right);
	ws->wait[w->left].right = w->right;
	ws->wait[w->right].left = w->left;
}

uint32_t pending_requests_new(struct pending_requests *ws)
{
	uint32_t i = ws->free;

	if (i) {
		ws->free = ws->wait[i].next;
	} else {
		mem_grow(ws->wait, ws->cap, ws->n + 1);
		i = (uint32_t)ws->n++;
	}
	ws->used++;
	return i;
}

/* Outputs a request, as its verdict and what perf shows are known. */
static void pending_push_request(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	struct fact *f = fact_queue_add(ws->out);

	f->kind = FACT_REQUEST;
	f->request = w->r;
	w->next = ws->free;
	ws->free = i;
	ws->used--;
}

void pending_requests_decided(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];

	w->decided = true;
	if (!w->held) {
		pending_push_request(ws, i);
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

/* What perf shows is known now. */
static void pending_settle(struct pending_requests *ws, uint32_t i)
{
	const struct pending_request *w = &ws->wait[i];

	if (!w->decided)
		return;
	if (w->prev)
		ws->wait[w->prev].next = w->next;
	else
		ws->oldest = w->next;
	if (w->next)
		ws->wait[w->next].prev = w->prev;
	else
		ws->newest = w->prev;
	pending_push_request(ws, i);
}

int64_t pending_span(int64_t from, int64_t to)
{
	int64_t d;

	if (from == TIME_NONE || to == TIME_NONE ||
	    __builtin_sub_overflow(to, from, &d))
		return TIME_NONE;
	return d;
}

static void pending_mark_late(const struct pending_requests *ws,
			      struct pending_request *w)
{
	if (w->r.event < ws->given[w->source])
		w->r.flags |= VERDICT_PERF_LATE;
}

void pending_requests_chain(struct pending_requests *ws,
			    const struct join_chain *c)
{
	uint64_t key = pending_tid_key(c->source, c->tid);
	uint32_t first = table_find_hash(&ws->by_tid, key);
	uint32_t i = first;

	if (first == TABLE_NONE)
		return;
	table_remove(&ws->by_tid, key, first);
	do {
		struct pending_request *w = &ws->wait[i];
		uint32_t right = w->right;

		w->held = false;
		w->r.as_perf = w->r.cookie == c->cookie ? AS_PERF_MERGED
							: AS_PERF_BARE;
		w->r.as_tid = c->id;
		w->r.held = pending_span(w->time, c->time);
		pending_mark_late(ws, w);
		raise_to(ws->given[w->source], w->r.event);
		pending_settle(ws, i);
		i = right;
	} while (i != first);
}

/* perf outputs the remaining samples in the order in which they came, so only
 * samples that were output before can make one late. */
void pending_requests_end(struct pending_requests *ws)
{
	for (size_t k = 1; k < ws->n; k++) {
		struct pending_request *w = &ws->wait[k];

		if (!w->held)
			continue;
		pending_release_held(ws, (uint32_t)k);
		w->r.as_perf = AS_PERF_BARE_END;
		pending_mark_late(ws, w);
		pending_settle(ws, (uint32_t)k);
	}
}

bool pending_requests_full(const struct pending_requests *ws)
{
	return ws->used >= WAITING_MAX;
}

bool pending_requests_make_room(struct pending_requests *ws)
{
	while (pending_requests_full(ws) && ws->oldest) {
		uint32_t i = ws->oldest;

		pending_release_held(ws, i);
		pending_settle(ws, i);
	}
	return !pending_requests_full(ws);
}
