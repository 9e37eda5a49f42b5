/* summary.c - what a database holds and what is missing from it, in words. */
#include "cli/summary.h"

#include <inttypes.h>
#include <json-c/json.h>
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
};

static void label(struct summary *s, const char *name)
{
	fprintf(s->out, "  %-12s ", name);
}

/* Text of a capture, in one line. */
static void put_clean(struct summary *s, const char *text)
{
	output_clean(s->out, text, strlen(text), NULL);
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

static void put_seconds(FILE *out, int64_t ns)
{
	fprintf(out, "%" PRId64 ".%06" PRId64, ns / 1000000000,
		ns % 1000000000 / 1000);
}

static void put_about(struct summary *s, struct rows *r)
{
	static const int column[] = { 4, 5, 7 };
	const char *sep = "";

	label(s, "recorded on");
	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
		const char *text = rows_text(r, (size_t)column[i]);

		if (!*text)
			continue;
		fputs(sep, s->out);
		put_clean(s, text);
		sep = ", ";
	}
	if (rows_int(r, 9))
		fprintf(s->out, "%s%" PRId64 " CPUs", sep, rows_int(r, 9));
	putc('\n', s->out);
	if (*rows_text(r, 8)) {
		label(s, "command");
		put_clean(s, rows_text(r, 8));
		putc('\n', s->out);
	}
	if (*rows_text(r, 6)) {
		label(s, "recorder");
		put_clean(s, rows_text(r, 6));
		putc('\n', s->out);
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

static void put_capture(struct summary *s, struct rows *r)
{
	int64_t first = rows_int(r, 11);
	int64_t last = rows_int(r, 12);
	char a[32];

	label(s, "capture");
	put_clean(s, rows_text(r, 1));
	fprintf(s->out, " (%s", rows_text(r, 2));
	if (*rows_text(r, 18)) {
		fputs(", ", s->out);
		put_clean(s, rows_text(r, 18));
	}
	fprintf(s->out, ", %s)\n",
		human_bytes(a, sizeof(a), (uint64_t)rows_int(r, 3)));
	put_about(s, r);
	if (last) {
		label(s, "time");
		put_seconds(s->out, first);
		fputs(" to ", s->out);
		put_seconds(s->out, last);
		fprintf(s->out, " s, %s on clock %s\n",
			human_ns(a, sizeof(a), last - first),
			*rows_text(r, 10) ? rows_text(r, 10) : "unknown");
	}
	label(s, "order");
	fputs(rows_int(r, 16) ? "exact: nothing can come late\n"
			      : "by finished rounds\n",
	      s->out);
	if (!rows_int(r, 17)) {
		label(s, "complete");
		fputs("no: see damage\n", s->out);
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
	label(s, s->n ? "" : "events");
	put_clean(s, rows_text(r, 1));
	fprintf(s->out, ": %s %s",
		human_count(a, sizeof(a), (uint64_t)rows_int(r, 5)),
		strcmp(rows_text(r, 2), "sample") ? "records" : "samples");
	if (rows_int(r, 4))
		fputs(", deferred user stacks", s->out);
	else if (!rows_int(r, 3) && !strcmp(rows_text(r, 2), "sample"))
		fputs(", no stacks", s->out);
	putc('\n', s->out);
}

static void put_counts(struct summary *s, struct rows *r)
{
	label(s, "holds");
	fprintf(s->out,
		"%" PRId64 " processes, %" PRId64 " threads, %" PRId64
		" images, %" PRId64 " stacks\n",
		rows_int(r, 0), rows_int(r, 1), rows_int(r, 3), rows_int(r, 6));
	label(s, "names");
	fprintf(s->out,
		"%" PRId64 " of %" PRId64 " addresses in code have "
		"one\n",
		rows_int(r, 5), rows_int(r, 4));
}

/* All verdicts of a kind in one line: "9 requests: 7 matched, 2 refused". */
struct verdict_line {
	char text[1024];
	size_t len;
	int64_t sum;
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
}

static void put_line(struct summary *s, const char *name, const char *what,
		     const struct verdict_line *l)
{
	char text[1200];

	if (!l->sum)
		return;
	label(s, name);
	snprintf(text, sizeof(text), "%" PRId64 " %s: %.*s", l->sum, what,
		 (int)l->len, l->text);
	term_wrap(s->out, text, INDENT, INDENT, s->width);
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
	return ret;
}

static void put_loss(struct summary *s, struct rows *r)
{
	const char *what = rows_text(r, 1);

	label(s, s->n ? "" : "lost");
	fprintf(s->out, "%s%" PRId64 " records%s ",
		term_on(s->out, STYLE_YELLOW), rows_int(r, 2),
		term_off(s->out));
	if (!strcmp(what, "lost"))
		fprintf(s->out, "in %" PRId64 " gaps\n", rows_int(r, 3));
	else if (!strcmp(what, "lost_total"))
		fputs("by the kernel's own count\n", s->out);
	else
		fprintf(s->out, "(%s)\n", what);
}

static void put_ordering(struct summary *s, struct rows *r)
{
	char a[32];

	if (s->brief && !strcmp(rows_text(r, 1), "round"))
		return;
	label(s, "out of order");
	fprintf(s->out, "%" PRId64 " (%s), at worst by %s\n", rows_int(r, 2),
		rows_text(r, 1), human_ns(a, sizeof(a), rows_int(r, 3)));
}

static void put_damage(struct summary *s, struct rows *r)
{
	const char *kind = rows_text(r, 1);
	bool damage = !strcmp(kind, "damage");

	if (s->brief && !damage)
		return;
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	label(s, kind);
	fputs(damage ? term_on(s->out, STYLE_RED) : "", s->out);
	if (*rows_text(r, 6)) {
		put_clean(s, rows_text(r, 6));
	} else {
		put_clean(s, rows_text(r, 2));
		if (rows_value(r, 3).kind == VALUE_INT)
			fprintf(s->out, " at 0x%" PRIx64, rows_int(r, 3));
	}
	if (rows_int(r, 5) > 1)
		fprintf(s->out, " (%" PRId64 " times)", rows_int(r, 5));
	fprintf(s->out, "%s\n", damage ? term_off(s->out) : "");
}

static void put_unnamed(struct summary *s, struct rows *r)
{
	const char *status = rows_text(r, 1);
	bool named = !strcmp(status, "named") || !strcmp(status, "unverified");

	/* a few addresses outside all symbols are not worth a line here */
	if (named && s->brief) {
		s->n--;
		return;
	}
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	label(s, s->n ? "" : "no names for");
	put_clean(s, rows_text(r, 0));
	if (named)
		fprintf(s->out, ": %" PRId64 " addresses in no symbol\n",
			rows_int(r, 2));
	else
		fprintf(s->out, ": %s, %" PRId64 " addresses\n",
			*status ? status : "not looked for", rows_int(r, 2));
}

static void put_more(struct summary *s, const char *what)
{
	uint64_t shown = s->brief ? LINES_BRIEF : LINES_FULL;

	if (s->n <= shown)
		return;
	label(s, "");
	fprintf(s->out, "and %" PRIu64 " more %s%s%s%s\n", s->n - shown, what,
		s->brief ? "; see 'backstitch info " : "",
		s->brief ? s->path : "", s->brief ? "'" : "");
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
			     .width = term_columns(out),
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
	put_more(&s, "images");
	if (s.n && brief) {
		label(&s, "");
		fprintf(out,
			"to name them: 'backstitch symbolize --symfs DIR "
			"--kallsyms FILE %s'\n",
			path);
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
