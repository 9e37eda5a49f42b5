/* flame_draw.c - from samples, or folded text, to a tree that can be drawn. */
#include "cli/pictures/flame_draw.h"

#include <inttypes.h>
#include <stdarg.h>

#include "analyze/causes/wait_cause.h"
#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/output/say.h"
#include "formats/input.h"
#include "analyze/samples/filter.h"
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
#include "stitch/base/intern.h"
#include "stitch/text/human.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"

#define CAPTURES 6 /* the most that notes name */
#define INFERRED_NOTE "has a caller that was inferred from the code, in italics"

/* Returns a new note, DRAWING_NOTE_MAX bytes; NULL if there are too many. */
static char *drawing_note(struct drawing *d)
{
	if (d->n_note + 1 >= SVG_NOTES)
		return NULL;
	d->o.note[d->n_note] = d->note[d->n_note];
	return d->note[d->n_note++];
}

void drawing_say(struct drawing *d, const char *fmt, ...)
{
	char *note = drawing_note(d);
	va_list ap;

	if (!note)
		return;
	va_start(ap, fmt);
	vsnprintf(note, DRAWING_NOTE_MAX, fmt, ap);
	va_end(ap);
}

/* Adds a note about a part of the weight, unless it is 0. */
static void drawing_note_part(struct drawing *d, uint64_t part,
			      const char *what)
{
	double whole = (double)d->tree->node[0].weight;

	if (part)
		drawing_say(d, "%s of the weight %s",
			    HUMAN_PERCENT(part, whole), what);
}

/* Counts a missing user half under word, its verdict; NULL: it is not missing.
 * word is borrowed for the drawing's life. */
static void drawing_missing(struct drawing *d, const char *word,
			    uint64_t weight)
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

/* Returns whether a comes before b in the title: idle CPUs come last. */
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

COMPARE_FUNCTION(drawing_compare_missing, struct drawing_missed,
		 compare_numbers(y->weight, x->weight)
			 ?: strcmp(x->word, y->word));

/* Adds a note about missing user halves, if there are any. */
static void drawing_note_missing(struct drawing *d)
{
	double whole = (double)d->tree->node[0].weight;
	double sum = 0;
	struct text_out o = { .size = DRAWING_NOTE_MAX };

	for (size_t i = 0; i < d->n_missing; i++)
		sum += (double)d->missing[i].weight;
	if (!(sum > 0) || !(o.buf = drawing_note(d)))
		return;
	sort_items(d->missing, d->n_missing, drawing_compare_missing);
	text_out_add(&o, "%s of the weight has no user half:",
		     HUMAN_PERCENT(sum, whole));
	for (size_t i = 0; i < d->n_missing; i++)
		text_out_add(&o, "%s %s %s", i ? "," : "",
			     HUMAN_PERCENT(d->missing[i].weight, whole),
			     d->missing[i].word);
	text_out_add(&o, " ('backstitch help verdicts')");
}

/* Adds a note about the event, and makes the title unless there is one. */
static void drawing_note_event(struct drawing *d)
{
	uint64_t samples = d->tree->node[0].samples;
	const char *event = d->event < 0 ? "several events"
					 : d->stacks->event[d->event].name;
	const char *what = d->o.sample_name ? d->o.sample_name : "sample";
	char count[32];

	human_grouped(count, sizeof(count), samples);
	if (!d->opts->title) {
		char names[80] = "nothing";

		/* Write "NAME and 3 others": the name with most weight, not
		 * that of idle CPUs. */
		const struct drawing_name *best = NULL;
		struct text_out o = { .buf = names, .size = sizeof(names) };
		size_t others = 0;

		for (size_t i = 0; i < d->n_name; i++) {
			const struct drawing_name *w = &d->name[i];

			if (!w->weight)
				continue;
			others += best != NULL;
			if (!best || drawing_is_before(d, w, best))
				best = w;
		}
		if (best) {
			text_out_add(&o, "%.40s",
				     labels_get(d->labels,
						(uint32_t)(best - d->name))
					     ->name);
			if (others && o.len)
				text_out_add(&o, " and %zu other%s", others,
					     others == 1 ? "" : "s");
		}
		snprintf(d->title, sizeof(d->title), "%s: %s %s%s of %.90s",
			 names, count, what, samples == 1 ? "" : "s", event);
		d->o.title = d->title;
	}
	drawing_say(d, "%s %s%s of %.160s%s%s%s", count, what,
		    samples == 1 ? "" : "s", event,
		    filter_narrows(d->opts->filter) ? ", filtered" : "",
		    d->opts->collapse ? "; recursion is collapsed" : "",
		    d->opts->reverse
			    ? "; stacks are merged from the innermost frame"
			    : "");
}

/* Adds a note about --weight. */
static void drawing_note_unweighed(struct drawing *d)
{
	uint64_t n = stacks_unweighed(d->stacks, d->event);
	struct text_out o = { .size = DRAWING_NOTE_MAX };

	o.buf = d->opts->weight ? drawing_note(d) : NULL;
	if (!o.buf)
		return;
	text_out_add(&o, "weighed by %.200s", d->opts->weight);
	if (n)
		text_out_add(&o,
			     "; %llu sample%s without, or with less than 0, %s "
			     "left out",
			     (unsigned long long)n, n == 1 ? "" : "s",
			     n == 1 ? "is" : "are");
}

/* Adds notes about waits that are not drawn, if there are any. */
static void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s)
{
	if (s->waits[OFFCPU_OPEN])
		drawing_say(
			d,
			"not drawn: %s that did not end before the capture, "
			"%s of it until then",
			HUMAN_GROUPED(s->waits[OFFCPU_OPEN]),
			HUMAN_NS(s->ns[OFFCPU_OPEN]));
	if (s->waits[OFFCPU_UNCERTAIN])
		drawing_say(d, "not drawn: %s uncertain, %s: %s",
			    HUMAN_GROUPED(s->waits[OFFCPU_UNCERTAIN]),
			    HUMAN_NS(s->ns[OFFCPU_UNCERTAIN]),
			    offcpu_reason(s));
}

/* Appends a frame that is not code. */
static void drawing_group(struct drawing *d, const char *name,
			  struct label_list *l)
{
	label_list_add(l, labels_add_name(d->labels, LABEL_GROUP, name));
}

/* Appends the frames for a thread's name, pid and tid, as the options say. */
static void drawing_thread(struct drawing *d, const struct stacks_comm *c,
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

/* Does what drawing_add_group() does, without counting for notes. */
static int drawing_add(struct drawing *d, struct label_list *l, uint64_t weight,
		       uint64_t samples, struct err *err)
{
	if (d->opts->collapse) {
		/* Keep one of several frames of a function in a row. Frames
		 * without a name may be different functions of one file. */
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

/* Adds the stack of a group, outermost frame first; may reverse l. Returns 1, 0
 * if --include or --exclude leaves it out, or -1 and *err. */
static int drawing_add_group(struct drawing *d, const struct stacks_group *g,
			     struct label_list *l, struct err *err)
{
	int rc = drawing_add(d, l, g->weight, g->samples, err);

	if (rc <= 0)
		return rc;
	if (d->trust)
		trust_add(d->trust, g);
	drawing_missing(d, stacks_missing(g->verdict, g->uraw), g->weight);
	/* Count the frames of the stack just added that were inferred. */
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
			d->tree->node[at].inferred += g->weight;
	}
	return rc;
}

/* Adds all groups of the event. Returns 0, or -1 and *err. */
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
		/* the thread's name may be in the title */
		uint32_t id = labels_add_name(d->labels, LABEL_GROUP, c->name);
		struct drawing_name *w =
			mem_at(d->name, d->n_name, d->cap_name, id);

		w->idle = !c->pid;
		w->weight += g->weight;
		if (stack_names_bogus(d->stacks->names, g->uraw))
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

/* Opens a database, or makes one of a capture, and adds notes about its
 * captures. Returns a store to be closed, or NULL and *err. */
static struct store *drawing_open(struct drawing *d, const char *path,
				  int *status, struct err *err)
{
	struct store *db = database_open(d->opts->open, path, status, err);

	if (!db)
		return NULL;
	/* the first note is for drawing_finish() */
	drawing_note(d);
	/* note capture and host, so that the picture still says where its
	 * samples are from when it is passed on; of many the first ones, as
	 * other notes follow */
	struct rows *r = rows_of(db, "report_captures", err);
	bool all = true;
	size_t n = 0;

	while (rows_step(r)) {
		const char *host = rows_text(r, REPORT_CAPTURES_HOST);
		bool whole = rows_value(r, REPORT_CAPTURES_COMPLETE).kind ==
				     VALUE_NULL ||
			     rows_int(r, REPORT_CAPTURES_COMPLETE);

		all &= whole;
		if (n++ < CAPTURES)
			drawing_say(d, "capture %.120s%s%.60s%s",
				    rows_text(r, REPORT_CAPTURES_PATH),
				    *host ? " of " : "", host,
				    whole ? "" : ", not complete");
	}
	if (n > CAPTURES)
		drawing_say(d, "and %s%s",
			    HUMAN_NOUN(n - CAPTURES, "other capture"),
			    all ? "" : "; not all are complete");
	if (rows_end(r, err)) {
		store_close(db);
		return NULL;
	}
	return db;
}

/* Loads facts about frames, and the trust in user stacks. d->stacks must be
 * loaded. Returns 0, or -1 and *err. */
static int drawing_facts(struct drawing *d, struct store *db, struct err *err)
{
	d->trust = trust_new(db, d->stacks->code, err);
	d->facts = d->trust ? label_facts_load(db, d->stacks, err) : NULL;
	d->o.facts = d->facts;
	return d->facts ? 0 : -1;
}

int drawing_finish(struct drawing *d, const char *path, struct err *err)
{
	flame_tree_finish(d->tree);
	uint64_t whole = d->tree->node[0].weight;
	uint64_t dropped = pick_dropped(d->pick);

	if (whole && d->trust)
		trust_say(d->trust, d->note[0]);
	if (whole && dropped)
		drawing_say(d,
			    "%s of the weight is left out by --include and "
			    "--exclude",
			    HUMAN_PERCENT(dropped,
					  (double)whole + (double)dropped));
	if (whole)
		return 0;
	if (dropped)
		return err_set(err, ERR_FORMAT,
			       "%s: --include and --exclude leave no stack",
			       path);
	return err_set(err, ERR_FORMAT, "%s: %s", path,
		       d->opts->from_folded ? "no folded stacks"
		       : d->tree->node[0].samples
			       ? "all samples have weight 0; use --by samples"
			       : "no stacks");
}

/* Draws a database or a capture, with notes. Returns 0, or -1 and *err. */
static int drawing_read_db(struct drawing *d, const char *path, int *status,
			   struct err *err)
{
	/* calls are stacked on each other, not on stacks of their starts */
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

	bool loaded = false;

	if (db)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks)
		loaded = !drawing_facts(d, db, err);
	if (loaded && d->opts->wall)
		trust_of_waits(d->trust);
	if (loaded && d->opts->wall)
		loaded = (d->event = wall_load(db, path, d->opts->filter,
					       d->stacks, 0, &waits, err)) >= 0;
	else if (loaded && pairs)
		loaded = (d->event = wall_load_intervals(
				  db, path, d->opts->filter, pairs, d->stacks,
				  &intervals, NULL, NULL, err)) >= 0;
	else if (loaded)
		loaded = !traced_add_to(db, path, d->opts->filter, d->stacks,
					err);
	store_close(db);
	if (!loaded)
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
	if (d->opts->wall) {
		drawing_say(d,
			    "%s of them, %s: time off the CPU, with a frame "
			    "[off-CPU: STATE] on the stack",
			    HUMAN_NOUN(waits.waits[OFFCPU_BACK], "wait"),
			    HUMAN_NS(waits.ns[OFFCPU_BACK]));
		drawing_note_waits(d, &waits);
	}
	if (pairs && *intervals.premise)
		drawing_say(d, "their times are proved %s", intervals.premise);
	if (pairs && intervals.unknown)
		drawing_say(d,
			    "not drawn: %s whose time is not known "
			    "('backstitch latency' counts them by reason)",
			    HUMAN_GROUPED(intervals.unknown));
	drawing_note_unweighed(d);
	drawing_note_missing(d);
	drawing_note_part(d, d->bogus,
			  "has fabricated frames: no call returns to their "
			  "addresses ('backstitch check' says whose code made "
			  "them)");
	drawing_note_part(d, d->inferred, INFERRED_NOTE);
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

#define NOT_WOKEN "[waker: unknown]"
#define NO_STACK "[no stack]"

/* The waits with the same stack, state and waker. */
struct group {
	struct offcpu_stack at;
	int64_t state;	    /* -1 unless --by-state or --wakeups needs it */
	struct waker waker; /* zero unless --wakeups needs it */
	uint64_t ns, waits;
};

struct groups {
	const struct flame_opts *opts;
	struct group *group;
	size_t n, cap;
	struct intern index; /* of group[] */
};

/* Adds a wait that ended to the group with its stack, state and waker. */
static void flame_offcpu_take_wait(struct groups *all,
				   const struct offcpu_wait *w)
{
	struct group key = { .at = w->at, .state = w->state };

	if (w->end != OFFCPU_BACK)
		return;
	if (all->opts->wakeups && offcpu_state(w->state)[0] != 'R')
		key.waker = w->waker;
	/* without these options the state is not shown */
	if (!all->opts->by_state && !all->opts->wakeups)
		key.state = -1;

	const struct offcpu_stack *s[2] = { &key.at, &key.waker.at };
	uint64_t word[9 + WAKER_IRQ / 8] = {
		(uint64_t)key.state,
		(uint64_t)key.at.type << 32 | key.waker.at.type,
		(uint64_t)key.waker.asleep << 16 |
			(uint64_t)key.waker.proof << 8 | key.waker.what
	};

	for (int i = 0; i < 2; i++) {
		word[3 + 3 * i] = (uint64_t)s[i]->comm << 16 |
				  (uint64_t)s[i]->verdict << 8 | s[i]->flags;
		word[4 + 3 * i] = s[i]->kraw;
		word[5 + 3 * i] = s[i]->uraw;
	}
	memcpy(&word[9], key.waker.irq, WAKER_IRQ);
	uint32_t id = intern_add_bytes(&all->index, word, sizeof(word));

	if (id == all->n)
		*mem_add(all->group, all->n, all->cap) = key;
	/* cannot overflow: waits_next() checks the sum of all waits */
	all->group[id].ns += (uint64_t)w->to - (uint64_t)w->from;
	all->group[id].waits++;
}

/* Returns whether no sample was taken at this switch. */
static bool flame_offcpu_has_no_stack(const struct group *g)
{
	struct stacks_group at = offcpu_group(&g->at);

	return !at.kraw && !at.uraw && !stacks_missing(at.verdict, at.uraw);
}

/* Adds the stacks of all groups to the tree. Returns 0, or -1 and *err. */
static int flame_offcpu_draw_groups(struct drawing *d, struct groups *all,
				    const struct offcpu_sums *sums,
				    struct err *err)
{
	struct label_list l = { .want_from = true };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < all->n; i++) {
		const struct group *g = &all->group[i];
		struct stacks_group at = offcpu_group(&g->at);

		at.weight = g->ns;
		at.samples = g->waits;
		l.n = 0;
		if (d->opts->by_state) {
			char text[16];

			snprintf(text, sizeof(text), "[%s]",
				 offcpu_state(g->state));
			drawing_group(d, text, &l);
		}
		drawing_thread(d, stacks_comm(d->stacks, g->at.comm), &l);
		stacks_get(d->stacks, &at, &l);
		if (flame_offcpu_has_no_stack(g))
			label_list_add(&l,
				       labels_add_name(d->labels, LABEL_MISSING,
						       NO_STACK));
		/* a missing waker gets a frame where wake-ups are recorded */
		if (waker_is_known(&g->waker)) {
			/* Add the waker's stack in reverse, so that the
			 * function that woke the thread is next to the function
			 * that waited. */
			struct stacks_group waker = offcpu_group(&g->waker.at);
			char who[128];
			char text[160];

			snprintf(who, sizeof(who), "%.100s%s",
				 waker_name(d->stacks, &g->waker),
				 g->waker.proof == PROOF_PROVED ? ""
								: ", likely");
			snprintf(text, sizeof(text), "[woken by %s]", who);
			drawing_group(d, text, &l);
			size_t from = l.n;
			stacks_get(d->stacks, &waker, &l);
			label_list_reverse(&l, from);
		} else if (g->waker.asleep && sums->wakes)
			label_list_add(&l,
				       labels_add_name(d->labels, LABEL_MISSING,
						       NOT_WOKEN));
		rc = drawing_add_group(d, &at, &l, err);
	}
	free_all(l.label, l.from);
	return rc < 0 ? -1 : 0;
}

int flame_offcpu(struct drawing *d, const char *path, int *status,
		 struct err *err)
{
	struct stacks_opts so = {
		.filter = d->opts->filter,
		.names = d->opts->names,
		.inlined = d->opts->inlined,
		.bogus = true,
		.gaps = true,
		.labels = d->labels,
		.no_groups = true,
	};
	struct store *db = drawing_open(d, path, status, err);
	struct groups g = { .opts = d->opts };
	struct offcpu_sums sums;
	int rc = -1;

	bool loaded = false;

	if (db)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks) {
		struct wait_causes *causes =
			d->opts->wakeups ? wait_causes_new(d->stacks) : NULL;
		const struct waits_ask ask = { .filter = d->opts->filter,
					       .stacks = d->stacks,
					       .causes = causes };
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;
		int next;

		while ((next = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				flame_offcpu_take_wait(&g, &item.wait);
		waits_close(w, &sums);
		loaded = !next;
		wait_causes_free(causes);
		loaded = loaded && !drawing_facts(d, db, err);
		if (loaded)
			trust_of_waits(d->trust);
	}
	store_close(db);
	if (loaded && !flame_offcpu_draw_groups(d, &g, &sums, err))
		rc = drawing_finish(d, path, err);
	if (!rc) {
		drawing_say(d,
			    "%" PRIu64
			    " wait%s: time from a switch out of a CPU "
			    "to the next switch in%s%s",
			    sums.waits[OFFCPU_BACK],
			    sums.waits[OFFCPU_BACK] == 1 ? "" : "s",
			    sums.records ? ", by the records of switches" : "",
			    d->opts->wakeups && !sums.wakes
				    ? "; no wake-ups were recorded with "
				      "sched_switch"
				    : "");
		/* Note waits without a stack, as when tracepoints are sampled
		 * by frequency. */
		double bare = 0;
		double whole = 0;

		for (size_t i = 0; i < g.n; i++) {
			whole += (double)g.group[i].ns;
			bare += flame_offcpu_has_no_stack(&g.group[i])
					? (double)g.group[i].ns
					: 0;
		}
		if (bare > 0)
			drawing_say(
				d,
				"%s of the time has no stack: no sample was "
				"taken at the switch; perf record -g -e "
				"sched:sched_switch -c 1 takes one each time",
				HUMAN_PERCENT(bare, whole));
	}
	intern_release(&g.index);
	free(g.group);
	if (rc)
		return -1;
	d->o.count_name = "ns";
	d->o.show_samples = true;
	d->o.sample_name = "wait";
	if (!d->opts->title)
		d->o.title = d->opts->wakeups ? "Off-CPU time and wakers"
					      : "Off-CPU time";
	drawing_note_waits(d, &sums);
	drawing_note_missing(d);
	drawing_note_part(d, d->inferred, INFERRED_NOTE);
	return 0;
}
