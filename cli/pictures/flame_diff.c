/* flame_diff.c - what changed between two recordings, as a flame graph. */
#include "cli/pictures/flame.h"

#include <math.h>

#include "cli/args/status.h"
#include "cli/open/input.h"
#include "stitch/text/safe_text.h"
#include "cli/pictures/flame_draw.h"
#include "analyze/diffs/diff_runs.h"
#include "cli/tables/diff_limit.h"
#include "cli/tables/diff_text.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "stitch/text/human.h"
#include "analyze/diffs/sides.h"
#include "analyze/names/library.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/waits.h"
#include "analyze/waits/wall.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "cli/pictures/svg.h"
#include "stitch/base/mem.h"

/* Waits are counted at so many instants of a recording, but at most one in a
 * millisecond: threads that are idle wait all the time. */
#define INSTANTS 10000
#define TICK_LEAST 1000000
/* How much waits vary from run to run (diff_whole.between), by far more than
 * the cost of code: tests/live/pairs.py. */
#define BETWEEN_WAITS 0.5

/* Loads the times that the options ask for. Returns their event, or -1 and
 * *err. */
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
	/* waits that may have any stack */
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
	/* draw and count each run */
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
		/* for m->node[i] */
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
	/* an inlined function has no symbol to prove that it is new */
	compare_judge(&m->c,
		      KEY_SYM | KEY_DSO | (inlined_same ? KEY_INLINED : 0),
		      f->absolute || waits);

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

/* Returns how the function of a node changed; NULL if the node is no code. */
static const struct diff_place *diff_model_place(const struct diff_model *m,
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

/* Returns how many samples ended at a node or, with total, passed it. */
static uint64_t diff_model_samples(const struct diff_model *m, int side,
				   uint32_t id, bool total)
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

/* Returns the size of a node on one side, as diff_rows_size() does. */
static double diff_model_size(const struct diff_model *m, int side, uint32_t id,
			      bool total)
{
	return diff_rows_size(m->c.d, side,
			      diff_model_weight(m, side, id, total));
}

/* Returns how much larger a node is in B than the unchanged rest predicts, as
 * diff_rows_excess() does. */
static double diff_model_excess(const struct diff_model *m, uint32_t id,
				bool total)
{
	return diff_rows_excess(m->c.d, diff_model_weight(m, 0, id, total),
				diff_model_weight(m, 1, id, total));
}

#define STEPS 7	     /* shades of red and of blue */
#define NEUTRAL 8    /* shades of grey, to tell frames apart */
#define ROWS_MAX 100 /* rows for functions that changed, or are only in A */
#define GONE_MAX 12  /* of these, gone without a proved change */

/* The picture of a difference while it is made. */
struct diff_page {
	struct diff_model m;
	uint32_t *both; /* maps a node of the second tree to a node of m.all */
	double most;	/* the largest change that has a color */
	uint32_t most_at; /* the node of m.all with most of the cause's change;
			   * FLAME_NONE: none */
	char *lead;
	struct svg_style look;
	struct svg_row row[ROWS_MAX + 1];
	char *text[ROWS_MAX + 1];
	char *subtitle;
	const struct flame_opts *opts;
	bool total; /* colored by the change of total, not of self */
};

/* Returns whether a node shows the change of its total. The cause always does:
 * its self may not have changed. */
static bool flame_diff_by_total(const struct diff_page *pg, uint32_t id)
{
	return pg->total || (pg->m.row[id] != REPORT_NONE &&
			     pg->m.row[id] == pg->m.c.d->cause.row);
}

/* Stores the class of a node. Changed functions are red or blue, the stronger
 * where more of the change is; shades of grey only tell others apart. */
static void flame_diff_put_class(const void *arg, uint32_t node,
				 char out[SVG_CLASS])
{
	const struct diff_page *pg = arg;
	uint32_t id = pg->both[node];
	bool total = flame_diff_by_total(pg, id);
	const struct diff_place *p = diff_model_place(&pg->m, id, total);
	char name[3];

	if (p && p->change) {
		double v = diff_model_excess(&pg->m, id, total) * p->change;
		int step =
			v > 0 && pg->most > 0 ? (int)(v / pg->most * STEPS) : 0;

		snprintf(out, SVG_CLASS, "d%c%c%s", p->change > 0 ? 'r' : 'b',
			 '0' + (step < STEPS ? step : STEPS - 1),
			 id == pg->most_at ? " most" : "");
		return;
	}

	int doubt = p ? diff_rows_doubtful(pg->m.c.d, pg->m.row[id], total) : 0;

	if (doubt) {
		snprintf(out, SVG_CLASS, doubt > 0 ? "dm" : "dl");
		return;
	}
	palette_class(labels_get(pg->m.c.labels, pg->m.all->node[id].label),
		      name);
	/* what has a pattern keeps it */
	snprintf(out, SVG_CLASS, "%s%s", name[1] ? "dw" : "",
		 name[1] ? name + 1 : name);
}

/* Writes a size: a share, or with --absolute a weight; plus: with its sign. */
static void flame_diff_put_size(FILE *out, const struct diff_rows *d, double v,
				bool plus)
{
	if (!d->absolute && plus)
		fprintf(out, "%+.2f points", v);
	else if (!d->absolute)
		fputs(HUMAN_PERCENT(v, 100), out);
	else if (d->ns)
		fprintf(out, "%s%s",
			v < 0  ? "-"
			: plus ? "+"
			       : "",
			HUMAN_NS(fabs(v)));
	else
		fprintf(out, plus ? "%+.0f" : "%.0f", v);
}

/* Writes the sizes on both sides and, if excess is not their difference, B's if
 * it had not changed: "12.17 % to 30.43 %, 11.02 % if same, +19.41 points". */
static void flame_diff_put_change(FILE *out, const struct diff_rows *d,
				  double a, double b, double excess)
{
	flame_diff_put_size(out, d, a, false);
	fputs(" to ", out);
	flame_diff_put_size(out, d, b, false);
	if (!d->absolute && fabs(b - a - excess) >= 0.005) {
		fputs(", ", out);
		flame_diff_put_size(out, d, b - excess, false);
		fputs(" if same", out);
	}
	fputs(", ", out);
	flame_diff_put_size(out, d, excess, true);
}

static void flame_diff_put_samples(FILE *out, uint64_t a, uint64_t b)
{
	fprintf(out, "A %s samples, B %s samples; ", HUMAN_GROUPED(a),
		HUMAN_GROUPED(b));
}

/* Writes what is known about a row: its numbers, and how they are judged. */
static void flame_diff_tell_row(FILE *out, const struct diff_rows *d,
				uint32_t row, bool total)
{
	const struct diff_place *p = &d->place[total][row];
	const struct diff_row *of = &d->row[row];
	double a = diff_rows_size(d, 0, (double)of->weight[0][total]);
	double b = diff_rows_size(d, 1, (double)of->weight[1][total]);
	double times = d->absolute ? 1 : 100;

	flame_diff_put_samples(out, p->a, p->b);
	flame_diff_put_change(out, d, a, b, diff_rows_excess_of(d, row, total));
	/* the means of the runs, each with the standard deviation */
	for (int i = 0; d->whole.run && i < 2; i++) {
		double mean, deviation;

		diff_spread(p, &d->whole, i, &mean, &deviation);
		fputs(i ? " and " : "; of the runs ", out);
		if (d->ns && d->absolute)
			fputs(HUMAN_NS(mean), out);
		else
			fprintf(out, "%.2f", times * mean);
		if (d->side[i].runs > 1 && d->ns && d->absolute)
			fprintf(out, " \xc2\xb1 %s", HUMAN_NS(deviation));
		else if (d->side[i].runs > 1)
			fprintf(out, " \xc2\xb1 %.2f", times * deviation);
		if (!d->absolute)
			fputs(" %", out);
	}
	if (of->unknown) {
		fprintf(out, ", not known: %s", of->unknown);
		return;
	}
	if (!p->change) {
		fputs(", not significant", out);
		if (diff_rows_doubtful(d, row, total))
			fprintf(out, " (p %.2g)", p->p);
		return;
	}
	if (p->only) {
		fprintf(out, ", %s: the program of %c has no symbol of it",
			diff_rows_word(p), p->only > 0 ? 'A' : 'B');
		return;
	}
	fprintf(out, ", %s (p %.1e)", diff_rows_word(p), p->p);
	if (!d->absolute && a > 0)
		fprintf(out, ", %.2f times by what did not change",
			b / (b - diff_rows_excess_of(d, row, total)));
}

/* Returns whether a frame has all samples of its function. */
static bool flame_diff_is_all(const struct diff_model *m, uint32_t id)
{
	for (int side = 0; side < 2; side++) {
		const uint64_t *all = m->c.d->row[m->row[id]].weight[side];
		const struct flame_node *nd = diff_model_node(m, side, id);

		if (nd->self != all[0] || nd->weight != all[1])
			return false;
	}
	return true;
}

/* Writes a line of the tooltip, about the function or about this frame only. */
static void flame_diff_tell_line(FILE *out, const struct diff_model *m,
				 uint32_t id, bool of_function, bool total)
{
	char *text OWNED = NULL;
	FILE *line = mem_stream(&text, NULL);

	fprintf(line, "%s%s: ",
		of_function || m->row[id] == REPORT_NONE ? "" : "here, ",
		total ? "total" : "self");
	if (of_function) {
		flame_diff_tell_row(line, m->c.d, m->row[id], total);
	} else {
		flame_diff_put_samples(line,
				       diff_model_samples(m, 0, id, total),
				       diff_model_samples(m, 1, id, total));
		flame_diff_put_change(line, m->c.d,
				      diff_model_size(m, 0, id, total),
				      diff_model_size(m, 1, id, total),
				      diff_model_excess(m, id, total));
	}
	mem_stream_end(line);
	putc('\n', out);
	safe_text_xml(out, text, 0);
}

/* Writes what changed as lines of a node's tooltip. */
static void flame_diff_tell(const void *arg, uint32_t node, FILE *out)
{
	const struct diff_page *pg = arg;
	uint32_t id = pg->both[node];
	bool code = pg->m.row[id] != REPORT_NONE;

	for (int total = 0; code && total < 2; total++)
		flame_diff_tell_line(out, &pg->m, id, true, total);
	if (code && flame_diff_is_all(&pg->m, id))
		return;
	/* in a reversed tree only totals mean anything */
	for (int total = pg->opts->reverse; total < 2; total++)
		flame_diff_tell_line(out, &pg->m, id, false, total);
}

static void flame_diff_put_shades(FILE *out, const char *css_class, int n,
				  const struct ramp *r, bool dark)
{
	char c[RAMP_SHADE];

	for (int i = 0; i < n; i++) {
		ramp_shade(r, i, n, dark ? 60 : 100, c);
		fprintf(out, ".%s%d rect{fill:%s}", css_class, i, c);
	}
	fputc('\n', out);
}

/* Writes the CSS rules: the larger the change, the stronger the colour. */
static void flame_diff_css(FILE *out)
{
	static const struct ramp red = { 0xffcdc3, 0xe23028 };
	static const struct ramp blue = { 0xc8daff, 0x2c5ce2 };
	/* for what is not proved: as light as the grey, but with a hue */
	static const unsigned int pale[2][2] = { { 0xfbe9e4, 0xe8eefb },
						 { 0x7d6765, 0x666d80 } };
	static const struct ramp grey[2] = { { 0xeae8e2, 0xceccc6 },
					     { 0x6c6c70, 0x8e8e92 } };

	for (int dark = 0; dark < 2; dark++) {
		if (dark)
			fputs("@media (prefers-color-scheme:dark){\n", out);
		flame_diff_put_shades(out, "dw", NEUTRAL, &grey[dark], dark);
		flame_diff_put_shades(out, "dr", STEPS, &red, dark);
		flame_diff_put_shades(out, "db", STEPS, &blue, dark);
		fprintf(out, ".dm rect{fill:#%06x}.dl rect{fill:#%06x}\n",
			pale[dark][0], pale[dark][1]);
		if (dark)
			fputs("}\n", out);
	}
}

static const struct svg_row legend[] = {
	{ "dr4", "more in B" },
	{ "db4", "less in B" },
	{ "dm", "" },
	{ "dl", "larger than the noise, not proved" },
	{ "dw0", "no significant change" },
	{ NULL, NULL },
};

/* Lists the functions that changed, and those that are only in A, as rows below
 * the picture, which is of B: they may have no width in it. */
static void flame_diff_list_rows(struct diff_page *pg)
{
	const struct diff_rows *d = pg->m.c.d;
	bool total = pg->total;
	uint32_t *order OWNED = diff_rows_order(d, total, NULL);
	size_t gone_n = 0;
	size_t n = 0;
	size_t left = 0;

	for (size_t i = 0; i < d->n; i++) {
		uint32_t row = order[i];
		const struct diff_place *p = &d->place[total][row];
		bool gone = !d->place[1][row].b;

		if (!p->change && (!gone || !p->a || p->skip))
			continue;
		if (n == ROWS_MAX || (!p->change && gone_n++ >= GONE_MAX)) {
			left++;
			continue;
		}
		/* Write "gone from A: f 3.20 %; 30 samples", or "checksum:
		 * 12.17 % to ...". */
		char *text;
		FILE *out = mem_stream(&text, NULL);

		if (!gone) {
			safe_text_say(out, "", diff_rows_label(d, row)->name,
				      ": ");
			flame_diff_tell_row(out, d, row, total);
		} else {
			safe_text_say(out, "gone from A: ",
				      diff_rows_label(d, row)->name, " ");
			flame_diff_put_size(
				out, d,
				diff_rows_size(
					d, 0,
					(double)d->row[row].weight[0][total]),
				false);
			fprintf(out, "; %s%s", HUMAN_NOUN(p->a, "sample"),
				p->change ? "" : ", not significant");
		}
		mem_stream_end(out);
		pg->text[n] = text;
		pg->row[n] = (struct svg_row){ p->change > 0   ? "dr4"
					       : p->change < 0 ? "db4"
							       : "dw0",
					       pg->text[n] };
		n++;
	}
	if (left) {
		char count[64];

		snprintf(count, sizeof(count), "and %zu more", left);
		pg->text[n] = mem_strdup(count);
		pg->row[n] = (struct svg_row){ "dw0", pg->text[n] };
		n++;
	}
	pg->look.rows = pg->row;
	pg->look.n_rows = n;
}

/* Adds a note; text is freed. */
static void flame_diff_note(struct drawing *d, char *text)
{
	if (*text)
		drawing_say(d, "%s", text);
	free(text);
}

/* Sets colours, title and notes of the comparison in the drawing of B. */
static void flame_diff_decorate(struct diff_page *pg, struct drawing *d)
{
	const struct compare *c = &pg->m.c;
	const struct compare_run *b = &c->run[c->runs_a];
	const char *event = compare_event(c);

	pg->both = mem_new(d->tree->n, sizeof(*pg->both));
	for (uint32_t id = 1; id < pg->m.all->n; id++)
		if (pg->m.node[1][id] != FLAME_NONE)
			pg->both[pg->m.node[1][id]] = id;
	pg->most_at = FLAME_NONE;
	/* Find the largest change of a frame, which has the strongest colour,
	 * and the frame with most of the change of the cause. In a reversed
	 * tree innermost frames come first, with all of their self above. */
	double of_cause = 0;

	for (uint32_t id = 0; id < pg->m.all->n; id++) {
		bool total = flame_diff_by_total(pg, id);
		const struct diff_place *p =
			diff_model_place(&pg->m, id, total);
		double v = p ? diff_model_excess(&pg->m, id,
						 total || pg->opts->reverse) *
					   p->change
			     : 0;

		raise_to(pg->most, v);
		if (p && pg->m.row[id] == pg->m.c.d->cause.row &&
		    v > of_cause) {
			of_cause = v;
			pg->most_at = id;
		}
	}
	pg->lead = diff_sentence(c, diff_tell_cause, 0);
	pg->look.lead = *pg->lead ? pg->lead : NULL;
	flame_diff_list_rows(pg);
	pg->look.arg = pg;
	pg->look.css_class = flame_diff_put_class;
	pg->look.tell = flame_diff_tell;
	pg->look.css = flame_diff_css;
	pg->look.legend = legend;
	d->o.look = &pg->look;
	d->o.count_name =
		b->stacks ? stacks_unit(b->stacks, b->event, pg->opts->samples)
			  : "samples";
	d->o.show_samples = b->stacks && !pg->opts->samples;
	if (!pg->opts->title) {
		snprintf(d->title, sizeof(d->title), "What changed: %.150s",
			 event ? event : "folded stacks");
		d->o.title = d->title;
	}
	char *text;
	FILE *out = mem_stream(&text, NULL);

	fprintf(out, "A: %.80s, %s samples; B (the widths): %.80s, %s samples",
		c->sides->side[0].name, HUMAN_GROUPED(c->d->side[0].samples),
		c->sides->side[1].name, HUMAN_GROUPED(c->d->side[1].samples));
	mem_stream_end(out);
	pg->subtitle = text;
	if (!pg->opts->subtitle)
		d->o.subtitle = pg->subtitle;
	flame_diff_note(d, diff_sentence(c, diff_tell_alone, 0));
	flame_diff_note(d, diff_sentence(c, diff_tell_images, 0));
	for (int side = 0; side < 2; side++) {
		flame_diff_note(d, diff_sentence(c, diff_tell_side, side));
		flame_diff_note(d, diff_sentence(c, diff_tell_trust, side));
	}
	flame_diff_note(d, diff_sentence(c, diff_tell_result, pg->total));
	if (pg->opts->off_cpu || pg->opts->wall || pg->opts->latency)
		drawing_say(d, "a time has as many samples as milliseconds, or "
			       "as instants of 10,000 in a recording");
}

static int flame_diff_write(FILE *out, void *arg, struct err *err)
{
	const struct diff_page *pg = arg;
	const struct drawing *d = &pg->m.side[1];

	return svg_write(out, d->tree, &d->o, err);
}

static char *flame_diff_name(const void *rows, uint32_t row)
{
	return mem_strdup(diff_rows_label(rows, row)->name);
}

int flame_diff(const struct sides *s, const struct flame_opts *f,
	       const struct svg_opts *o, struct err *err)
{
	struct diff_page *pg = mem_new(1, sizeof(*pg));
	/* times off the CPU are all self of one frame */
	bool total = f->diff_by ? !strcmp(f->diff_by, "total")
				: f->off_cpu || f->wall || f->latency;
	int status = STATUS_OK;
	int rc = 0;

	pg->opts = f;
	pg->total = total;
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; !rc && k < s->side[i].n; k++)
			rc = input_apart(s->side[i].path[k], f->out_path, err);
	if (!rc)
		rc = diff_model_read(&pg->m, s, f, o, &status, err);
	if (!rc) {
		flame_diff_decorate(pg, &pg->m.side[1]);
		rc = out_write(f->out_path, flame_diff_write, pg, err);
	}
	if (!rc)
		status = diff_limit_rows(f->fail, &pg->m.c, total,
					 flame_diff_name, pg->m.c.d, status);
	diff_model_release(&pg->m);
	for (size_t i = 0; i <= ROWS_MAX; i++)
		free(pg->text[i]);
	free_all(pg->subtitle, pg->lead, pg->both, pg);
	return rc ? -1 : status;
}
