/* check_evidence.c - check --verbose: one line for each row behind the
 * numbers. */
#include <inttypes.h>
#include <limits.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "analyze/names/shown_names.h"
#include "stitch/text/human.h"
#include "cli/output/lines.h"
#include "cli/output/out.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"

struct evidence {
	FILE *out;
	const char *title;
	bool titled;
	struct shown_names *names; /* of the functions in the section */
};

typedef void evidence_fn(struct evidence *e, const struct check_row *r);

static void evidence_put_text(FILE *out, const char *s)
{
	safe_text_clean(out, s, strlen(s));
}

/* Writes `before` and the text of a column, nothing if it is NULL. */
static void evidence_put_column(FILE *out, const struct check_row *r,
				const char *before, const char *column)
{
	if (check_null(r, column))
		return;
	fputs(before, out);
	evidence_put_text(out, check_text(r, column));
}

/* Writes "12.345678" or "-". */
static void evidence_put_when(FILE *out, const struct check_row *r,
			      const char *column)
{
	if (check_null(r, column))
		fputs("-", out);
	else
		fputs(HUMAN_SECONDS(check_int(r, column)), out);
}

static void evidence_begin_line(struct evidence *e)
{
	if (!e->titled)
		fprintf(e->out, "\n%s%s%s\n", term_on(stdout, STYLE_BOLD),
			e->title, term_off(stdout));
	e->titled = true;
	fputs("  ", e->out);
}

static void put_cpu(FILE *out, const struct check_row *r)
{
	if (check_null(r, "cpu"))
		fputs(" CPU ?", out);
	else
		fprintf(out, " CPU %" PRId64, check_int(r, "cpu"));
}

static void evidence_put_thread(FILE *out, const struct check_row *r)
{
	if (check_null(r, "tid"))
		return;
	fputc(' ', out);
	evidence_put_text(out, check_text(r, "comm"));
	fprintf(out, "/%" PRId64, check_int(r, "tid"));
}

/* The time range (from, to]. */
static void evidence_put_span(FILE *out, const struct check_row *r,
			      const char *from, const char *to)
{
	evidence_put_when(out, r, from);
	fputs(" to ", out);
	evidence_put_when(out, r, to);
}

/* "; loss 12: 29 lost on CPU 1, 12.1 to 12.2" */
static void evidence_put_loss(FILE *out, const struct check_row *r)
{
	if (check_null(r, "loss"))
		return;
	fprintf(out, "; loss %" PRId64, check_int(r, "loss"));
	if (check_null(r, "loss_what"))
		return;
	fputs(": ", out);
	if (!check_null(r, "loss_n"))
		fprintf(out, "%" PRId64 " ", check_int(r, "loss_n"));
	evidence_put_text(out, check_text(r, "loss_what"));
	if (!check_null(r, "loss_cpu"))
		fprintf(out, " on CPU %" PRId64, check_int(r, "loss_cpu"));
	fputs(", ", out);
	evidence_put_span(out, r, "loss_from_ns", "loss_to_ns");
}

/* Begins a line: "12.345 CPU 1 bash/7". */
static void evidence_put_moment(struct evidence *e, const struct check_row *r)
{
	evidence_begin_line(e);
	evidence_put_when(e->out, r, "time_ns");
	put_cpu(e->out, r);
	evidence_put_thread(e->out, r);
}

/* Begins a line: "12.345 CPU 1 bash/7: unexplained". */
static void evidence_put_verdict(struct evidence *e, const struct check_row *r)
{
	evidence_put_moment(e, r);
	fputs(": ", e->out);
	evidence_put_text(e->out, check_text(r, "verdict"));
}

static void evidence_put_request(struct evidence *e, const struct check_row *r)
{
	evidence_put_verdict(e, r);
	evidence_put_column(e->out, r, "; ended by ", "ended_by");
	if (!check_null(r, "until_ns")) {
		fputs(", due by ", e->out);
		evidence_put_when(e->out, r, "until_ns");
	}
	evidence_put_loss(e->out, r);
	fputc('\n', e->out);
}

static void evidence_put_across(struct evidence *e, const struct check_row *r)
{
	evidence_put_moment(e, r);
	fprintf(e->out,
		": of capture %" PRId64 ", its chain of capture %" PRId64 ", ",
		check_int(r, "capture"), check_int(r, "recorded_by"));
	evidence_put_when(e->out, r, "chain_time_ns");
	fprintf(e->out, "; cookie %s\n", check_text(r, "cookie"));
}

static void evidence_put_chain(struct evidence *e, const struct check_row *r)
{
	evidence_put_verdict(e, r);
	fprintf(e->out, "; cookie %s", check_text(r, "cookie"));
	if (!check_null(r, "from_ns")) {
		fputs(", asked for after ", e->out);
		evidence_put_when(e->out, r, "from_ns");
	}
	evidence_put_loss(e->out, r);
	fputc('\n', e->out);
}

static void evidence_put_gap(struct evidence *e, const struct check_row *r)
{
	evidence_begin_line(e);
	evidence_put_span(e->out, r, "from_ns", "to_ns");
	put_cpu(e->out, r);
	fprintf(e->out, ": %" PRId64 " from %s on: ", check_int(r, "n"),
		check_text(r, "first"));
	evidence_put_text(e->out, check_text(r, "verdict"));
	evidence_put_loss(e->out, r);
	fputc('\n', e->out);
}

static void evidence_put_finding(struct evidence *e, const struct check_row *r)
{
	evidence_begin_line(e);
	if (!check_null(r, "since_ns")) {
		evidence_put_when(e->out, r, "since_ns");
		fputs(" to ", e->out);
	}
	evidence_put_when(e->out, r, "time_ns");
	if (!check_null(r, "cpu"))
		put_cpu(e->out, r);
	evidence_put_thread(e->out, r);
	fputs(": ", e->out);
	evidence_put_text(e->out, check_text(r, "rule"));
	if (check_int(r, "n") > 1)
		fprintf(e->out, " (%" PRId64 ")", check_int(r, "n"));
	evidence_put_loss(e->out, r);
	fputc('\n', e->out);
}

static void put_bogus(struct evidence *e, const struct check_row *r)
{
	evidence_begin_line(e);
	evidence_put_text(
		e->out,
		check_text(r, "symbol")[0]
			? shown_names_get(e->names, check_text(r, "symbol"))
			: check_text(r, "off"));
	fputs(" in ", e->out);
	evidence_put_text(e->out, check_text(r, "image"));
	fputs(": ", e->out);
	evidence_put_text(e->out, check_text(r, "reason"));
	int64_t n = check_int(r, "samples");

	fprintf(e->out, ", in %" PRId64 " sample%s\n", n, n == 1 ? "" : "s");
}

static void evidence_put_deferral(struct evidence *e, const struct check_row *r)
{
	struct lines l = { .out = e->out, .width = INT_MAX };

	evidence_begin_line(e);
	evidence_put_text(e->out, check_text(r, "event"));
	if (check_int(r, "cpus"))
		put_cpu(e->out, r);
	lines_waited(&l, check_int(r, "p50_ns"), check_int(r, "p90_ns"),
		     check_int(r, "p99_ns"), check_int(r, "max_ns"));
	fprintf(e->out, ": %s\n", l.text);
}

static void put_loss_row(struct evidence *e, const struct check_row *r)
{
	evidence_begin_line(e);
	fprintf(e->out, "%" PRId64 ": ", check_int(r, "loss"));
	evidence_put_span(e->out, r, "from_ns", "to_ns");
	put_cpu(e->out, r);
	fputs(": ", e->out);
	if (check_null(r, "n"))
		fputs("? ", e->out);
	else
		fprintf(e->out, "%" PRId64 " ", check_int(r, "n"));
	evidence_put_text(e->out, check_text(r, "what"));
	if (!check_int(r, "counts"))
		fputs(", not added up", e->out);
	evidence_put_column(e->out, r, ", of ", "event_name");
	fputc('\n', e->out);
}

static int put_section(struct check *c, const char *name, const char *title,
		       evidence_fn *fn, struct err *err)
{
	struct term_lines lines;
	struct evidence e = { .out = term_lines_begin(&lines, stdout),
			      .title = title,
			      .names = shown_names_new() };
	struct arena text = { 0 };
	struct check_row r = { .live = NULL };
	int64_t n = 0;
	int rc = 0;

	if (fn == put_bogus) {
		rc = check_open_live(c, name, c->limit, &r, err);
		while (check_next(&r))
			shown_names_add(e.names, check_text(&r, "symbol"));
		rc = rc ? rc : check_close(&r, err);
		rc = rc ? rc : shown_names_read(e.names, &c->names, c->db, err);
	}
	shown_names_make(e.names, &c->names, &text);
	if (!rc)
		rc = check_open_live(c, name, 0, &r, err);
	for (; !rc && check_next(&r); n++)
		if (!c->limit || n < c->limit)
			fn(&e, &r);
	rc = rc ? rc : check_close(&r, err);
	if (!rc && n > c->limit && c->limit)
		fprintf(e.out, "  and %" PRId64 " more\n", n - c->limit);
	term_lines_end(&lines);
	shown_names_free(e.names);
	arena_release(&text);
	return rc;
}

int check_evidence(struct check *c, struct err *err)
{
	static const struct {
		const char *name, *title;
		evidence_fn *fn;
	} section[] = {
		{ "deferral", "how long user stacks were waited for",
		  evidence_put_deferral },
		{ "deferral_by_cpu", "the same by CPU", evidence_put_deferral },
		{ "unjoined_requests", "requests without a user stack",
		  evidence_put_request },
		{ "across_list", "requests joined across captures",
		  evidence_put_across },
		{ "unused_chains", "chains not used", evidence_put_chain },
		{ "bogus_list", "frames that cannot be", put_bogus },
		{ "gap_list", "counters that no cookie has", evidence_put_gap },
		{ "finding_list", "findings", evidence_put_finding },
		{ "loss_list", "losses", put_loss_row },
	};

	for (size_t i = 0; i < ARRAY_SIZE(section); i++)
		if (!out_failed() &&
		    put_section(c, section[i].name, section[i].title,
				section[i].fn, err))
			return -1;
	return 0;
}
