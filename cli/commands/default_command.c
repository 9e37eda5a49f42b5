/* default_command.c - what 'backstitch perf.data' does, without a command: it
 * makes a database next to the capture, and prints hot functions, threads or
 * events, and commands to go on with. */
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/ingest/name.h"
#include "cli/open/input.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/latency/intervals.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/report_rows.h"
#include "cli/tables/summary.h"
#include "analyze/stacks/trust.h"
#include "analyze/waits/thread_times.h"
#include "cli/args/options.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "cli/output/out.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/page/page.h"
#include "cli/tables/report.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define TOP 10 /* rows of the report */
#define TOP_MIN 3
/* Lines of a screen besides the rows: with hot functions, with threads, with
 * the events and threads of a trace. */
#define AROUND 20
#define AROUND_THREADS 16
#define AROUND_TRACE 19
#define LOOK_SHARE 16 /* bytes of a share */

static bool open_page;

static const struct opt opts[] = {
	OPT_FLAG(0, "open", &open_page,
		 "write a page next to the database, and "
		 "open it in the browser"),
	OPT_GROUP(align_opts),
	OPT_GROUP_SENTENCE(load_opts,
			   "and those of 'backstitch help ingest' for reading: "
			   "--symfs, --kallsyms, --debuginfod, --maps, ..."),
	{ .kind = OPT_END }
};

#define OPENER_MS 2000 /* for xdg-open to find that it has no browser */

/* Returns whether the opener succeeded, or still runs after OPENER_MS: it may
 * have become the browser. */
static bool look_wait(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	int status;

	for (int ms = 0; ms < OPENER_MS; ms += 10) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && !WEXITSTATUS(status);
		nanosleep(&step, NULL);
	}
	return true;
}

/* Starts xdg-open, which may outlive this program. Returns false if it is not
 * here, or fails. */
static bool look_start(const char *page)
{
	int gone[2];
	char c;

	if (pipe2(gone, O_CLOEXEC))
		return false;
	fflush(stderr);
	pid_t pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		setsid();
		for (int fd = 0; fd < 3 && null >= 0; fd++)
			dup2(null, fd);
		execlp("xdg-open", "xdg-open", page, (char *)NULL);
		/* the pipe is closed without a byte if exec succeeds */
		_exit(write(gone[1], "x", 1) == 1 ? 127 : 126);
	}
	close(gone[1]);
	bool fails = pid < 0 || read(gone[0], &c, 1) == 1;
	close(gone[0]);
	return !fails && look_wait(pid);
}

/* Writes the page next to the database `name`, and opens it in the browser. */
static int look_open(struct store *db, const struct name_ask *names,
		     const char *path, const char *name, struct err *err)
{
	const struct page_opts what = { .filter = &filter_none,
					.inlined = true,
					.source = true,
					.files = names };
	char page[PATH_MAX];
	size_t n = strlen(name);

	n -= n > 3 && !strcmp(name + n - 3, ".db") ? 3 : 0;
	if (n + sizeof(".html") > sizeof(page))
		return err_set(err, ERR_LIMIT, "%s: the name is too long",
			       name);
	snprintf(page, sizeof(page), "%.*s.html", (int)n, name);
	struct html_page *p = html_page_new(db, path, &what, err);
	int rc = p ? out_write(page, html_page_write, p, err) : -1;
	html_page_free(p);
	if (rc)
		return -1;
	say(look_start(page) ? "%s: opened in the browser\n"
			     : "%s: xdg-open is not here, or has no "
			       "browser; open this file in one\n",
	    page);
	return 0;
}

/* How often an event of a trace came, and when. */
struct event_rate {
	int64_t type;
	uint64_t n;
	int64_t first, last; /* ns; first is INT64_MAX if none has a time */
};

COMPARE_LARGEST_BY(event_rates_compare, struct event_rate, n, type);

/* Adds a cell with the time since the first event, empty if it is unknown. */
static void event_rates_time(struct grid *g, const struct event_rate *r,
			     int64_t time, int64_t first)
{
	char text[32] = "";

	if (r->first <= r->last)
		human_ns(text, sizeof(text),
			 (int64_t)((uint64_t)time - (uint64_t)first));
	grid_text(g, text);
}

/* Prints a row for each event, the most frequent first, `limit` of them.
 * Returns 0, or -1 and *err. */
static int event_rates_print(struct store *db, size_t limit, struct err *err)
{
	struct events *ev = events_open(db, &filter_none, EVENTS_FEW, err);
	size_t n = ev ? events_types(ev) : 0;
	struct event_rate *r OWNED = mem_new(n + 1, sizeof(*r));
	struct event_row e;
	int rc = ev ? 1 : -1;

	for (size_t i = 0; i < n; i++)
		r[i] = (struct event_rate){ .type = (int64_t)i + 1,
					    .first = INT64_MAX,
					    .last = INT64_MIN };
	while (rc > 0 && (rc = events_next(ev, &e, err)) > 0) {
		if (e.type < 1 || (uint64_t)e.type > n)
			continue;
		struct event_rate *of = &r[e.type - 1];

		of->n++;
		if (!e.timed)
			continue;
		lower_to(of->first, e.time);
		raise_to(of->last, e.time);
	}
	if (!rc) {
		static const struct grid_column col[] = {
			{ "Events", NULL }, { "Per second", NULL },
			{ "From", NULL },   { "To", NULL },
			{ "Event", NULL },
		};
		struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
		int64_t first = INT64_MAX; /* of all */
		int64_t last = INT64_MIN;
		uint64_t span;
		size_t used = 0;

		for (size_t i = 0; i < n; i++) {
			lower_to(first, r[i].first);
			raise_to(last, r[i].last);
		}
		span = last > first ? (uint64_t)last - (uint64_t)first : 0;
		sort_items(r, n, event_rates_compare);
		while (used < n && r[used].n)
			used++;
		for (size_t i = 0; i < used && i < limit; i++) {
			char rate[32] = "";

			/* one event has no rate */
			if (span && r[i].n > 1)
				human_count(rate, sizeof(rate),
					    (uint64_t)((double)r[i].n * 1e9 /
						       (double)span));
			grid_number(g, r[i].n);
			grid_text(g, rate);
			event_rates_time(g, &r[i], r[i].first, first);
			event_rates_time(g, &r[i], r[i].last, first);
			grid_text(g, events_type(ev, r[i].type)->name);
		}
		grid_write(g, "table", stdout);
		if (used > limit)
			printf("and %zu more kind%s of events\n", used - limit,
			       used - limit == 1 ? "" : "s");
	}
	events_close(ev);
	return rc;
}

/* Prints a command that can be copied, and what it shows. */
static void look_hint(const char *before, const char *file, const char *what)
{
	int width = term_columns(stdout);
	char *word OWNED = safe_text_word(file);
	/* a name with ./ is not taken for an option */
	int n = printf("  backstitch %s%s", before, *file == '-' ? "./" : "");

	n += (int)safe_text_cells(word);
	fputs(word, stdout);
	if (n + 2 > 42)
		fputs("\n", stdout);
	printf("%*s", n + 2 > 42 ? 42 : 42 - n, "");
	term_wrap(stdout, what, 42, 42, width);
}

/* Returns how many rows fit on one screen with the sentence about trust and
 * `around` other lines. */
static size_t look_rows(const char *trust, int around)
{
	int columns = term_columns(stdout);
	int rows = term_rows(stdout) - around;

	/* the sentence has two lines, and rarely three */
	if ((int)strlen(trust) > 2 * (columns - 4))
		rows--;
	if (rows < TOP_MIN && term_rows(stdout) > 0)
		return TOP_MIN;
	return rows <= 0 || rows > TOP ? TOP : (size_t)rows;
}

/* Sets share to the idle CPUs' share of the samples if it is more than half,
 * else to "": it is the part that users seldom ask for. Returns 0, or -1. */
static int look_idle(struct store *db, char share[LOOK_SHARE], struct err *err)
{
	struct rows *r = rows_of(db, "report_idle", err);
	int64_t samples = 0, idle = 0;

	if (rows_step(r)) {
		samples = rows_int(r, REPORT_IDLE_SAMPLES);
		idle = rows_int(r, REPORT_IDLE_IDLE);
	}
	*share = 0;
	if (idle > samples / 2)
		human_percent(share, LOOK_SHARE, (double)idle, (double)samples);
	return rows_end(r, err);
}

/* Prints the first hints; wakes: wake-ups were recorded, as 'path' needs. */
static void look_go_on(const char *path, bool wakes)
{
	fputs("How to go on:\n", stdout);
	if (wakes)
		look_hint("path ", path,
			  "what threads waited for, as far as it is proved");
}

/* Prints the hot functions, and hints. Returns 0, or -1 and *err. */
static int look_print_hot(struct store *db, const char *path,
			  const char *capture, const char *trust, bool wakes,
			  bool graph, struct err *err)
{
	char idle[LOOK_SHARE];

	if (look_idle(db, idle, err))
		return -1;
	struct report_opts o = {
		.filter = &filter_none,
		.keys = KEY_SYM | KEY_DSO,
		.format = "table",
		.limit = look_rows(trust, AROUND + wakes + 2 * graph +
						  (*idle ? 2 : 0)),
		.inlined = true,
		.top = true,
	};

	if (report_table(db, path, &o, err))
		return -1;
	putchar('\n');
	look_go_on(path, wakes);
	if (graph) {
		look_hint("latency ", path,
			  "how long they took, and by thread");
		look_hint("report -g --callees FUNC ", path,
			  "what FUNC calls, and which of it takes the time");
	}
	if (*idle) {
		char what[64];

		snprintf(what, sizeof(what), "without the idle CPUs, %s", idle);
		look_hint("report --filter 'tid <> 0' ", path, what);
	}
	look_hint("view ", path, "all of it here, and who calls what");
	look_hint("--open ", capture, "all of it in the browser");
	return 0;
}

/* Prints the threads that had or wanted a CPU longest, `limit` of them, below a
 * line with the sums. Returns 0; 1 if not all CPUs were recorded, and only that
 * was printed; or -1 and *err: ERR_FORMAT if the database has no such times. */
static int threads_print(struct store *db, const char *path, size_t limit,
			 struct err *err)
{
	struct threads th RELEASED_BY(threads_release);
	int rc = threads_load(db, path, &th, err);

	/* between sampled switches, waits that seem certain are few of many */
	if (offcpu_sampled(&th.sums)) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);

		fprintf(out,
			"time of threads: not known, because switches were sampled, %s "
			"of %s; 'perf record -c 1' records all\n",
			HUMAN_GROUPED(th.sums.recorded),
			HUMAN_GROUPED(th.sums.happened));
		term_lines_end(&l);
		putchar('\n');
	} else if (!rc && th.sums.partial) {
		fputs("time of threads: not known, because not all CPUs were "
		      "recorded (perf record -a)\n",
		      stdout);
		rc = 1;
	} else if (!rc) {
		struct term_lines l;
		FILE *out = term_lines_begin(&l, stdout);

		fprintf(out, "%s: %s on the CPU, %s ready, %s waiting",
			HUMAN_NOUN(th.n, "thread"), HUMAN_NS(th.on_cpu),
			HUMAN_NS(th.ready), HUMAN_NS(th.waiting));
		if (th.sums.waits[OFFCPU_UNCERTAIN])
			fprintf(out, "; %s waits uncertain",
				HUMAN_GROUPED(th.sums.waits[OFFCPU_UNCERTAIN]));
		if (!th.sums.wakes)
			fputs("; wake-ups not recorded", out);
		putc('\n', out);
		term_lines_end(&l);
		struct grid_column col[] = {
			{ "On CPU", NULL },  { "Ready", NULL },
			{ "Waiting", NULL }, { "Longest", NULL },
			{ NULL, NULL },	     { "Tid", NULL },
			{ "Thread", NULL },
		};
		struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));

		for (size_t i = 0; i < th.n && i < limit; i++) {
			const struct thread_times *t = &th.t[i];
			const char *cause = threads_cause(t);

			/* without stacks, no cause is known */
			if (*cause)
				col[4].title = "For";
			grid_text(g, HUMAN_NS(t->on_cpu));
			grid_text(g, HUMAN_NS(t->ready));
			grid_text(g, HUMAN_NS(t->waiting));
			grid_text(g, HUMAN_NS(t->longest));
			grid_text(g, cause);
			grid_signed(g, t->tid);
			grid_text(g, stacks_comm(th.stacks, t->comm)->name);
		}
		grid_write(g, "table", stdout);
	}
	return rc;
}

/* Prints the events if they are asked for, the time of threads if there are
 * switches, and hints. Returns 0, or -1 and *err. */
static int look_print_trace(struct store *db, const char *path,
			    const char *capture, const char *trust, bool events,
			    bool wakes, struct err *err)
{
	const bool stacks = events && *trust;
	const bool pairs = intervals_any(db, err) > 0;
	size_t rows = look_rows(trust, wakes + (events ? AROUND_TRACE + stacks
						       : AROUND_THREADS));
	struct err none = { 0 };

	/* Print the lines above the tables of events and threads. */
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);
	uint64_t lost = 0;
	bool unknown = false;

	fprintf(out, "%s\n", trust);
	struct rows *r = rows_of(db, "info_captures", err);
	while (rows_step(r)) {
		int64_t samples = rows_int(r, INFO_CAPTURES_SAMPLES);
		int64_t ns;

		report_put_capture(out, rows_text(r, INFO_CAPTURES_PATH),
				   rows_text(r, INFO_CAPTURES_HOST));
		fprintf(out, ", %s events", HUMAN_GROUPED(samples));
		if (!__builtin_sub_overflow(rows_int(r, INFO_CAPTURES_LAST_NS),
					    rows_int(r, INFO_CAPTURES_FIRST_NS),
					    &ns) &&
		    ns > 0)
			fprintf(out, " in %s", HUMAN_NS(ns));
		putc('\n', out);
	}
	int rc = rows_end(r, err);
	if (!rc)
		rc = loss_rows_sum(db, &lost, &unknown, err);
	if (!rc)
		report_put_lost(out, lost, unknown);
	term_lines_end(&l);
	putchar('\n');

	if (rc || (events && event_rates_print(db, (rows + 1) / 2, err)))
		return -1;
	if (events)
		putchar('\n');
	int printed = threads_print(db, path, events ? rows / 2 : rows, &none);
	if (printed < 0 && none.code != ERR_FORMAT) {
		*err = none;
		return -1;
	}
	if (printed > 0 && !events)
		putchar('\n');
	if (printed && !events && event_rates_print(db, rows, err))
		return -1;
	if (printed >= 0 || !events)
		putchar('\n');
	look_go_on(path, wakes);
	if (printed >= 0)
		look_hint("report --off-cpu ", path,
			  "the longest waits, and who ended them");
	if (stacks)
		look_hint("report ", path, "the functions that led to them");
	/* a screen with 24 lines has no room for both */
	if (pairs)
		look_hint("latency ", path,
			  "how long calls, locks, disks took");
	else
		look_hint("script ", path, "the events, one by one");
	look_hint("view ", path, "all of it here");
	look_hint("--open ", capture, "all of it in the browser");
	return 0;
}

/* Prints the screen for what the database has. Returns 0, or -1 and *err. */
static int look_print(struct store *db, const struct name_ask *names,
		      const char *path, const char *capture, struct err *err)
{
	char trust[TRUST_SENTENCE], more[NAME_NOT_GIVEN];
	bool samples = false;  /* of any kind */
	bool counters = false; /* samples of clocks or counters */
	bool trace = false;    /* of more events than switches */
	bool wakes = false;
	int64_t calls = 0; /* 1: of functions; 2: with durations, too */
	int rc;

	if (trust_sentence(db, trust, err))
		return -1;
	struct rows *r = rows_of(db, "report_contents", err);
	if (rows_step(r)) {
		samples = rows_int(r, REPORT_CONTENTS_SAMPLES) > 0;
		counters = rows_int(r, REPORT_CONTENTS_COUNTERS) != 0;
		trace = rows_int(r, REPORT_CONTENTS_TRACE) != 0;
		wakes = rows_int(r, REPORT_CONTENTS_WAKES) != 0;
		calls = rows_int(r, REPORT_CONTENTS_CALLS);
	}
	if (rows_end(r, err))
		return -1;
	if (counters || calls)
		rc = look_print_hot(db, path, capture, trust, wakes, calls,
				    err);
	else if (samples)
		rc = look_print_trace(db, path, capture, trust, trace, wakes,
				      err);
	else
		rc = summary_print(
			stdout, db, path, true,
			(struct summary_more){ "symbolize",
					       name_not_given(names, more) },
			err);
	if (rc)
		return -1;
	if (!samples) {
		putchar('\n');
		look_go_on(path, false);
		look_hint("query --tables ", path, "what can be asked for");
	}
	look_hint("check ", path, "what was lost, and what that broke");
	return 0;
}

static int look_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	char out[PATH_MAX];
	int status = STATUS_OK;
	int rc;

	if (!argc)
		return err_set(err, ERR_USAGE, "which capture?");
	struct store *db OWNED_STORE = capture_db_open(
		&ask, argc, argv, options_own > (unsigned int)open_page, out,
		&status, err);
	if (!db)
		return -1;
	if (!open_page)
		rc = look_print(db, &ask.load.name, *out ? out : argv[0],
				argv[0], err);
	else
		rc = look_open(
			db, &ask.load.name, argv[0],
			*out ? out
			     : input_database_name(argv[0], out, sizeof(out)),
			err);
	return rc ? -1 : status;
}

const struct command cmd_default = {
	.name = "",
	.args = "[options] DB | CAPTURE...",
	.summary = "read captures, and print hot functions, threads or events",
	.examples = { "backstitch perf.data", "backstitch --open perf.data",
		      "perf record -g -o - -- ./prog | backstitch -" },
	.opts = opts,
	.pages = true,
	.run = look_run,
};
