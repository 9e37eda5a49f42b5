/* diff_model.c - two recordings in one tree of frames, and what changed. */
#include "cli/pictures/diff_model.h"

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/names/library.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/diffs/sides.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/waits.h"
#include "analyze/waits/wall.h"
#include "cli/open/input.h"
#include "cli/output/say.h"
#include "cli/pictures/flame.h"
#include "stitch/base/mem.h"

/* So many instants of a recording, but not more than one a millisecond, are
 * what its waits are counted by: threads that are idle wait all the time. */
#define INSTANTS 10000
#define TICK_LEAST 1000000
/* How waits vary from run to run (diff_whole.between), by far more than the
 * cost of code: tests/live/pairs.py. */
#define BETWEEN_WAITS 0.5

/* Loads the times that the options ask for. */
static int diff_model_load(const void *arg, struct store *db, const char *path,
			   const struct filter *filter, struct stacks *s,
			   int64_t took, struct diff_rows_run *run,
			   struct err *err)
{
	const struct flame_opts *f = arg;
	const int64_t tick =
		took / INSTANTS > TICK_LEAST ? took / INSTANTS : TICK_LEAST;
	struct offcpu_sums sums;
	struct wall_intervals pairs = { .tick = tick };
	int event;

	if (f->latency) {
		event = wall_load_intervals(db, path, filter, f->latency, s,
					    &pairs, NULL, NULL, err);
		run->lost = pairs.loose / (uint64_t)tick;
		run->lost_unknown |= pairs.loose == UINT64_MAX;
		return event;
	}
	event = (f->off_cpu ? wall_load_waits : wall_load)(db, path, filter, s,
							   tick, &sums, err);
	if (event < 0)
		return -1;
	/* those that may be of any stack */
	run->lost = (sums.ns[OFFCPU_UNCERTAIN] + sums.ns[OFFCPU_OPEN]) /
		    (uint64_t)tick;
	run->lost_unknown = sums.lost || sums.lost_unknown;
	return event;
}

int diff_model_read(struct diff_model *m, const struct sides *s,
		    const struct flame_opts *f, const struct svg_opts *o,
		    int *status, struct err *err)
{
	bool inlined_same = f->inlined_rows || library_folds(&f->names);
	bool waits = f->off_cpu || f->wall || f->latency;
	const struct compare_opts co = {
		.more = traced_add_to,
		.times = waits ? diff_model_load : NULL,
		.times_arg = f,
		.between = BETWEEN_WAITS,
		.open = database_open_side,
		.open_arg = f->open,
		.each = f->each,
		.each_arg = f->each_arg,
		.match = f->match,
		.stacks = { .filter = f->filter,
			    .names = f->names,
			    .inlined = f->inlined,
			    .inlined_same = inlined_same,
			    .bogus = true,
			    .gaps = true,
			    .samples = f->samples,
			    .weight = f->weight,
			    .no_groups = f->off_cpu || f->latency,
			    .summed = !f->by_pid && !f->by_thread &&
				      !f->by_verdict && !waits },
		.folded = f->from_folded,
	};

	int rc = compare_load(&m->c, s, &co, status, err);

	say_lines(m->c.note);
	if (rc)
		return -1;
	m->all = flame_tree_new(m->c.labels);
	for (int i = 0; i < 2; i++) {
		m->side[i].o = *o;
		m->side[i].also = m->all;
		if (drawing_init(&m->side[i], f, m->c.labels, err))
			return -1;
	}
	/* draws and counts each run */
	for (size_t i = 0; i < m->c.n; i++) {
		struct drawing *d = &m->side[compare_side(&m->c, i)];
		struct compare_run *run = &m->c.run[i];

		m->c.rows[i].rows = report_rows_empty(
			m->c.labels, KEY_SYM | KEY_DSO | KEY_HITS);
		d->rows = m->c.rows[i].rows;
		if (run->stacks
			    ? drawing_add_run(d, run->stacks, run->event, err)
			    : drawing_add_text(d, run->path, status, err))
			return -1;
	}
	flame_tree_finish(m->all);
	for (int i = 0; i < 2; i++) {
		if (drawing_finish(&m->side[i], s->side[i].name, err))
			return -1;
		/* The caller frees the array. */
		uint32_t *to = mem_new(m->all->n, sizeof(*to));

		for (uint32_t id = 1; id < m->all->n; id++) {
			const struct flame_node *nd = &m->all->node[id];

			to[id] = FLAME_NONE;
			if (to[nd->parent] != FLAME_NONE)
				to[id] = flame_tree_child_of(m->side[i].tree,
							     to[nd->parent],
							     nd->label);
		}
		m->node[i] = to;
	}
	m->c.unit = m->c.run[0].stacks
			    ? stacks_unit(m->c.run[0].stacks, m->c.run[0].event,
					  f->samples)
			    : "samples";
	/* what is inlined has no symbol, which could prove that a function is
	 * new */
	compare_judge(&m->c,
		      KEY_SYM | KEY_DSO | (inlined_same ? KEY_INLINED : 0),
		      f->absolute || waits);

	/* the row of each node's function */
	uint32_t count = m->all->n;

	m->row = mem_new(count, sizeof(*m->row));
	for (uint32_t id = 0; id < m->all->n; id++)
		m->row[id] = diff_rows_of_label(m->c.d, m->all->node[id].label);
	return 0;
}

void diff_model_release(struct diff_model *m)
{
	for (int i = 0; i < 2; i++) {
		drawing_release(&m->side[i]);
		free(m->node[i]);
	}
	free(m->row);
	flame_tree_free(m->all);
	compare_release(&m->c);
}

const struct diff_place *diff_model_place(const struct diff_model *m,
					  uint32_t id, bool total)
{
	return m->row[id] == REPORT_NONE ? NULL
					 : &m->c.d->place[total][m->row[id]];
}

const struct flame_node *diff_model_node(const struct diff_model *m, int side,
					 uint32_t id)
{
	static const struct flame_node none;
	uint32_t at = m->node[side][id];

	return at == FLAME_NONE ? &none : &m->side[side].tree->node[at];
}

uint64_t diff_model_samples(const struct diff_model *m, int side, uint32_t id,
			    bool total)
{
	const struct flame_node *nd = diff_model_node(m, side, id);
	const struct flame_tree *t = m->side[side].tree;
	uint64_t n = nd->samples;

	for (uint32_t i = 0; !total && i < nd->n_child; i++)
		n -= t->node[t->child[nd->child + i]].samples;
	return n;
}

static double diff_model_weight(const struct diff_model *m, int side,
				uint32_t id, bool total)
{
	const struct flame_node *nd = diff_model_node(m, side, id);

	return (double)(total ? nd->weight : nd->self);
}

double diff_model_size(const struct diff_model *m, int side, uint32_t id,
		       bool total)
{
	return diff_rows_size(m->c.d, side,
			      diff_model_weight(m, side, id, total));
}

double diff_model_excess(const struct diff_model *m, uint32_t id, bool total)
{
	return diff_rows_excess(m->c.d, diff_model_weight(m, 0, id, total),
				diff_model_weight(m, 1, id, total));
}
