/* flame_notes.c - the title of a flame graph, and the lines below it. */
#include "cli/pictures/flame_notes.h"

#include <stdarg.h>

#include "analyze/samples/filter.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/pick.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/wall.h"
#include "stitch/text/human.h"
#include "cli/pictures/drawing.h"
#include "cli/pictures/flame.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"

char *drawing_note(struct drawing *d)
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

void drawing_note_part(struct drawing *d, uint64_t part, const char *what)
{
	double whole = (double)d->tree->node[0].weight;

	if (part)
		drawing_say(d, "%s of the weight %s",
			    HUMAN_PERCENT(part, whole), what);
}

/* ---- what is counted while stacks are added */

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

void drawing_count_name(struct drawing *d, const struct stacks_comm *c,
			uint64_t weight)
{
	uint32_t id = labels_add_name(d->labels, LABEL_GROUP, c->name);

	struct drawing_name *w = mem_at(d->name, d->n_name, d->cap_name, id);
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

/* ---- once all are there */

COMPARE_FUNCTION(drawing_compare_missing, struct drawing_missed,
		 compare_numbers(y->weight, x->weight)
			 ?: strcmp(x->word, y->word));

void drawing_note_missing(struct drawing *d)
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

void drawing_note_inferred(struct drawing *d)
{
	drawing_note_part(d, d->inferred,
			  "has a caller that was inferred from the code, in "
			  "italics");
}

void drawing_note_event(struct drawing *d)
{
	uint64_t samples = d->tree->node[0].samples;
	const char *event = d->event < 0 ? "several events"
					 : d->stacks->event[d->event].name;
	const char *what = d->o.sample_name ? d->o.sample_name : "sample";
	char count[32];

	human_grouped(count, sizeof(count), samples);
	if (!d->opts->title) {
		char names[80] = "nothing";

		/* Writes "NAME and 3 others": the name with most weight, not
		 * that of idle CPUs. */
		size_t size = sizeof(names);
		const struct drawing_name *best = NULL;
		struct text_out o = { .buf = names, .size = size };
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

void drawing_note_dropped(struct drawing *d)
{
	uint64_t dropped = pick_dropped(d->pick);
	uint64_t whole = d->tree->node[0].weight;

	if (dropped)
		drawing_say(d,
			    "%s of the weight is left out by --include and "
			    "--exclude",
			    HUMAN_PERCENT(dropped,
					  (double)whole + (double)dropped));
}

void drawing_note_unweighed(struct drawing *d)
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

void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s)
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

void drawing_note_intervals(struct drawing *d, const struct wall_intervals *s)
{
	if (*s->premise)
		drawing_say(d, "their times are proved %s", s->premise);
	if (s->unknown)
		drawing_say(
			d,
			"not drawn: %s whose time is not known ('backstitch "
			"latency' counts them by reason)",
			HUMAN_GROUPED(s->unknown));
}

void drawing_note_wall(struct drawing *d, const struct offcpu_sums *s)
{
	drawing_say(d,
		    "%s wait%s of them, %s: time off the CPU, with a "
		    "frame [off-CPU: STATE] on the stack",
		    HUMAN_GROUPED(s->waits[OFFCPU_BACK]),
		    s->waits[OFFCPU_BACK] == 1 ? "" : "s",
		    HUMAN_NS(s->ns[OFFCPU_BACK]));
	drawing_note_waits(d, s);
}
