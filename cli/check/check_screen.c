/* check_screen.c - the first screen of check: verdict, reasons and advice, in
 * 24 lines of 80 columns. */
#include <inttypes.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "stitch/text/human.h"
#include "cli/output/grid.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/base/saturate.h"

#define IMAGES 3   /* images listed for their stacks of one frame */
#define CPUS 12	   /* CPUs listed for their losses */
#define PARTS 50   /* parts of the time, as in statement lost_in_time */
#define FINDINGS 4 /* rules listed with their findings */
#define DAMAGE 2   /* kinds of damage listed */
#define ACROSS 4   /* pairs of captures listed */
#define LABEL_INDENT 2

struct screen {
	struct check *c;
	struct lines l;
	struct err *err;
	/* user stacks requested; of these: joined, refused (taken at once) */
	int64_t requests, joined, refused;
	int64_t advice; /* sentences of advice that were printed */
	bool failed;	/* a statement failed, and *err is set */
};

/* A section of the screen. */
typedef void screen_fn(struct screen *s);

/* Returns a cursor before the first row of a statement. It has no rows, and
 * s->failed is set, if the statement failed. */
static struct check_row screen_rows(struct screen *s, const char *name)
{
	struct check_row r;

	s->failed |= check_open(s->c, name, &r, s->err) < 0;
	return r;
}

/* Adds ", " unless *n, the number of items so far, is 0, and counts one. */
static void screen_next(struct screen *s, int64_t *n)
{
	if ((*n)++)
		lines_add(&s->l, ", ");
}

/* Adds "N what" to a list unless N is 0. */
static void screen_part(struct screen *s, int64_t *n, int64_t count,
			const char *text)
{
	if (!count)
		return;
	screen_next(s, n);
	lines_add(&s->l, "%s %s", HUMAN_GROUPED(count), text);
}

/* Adds a row by a text with its columns; see check_say(). */
static void screen_say(struct screen *s, const struct check_row *r,
		       const char *text)
{
	check_say_line(&s->l, r, text);
}

/* Prints the line, with the label if it is the first of its section. */
static void screen_put(struct screen *s, int64_t *n, const char *label,
		       bool warns)
{
	label = (*n)++ ? "" : label;
	if (warns)
		lines_put_styled(&s->l, label, STYLE_YELLOW);
	else
		lines_put(&s->l, label);
}

/* ---- the verdict */

static void put_verdict(struct screen *s)
{
	struct check *c = s->c;
	const char *word = check_verdict(c);
	enum term_style style = STYLE_GREEN;
	char trust[TRUST_SENTENCE];

	if (c->breaks.bad)
		style = STYLE_RED;
	else if (strcmp(word, "clean") != 0)
		style = STYLE_YELLOW;
	fprintf(s->l.out, "%s", term_on(s->l.out, STYLE_BOLD));
	safe_text_put(s->l.out, c->path, 0, 0);
	fprintf(s->l.out, "%s: %s", term_off(s->l.out),
		term_on(s->l.out, style));
	const int at = (int)safe_text_cells(c->path) + 2;
	lines_add(&s->l, "%s: ", word);
	check_say_verdict(c, &s->l);
	term_wrap(s->l.out, s->l.text, at, LABEL_INDENT, s->l.width);
	fputs(term_off(s->l.out), s->l.out);
	s->l.text[s->l.len = 0] = '\0';
	trust_say(c->trust, trust);
	trust_add_kernel(c->trust, trust);
	fprintf(s->l.out, "%*s", LABEL_INDENT, "");
	term_wrap(s->l.out, trust, LABEL_INDENT, LABEL_INDENT, s->l.width);
}

/* ---- requests and chains */

static void put_requests(struct screen *s)
{
	struct lines *l = &s->l;
	struct check_row r = screen_rows(s, "requests");
	int64_t n = 1;

	if (!check_next(&r) || !check_int(&r, "requests"))
		return;
	s->requests = check_int(&r, "requests");
	s->joined = check_int(&r, "matched") + check_int(&r, "empty");
	s->refused = check_int(&r, "refused");

	int64_t cookie = check_int(&r, "with_cookie");
	int64_t waiting = s->requests - s->refused;

	lines_count(l, "", s->requests, "user stack: ", "user stacks: ");
	lines_add(l, "%s later by cookie", HUMAN_GROUPED(cookie));
	if (waiting > cookie)
		lines_add(l, ", %s without one",
			  HUMAN_GROUPED(waiting - cookie));
	if (s->refused)
		lines_add(l, ", %s at once (refused)",
			  HUMAN_GROUPED(s->refused));
	lines_put(l, "asked for");
	lines_add(l, "%s of %s", HUMAN_GROUPED(s->joined),
		  HUMAN_GROUPED(waiting));
	lines_share(l, s->joined, waiting);
	screen_part(s, &n, check_int(&r, "after"), "after their chain");
	screen_part(s, &n, check_int(&r, "exec_between"), "across exec");
	screen_part(s, &n, check_int(&r, "other_capture"),
		    "from another capture");
	lines_put(l, "joined");
	if (!check_int(&r, "empty"))
		return;
	screen_say(s, &r,
		   "{empty:,} empty: the kernel found no address in user mode");
	lines_put(l, "");
}

static void put_one_frame(struct screen *s)
{
	struct check_row r = screen_rows(s, "one_frame");
	int64_t all = 0;
	int64_t n = 0;

	while (check_next(&r))
		all += check_int(&r, "requests");
	if (!all)
		return;
	lines_add(&s->l, "%s", HUMAN_GROUPED(all));
	lines_share(&s->l, all, s->joined);
	lines_add(&s->l, " with only one frame: ");
	for (r.next = 0; n < IMAGES && check_next(&r);) {
		screen_next(s, &n);
		lines_clean(&s->l, path_base(check_text(&r, "image")));
		lines_add(&s->l, " %s",
			  HUMAN_GROUPED(check_int(&r, "requests")));
	}
	lines_print(&s->l, "", "%s", check_next(&r) ? ", ..." : "");
}

static void put_unjoined(struct screen *s)
{
	static const struct {
		const char *word, *why;
		bool harmless;
	} verdict[] = {
		{ "chain_lost", "records were lost while the chain was due",
		  false },
		{ "unjoinable", "the cookie had no room in the sample", false },
		{ "stripped", "the chains were removed from the file", false },
		{ "unexplained", "nothing in the capture says why", false },
		{ "unwinder_died",
		  "the process logged no stack of its own after that", false },
		{ "before_opt_in",
		  "the process had not logged any stack of its own so far",
		  true },
		{ "in_unwinder", "the thread was unwinding itself already",
		  true },
		{ "exit_per_task", "the thread ended, and its session with it",
		  true },
		{ "pending_end",
		  "the thread was still in the kernel at the end", true },
	};
	struct check_row r = screen_rows(s, "requests");
	int64_t n = 0;

	if (!check_next(&r))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(verdict); i++) {
		int64_t count = check_int(&r, verdict[i].word);

		if (!count)
			continue;
		lines_add(&s->l, "%s %s: %s", HUMAN_GROUPED(count),
			  verdict[i].word, verdict[i].why);
		screen_put(s, &n, "not joined", !verdict[i].harmless);
	}
}

static void put_chains(struct screen *s)
{
	static const char *const word[] = {
		"used",	     "sample_lost", "foreign_session", "overwritten",
		"duplicate", "unjoinable",  "unexplained"
	};
	struct check_row r = screen_rows(s, "chains");
	int64_t n = 0;

	if (!check_next(&r) || !check_int(&r, "chains"))
		return;
	screen_say(s, &r, "{chains:,} recorded: ");
	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		screen_part(s, &n, check_int(&r, word[i]),
			    strcmp(word[i], "foreign_session") ? word[i]
							       : "foreign");
	if (check_int(&r, "after_exit"))
		screen_say(s, &r, "; {after_exit:,} after their thread's exit");
	lines_put(&s->l, "chains");
}

/* Prints stacks whose halves are in two captures, and chains that both have. */
static void put_across(struct screen *s)
{
	struct check_row r = screen_rows(s, "across");
	int64_t n = 0;

	for (int i = 0; i < ACROSS && check_next(&r); i++) {
		screen_say(s, &r,
			   "{requests:, request} of capture {asked_by:,} by "
			   "{chains:, chain} of capture {recorded_by:,}");
		screen_put(s, &n, "across", false);
	}
	r = screen_rows(s, "copies");
	for (int i = 0; i < ACROSS && check_next(&r); i++) {
		screen_say(s, &r,
			   "{chains:, chain} recorded by capture "
			   "{recorded_by:,} and {also_by:,}: stored once");
		screen_put(s, &n, "across", false);
	}
}

static void put_frames(struct screen *s)
{
	s->failed |= check_frames(s->c, &s->l, s->err) < 0;
}

/* Prints stacks that were unwound from dumps, by the reason of their end. */
static void put_unwound(struct screen *s)
{
	struct check_row r = screen_rows(s, "unwound");
	int64_t n = 0;

	while (check_next(&r))
		screen_part(s, &n, check_int(&r, "samples"),
			    check_text(&r, "ended"));
	if (n)
		lines_put(&s->l, "unwound");
}

/* Prints how many samples have a caller that was inferred. */
static void put_callers(struct screen *s)
{
	struct check_row r = screen_rows(s, "callers");

	if (!check_next(&r) || !check_int(&r, "inferred"))
		return;
	screen_say(s, &r,
		   "inferred in {inferred:, sample}, whose innermost frame "
		   "showed none");
	lines_put(&s->l, "callers");
}

/* ---- losses */

/* Prints losses by kind. Kinds with counts 0 are on a line of their own, as
 * they are no losses, or repeat losses that another kind counts. */
static void put_losses(struct screen *s)
{
	int64_t lost = s->c->breaks.lost;
	int64_t records = s->c->breaks.records;
	struct check_row r = screen_rows(s, "losses");
	int64_t n = 0;

	if (lost && records) {
		lines_add(&s->l, "%s of %s records", HUMAN_GROUPED(lost),
			  HUMAN_GROUPED(lost + records));
		lines_share(&s->l, lost, lost + records);
		lines_add(&s->l, ": ");
	}
	while (check_next(&r)) {
		if (!check_int(&r, "counts"))
			continue;
		screen_next(s, &n);
		const char *what = check_text(&r, "what");
		int64_t count = check_int(&r, "records");
		int64_t unknown = check_int(&r, "unknown");
		int64_t gaps = check_int(&r, "intervals");

		if (!strcmp(what, "silent")) {
			lines_count(&s->l, "", gaps, "gap", "gaps");
			lines_add(&s->l, " that no recorder counted");
			continue;
		}
		if (count || !unknown)
			lines_add(&s->l, "%s", HUMAN_GROUPED(count));
		else
			lines_add(&s->l, "an unknown number");
		if (!strcmp(what, "lost")) {
			lines_count(&s->l, " in ", gaps, "gap", "gaps");
		} else if (!strcmp(what, "lost_end")) {
			lines_add(&s->l, " at end");
		} else if (!strcmp(what, "hardware")) {
			lines_add(&s->l, " by the hardware");
		} else {
			lines_add(&s->l, " ");
			lines_clean(&s->l, what);
		}
		if (count && unknown)
			lines_count(&s->l, " and ", unknown,
				    "time an unknown number",
				    "times an unknown number");
	}
	if (!s->l.len && s->c->breaks.lost_unknown)
		lines_add(&s->l, "an unknown number of records");
	if (s->l.len)
		lines_put_styled(&s->l, "lost", STYLE_YELLOW);
	else if (!s->failed && check_covers(s->c, CHECK_RING))
		lines_print(&s->l, "lost",
			    s->c->breaks.untold ? "not told" : "no record");
	for (n = r.next = 0; check_next(&r);) {
		const char *what = check_text(&r, "what");

		if (check_int(&r, "counts") || !strcmp(what, "lost") ||
		    !strcmp(what, "lost_total") || !strcmp(what, "mappings"))
			continue;
		screen_next(s, &n);
		if (!strcmp(what, "silent")) { /* or recording paused */
			screen_say(s, &r,
				   "switches that do not join in "
				   "{intervals:, place}: recording paused, or "
				   "records are missing");
			continue;
		}
		screen_say(s, &r, "{what} {intervals:, time}");
		if (check_int(&r, "records"))
			screen_say(s, &r, " ({records:,})");
	}
	if (n)
		lines_put(&s->l, "also");
	r = screen_rows(s, "unlisted");
	for (n = 0; n < FINDINGS && check_next(&r);) {
		screen_next(s, &n);
		lines_clean(&s->l, check_text(&r, "detail"));
	}
	if (n)
		lines_put_styled(&s->l, "mappings", STYLE_YELLOW);
}

static void put_lost_by_cpu(struct screen *s)
{
	struct check_row r = screen_rows(s, "lost_by_cpu");

	if (!r.n)
		return;
	for (int64_t n = 0; n < CPUS && check_next(&r);) {
		screen_next(s, &n);
		screen_say(s, &r, "{cpu:,|not known}: {records:,|unknown}");
	}
	if (r.n > CPUS)
		lines_add(&s->l, ", and %s more CPUs",
			  HUMAN_GROUPED(r.n - CPUS));
	lines_put(&s->l, "by CPU");
}

/* Prints losses over time: one character for each fiftieth of the captures, '?'
 * where the number of lost records is not known. */
static void put_lost_in_time(struct screen *s)
{
	static const char level[] = " .:-=*#";
	int64_t first = 0;
	int64_t last = 0;
	struct check_row row = screen_rows(s, "captures");

	while (check_next(&row)) {
		int64_t from = check_int(&row, "first_ns");
		int64_t to = check_int(&row, "last_ns");

		if (check_null(&row, "first_ns") || check_null(&row, "last_ns"))
			continue;
		if (!last || from < first)
			first = from;
		raise_to(last, to);
	}
	int64_t span = last > first ? saturating_apart(last, first) : 0;
	int64_t lost[PARTS] = { 0 };
	bool unknown[PARTS] = { false };
	int64_t n = 0;
	int64_t most = 1;
	char bar[PARTS + 1];
	struct check_row r = screen_rows(s, "lost_in_time");

	while (check_next(&r)) {
		int64_t i = check_int(&r, "part");

		if (i < 0 || i >= PARTS)
			continue;
		lost[i] = check_int(&r, "records");
		unknown[i] = check_null(&r, "records");
		raise_to(most, lost[i]);
		n++;
	}
	if (!n || !span || s->l.width < PARTS + 25)
		return;
	for (size_t i = 0; i < PARTS; i++) {
		double at = (double)lost[i] / (double)most;

		bar[i] =
			unknown[i]
				? '?'
				: level[lost[i] > 0 ? 1 + (size_t)(at * 5) : 0];
	}
	bar[PARTS] = '\0';
	fprintf(s->l.out, "  %-12s |%s| %s\n", "in time", bar, HUMAN_NS(span));
}

/* ---- cookies */

/* Prints how many of the missing counters are explained by losses. */
static void put_missing(struct screen *s, const struct check_row *r)
{
	int64_t lost = check_int(r, "missing_lost");
	int64_t bad = check_int(r, "missing_uncounted");
	int64_t doubtful = check_int(r, "missing_doubtful");

	if (doubtful && (bad || lost)) {
		screen_say(s, r,
			   "of the missing ones losses explain "
			   "{missing_lost:,}, nothing explains "
			   "{missing_uncounted:,}, not provable: "
			   "{missing_doubtful:,} counters[ ({reason})]");
		lines_put_styled(&s->l, "", STYLE_YELLOW);
		return;
	}
	if (doubtful && check_null(r, "reason"))
		screen_say(s, r,
			   "not provable: {missing_doubtful:,} counters, which "
			   "may be older than the capture");
	else if (!check_null(r, "reason"))
		screen_say(s, r,
			   "not provable: {missing:,} counters: {reason}");
	else if (lost == check_int(r, "missing"))
		screen_say(s, r,
			   "the missing ones (in {gaps:, gap}) are all "
			   "explained by losses");
	else {
		screen_say(s, r,
			   "of the missing ones losses explain "
			   "{missing_lost:,}, nothing explains "
			   "{missing_uncounted:,}");
		lines_put_styled(&s->l, "", bad ? STYLE_YELLOW : STYLE_DIM);
		return;
	}
	lines_put(&s->l, "");
}

/* Prints the cookies of each capture; one line for all without a fault. */
static void put_cookies(struct screen *s)
{
	int64_t n = 0;
	bool whole = false;

	if (!s->c->breaks.all_stacks)
		return;

	struct check_row r = screen_rows(s, "cookies");

	while (check_next(&r)) {
		int64_t bare = check_int(&r, "no_chain");
		int64_t missing = check_int(&r, "missing");

		if (!bare && !missing && whole)
			continue;
		if (!bare && !missing) {
			whole = true;
			lines_add(&s->l, "each has its chain, no counter is "
					 "missing");
			screen_put(s, &n, "cookies", false);
			continue;
		}
		lines_add(&s->l,
			  "without chain: %s sample-only + %s missing = %s",
			  HUMAN_GROUPED(bare), HUMAN_GROUPED(missing),
			  HUMAN_GROUPED(bare + missing));
		if (!check_null(&r, "kernel_lost"))
			screen_say(s, &r,
				   "; the kernel counted {kernel_lost:,} lost "
				   "records of the event that writes chains");
		else
			lines_add(&s->l,
				  "; the file has no count of the kernel's to "
				  "compare with");
		screen_put(s, &n, "cookies", false);
		if (missing)
			put_missing(s, &r);
	}
}

/* Prints stays in the kernel that left neither a sample, a chain nor a loss: "3
 * stays on CPU 1 in 2 gaps (12.345678 to 12.400000)". */
static void put_vanished(struct screen *s)
{
	if (!s->c->breaks.all_stacks)
		return;

	struct check_row r = screen_rows(s, "vanished");

	if (!r.n)
		return;
	for (int64_t n = 0; n < CPUS && check_next(&r);) {
		screen_next(s, &n);
		screen_say(s, &r, "{stays:, stay} on CPU {cpu:,}");
		if (check_int(&r, "gaps") > 1)
			screen_say(s, &r, " in {gaps:,} gaps");
		screen_say(s, &r, " ({from_ns:s|} to {to_ns:s|})");
	}
	if (r.n > CPUS)
		lines_add(&s->l, ", and on %s more CPUs",
			  HUMAN_GROUPED(r.n - CPUS));
	lines_put_styled(&s->l, "vanished", STYLE_YELLOW);
}

/* ---- findings, order, damage */

/* Returns whether findings of a rule come from silent tasks, which have a line
 * of their own. */
static bool is_of_silence(const struct check *c, const char *rule)
{
	return c->silent.text &&
	       (!strcmp(rule, "switch_broken") || !strcmp(rule, "switch_gap") ||
		!strcmp(rule, "wakeup_lost"));
}

static void put_findings(struct screen *s)
{
	struct check_row r = screen_rows(s, "findings");
	int64_t n = 0;

	if (s->failed)
		return;
	if (!r.n && check_can(s->c, "findings")) {
		struct check_row row = screen_rows(s, "not_followed");

		if (!s->failed)
			lines_print(
				&s->l, "findings", "%s",
				row.n ? "none, but whether switches are missing is not "
					"judged: not all were to be recorded, or the "
					"recorder may have paused"
				: s->c->served
					? "none"
					: "none: every effect has its cause");
	}
	for (int i = 0; i < FINDINGS && check_next(&r); i++) {
		if (!check_int(&r, "explained"))
			continue;
		screen_next(s, &n);
		screen_say(s, &r, "{explained:,} {rule}");
	}
	if (n)
		lines_print(&s->l, "findings", ": by the losses");
	r.next = 0;
	for (int i = 0; i < FINDINGS && check_next(&r); i++) {
		int64_t count =
			check_int(&r, "findings") - check_int(&r, "explained");

		if (!count || is_of_silence(s->c, check_text(&r, "rule")))
			continue;
		lines_add(&s->l, "%s ", HUMAN_GROUPED(count));
		screen_say(s, &r, "{rule}: {proves}");
		screen_put(s, &n, "findings", check_int(&r, "breaks"));
	}
	if (r.n > FINDINGS)
		lines_print(&s->l, "", "and of %s more rules",
			    HUMAN_GROUPED(r.n - FINDINGS));
}

static void put_gaps(struct screen *s)
{
	struct check_row r = screen_rows(s, "gaps");

	if (!check_next(&r) || !check_int(&r, "places"))
		return;
	if (s->c->silent.text) {
		lines_print(&s->l, "silent", "%s", s->c->silent.text);
		return;
	}
	lines_add(&s->l, "%s of the time of the CPUs is touched by ",
		  HUMAN_PERCENT(check_int(&r, "touched_ns"),
				check_int(&r, "all_ns")));
	screen_say(s, &r,
		   "{places:, place} in which records are missing without a "
		   "loss");
	lines_put(&s->l, "gaps");
}

/* Prints records that break the order that the recorder promises. They do no
 * harm, as a file is sorted by time in any case. */
static void put_order(struct screen *s)
{
	struct check_row r = screen_rows(s, "ordering");

	if (!r.n && !s->failed && check_can(s->c, "ordering"))
		lines_print(&s->l, "order", "kept by every record");
	for (int64_t n = 0; check_next(&r);) {
		bool round = !strcmp(check_text(&r, "what"), "round");

		screen_say(s, &r,
			   round ? "{records:,} after a finished round"
				 : "{records:,} out of order[ ({what})]");
		screen_say(s, &r, "[, at worst by {worst_ns:n}]");
		if (round)
			lines_add(&s->l, "; sorted here");
		screen_put(s, &n, "order", !round);
	}
}

static void put_damage(struct screen *s)
{
	struct check_row r = screen_rows(s, "damage");

	for (int n = 0; n < DAMAGE && check_next(&r);) {
		screen_say(s, &r, "{places:, place}[ ({what})]");
		if (!check_null(&r, "first_off"))
			lines_add(&s->l, ", first at 0x%" PRIx64,
				  (uint64_t)check_int(&r, "first_off"));
		lines_put_styled(&s->l, n++ ? "" : "damage", STYLE_RED);
	}
}

/* ---- clocks of several captures, switches */

static void put_close(struct screen *s)
{
	struct check_row r = screen_rows(s, "close");

	while (check_next(&r)) {
		if (!check_int(&r, "close"))
			continue;
		screen_say(s, &r,
			   "{close:,} of {neighbours:,} neighbouring events of "
			   "different captures are closer than their clocks "
			   "are exact ({error_ns:n}): which came first is not "
			   "sure");
		lines_put_styled(&s->l, "clocks", STYLE_YELLOW);
	}
}

static void put_sampled(struct screen *s)
{
	struct check_row r = screen_rows(s, "sampled");

	for (int64_t n = 0; check_next(&r);) {
		screen_say(s, &r,
			   "{recorded:,} of {happened:,} recorded (sampled): "
			   "no wait is certain");
		screen_put(s, &n, "switches", true);
	}
}

/* ---- all of it */

/* Prints what is left out: what filters do not apply to, and what a server does
 * not have. */
static void put_left_out(struct screen *s)
{
	const char *what = "cookies and damage";

	if (!check_covers(s->c, CHECK_THREAD))
		what = "chains, losses, findings, order, cookies and damage";
	else if (!check_covers(s->c, CHECK_RING))
		what = "losses, order, cookies and damage";
	if (filter_given(s->c->filter))
		lines_print(&s->l, "filtered",
			    "%s cannot be told apart by these filters: left "
			    "out",
			    what);
	if (s->c->served)
		lines_print(&s->l, "not asked",
			    "order, cookies, call sites and why stacks end: "
			    "the server has sums; 'check' of a database tells");
}

static void put_sentence(void *arg, const char *sentence)
{
	struct screen *s = arg;

	lines_add(&s->l, "%s", sentence);
	screen_put(s, &s->advice, "what to do", false);
}

static void put_advice(struct screen *s)
{
	s->failed |= check_advice(s->c, put_sentence, s, s->err) < 0;
}

int check_screen(struct check *c, struct err *err)
{
	static screen_fn *const section[] = {
		put_verdict,  put_requests, put_one_frame,   put_unjoined,
		put_chains,   put_across,   put_frames,	     put_unwound,
		put_callers,  put_losses,   put_lost_by_cpu, put_lost_in_time,
		put_cookies,  put_vanished, put_findings,    put_gaps,
		put_order,    put_close,    put_sampled,     put_damage,
		put_left_out, put_advice
	};
	struct screen s = {
		.c = c,
		.l = { .out = stdout, .width = term_columns(stdout) },
		.err = err,
	};

	for (size_t i = 0; !s.failed && i < ARRAY_SIZE(section); i++)
		section[i](&s);
	return s.failed ? -1 : 0;
}
