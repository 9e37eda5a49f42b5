/* diff_model.c - two recordings in one tree of frames, and what changed. */
#include "cli/pictures/diff_model.h"

#include <stdlib.h>
#include <string.h>

#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame_opts.h"
#include "cli/model/flame_tree.h"
#include "cli/model/label.h"
#include "cli/model/sides.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/table.h"

static struct drawing *diff_model_new_side(struct diff_model *m,
					   const struct svg_opts *o,
					   struct err *err)
{
	struct drawing *d = mem_new(1, sizeof(*d));

	d->o = *o;
	if (!drawing_init(d, m->labels, err)) {
		d->also = m->all;
		return d;
	}
	drawing_release(d);
	free(d);
	return NULL;
}

/* Returns for each node of the common tree the node of another tree. The caller
 * frees the array. */
static uint32_t *diff_model_map(const struct diff_model *m,
				const struct flame_tree *t)
{
	uint32_t count = flame_tree_count(m->all);
	uint32_t *to = mem_new(count, sizeof(*to));

	for (uint32_t id = 1; id < count; id++) {
		const struct flame_node *nd = flame_tree_node(m->all, id);

		to[id] = FLAME_NONE;
		if (to[nd->parent] != FLAME_NONE)
			to[id] = flame_tree_child_of(t, to[nd->parent],
						     nd->label);
	}
	return to;
}

/* Reads a run, which becomes the drawing of its side if it is the first. */
static int diff_model_read_run(struct diff_model *m, int side, const char *path,
			       const struct svg_opts *o, int *status,
			       struct err *err)
{
	struct drawing *d = diff_model_new_side(m, o, err);
	struct diff_model_run *run = &m->run[m->n_run];

	if (!d)
		return -1;
	if (m->n_run)
		d->want = drawing_event(m->side[0]);
	int rc = drawing_read(d, path, status, err);

	if (rc || m->side[side]) {
		run->tree = rc ? NULL : d->tree;
		run->lost = d->lost;
		if (!rc) {
			d->tree = NULL;
			m->side[side]->lost =
				saturating_add(m->side[side]->lost, d->lost);
			m->side[side]->lost_unknown |= d->lost_unknown;
		}
		drawing_release(d);
		free(d);
	} else {
		m->side[side] = d;
		*run = (struct diff_model_run){ d->tree, d->lost };
	}
	m->n_run += !rc;
	m->runs[side] += !rc;
	return rc;
}

/* Gives the drawing of a side the samples of all its runs. */
static int diff_model_add_runs(struct diff_model *m, int side, struct err *err)
{
	const struct diff_model_run *run = &m->run[side ? m->runs[0] : 0];
	uint32_t root = flame_tree_node(m->all, 0)->label;
	int rc = 0;

	if (m->runs[side] < 2)
		return 0;
	m->side[side]->tree = flame_tree_new(m->labels, root);
	for (size_t i = 0; !rc && i < m->runs[side]; i++)
		rc = flame_tree_add_all(m->side[side]->tree, run[i].tree, err);
	flame_tree_finish(m->side[side]->tree);
	return rc;
}

int diff_model_read(struct diff_model *m, const struct sides *s,
		    const struct svg_opts *o, int *status, struct err *err)
{
	struct label root = { .kind = LABEL_GROUP, .name = "all", .image = "" };

	m->labels = labels_new();
	m->all = flame_tree_new(m->labels, labels_add(m->labels, &root));
	m->run = mem_new(s->side[0].n + s->side[1].n, sizeof(*m->run));
	for (int i = 0; i < 2; i++) {
		const struct side *side = &s->side[i];

		m->path[i] = side->name;
		for (size_t k = 0; k < side->n; k++)
			if (diff_model_read_run(m, i, side->path[k], o, status,
						err))
				return -1;
		if (diff_model_add_runs(m, i, err))
			return -1;
	}
	flame_tree_finish(m->all);
	for (int i = 0; i < 2; i++)
		m->node[i] = diff_model_map(m, m->side[i]->tree);
	return 0;
}

void diff_model_release(struct diff_model *m)
{
	size_t first = 0;

	for (int i = 0; i < 2; i++) {
		/* of one run, the drawing has the tree */
		for (size_t k = 0; m->runs[i] > 1 && k < m->runs[i]; k++)
			if (m->run[first + k].tree != m->side[i]->tree)
				flame_tree_free(m->run[first + k].tree);
		first += m->runs[i];
		if (m->side[i])
			drawing_release(m->side[i]);
		free(m->side[i]);
		free(m->node[i]);
		free(m->count[i]);
	}
	free(m->run);
	free(m->whole.run);
	free(m->self);
	free(m->total);
	flame_tree_free(m->all);
	labels_free(m->labels);
}

static const struct flame_node *diff_model_node(const struct diff_model *m,
						int side, uint32_t id)
{
	uint32_t at = m->node[side][id];

	return at == FLAME_NONE ? NULL
				: flame_tree_node(m->side[side]->tree, at);
}

static double diff_model_weight(const struct diff_model *m, int side,
				uint32_t id, bool total)
{
	const struct flame_node *nd = diff_model_node(m, side, id);

	return nd ? (double)(total ? nd->weight : nd->self) : 0;
}

static double diff_model_share(const struct diff_model *m, int side,
			       double weight)
{
	if (flame_opts.absolute)
		return weight / (double)m->runs[side];
	return 100 * weight /
	       (double)flame_tree_node(m->side[side]->tree, 0)->weight;
}

double diff_model_size(const struct diff_model *m, int side, uint32_t id,
		       bool total)
{
	return diff_model_share(m, side, diff_model_weight(m, side, id, total));
}

double diff_model_excess(const struct diff_model *m, uint32_t id, bool total)
{
	double due = diff_model_weight(m, 0, id, total) * m->scale;

	return diff_model_share(m, 1, diff_model_weight(m, 1, id, total) - due);
}

double diff_model_growth(const struct diff_model *m, uint32_t id, bool total)
{
	double v = diff_model_excess(m, id, total);

	return flame_opts.absolute ? 100 * v / diff_model_size(m, 0, 0, true)
				   : v;
}

/* Per-node state while samples of a run without a user half are counted. */
struct tally {
	struct diff_model *m;
	size_t run;
	uint32_t
		*top; /* ancestor below which a missing user half must belong */
	bool *missing; /* is or stands above a frame for a missing user half */
	bool *is_mark; /* is such a frame itself */
	uint64_t *under;    /* samples without user half below a top */
	struct table index; /* (top, innermost label) to count */
	uint64_t *count;
	size_t n_count, cap_count;
};

/* Returns whether thread names are the outermost frames: a missing user half
 * belongs to the thread of its sample. */
static bool diff_model_has_threads(void)
{
	return !flame_opts.reverse && !flame_opts.by_verdict &&
	       !flame_opts.no_comm;
}

static void diff_model_find_tops(struct tally *t)
{
	const struct flame_tree *all = t->m->all;
	uint32_t count = flame_tree_count(all);

	t->top = mem_new(count, sizeof(*t->top));
	t->missing = mem_new(count, sizeof(*t->missing));
	t->is_mark = mem_new(count, sizeof(*t->is_mark));
	for (uint32_t id = 1; id < count; id++) {
		const struct flame_node *nd = flame_tree_node(all, id);
		const struct label *l = labels_get(t->m->labels, nd->label);

		t->top[id] = nd->parent ? t->top[nd->parent] : id;
		if (!diff_model_has_threads())
			t->top[id] = 0;
		t->is_mark[id] = l->kind == LABEL_MISSING;
		t->missing[id] = t->is_mark[id] || t->missing[nd->parent];
	}
}

static struct diff_count *diff_model_count(const struct diff_model *m,
					   bool total, uint32_t id, size_t run)
{
	return &m->count[total][(size_t)id * m->n_run + run];
}

/* Counts the samples of a run that end at each node, and that pass. */
static void diff_model_count_run(struct diff_model *m, size_t run)
{
	const struct flame_tree *t = m->run[run].tree;
	uint32_t *to = diff_model_map(m, t);

	for (uint32_t id = 0; id < flame_tree_count(m->all); id++) {
		const struct flame_node *nd =
			to[id] == FLAME_NONE ? NULL
					     : flame_tree_node(t, to[id]);
		uint64_t n = nd ? nd->samples : 0;

		diff_model_count(m, true, id, run)->n = n;
		for (uint32_t i = 0; nd && i < nd->n_child; i++)
			n -= flame_tree_node(t,
					     flame_tree_child(t, nd->child + i))
				     ->samples;
		diff_model_count(m, false, id, run)->n = n;
	}
	free(to);
}

/* Returns the counter of samples without a user half by top and innermost
 * kernel frame, which is known even then. If the mark itself is innermost, the
 * sample was in user code. */
static uint64_t *diff_model_counter(struct tally *t, uint32_t top,
				    uint32_t label, bool make)
{
	uint64_t hash = hash_u32s(top, label);
	uint32_t id = table_find(&t->index, hash, NULL, NULL, NULL);

	if (id == TABLE_NONE && !make)
		return NULL;
	if (id == TABLE_NONE) {
		id = (uint32_t)t->n_count;
		*mem_add(t->count, t->n_count, t->cap_count) = 0;
		table_add(&t->index, hash, id);
	}
	return &t->count[id];
}

static void diff_model_count_missing(struct tally *t)
{
	struct diff_model *m = t->m;
	uint32_t count = flame_tree_count(m->all);

	memset(t->under, 0, count * sizeof(*t->under));
	for (uint32_t id = 1; id < count; id++) {
		uint64_t n = diff_model_count(m, false, id, t->run)->n;

		if (!t->missing[id])
			continue;

		uint32_t label = t->is_mark[id]
					 ? FLAME_NONE
					 : flame_tree_node(m->all, id)->label;

		*diff_model_counter(t, t->top[id], label, true) += n;
		t->under[t->top[id]] += n;
		m->unjoined[t->run >= m->runs[0]] += n;
	}
}

/* Stores how many of the samples of a run that are lost, or have no user half,
 * may belong to a node. */
static void diff_model_set_may(struct tally *t, uint32_t id)
{
	struct diff_model *m = t->m;
	const struct label *l =
		labels_get(m->labels, flame_tree_node(m->all, id)->label);
	/* in a reversed tree the place of kernel frames is known */
	bool has_all =
		l->kind == LABEL_GROUP || (flame_opts.reverse && l->kernel);
	const uint64_t *n =
		has_all ? NULL
			: diff_model_counter(
				  t, t->top[id],
				  l->kernel ? flame_tree_node(m->all, id)->label
					    : FLAME_NONE,
				  false);
	uint64_t lost = m->run[t->run].lost;

	diff_model_count(m, false, id, t->run)->may =
		saturating_add(n ? *n : 0, lost);
	diff_model_count(m, true, id, t->run)->may =
		saturating_add(has_all ? 0 : t->under[t->top[id]], lost);
}

static void diff_model_tally(struct diff_model *m)
{
	uint32_t count = flame_tree_count(m->all);
	struct tally t = { .m = m };

	diff_model_find_tops(&t);
	t.under = mem_new(count, sizeof(*t.under));
	for (; t.run < m->n_run; t.run++) {
		diff_model_count_run(m, t.run);
		table_release(&t.index);
		t.index = (struct table){ 0 };
		t.n_count = 0;
		diff_model_count_missing(&t);
		for (uint32_t id = 0; id < count; id++)
			diff_model_set_may(&t, id);
	}
	for (uint32_t id = 0; id < count; id++)
		m->self[id].skip = m->total[id].skip = t.missing[id];
	free(t.top);
	free(t.missing);
	free(t.is_mark);
	free(t.under);
	free(t.count);
	table_release(&t.index);
}

static double diff_model_unit(const struct flame_tree *t)
{
	const struct flame_node *root = flame_tree_node(t, 0);

	return root->samples ? (double)root->weight / (double)root->samples : 1;
}

static void diff_model_set_whole(struct diff_model *m)
{
	struct diff_whole *w = &m->whole;

	*w = (struct diff_whole){
		.a = m->total[0].a,
		.b = m->total[0].b,
		.lost_a = m->side[0]->lost,
		.lost_b = m->side[1]->lost,
		.absolute = flame_opts.absolute,
		.unit_a = diff_model_unit(m->side[0]->tree),
		.unit_b = diff_model_unit(m->side[1]->tree),
		.runs_a = m->runs[0],
		.runs_b = m->runs[1],
	};
	if (m->n_run == 2)
		return;
	w->run = mem_new(m->n_run, sizeof(*w->run));
	for (size_t i = 0; i < m->n_run; i++)
		w->run[i] =
			(struct diff_run){ diff_model_count(m, true, 0, i)->n,
					   m->run[i].lost,
					   diff_model_unit(m->run[i].tree) };
}

void diff_model_judge(struct diff_model *m)
{
	uint32_t count = flame_tree_count(m->all);
	struct diff_whole left;
	uint32_t all;

	m->self = mem_new(count, sizeof(*m->self));
	m->total = mem_new(count, sizeof(*m->total));
	for (int i = 0; i < 2; i++)
		m->count[i] =
			mem_new((size_t)count * m->n_run, sizeof(*m->count[i]));
	diff_model_tally(m);
	for (uint32_t id = 0; id < count; id++) {
		diff_place_add_up(&m->self[id],
				  diff_model_count(m, false, id, 0), m->n_run,
				  m->runs[0]);
		diff_place_add_up(&m->total[id],
				  diff_model_count(m, true, id, 0), m->n_run,
				  m->runs[0]);
	}
	diff_model_set_whole(m);
	diff_judge(m->self, count, &m->whole, &left);
	/* the root has all samples: of shares there is nothing to judge */
	all = m->whole.absolute ? 0 : 1;
	diff_judge_nested(m->total + all, count - all, &left);
	m->scale = diff_scale(&left);
	free(left.run);
}
