/* check_evidence.c - the verdict of check in words, impossible frames,
 * --as-perf and --as-tid, and a line for each row of evidence (--verbose). */
#include <inttypes.h>
#include <limits.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "analyze/names/short_name.h"
#include "cli/output/grid.h"
#include "cli/output/out.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/image_status.h"
#include "stitch/text/human.h"

/* ---- the verdict in words: what is broken, or what "clean" covers */

/* Adds "N one" or "N many" to the line, after ", " if it is not the first part,
 * unless n is 0. */
static void words_add(struct lines *l, int *parts, int64_t n, const char *one,
		      const char *many)
{
	if (n)
		lines_add(l, "%s%s %s", (*parts)++ ? ", " : "",
			  HUMAN_GROUPED(n), n == 1 ? one : many);
}

static void words_add_broken(struct lines *l, const struct check_breaks *b)
{
	int parts = 0;

	words_add(l, &parts, b->requests, "request without its user stack",
		  "requests without their user stack");
	words_add(l, &parts, b->chains, "chain without a sample",
		  "chains without a sample");
	words_add(l, &parts, b->lost, "record lost", "records lost");
	words_add(l, &parts, b->vanished, "stay in the kernel vanished",
		  "stays in the kernel vanished");
	if (b->lost && b->lost_unknown)
		lines_add(l, ", and an unknown number more");
	else if (b->lost_unknown)
		lines_add(l, "%san unknown number of records lost",
			  parts++ ? ", " : "");
	words_add(l, &parts, b->unlisted,
		  "process not listed with all mappings",
		  "processes not listed with all mappings");
	words_add(l, &parts, b->out_of_order, "out of order", "out of order");
	words_add(l, &parts, b->findings, "finding", "findings");
}

static void words_add_open(struct lines *l, const struct check_breaks *b)
{
	int parts = 0;

	lines_add(l, "nothing is proved to be lost, but not provable: ");
	words_add(l, &parts, b->not_provable, "counter", "counters");
	words_add(l, &parts, b->open_findings, "finding", "findings");
	words_add(l, &parts, b->open_chains, "chain without a sample",
		  "chains without a sample");
}

/* Returns what "clean" means for the user stacks of this database. */
static const char *words_of_clean(const struct check *c)
{
	const struct check_breaks *b = &c->breaks;

	if (!b->asked)
		return c->served ? "no user stack was asked for later"
				 : "nothing out of order";
	if (b->joined + b->refused == b->asked)
		return "every user stack is there";
	return "no user stack missing without a harmless reason";
}

static const char *words_of_losses(const struct check *c)
{
	return check_covers(c, CHECK_RING) ? "nothing lost"
					   : "losses not looked at";
}

static void words_add_comma(struct lines *l)
{
	if (l->len && l->text[l->len - 1] != ' ')
		lines_add(l, ", ");
}

static void words_add_gaps(const struct check *c, struct lines *l)
{
	const struct check_breaks *b = &c->breaks;

	if (!c->limits_gaps || (!b->touched && !b->unjudged))
		return;
	words_add_comma(l);
	if (b->unjudged)
		lines_add(l, "whether records are missing without a loss is "
			     "not judged");
	else
		lines_add(l,
			  "%s of the time is touched by records missing "
			  "without a loss",
			  HUMAN_PERCENT(b->touched, b->all_time));
}

/* Adds the share of user stacks that are whole. only: "only ", or "". */
static void words_add_whole(const struct check *c, const char *only,
			    struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);
	const char *known = t.unchecked ? "known to be " : "";

	if (t.whole)
		lines_add(l, "%s%s of the user stacks are %swhole", only,
			  HUMAN_PERCENT(t.whole, t.all), known);
	else
		lines_add(l, "no user stack is %swhole", known);
}

/* Adds a doubt, such as "99.10 % of the user stacks are fabricated
 * (libpython3.11.so.1.0 has no frame pointers)". */
static void words_add_doubts(const struct check *c, struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);
	char are[TRUST_SENTENCE];

	if (c->breaks.untold)
		lines_add(l, "a text of samples does not say what was lost");
	else
		lines_add(l, "%s, but ", words_of_losses(c));
	switch (check_doubt(c)) {
	case DOUBT_UNTOLD:
		break;
	case DOUBT_FEW:
		words_add_whole(c, "only ", l);
		break;
	case DOUBT_WRONG:
		trust_say_wrong(c->trust, are);
		lines_add(l, "%s of the user stacks %s",
			  HUMAN_PERCENT(t.wrong, t.all), are);
		break;
	case DOUBT_UNPROVED:
	case DOUBT_NONE:
		lines_add(l,
			  "%s of the samples have names of files that "
			  "nothing proves",
			  HUMAN_PERCENT(t.unproved, t.counted));
		break;
	}
}

/* Adds what "clean" means, and how many stacks are whole: half may be cut. */
static void words_add_clean(const struct check *c, struct lines *l)
{
	struct trust_counts t = trust_count(c->trust);

	lines_add(l, "%s, %s", words_of_losses(c), words_of_clean(c));
	if (t.recorded && t.whole < t.all) {
		words_add_comma(l);
		words_add_whole(c, "", l);
	}
}

void check_say_verdict(const struct check *c, struct lines *l)
{
	const struct check_breaks *b = &c->breaks;

	if (b->bad) {
		words_add_broken(l, b);
		words_add_gaps(c, l);
		if (b->few_whole) {
			struct trust_counts t = trust_count(c->trust);

			words_add_comma(l);
			words_add_whole(c, "only ", l);
			/* the share may be rounded to the one demanded */
			if (t.whole)
				lines_add(l, " (%s of %s)",
					  HUMAN_GROUPED(t.whole),
					  HUMAN_GROUPED(t.all));
		}
	} else if (c->damaged)
		lines_add(l, "part of the input could not be read; nothing "
			     "else is lost");
	else if (check_is_open(b) && !b->tolerated)
		words_add_open(l, b);
	else if (!b->tolerated && check_doubt(c))
		words_add_doubts(c, l);
	else if (!b->tolerated)
		words_add_clean(c, l);
	else
		lines_add(l, "within what is tolerated: ");
	if (b->tolerated) {
		words_add_broken(l, b);
		words_add_gaps(c, l);
	}
}

/* ---- stacks that were walked through code without frame pointers: impossible
 * frames, and functions in which stacks end early */

#define IMAGES 3
#define FUNCTIONS 3
/* Least percentage of samples in no mapping that is printed. */
#define UNMAPPED_PERCENT 1

/* Prints how many samples ran in no mapping, if there are many. */
static int put_unmapped(struct check *c, struct lines *l, struct err *err)
{
	struct check_row r;

	if (check_open(c, "unmapped", &r, err) < 0)
		return -1;
	if (!check_next(&r))
		return 0;

	int64_t all = check_int(&r, "samples");
	int64_t bare = check_int(&r, "unmapped");

	if (!bare || bare * 100 < all * UNMAPPED_PERCENT)
		return 0;
	check_say_line(l, &r, "{unmapped:,} of {samples:,}");
	lines_share(l, bare, all);
	check_say_line(l, &r, " samples ran in no mapping; {touching:,}");
	lines_share(l, check_int(&r, "touching"), all);
	lines_print(l, "user code", " have a frame in none");
	return 0;
}

/* Prints fabricated stacks by image, and how many images could not be checked.
 * Returns whether it printed a line, or -1 and *err. */
static int put_fabricated(struct check *c, struct lines *l, const char *label,
			  struct err *err)
{
	struct check_row sums, r, unchecked;
	int64_t absent = 0;
	int n = 0;

	if (check_open(c, "callsites", &sums, err) < 0 ||
	    check_open(c, "fabricated", &r, err) < 0 ||
	    check_open(c, "unchecked", &unchecked, err) < 0)
		return -1;
	if (check_next(&sums) && check_int(&sums, "fabricated")) {
		check_say_line(l, &sums, "{fabricated:,} of {samples:,}");
		lines_share(l, check_int(&sums, "fabricated"),
			    check_int(&sums, "samples"));
		lines_add(l, " stacks fabricated");
	}
	for (; n < IMAGES && check_next(&r); n++) {
		lines_add(l, "%s", n ? ", " : ": after ");
		lines_clean(l, path_base(check_text(&r, "image")));
		check_say_line(l, &r, " {fabricated:,} of {samples:,}");
		if (check_int(&r, "unverified"))
			lines_add(l, " (unverified)");
	}
	if (r.n > IMAGES)
		lines_add(l, ", ...");
	while (check_next(&unchecked)) {
		enum image_status s =
			image_status_of(check_text(&unchecked, "status"));

		absent += image_is_absent(s) || s == IMAGE_OTHER_ID;
	}
	if (absent)
		lines_count(l, n ? "; not checked: " : "not checked: ", absent,
			    "image that is not here",
			    "images that are not here");
	if (n)
		lines_put_styled(l, label, STYLE_YELLOW);
	else if (absent)
		lines_put(l, label);
	return n || absent;
}

/* Prints the files that may not be those that ran. */
static int put_other_files(struct check *c, struct lines *l, const char *label,
			   struct err *err)
{
	struct check_row r;
	int n = 0;

	if (check_open(c, "not_judged", &r, err) < 0)
		return -1;
	while (check_next(&r)) {
		if (strcmp(check_text(&r, "why"), "file") != 0 || n++ >= IMAGES)
			continue;
		lines_add(l, "%s", n > 1 ? ", " : "not judged: ");
		lines_clean(l, path_base(check_text(&r, "image")));
	}
	if (n > IMAGES)
		lines_add(l, ", ...");
	if (n)
		lines_print(l, label,
			    n > 1 ? ": these may not be the files that ran"
				  : ": this may not be the file that ran");
	return 0;
}

/* Hexadecimal digits of a build-id that are printed; the JSON has all. */
#define BUILD_ID_SHOWN 12

/* Prints "halves unchecked: 6,101 for want of vmlinuz-6.18.5 (build-id 1f...),
 * 12 of ext4.ko (...): 'backstitch symbolize --symfs DIR' ...". */
static int put_kernel_files(struct check *c, struct lines *l, struct err *err)
{
	struct check_row r;
	int64_t modules = 0;
	int n = 0;

	if (check_open(c, "kernel_files", &r, err) < 0)
		return -1;
	for (; n < IMAGES && check_next(&r); n++) {
		const bool module = check_int(&r, "module");

		modules += module;
		check_say_line(l, &r,
			       n ? ", {samples:,} of "
				 : "halves unchecked: {samples:,} for want "
				   "of ");
		if (module)
			lines_clean(l, path_base(check_text(&r, "image")));
		else
			check_say_line(l, &r, "vmlinuz[-{release}]");
		const char *id = check_text(&r, "build_id");

		if (id && *id)
			lines_add(l, " (build-id %.*s)", BUILD_ID_SHOWN, id);
	}
	if (!n)
		return 0;
	if (r.n > IMAGES)
		lines_add(l, ", ...");
	if (modules)
		lines_add(l, ": 'backstitch symbolize --symfs DIR' takes them "
			     "from DIR/boot and DIR/lib/modules");
	else
		lines_add(l,
			  ": give it to 'backstitch symbolize --vmlinux FILE'");
	lines_put(l, "kernel code");
	return 0;
}

/* Prints where stacks end early: "in work of shop 28 (4.69 %)". */
static int put_ends_early(struct check *c, struct lines *l, struct err *err)
{
	int64_t all = trust_count(c->trust).all;
	struct check_row r;

	if (check_open(c, "ends_early", &r, err) < 0)
		return -1;
	for (int n = 0; n < FUNCTIONS && check_next(&r); n++) {
		const char *function = check_text(&r, "function");

		lines_add(l, "%s", n ? ", " : "in ");
		lines_clean(l, function);
		lines_add(l, "%s", function[0] ? " of " : "");
		lines_clean(l, path_base(check_text(&r, "image")));
		check_say_line(l, &r, " {samples:,}");
		lines_share(l, check_int(&r, "samples"), all);
		if (!strcmp(check_text(&r, "class"), "ends early (unread)"))
			lines_add(l, " unread");
	}
	if (r.n > FUNCTIONS)
		lines_add(l, ", ...");
	if (r.n)
		lines_put_styled(l, "end early", STYLE_YELLOW);
	return 0;
}

int check_frames(struct check *c, struct lines *l, struct err *err)
{
	static const char label[] = "user frames";
	int put;

	if (put_unmapped(c, l, err))
		return -1;
	put = put_fabricated(c, l, label, err);
	return put < 0 || put_other_files(c, l, put ? "" : label, err) ||
			       put_ends_early(c, l, err) ||
			       put_kernel_files(c, l, err)
		       ? -1
		       : 0;
}

/* ---- --as-perf and --as-tid: the stacks of the same records if they are
 * joined by perf's rule, or to the next chain of the thread */

#define SHOWN 3	    /* wrong stacks that are printed with the true ones */
#define LOOKED 1000 /* rows from which these are chosen */

struct others {
	struct check *c;
	struct lines l;

	/* events and threads of the wrong stacks already printed */
	int64_t event[SHOWN], tid[SHOWN];
	size_t shown;
	bool again; /* a thread may be printed more than once */
};

static void put_as_perf(struct others *o, const struct check_row *r)
{
	if (!check_int(r, "requests")) {
		lines_print(&o->l, "as perf",
			    "no request has a cookie: nothing to compare");
		return;
	}
	check_say_line(&o->l, r,
		       "{requests:,} requests = {merged:,} joined by perf + "
		       "{only_ours:,} joined only by us + {not_in_file:,} "
		       "whose chain is not in the file");
	static const struct {
		const char *column, *text;
	} why[] = {
		{ "loss_window", "with a loss window" },
		{ "loss_unplaced", "with a loss somewhere" },
		{ "pending_end", "pending at the end" },
		{ "exit_per_task", "of threads that ended" },
		{ "stripped", "stripped" },
	};
	const char *sep = " (";

	for (size_t i = 0; i < ARRAY_SIZE(why); i++) {
		int64_t n = check_int(r, why[i].column);

		if (!n)
			continue;
		lines_add(&o->l, "%s%s %s", sep, HUMAN_GROUPED(n), why[i].text);
		sep = ", ";
	}
	if (sep[0] == ',')
		lines_add(&o->l, ")");
	check_say_line(&o->l, r, ", {unexplained:,} unexplained");
	lines_put(&o->l, "as perf");
	lines_print(
		&o->l, "",
		"perf prints %s without a user stack, %s of them only when the file ends",
		HUMAN_GROUPED(check_int(r, "bare") +
			      check_int(r, "bare_at_end")),
		HUMAN_GROUPED(check_int(r, "bare_at_end")));
	check_say_line(&o->l, r,
		       "of the {merged:,} it joins, {other_program:,} get the "
		       "stack of another program (exec between)");
	lines_put(&o->l, "");
	check_say_line(
		&o->l, r,
		"it prints {late:,} after a later sample[, and holds one "
		"back for {longest_held_ns:n}]");
	lines_put(&o->l, "");
	if (!check_int(r, "only_perf"))
		return;
	check_say_line(&o->l, r, "{only_perf:,} are joined by perf only");
	lines_put_styled(&o->l, "", STYLE_YELLOW);
}

static void put_as_tid(struct others *o, const struct check_row *r)
{
	if (!check_int(r, "requests")) {
		lines_print(&o->l, "as tid",
			    "no request has a cookie: nothing to compare");
		return;
	}
	check_say_line(&o->l, r,
		       "{requests:,} requests = {right_stack:,} with the true "
		       "stack + {wrong_stack:,} with a wrong stack + "
		       "{no_stack:,} with none");
	lines_put(&o->l, "as tid");
	if (!check_int(r, "wrong_stack"))
		return;
	check_say_line(&o->l, r,
		       "the true stack of {wrong_joined:,} of the wrong ones "
		       "is in the file ({wrong_alike:,} have the same "
		       "addresses by chance)");
	lines_put(&o->l, "");
}

static void put_wrong(struct others *o, const struct check_row *r)
{
	bool joined = !strcmp(check_text(r, "verdict"), "matched");

	/* skip examples of a thread or an event that was printed */
	int64_t tid = check_int(r, "tid");
	int64_t event = check_int(r, "event");

	if (o->shown == SHOWN)
		return;
	if (!strcmp(check_text(r, "wrong_stack"), check_text(r, "true_stack")))
		return;
	for (size_t i = 0; i < o->shown; i++)
		if (o->event[i] == event || (!o->again && o->tid[i] == tid))
			return;
	o->event[o->shown] = event;
	o->tid[o->shown++] = tid;
	check_say_line(&o->l, r,
		       check_null(r, "time_ns") ? "event {event:d}"
						: "{time_ns:s}");
	check_say_line(&o->l, r, " {comm}/{tid:d}, cookie {cookie}");
	lines_put(&o->l, "");
	check_say_line(&o->l, r, "wrong: {wrong_stack|(empty)}");
	lines_put(&o->l, "");
	check_say_line(&o->l, r,
		       joined ? "true: {true_stack|(empty)}"
			      : "true: not in the file ({verdict})");
	lines_put(&o->l, "");
}

static int others_each(struct others *o, const char *name, long limit,
		       void (*put)(struct others *o, const struct check_row *r),
		       struct err *err)
{
	struct check_row r;

	if (check_open_live(o->c, name, limit, &r, err))
		return -1;
	while (check_next(&r))
		put(o, &r);
	return check_close(&r, err);
}

int check_others(struct check *c, struct err *err)
{
	struct others o = {
		.c = c, .l = { .out = stdout, .width = term_columns(stdout) }
	};

	putchar('\n');
	if (c->as_perf && others_each(&o, "as_perf", 0, put_as_perf, err))
		return -1;
	if (!c->as_tid)
		return 0;
	if (others_each(&o, "as_tid", 0, put_as_tid, err) ||
	    others_each(&o, "as_tid_wrong", LOOKED, put_wrong, err))
		return -1;
	o.again = true;
	return o.shown == SHOWN ? 0
				: others_each(&o, "as_tid_wrong", LOOKED,
					      put_wrong, err);
}

/* ---- a row in words, by a text with its columns: see check_say() */

#define LINE_TEXT 1024 /* bytes of a column's text in a line of the screen */

/* Writes the column whose '{' is at *at, and moves *at to its '}'. Returns
 * false if the column is NULL and the text has no word for that. */
static bool say_column(FILE *out, const struct check_row *r, const char **at,
		       bool line)
{
	const char *name = *at + 1;
	char column[32], clean[LINE_TEXT];

	*at += strcspn(*at, "}");
	snprintf(column, sizeof(column), "%.*s", (int)strcspn(name, ":|}"),
		 name);
	name += strlen(column);
	const char kind = *name == ':' ? name[1] : '\0';
	const char *noun = kind && name[2] == ' ' ? name + 2 : "";
	const char *other = memchr(name, '|', (size_t)(*at - name));
	const bool null = check_null(r, column);
	const int64_t n = check_int(r, column);
	const char *text = check_text(r, column);

	if (null && other)
		fprintf(out, "%.*s", (int)(*at - other - 1), other + 1);
	else if (kind == 'd')
		fprintf(out, "%" PRId64, n);
	else if (kind == ',')
		fputs(HUMAN_GROUPED(n), out);
	else if (kind == 's')
		fputs(HUMAN_SECONDS(n), out);
	else if (kind == 'n')
		fputs(HUMAN_NS(n), out);
	else if (!line)
		safe_text_clean(out, text, strlen(text));
	else if (safe_text_clean_buf(clean, sizeof(clean), text, strlen(text),
				     NULL))
		fputs(clean, out);
	if (*noun)
		fprintf(out, "%.*s%s", (int)strcspn(noun, "}"), noun,
			n == 1 ? "" : "s");
	return !null || other;
}

/* Writes the text at *at, and moves *at to its end or to the ']' that ends the
 * part. Returns false if say_column() did for one of its columns. */
static bool say_part(FILE *out, const struct check_row *r, const char **at,
		     bool line)
{
	bool whole = true;

	for (; **at && **at != ']'; ++*at) {
		if (**at == '{') {
			whole &= say_column(out, r, at, line);
		} else if (**at == '[') {
			char *text OWNED = NULL;
			FILE *part = mem_stream(&text, NULL);

			++*at;
			const bool has = say_part(part, r, at, line);

			mem_stream_end(part);
			fputs(has ? text : "", out);
		} else {
			putc(**at, out);
		}
	}
	return whole;
}

/* Writes a row by a text: {column} is replaced by the text of the column,
 * {column:d} by its number, {column:,} by the number in groups, {column:s} by
 * ns as seconds, {column:n} by ns as "12.3 us", {column:, gap} by "1 gap" or
 * "2 gaps"; the word after '|' is written for NULL. A part in [brackets] is
 * left out if a column in it is NULL and has no such word. */
static void check_say(FILE *out, const struct check_row *r, const char *text)
{
	say_part(out, r, &text, false);
}

void check_say_line(struct lines *l, const struct check_row *r,
		    const char *text)
{
	char *said OWNED = NULL;
	FILE *out = mem_stream(&said, NULL);

	say_part(out, r, &text, true);
	mem_stream_end(out);
	lines_add(l, "%s", said);
}

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

/* A kind of evidence: its statement, its title and the text of its lines. */
static const struct section {
	const char *name, *title, *line;
	/* writes a line if .line is NULL; names: those of functions */
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
