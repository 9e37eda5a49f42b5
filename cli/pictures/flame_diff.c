/* flame_diff.c - what changed between two recordings, as a flame graph. */
#include "cli/pictures/flame_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output/safe_text.h"
#include "cli/pictures/diff_model.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame_opts.h"
#include "cli/model/diff_limit.h"
#include "cli/model/flame_tree.h"
#include "cli/model/folded.h"
#include "cli/model/label.h"
#include "cli/output/human.h"
#include "cli/model/sides.h"
#include "cli/output/out.h"
#include "cli/pictures/palette.h"
#include "cli/pictures/svg.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define STEPS 7	    /* shades of red and of blue */
#define NEUTRAL 8   /* shades of grey, to tell frames apart */
#define GONE_MAX 12 /* rows for frames that are only in A */
#define ROW_MAX 320

/* The picture of a difference while it is made. */
struct diff_page {
	struct diff_model m;
	uint32_t *both; /* maps a node of the second tree to a node of m.all */
	double most;	/* the largest change that has a color */
	struct svg_look look;
	struct svg_row row[GONE_MAX + 1];
	char text[GONE_MAX + 1][ROW_MAX];
	char subtitle[ROW_MAX];
};

static bool flame_diff_by_total(void)
{
	if (flame_opts.diff_by)
		return !strcmp(flame_opts.diff_by, "total");
	/* in a reversed tree only totals mean anything */
	return flame_opts.reverse;
}

static double flame_diff_change(const struct diff_model *m, uint32_t id)
{
	double v = diff_model_excess(m, id, flame_diff_by_total());

	return v < 0 ? -v : v;
}

static const struct diff_place *flame_diff_place(const struct diff_model *m,
						 uint32_t id)
{
	return flame_diff_by_total() ? &m->total[id] : &m->self[id];
}

static void flame_diff_class(const struct diff_page *pg, uint32_t id,
			     char out[SVG_CLASS])
{
	int change = flame_diff_place(&pg->m, id)->change;
	double size = flame_diff_change(&pg->m, id);
	char name[3];
	int step;

	step = pg->most > 0 ? (int)(size / pg->most * STEPS) : 0;
	if (step >= STEPS)
		step = STEPS - 1;
	if (change) {
		out[0] = 'd';
		out[1] = change > 0 ? 'r' : 'b';
		out[2] = (char)('0' + step);
		out[3] = 0;
		return;
	}
	palette_class(
		labels_get(pg->m.labels, flame_tree_node(pg->m.all, id)->label),
		name);
	snprintf(out, SVG_CLASS, "dw%c", name[1] ? name[1] : '0');
}

static void flame_diff_put_class(const void *arg, uint32_t node,
				 char out[SVG_CLASS])
{
	const struct diff_page *pg = arg;

	flame_diff_class(pg, pg->both[node], out);
}

static void flame_diff_tell_shares(FILE *out, double a, double b)
{
	char share[16];

	safe_text_xml(out, human_percent(share, sizeof(share), a, 100), 0);
	fputs(" to ", out);
	safe_text_xml(out, human_percent(share, sizeof(share), b, 100), 0);
	fprintf(out, ", %+.2f points", b - a);
}

/* The means of the runs, each with the standard deviation. */
static void flame_diff_tell_runs(FILE *out, const struct diff_model *m,
				 const struct diff_place *p)
{
	double times = flame_opts.absolute ? 1 : 100;

	for (int i = 0; i < 2; i++) {
		double mean, deviation;

		diff_spread(p, &m->whole, i, &mean, &deviation);
		fprintf(out, "%s %.2f", i ? " and" : "; of the runs",
			times * mean);
		if (m->runs[i] > 1)
			fprintf(out, " \xc2\xb1 %.2f", times * deviation);
		if (!flame_opts.absolute)
			fputs(" %", out);
	}
}

static void flame_diff_tell_one(FILE *out, const struct diff_page *pg,
				uint32_t id, bool total)
{
	const struct diff_model *m = &pg->m;
	const struct diff_place *p = total ? &m->total[id] : &m->self[id];
	double a = diff_model_size(m, 0, id, total);
	double b = diff_model_size(m, 1, id, total);

	fprintf(out, "\n%s: A ", total ? "total" : "self");
	human_put_grouped(out, p->a);
	fputs(" samples, B ", out);
	human_put_grouped(out, p->b);
	fputs(" samples; ", out);
	if (flame_opts.absolute)
		fprintf(out, "%.0f to %.0f, %+.0f", a, b, b - a);
	else
		flame_diff_tell_shares(out, a, b);
	if (m->whole.run)
		flame_diff_tell_runs(out, m, p);
	if (total && !id && !flame_opts.absolute)
		return; /* the share of all is always 100 % */
	if (p->skip) {
		fputs(", not known: user stacks are missing", out);
		return;
	}
	if (!p->change) {
		fputs(", not significant", out);
		return;
	}
	fprintf(out, ", %s (p %.1e)", p->change > 0 ? "more" : "less", p->p);
	if (!flame_opts.absolute && a > 0)
		fprintf(out, ", %.2f times by what did not change",
			b / (b - diff_model_excess(m, id, total)));
}

static void flame_diff_tell(const void *arg, uint32_t node, FILE *out)
{
	const struct diff_page *pg = arg;
	uint32_t id = pg->both[node];

	flame_diff_tell_one(out, pg, id, false);
	flame_diff_tell_one(out, pg, id, true);
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

/* The larger the change, the stronger the colour. */
static void flame_diff_css(FILE *out)
{
	static const struct ramp red = { 0xffcdc3, 0xe23028 };
	static const struct ramp blue = { 0xc8daff, 0x2c5ce2 };
	static const struct ramp grey[2] = { { 0xeae8e2, 0xceccc6 },
					     { 0x6c6c70, 0x8e8e92 } };

	for (int dark = 0; dark < 2; dark++) {
		if (dark)
			fputs("@media (prefers-color-scheme:dark){\n", out);
		flame_diff_put_shades(out, "dw", NEUTRAL, &grey[dark], dark);
		flame_diff_put_shades(out, "dr", STEPS, &red, dark);
		flame_diff_put_shades(out, "db", STEPS, &blue, dark);
		if (dark)
			fputs("}\n", out);
	}
}

static const struct svg_row legend[] = {
	{ "dr4", "more in B" },
	{ "db4", "less in B" },
	{ "dw0", "no significant change" },
	{ NULL, NULL },
};

/* Maps nodes of the second tree to the common tree. Parents have smaller ids
 * than their children, so they are mapped first. */
static void flame_diff_map_nodes(struct diff_page *pg,
				 const struct flame_tree *t)
{
	pg->both = mem_new(flame_tree_count(t), sizeof(*pg->both));
	for (uint32_t id = 1; id < flame_tree_count(t); id++) {
		const struct flame_node *nd = flame_tree_node(t, id);

		pg->both[id] = flame_tree_child_of(
			pg->m.all, pg->both[nd->parent], nd->label);
	}
}

/* Returns whether a node is missing in B while its parent is there. */
static bool flame_diff_is_gone(const struct diff_model *m, uint32_t id)
{
	const struct flame_node *nd = flame_tree_node(m->all, id);

	return nd->parent != FLAME_NONE && m->node[1][id] == FLAME_NONE &&
	       m->node[1][nd->parent] != FLAME_NONE;
}

struct gone {
	bool significant;
	double size;
	uint32_t id;
};

static int flame_diff_compare_gone(const void *pa, const void *pb)
{
	const struct gone *a = pa;
	const struct gone *b = pb;

	return compare_numbers(b->significant, a->significant) ?:
	       compare_numbers(b->size, a->size) ?:
	       compare_numbers(a->id, b->id);
}

static void flame_diff_format_size(char *text, size_t size, double v)
{
	if (flame_opts.absolute)
		snprintf(text, size, "%.0f", v);
	else
		human_percent(text, size, v, 100);
}

static void flame_diff_gone_row(struct diff_page *pg, struct svg_row *row,
				char *text, const struct gone *g)
{
	const struct diff_model *m = &pg->m;
	const struct flame_node *nd = flame_tree_node(m->all, g->id);
	const struct labels *labels = flame_tree_labels(m->all);
	const char *below =
		labels_get(labels, flame_tree_node(m->all, nd->parent)->label)
			->name;
	char size[40];

	flame_diff_format_size(size, sizeof(size), g->size);
	snprintf(text, ROW_MAX,
		 "gone from A: %.80s %s, above %.80s; %" PRIu64 " sample%s%s",
		 labels_get(labels, nd->label)->name, size, below,
		 m->total[g->id].a, m->total[g->id].a == 1 ? "" : "s",
		 g->significant ? "" : ", not significant");
	*row = (struct svg_row){ g->significant ? "db4" : "dw0", text };
}

/* Lists frames that are only in A as rows below the picture: they have no width
 * in a picture of B. */
static void flame_diff_list_gone(struct diff_page *pg)
{
	const struct diff_model *m = &pg->m;
	uint32_t count = flame_tree_count(m->all);
	struct gone *g = mem_new(count, sizeof(*g));
	double rest = 0;
	size_t n = 0;

	for (uint32_t id = 0; id < count; id++) {
		if (flame_diff_is_gone(m, id))
			g[n++] = (struct gone){ m->total[id].change != 0,
						diff_model_size(m, 0, id, true),
						id };
	}
	qsort(g, n, sizeof(*g), flame_diff_compare_gone);
	for (size_t i = 0; i < n; i++) {
		if (i < GONE_MAX)
			flame_diff_gone_row(pg, &pg->row[i], pg->text[i],
					    &g[i]);
		else
			rest += g[i].size;
	}
	if (n > GONE_MAX) {
		char size[40];

		flame_diff_format_size(size, sizeof(size), rest);
		snprintf(pg->text[GONE_MAX], ROW_MAX,
			 "gone from A: %zu more, together %s", n - GONE_MAX,
			 size);
		pg->row[GONE_MAX] =
			(struct svg_row){ "dw0", pg->text[GONE_MAX] };
	}
	pg->look.rows = pg->row;
	pg->look.n_rows = n > GONE_MAX ? GONE_MAX + 1 : n;
	free(g);
}

static void flame_diff_find_most(struct diff_page *pg)
{
	for (uint32_t id = 0; id < flame_tree_count(pg->m.all); id++) {
		double v = flame_diff_change(&pg->m, id);

		if (flame_diff_place(&pg->m, id)->change && v > pg->most)
			pg->most = v;
	}
}

static void flame_diff_note_result(struct drawing *d,
				   const struct diff_model *m)
{
	size_t more = 0;
	size_t less = 0;
	char *note = drawing_note(d);

	for (uint32_t id = 0; id < flame_tree_count(m->all); id++) {
		more += flame_diff_place(m, id)->change > 0;
		less += flame_diff_place(m, id)->change < 0;
	}
	if (note)
		snprintf(note, DRAWING_NOTE_MAX,
			 "significant: %zu frame%s more in B, %zu less, by the "
			 "%s of %s%s; false-positive rate per "
			 "picture: at most 1 %%",
			 more, more == 1 ? "" : "s", less,
			 flame_opts.absolute ? "numbers" : "shares",
			 flame_diff_by_total() ? "total samples"
					       : "own samples",
			 m->whole.run ? " and how they differ between runs"
				      : "");
}

static void flame_diff_note_side(struct drawing *d, const struct diff_model *m,
				 int side)
{
	const struct drawing *of = m->side[side];
	char *note = drawing_note(d);
	/* the path given is the capture's own: do not name it twice */
	bool known = !of->capture[0] || m->runs[side] > 1 ||
		     strstr(of->capture, m->path[side]);
	char count[32];
	int len;

	if (!note)
		return;
	len = snprintf(note, DRAWING_NOTE_MAX, "%c: %.100s%s%s, %s samples",
		       side ? 'B' : 'A', m->path[side], known ? "" : ", ",
		       known ? "" : of->capture,
		       human_grouped(count, sizeof(count),
				     flame_tree_node(of->tree, 0)->samples));
	if (m->unjoined[side])
		len += snprintf(
			note + len, DRAWING_NOTE_MAX - (size_t)len,
			", %s without user half",
			human_grouped(count, sizeof(count), m->unjoined[side]));
	if (of->lost || of->lost_unknown)
		snprintf(note + len, DRAWING_NOTE_MAX - (size_t)len,
			 ", %s records lost%s",
			 human_grouped(count, sizeof(count), of->lost),
			 of->lost_unknown ? " and an unknown number more" : "");
}

/* Gives the drawing of B the colours, title and notes of the comparison. */
static void flame_diff_decorate(struct diff_page *pg, struct drawing *d)
{
	const struct diff_model *m = &pg->m;
	struct drawing *a = m->side[0];
	char count[2][32];

	flame_diff_map_nodes(pg, d->tree);
	flame_diff_find_most(pg);
	flame_diff_list_gone(pg);
	pg->look.arg = pg;
	pg->look.css_class = flame_diff_put_class;
	pg->look.tell = flame_diff_tell;
	pg->look.css = flame_diff_css;
	pg->look.legend = legend;
	d->o.look = &pg->look;
	if (!flame_opts.title) {
		const char *event = drawing_event(d);

		snprintf(d->title, sizeof(d->title), "What changed: %.150s",
			 event ? event : "folded stacks");
		d->o.title = d->title;
	}
	snprintf(pg->subtitle, sizeof(pg->subtitle),
		 "A: %.80s, %s samples; B (the widths): %.80s, %s samples",
		 m->path[0],
		 human_grouped(count[0], sizeof(count[0]),
			       flame_tree_node(a->tree, 0)->samples),
		 m->path[1],
		 human_grouped(count[1], sizeof(count[1]),
			       flame_tree_node(d->tree, 0)->samples));
	if (!flame_opts.subtitle)
		d->o.subtitle = pg->subtitle;
	drawing_drop_notes(d);
	flame_diff_note_side(d, m, 0);
	flame_diff_note_side(d, m, 1);
	flame_diff_note_result(d, m);
}

static int flame_diff_write(FILE *out, void *arg, struct err *err)
{
	const struct diff_page *pg = arg;
	const struct drawing *d = pg->m.side[1];

	return svg_write(out, d->tree, &d->o, NULL, err);
}

/* Says what grew by more than is allowed. Returns an enum status. */
static int flame_diff_check_limit(const struct diff_model *m, int status)
{
	struct diff_limit l = { NULL, 0, 0 };
	bool total = flame_diff_by_total();

	for (uint32_t id = 0; id < flame_tree_count(m->all); id++) {
		const struct flame_node *nd = flame_tree_node(m->all, id);

		if (flame_diff_place(m, id)->change > 0)
			diff_limit_add(&l,
				       labels_get(m->labels, nd->label)->name,
				       diff_model_growth(m, id, total),
				       flame_diff_place(m, id)->p);
	}
	return diff_limit_end(&l, status);
}

int flame_diff(const struct sides *s, const struct svg_opts *o, struct err *err)
{
	struct diff_page *pg = mem_new(1, sizeof(*pg));
	int status = STATUS_OK;
	int rc = 0;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; !rc && k < s->side[i].n; k++)
			rc = input_apart(s->side[i].path[k],
					 flame_opts.out_path, err);
	if (!rc)
		rc = diff_model_read(&pg->m, s, o, &status, err);
	if (!rc) {
		diff_model_judge(&pg->m);
		flame_diff_decorate(pg, pg->m.side[1]);
		rc = out_write(flame_opts.out_path, flame_diff_write, pg, err);
	}
	if (!rc)
		status = flame_diff_check_limit(&pg->m, status);
	diff_model_release(&pg->m);
	free(pg->both);
	free(pg);
	return rc ? -1 : status;
}
