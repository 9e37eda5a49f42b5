/* flame_draw.c - from samples, or folded text, to a tree that can be drawn. */
#include "cli/pictures/flame_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output/say.h"
#include "formats/input.h"
#include "cli/model/filter.h"
#include "cli/pictures/flame_opts.h"
#include "cli/model/flame_tree.h"
#include "cli/model/folded.h"
#include "cli/model/label.h"
#include "cli/model/label_facts.h"
#include "cli/model/offcpu.h"
#include "cli/model/waits.h"
#include "cli/model/pick.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "cli/model/trust.h"
#include "cli/model/wall.h"
#include "cli/model/weight.h"
#include "cli/output/human.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

char *drawing_note(struct drawing *d)
{
	if (d->n_note + 1 >= SVG_NOTES)
		return NULL;
	d->o.note[d->n_note] = d->note[d->n_note];
	return d->note[d->n_note++];
}

void drawing_group(struct drawing *d, const char *name, struct label_list *l)
{
	label_list_add(l, labels_add_name(d->labels, LABEL_GROUP, name));
}

void drawing_thread(struct drawing *d, const struct stacks_comm *c,
		    struct label_list *l)
{
	char text[48];

	if (!flame_opts.no_comm)
		drawing_group(d, c->name, l);
	if (flame_opts.by_pid) {
		snprintf(text, sizeof(text), "pid %lld", (long long)c->pid);
		drawing_group(d, text, l);
	}
	if (flame_opts.by_thread) {
		snprintf(text, sizeof(text), "tid %lld", (long long)c->tid);
		drawing_group(d, text, l);
	}
}

/* Leaves one of several frames of the same function in a row. Frames without
 * a name may be different functions of one file. */
static void drawing_collapse(const struct drawing *d, struct label_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		enum label_kind kind = labels_get(d->labels, l->label[i])->kind;

		if (!n || l->label[i] != l->label[n - 1] ||
		    kind == LABEL_GROUP || kind == LABEL_UNNAMED)
			label_list_move(l, n++, i);
	}
	l->n = n;
}

int drawing_add(struct drawing *d, struct label_list *l, uint64_t weight,
		uint64_t samples, struct err *err)
{
	if (flame_opts.collapse)
		drawing_collapse(d, l);
	if (!pick_stack(d->pick, l->label, l->n, weight))
		return 0;
	if (d->rows)
		report_rows_add(d->rows, d->group, l, weight, samples);
	if (flame_opts.reverse)
		label_list_reverse(l, 0);
	if (d->also && flame_tree_add(d->also, l->label, l->n, 0, 0, err))
		return -1;
	return flame_tree_add(d->tree, l->label, l->n, weight, samples, err)
		       ? -1
		       : 1;
}

void drawing_missing(struct drawing *d, const char *word, uint64_t weight)
{
	size_t at = 0;

	if (!word)
		return;
	while (at < d->n_missing && strcmp(d->missing[at].word, word))
		at++;
	if (at == DRAWING_WORDS)
		return;
	if (at == d->n_missing)
		d->missing[d->n_missing++].word = word;
	d->missing[at].weight += weight;
}

/* Counts the weight of a thread's name, which the title may say. */
static void drawing_count_name(struct drawing *d, const struct stacks_comm *c,
			       uint64_t weight)
{
	uint32_t id = labels_add_name(d->labels, LABEL_GROUP, c->name);
	struct drawing_name *w;

	d->name = mem_reach(d->name, &d->n_name, &d->cap_name, (size_t)id + 1,
			    sizeof(*d->name));
	w = &d->name[id];
	w->idle = !c->pid;
	w->weight += weight;
}

static bool drawing_is_before(const struct drawing *d,
			      const struct drawing_name *a,
			      const struct drawing_name *b)
{
	if (a->idle != b->idle)
		return b->idle;
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return label_compare(labels_get(d->labels, (uint32_t)(a - d->name)),
			     labels_get(d->labels, (uint32_t)(b - d->name))) <
	       0;
}

/* Writes "NAME and 3 others": the name with most weight, not that of idle
 * CPUs. */
static void drawing_say_names(const struct drawing *d, char *out, size_t size)
{
	const struct drawing_name *best = NULL;
	struct text_out o = { .buf = out, .size = size };
	size_t others = 0;

	for (size_t i = 0; i < d->n_name; i++) {
		const struct drawing_name *w = &d->name[i];

		if (!w->weight)
			continue;
		others += best != NULL;
		if (!best || drawing_is_before(d, w, best))
			best = w;
	}
	if (!best)
		return;
	text_out_add(&o, "%.40s",
		     labels_get(d->labels, (uint32_t)(best - d->name))->name);
	if (others && o.len)
		text_out_add(&o, " and %zu other%s", others,
			     others == 1 ? "" : "s");
}

void drawing_infer(struct drawing *d, const struct stacks_group *g,
		   const struct label_list *l, uint64_t weight)
{
	const struct stack_names *names = stacks_names(d->stacks);
	uint32_t at = 0;
	size_t n = 0;

	if (stacks_inferred(d->stacks, g))
		d->inferred += weight;
	for (size_t i = 0; i < l->n; i++)
		if (stack_names_inferred(names, &l->from[i]))
			n = i + 1;
	for (size_t i = 0; i < n; i++) {
		at = flame_tree_child_of(d->tree, at, l->label[i]);
		if (stack_names_inferred(names, &l->from[i]))
			flame_tree_infer(d->tree, at, weight);
	}
}

static int drawing_add_groups(struct drawing *d, struct err *err)
{
	struct label_list l = { .want_from = true };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < stacks_count(d->stacks); i++) {
		const struct stacks_group *g = stacks_group(d->stacks, i);

		d->group = (uint32_t)i;
		if (d->event >= 0 && g->event != (uint32_t)d->event)
			continue;

		const struct stacks_comm *c = stacks_comm(d->stacks, g->comm);

		l.n = 0;
		if (flame_opts.by_verdict) {
			char text[64];

			snprintf(text, sizeof(text), "[%s]", stacks_verdict(g));
			drawing_group(d, text, &l);
		}
		drawing_thread(d, c, &l);
		stacks_get(d->stacks, g, &l);
		rc = drawing_add(d, &l, g->weight, g->samples, err);
		if (rc <= 0)
			continue;
		drawing_trust(d, g);
		drawing_count_name(d, c, g->weight);
		drawing_missing(d, stacks_missing(g), g->weight);
		if (stacks_bogus(d->stacks, g))
			d->bogus += g->weight;
		drawing_infer(d, g, &l, g->weight);
	}
	free(l.label);
	free(l.from);
	return rc < 0 ? -1 : 0;
}

static int drawing_compare_missing(const void *pa, const void *pb)
{
	const struct drawing_missed *a = pa;
	const struct drawing_missed *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->word, b->word);
}

void drawing_note_missing(struct drawing *d)
{
	double whole = (double)flame_tree_node(d->tree, 0)->weight;
	double sum = 0;
	struct text_out o = { .size = DRAWING_NOTE_MAX };
	char share[16];

	for (size_t i = 0; i < d->n_missing; i++)
		sum += (double)d->missing[i].weight;
	if (!(sum > 0) || !(o.buf = drawing_note(d)))
		return;
	qsort(d->missing, d->n_missing, sizeof(*d->missing),
	      drawing_compare_missing);
	text_out_add(&o, "%s of the weight has no user half:",
		     human_percent(share, sizeof(share), sum, whole));
	for (size_t i = 0; i < d->n_missing; i++)
		text_out_add(&o, "%s %s %s", i ? "," : "",
			     human_percent(share, sizeof(share),
					   (double)d->missing[i].weight, whole),
			     d->missing[i].word);
	text_out_add(&o, " ('backstitch help verdicts')");
}

/* Adds a note about a part of the weight, unless it is 0. */
static void drawing_note_part(struct drawing *d, uint64_t part,
			      const char *what)
{
	double whole = (double)flame_tree_node(d->tree, 0)->weight;
	char *note = part ? drawing_note(d) : NULL;
	char share[16];

	if (note)
		snprintf(note, DRAWING_NOTE_MAX, "%s of the weight %s",
			 human_percent(share, sizeof(share), (double)part,
				       whole),
			 what);
}

void drawing_note_inferred(struct drawing *d)
{
	drawing_note_part(d, d->inferred,
			  "has a caller that was inferred from the code, in "
			  "italics");
}

static void drawing_note_event(struct drawing *d)
{
	uint64_t samples = flame_tree_node(d->tree, 0)->samples;
	const char *event =
		d->event < 0 ? "several events"
			     : stacks_event(d->stacks, (size_t)d->event)->name;
	char *note = drawing_note(d);
	char count[32];

	human_grouped(count, sizeof(count), samples);
	if (!flame_opts.title) {
		char names[80] = "nothing";

		drawing_say_names(d, names, sizeof(names));
		snprintf(d->title, sizeof(d->title), "%s: %s sample%s of %.90s",
			 names, count, samples == 1 ? "" : "s", event);
		d->o.title = d->title;
	}
	if (!note)
		return;
	snprintf(note, DRAWING_NOTE_MAX, "%s sample%s of %.160s%s%s%s", count,
		 samples == 1 ? "" : "s", event,
		 *filter_that_passed() ? ", filtered" : "",
		 flame_opts.collapse ? "; recursion is collapsed" : "",
		 flame_opts.reverse
			 ? "; stacks are merged from the innermost frame"
			 : "");
}

/* Adds a note about the weight that --include and --exclude leave out. */
static void drawing_note_dropped(struct drawing *d)
{
	uint64_t dropped = pick_dropped(d->pick);
	uint64_t whole = flame_tree_node(d->tree, 0)->weight;
	char *note = dropped ? drawing_note(d) : NULL;
	char share[16];

	if (note)
		snprintf(note, DRAWING_NOTE_MAX,
			 "%s of the weight is left out by --include and "
			 "--exclude",
			 human_percent(share, sizeof(share), (double)dropped,
				       (double)whole + (double)dropped));
}

int drawing_init(struct drawing *d, struct labels *labels, struct err *err)
{
	d->event = -1;
	d->labels = labels;
	d->tree = flame_tree_new(labels,
				 labels_add_name(labels, LABEL_GROUP, "all"));
	d->pick =
		pick_new(labels, &flame_opts.include, &flame_opts.exclude, err);
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
	struct store *db = database_open(path, status, err);
	struct rows *r;

	if (!db)
		return NULL;
	/* the first note is for drawing_finish() */
	drawing_note(d);
	/* notes capture and host, so that the picture still says where its
	 * samples are from when it is passed on */
	r = rows_of(db, "report_captures", err);
	while (rows_step(r)) {
		const char *host = rows_text(r, REPORT_CAPTURES_HOST);
		bool whole = rows_value(r, REPORT_CAPTURES_COMPLETE).kind ==
				     VALUE_NULL ||
			     rows_int(r, REPORT_CAPTURES_COMPLETE);
		char *note = drawing_note(d);

		if (note)
			snprintf(note, DRAWING_NOTE_MAX,
				 "capture %.120s%s%.60s%s",
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
	d->trust = trust_new(db, stacks_code(d->stacks), err);
	d->facts = d->trust ? label_facts_load(db, d->stacks, err) : NULL;
	d->o.facts = d->facts;
	return d->facts ? 0 : -1;
}

void drawing_trust(struct drawing *d, const struct stacks_group *g)
{
	if (d->trust)
		trust_add(d->trust, g);
}

int drawing_finish(struct drawing *d, const char *path, struct err *err)
{
	flame_tree_finish(d->tree);
	if (flame_tree_node(d->tree, 0)->weight) {
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
		       flame_opts.from_folded ? "no folded stacks"
		       : flame_tree_node(d->tree, 0)->samples
			       ? "all samples have weight 0; use --by samples"
			       : "no stacks");
}

static void drawing_note_unweighed(struct drawing *d)
{
	uint64_t n = stacks_unweighed(d->stacks, d->event);
	struct text_out o = { .size = DRAWING_NOTE_MAX };

	o.buf = flame_opts.weight ? drawing_note(d) : NULL;
	if (!o.buf)
		return;
	text_out_add(&o, "weighed by %.200s", flame_opts.weight);
	if (n)
		text_out_add(&o,
			     "; %llu sample%s without, or with less than 0, %s "
			     "left out",
			     (unsigned long long)n, n == 1 ? "" : "s",
			     n == 1 ? "is" : "are");
}

void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s)
{
	char *note;
	char ns[32], n[32];

	if (s->waits[OFFCPU_OPEN] && (note = drawing_note(d)))
		snprintf(note, DRAWING_NOTE_MAX,
			 "not drawn: %s that did not end before the capture, "
			 "%s of it until then",
			 human_grouped(n, sizeof(n), s->waits[OFFCPU_OPEN]),
			 human_ns(ns, sizeof(ns), (int64_t)s->ns[OFFCPU_OPEN]));
	if (s->waits[OFFCPU_UNCERTAIN] && (note = drawing_note(d)))
		snprintf(
			note, DRAWING_NOTE_MAX,
			"not drawn: %s uncertain, %s: %s",
			human_grouped(n, sizeof(n), s->waits[OFFCPU_UNCERTAIN]),
			human_ns(ns, sizeof(ns),
				 (int64_t)s->ns[OFFCPU_UNCERTAIN]),
			offcpu_reason(s));
}

/* Notes what is drawn beside the samples. */
static void drawing_note_wall(struct drawing *d, const struct offcpu_sums *s)
{
	char *note = drawing_note(d);
	char ns[32], n[32];

	if (note)
		snprintf(note, DRAWING_NOTE_MAX,
			 "%s wait%s of them, %s: time off the CPU, with a "
			 "frame [off-CPU: STATE] on the stack",
			 human_grouped(n, sizeof(n), s->waits[OFFCPU_BACK]),
			 s->waits[OFFCPU_BACK] == 1 ? "" : "s",
			 human_ns(ns, sizeof(ns), (int64_t)s->ns[OFFCPU_BACK]));
	drawing_note_waits(d, s);
}

static int drawing_read_db(struct drawing *d, const char *path, int *status,
			   struct err *err)
{
	struct stacks_opts so = {
		.inlined = flame_opts.inlined,
		.bogus = true,
		.gaps = true,
		.samples = by_samples(),
		.labels = d->labels,
		.weight = flame_opts.weight,
		.summed = !flame_opts.by_pid && !flame_opts.by_thread &&
			  !flame_opts.by_verdict && !offcpu_opts.wall,
	};
	struct store *db = drawing_open(d, path, status, err);
	struct offcpu_sums waits;

	bool told = false;

	if (db)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks)
		told = !drawing_facts(d, db, err);
	if (told && offcpu_opts.wall)
		told = (d->event = wall_load(db, path, d->stacks, &waits,
					     err)) >= 0;
	store_close(db);
	if (!told)
		return -1;
	if (!offcpu_opts.wall)
		d->event = stacks_choose(d->stacks, "drawing");
	if (stacks_heaviest(d->stacks) < 0 && stacks_unweighed(d->stacks, -1))
		return err_set(err, ERR_FORMAT,
			       "%s: no sample has a weight by '%s'", path,
			       flame_opts.weight);
	if (stacks_heaviest(d->stacks) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_that_passed());
	if (drawing_add_groups(d, err) || drawing_finish(d, path, err))
		return -1;
	d->o.count_name = stacks_unit(d->stacks, d->event, by_samples());
	d->o.show_samples = !by_samples();
	drawing_note_event(d);
	if (offcpu_opts.wall)
		drawing_note_wall(d, &waits);
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

int drawing_take(struct drawing *d, struct stacks *s, int event,
		 struct err *err)
{
	d->stacks = s;
	d->event = event;

	int rc = drawing_add_groups(d, err);

	d->stacks = NULL;
	return rc;
}

int drawing_take_text(struct drawing *d, const char *path, int *status,
		      struct err *err)
{
	FILE *in = input_stream(path, err);
	uint64_t bad = 0;
	int rc;

	if (!in)
		return -1;
	rc = folded_read(in, d->labels, drawing_add_line, d, &bad, err);
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
	if (flame_opts.from_folded) {
		if (drawing_take_text(d, path, status, err) ||
		    drawing_finish(d, path, err))
			return -1;
		d->o.count_name = "samples";
		return 0;
	}
	return drawing_read_db(d, path, status, err);
}
