/* summary.c - what a database holds and what is missing from it, in words. */
#include "cli/summary.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "cli/human.h"
#include "cli/output.h"
#include "cli/term.h"
#include "schema/store.h"
#include "stitch/err.h"

/* Lines of each section before "and N more". */
#define LINES_BRIEF 3
#define LINES_FULL 20
#define INDENT 15

struct summary {
	FILE *out;
	struct store *db;
	const char *path;
	bool brief;
	int width;
	uint64_t n; /* of the section being printed */
	uint64_t samples;
	int64_t first, last;
	struct err *err;
	int64_t unnamed; /* addresses whose names nobody looked for */
	char line[2048];
	size_t len;
};

static void label(struct summary *s, const char *name)
{
	fprintf(s->out, "  %-12s ", name);
}

static void add(struct summary *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* To the line being made. */
static void add(struct summary *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(s->line + s->len, sizeof(s->line) - s->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->len += (size_t)n;
	if (s->len >= sizeof(s->line))
		s->len = sizeof(s->line) - 1;
}

/* Text of a capture. */
static void add_clean(struct summary *s, const char *text)
{
	char clean[1024];

	output_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	add(s, "%s", clean);
}

/* Prints the line, with its end in the column where it began. */
static void put(struct summary *s, const char *name)
{
	label(s, name);
	term_wrap(s->out, s->line, INDENT, INDENT, s->width);
	s->line[s->len = 0] = '\0';
}

static void put_styled(struct summary *s, const char *name,
		       enum term_style style)
{
	label(s, name);
	fputs(term_on(s->out, style), s->out);
	term_wrap(s->out, s->line, INDENT, INDENT, s->width);
	fputs(term_off(s->out), s->out);
	s->line[s->len = 0] = '\0';
}

static int each(struct summary *s, const char *query,
		void (*fn)(struct summary *s, struct rows *r))
{
	struct rows *r = rows_open(s->db, store_sql(query), NULL, 0, s->err);
	int ret;

	if (!r)
		return -1;
	s->n = 0;
	while ((ret = rows_next(r, s->err)) > 0) {
		fn(s, r);
		s->n++;
	}
	rows_close(r);
	return ret;
}

static void add_seconds(struct summary *s, int64_t ns)
{
	add(s, "%" PRId64 ".%06" PRId64, ns / 1000000000,
	    ns % 1000000000 / 1000);
}

static void put_about(struct summary *s, struct rows *r)
{
	static const int column[] = { 4, 5, 7 };

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
		const char *text = rows_text(r, (size_t)column[i]);

		if (!*text)
			continue;
		add(s, "%s", s->len ? ", " : "");
		add_clean(s, text);
	}
	if (rows_int(r, 9))
		add(s, "%s%" PRId64 " CPU%s", s->len ? ", " : "",
		    rows_int(r, 9), rows_int(r, 9) == 1 ? "" : "s");
	if (s->len)
		put(s, "recorded on");
	if (*rows_text(r, 8)) {
		add_clean(s, rows_text(r, 8));
		put(s, "command");
	}
	if (*rows_text(r, 6)) {
		add_clean(s, rows_text(r, 6));
		put(s, "recorder");
	}
}

static void take_range(struct summary *s, struct rows *r)
{
	s->samples += (uint64_t)rows_int(r, 14);
	if (!rows_int(r, 12))
		return;
	if (!s->last || rows_int(r, 11) < s->first)
		s->first = rows_int(r, 11);
	if (rows_int(r, 12) > s->last)
		s->last = rows_int(r, 12);
}

static void put_time(struct summary *s, struct rows *r)
{
	int64_t first = rows_int(r, 11);
	int64_t last = rows_int(r, 12);
	char a[32];

	add_seconds(s, first);
	add(s, " to ");
	add_seconds(s, last);
	add(s, " s, %s on clock %s", human_ns(a, sizeof(a), last - first),
	    *rows_text(r, 10) ? rows_text(r, 10) : "unknown");
	put(s, "time");
}

static void put_capture(struct summary *s, struct rows *r)
{
	char a[32];

	add_clean(s, rows_text(r, 1));
	add(s, " (%s", rows_text(r, 2));
	if (*rows_text(r, 18)) {
		add(s, ", ");
		add_clean(s, rows_text(r, 18));
	}
	add(s, ", %s)", human_bytes(a, sizeof(a), (uint64_t)rows_int(r, 3)));
	put(s, "capture");
	put_about(s, r);
	if (rows_int(r, 12))
		put_time(s, r);
	add(s, rows_int(r, 16) ? "exact: nothing can come late"
			       : "by finished rounds");
	put(s, "order");
	if (!rows_int(r, 17)) {
		add(s, "no: see damage");
		put(s, "complete");
	}
}

static void put_event(struct summary *s, struct rows *r)
{
	char a[32];

	/* perf adds an event of its own that never counts */
	if (!rows_int(r, 5) && !strncmp(rows_text(r, 1), "dummy:", 6)) {
		s->n--;
		return;
	}
	add_clean(s, rows_text(r, 1));
	add(s, ": %s %s", human_count(a, sizeof(a), (uint64_t)rows_int(r, 5)),
	    strcmp(rows_text(r, 2), "sample") ? "records" : "samples");
	if (rows_int(r, 4))
		add(s, ", deferred user stacks");
	else if (!rows_int(r, 3) && !strcmp(rows_text(r, 2), "sample"))
		add(s, ", no stacks");
	put(s, s->n ? "" : "events");
}

static void add_count(struct summary *s, const char *before, int64_t n,
		      const char *one, const char *many)
{
	add(s, "%s%" PRId64 " %s", before, n, n == 1 ? one : many);
}

static void put_counts(struct summary *s, struct rows *r)
{
	add_count(s, "", rows_int(r, 0), "process", "processes");
	add_count(s, ", ", rows_int(r, 1), "thread", "threads");
	add_count(s, ", ", rows_int(r, 3), "image", "images");
	add_count(s, ", ", rows_int(r, 6), "stack", "stacks");
	put(s, "holds");
	add_count(s, "", rows_int(r, 5), "of", "of");
	add_count(s, " ", rows_int(r, 4), "address", "addresses");
	add(s, " in code %s",
	    rows_int(r, 5) == 1 ? "has a name" : "have a name");
	put(s, "names");
}

/* All verdicts of a kind in one line: "9 requests: 7 matched, 2 refused". */
struct verdict_line {
	char text[1024];
	size_t len;
	int64_t sum;
	bool missing; /* of some there is no user stack */
};

static void gather(struct verdict_line *l, struct rows *r)
{
	const char *verdict = rows_text(r, 1);
	bool doubt = !strcmp(rows_text(r, 2), "unexplained") &&
		     strcmp(verdict, "unexplained");
	char clean[64];
	int n;

	output_clean_buf(clean, sizeof(clean), verdict, strlen(verdict), NULL);
	n = snprintf(l->text + l->len, sizeof(l->text) - l->len,
		     "%s%" PRId64 " %s%s", l->len ? ", " : "", rows_int(r, 3),
		     clean, doubt ? " (unexplained)" : "");
	if (n > 0 && (size_t)n < sizeof(l->text) - l->len)
		l->len += (size_t)n;
	l->sum += rows_int(r, 3);
	if (strcmp(verdict, "matched") && strcmp(verdict, "refused"))
		l->missing = true;
}

static void put_line(struct summary *s, const char *name, const char *what,
		     const struct verdict_line *l)
{
	if (!l->sum)
		return;
	add(s, "%" PRId64 " %s: %.*s", l->sum, what, (int)l->len, l->text);
	put(s, name);
}

static int put_verdicts(struct summary *s)
{
	struct verdict_line request = { .sum = 0 };
	struct verdict_line chain = { .sum = 0 };
	struct rows *r =
		rows_open(s->db, store_sql("info_verdicts"), NULL, 0, s->err);
	int ret;

	if (!r)
		return -1;
	while ((ret = rows_next(r, s->err)) > 0)
		gather(strcmp(rows_text(r, 0), "request") ? &chain : &request,
		       r);
	rows_close(r);
	put_line(s, "user stacks", "asked for", &request);
	if (!s->brief)
		put_line(s, "chains", "recorded", &chain);
	if (request.missing || (!s->brief && request.sum)) {
		add(s, "'backstitch help verdicts' explains the words");
		put(s, "");
	}
	return ret;
}

static void put_loss(struct summary *s, struct rows *r)
{
	const char *what = rows_text(r, 1);

	add(s, "%" PRId64 " records ", rows_int(r, 2));
	if (!strcmp(what, "lost"))
		add(s, "in %" PRId64 " gap%s", rows_int(r, 3),
		    rows_int(r, 3) == 1 ? "" : "s");
	else if (!strcmp(what, "lost_total"))
		add(s, "by the kernel's own count");
	else
		add(s, "(%s)", what);
	put_styled(s, s->n ? "" : "lost", STYLE_YELLOW);
}

static void put_ordering(struct summary *s, struct rows *r)
{
	char a[32];

	if (s->brief && !strcmp(rows_text(r, 1), "round"))
		return;
	add(s, "%" PRId64 " (%s), at worst by %s", rows_int(r, 2),
	    rows_text(r, 1), human_ns(a, sizeof(a), rows_int(r, 3)));
	put(s, "out of order");
}

static void put_damage(struct summary *s, struct rows *r)
{
	const char *kind = rows_text(r, 1);
	bool damage = !strcmp(kind, "damage");

	if (s->brief && !damage)
		return;
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	if (*rows_text(r, 6)) {
		add_clean(s, rows_text(r, 6));
	} else {
		add_clean(s, rows_text(r, 2));
		if (rows_value(r, 3).kind == VALUE_INT)
			add(s, " at 0x%" PRIx64, rows_int(r, 3));
	}
	if (rows_int(r, 5) > 1)
		add(s, " (%" PRId64 " times)", rows_int(r, 5));
	if (damage)
		put_styled(s, kind, STYLE_RED);
	else
		put(s, kind);
}

static void put_unnamed(struct summary *s, struct rows *r)
{
	const char *status = rows_text(r, 1);
	const char *plural = rows_int(r, 2) == 1 ? "" : "es";
	bool named = !strcmp(status, "named") || !strcmp(status, "unverified");

	/* --no-symbols: one line about all of them */
	if (!*status) {
		s->unnamed += rows_int(r, 2);
		s->n--;
		return;
	}
	/* a few addresses outside all symbols are not worth a line here */
	if (named && s->brief) {
		s->n--;
		return;
	}
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	add_clean(s, rows_text(r, 0));
	if (named)
		add(s, ": %" PRId64 " address%s in no symbol", rows_int(r, 2),
		    plural);
	else
		add(s, ": %s, %" PRId64 " address%s", status, rows_int(r, 2),
		    plural);
	put(s, s->n ? "" : "no names for");
}

static void put_more(struct summary *s, const char *one, const char *many)
{
	uint64_t shown = s->brief ? LINES_BRIEF : LINES_FULL;

	if (s->n <= shown)
		return;
	add(s, "and %" PRIu64 " more %s%s%s%s", s->n - shown,
	    s->n - shown == 1 ? one : many,
	    s->brief ? "; see 'backstitch info " : "", s->brief ? s->path : "",
	    s->brief ? "'" : "");
	put(s, "");
}

/* "perf.db: 7832 samples over 2.31 s" */
static void put_title(struct summary *s)
{
	char n[32];
	char t[32];

	fprintf(s->out, "%s%s%s", term_on(s->out, STYLE_BOLD), s->path,
		term_off(s->out));
	fprintf(s->out, ": %s samples", human_count(n, sizeof(n), s->samples));
	if (s->last > s->first)
		fprintf(s->out, " over %s",
			human_ns(t, sizeof(t), s->last - s->first));
	putc('\n', s->out);
}

int summary_print(FILE *out, struct store *db, const char *path, bool brief,
		  struct err *err)
{
	struct summary s = { .out = out,
			     .db = db,
			     .path = path,
			     .brief = brief,
			     /* grep wants a fact in one line */
			     .width = term_is_terminal(out) ? term_columns(out)
							    : INT_MAX,
			     .err = err };

	if (each(&s, "info_captures", take_range))
		return -1;
	put_title(&s);
	if (!brief && (each(&s, "info_captures", put_capture) ||
		       each(&s, "info_counts", put_counts)))
		return -1;
	if (each(&s, "info_events", put_event) || put_verdicts(&s) ||
	    each(&s, "info_loss", put_loss) ||
	    each(&s, "info_ordering", put_ordering) ||
	    each(&s, "info_damage", put_damage) ||
	    each(&s, "info_unnamed", put_unnamed))
		return -1;
	put_more(&s, "image", "images");
	if (s.unnamed) {
		add(&s,
		    "not looked for of %" PRId64 " address%s; 'backstitch "
		    "symbolize %s' does",
		    s.unnamed, s.unnamed == 1 ? "" : "es", path);
		put(&s, "no names");
	}
	if (s.n && brief) {
		add(&s,
		    "to name them: 'backstitch symbolize --symfs DIR "
		    "--kallsyms FILE %s'",
		    path);
		put(&s, "");
	}
	return 0;
}

int summary_json(FILE *out, struct store *db, struct err *err)
{
	static const char *const section[] = {
		"captures", "events",	"counts", "verdicts",
		"loss",	    "ordering", "damage", "unnamed",
	};
	struct json_object *all = json_object_new_object();
	int ret = -1;

	for (size_t i = 0; i < sizeof(section) / sizeof(section[0]); i++) {
		char name[32];
		struct json_object *a;
		struct rows *r;

		snprintf(name, sizeof(name), "info_%s", section[i]);
		r = rows_open(db, store_sql(name), NULL, 0, err);
		if (!r)
			goto out;
		a = output_json_rows(r, err);
		rows_close(r);
		if (!a)
			goto out;
		json_object_object_add(all, section[i], a);
	}
	output_json_put(out, all, true);
	putc('\n', out);
	ret = 0;
out:
	json_object_put(all);
	return ret;
}

int summary_strict(struct store *db, bool *bad, struct err *err)
{
	struct rows *r =
		rows_open(db, store_sql("strict_breaches"), NULL, 0, err);
	int ret;

	*bad = false;
	if (!r)
		return -1;
	ret = rows_next(r, err);
	for (size_t i = 0; ret > 0 && i < rows_columns(r); i++)
		if (rows_int(r, i))
			*bad = true;
	rows_close(r);
	return ret < 0 ? -1 : 0;
}
