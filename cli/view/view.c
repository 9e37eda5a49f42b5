/* view.c - the stack of screens of view, the lines around a screen, and the
 * keys that all screens have. */
#include "cli/view/view.h"

#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <dirent.h>
#include <inttypes.h>

#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/process/signals.h"
#include "cli/view/cells.h"
#include "cli/view/screen.h"
#include "analyze/stacks/sums.h"
#include "analyze/waits/traced.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

#define HEAD 3	   /* most rows of the sentence about the stacks */
#define FOOT 2	   /* rows below a screen */
#define LOW 16	   /* with fewer rows, sentence and keys have one row each */
#define NARROW 79  /* with fewer columns, names of screens are left out */
#define DEEP 32	   /* most screens on the stack */
#define WAIT_MS 50 /* time for a key while a command's output is read */
#define IDLE_MS 500
#define SECOND 1000000000
#define TYPED 256			     /* bytes that can be typed */
#define LINE (CHOICE_ARGS + VIEW_SIDES + 16) /* most arguments of a command */

/* For view_line(): no arguments after the database. */
static const char *const nothing[] = { NULL };

struct view {
	struct store *db; /* NULL: there is no segment yet */
	const char *path;
	const struct opt *opts;
	struct filter *filter; /* of the options */
	const char *live; /* the folder of segments; NULL: there is one db */
	char newest[PATH_MAX]; /* path of the segment that is shown */
	struct stat was;       /* of path when opened; zeros if live is set */
	bool frozen;	       /* newer segments are not shown */
	struct sums *sums;     /* NULL: there are no samples */
	char why[512];	       /* why there are none */
	struct screen *stack[DEEP];
	size_t n;
	struct area area;  /* of the screen that is shown */
	char said[512];	   /* message that replaces the keys; "": none */
	char found[TYPED]; /* text that is searched for */
	/* The arguments of diff: those of view_what, or `two`. */
	const char *const *sides;
	const char *two[4];
	char other[TYPED];
	struct filter *past; /* earlier filters, for view_undo() */
	size_t n_past, cap_past;
};

/* ---- the stack of screens */

__attribute__((format(printf, 2, 3))) static void view_say(struct view *v,
							   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->said, sizeof(v->said), fmt, ap);
	va_end(ap);
}

static void view_leave(struct view *v)
{
	struct screen *s = v->stack[--v->n];

	s->ops->free(s);
}

static void view_push(struct view *v, struct screen *s, const struct err *err)
{
	if (!s) {
		view_say(v, "%s", err->msg);
		return;
	}
	if (v->n == DEEP) {
		s->ops->free(s);
		view_say(v, "%d screens are open; q closes one", DEEP);
		return;
	}
	v->stack[v->n++] = s;
}

/* Returns whether the file has changed since its sums were read, and tells the
 * user: commands would show numbers that do not match the sums. */
static bool view_replaced(struct view *v)
{
	const struct stat *a = &v->was;
	struct stat b;

	if (!a->st_ino || stat(v->path, &b) ||
	    (a->st_dev == b.st_dev && a->st_ino == b.st_ino &&
	     a->st_size == b.st_size && a->st_mtim.tv_sec == b.st_mtim.tv_sec &&
	     a->st_mtim.tv_nsec == b.st_mtim.tv_nsec))
		return false;
	view_say(v, "%s was changed or replaced; 'q', and view it again",
		 path_name(v->path));
	return true;
}

/* Sets argv to a command line: `before`, the options that were given, the
 * database, and `behind`. Returns the number of arguments. */
static size_t view_line(const struct view *v, const char *const *before,
			const char *const *behind, const char **argv)
{
	const char *command = before[0];
	size_t n = 0;

	for (; *before; before++)
		argv[n++] = *before;
	n += choice_args(v->opts, command, argv + n);
	/* names may begin with '-' */
	if (*behind)
		argv[n++] = "--";
	argv[n++] = v->path;
	for (; *behind; behind++)
		argv[n++] = *behind;
	argv[n] = NULL;
	return n;
}

static void view_open_printed(struct view *v, enum printed_kind kind,
			      const char *title, const char *const *before,
			      const char *const *behind)
{
	const char *argv[LINE];
	struct err err = { 0 };

	if (view_replaced(v))
		return;
	view_line(v, before, behind, argv);
	view_push(v, printed_screen(kind, title, argv, &err), &err);
}

/* Opens the code of the nth function (from 1) of that name. */
static void view_open_code(struct view *v, const char *function, size_t nth)
{
	char number[24];
	const char *const before[] = { "annotate", nth > 1 ? "--nth" : NULL,
				       number, NULL };
	const char *const behind[] = { function, NULL };

	snprintf(number, sizeof(number), "%zu", nth);
	view_open_printed(v, PRINTED_CODE, function, before, behind);
}

/* ---- drawing */

/* Copies the first words of a text, at most `columns` columns, to line. Returns
 * the rest of the text. */
static const char *view_cut(const char *text, int columns,
			    char line[TRUST_SENTENCE])
{
	size_t n = strlen(text);

	if (n > (size_t)columns) {
		n = (size_t)columns;
		while (n > 0 && text[n] != ' ')
			n--;
		/* cut a word that is longer than the line */
		if (!n)
			n = (size_t)columns;
	}
	snprintf(line, TRUST_SENTENCE, "%.*s", (int)n, text);
	text += n;
	return text + strspn(text, " ");
}

/* Writes the sentence about the stacks. Returns how many rows it has. */
static int view_draw_trust(const struct view *v, int columns)
{
	const char *text = v->sums ? v->sums->trust : v->why;
	char line[TRUST_SENTENCE];
	int row = 0;

	for (; row < (cells_rows() < LOW ? 1 : HEAD) && *text; row++) {
		text = view_cut(text, columns, line);
		cells_put(row, 0, columns, CELLS_BOLD, line);
	}
	return row;
}

/* Writes the message for the user or, if there is none, the keys of the screen,
 * in as many rows as needed, down to row `last`. */
static void view_draw_message(const struct view *v, int last)
{
	const struct screen *s = v->stack[v->n - 1];
	const char *all = v->said[0] ? v->said : s->ops->keys;
	char line[TRUST_SENTENCE];
	/* a low screen has one row of keys, as '?' shows all */
	int most = v->said[0] || cells_rows() >= LOW ? INT_MAX : 1;
	int rows = 0;

	for (const char *p = all; *p && rows < most; rows++)
		p = view_cut(p, v->area.columns, line);
	for (int row = last - rows + 1; *all && row <= last; row++) {
		all = view_cut(all, v->area.columns, line);
		cells_put(row, 0, v->area.columns, CELLS_DIM, line);
	}
}

static void view_draw(struct view *v)
{
	struct screen *s = v->stack[v->n - 1];
	int last = cells_rows() - FOOT;

	cells_clear();
	v->area.columns = cells_columns();
	int columns = v->area.columns;
	char only[TYPED], text[1024];
	/* the output of a command begins with that sentence */
	int row = s->ops->line ? 0 : view_draw_trust(v, columns);

	choice_text(v->filter, only, sizeof(only));
	if (v->sums && !s->ops->line) {
		size_t others = sums_other_events(v->sums);
		char more[64] = "";

		if (others)
			snprintf(more, sizeof(more),
				 " (%zu more event%s: f event=)", others,
				 others == 1 ? "" : "s");
		snprintf(text, sizeof(text), "%.100s%s%s: %.200s, %s %s%s%s",
			 v->live ? path_base(v->path) : "", v->live ? ": " : "",
			 s->title, sums_event(v->sums),
			 HUMAN_GROUPED(v->sums->samples), sums_word(v->sums),
			 v->sums->samples == 1 ? "" : "s", more);
	} else
		snprintf(text, sizeof(text), "%s", s->title);
	if (*only)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ", only %s", only);
	cells_put_name(row, 0, columns, CELLS_DIM, text);
	v->area.top = row + 1;
	int rows = last - v->area.top;
	v->area.rows = rows > 2 ? rows : 2;
	s->ops->draw(s, &v->area);
	view_draw_message(v, last);
	cells_put(last + 1, 0, v->area.columns, CELLS_KEYS,
		  v->area.columns < NARROW
			  ? "1 functions 2 tree 3-9 more  ? help"
			  : "1 functions 2 tree 3 flame 4 code 5 threads "
			    "6 lost 7 events 8 info 9 latency  ?");
}

/* Lets the user edit text. Returns false after ESC or at the end of input. */
static bool view_ask(struct view *v, const char *what, char *text, size_t size)
{
	size_t n = strlen(text);

	for (;;) {
		int row = cells_rows() - FOOT;
		char shown[2 * TYPED];

		snprintf(shown, sizeof(shown), "%s%s", what, text);
		view_draw(v);
		cells_put(row, 0, cells_columns(), CELLS_BOLD, shown);
		cells_show(row, (int)safe_text_cells(shown));
		int key = cells_key(IDLE_MS);
		if (key == CELLS_ENTER)
			return true;
		if (key == CELLS_ESCAPE || key == CELLS_END || stop_requested())
			return false;
		if (key == CELLS_BACKSPACE)
			n -= n > 0;
		else if (key >= ' ' && key < 127 && n + 1 < size)
			text[n++] = (char)key;
		text[n] = '\0';
	}
}

/* ---- the screens */

/* Closes all screens and opens one of the samples, if there are any. */
static void view_open_sums(struct view *v, struct screen *(*fn)(struct sums *))
{
	if (!v->sums) {
		view_say(v, "%s", v->why);
		return;
	}
	struct screen *s = fn(v->sums);
	while (v->n)
		view_leave(v);
	view_push(v, s, NULL);
}

/* The screens that are outputs of commands. */
static const struct {
	int key;
	enum printed_kind kind;
	const char *title;
	const char *argv[8];
	/* events that the database must have: switches, without a filter on
	 * events or cgroups; or waits */
	enum view_needs {
		NEEDS_NOTHING,
		NEEDS_SWITCHES,
		NEEDS_WAITS
	} needs;
} view_outputs[] = {
	{ '5',
	  PRINTED_THREADS,
	  "threads",
	  { "sched", "--limit", "0" },
	  NEEDS_SWITCHES },
	{ '5',
	  PRINTED_THREADS,
	  "threads",
	  { "report", "--off-cpu", "--sort", "comm", "--limit", "0" },
	  NEEDS_WAITS },
	{ '5',
	  PRINTED_TEXT,
	  "threads",
	  { "report", "--sort", "comm,tid", "--limit", "0" },
	  NEEDS_NOTHING },
	{ '6',
	  PRINTED_TEXT,
	  "what was lost",
	  { "check", "-v" },
	  NEEDS_NOTHING },
	{ '7', PRINTED_TEXT, "events", { "script" }, NEEDS_NOTHING },
	{ '8', PRINTED_TEXT, "what is in it", { "info" }, NEEDS_NOTHING },
	{ '9',
	  PRINTED_KINDS,
	  "latency",
	  { "latency", "--by", "kind", "--limit", "0" },
	  NEEDS_NOTHING },
};

/* Returns whether the database has the events that a screen needs. */
static bool view_has(const struct view *v, enum view_needs what)
{
	struct err err = { 0 };
	struct rows *r = rows_dense(v->db, "causes_types", &err);
	bool found = what == NEEDS_NOTHING;

	while (rows_step(r)) {
		const char *role = rows_text(r, CAUSES_TYPES_ROLE);

		/* a sample does not show how long a wait was */
		found |= what == NEEDS_WAITS
				 ? *role && strcmp(role, "sample") != 0
				 : !v->filter->event && !v->filter->cgroup &&
					   !strcmp(role, "switch");
	}
	rows_close(r);
	return found;
}

static void view_open_output(struct view *v, int key)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(view_outputs) &&
	       (view_outputs[i].key != key ||
		!view_has(v, view_outputs[i].needs)))
		i++;
	if (i == ARRAY_SIZE(view_outputs))
		return;
	while (v->n > 1)
		view_leave(v);
	view_open_printed(v, view_outputs[i].kind, view_outputs[i].title,
			  view_outputs[i].argv, nothing);
}

/* ---- filters */

/* Opens the first screen, by what the database contains. */
static void view_open_any(struct view *v)
{
	struct err err = { 0 };
	struct rows *r = rows_of(v->db, "report_contents", &err);
	int key = '1';

	while (rows_step(r))
		key = (rows_int(r, REPORT_CONTENTS_COUNTERS) ||
		       rows_int(r, REPORT_CONTENTS_CALLS))
			      ? '1'
		      : rows_int(r, REPORT_CONTENTS_TRACE)   ? '7'
		      : rows_int(r, REPORT_CONTENTS_SAMPLES) ? '5'
							     : '8';
	if (rows_end(r, &err))
		view_say(v, "%s", err.msg);
	if (key == '1' && v->sums)
		view_push(v, functions_screen(v->sums), NULL);
	else
		view_open_output(v, key == '1' ? '8' : key);
}

/* Loads the samples that the filters select, closes all screens and opens the
 * first. Returns false on error or if none match; keeps: the old ones stay
 * then.
 */
static bool view_load(struct view *v, bool keeps)
{
	struct err err = { 0 };
	struct sums *s =
		sums_load(v->db, v->path, v->filter, traced_add_to, &err);

	if (!s && (v->sums || err.code != ERR_FORMAT)) {
		view_say(v, "%s", err.msg);
		if (keeps)
			return false;
	}
	while (v->n)
		view_leave(v);
	sums_free(v->sums);
	v->sums = s;
	if (!s)
		snprintf(v->why, sizeof(v->why), "%s", err.msg);
	view_open_any(v);
	return true;
}

static void view_filter(struct view *v, const char *text)
{
	const struct filter before = *v->filter;
	struct err err = { 0 };

	if (choice_set(v->filter, text, &err))
		view_say(v, "%s", err.msg);
	else if (!view_load(v, true))
		*v->filter = before;
	else
		*mem_add(v->past, v->n_past, v->cap_past) = before;
}

/* Lets the user choose a time by arrows. */
static void view_ask_time(struct view *v)
{
	size_t from = 0, to = 0;
	struct err err = { 0 };
	char text[TYPED];
	bool marked = false;
	struct span span;
	int key;

	if (span_load(&span, v->db, &err)) {
		view_say(v, "%s", err.msg);
		return;
	}
	do {
		view_say(v, marked ? "arrows: to where? Enter takes it"
				   : "arrows: from where? Enter marks it");
		view_draw(v);
		span_draw(&span, v->area.top + v->area.rows - 2, from, to);
		cells_show(0, -1);
		key = cells_key(IDLE_MS);
		if (key == CELLS_ESCAPE || key == CELLS_END || key == 'q' ||
		    stop_requested()) {
			v->said[0] = '\0';
			return;
		}
	} while (span_move(key, &from, &to, &marked));
	struct filter others = *v->filter;

	others.time = NULL;
	choice_text(&others, text, sizeof(text));
	int64_t t0 = span.first + (int64_t)from * span.part;
	int64_t t1 = span.first + (int64_t)(to + 1) * span.part;

	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "%stime=%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64,
		 *text ? " " : "", t0 / SECOND, t0 % SECOND, t1 / SECOND,
		 t1 % SECOND);
	view_filter(v, text);
}

static void view_undo(struct view *v)
{
	if (!v->n_past) {
		view_say(v, "no filter to undo");
		return;
	}
	*v->filter = v->past[--v->n_past];
	view_load(v, true);
}

/* ---- search, comparison, files */

static void view_find(struct view *v, bool back)
{
	struct screen *s = v->stack[v->n - 1];

	if (!s->ops->find(s, v->found, back))
		view_say(v, "no '%s'", v->found);
}

/* The tables of a comparison, by DIFF_KEYS. */
static const struct {
	int key;
	const char *title;
	const char *argv[4];
} view_diffs[] = {
	{ 's', "comparison", { "diff" } },
	{ 'w', "comparison of time by wall", { "diff", "--wall" } },
	{ 'o', "comparison of waits", { "diff", "--off-cpu" } },
	{ 'e',
	  "comparison of waits by who ended them",
	  { "diff", "--off-cpu", "--woken-by" } },
	{ 'l', "comparison of latency", { "diff", "--latency" } },
	{ 'r', "comparison of scheduling", { "diff", "--sched" } },
};

/* Opens a table of the comparison, as the second screen. */
static void view_open_diff(struct view *v, int key)
{
	const char *argv[LINE];
	struct err err = { 0 };
	size_t i = 0, n = 0;

	while (view_diffs[i].key != key)
		i++;
	for (; view_diffs[i].argv[n]; n++)
		argv[n] = view_diffs[i].argv[n];
	n += choice_args(v->opts, "diff", argv + n);
	for (size_t k = 0; v->sides[k]; k++)
		argv[n++] = v->sides[k];
	argv[n] = NULL;
	while (v->n > 1)
		view_leave(v);
	view_push(v,
		  printed_screen(PRINTED_DIFF, view_diffs[i].title, argv, &err),
		  &err);
}

/* Compares this database with another, which the user names. before: the other
 * one is side A. */
static void view_compare(struct view *v, bool before)
{
	char other[TYPED] = "";

	if (!view_ask(v,
		      before ? "compare with the recording before: "
			     : "compare with the recording after: ",
		      other, sizeof(other)) ||
	    !*other)
		return;
	if (view_replaced(v))
		return;
	memcpy(v->other, other, sizeof(other));
	v->two[0] = "--";
	v->two[1] = before ? v->other : v->path;
	v->two[2] = before ? v->path : v->other;
	v->sides = v->two;
	view_open_diff(v, 's');
}

/* The files that key x writes. */
static const struct {
	int key;
	const char *ending, *argv[4];
} view_files[] = {
	{ 'f', "svg", { "flame" } },
	{ 'h', "html", { "page" } },
	{ 'j', "json", { "report", "--json" } },
	{ 't', "txt", { NULL } },
};

static void view_write(struct view *v, int key)
{
	struct screen *s = v->stack[v->n - 1];
	const char *argv[LINE + 1] = { "backstitch" };
	struct err err = { 0 };

	if (view_replaced(v))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(view_files); i++) {
		if (view_files[i].key != key)
			continue;
		if (view_files[i].argv[0])
			view_line(v, view_files[i].argv, nothing, argv + 1);
		else if (s->ops->line)
			s->ops->line(s, argv + 1, LINE);
		else
			view_line(v, s->ops->command, nothing, argv + 1);
		if (choice_write(argv, view_files[i].ending, v->said,
				 sizeof(v->said), &err))
			view_say(v, "%s", err.msg);
		return;
	}
	view_say(v, "nothing was written");
}

/* ---- segments: the databases of a folder that follow fills */

/* Opens the newest segment. Returns whether it differs from the current one. */
static bool view_open_newest(struct view *v)
{
	struct err err = { 0 };
	char path[PATH_MAX];

	/* find the segment with the highest number */
	size_t size = sizeof(path);
	DIR *d = opendir(v->live);
	struct dirent *e;
	uint32_t most = 0;

	while (d && (e = readdir(d)) != NULL) {
		/* the number in "segment-000001.db"; 0: another file */
		uint32_t count = 0;
		int end = 0;
		uint32_t n = sscanf(e->d_name, "segment-%9" SCNu32 ".db%n",
				    &count, &end) < 1 ||
					     !end || e->d_name[end]
				     ? 0
				     : count;
		if (n <= most)
			continue;
		most = n;
		snprintf(path, size, "%s/%s", v->live, e->d_name);
	}
	if (d)
		closedir(d);

	if (!most || !strcmp(path, v->newest))
		return false;
	struct store *db = store_open(path, &err);
	/* 'follow --keep' may have removed it; a newer one comes soon */
	if (!db)
		return false;
	store_close(v->db);
	v->db = db;
	snprintf(v->newest, sizeof(v->newest), "%s", path);
	v->path = v->newest;
	return true;
}

/* Shows the newest segment, with the cursor on the same function, unless more
 * than one screen is open. */
static void view_renew(struct view *v)
{
	struct screen *s = v->stack[v->n - 1];
	const char *name = s->ops->function ? s->ops->function(s) : NULL;
	char *kept OWNED = name ? mem_strdup(name) : NULL;

	if (v->n == 1 && !v->frozen && view_open_newest(v)) {
		view_load(v, false);
		s = v->stack[v->n - 1];
		if (kept && s->ops->go)
			s->ops->go(s, kept);
	}
}

/* ---- keys */

/* Handles the keys that all screens have. */
static void view_key_common(struct view *v, int key)
{
	static struct screen *(*const of_sums[])(struct sums *) = {
		functions_screen, tree_screen, flame_screen
	};

	if (key >= '1' && key <= '3')
		view_open_sums(v, of_sums[key - '1']);
	else if (key == '4' || key == 'a') {
		struct screen *s = v->stack[v->n - 1];
		const char *name =
			s->ops->function ? s->ops->function(s) : NULL;

		if (name)
			view_open_code(v, name, 1);
		else
			view_say(v, "no function here; choose one");
	} else if (key == '/') {
		char text[TYPED] = "";
		if (view_ask(v, "/", text, sizeof(text))) {
			snprintf(v->found, sizeof(v->found), "%s", text);
			view_find(v, false);
		}
	} else if (key == 'n' || key == 'N')
		view_find(v, key == 'N');
	else if (key == 'f') {
		char text[TYPED];

		choice_text(v->filter, text, sizeof(text));
		view_say(v, "comm=NAME pid= tid= cgroup= cpu=0,2-4 event= "
			    "time=FROM,TO");
		if (view_ask(v, "only: ", text, sizeof(text)))
			view_filter(v, text);
	} else if (key == 'T')
		view_ask_time(v);
	else if (key == 'u')
		view_undo(v);
	else if (key == 'b' || key == 'B')
		view_compare(v, key == 'b');
	else if (key == 'x') {
		view_say(v,
			 "write f flame graph  h page  j JSON  t this as text");
		view_draw(v);
		cells_show(0, -1);

		int keyed = CELLS_NO_KEY;

		while (keyed == CELLS_NO_KEY || keyed == CELLS_RESIZED)
			keyed = cells_key(IDLE_MS);
		view_write(v, keyed);
	} else if (key == 'P')
		view_write(v, 't');
	else if (key == 'z' && v->live)
		view_say(v, (v->frozen = !v->frozen)
				    ? "frozen; z shows the newest segment again"
				    : "the newest segment is shown");
	else if (key == '?') {
		static const char *const argv[] = { "help", "keys", NULL };
		struct err err = { 0 };

		view_push(v, printed_screen(PRINTED_TEXT, "help", argv, &err),
			  &err);
	} else
		view_open_output(v, key == 't' ? '5' : key);
}

static void view_take_reply(struct view *v, struct reply *r)
{
	snprintf(v->said, sizeof(v->said), "%s", r->said);
	if (r->diff)
		view_open_diff(v, r->diff);
	if (r->code)
		view_open_code(v, r->code, r->nth);
	if (r->thread && r->sums) {
		const char *const before[] = { "report", "--off-cpu", "--limit",
					       "0",	 "--tid",     r->thread,
					       NULL };
		char title[64];

		snprintf(title, sizeof(title), "thread %s off the CPU",
			 r->thread);
		view_open_printed(v, PRINTED_TEXT, title, before, nothing);
	} else if (r->thread) {
		const char *before[] = { "path",    "--tid", r->thread,
					 "--waits", NULL,    NULL };
		char head[64], rank[32];

		snprintf(head, sizeof(head), "waits of thread %s", r->thread);
		if (r->wait) {
			snprintf(rank, sizeof(rank), "%zu", r->wait);
			snprintf(head, sizeof(head), "wait %zu of thread %s",
				 r->wait, r->thread);
			before[3] = "--worst";
			before[4] = rank;
		}
		view_open_printed(v, r->wait ? PRINTED_CHAINS : PRINTED_WAITS,
				  head, before, nothing);
	}
	if (r->kind) {
		const char *before[] = { "latency", "--kind", r->kind,
					 "--limit", "0",      NULL,
					 "50",	    "--name", r->name,
					 NULL };
		char title[128];

		snprintf(title, sizeof(title), "%s latency%s%.80s", r->kind,
			 r->name ? " of " : "", r->name ? r->name : "");
		if (r->name)
			before[5] = "--worst";
		view_open_printed(v, r->name ? PRINTED_THREADS : PRINTED_NAMES,
				  title, before, nothing);
	}
	free_all(r->code, r->thread, r->kind, r->name);
}

/* Handles a key. Returns false if the user leaves. */
static bool view_key(struct view *v, int key)
{
	struct screen *s = v->stack[v->n - 1];
	struct reply reply = { .code = NULL };

	if (key == CELLS_END || stop_requested())
		return false;
	if (key == CELLS_NO_KEY)
		return true;
	v->said[0] = '\0';
	if (s->ops->key(s, key, &v->area, &reply)) {
		view_take_reply(v, &reply);
		return true;
	}
	if (key == 'q' || key == CELLS_ESCAPE || key == CELLS_LEFT) {
		if (v->n > 1)
			view_leave(v);
		else
			return key != 'q';
		return true;
	}
	view_key_common(v, key);
	return true;
}

/* Waits for the first segment. Returns false if the user leaves. */
static bool view_wait(struct view *v)
{
	while (!view_open_newest(v)) {
		cells_clear();
		view_say(v, "%s: no segment is finished yet", v->live);
		cells_put(0, 0, cells_columns(), CELLS_BOLD, v->said);
		cells_put(cells_rows() - 1, 0, cells_columns(), CELLS_KEYS,
			  "q quit");
		cells_show(0, -1);
		int key = cells_key(IDLE_MS);
		if (key == 'q' || key == CELLS_END || stop_requested())
			return false;
	}
	v->said[0] = '\0';
	return true;
}

static void view_loop(struct view *v)
{
	bool more;

	do {
		if (v->live)
			view_renew(v);

		struct screen *s = v->stack[v->n - 1];

		more = s->ops->wait && s->ops->wait(s);
		view_draw(v);
		cells_show(0, -1);
	} while (view_key(v, cells_key(more ? WAIT_MS : IDLE_MS)));
}

int view_run(const struct view_what *what, struct err *err)
{
	struct view v = { .db = what->db,
			  .path = what->path,
			  .filter = what->filter,
			  .opts = what->opts,
			  .live = what->live,
			  .sides = what->sides };
	int rc = 0;

	/* if the file is missing, its reader reports that */
	if (!v.live && stat(v.path, &v.was))
		v.was.st_ino = 0;
	if (cells_open(err))
		return -1;
	if (v.db || view_wait(&v)) {
		rc = view_load(&v, true) && v.n ? 0 : -1;
		if (!rc && v.sides)
			view_open_diff(&v, 's');
		if (!rc)
			view_loop(&v);
	}
	cells_close();
	if (rc)
		rc = err_set(err, ERR_FORMAT, "%s", v.said);
	while (v.n)
		view_leave(&v);
	sums_free(v.sums);
	free(v.past);
	if (v.live)
		store_close(v.db);
	return rc;
}
