/* path_code.c - which code threads were in. */
#include "analyze/path/path_code.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/path/path_run.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define NS 1000000000

COMPARE_BY(path_compare_code, struct path_code_sample, thread, time);

int path_code_load(struct path_code *code, struct path_run *r, int64_t from,
		   int64_t to, struct err *err)
{
	char time[64];
	const struct filter in = { .time = time };
	struct events *ev;
	struct event_row e;
	struct stacks_group g;
	int rc = 0;

	*code = (struct path_code){ 0 };
	if (from < 0 ||
	    !any_where(r->stacks->n_event, i, !r->stacks->event[i].point))
		return 0;
	snprintf(time, sizeof(time),
		 "%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64, from / NS,
		 from % NS, to / NS, to % NS);
	ev = events_open(r->db, &in, EVENTS_ALL, err);
	while (ev && (rc = events_next(ev, &e, err)) > 0) {
		int64_t tid = events_comm(ev, e.comm)->tid;
		struct offcpu_stack at;
		struct wait_place p;

		if (!stacks_group_of(r->stacks, &e, &g) ||
		    r->stacks->event[g.event].point || tid <= 0 ||
		    tid > INT32_MAX)
			continue;
		at = (struct offcpu_stack){ .type = g.type,
					    .comm = g.comm,
					    .kraw = g.kraw,
					    .uraw = g.uraw };
		p = wait_causes_place(r->words, &at);
		*mem_add(code->at, code->n, code->cap) =
			(struct path_code_sample){
				e.time, timeline_thread(r->t, (int32_t)tid),
				p.has_in ? p.in : TIMELINE_NONE, at
			};
	}
	events_close(ev);
	sort_items(code->at, code->n, path_compare_code);
	return ev ? rc : -1;
}

const struct path_code_sample *path_code_of(const struct path_code *code,
					    uint32_t thread, int64_t from,
					    int64_t to, size_t *n)
{
	size_t first = search_where(code->n, k,
				    code->at[k].thread > thread ||
					    (code->at[k].thread == thread &&
					     code->at[k].time >= from));

	*n = search_where(code->n, k,
			  code->at[k].thread > thread ||
				  (code->at[k].thread == thread &&
				   code->at[k].time >= to)) -
	     first;
	return *n ? code->at + first : NULL;
}

const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to)
{
	size_t all, votes = 0, has = 0;
	const struct path_code_sample *at =
		path_code_of(code, thread, from, to, &all);
	uint32_t in = TIMELINE_NONE;

	/* the one that has more than half outlives all others */
	for (size_t i = 0; i < all; i++) {
		if (!votes)
			in = at[i].in;
		votes += at[i].in == in ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < all; i++)
		has += at[i].in == in;
	return in == TIMELINE_NONE || has * 2 <= all
		       ? ""
		       : label_shown(labels_get(r->labels, in));
}

/* ---- locks */

void path_locks_release(struct path_locks *l)
{
	free(l->lock);
	intern_release(&l->stack);
}

bool path_locks_is(struct path_locks *l, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(l->r->causes, event);
	struct label_list f = { 0 };
	struct stacks_group g;
	uint32_t id;

	if (!at)
		return false;
	id = intern_add_bytes(&l->stack, &at, sizeof(at));
	if (id < l->n)
		return l->lock[id];
	g = offcpu_group(at);
	stacks_get(l->r->stacks, &g, &f);
	mem_reach(l->lock, l->n, l->cap, id + 1u);
	for (size_t i = 0; i < f.n && !l->lock[id]; i++)
		l->lock[id] = wait_cause_is_lock(
			labels_get(l->r->labels, f.label[i])->name);
	free(f.label);
	return l->lock[id];
}

const char *path_locks_in(struct path_run *r, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(r->causes, event);
	const struct label *f = NULL;
	bool missing;

	/* of a futex no function of the kernel tells which one it is */
	for (int kernel = 0; at && !f && kernel < 2; kernel++)
		if (!kernel || wait_causes_get(r->words, -1, at) != WAIT_FUTEX)
			f = wait_causes_caller(r->words, at->kraw, at->uraw,
					       kernel, &missing);
	return f ? label_shown(f) : "code that is not known";
}

int64_t path_locks_on_way(struct path_locks *l, const struct chain *c,
			  const struct chain_segment *s)
{
	for (uint32_t i = s->depth; i-- > 0;) {
		const struct proof_edge e =
			proofs_edge(l->r->proofs, c->path[s->path + i]);
		int64_t out = proofs_piece(l->r->proofs, e.waiter,
					   proofs_find(l->r->proofs, e.waiter,
						       s->from))
				      .out;

		if (chain_leaf(&e) == CHAIN_STATES && path_locks_is(l, out))
			return out;
	}
	return 0;
}
