/* check_screen.c - the first screen of check: verdict, reasons and advice, in
 * 24 lines of 80 columns. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/audit/check.h"
#include "cli/output/human.h"
#include "cli/output/lines.h"
#include "cli/output/safe_text.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/base/path.h"
#include "stitch/base/saturate.h"

#define IMAGES 3   /* images listed for their stacks of one frame */
#define CPUS 12	   /* CPUs listed for their losses */
#define PARTS 50   /* parts of the time, as in check_lost_in_time */
#define FINDINGS 4 /* rules listed with their findings */
#define DAMAGE 2   /* kinds of damage listed */
#define ACROSS 4   /* pairs of captures listed */
#define LABEL_INDENT 2

struct screen {
	struct check *c;
	struct lines l;
	struct err *err;
	int64_t n; /* rows of the section being printed */

	int64_t requests, joined, refused, one_frame;
	int64_t lost, records;
	int64_t cpus;	     /* with losses */
	int64_t part[PARTS]; /* lost records in each part of the time */
	int64_t parts;
	int64_t first, last;
	int64_t whole; /* captures in which each cookie has a chain */
};

/* Adds "N what" to the line unless n is 0, with ", " between two of them. */
static void add_part(struct screen *s, int64_t n, const char *text)
{
	if (!n)
		return;
	lines_add(&s->l, "%s%" PRId64 " %s", s->n ? ", " : "", n, text);
	s->n++;
}

/* Prints a section: calls fn for each row of a statement, at most max (0: all).
 * Returns the number of all rows, or -1. */
static int64_t screen_each(struct screen *s, const char *name, int64_t max,
			   check_fn *fn)
{
	s->n = 0;
	return check_each(s->c, name, max, fn, s, s->err);
}

/* ---- the verdict */

static void screen_put_verdict(struct screen *s)
{
	struct check *c = s->c;
	const char *word = check_verdict(c);
	enum term_style style = STYLE_GREEN;
	int at;

	if (c->breaks.bad)
		style = STYLE_RED;
	else if (strcmp(word, "clean") != 0)
		style = STYLE_YELLOW;
	fprintf(s->l.out, "%s", term_on(s->l.out, STYLE_BOLD));
	safe_text_put(s->l.out, c->path, 0, 0);
	fprintf(s->l.out, "%s: %s", term_off(s->l.out),
		term_on(s->l.out, style));
	at = (int)safe_text_cells(c->path) + 2;
	lines_add(&s->l, "%s: ", word);
	check_say_verdict(c, &s->l);
	term_wrap(s->l.out, s->l.text, at, LABEL_INDENT, s->l.width);
	fputs(term_off(s->l.out), s->l.out);
	s->l.text[s->l.len = 0] = '\0';
}

/* ---- requests and chains */

static void put_requests(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	struct lines *l = &s->l;
	int64_t cookie = check_int(r, "with_cookie");
	int64_t waiting = s->requests - s->refused;

	if (!s->requests)
		return;
	lines_count(l, "", s->requests, "user stack: ", "user stacks: ");
	lines_add(l, "%" PRId64 " later by cookie", cookie);
	if (waiting > cookie)
		lines_add(l, ", %" PRId64 " without one", waiting - cookie);
	if (s->refused)
		lines_add(l, ", %" PRId64 " at once (refused)", s->refused);
	lines_put(l, "asked for");
	lines_add(l, "%" PRId64 " of %" PRId64, s->joined, waiting);
	lines_share(l, s->joined, waiting);
	s->n = 1;
	add_part(s, check_int(r, "after"), "after their chain");
	add_part(s, check_int(r, "exec_between"), "across exec");
	add_part(s, check_int(r, "other_capture"), "from another capture");
	lines_put(l, "joined");
	if (check_int(r, "empty"))
		lines_print(l, "",
			    "%" PRId64
			    " empty: the kernel found no address in user mode",
			    check_int(r, "empty"));
}

static void screen_add_image(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	s->one_frame += check_int(r, "requests");
	if (s->n++ >= IMAGES)
		return;
	lines_add(&s->l, "%s", s->n > 1 ? ", " : "");
	lines_clean(&s->l, path_base(check_text(r, "image")));
	lines_add(&s->l, " %" PRId64, check_int(r, "requests"));
}

static int put_one_frame(struct screen *s)
{
	char images[sizeof(s->l.text)];
	int64_t n;

	n = screen_each(s, "one_frame", 0, screen_add_image);
	snprintf(images, sizeof(images), "%s", s->l.text);
	s->l.text[s->l.len = 0] = '\0';
	if (n < 0)
		return -1;
	if (!s->one_frame)
		return 0;
	lines_add(&s->l, "%" PRId64, s->one_frame);
	lines_share(&s->l, s->one_frame, s->joined);
	lines_print(&s->l, "", " with only one frame: %s%s", images,
		    n > IMAGES ? ", ..." : "");
	return 0;
}

/* Stacks that were unwound from dumps, by why they end. */
static void add_ended(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	lines_add(&s->l, "%s%" PRId64 " %s", s->n++ ? ", " : "",
		  check_int(r, "samples"), check_text(r, "ended"));
}

/* Chains without a caller. */
static void put_callers(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t inferred = check_int(r, "inferred");

	if (inferred)
		lines_print(&s->l, "callers",
			    "inferred in %" PRId64 " sample%s, whose innermost "
			    "frame showed none",
			    inferred, inferred == 1 ? "" : "s");
}

static void put_unjoined(void *arg, const struct check_row *r)
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
	struct screen *s = arg;

	s->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(verdict); i++) {
		int64_t n = check_int(r, verdict[i].word);
		const char *label = s->n ? "" : "not joined";

		if (!n)
			continue;
		s->n++;
		lines_add(&s->l, "%" PRId64 " %s: %s", n, verdict[i].word,
			  verdict[i].why);
		if (verdict[i].harmless)
			lines_put(&s->l, label);
		else
			lines_put_styled(&s->l, label, STYLE_YELLOW);
	}
}

static void put_chains(void *arg, const struct check_row *r)
{
	static const char *const word[] = {
		"used",	     "sample_lost", "foreign_session", "overwritten",
		"duplicate", "unjoinable",  "unexplained"
	};
	struct screen *s = arg;

	if (!check_int(r, "chains"))
		return;
	lines_add(&s->l, "%" PRId64 " recorded: ", check_int(r, "chains"));
	s->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		add_part(s, check_int(r, word[i]),
			 strcmp(word[i], "foreign_session") ? word[i]
							    : "foreign");
	if (check_int(r, "after_exit"))
		lines_add(&s->l, "; %" PRId64 " after their thread's exit",
			  check_int(r, "after_exit"));
	lines_put(&s->l, "chains");
}

static void screen_put_across(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	lines_count(&s->l, "", check_int(r, "requests"), "request of capture ",
		    "requests of capture ");
	lines_add(&s->l, "%" PRId64, check_int(r, "asked_by"));
	lines_count(&s->l, " by ", check_int(r, "chains"), "chain of capture ",
		    "chains of capture ");
	lines_print(&s->l, s->n++ ? "" : "across", "%" PRId64,
		    check_int(r, "recorded_by"));
}

static void put_copies(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	lines_count(&s->l, "", check_int(r, "chains"), "chain", "chains");
	lines_print(&s->l, s->n++ ? "" : "across",
		    " recorded by capture %" PRId64 " and %" PRId64
		    ": stored once",
		    check_int(r, "recorded_by"), check_int(r, "also_by"));
}

/* ---- losses */

/* Prints a kind of loss in words. Kinds that do not count repeat drops that
 * another kind counts, or are no drops. */
static void screen_add_loss(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	const char *what = check_text(r, "what");
	int64_t n = check_int(r, "records");

	if (!check_int(r, "counts"))
		return;
	if (!strcmp(what, "silent")) {
		lines_add(&s->l, "%s", s->n++ ? ", " : "");
		lines_count(&s->l, "", check_int(r, "intervals"), "gap",
			    "gaps");
		lines_add(&s->l, " that no recorder counted");
		return;
	}
	int64_t unknown = check_int(r, "unknown");

	lines_add(&s->l, "%s", s->n++ ? ", " : "");
	if (n || !unknown)
		lines_add(&s->l, "%" PRId64, n);
	else
		lines_add(&s->l, "an unknown number");
	if (!strcmp(what, "lost")) {
		lines_count(&s->l, " in ", check_int(r, "intervals"), "gap",
			    "gaps");
	} else if (!strcmp(what, "lost_end")) {
		lines_add(&s->l, " at end");
	} else if (!strcmp(what, "hardware")) {
		lines_add(&s->l, " by the hardware");
	} else {
		lines_add(&s->l, " ");
		lines_clean(&s->l, what);
	}
	if (n && unknown)
		lines_count(&s->l, " and ", unknown, "time an unknown number",
			    "times an unknown number");
}

static void add_other_loss(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	const char *what = check_text(r, "what");

	if (check_int(r, "counts") || !strcmp(what, "lost") ||
	    !strcmp(what, "lost_total"))
		return;
	lines_add(&s->l, "%s", s->n++ ? ", " : "");
	if (!strcmp(what, "silent")) { /* not so of who may have paused */
		lines_count(&s->l, "switches that do not join in ",
			    check_int(r, "intervals"), "place", "places");
		lines_add(&s->l, ": recording paused, or records are missing");
		return;
	}
	lines_clean(&s->l, what);
	lines_count(&s->l, " ", check_int(r, "intervals"), "time", "times");
	if (check_int(r, "records"))
		lines_add(&s->l, " (%" PRId64 ")", check_int(r, "records"));
}

static void screen_take_cpu(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	if (s->n++ >= CPUS)
		return;
	lines_add(&s->l, "%s", s->n > 1 ? ", " : "");
	if (check_null(r, "cpu"))
		lines_add(&s->l, "not known: ");
	else
		lines_add(&s->l, "%" PRId64 ": ", check_int(r, "cpu"));
	lines_add(&s->l, "%" PRId64, check_int(r, "records"));
}

static void screen_take_part(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t i = check_int(r, "part");

	if (i < 0 || i >= PARTS)
		return;
	s->part[i] = check_int(r, "records");
	s->parts++;
}

/* Losses over time: one character for each fiftieth of the capture. */
static void put_in_time(struct screen *s)
{
	static const char level[] = " .:-=*#";
	char bar[PARTS + 1];
	char span[32];
	int64_t most = 1;

	for (size_t i = 0; i < PARTS; i++)
		most = s->part[i] > most ? s->part[i] : most;
	for (size_t i = 0; i < PARTS; i++) {
		int64_t n = s->part[i];
		double at = n > 0 ? (double)n / (double)most : 0;

		bar[i] = level[n > 0 ? 1 + (size_t)(at * 5) : 0];
	}
	bar[PARTS] = '\0';
	fprintf(s->l.out, "  %-12s |%s| %s\n", "in time", bar,
		human_ns(span, sizeof(span),
			 saturating_apart(s->last, s->first)));
}

static int screen_put_losses(struct screen *s)
{
	int64_t seen = s->lost + s->records;
	char *kinds = s->l.text;

	if (s->lost && s->records) {
		lines_add(&s->l, "%" PRId64 " of %" PRId64 " records", s->lost,
			  seen);
		lines_share(&s->l, s->lost, seen);
		lines_add(&s->l, ": ");
	}
	if (screen_each(s, "losses", 0, screen_add_loss) < 0)
		return -1;
	if (!*kinds && s->c->breaks.lost_unknown)
		lines_add(&s->l, "nobody knows how many records");
	if (*kinds) {
		lines_put_styled(&s->l, "lost", STYLE_YELLOW);
	} else if (check_covers(CHECK_RING)) {
		lines_print(&s->l, "lost", "no record");
	}
	if (screen_each(s, "losses", 0, add_other_loss) < 0)
		return -1;
	if (s->n)
		lines_put(&s->l, "also");
	s->cpus = screen_each(s, "lost_by_cpu", 0, screen_take_cpu);
	if (s->cpus < 0)
		return -1;
	if (s->cpus > CPUS)
		lines_add(&s->l, ", and %" PRId64 " more CPUs", s->cpus - CPUS);
	if (s->cpus)
		lines_put(&s->l, "by CPU");
	if (screen_each(s, "lost_in_time", 0, screen_take_part) < 0)
		return -1;
	if (s->parts && s->last > s->first && s->l.width >= PARTS + 25)
		put_in_time(s);
	return 0;
}

/* ---- cookies */

static void put_reconciliation(struct screen *s, const struct check_row *r)
{
	int64_t bare = check_int(r, "no_chain");
	int64_t missing = check_int(r, "missing");

	if (!bare && !missing) {
		if (s->whole++)
			return;
		lines_print(&s->l, s->n++ ? "" : "cookies",
			    "each has its chain, no counter is missing");
		return;
	}
	lines_add(&s->l,
		  "without chain: %" PRId64 " sample-only + %" PRId64
		  " missing = %" PRId64,
		  bare, missing, bare + missing);
	if (!check_null(r, "kernel_lost"))
		lines_add(&s->l,
			  "; the kernel counted %" PRId64 " lost records of "
			  "the event that writes chains",
			  check_int(r, "kernel_lost"));
	else
		lines_add(&s->l, "; the file has no count of the kernel's to "
				 "compare with");
	lines_put(&s->l, s->n++ ? "" : "cookies");
}

static void put_cookies(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t missing = check_int(r, "missing");
	int64_t lost = check_int(r, "missing_lost");
	int64_t bad = check_int(r, "missing_uncounted");
	int64_t doubtful = check_int(r, "missing_doubtful");

	put_reconciliation(s, r);
	if (!missing)
		return;
	if (doubtful && (bad || lost)) {
		lines_add(&s->l,
			  "of the missing ones losses explain %" PRId64
			  ", nothing explains %" PRId64
			  ", not provable: %" PRId64 " counters",
			  lost, bad, doubtful);
		if (!check_null(r, "reason")) {
			lines_add(&s->l, " (");
			lines_clean(&s->l, check_text(r, "reason"));
			lines_add(&s->l, ")");
		}
		lines_put_styled(&s->l, "", STYLE_YELLOW);
	} else if (doubtful && check_null(r, "reason")) {
		lines_print(&s->l, "",
			    "not provable: %" PRId64 " counters, which may be "
			    "older than the capture",
			    doubtful);
	} else if (!check_null(r, "reason")) {
		lines_add(&s->l,
			  "not provable: %" PRId64 " counters: ", missing);
		lines_clean(&s->l, check_text(r, "reason"));
		lines_put(&s->l, "");
	} else if (lost == missing) {
		lines_add(&s->l, "the missing ones (");
		lines_count(&s->l, "in ", check_int(r, "gaps"), "gap", "gaps");
		lines_print(&s->l, "", ") are all explained by losses");
	} else {
		lines_add(&s->l,
			  "of the missing ones losses explain %" PRId64
			  ", nothing explains %" PRId64,
			  lost, bad);
		lines_put_styled(&s->l, "", bad ? STYLE_YELLOW : STYLE_DIM);
	}
}

/* "3 stays on CPU 1 in 2 gaps (12.345678 to 12.400000)" */
static void put_vanished(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	if (s->n >= CPUS) {
		s->n++;
		return;
	}
	lines_count(&s->l, s->n ? ", " : "", check_int(r, "stays"), "stay",
		    "stays");
	lines_add(&s->l, " on CPU %" PRId64, check_int(r, "cpu"));
	if (check_int(r, "gaps") > 1)
		lines_add(&s->l, " in %" PRId64 " gaps", check_int(r, "gaps"));
	lines_add(&s->l, " (");
	if (!check_null(r, "from_ns"))
		lines_seconds(&s->l, check_int(r, "from_ns"));
	lines_add(&s->l, " to ");
	if (!check_null(r, "to_ns"))
		lines_seconds(&s->l, check_int(r, "to_ns"));
	lines_add(&s->l, ")");
	s->n++;
}

/* Stays in the kernel that left neither a sample nor a chain, and no loss. */
static int screen_put_vanished(struct screen *s)
{
	if (screen_each(s, "vanished", 0, put_vanished) < 0)
		return -1;
	if (!s->n)
		return 0;
	if (s->n > CPUS)
		lines_add(&s->l, ", and on %" PRId64 " more CPUs", s->n - CPUS);
	lines_put_styled(&s->l, "vanished", STYLE_YELLOW);
	return 0;
}

/* ---- findings, order, damage */

/* Lists rules whose findings a loss explains; the loss itself is printed
 * above. */
static void add_explained(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t n = check_int(r, "explained");

	if (!n)
		return;
	lines_add(&s->l, "%s%" PRId64 " ", s->n++ ? ", " : "", n);
	lines_clean(&s->l, check_text(r, "rule"));
}

static void screen_put_finding(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t n = check_int(r, "findings") - check_int(r, "explained");

	if (!n)
		return;
	lines_add(&s->l, "%" PRId64 " ", n);
	lines_clean(&s->l, check_text(r, "rule"));
	lines_add(&s->l, ": ");
	lines_clean(&s->l, check_text(r, "proves"));
	if (check_int(r, "breaks"))
		lines_put_styled(&s->l, s->n ? "" : "findings", STYLE_YELLOW);
	else
		lines_put(&s->l, s->n ? "" : "findings");
	s->n++;
}

static void put_not_followed(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	(void)r;
	s->n++;
	lines_print(&s->l, "findings",
		    "none, but whether switches are missing is not judged: not "
		    "all were to be recorded, or the recorder may have paused");
}

static int put_findings(struct screen *s)
{
	int64_t n;

	if (screen_each(s, "findings", FINDINGS, add_explained) < 0)
		return -1;
	if (s->n) {
		lines_print(&s->l, "findings", ": by the losses");
	}
	n = check_each(s->c, "findings", FINDINGS, screen_put_finding, s,
		       s->err);
	if (n < 0)
		return -1;
	if (!n && check_can(s->c, "findings")) {
		if (screen_each(s, "not_followed", 1, put_not_followed) < 0)
			return -1;
		if (!s->n)
			lines_print(&s->l, "findings",
				    "none: every effect has its cause");
	}
	if (n > FINDINGS) {
		lines_print(&s->l, "", "and of %" PRId64 " more rules",
			    n - FINDINGS);
	}
	return 0;
}

static void screen_put_gaps(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	int64_t places = check_int(r, "places");
	char share[16];

	if (!places)
		return;
	lines_add(&s->l, "%s of the time of the CPUs is touched by ",
		  human_percent(share, sizeof(share),
				(double)check_int(r, "touched_ns"),
				(double)check_int(r, "all_ns")));
	lines_count(&s->l, "", places, "place", "places");
	lines_print(&s->l, "gaps",
		    " in which records are missing without a loss");
}

/* Records that break the recorder's promised order do no harm: a file is
 * ordered by time in any case. */
static void screen_put_order(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	const char *what = check_text(r, "what");
	bool round = !strcmp(what, "round");
	char by[32];

	lines_add(&s->l, "%" PRId64 " ", check_int(r, "records"));
	lines_add(&s->l, round ? "behind a finished round" : "out of order (");
	if (!round) {
		lines_clean(&s->l, what);
		lines_add(&s->l, ")");
	}
	if (!check_null(r, "worst_ns"))
		lines_add(&s->l, ", at worst by %s",
			  human_ns(by, sizeof(by), check_int(r, "worst_ns")));
	if (round) {
		lines_print(&s->l, s->n ? "" : "order", "; sorted here");
	} else {
		lines_put_styled(&s->l, s->n ? "" : "order", STYLE_YELLOW);
	}
	s->n++;
}

static void screen_put_damage(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	lines_count(&s->l, "", check_int(r, "places"), "place", "places");
	lines_add(&s->l, " (");
	lines_clean(&s->l, check_text(r, "what"));
	lines_add(&s->l, ")");
	if (!check_null(r, "first_off"))
		lines_add(&s->l, ", first at 0x%" PRIx64,
			  (uint64_t)check_int(r, "first_off"));
	lines_put_styled(&s->l, s->n++ ? "" : "damage", STYLE_RED);
}

/* ---- clocks of several captures */

static void put_close(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	char ns[32];

	if (!check_int(r, "close"))
		return;
	lines_add(&s->l,
		  "%" PRId64 " of %" PRId64 " neighbouring events of different "
		  "captures are closer than their clocks are exact (%s): which "
		  "came first is not sure",
		  check_int(r, "close"), check_int(r, "neighbours"),
		  human_ns(ns, sizeof(ns), check_int(r, "error_ns")));
	lines_put_styled(&s->l, "clocks", STYLE_YELLOW);
}

static void screen_put_sampled(void *arg, const struct check_row *r)
{
	struct screen *s = arg;
	char n[32];

	lines_add(&s->l, "%s of ",
		  human_grouped(n, sizeof(n),
				(uint64_t)check_int(r, "recorded")));
	lines_add(&s->l, "%s recorded (sampled): no wait is certain",
		  human_grouped(n, sizeof(n),
				(uint64_t)check_int(r, "happened")));
	lines_put_styled(&s->l, s->n++ ? "" : "switches", STYLE_YELLOW);
}

/* ---- all of it */

static void screen_take_requests(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	s->requests = check_int(r, "requests");
	s->joined = check_int(r, "matched") + check_int(r, "empty");
	s->refused = check_int(r, "refused");
}

static void screen_take_capture(void *arg, const struct check_row *r)
{
	struct screen *s = arg;

	if (check_null(r, "first_ns") || check_null(r, "last_ns"))
		return;
	if (!s->last || check_int(r, "first_ns") < s->first)
		s->first = check_int(r, "first_ns");
	if (check_int(r, "last_ns") > s->last)
		s->last = check_int(r, "last_ns");
}

static void put_sentence(void *arg, const char *sentence)
{
	struct screen *s = arg;

	lines_print(&s->l, s->n++ ? "" : "what to do", "%s", sentence);
}

/* Says what filters cannot be applied to. */
static void put_filter_note(struct screen *s)
{
	const char *what = "cookies and damage";

	if (!filter_given())
		return;
	if (filter.event)
		what = "chains, losses, findings, order, cookies and damage";
	else if (!check_covers(CHECK_RING))
		what = "losses, order, cookies and damage";
	lines_print(&s->l, "filtered",
		    "%s cannot be told apart by these filters: left out", what);
}

int check_screen(struct check *c, struct err *err)
{
	struct screen s = {
		.c = c,
		.l = { .out = stdout, .width = term_columns(stdout) },
		.err = err,
		.lost = c->breaks.lost,
		.records = c->breaks.records,
	};
	char trust[TRUST_SENTENCE];
	int64_t n;

	if (screen_each(&s, "requests", 0, screen_take_requests) < 0 ||
	    screen_each(&s, "captures", 0, screen_take_capture) < 0)
		return -1;
	screen_put_verdict(&s);
	trust_say(c->trust, trust);
	fprintf(s.l.out, "%*s", LABEL_INDENT, "");
	term_wrap(s.l.out, trust, LABEL_INDENT, LABEL_INDENT, s.l.width);
	if (screen_each(&s, "requests", 0, put_requests) < 0 ||
	    put_one_frame(&s) ||
	    screen_each(&s, "requests", 0, put_unjoined) < 0 ||
	    screen_each(&s, "chains", 0, put_chains) < 0 ||
	    screen_each(&s, "across", ACROSS, screen_put_across) < 0 ||
	    check_each(c, "copies", ACROSS, put_copies, &s, err) < 0 ||
	    check_frames(c, &s.l, err) ||
	    screen_each(&s, "unwound", 0, add_ended) < 0)
		return -1;
	if (s.n)
		lines_put(&s.l, "unwound");
	if (screen_each(&s, "callers", 0, put_callers) < 0 ||
	    screen_put_losses(&s))
		return -1;
	if (c->breaks.all_stacks &&
	    (screen_each(&s, "cookies", 0, put_cookies) < 0 ||
	     screen_put_vanished(&s)))
		return -1;
	if (put_findings(&s))
		return -1;
	if (screen_each(&s, "gaps", 1, screen_put_gaps) < 0)
		return -1;
	n = screen_each(&s, "ordering", 0, screen_put_order);
	if (n < 0)
		return -1;
	if (!n && check_can(c, "ordering"))
		lines_print(&s.l, "order", "kept by every record");
	if (screen_each(&s, "close", 0, put_close) < 0 ||
	    screen_each(&s, "sampled", 0, screen_put_sampled) < 0 ||
	    screen_each(&s, "damage", DAMAGE, screen_put_damage) < 0)
		return -1;
	put_filter_note(&s);
	if (c->served)
		lines_print(&s.l, "not asked",
			    "order, cookies, call sites and why stacks end: "
			    "the server has sums; 'check' of a database tells");
	s.n = 0;
	return check_advice(c, put_sentence, &s, err);
}
