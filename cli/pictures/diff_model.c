/* diff_model.c - two recordings in one tree of frames, and what changed. */
#include "cli/pictures/diff_model.h"

#include <stdlib.h>
#include <string.h>

#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame_opts.h"
#include "cli/model/flame_tree.h"
#include "cli/model/label.h"
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

/* Returns for each node of the common tree the node of the side's tree. The
 * caller frees the array. */
static uint32_t *diff_model_map_side(const struct diff_model *m,
				     const struct drawing *d)
{
	uint32_t count = flame_tree_count(m->all);
	uint32_t *to = mem_new(count, sizeof(*to));

	for (uint32_t id = 1; id < count; id++) {
		const struct flame_node *nd = flame_tree_node(m->all, id);

		to[id] = FLAME_NONE;
		if (to[nd->parent] != FLAME_NONE)
			to[id] = flame_tree_child_of(d->tree, to[nd->parent],
						     nd->label);
	}
	return to;
}

int diff_model_read(struct diff_model *m, int argc, char **argv,
		    const struct svg_opts *o, int *status, struct err *err)
{
	struct label root = { .kind = LABEL_GROUP, .name = "all", .image = "" };

	if (argc != 2)
		return err_set(err, ERR_USAGE,
			       "--diff compares two databases or captures: "
			       "'--diff BEFORE AFTER'");
	m->labels = labels_new();
	m->all = flame_tree_new(m->labels, labels_add(m->labels, &root));
	for (int i = 0; i < 2; i++) {
		m->path[i] = argv[i];
		m->side[i] = diff_model_new_side(m, o, err);
		if (!m->side[i])
			return -1;
		if (i)
			m->side[1]->want = drawing_event(m->side[0]);
		if (drawing_read(m->side[i], argv[i], status, err))
			return -1;
	}
	flame_tree_finish(m->all);
	for (int i = 0; i < 2; i++)
		m->node[i] = diff_model_map_side(m, m->side[i]);
	return 0;
}

void diff_model_release(struct diff_model *m)
{
	for (int i = 0; i < 2; i++) {
		if (m->side[i])
			drawing_release(m->side[i]);
		free(m->side[i]);
		free(m->node[i]);
	}
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
		return weight;
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

/* Per-node state while samples without a user half are counted. */
struct tally {
	struct diff_model *m;
	uint32_t
		*top; /* ancestor below which a missing user half must belong */
	bool *missing; /* is or stands above a frame for a missing user half */
	bool *is_mark; /* is such a frame itself */
	uint64_t *under[2]; /* samples without user half below a top */
	struct table index; /* (top, innermost label) to count */
	struct {
		uint64_t n[2];
	} * count;
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

/* Counts the samples that end at each node. */
static void diff_model_count_self(struct diff_model *m, int side)
{
	uint32_t count = flame_tree_count(m->all);

	for (uint32_t id = 0; id < count; id++) {
		const struct flame_node *nd = diff_model_node(m, side, id);
		uint64_t n = nd ? nd->samples : 0;
		uint64_t *total = side ? &m->total[id].b : &m->total[id].a;

		*total = n;
		for (uint32_t i = 0; nd && i < nd->n_child; i++)
			n -= flame_tree_node(
				     m->side[side]->tree,
				     flame_tree_child(m->side[side]->tree,
						      nd->child + i))
				     ->samples;
		if (side)
			m->self[id].b = n;
		else
			m->self[id].a = n;
	}
}

/* Returns the counters of samples without a user half by top and innermost
 * kernel frame, which is known even then. If the mark itself is innermost, the
 * sample was in user code. */
static uint64_t *diff_model_counters(struct tally *t, uint32_t top,
				     uint32_t label, bool make)
{
	uint64_t hash = hash_u32s(top, label);
	uint32_t id = table_find(&t->index, hash, NULL, NULL, NULL);

	if (id == TABLE_NONE && !make)
		return NULL;
	if (id == TABLE_NONE) {
		id = (uint32_t)t->n_count;
		memset(mem_add(t->count, t->n_count, t->cap_count), 0,
		       sizeof(*t->count));
		table_add(&t->index, hash, id);
	}
	return t->count[id].n;
}

static void diff_model_count_missing(struct tally *t)
{
	struct diff_model *m = t->m;
	uint32_t count = flame_tree_count(m->all);

	for (int i = 0; i < 2; i++)
		t->under[i] = mem_new(count, sizeof(*t->under[i]));
	for (uint32_t id = 1; id < count; id++) {
		const uint64_t n[2] = { m->self[id].a, m->self[id].b };

		if (!t->missing[id])
			continue;

		uint32_t label = t->is_mark[id]
					 ? FLAME_NONE
					 : flame_tree_node(m->all, id)->label;
		uint64_t *sum = diff_model_counters(t, t->top[id], label, true);

		for (int i = 0; i < 2; i++) {
			sum[i] += n[i];
			t->under[i][t->top[id]] += n[i];
			m->unjoined[i] += n[i];
		}
	}
}

/* Stores how many of the samples that are lost, or have no user half, may
 * belong to a node. */
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
			: diff_model_counters(
				  t, t->top[id],
				  l->kernel ? flame_tree_node(m->all, id)->label
					    : FLAME_NONE,
				  false);
	uint64_t may[2];

	for (int i = 0; i < 2; i++)
		may[i] = saturating_add(n ? n[i] : 0, m->side[i]->lost);
	m->self[id].may_a = may[0];
	m->self[id].may_b = may[1];
	for (int i = 0; i < 2; i++)
		may[i] = saturating_add(has_all ? 0 : t->under[i][t->top[id]],
					m->side[i]->lost);
	m->total[id].may_a = may[0];
	m->total[id].may_b = may[1];
	m->self[id].skip = m->total[id].skip = t->missing[id];
}

static double diff_model_unit(const struct drawing *d)
{
	const struct flame_node *root = flame_tree_node(d->tree, 0);

	return root->samples ? (double)root->weight / (double)root->samples : 1;
}

void diff_model_judge(struct diff_model *m)
{
	uint32_t count = flame_tree_count(m->all);
	struct tally t = { .m = m };
	struct diff_whole left;

	m->self = mem_new(count, sizeof(*m->self));
	m->total = mem_new(count, sizeof(*m->total));
	diff_model_find_tops(&t);
	diff_model_count_self(m, 0);
	diff_model_count_self(m, 1);
	diff_model_count_missing(&t);
	for (uint32_t id = 0; id < count; id++)
		diff_model_set_may(&t, id);

	struct diff_whole w = {
		.a = m->total[0].a,
		.b = m->total[0].b,
		.lost_a = m->side[0]->lost,
		.lost_b = m->side[1]->lost,
		.absolute = flame_opts.absolute,
		.unit_a = diff_model_unit(m->side[0]),
		.unit_b = diff_model_unit(m->side[1]),
	};

	diff_judge(m->self, count, &w, &left);
	diff_judge_nested(m->total, count, &left);
	m->scale = diff_scale(&left);
	free(t.top);
	free(t.missing);
	free(t.is_mark);
	free(t.under[0]);
	free(t.under[1]);
	free(t.count);
	table_release(&t.index);
}
