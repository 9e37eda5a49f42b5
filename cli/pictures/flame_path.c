/* flame_path.c - a flame graph of chains of waits. */
#include "cli/pictures/flame.h"

#include "analyze/causes/causes.h"
#include "analyze/causes/wake_context.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/causes/offcpu.h"
#include "analyze/stacks/stacks.h"
#include "stitch/text/human.h"
#include "cli/output/out.h"
#include "cli/pictures/svg.h"
#include "cli/path/path.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define WIDTH 1200
#define MINWIDTH 100 /* 1/1000 px */
#define WHO_MAX 100  /* bytes of a name in a frame */

/* What some frames of a stack show: the wait of a thread and who ended it, or
 * what was done at the end of a chain. Millions of pieces are made of a few
 * thousand of these. Without padding, as its bytes are a key. */
struct flame_step {
	uint32_t out, waker;	 /* number of a stack, + 1; 0: none */
	uint32_t who;		 /* who woke, in whos, + 1; 0: the chain ends */
	uint32_t name;		 /* label of the thread, + 1; 0: none */
	uint32_t state;		 /* enum chain_state */
	uint32_t context, proof; /* context of who woke; proof of the end */
};

struct path_flame {
	struct path_run r;
	struct flame_tree *tree;
	struct chain chain;  /* of the current wait */
	struct label_list l; /* of the step that is added */
	uint32_t *name;	     /* by thread: label + 1; 0: not yet */
	struct intern whos;
	struct intern stack_keys; /* those with one key have the same frames */
	const struct offcpu_stack **stack;
	size_t n_stack, cap_stack;
	struct intern steps;
	uint32_t *of_edge; /* by edge: its step, + 1; 0: not made yet */
	size_t n_of_edge, cap_of_edge;
	struct table index; /* from (node, step) to the next node */
	/* the edges of the last piece, and the nodes that they lead to */
	uint32_t edge[CHAIN_MOST], above[CHAIN_MOST], depth;
	struct svg_opts svg;
	char note[240];
};

static void flame_path_add_frame(struct path_flame *f, enum label_kind kind,
				 const char *name)
{
	label_list_add(&f->l, labels_add_name(f->r.labels, kind, name));
}

/* Adds the stack of an event, outermost frame first. */
static void flame_path_add_stack(struct path_flame *f,
				 const struct offcpu_stack *at)
{
	const struct stacks_group g = offcpu_group(at);

	stacks_get(f->r.stacks, &g, &f->l);
}

static uint32_t flame_path_name(struct path_flame *f, uint32_t thread)
{
	if (!f->name[thread])
		f->name[thread] = labels_add_name(f->r.labels, LABEL_GROUP,
						  path_comm(&f->r, thread)) +
				  1;
	return f->name[thread];
}

/* Returns 1 + the number of a stack, the same for equal frames; 0 for NULL. */
static uint32_t flame_path_stack(struct path_flame *f,
				 const struct offcpu_stack *at)
{
	if (!at)
		return 0;

	const uint32_t key[] = { at->kraw, at->uraw,
				 (uint32_t)at->verdict << 8 | at->flags };

	uint32_t id = intern_add_bytes(&f->stack_keys, key, sizeof(key));
	if (id == f->n_stack)
		*mem_add(f->stack, f->n_stack, f->cap_stack) = at;
	return id + 1;
}

/* Returns the event that began a thread's wait around a time; 0: none. */
static int64_t flame_path_out(struct path_flame *f, uint32_t thread,
			      int64_t time)
{
	size_t i = proofs_find(f->r.proofs, thread, time);

	return i < proofs_pieces(f->r.proofs, thread)
		       ? proofs_piece(f->r.proofs, thread, i).out
		       : 0;
}

/* Adds who ended a wait: "[woken by NAME (softirq-inline)]", and its stack. */
static void flame_path_put_waker(struct path_flame *f,
				 const struct flame_step *s)
{
	const char *who = intern_get(&f->whos, s->who - 1);
	char text[WHO_MAX + 64];

	if (s->state != CHAIN_STATES)
		snprintf(text, sizeof(text), "[woken by %.*s]", WHO_MAX, who);
	else
		snprintf(text, sizeof(text), "[woken by %.*s (%s)]", WHO_MAX,
			 who, path_context((enum timeline_context)s->context));
	flame_path_add_frame(f, LABEL_GROUP, text);
	size_t from = f->l.n;
	if (s->waker)
		flame_path_add_stack(f, f->stack[s->waker - 1]);
	label_list_reverse(&f->l, from);
}

/* Returns the node that a step leads to; FLAME_NONE and *err on failure. */
static uint32_t flame_path_reach(struct path_flame *f, uint32_t from,
				 uint32_t step, struct err *err)
{
	uint64_t hash = hash_u32s(from, step);
	uint32_t node = table_find_hash(&f->index, hash);
	struct flame_step s;

	if (node != TABLE_NONE)
		return node;
	memcpy(&s, intern_get(&f->steps, step), sizeof(s));
	f->l.n = 0;
	if (s.name)
		label_list_add(&f->l, s.name - 1);
	if (s.out)
		flame_path_add_stack(f, f->stack[s.out - 1]);
	if (s.who)
		flame_path_put_waker(f, &s);
	else {
		/* Add what was done at the end of the chain, hatched as missing
		 * halves are if it is not proved. */
		char text[64];

		snprintf(text, sizeof(text), "[%s%s]",
			 chain_state_word((enum chain_state)s.state),
			 s.proof == PROOF_LIKELY ? ", likely"
			 : s.proof == PROOF_UNKNOWN && s.state != CHAIN_UNKNOWN
				 ? ", waker not known"
				 : "");
		flame_path_add_frame(f,
				     s.proof == PROOF_PROVED ? LABEL_GROUP
							     : LABEL_MISSING,
				     text);
	}
	node = flame_tree_reach(f->tree, from, f->l.label, f->l.n, err);
	if (node != FLAME_NONE)
		table_add(&f->index, hash, node);
	return node;
}

/* Returns the step of an edge, which ended a wait around that time. */
static uint32_t flame_path_edge_step(struct path_flame *f,
				     const struct proof_edge *e, int64_t time)
{
	enum chain_state leaf = chain_leaf(e);
	const char *what = wake_contexts_what(f->r.causes->contexts, e);
	const char *who = leaf == CHAIN_STATES
				  ? causes_comm(f->r.causes, e->waker)
			  : what ? what
				 : chain_state_word(leaf);
	const struct flame_step s = {
		.out = flame_path_stack(
			f, causes_stack(f->r.causes,
					flame_path_out(f, e->waiter, time))),
		/* an interrupted thread has no part in the wake-up */
		.waker = leaf == CHAIN_STATES && e->event
				 ? flame_path_stack(
					   f, &f->r.causes->stack[e->stack])
				 : 0,
		.who = intern_add(&f->whos, who) + 1,
		.name = flame_path_name(f, e->waiter),
		.state = leaf,
		.context = e->context,
	};

	return intern_add_bytes(&f->steps, &s, sizeof(s));
}

/* Adds a segment of a chain. Returns 0, or -1 and *err. */
static int flame_path_add_segment(struct path_flame *f, const struct chain *c,
				  const struct chain_segment *s,
				  struct err *err)
{
	const uint32_t *path = c->path + s->path;
	struct flame_step end = { .state = s->state, .proof = s->proof };
	uint32_t node = 0;
	bool ends = false; /* the last edge is that of the segment's own wait */
	uint32_t i = 0;

	while (i < f->depth && i < s->depth && f->edge[i] == path[i])
		node = f->above[i++];
	for (f->depth = i; i < s->depth; i++) {
		/* The step of an edge is the same in every chain and piece: the
		 * wait began with the same switch. */
		uint32_t edge = path[i];
		mem_reach(f->of_edge, f->n_of_edge, f->cap_of_edge,
			  proofs_edges(f->r.proofs));
		if (!f->of_edge[edge]) {
			const struct proof_edge e =
				proofs_edge(f->r.proofs, edge);

			f->of_edge[edge] =
				flame_path_edge_step(f, &e, s->from) + 1;
		}
		node = flame_path_reach(f, node, f->of_edge[edge] - 1, err);
		if (node == FLAME_NONE)
			return -1;
		f->edge[i] = path[i];
		f->above[i] = node;
	}
	f->depth = s->depth;
	if (s->depth)
		ends = proofs_edge(f->r.proofs, path[s->depth - 1]).waiter ==
		       s->thread;
	if (!ends) {
		end.name = flame_path_name(f, s->thread);
		if (s->state != CHAIN_RUN)
			end.out = flame_path_stack(
				f, causes_stack(f->r.causes, s->out));
	}
	node = flame_path_reach(
		f, node, intern_add_bytes(&f->steps, &end, sizeof(end)), err);
	return node == FLAME_NONE
		       ? -1
		       : flame_tree_weigh(f->tree, node,
					  (uint64_t)s->to - (uint64_t)s->from,
					  1, err);
}

static int flame_path_add(struct path_flame *f, uint32_t thread, int64_t from,
			  int64_t to, struct err *err)
{
	struct chain *c = &f->chain;
	int rc = 0;

	f->depth = 0;
	chain_clear(c);
	path_chain(&f->r, thread, from, to, c);
	for (size_t i = 0; !rc && i < c->n; i++)
		rc = flame_path_add_segment(f, c, &c->segment[i], err);
	return rc;
}

static int flame_path_write(FILE *out, void *arg, struct err *err)
{
	struct path_flame *f = arg;

	return svg_write(out, f->tree, &f->svg, err);
}

int flame_path(struct store *db, const char *path, const struct path_opts *o,
	       const char *file, struct err *err)
{
	struct path_flame f = {
		.r = { .ask = &o->ask },
		.svg = { .title = "Waits, and what they were for",
			 .count_name = "ns",
			 .sample_name = "piece",
			 .colors = palette_find(palette_names[0]),
			 .width = WIDTH,
			 .fluid = true,
			 .minwidth = MINWIDTH,
			 .show_samples = true },
	};
	int rc = path_open(&f.r, db, path, err);

	if (!rc) {
		f.tree = flame_tree_new(f.r.labels);
		f.name = mem_new(f.r.t->n_thread + 1, sizeof(*f.name));
	}
	if (!rc && !o->ask.timed) {
		struct path_walk at = { 0 };
		struct path_wait w;

		while (!rc && path_next_wait(&f.r, &at, &w))
			rc = flame_path_add(&f, w.thread, w.from, w.to, err);
	} else if (!rc) {
		uint32_t asker = path_asker(&f.r, err);

		rc = asker == TIMELINE_NONE
			     ? -1
			     : flame_path_add(&f, asker, o->ask.from, o->ask.to,
					      err);
	}
	if (!rc) {
		flame_tree_finish(f.tree);
		struct causes_premise premise = causes_premise(f.r.causes);
		snprintf(f.note, sizeof(f.note),
			 "%s of the time is proved%s%s, %s is not known; what "
			 "is not proved is hatched",
			 HUMAN_PERCENT(f.r.sum.proved, f.r.sum.asked),
			 premise.words ? ", " : "",
			 premise.words ? premise.words : "",
			 HUMAN_PERCENT(f.r.sum.unknown, f.r.sum.asked));
		f.svg.note[0] = f.note;
		rc = f.tree->node[0].weight
			     ? out_write(file, flame_path_write, &f, err)
			     : path_no_waits(&f.r, err);
	}
	if (!rc)
		rc = path_status(&f.r, o);
	flame_tree_free(f.tree);
	chain_release(&f.chain);
	intern_release(&f.whos);
	intern_release(&f.stack_keys);
	free_all(f.stack, f.of_edge);
	intern_release(&f.steps);
	table_release(&f.index);
	free_all(f.name, f.l.label, f.l.from);
	path_close(&f.r);
	return rc;
}
