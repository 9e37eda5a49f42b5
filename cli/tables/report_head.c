/* report_head.c - the lines above a table of report: capture, event, losses and
 * missing user stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/waits/waits.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/output.h"
#include "cli/output/term.h"
#include "cli/tables/report.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* Returns 1 if a sample of the event asked for a user stack, 0, or -1 and *err.
 * Groups made of sums do not show requests that were joined. */
static int report_is_deferred(const struct report *rp, struct err *err)
{
	struct value event = { .kind = VALUE_NULL };

	stacks_each (g, rp->stacks, rp->event)
		if (g->verdict)
			return 1;
	if (filter_narrows(rp->o->filter))
		return 0;
	if (rp->event >= 0) {
		event.kind = VALUE_TEXT;
		event.text = rp->stacks->event[rp->event].name;
		event.len = strlen(event.text);
	}
	struct rows *r =
		rows_open(rp->db, store_sql("report_asked"), &event, 1, err);
	bool asked = rows_step(r);

	return rows_end(r, err) ? -1 : asked;
}

static void report_put_share(FILE *out, const char *what, uint64_t part,
			     uint64_t whole)
{
	if (part)
		fprintf(out, "%s %s\n", what, HUMAN_PERCENT(part, whole));
}

/* Weights of stacks with something wrong, by what it is. */
struct report_wrong {
	struct report_rows *rows; /* by symbol, largest total first */
	uint64_t hit, exec, unnamed, generated; /* weights */
	bool own;				/* rows were made for this */
};

/* Returns the name of a row of missing user stacks, NULL for other rows. */
static const char *report_missing_name(const struct report_rows *r,
				       const struct report_row *row)
{
	const struct label *l = report_label(r, row->label);

	return l->kind == LABEL_MISSING &&
			       strcmp(l->name, STACKS_AFTER_EXEC) != 0 &&
			       strncmp(l->name, "[kernel: ", 9) != 0
		       ? l->name
		       : NULL;
}

/* Fills *w, which report_wrong_release() frees. */
static void report_count_wrong(const struct report *rp, struct report_wrong *w)
{
	*w = (struct report_wrong){ .rows = rp->rows, .own = !rp->rows };
	if (w->own)
		w->rows = report_rows_new(rp->stacks, rp->event, KEY_SYM);
	report_rows_sort(w->rows, true);
	for (size_t i = 0; i < w->rows->n; i++) {
		const struct report_row *row = &w->rows->row[i];
		const struct label *l = report_label(w->rows, row->label);

		if (l->kind == LABEL_UNNAMED && strcmp(l->name, "[no stack]"))
			w->unnamed += row->self;
		if (l->kind == LABEL_UNNAMED && !strcmp(l->name, "[anon]"))
			w->generated += row->self;
		if (l->kind != LABEL_MISSING)
			continue;
		if (!strcmp(l->name, STACKS_AFTER_EXEC))
			w->exec = row->total;
		else if (!strncmp(l->name, "[kernel: ", 9))
			w->hit += row->total;
	}
}

static void report_wrong_release(struct report_wrong *w)
{
	if (w->own)
		report_rows_free(w->rows);
}

/* Returns whether a name is that of callers cut off a stack: "[user:
 * limit]". */
static bool report_is_cut(const char *name)
{
	const char before[] = "[user: ";
	size_t n = sizeof(before) - 1;
	const char *end;

	if (strncmp(name, before, n) != 0)
		return false;
	for (unsigned int i = UNWIND_OUTERMOST; (end = unwind_end_name(i)); i++)
		if (!strncmp(name + n, end, strlen(end)) &&
		    !strcmp(name + n + strlen(end), "]"))
			return true;
	return false;
}

/* Prints why user stacks are missing, or cut off, with shares, largest first.
 * Returns whether there are any. */
static bool report_print_halves(FILE *out, const struct report *rp,
				const struct report_wrong *w, bool cut)
{
	const char *before =
		cut ? "user half cut off: " : "user half missing: ";

	for (size_t i = 0; i < w->rows->n; i++) {
		const struct report_row *row = &w->rows->row[i];
		const char *name = report_missing_name(w->rows, row);

		if (!name || report_is_cut(name) != cut)
			continue;
		fprintf(out, "%s%s %s", before, name,
			HUMAN_PERCENT(row->total, rp->weight));
		before = ", ";
	}
	if (before[0] != ',')
		return false;
	fputs(" ('backstitch help verdicts')\n", out);
	return true;
}

/* Prints why user stacks are missing or cut off, the share of kernel halves of
 * one address, of user stacks taken after an exec, and the share without
 * symbols if it is large. */
static void report_print_missing(FILE *out, const struct report *rp,
				 bool deferred)
{
	struct report_wrong w RELEASED_BY(report_wrong_release);

	report_count_wrong(rp, &w);
	if (!report_print_halves(out, rp, &w, false) && deferred)
		fputs("user half missing: none\n", out);
	report_print_halves(out, rp, &w, true);
	report_put_share(out, "kernel half missing: [kernel: hit_only]", w.hit,
			 rp->weight);
	report_put_share(out, "user half of another program, taken after exec:",
			 w.exec, rp->weight);
	if (w.unnamed > rp->weight / 10) {
		char *word OWNED = safe_text_word(rp->path);

		fprintf(out, "code without a name: %s",
			HUMAN_PERCENT(w.unnamed, rp->weight));
		if (w.generated > w.unnamed / 2) {
			fputs(", made at run time; " LABEL_GENERATED_ADVICE
			      "\n",
			      out);
		} else {
			fprintf(out, "; 'backstitch %s %s' %s\n",
				rp->served ? "symbolize" : "info", word,
				rp->served ? "names code that is here"
					   : "says why");
		}
	}
}

/* Returns the weight of stacks that have a caller that was not recorded. */
static uint64_t report_inferred(const struct report *rp)
{
	uint64_t inferred = 0;

	stacks_each (g, rp->stacks, rp->event)
		if (stacks_inferred(rp->stacks, g))
			inferred += g->weight;
	return inferred;
}

void report_put_capture(FILE *out, const char *path, const char *host)
{
	safe_text_say(out, "capture: ", path, "");
	if (host[0])
		safe_text_say(out, " of ", host, "");
}

void report_put_lost(FILE *out, uint64_t lost, bool unknown)
{
	fputs("lost records: ", out);
	if (lost || !unknown)
		fputs(HUMAN_GROUPED(lost), out);
	if (unknown)
		fputs(lost ? " and an unknown number more"
			   : "an unknown number",
		      out);
	putc('\n', out);
}

int report_load_head(struct report *rp, struct err *err)
{
	rp->trust = trust_of(rp->db, rp->stacks, rp->event, err);
	if (!rp->trust)
		return -1;
	if (rp->waits)
		trust_of_waits(rp->trust);
	rp->served = stacks_served(rp->db, err);
	if (rp->served < 0)
		return -1;
	return loss_rows_sum(rp->db, &rp->lost, &rp->lost_unknown, err);
}

/* Returns whether a filter other than --event is on; the head names the event
 * anyway. */
static bool report_is_filtered(const struct report *rp)
{
	struct filter f = *rp->o->filter;

	f.event = NULL;
	return filter_narrows(&f) || f.state;
}

int report_head_json(const struct report *rp, struct json *j, struct err *err)
{
	struct rows *r = rows_of(rp->db, "report_captures", err);
	int rc = r ? json_rows(j, "captures", r, err) : -1;

	rows_close(r);
	if (rc)
		return -1;
	trust_put_json(rp->trust, j);
	json_text(j, "event", stacks_event_name(rp->stacks, rp->event));
	json_bool(j, "filtered", report_is_filtered(rp));
	json_uint(j, "samples", rp->samples);
	json_uint(j, "weight", rp->weight);
	json_text(j, "unit",
		  stacks_unit(rp->stacks, rp->event, rp->o->by_samples));
	if (report_traced(rp)) {
		const struct traced_sums *t = report_traced(rp);

		json_uint(j, "functions", t->functions);
		json_uint(j, "calls_without_end", t->open);
		json_uint(j, "calls_not_whole", t->perhaps_less);
		json_uint(j, "calls_without_caller", t->callerless);
	}
	if (rp->waits) {
		json_uint(j, "waits", rp->waits->waits[OFFCPU_BACK]);
		json_uint(j, "ns", rp->waits->ns[OFFCPU_BACK]);
		json_uint(j, "open", rp->waits->waits[OFFCPU_OPEN]);
		json_uint(j, "uncertain", rp->waits->waits[OFFCPU_UNCERTAIN]);
	}
	if (rp->o->by_wall) {
		json_uint(j, "least_weight", rp->least);
		json_uint(j, "ranged_weight", rp->ranged);
	}
	json_uint(j, "lost", rp->lost);
	json_bool(j, "lost_unknown", rp->lost_unknown);
	struct report_wrong w RELEASED_BY(report_wrong_release);

	report_count_wrong(rp, &w);
	json_array(j, "user_half_missing");
	for (size_t i = 0; i < w.rows->n; i++) {
		const struct report_row *row = &w.rows->row[i];
		const char *name = report_missing_name(w.rows, row);

		if (!name)
			continue;
		json_object(j, NULL);
		json_text(j, "symbol", name);
		json_uint(j, "weight", row->total);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "kernel_half_missing", w.hit);
	json_uint(j, "after_exec", w.exec);
	json_uint(j, "caller_inferred", report_inferred(rp));
	json_uint(j, "without_name", w.unnamed);
	json_uint(j, "made_at_run_time", w.generated);
	json_break(j);
	return 0;
}

const struct traced_sums *report_traced(const struct report *rp)
{
	if (rp->event < 0 || !rp->stacks->event[rp->event].nested)
		return NULL;
	enum traced_kind kind =
		traced_kind_of(rp->stacks->event[rp->event].name);
	return kind < TRACED_KINDS && rp->traced.of[kind].calls
		       ? &rp->traced.of[kind]
		       : NULL;
}

/* Prints what was traced, and which part of it is not proved. */
static void report_print_traced(FILE *out, const struct report *rp)
{
	const struct traced_sums *t = report_traced(rp);
	bool slices = t == &rp->traced.of[TRACED_SLICES];
	const char *what = slices ? "slices" : "calls";

	fprintf(out,
		slices ? "%s: %s of %s names" : "%s: %s calls of %s functions",
		stacks_event_name(rp->stacks, rp->event),
		HUMAN_GROUPED(rp->samples), HUMAN_GROUPED(t->functions));
	if (t != &rp->traced.of[TRACED_FUNCTION] && *rp->traced.premise)
		fprintf(out, ", proved %s", rp->traced.premise);
	putc('\n', out);
	if (t->open)
		fprintf(out, "%s whose time is not known: %s\n", what,
			HUMAN_GROUPED(t->open));
	if (t->perhaps_less)
		fprintf(out,
			"%s in which others may be missing, whose self is at "
			"most what is said: %s\n",
			what, HUMAN_GROUPED(t->perhaps_less));
	if (t->callerless)
		fprintf(out, "calls of which nothing proves the caller: %s\n",
			HUMAN_GROUPED(t->callerless));
}

static void report_print_event(FILE *out, const struct report *rp)
{
	safe_text_say(out, "event: ", stacks_event_name(rp->stacks, rp->event),
		      "");
	fprintf(out, "%s, %s", report_is_filtered(rp) ? " (filtered)" : "",
		HUMAN_NOUN(rp->samples, "sample"));
	/* for an event that counts itself both numbers are the same */
	if (!rp->o->by_samples && rp->weight != rp->samples) {
		fprintf(out, ", %s ", HUMAN_GROUPED(rp->weight));
		safe_text_put(out, stacks_unit(rp->stacks, rp->event, false), 0,
			      0);
	}
	putc('\n', out);
}

/* Prints what --wall adds to the samples. */
static void report_print_waits(FILE *out, const struct offcpu_sums *s)
{
	fprintf(out, "waits: %s of them, %s",
		HUMAN_GROUPED(s->waits[OFFCPU_BACK]),
		HUMAN_NS(s->ns[OFFCPU_BACK]));
	if (s->waits[OFFCPU_OPEN])
		fprintf(out, "; not counted: %s without an end",
			HUMAN_GROUPED(s->waits[OFFCPU_OPEN]));
	if (s->waits[OFFCPU_UNCERTAIN])
		fprintf(out, "%s%s uncertain: %s",
			s->waits[OFFCPU_OPEN] ? ", " : "; not counted: ",
			HUMAN_GROUPED(s->waits[OFFCPU_UNCERTAIN]),
			offcpu_reason(s));
	putc('\n', out);
}

int report_print_head(const struct report *rp, struct err *err)
{
	char trust[TRUST_SENTENCE];
	int deferred = report_is_deferred(rp, err);
	struct term_lines l;
	FILE *out;

	if (deferred < 0)
		return -1;
	trust_say(rp->trust, trust);
	if (output_is_markdown(rp->o->format))
		markdown_fence(stdout, true);
	out = term_lines_begin(&l, stdout);
	if (!report_traced(rp))
		fprintf(out, "%s\n", trust);
	struct rows *r = rows_of(rp->db, "report_captures", err);
	bool latency = false;

	while (rows_step(r)) {
		struct value complete = rows_value(r, REPORT_CAPTURES_COMPLETE);

		report_put_capture(out, rows_text(r, REPORT_CAPTURES_PATH),
				   rows_text(r, REPORT_CAPTURES_HOST));
		fputs(complete.kind != VALUE_NULL &&
				      !rows_int(r, REPORT_CAPTURES_COMPLETE)
			      ? ", not complete\n"
			      : "\n",
		      out);
		latency |= strstr(rows_text(r, REPORT_CAPTURES_CMDLINE),
				  " --latency") != NULL;
	}
	if (latency && !rp->o->by_wall)
		fputs("recorded with --latency: --by wall shows what to make "
		      "faster for the program to end sooner\n",
		      out);
	int rc = rows_end(r, err);
	if (!rc) {
		if (report_traced(rp))
			report_print_traced(out, rp);
		else
			report_print_event(out, rp);
		if (rp->waits)
			report_print_waits(out, rp->waits);
		if (rp->o->by_wall)
			fprintf(out,
				"by wall: each weight is divided by how many "
				"threads of the capture ran%s%s%s\n",
				rp->ranged ? "; for " : "",
				rp->ranged
					? HUMAN_PERCENT(rp->ranged, rp->weight)
					: "",
				rp->ranged ? " of it that is a range, as "
					     "switches may be lost: 'perf "
					     "record -m 4M' may mend it"
					   : "");
		report_put_lost(out, rp->lost, rp->lost_unknown);
		report_put_share(out, "caller inferred from the code:",
				 report_inferred(rp), rp->weight);
		report_print_missing(out, rp, deferred > 0);
	}
	term_lines_end(&l);
	if (output_is_markdown(rp->o->format))
		markdown_fence(stdout, false);
	else if (!rc)
		putchar('\n');
	return rc;
}
