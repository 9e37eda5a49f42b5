/* path_own.c - what the command path says first of a program: what its thread
 * itself did all the time, and for whom it waited. */
#include <inttypes.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/path/path.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

#define NS 1000000000
#define OWN_SHOWN 5
/* Of the samples of a thread: in a function that has less, it did not compute.
 */
#define OWN_FUNCTION 0.5

struct own {
	struct path_run *r;
	int64_t from, to;
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

/* Returns what the thread that was asked for did itself, or for whom and what
 * it waited, largest parts first; the caller frees them. */
static struct path_sum *own_parts(struct own *o, const struct chain *c,
				  uint32_t thread, size_t *n)
{
	struct path_sum *part = mem_new(c->n + 1, sizeof(*part));
	struct proofs *p = o->r->proofs;

	for (size_t i = 0; i < c->n; i++) {
		const struct chain_segment *s = &c->segment[i];

		part[i] = path_first(o->r, c, s);
		part[i].proof = PROOF_UNKNOWN;
		if (part[i].thread == TIMELINE_NONE)
			continue;
		part[i].lock = own_waits_for_lock(
			o,
			proofs_piece(p, thread, proofs_find(p, thread, s->from))
				.out);
	}
	*n = path_add_up(part, c->n);
	return part;
}

/* Writes " in FUNCTION", if one has most of the samples of a thread. */
static void own_put_function(const struct path_run *r, uint32_t thread,
			     int64_t from, int64_t to, FILE *out)
{
	char tid[16];
	char time[64];
	/* others may have had its tid before, or since */
	const struct filter one = { .tid = tid, .time = time };
	struct stacks_opts so = { .filter = &one,
				  .labels = r->labels,
				  .inlined = true };
	struct err none;
	struct stacks *s;
	uint64_t *of = NULL;
	uint64_t all = 0;
	size_t n = 0, cap = 0;
	int event;

	snprintf(tid, sizeof(tid), "%d", timeline_tid(r->t, thread));
	snprintf(time, sizeof(time),
		 "%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64, from / NS,
		 from % NS, to / NS, to % NS);
	s = stacks_load(r->db, &so, &none);
	event = s ? stacks_heaviest(s) : -1;
	if (event >= 0 && s->event[event].point)
		event = -1;
	for (const struct stacks_group *g = NULL;
	     event >= 0 && (g = stacks_next(s, event, g));) {
		const struct offcpu_stack at = { .type = g->type,
						 .comm = g->comm,
						 .kraw = g->kraw,
						 .uraw = g->uraw };
		struct wait_place p = wait_causes_place(r->words, &at);

		all += g->weight;
		if (!p.has_in)
			continue;
		*mem_at(of, n, cap, p.in) += g->weight;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name =
			label_shown(labels_get(r->labels, (uint32_t)i));

		if ((double)of[i] <= OWN_FUNCTION * (double)all || *name == '[')
			continue;
		fputs(" in ", out);
		safe_text_put(out, name, 0, 0);
	}
	free(of);
	stacks_free(s);
}

static void own_put(const struct own *o, uint32_t thread,
		    const struct path_sum *p, FILE *out)
{
	const struct path_run *r = o->r;

	switch (p->state) {
	case CHAIN_RUN:
		fputs("computing", out);
		own_put_function(r, thread, o->from, o->to, out);
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

void path_put_own(struct path_run *r, const struct chain *c, uint32_t thread,
		  int64_t from, int64_t to, FILE *out)
{
	struct own o = { .r = r, .from = from, .to = to };
	size_t n;
	struct path_sum *part = own_parts(&o, c, thread, &n);

	for (size_t i = 0; i < n && i < OWN_SHOWN; i++) {
		fprintf(out, "%s%s ", i ? ", " : " ",
			HUMAN_PERCENT(part[i].ns, to - from));
		own_put(&o, thread, &part[i], out);
	}
	free(part);
	free(o.lock);
	intern_release(&o.stack);
}
