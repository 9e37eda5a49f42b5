/* record.c - the command that starts perf so that user stacks will be whole. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/diffs/timings.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "cli/process/child.h"
#include "cli/args/command.h"
#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/output/grid.h"
#include "cli/output/out.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/record/cgroups.h"
#include "cli/record/plan.h"
#include "cli/record/rings.h"
#include "cli/process/signals.h"
#include "stitch/text/parse_number.h"
#include "formats/formats.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"
#include "stitch/text/json.h"

/* ---- record --cost: how a program runs and is recorded in each possible way.
 *
 * How long a program took is the time from its exec until its parent can learn
 * that it has ended; with perf, the exec is that which was recorded. So what
 * perf does before and after it is not in it. The record of its end is not
 * used: do_exit() of Linux 6.18 writes it (perf_event_exit_task()) before it
 * releases the program's memory and files, that of 6.1 afterwards. Locale and
 * output are the same in all runs, as both change how long a program takes:
 * sort needs half as long again in C.UTF-8 as in C. Turns are in the outer
 * loop, so that a machine that becomes slower meanwhile is so for all ways. */

/* The options of --cost. */
struct cost_opts {
	bool dry_run; /* only print what would run */
	bool json;
};

#define TURNS 5
#define SHORT_NS 1000000000 /* shorter programs are reported as short */
#define SAID 4096
/* A way counts as whole as the best one if it has at most this share less. */
#define AS_WHOLE 0.01

/* A way to record, and the results of all turns. */
struct cost_way {
	const char *name;
	struct plan_wants want;
	struct plan plan;
	int64_t ns[TURNS];
	uint64_t bytes, events, lost;
	int64_t whole, all;
	double slower, low, high; /* added time / time; NaN: unknown */
};

/* Records once, and adds the results to *w; turn -1: only to learn the size of
 * dumps. Returns 0, or -1 and *err. */
static int cost_record(struct cost_way *w, int turn, struct err *err)
{
	static const char *const clock[] = { "-k", "CLOCK_MONOTONIC" };
	const char **argv OWNED =
		mem_new(w->plan.n_argv + ARRAY_SIZE(clock), sizeof(*argv));
	FILE *output OWNED_FILE = tmpfile();
	struct child_span perf;
	char line[SAID];
	int64_t end, from, to;
	struct stat st;
	struct store *db OWNED_STORE = NULL;
	struct trust *t = NULL;
	struct rows *r;
	uint64_t lost = 0;
	bool unknown;
	int status = STATUS_OK;
	int rc = output ? truncate(w->want.out, 0) : -1;
	/* perf refuses a second -k; the program's words and NULL are last */
	const size_t own = w->plan.n_argv - 1 - (size_t)w->want.n_program;
	const size_t more =
		any_where(own, i, !strcmp(w->plan.argv[i], clock[0]))
			? 0
			: ARRAY_SIZE(clock);

	memcpy(argv, w->plan.argv, 2 * sizeof(*argv)); /* perf record */
	memcpy(argv + 2, clock, more * sizeof(*argv));
	memcpy(argv + 2 + more, w->plan.argv + 2,
	       (w->plan.n_argv - 2) * sizeof(*argv));
	if (!rc)
		rc = child_time(argv, fileno(output), &perf, &end);
	if (stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if (rc || stat(w->want.out, &st)) {
		if (output)
			rewind(output);
		while (output && fgets(line, sizeof(line), output))
			say("%.*s\n", (int)strcspn(line, "\n"), line);
		return err_set(
			err, ERR_IO,
			"perf or the program ended with status %d, which "
			"--cost needs to be 0; what they said is above",
			rc);
	}
	if (turn < 0)
		return 0;
	db = database_open(&(struct open_ask){ 0 }, w->want.out, &status, err);
	r = db ? rows_of(db, "path_program", err) : NULL;
	if (rows_step(r)) {
		from = rows_int(r, PATH_PROGRAM_T0);
		to = rows_int(r, PATH_PROGRAM_T1);
		/* else perf has another clock, or nothing lists children */
		if (from >= perf.from && to <= end)
			to = end;
		w->ns[turn] = to - from;
	}
	rc = r ? rows_end(r, err) : -1;
	if (!rc && w->ns[turn] <= 0)
		rc = err_set(err, ERR_FORMAT,
			     "%s: no record says when the program began and "
			     "ended",
			     w->name);
	r = rc ? NULL : rows_of(db, "record_events", err);
	if (rows_step(r))
		w->events += (uint64_t)rows_int(r, RECORD_EVENTS_N);
	rc = r ? rows_end(r, err) : -1;
	if (!rc && !(t = trust_read(db, &filter_none, err)))
		rc = -1;
	if (!rc)
		rc = loss_rows_sum(db, &lost, &unknown, err);
	if (!rc) {
		struct trust_counts c = trust_count(t);

		w->whole += c.whole;
		w->all += c.all;
		w->lost += lost;
		w->bytes += (uint64_t)st.st_size;
	}
	trust_free(t);
	return rc;
}

/* Makes the command line of a way. Returns 1; 0 if this kernel or perf does not
 * have it; -1 and *err. */
static int cost_plan(struct cost_way *w, bool dry_run, struct err *err)
{
	struct last_recording last = { .cut = !dry_run };
	const char *graph = w->want.graph;
	int rc = plan_make(&w->plan, err);

	/* dumps are as large as the program's stacks, which only it shows */
	while (!rc && w->plan.dump && last.cut) {
		rc = cost_record(w, -1, err) ||
		     last_recording_read(w->want.out, NULL, false, &last, err);
		if (rc || !last.cut)
			break;
		w->want.dump = last.dump;
		w->want.megabytes = last.megabytes;
		plan_release(&w->plan);
		w->plan =
			(struct plan){ .want = &w->want, .code = w->plan.code };
		rc = plan_make(&w->plan, err);
	}
	return rc ? -1 : !graph || !strcmp(graph, w->plan.graph);
}

/* Compares times with those without perf, as 'diff' compares several runs of
 * both sides. */
static void cost_judge(struct cost_way *w, const int64_t bare[TURNS])
{
	static const char *const key[TIMINGS_KEYS] = { "program", "" };
	struct timings t RELEASED_BY(timings_release) = { .all_kinds = true };

	for (int i = 0; i < 2 * TURNS; i++) {
		int64_t ns = i < TURNS ? bare[i] : w->ns[i - TURNS];

		timings_add_run(&t, i >= TURNS);
		t.run[i].from = 0;
		t.run[i].to = ns;
		timings_add(&t, key,
			    (struct timings_item){ .at = ns,
						   .least = ns,
						   .most = ns,
						   .proved = true });
	}
	timings_judge(&t);
	const struct timings_change *c = &t.row[0].of[TIMINGS_AVERAGE];

	w->slower = timings_growth(c);
	w->low = c->low - 1;
	w->high = c->high - 1;
}

/* Makes the command line of a way record to out. Returns its text, to be
 * freed. */
static char *cost_command(const struct cost_way *w, const char *out)
{
	for (size_t i = 0; w->plan.argv[i]; i++)
		if (w->plan.argv[i] == w->want.out)
			w->plan.argv[i] = out;
	return plan_text(&w->plan);
}

static double cost_whole(const struct cost_way *w)
{
	return w->all ? (double)w->whole / (double)w->all : 0;
}

/* Returns the way that costs least of those whose stacks are about as whole as
 * the best one's. A recording of waits has another purpose. */
static const struct cost_way *cost_take(const struct cost_way *way, size_t n)
{
	const struct cost_way *take = NULL;
	double best = 0;

	for (size_t i = 0; i < n; i++)
		if (!way[i].want.waits && cost_whole(&way[i]) > best)
			best = cost_whole(&way[i]);
	for (size_t i = 0; i < n; i++)
		if (!way[i].want.waits &&
		    cost_whole(&way[i]) >= best - AS_WHOLE &&
		    (!take || way[i].slower < take->slower))
			take = &way[i];
	return take;
}

/* Prints the table, and which way to take. */
static void cost_print(const struct cost_way *way, size_t n,
		       const int64_t bare[TURNS], const char *out, bool as_json)
{
	static const struct grid_column col[] = {
		{ "How", "how" },
		{ "Slower %", "slower_percent" },
		{ "From %", "slower_least_percent" },
		{ "To %", "slower_most_percent" },
		GRID_TWO("Bytes/s", "bytes_per_second"),
		{ "Whole %", "whole_percent" },
		{ "Lost %", "lost_percent" },
		{ "Stacks", "stacks" },
		{ NULL, "command" },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	const struct cost_way *take = cost_take(way, n);
	char *command OWNED = cost_command(take, out);
	int64_t took = 0;
	struct json j;

	for (int i = 0; i < TURNS; i++)
		took += bare[i] / TURNS;
	for (size_t i = 0; i < n; i++) {
		const struct cost_way *w = &way[i];
		char *own OWNED = cost_command(w, out);
		double ns = 0;

		for (int k = 0; k < TURNS; k++)
			ns += (double)w->ns[k];
		uint64_t rate = (uint64_t)((double)w->bytes / ns * 1e9);

		grid_text(g, w->name);
		grid_change(g, 100 * w->slower, false);
		grid_change(g, 100 * w->low, false);
		grid_change(g, 100 * w->high, false);
		grid_text(g, HUMAN_BYTES(rate));
		grid_number(g, rate);
		grid_percent(g, (uint64_t)w->whole, (uint64_t)w->all);
		grid_percent(g, w->lost, w->lost + w->events);
		grid_number(g, (uint64_t)w->all);
		grid_text(g, own);
	}
	if (as_json) {
		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "take", take->name);
		json_text(&j, "command", command);
		json_int(&j, "program_ns", took);
		json_uint(&j, "turns", TURNS);
		json_bool(&j, "short", took < SHORT_NS);
		json_break(&j);
		grid_json(g, &j, "rows");
		json_finish(&j);
	} else {
		printf("take %s: %s\n", take->name, command);
		printf("the program takes %s without perf, mean of %d; intervals "
		       "are of 95 %%%s\n\n",
		       HUMAN_NS(took), TURNS,
		       took < SHORT_NS
			       ? "; that is short, and little of it was "
				 "sampled: let it do more"
			       : "");
		grid_write(g, "table", stdout);
	}
}

/* Runs the program without perf and with each way, several times, and prints
 * the table; nothing that the program prints is shown. code: of the program.
 * Returns 0, or -1 and *err, also if a run fails. */
static int cost_measure(const struct plan_wants *want,
			const struct record_code *code,
			const struct cost_opts *o, struct err *err)
{
	static const struct {
		const char *name, *graph;
		bool waits;
	} ways[] = {
		{ "frame pointers", "fp", false },
		{ "deferred stacks", "fp,defer", false },
		{ "stack dumps", "dwarf", false },
		{ "--waits --tracer perf", NULL, true },
	};
	struct cost_way way[ARRAY_SIZE(ways)] = { { .name = NULL } };
	const char **argv OWNED =
		mem_new((size_t)want->n_program + 1, sizeof(*argv));
	int64_t bare[TURNS];
	size_t n = 0, made = 0;
	FILE *f OWNED_FILE = tmpfile();
	char out[40];
	int rc = f ? 0 : err_set(err, ERR_IO, "no file can be made in /tmp");

	memcpy(argv, want->program, (size_t)want->n_program * sizeof(*argv));
	if (f)
		snprintf(out, sizeof(out), "/proc/%ld/fd/%d", (long)getpid(),
			 fileno(f));
	for (; !rc && made < ARRAY_SIZE(ways); made++) {
		struct cost_way *w = &way[n];

		w->name = ways[made].name;
		w->want = *want;
		w->want.graph = ways[made].graph;
		w->want.all = w->want.waits = ways[made].waits;
		w->want.dump =
			w->want.graph && *w->want.graph == 'd' ? want->dump : 0;
		w->want.out = out;
		w->plan = (struct plan){ .want = &w->want, .code = *code };
		rc = cost_plan(w, o->dry_run, err);
		if (!rc)
			plan_release(&w->plan);
		n += rc == 1;
		rc = rc < 0 ? -1 : 0;
	}
	for (size_t i = 0; !rc && o->dry_run && i < n; i++) {
		char *command OWNED = cost_command(&way[i], want->out);

		say("%s, %d times: %s\n", way[i].name, TURNS, command);
	}
	if (!rc && !o->dry_run)
		say("the program runs %zu times; nothing that it prints is "
		    "shown\n",
		    (n + 1) * TURNS);
	/* Each way is as often the first of a turn as others, and begins when
	 * the output of the one before, such as 16 MB/s of dumps, is on
	 * disk. */
	for (size_t run = 0; !rc && !o->dry_run && run < (n + 1) * TURNS;
	     run++) {
		const int turn = (int)(run / (n + 1));
		const size_t i = (run + (size_t)turn) % (n + 1);

		sync();
		if (i) {
			rc = cost_record(&way[i - 1], turn, err);
			continue;
		}
		struct child_span t;
		int status = child_time(argv, -1, &t, NULL);

		bare[turn] = t.to - t.from;
		if (status)
			rc = err_set(err, ERR_IO,
				     "'%s' ended with status %d, which --cost "
				     "needs to be 0; try it with its output, "
				     "and </dev/null",
				     want->program[0], status);
	}
	for (size_t i = 0; !rc && !o->dry_run && i < n; i++)
		cost_judge(&way[i], bare);
	if (!rc && !o->dry_run)
		cost_print(way, n, bare, want->out, o->json);
	for (size_t i = 0; i < n + (rc && n < ARRAY_SIZE(ways)); i++)
		plan_release(&way[i].plan);
	return rc;
}

#define TIMEOUT_STATUS 124 /* of timeout(1) when the time was over */
#define KEPT ((size_t)1 << 20)
#define START_MS 2
#define LOOK_MS 20
#define LOOKS 4 /* looks per read of the rings, which hold a busy second */
#define READ_MS 1000

static struct plan_wants want = { .rate = 997 };
static const char *tracer, *how_long, *calls;
static bool dry_run, again, cost, as_json;
static const char *const tracers[] = { "ftrace", "perf", NULL };

static const struct opt opts[] = {
	OPT_HEADING("What to record"),
	OPT_NUMBER('p', "pid", "PID", &want.pid, "a process that runs"),
	OPT_FLAG('a', "all", &want.all,
		 "all CPUs, while PROGRAM runs if there is one"),
	OPT_STRING(0, "for", "TIME", &how_long,
		   "end after this time: 10s, 0.5s, 2m"),
	OPT_FLAG(0, "waits", &want.waits,
		 "each switch and wake-up of all CPUs, so that 'path' can "
		 "prove who waited for whom"),
	OPT_STRING(0, "calls", "FUNCTION[,...]", &calls,
		   "calls of these functions of the kernel, by ftrace in place "
		   "of perf; * and ? are wild, '*' is all"),
	OPT_STRING(
		'o', "output", "FILE", &want.out,
		"write the capture here (default perf.data, or calls.ftrace)"),
	OPT_HEADING("How"),
	OPT_FLAG(0, "dry-run", &dry_run,
		 "print perf's command line and why, and record nothing"),
	OPT_FLAG(0, "cost", &cost,
		 "run PROGRAM several times in each way, and print what each "
		 "costs and tells"),
	OPT_FLAG(0, "json", &as_json, "with --cost: as JSON"),
	OPT_FLAG(0, "again", &again,
		 "with larger stack dumps or buffers, if those of the capture "
		 "that is there were too small"),
	OPT_FLAG(0, "runtime", &want.runtime,
		 "set the environment variable that makes PROGRAM's runtime "
		 "name its functions"),
	OPT_CHOICE(0, "tracer", "NAME", &tracer, tracers,
		   "with --waits: what records these, ftrace or perf (ftrace "
		   "where it may)"),
	OPT_STRING('e', "event", "EVENT", &want.event,
		   "perf's name of the event (default cycles, or cpu-clock)"),
	OPT_NUMBER('F', "rate", "N", &want.rate,
		   "samples a second (default 997)"),
	OPT_SIZE(0, "dump", "SIZE", &want.dump,
		 "of stack dumps, if there are any (default 16K, at most "
		 "65528)"),
	{ .kind = OPT_END }
};

/* Checks the options, and sets want by them. Returns 0, or -1 and *err. */
static int record_take(int argc, char **argv, struct err *err)
{
	int64_t ns = 0;
	struct stat st;

	if (!want.out)
		want.out = calls ? "calls.ftrace" : "perf.data";
	const struct {
		bool is;
		const char *what;
	} wrong[] = {
		{ tracer && !want.waits, "--tracer needs --waits" },
		{ calls && (want.waits || want.event || want.dump ||
			    want.runtime || again),
		  "--calls takes no samples; leave out --waits, -e, --dump, "
		  "--runtime and --again" },
		{ calls && (want.all && argc),
		  "--calls is of a program, of -p PID, or of -a" },
		{ want.waits && want.event && strpbrk(want.event, ":/,{ "),
		  "--waits needs the plain name of an event, as cpu-clock" },
		{ as_json && !cost, "--json is of --cost" },
		{ cost && (!argc || want.all || want.waits || want.runtime ||
			   calls || again || how_long || tracer),
		  "--cost is of a program, in all ways; leave out -a, -p, "
		  "--waits, --tracer, --calls, --runtime, --again and --for" },
		{ want.pid && (argc || want.all),
		  "-p is of a process, not with a program or -a" },
		{ !want.pid && !argc && !want.all && !want.waits,
		  "which program? or -p PID, or -a" },
		{ !want.rate, "--rate needs a number above 0" },
		{ want.dump > DUMP_LARGEST || want.dump % 8,
		  "--dump needs a multiple of 8, at most 65528" },
		{ *want.out == '-' || !*want.out,
		  "-o needs the name of a file; 'perf record -o - | backstitch "
		  "follow -' reads a pipe" },
		{ !calls && !stat(want.out, &st) && S_ISDIR(st.st_mode),
		  "-o needs the name of a file, and this is a folder" },
		{ how_long && (parse_duration(how_long, &ns) || !ns),
		  "--for needs a time, such as 10s, 0.5s or 2m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (wrong[i].is)
			return err_set(err, ERR_USAGE, "%s", wrong[i].what);
	/* a capture may be replaced: perf keeps the last one */
	if (!dry_run && !stat(want.out, &st) && S_ISREG(st.st_mode) &&
	    !formats_is_capture(want.out) &&
	    out_may_replace(want.out, false, err))
		return -1;
	want.all |= want.waits;
	want.ftrace = tracer ? *tracer == 'f' : want.waits && rings_may();
	want.seconds = (double)ns / 1e9;
	want.program = argv;
	want.n_program = argc;
	return 0;
}

/* Returns whether an event ends in ":u"; "probe:update" only contains it. */
static bool record_is_user(const char *event)
{
	const char *modifier = strrchr(event, ':');

	return modifier && !strcmp(modifier, ":u");
}

/* Prints perf's command line, why, and which names will be missing. */
static void record_say(const struct plan *p)
{
	const struct code_runtime *r = p->code.runtime;
	char *line OWNED = plan_text(p);
	FILE *f = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int level = 0;

	say("%s\n", line);
	plan_say_why(p);
	if (f && !record_is_user(p->event) && fscanf(f, "%d", &level) == 1 &&
	    level > (geteuid() ? 0 : 1))
		say_note(
			"kernel functions will have no names: kernel.kptr_restrict "
			"is %d; as root, 'sysctl kernel.kptr_restrict=0' shows them\n",
			level);
	if (f)
		fclose(f);
	if (record_is_user(p->event) && !want.event)
		say_note("without the kernel's part; as root, 'sysctl "
			 "kernel.perf_event_paranoid=1' allows it\n");
	if (p->code.n_replaced) {
		/* The old file is there for as long as the process has it
		 * mapped. */
		char others[64] = "", db[PATH_MAX];
		char *file OWNED = safe_text_word(p->code.replaced);

		if (p->code.n_replaced > 1)
			snprintf(others, sizeof(others), " and %zu more",
				 p->code.n_replaced - 1);
		input_database_name(want.out, db, sizeof(db));
		say_note(
			"%s%s was replaced since process %ld mapped it: functions of the "
			"old file will have no names; as long as it runs, 'install -D %s "
			"old%s' keeps that, and then 'backstitch symbolize --symfs old "
			"%s' names them\n",
			file, others, want.pid, p->code.kept, file, db);
	}
	/* perf looks at files when the recording ends */
	if (want.n_program > 1 && !strcmp(path_base(want.program[0]), "go") &&
	    (!strcmp(want.program[1], "run") ||
	     !strcmp(want.program[1], "test")))
		say_note("'go %s' removes the program as it ends, and its "
			 "functions will have no names: '%s -o PROGRAM' first, "
			 "then record PROGRAM\n",
			 want.program[1],
			 *want.program[1] == 'r' ? "go build" : "go test -c");
	if (r && !p->env)
		say_note(
			"%s's functions will have no names%s: you will see those "
			"of its interpreter\n",
			r->name, p->code.minor ? " before 3.12" : "");
	else if (r && !(want.runtime && want.n_program) && !plan_has_names(p))
		say_note("%s's functions will have no names; %s %s=%s\n",
			 r->name,
			 want.pid ? "they have them if it is started with"
				  : "'backstitch record --runtime' with these "
				    "arguments sets",
			 p->env, r->value);
}

static volatile sig_atomic_t record_perf, record_asked;

/* Passes a signal to perf, which writes what it has and ends. A terminal sends
 * Ctrl-C to perf, too: a second SIGINT changes nothing there. */
static void record_on_signal(int sig)
{
	int saved = errno;

	record_asked = sig;
	if (record_perf > 0)
		kill((pid_t)record_perf, sig);
	errno = saved;
}

/* Begins to record calls: of the program that this process becomes, or of the
 * threads of a process; of all, if there is neither. */
static void record_follow(struct rings *rings)
{
	char path[64];
	const struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%ld/task", want.pid);
	d = want.pid ? opendir(path) : NULL;
	if (want.n_program)
		rings_follow(rings, getpid());
	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			rings_follow(rings, strtol(e->d_name, NULL, 10));
	if (d)
		closedir(d);
	rings_begin(rings);
}

/* Returns whether perf handles SIGTERM yet: else that ends it without a
 * capture. */
static bool record_perf_may_end(void)
{
	unsigned long long caught = 0;
	char line[256];

	snprintf(line, sizeof(line), "/proc/%d/status", (int)record_perf);
	FILE *f = fopen(line, "re");

	while (f && !caught && fgets(line, sizeof(line), f))
		caught = !strncmp(line, "SigCgt:", 7)
				 ? strtoull(line + 7, NULL, 16)
				 : 0;
	if (f)
		fclose(f);
	return caught >> (SIGTERM - 1) & 1;
}

/* Returns whether perf's only child runs the program: until its exec, it has
 * perf's command line. True without CONFIG_PROC_CHILDREN. */
static bool record_program_runs(void)
{
	const pid_t pid[2] = { (pid_t)record_perf,
			       child_of((pid_t)record_perf) };
	char name[64], line[2][1024];
	size_t n[2] = { 0, 0 };

	if (!pid[1])
		return false;
	for (int i = 0; pid[1] > 0 && i < 2; i++) {
		snprintf(name, sizeof(name), "/proc/%ld/cmdline", (long)pid[i]);
		FILE *own OWNED_FILE = fopen(name, "re");

		n[i] = own ? fread(line[i], 1, sizeof(line[i]), own) : 0;
	}
	return !n[0] || n[0] != n[1] || memcmp(line[0], line[1], n[0]) != 0;
}

/* Returns the process of the program, 0 if it is not known yet. With --for,
 * perf runs timeout(1), which starts it. */
static pid_t record_program(void)
{
	const pid_t pid = child_of((pid_t)record_perf);

	return pid > 0 && want.seconds > 0 ? child_of(pid) : pid;
}

/* Runs perf. Returns the program's status, which perf passes on as a shell
 * would; 0 after Ctrl-C or --for, unless Ctrl-C ends a program without
 * --for. */
static int record_perf_runs(const struct plan *p, struct rings *rings,
			    struct cgroups *cgroups)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	pid_t self = getpid();

	/* signals that nohup ignores stay ignored, by perf as well */
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signal(signals[i], record_on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	fflush(NULL);
	/* Before the program, perf lists for up to some seconds what processes
	 * have mapped; the mappings of processes that start and end meanwhile
	 * are in no record. So ftrace begins when perf wakes the process that
	 * is to become the program, to which perf gives this name. With a perf
	 * that does not, ftrace begins milliseconds later. */
	bool waits = rings && !calls && (want.n_program || want.seconds > 0);
	const char *note = want.pid || !want.n_program
				   ? want.seconds > 0 ? "" : "; Ctrl-C ends it"
				   : NULL;

	if (waits)
		rings_begin_with(rings, "perf-exec");
	else if (rings && !calls)
		rings_begin(rings);
	if (note && !waits)
		say("recording%s\n", note);
	record_perf = fork();
	if (!record_perf) {
		/* If this command is killed, perf writes what it has and ends:
		 * else it would record all CPUs until the disk is full. */
		child_end_with(self, SIGTERM);
		/* not that of what is recorded */
		if (want.n_program || !waits)
			child_hurry_ends(0);
		/* main() ignores these, and the program would inherit that */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		if (want.runtime && p->env)
			setenv(p->env, p->code.runtime->value, 1);
		if (calls)
			record_follow(rings);
		execvp(p->argv[0], (char *const *)p->argv);
		_exit(127);
	}
	if (!waits)
		child_hurry_ends(0);
	if (record_asked && record_perf > 0)
		kill((pid_t)record_perf, record_asked);
	/* Wait for perf, and copy meanwhile what ftrace has recorded, and what
	 * may keep threads from the CPU (cgroups.h). */
	struct pollfd ends[] = { { .fd = -1, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	siginfo_t info = { .si_pid = 0 };
	struct err err;

	if ((cgroups || rings) && record_perf > 0)
		ends[0].fd =
			(int)syscall(SYS_pidfd_open, (pid_t)record_perf, 0);
	/* perf records all CPUs, so it does not end with the process of -p */
	if ((cgroups || rings) && want.pid) {
		ends[1].fd = (int)syscall(SYS_pidfd_open, (pid_t)want.pid, 0);
		if (ends[1].fd < 0 && errno == ESRCH)
			ends[1].revents = POLLIN;
	}
	unsigned int looks = 0;
	pid_t program = 0;

	while ((cgroups || rings) && record_perf > 0 && !info.si_pid &&
	       !waitid(P_PID, (id_t)record_perf, &info,
		       WEXITED | WNOHANG | WNOWAIT)) {
		if (waits && !record_program_runs()) {
			poll(ends, 1, START_MS);
			continue;
		}
		if (waits) {
			rings_begin(rings);
			if (note)
				say("recording%s\n", note);
			/* what is recorded is not disturbed more than needed */
			child_hurry_ends((pid_t)record_perf);
			child_hurry_ends(0);
			waits = false;
		}
		/* pages that are not full are copied, too */
		if (rings && (calls || looks++ % LOOKS == 0) &&
		    rings_drain(rings, &err))
			say("%s: from here on no %s is kept; end the "
			    "recording (Ctrl-C) and make room\n",
			    err.msg, calls ? "call" : "switch or wake-up");
		if (cgroups)
			cgroups_read(cgroups);
		if (cgroups && want.n_program && program <= 0 &&
		    (program = record_program()) > 0)
			cgroups_program(cgroups, program);
		if (cgroups && (want.pid || want.n_program))
			cgroups_read_calls(cgroups, want.pid ?: record_perf,
					   !want.pid);
		/* without a pidfd, before Linux 5.3, the end is seen later */
		if (!info.si_pid)
			poll(ends, ends[1].revents ? 1 : 2,
			     rings || want.pid || want.n_program ? LOOK_MS
								 : READ_MS);
		if (ends[1].revents && record_perf_may_end())
			record_on_signal(SIGTERM);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i].fd >= 0)
			close(ends[i].fd);
	int status = child_wait((pid_t)record_perf);
	record_perf = 0;
	if (want.waits)
		child_hurry();
	signals_init();
	if (status == TIMEOUT_STATUS)
		record_asked = 1;
	return record_asked && (want.seconds > 0 || !want.n_program) ? 0
								     : status;
}

/* Sets *pid to the recorded program, unless the records do not show it. */
static int record_find_program(struct store *db, int64_t *pid, struct err *err)
{
	struct rows *r = rows_of(db, "path_program", err);

	if (rows_step(r))
		*pid = rows_int(r, PATH_PROGRAM_PID);
	return rows_end(r, err);
}

/* With --waits, shows what 'path' prints; else the capture's first screen.
 * Returns an enum status, or -1 and *err. */
static int record_show(int n, char **shown, struct err *err)
{
	char db[PATH_MAX];
	char *made[] = { db, NULL };
	int status = STATUS_OK;
	struct err none = { 0 };
	int64_t pid = want.pid ? want.pid : -1;

	if (!want.waits)
		return cmd_default.run(n, shown, err);
	struct store *s = capture_db_open(&(struct open_ask){ 0 }, n, shown,
					  false, db, &status, err);
	while (!s && n > 1 && err->code != ERR_STOPPED) {
		/* perf has no clock but its own: read it without quotas, then
		 * without ftrace */
		say("%s\n", err->msg);
		shown[--n] = NULL;
		s = capture_db_open(&(struct open_ask){ 0 }, n, shown, false,
				    db, &status, err);
	}
	if (!s)
		return -1;
	int rc = want.n_program ? record_find_program(s, &pid, err) : 0;
	struct rows *r = rc ? NULL : ROWS_BY(s, "path_computed", err, pid);
	bool computed = rows_step(r);

	if (!rc)
		rc = rows_end(r, err);
	path_of_process(want.pid);
	store_close(s);
	if (rc)
		return -1;
	rc = *db ? cmd_path.run(1, made, &none) : -1;
	if (rc < 0) {
		/* it ended before the recording began, or is a zombie */
		if (want.pid && none.msg[0])
			say("process %ld: %s\n", want.pid, none.msg);
		return cmd_default.run(n, shown, err);
	}
	char *word OWNED = safe_text_word(pid > 0 ? db : want.out);
	/* perf recorded all CPUs, and the first screen counts all of them */
	if (pid > 0 && computed)
		say("'backstitch report --pid %lld %s' has the hot functions "
		    "of this process, 'backstitch report %s' those of the "
		    "whole machine\n",
		    (long long)pid, word, word);
	else if (pid > 0)
		say("'backstitch %s' has the hot functions of the whole "
		    "machine\n",
		    word);
	else
		say("'backstitch %s' has the hot functions\n", word);
	return status ? status : rc;
}

/* Records, and shows the capture. Returns a status, or -1 and *err. */
static int record_and_show(const struct plan *p, struct err *err)
{
	const char *out = want.out;
	char folder[PATH_MAX], limits[PATH_MAX];
	char *shown[] = { (char *)out, limits, folder, NULL };
	struct rings *rings = NULL;
	struct cgroups *cgroups = NULL;
	struct stat before = { .st_ino = 0 }, after;
	struct last_recording last;
	char db[PATH_MAX];

	stat(out, &before);
	rings_folder(out, folder);
	if (want.ftrace) {
		rings = rings_open(folder, NULL, want.megabytes, NULL, err);
		if (!rings || rings_start(rings, err)) {
			rings_close(rings, NULL, &(struct err){ 0 });
			return -1;
		}
	}
	snprintf(limits, PATH_MAX, "%.*s" BESIDE_CGROUPS,
		 (int)(PATH_MAX - sizeof(BESIDE_CGROUPS)), out);
	if (want.waits) {
		cgroups = cgroups_open(limits, want.pid, err);
		if (!cgroups) {
			rings_close(rings, NULL, &(struct err){ 0 });
			return -1;
		}
	}
	int status = record_perf_runs(p, rings, cgroups);
	int rc = cgroups_close(cgroups, err);
	if (rings_close(rings, NULL, err) || rc)
		return -1;
	if (stat(out, &after) || !after.st_size ||
	    (before.st_ino == after.st_ino && before.st_dev == after.st_dev &&
	     !memcmp(&before.st_mtim, &after.st_mtim, sizeof(after.st_mtim))))
		return err_set(err, ERR_IO,
			       "%s: %s wrote no capture; its reason is above",
			       out, p->argv[0]);
	/* a stdout that is no terminal is for what the program prints */
	if (want.n_program && !term_is_terminal(stdout))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	pager_arm();
	rc = record_show(1 + want.waits + want.ftrace, shown, err);
	if (rc < 0)
		return rc;
	/* the screen has shown what was lost or cut, and what perf can do */
	input_database_name(out, db, sizeof(db));
	if (!last_recording_read(db, NULL, false, &last, err) &&
	    (last.cut || last.lost))
		say("'backstitch record --again' with these arguments has "
		    "larger %s\n",
		    last.cut ? "stack dumps" : "buffers");
	return status ? status : rc;
}

/* Records calls of the kernel's functions, and shows them. Returns a status, or
 * -1 and *err. */
static int record_calls(struct plan *p, struct err *err)
{
	char *shown[] = { (char *)want.out, NULL };
	uint64_t n;
	bool any = false;
	struct rings *rings =
		rings_open(dry_run ? NULL : want.out, calls, 0, &n, err);

	if (!rings || rings_start(rings, err)) {
		rings_close(rings, NULL, &(struct err){ 0 });
		return -1;
	}
	say("function_graph of %s%s, with switches and system calls of all, into %s; "
	    "each call takes some tenths of a microsecond longer, so that many "
	    "short ones make a program several times as slow\n",
	    HUMAN_GROUPED(n), n == 1 ? " function" : " functions", want.out);
	if (dry_run) {
		rings_close(rings, NULL, &(struct err){ 0 });
		return 0;
	}
	plan_make_calls(p);
	int status = record_perf_runs(p, rings, NULL);
	if (rings_close(rings, &any, err))
		return -1;
	if (!any)
		return err_set(err, ERR_FORMAT,
			       "%s: none of these functions was called, and "
			       "nothing else was recorded",
			       want.out);
	if (want.n_program && !term_is_terminal(stdout))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	pager_arm();
	int rc = cmd_default.run(1, shown, err);
	return rc < 0 ? rc : status ? status : rc;
}

/* Shows what was recorded to choose the size of dumps, and keeps it as the
 * capture, as the process has ended meanwhile. */
static int record_keep(const struct plan *p, struct err *err)
{
	char *shown[] = { (char *)want.out, NULL };
	struct new_file *nf = new_file_open(want.out, true, err);
	off_t off = 0;
	ssize_t n = 1;

	while (nf && n > 0)
		n = sendfile(new_file_fd(nf), fileno(p->trial), &off, KEPT);
	if (nf && n < 0)
		err_set(err, ERR_IO, "%s: cannot be written: %m", want.out);
	int rc = nf && !n ? new_file_finish(nf, err) : -1;

	new_file_free(nf);
	if (rc)
		return -1;
	say("process %ld has ended: %s has what was seen of it\n", want.pid,
	    want.out);
	pager_arm();
	return record_show(1, shown, err);
}

/* If -p names another thread of a process, takes the process. */
static void record_take_process(void)
{
	char line[256];
	long pid = want.pid;
	FILE *f OWNED_FILE = NULL;

	snprintf(line, sizeof(line), "/proc/%ld/status", want.pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "Tgid: %ld", &pid) != 1)
		;
	if (pid != want.pid)
		say("%ld is a thread of process %ld, which is recorded\n",
		    want.pid, pid);
	want.pid = pid;
}

static int record_run(int argc, char **argv, struct err *err)
{
	struct plan p RELEASED_BY(plan_release) = { .want = &want };
	struct last_recording last = { .dump = 0 };
	char path[PATH_MAX];
	int rc = record_take(argc, argv, err);

	if (!rc && !calls && !child_find("perf", strlen("perf"), path))
		rc = err_set(err, ERR_IO,
			     "perf is not installed: package linux-perf "
			     "(Debian), linux-tools-generic (Ubuntu) or perf");
	if (!rc && argc)
		rc = code_of_program(argv[0], &p.code, err);
	/* rc is a shell's status, and becomes that of this program */
	if (rc > 0)
		say("%s\n", err->msg);
	if (!rc && want.pid) {
		record_take_process();
		rc = code_of_process(want.pid, &p.code, err);
	}
	if (!rc && cost)
		return cost_measure(&want, &p.code,
				    &(struct cost_opts){ dry_run, as_json },
				    err);
	if (!rc && calls)
		return record_calls(&p, err);
	if (!rc && again)
		rc = last_recording_read(want.out, want.out, false, &last, err);
	/* --dump is kept if the last capture shows that it is enough */
	if (last.cut || !want.dump)
		want.dump = last.dump;
	want.megabytes = last.megabytes;
	want.tries = !want.dump && !dry_run && !(again && want.waits);
	/* who asks why a busy machine waits is answered before those that it
	 * is busy with */
	if (!rc && want.waits && !dry_run)
		child_hurry();
	if (!rc)
		rc = plan_make(&p, err);
	if (!rc)
		record_say(&p);
	if (!rc && !dry_run)
		rc = plan_is_over(&p) ? record_keep(&p, err)
				      : record_and_show(&p, err);
	return rc;
}

const struct command cmd_record = {
	.name = "record",
	.args = "[options] [--] PROGRAM [ARGS] | -p PID | -a",
	.summary =
		"start perf so that user stacks are whole, and show the result",
	.examples = { "backstitch record ./program",
		      "backstitch record --for 10s -p 1234",
		      "backstitch record --dry-run -- ./program --its-option",
		      "backstitch record --waits -o waits.data ./program",
		      "backstitch record --calls 'vfs_*,ext4_*' ./program",
		      "backstitch record --again ./program",
		      "backstitch record --cost ./program" },
	.opts = opts,
	.common = "pid all for waits calls output dry-run cost again runtime "
		  "tracer event rate dump",
	.program = true,
	.run = record_run,
};
