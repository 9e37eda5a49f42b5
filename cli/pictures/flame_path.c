/* flame_path.c - a flame graph of chains of waits. */
#include "cli/pictures/flame_path.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/model/causes.h"
#include "cli/model/flame_tree.h"
#include "cli/model/label.h"
#include "cli/model/offcpu.h"
#include "cli/model/stacks.h"
#include "cli/output/human.h"
#include "cli/output/out.h"
#include "cli/pictures/palette.h"
#include "cli/pictures/svg.h"
#include "cli/tables/path.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define WIDTH 1200
#define MINWIDTH 100 /* 1/1000 px */
#define WHO_MAX 100  /* bytes of a name in a frame */

struct path_flame {
	struct path_run r;
	struct flame_tree *tree;
	struct label_list l; /* of the piece that is added */
	struct svg_opts svg;
	char note[160];
};

static void flame_path_add_frame(struct path_flame *f, enum label_kind kind,
				 const char *name)
{
	label_list_add(&f->l, labels_add_name(f->r.labels, kind, name));
}

/* Adds the stack of an event, outermost frame first. */
static int flame_path_add_stack(struct path_flame *f, int64_t event,
				struct err *err)
{
	struct offcpu_stack at;
	int rc = event ? causes_stack(f->r.causes, event, &at, err) : 0;

	if (rc > 0) {
		const struct stacks_group g = offcpu_group(&at);

		stacks_get(f->r.stacks, &g, &f->l);
	}
	return rc < 0 ? -1 : 0;
}

/* Returns the event with which the wait of a thread began that holds a time. */
static int64_t flame_path_out(struct path_flame *f, uint32_t thread,
			      int64_t time)
{
	size_t i = proofs_find(f->r.proofs, thread, time);

	return i < proofs_pieces(f->r.proofs, thread)
		       ? proofs_piece(f->r.proofs, thread, i).out
		       : 0;
}

/* A wait, and who ended it: "[woken by owner (softirq-inline)]". */
static int flame_path_add_edge(struct path_flame *f, const struct proof_edge *e,
			       int64_t time, struct err *err)
{
	enum chain_state leaf = chain_leaf(e);
	const char *what = causes_what(f->r.causes, e);
	char text[WHO_MAX + 64];
	size_t from;

	flame_path_add_frame(f, LABEL_GROUP, path_comm(&f->r, e->waiter));
	if (flame_path_add_stack(f, flame_path_out(f, e->waiter, time), err))
		return -1;
	if (leaf != CHAIN_STATES)
		snprintf(text, sizeof(text), "[woken by %.*s]", WHO_MAX,
			 what ? what : chain_state_word(leaf));
	else
		snprintf(text, sizeof(text), "[woken by %.*s (%s)]", WHO_MAX,
			 causes_comm(f->r.causes, e->waker),
			 path_context(e->context));
	flame_path_add_frame(f, LABEL_GROUP, text);
	from = f->l.n;
	/* who was interrupted has no part in it */
	if (leaf == CHAIN_STATES && flame_path_add_stack(f, e->event, err))
		return -1;
	label_list_reverse(&f->l, from);
	return 0;
}

static int flame_path_add_segment(struct path_flame *f, const struct chain *c,
				  const struct chain_segment *s,
				  struct err *err)
{
	bool ends = false; /* the last edge is that of the segment's own wait */
	char text[64];

	f->l.n = 0;
	for (uint32_t i = 0; i < s->depth; i++) {
		const struct proof_edge e =
			proofs_edge(f->r.proofs, c->path[s->path + i]);

		ends = e.waiter == s->thread;
		if (flame_path_add_edge(f, &e, s->from, err))
			return -1;
	}
	/* What was done at the end of the chain. What is not proved is hatched,
	 * as missing halves are. */
	if (!ends) {
		flame_path_add_frame(f, LABEL_GROUP,
				     path_comm(&f->r, s->thread));
		if (s->state != CHAIN_RUN &&
		    flame_path_add_stack(f, s->out, err))
			return -1;
	}
	snprintf(text, sizeof(text), "[%s%s]", chain_state_word(s->state),
		 s->proof == PROOF_CONSISTENT ? ", consistent"
		 : s->proof == PROOF_UNKNOWN && s->state != CHAIN_UNKNOWN
			 ? ", waker not known"
			 : "");
	flame_path_add_frame(
		f, s->proof == PROOF_PROVED ? LABEL_GROUP : LABEL_MISSING,
		text);
	return flame_tree_add(f->tree, f->l.label, f->l.n,
			      (uint64_t)s->to - (uint64_t)s->from, 1, err);
}

static int flame_path_add(struct path_flame *f, uint32_t thread, int64_t from,
			  int64_t to, struct err *err)
{
	struct chain c = { 0 };
	int rc = 0;

	path_chain(&f->r, thread, from, to, &c);
	for (size_t i = 0; !rc && i < c.n; i++)
		rc = flame_path_add_segment(f, &c, &c.segment[i], err);
	chain_release(&c);
	return rc;
}

static int flame_path_take_wait(void *arg, const struct path_wait *w,
				struct err *err)
{
	return flame_path_add(arg, w->thread, w->from, w->to, err);
}

static int flame_path_write(FILE *out, void *arg, struct err *err)
{
	struct path_flame *f = arg;

	return svg_write(out, f->tree, &f->svg, NULL, err);
}

int flame_path(struct store *db, const char *path, const struct path_opts *o,
	       const char *file, struct err *err)
{
	struct path_flame f = {
		.r = { .o = o },
		.svg = { .title = "Waits, and what they were for",
			 .count_name = "ns",
			 .sample_name = "piece",
			 .colors = palette_find(palette_names[0]),
			 .width = WIDTH,
			 .fluid = true,
			 .minwidth = MINWIDTH,
			 .show_samples = true },
	};
	char proved[16], unknown[16];
	int rc = path_open(&f.r, db, path, err);

	if (!rc) {
		f.tree = flame_tree_new(
			f.r.labels,
			labels_add_name(f.r.labels, LABEL_GROUP, "all"));
	}
	if (!rc && !o->timed) {
		rc = path_each_wait(&f.r, flame_path_take_wait, &f, err);
	} else if (!rc) {
		uint32_t asker = path_asker(&f.r, err);

		rc = asker == TIMELINE_NONE
			     ? -1
			     : flame_path_add(&f, asker, o->from, o->to, err);
	}
	if (!rc) {
		flame_tree_finish(f.tree);
		human_percent(proved, sizeof(proved), (double)f.r.proved,
			      (double)f.r.asked);
		human_percent(unknown, sizeof(unknown), (double)f.r.unknown,
			      (double)f.r.asked);
		snprintf(f.note, sizeof(f.note),
			 "%s of the time is proved, %s is not known; what is "
			 "not proved is hatched",
			 proved, unknown);
		f.svg.note[0] = f.note;
		rc = flame_tree_node(f.tree, 0)->weight
			     ? out_write(file, flame_path_write, &f, err)
			     : path_no_waits(&f.r, err);
	}
	if (!rc)
		rc = path_status(&f.r);
	flame_tree_free(f.tree);
	free(f.l.label);
	free(f.l.from);
	path_close(&f.r);
	return rc;
}
