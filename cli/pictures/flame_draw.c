/* flame_draw.c - from samples, or folded text, to a tree that can be drawn. */
#include "cli/pictures/flame_draw.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/output/say.h"
#include "formats/input.h"
#include "analyze/samples/filter.h"
#include "cli/pictures/flame_notes.h"
#include "cli/pictures/flame.h"
#include "analyze/stacks/flame_tree.h"
#include "cli/export/folded.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/label_facts.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/pick.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/wall.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"

void drawing_group(struct drawing *d, const char *name, struct label_list *l)
{
	label_list_add(l, labels_add_name(d->labels, LABEL_GROUP, name));
}

void drawing_thread(struct drawing *d, const struct stacks_comm *c,
		    struct label_list *l)
{
	char text[48];

	if (!d->opts->no_comm)
		drawing_group(d, c->name, l);
	if (d->opts->by_pid) {
		snprintf(text, sizeof(text), "pid %lld", (long long)c->pid);
		drawing_group(d, text, l);
	}
	if (d->opts->by_thread) {
		snprintf(text, sizeof(text), "tid %lld", (long long)c->tid);
		drawing_group(d, text, l);
	}
}

/* Adds a stack as drawing_add_group() does. */
static int drawing_add(struct drawing *d, struct label_list *l, uint64_t weight,
		       uint64_t samples, struct err *err)
{
	if (d->opts->collapse) {
		/* Leaves one of several frames of the same function in a
		 * row. Frames without a name may be different functions of
		 * one file. */
		size_t n = 0;

		for (size_t i = 0; i < l->n; i++) {
			enum label_kind kind =
				labels_get(d->labels, l->label[i])->kind;

			if (!n || l->label[i] != l->label[n - 1] ||
			    kind == LABEL_GROUP || kind == LABEL_UNNAMED)
				label_list_move(l, n++, i);
		}
		l->n = n;
	}
	if (!pick_stack(d->pick, l->label, l->n, weight))
		return 0;
	if (d->rows)
		report_rows_add(d->rows, d->group, l, weight, samples);
	if (d->opts->reverse)
		label_list_reverse(l, 0);
	if (d->also && flame_tree_add(d->also, l->label, l->n, 0, 0, err))
		return -1;
	return flame_tree_add(d->tree, l->label, l->n, weight, samples, err)
		       ? -1
		       : 1;
}

int drawing_add_group(struct drawing *d, const struct stacks_group *g,
		      struct label_list *l, struct err *err)
{
	int rc = drawing_add(d, l, g->weight, g->samples, err);

	if (rc <= 0)
		return rc;
	if (d->trust)
		trust_add(d->trust, g);
	drawing_missing(d, stacks_missing(g->verdict, g->uraw), g->weight);
	/* Counts the frames of the stack just added that were inferred. */
	const struct stack_names *names = d->stacks->names;
	uint32_t at = 0;
	size_t n = 0;

	if (stacks_inferred(d->stacks, g))
		d->inferred += g->weight;
	for (size_t i = 0; i < l->n; i++)
		if (stack_names_inferred(names, &l->from[i]))
			n = i + 1;
	for (size_t i = 0; i < n; i++) {
		at = flame_tree_child_of(d->tree, at, l->label[i]);
		if (stack_names_inferred(names, &l->from[i]))
			flame_tree_infer(d->tree, at, g->weight);
	}
	return rc;
}

static int drawing_add_groups(struct drawing *d, struct err *err)
{
	struct label_list l = { .want_from = true };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < d->stacks->n_group; i++) {
		const struct stacks_group *g = &d->stacks->group[i];

		d->group = (uint32_t)i;
		if (d->event >= 0 && g->event != (uint32_t)d->event)
			continue;

		const struct stacks_comm *c = stacks_comm(d->stacks, g->comm);

		l.n = 0;
		if (d->opts->by_verdict) {
			char text[64];

			snprintf(text, sizeof(text), "[%s]",
				 stacks_verdict(g->verdict));
			drawing_group(d, text, &l);
		}
		drawing_thread(d, c, &l);
		stacks_get(d->stacks, g, &l);
		rc = drawing_add_group(d, g, &l, err);
		if (rc <= 0)
			continue;
		drawing_count_name(d, c, g->weight);
		if (stacks_bogus(d->stacks, g))
			d->bogus += g->weight;
	}
	free_all(l.label, l.from);
	return rc < 0 ? -1 : 0;
}

int drawing_init(struct drawing *d, const struct flame_opts *f,
		 struct labels *labels, struct err *err)
{
	d->opts = f;
	d->event = -1;
	d->labels = labels;
	d->tree = flame_tree_new(labels);
	d->pick = pick_new(labels, &f->pick, err);
	return d->pick ? 0 : -1;
}

void drawing_release(struct drawing *d)
{
	flame_tree_free(d->tree);
	label_facts_free(d->facts);
	pick_free(d->pick);
	free(d->name);
	trust_free(d->trust);
	stacks_free(d->stacks);
}

struct store *drawing_open(struct drawing *d, const char *path, int *status,
			   struct err *err)
{
	struct store *db = database_open(d->opts->open, path, status, err);

	if (!db)
		return NULL;
	/* the first note is for drawing_finish() */
	drawing_note(d);
	/* notes capture and host, so that the picture still says where its
	 * samples are from when it is passed on */
	struct rows *r = rows_of(db, "report_captures", err);
	while (rows_step(r)) {
		const char *host = rows_text(r, REPORT_CAPTURES_HOST);
		bool whole = rows_value(r, REPORT_CAPTURES_COMPLETE).kind ==
				     VALUE_NULL ||
			     rows_int(r, REPORT_CAPTURES_COMPLETE);

		drawing_say(d, "capture %.120s%s%.60s%s",
			    rows_text(r, REPORT_CAPTURES_PATH),
			    *host ? " of " : "", host,
			    whole ? "" : ", not complete");
	}
	if (rows_end(r, err)) {
		store_close(db);
		return NULL;
	}
	return db;
}

int drawing_facts(struct drawing *d, struct store *db, struct err *err)
{
	d->trust = trust_new(db, d->stacks->code, err);
	d->facts = d->trust ? label_facts_load(db, d->stacks, err) : NULL;
	d->o.facts = d->facts;
	return d->facts ? 0 : -1;
}

int drawing_finish(struct drawing *d, const char *path, struct err *err)
{
	flame_tree_finish(d->tree);
	if (d->tree->node[0].weight) {
		if (d->trust)
			trust_say(d->trust, d->note[0]);
		drawing_note_dropped(d);
		return 0;
	}
	if (pick_dropped(d->pick))
		return err_set(err, ERR_FORMAT,
			       "%s: --include and --exclude leave no stack",
			       path);
	return err_set(err, ERR_FORMAT, "%s: %s", path,
		       d->opts->from_folded ? "no folded stacks"
		       : d->tree->node[0].samples
			       ? "all samples have weight 0; use --by samples"
			       : "no stacks");
}

static int drawing_read_db(struct drawing *d, const char *path, int *status,
			   struct err *err)
{
	/* calls stand on each other, not on the stacks of their begins */
	const bool calls =
		d->opts->latency && !strcmp(d->opts->latency, "call");
	const char *pairs = calls ? NULL : d->opts->latency;
	struct stacks_opts so = {
		.filter = d->opts->filter,
		.names = d->opts->names,
		.inlined = d->opts->inlined,
		.bogus = true,
		.gaps = true,
		.samples = d->opts->samples,
		.labels = d->labels,
		.weight = d->opts->weight,
		.summed = !d->opts->by_pid && !d->opts->by_thread &&
			  !d->opts->by_verdict && !d->opts->wall && !pairs,
		.no_groups = pairs,
	};
	struct store *db = drawing_open(d, path, status, err);
	struct offcpu_sums waits;
	struct wall_intervals intervals = { 0 };

	bool told = false;

	if (db)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks)
		told = !drawing_facts(d, db, err);
	if (told && d->opts->wall)
		trust_of_waits(d->trust);
	if (told && d->opts->wall)
		told = (d->event = wall_load(db, path, d->opts->filter,
					     d->stacks, 0, &waits, err)) >= 0;
	else if (told && pairs)
		told = (d->event = wall_load_intervals(
				db, path, d->opts->filter, pairs, d->stacks,
				&intervals, NULL, NULL, err)) >= 0;
	else if (told)
		told = !traced_add_to(db, path, d->opts->filter, d->stacks,
				      err);
	store_close(db);
	if (!told)
		return -1;
	if (calls)
		d->event = (int)stacks_add_event(
			d->stacks, traced_name(TRACED_GRAPH), "ns");
	else if (!d->opts->wall && !pairs)
		d->event = say_choice(d->stacks, "drawing");
	if (calls && !d->stacks->event[d->event].samples)
		return err_set(err, ERR_FORMAT,
			       "%s: no call of function_graph that the options "
			       "select",
			       path);
	if (stacks_heaviest(d->stacks) < 0 && stacks_unweighed(d->stacks, -1))
		return err_set(err, ERR_FORMAT,
			       "%s: no sample has a weight by '%s'", path,
			       d->opts->weight);
	if (stacks_heaviest(d->stacks) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_that_passed(d->opts->filter));
	if (drawing_add_groups(d, err) || drawing_finish(d, path, err))
		return -1;
	d->o.count_name = stacks_unit(d->stacks, d->event, d->opts->samples);
	d->o.show_samples = !d->opts->samples;
	if (pairs)
		d->o.sample_name = "interval";
	if (d->event >= 0 && d->stacks->event[d->event].nested)
		d->o.sample_name = "call";
	drawing_note_event(d);
	if (d->opts->wall)
		drawing_note_wall(d, &waits);
	if (pairs)
		drawing_note_intervals(d, &intervals);
	drawing_note_unweighed(d);
	drawing_note_missing(d);
	drawing_note_part(d, d->bogus,
			  "has fabricated frames: no call returns to their "
			  "addresses ('backstitch check' says whose code made "
			  "them)");
	drawing_note_inferred(d);
	return 0;
}

static int drawing_add_line(void *arg, struct label_list *l, uint64_t count,
			    struct err *err)
{
	return drawing_add(arg, l, count, count, err);
}

int drawing_add_run(struct drawing *d, struct stacks *s, int event,
		    struct err *err)
{
	d->stacks = s;
	d->event = event;

	int rc = drawing_add_groups(d, err);

	d->stacks = NULL;
	return rc;
}

int drawing_add_text(struct drawing *d, const char *path, int *status,
		     struct err *err)
{
	FILE *in = input_stream(path, err);
	uint64_t bad = 0;

	if (!in)
		return -1;
	int rc = folded_read(in, &d->opts->names, d->labels, drawing_add_line,
			     d, &bad, err);
	fclose(in);
	if (rc)
		return err_while(err, "reading %s", path);
	if (bad) {
		say("backstitch: %llu line%s without a count %s "
		    "skipped\n",
		    (unsigned long long)bad, bad == 1 ? "" : "s",
		    bad == 1 ? "was" : "were");
		*status = STATUS_DAMAGED;
	}
	return 0;
}

int drawing_read(struct drawing *d, const char *path, int *status,
		 struct err *err)
{
	if (d->opts->from_folded) {
		if (drawing_add_text(d, path, status, err) ||
		    drawing_finish(d, path, err))
			return -1;
		d->o.count_name = "samples";
		return 0;
	}
	return drawing_read_db(d, path, status, err);
}
