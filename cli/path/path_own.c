/* path_own.c - what a thread itself did, and for whom it waited: of a program
 * all the time, or in all calls of one name. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/samples/events.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define NS 1000000000
#define OWN_SHOWN 5

struct own {
	struct path_run *r;
	struct intern stack; /* of waits that were looked at: addresses */
	uint8_t *lock;	     /* of each: whether it is for a lock */
	size_t n, cap;
};

/* Returns whether the wait that began with an event is for a lock. Each stack
 * is looked at once. */
static bool own_waits_for_lock(struct own *o, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(o->r->causes, event);
	struct label_list l = { 0 };
	struct stacks_group g;
	uint32_t id;

	if (!at)
		return false;
	id = intern_add_bytes(&o->stack, &at, sizeof(at));
	if (id < o->n)
		return o->lock[id];
	g = offcpu_group(at);
	stacks_get(o->r->stacks, &g, &l);
	mem_reach(o->lock, o->n, o->cap, id + 1u);
	for (size_t i = 0; i < l.n && !o->lock[id]; i++)
		o->lock[id] = wait_cause_is_lock(
			labels_get(o->r->labels, l.label[i])->name);
	free(l.label);
	return o->lock[id];
}

struct path_sum *path_own(struct path_run *r, const struct chain *c,
			  uint32_t thread, size_t *n)
{
	struct path_sum *part = mem_new(c->n + 1, sizeof(*part));
	struct own o = { .r = r };

	for (size_t i = 0; i < c->n; i++) {
		const struct chain_segment *s = &c->segment[i];
		size_t piece = proofs_find(r->proofs, thread, s->from);

		part[i] = path_first(r, c, s);
		part[i].proof = PROOF_UNKNOWN;
		if (part[i].thread != TIMELINE_NONE)
			part[i].lock = own_waits_for_lock(
				&o, proofs_piece(r->proofs, thread, piece).out);
	}
	*n = path_add_up(part, c->n);
	free(o.lock);
	intern_release(&o.stack);
	return part;
}

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
		struct wait_place p;

		if (!stacks_group_of(r->stacks, &e, &g) ||
		    r->stacks->event[g.event].point || tid <= 0 ||
		    tid > INT32_MAX)
			continue;
		p = wait_causes_place(r->words,
				      &(struct offcpu_stack){ .type = g.type,
							      .comm = g.comm,
							      .kraw = g.kraw,
							      .uraw = g.uraw });
		*mem_add(code->at, code->n, code->cap) =
			(struct path_code_sample){
				e.time, timeline_thread(r->t, (int32_t)tid),
				p.has_in ? p.in : TIMELINE_NONE
			};
	}
	events_close(ev);
	sort_items(code->at, code->n, path_compare_code);
	return ev ? rc : -1;
}

const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to)
{
	size_t i = search_where(code->n, k,
				code->at[k].thread > thread ||
					(code->at[k].thread == thread &&
					 code->at[k].time >= from));
	size_t all = 0, votes = 0, has = 0, first = i;
	uint32_t in = TIMELINE_NONE;

	/* the one that has more than half outlives all others */
	for (; i < code->n && code->at[i].thread == thread &&
	       code->at[i].time < to;
	     i++, all++) {
		if (!votes)
			in = code->at[i].in;
		votes += code->at[i].in == in ? 1 : (size_t)-1;
	}
	for (i = first; i < first + all; i++)
		has += code->at[i].in == in;
	return in == TIMELINE_NONE || has * 2 <= all
		       ? ""
		       : label_shown(labels_get(r->labels, in));
}

bool path_put_function(FILE *out, const char *before, const char *f)
{
	if (!*f || *f == '[' || strstr(f, "< " STACK_NAMES_GAP))
		return false;
	fputs(before, out);
	safe_text_put(out, f, 0, 0);
	return true;
}

/* in: the function in which it computed. */
static void own_put(const struct path_run *r, const struct path_sum *p,
		    const char *in, FILE *out)
{
	switch (p->state) {
	case CHAIN_RUN:
		fputs("computing", out);
		path_put_function(out, " in ", in);
		return;
	case CHAIN_TIMER:
		fputs("sleeping", out);
		return;
	case CHAIN_BLOCKED:
		break;
	default:
		fputs(path_doing(p->state), out);
		return;
	}
	if (p->thread == TIMELINE_NONE) {
		fputs("waiting, woken by whom is not known", out);
		return;
	}
	fputs(p->lock ? "waiting for a lock that " : "waiting for ", out);
	safe_text_put(out, path_comm(r, p->thread), 0, 0);
	fprintf(out, " (%d)%s", timeline_tid(r->t, p->thread),
		p->lock ? " released" : "");
}

void path_put_own(const struct path_run *r, const struct path_sum *own,
		  size_t n, uint64_t all, const char *in, FILE *out)
{
	for (size_t i = 0; i < n && i < OWN_SHOWN; i++) {
		fprintf(out, "%s%s ", i ? ", " : " ",
			HUMAN_PERCENT(own[i].ns, all));
		own_put(r, &own[i], in, out);
	}
}
