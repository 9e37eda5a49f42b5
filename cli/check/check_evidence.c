/* check_evidence.c - check --verbose: one line for each row behind the
 * numbers. */
#include <inttypes.h>
#include <limits.h>

#include "analyze/check/check.h"
#include "analyze/names/short_name.h"
#include "cli/check/check_print.h"
#include "cli/output/lines.h"
#include "cli/output/out.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/text/safe_text.h"

#define SPAN(from, to) "{" from ":s|-} to {" to ":s|-}"
#define THREAD "[ {comm|}/{tid:d}]"
/* "12.345 CPU 1 bash/7" */
#define MOMENT "{time_ns:s|-} CPU {cpu:d|?}" THREAD
/* "; loss 12: 29 lost on CPU 1, 12.1 to 12.2" */
#define LOSS                                                                   \
	"[; loss {loss:d}[: [{loss_n:d} ]{loss_what}[ on CPU {loss_cpu:d}], "  \
	"{loss_from_ns:s|-} to {loss_to_ns:s|-}]]"

static void put_bogus(FILE *out, const struct check_row *r,
		      struct shown_names *names)
{
	const char *symbol = check_text(r, "symbol");
	const char *place =
		*symbol ? shown_names_get(names, symbol) : check_text(r, "off");

	safe_text_clean(out, place, strlen(place));
	check_say(out, r, " in {image}: {reason}, in {samples:d sample}");
}

static void evidence_put_deferral(FILE *out, const struct check_row *r,
				  struct shown_names *names UNUSED)
{
	struct lines l = { .out = out, .width = INT_MAX };

	check_say(out, r,
		  check_int(r, "cpus") ? "{event} CPU {cpu:d|?}" : "{event}");
	lines_waited(&l, check_int(r, "p50_ns"), check_int(r, "p90_ns"),
		     check_int(r, "p99_ns"), check_int(r, "max_ns"));
	fprintf(out, ": %s", l.text);
}

static void evidence_put_finding(FILE *out, const struct check_row *r,
				 struct shown_names *names UNUSED)
{
	check_say(out, r,
		  "[{since_ns:s} to ]{time_ns:s|-}[ CPU {cpu:d}]" THREAD
		  ": {rule}");
	check_say(out, r, check_int(r, "n") > 1 ? " ({n:d})" LOSS : LOSS);
}

static void put_loss_row(FILE *out, const struct check_row *r,
			 struct shown_names *names UNUSED)
{
	check_say(out, r,
		  "{loss:d}: " SPAN("from_ns",
				    "to_ns") " CPU {cpu:d|?}: {n:d|?} {what}");
	fputs(check_int(r, "counts") ? "" : ", not added up", out);
	check_say(out, r, "[, of {event_name}]");
}

/* A kind of evidence: its statement, and what a line of it says. */
static const struct section {
	const char *name, *title, *line;
	/* or writes the line; names: of functions */
	void (*put)(FILE *out, const struct check_row *r,
		    struct shown_names *names);
} sections[] = {
	{ "deferral", "how long user stacks were waited for", NULL,
	  evidence_put_deferral },
	{ "deferral_by_cpu", "the same by CPU", NULL, evidence_put_deferral },
	{ "unjoined_requests", "requests without a user stack",
	  MOMENT
	  ": {verdict}[; ended by {ended_by}][, due by {until_ns:s}]" LOSS,
	  NULL },
	{ "across_list", "requests joined across captures",
	  MOMENT ": of capture {capture:d}, its chain of capture "
		 "{recorded_by:d}, {chain_time_ns:s|-}; cookie {cookie}",
	  NULL },
	{ "unused_chains", "chains not used",
	  MOMENT
	  ": {verdict}; cookie {cookie}[, asked for after {from_ns:s}]" LOSS,
	  NULL },
	{ "bogus_list", "frames that cannot be", NULL, put_bogus },
	{ "gap_list", "counters that no cookie has",
	  SPAN("from_ns", "to_ns") " CPU {cpu:d|?}: {n:d} from {first} on: "
				   "{verdict}" LOSS,
	  NULL },
	{ "finding_list", "findings", NULL, evidence_put_finding },
	{ "loss_list", "losses", NULL, put_loss_row },
};

static int put_section(struct check *c, const struct section *s,
		       struct err *err)
{
	struct term_lines lines;
	FILE *out = term_lines_begin(&lines, stdout);
	struct shown_names *names = shown_names_new();
	struct arena text RELEASED_BY(arena_release) = { 0 };
	struct check_row r = { .live = NULL };
	int64_t n = 0;
	int rc = 0;

	if (s->put == put_bogus) {
		rc = check_open_live(c, s->name, c->limit, &r, err);
		while (check_next(&r))
			shown_names_add(names, check_text(&r, "symbol"));
		rc = rc ? rc : check_close(&r, err);
		rc = rc ? rc : shown_names_read(names, &c->names, c->db, err);
	}
	shown_names_make(names, &c->names, &text);
	if (!rc)
		rc = check_open_live(c, s->name, 0, &r, err);
	for (; !rc && check_next(&r); n++) {
		if (c->limit && n >= c->limit)
			continue;
		if (!n)
			fprintf(out, "\n%s%s%s\n", term_on(stdout, STYLE_BOLD),
				s->title, term_off(stdout));
		fputs("  ", out);
		if (s->put)
			s->put(out, &r, names);
		else
			check_say(out, &r, s->line);
		putc('\n', out);
	}
	rc = rc ? rc : check_close(&r, err);
	if (!rc && n > c->limit && c->limit)
		fprintf(out, "  and %" PRId64 " more\n", n - c->limit);
	term_lines_end(&lines);
	shown_names_free(names);
	return rc;
}

int check_evidence(struct check *c, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!out_failed() && put_section(c, &sections[i], err))
			return -1;
	return 0;
}
