/* record.c - the command that starts perf so that user stacks will be whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/beside.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/model/filter.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/record/code.h"
#include "cli/record/plan.h"
#include "cli/record/run.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Dumps grow if more stacks than this end with theirs. */
#define CUT_OF 100
#define MEGABYTES_MAX 64
#define SECONDS_MAX 1000000

static const char *output, *tracer;
static const char *how_long;
static const char *event;
static long pid;
static long rate = 997;
static unsigned long dump;
static bool all, waits, dry_run, again, runtime;

static const struct opt opts[] = {
	OPT_HEADING("What to record"),
	OPT_NUMBER('p', "pid", "PID", &pid, "a process that runs"),
	OPT_FLAG('a', "all", &all,
		 "all CPUs, while PROGRAM runs if there is one"),
	OPT_STRING(0, "for", "TIME", &how_long,
		   "end after this time: 10s, 500ms, 2m"),
	OPT_FLAG(0, "waits", &waits,
		 "each switch and wake-up of all CPUs, so that 'path' can "
		 "prove who waited for whom"),
	OPT_STRING('o', "output", "FILE", &output,
		   "write the capture here (default perf.data, or trace.dat)"),
	OPT_HEADING("How"),
	OPT_FLAG(0, "dry-run", &dry_run,
		 "print perf's command line and why, and record nothing"),
	OPT_FLAG(0, "again", &again,
		 "with larger stack dumps or buffers, if those of the capture "
		 "that is there were too small"),
	OPT_FLAG(0, "runtime", &runtime,
		 "set the environment variable that makes PROGRAM's runtime "
		 "name its functions"),
	OPT_STRING(0, "tracer", "NAME", &tracer,
		   "with --waits: 'ftrace', by trace-cmd, where perf loses "
		   "records without a word"),
	OPT_STRING('e', "event", "EVENT", &event,
		   "perf's name of the event (default cycles, or cpu-clock)"),
	OPT_NUMBER('F', "rate", "N", &rate, "samples a second (default 997)"),
	OPT_SIZE(0, "dump", "SIZE", &dump,
		 "of stack dumps, if there are any (default 16K, at most "
		 "65528)"),
	{ .kind = OPT_END }
};

/* ---- what the last capture teaches */

/* Returns the number behind an option of perf's in a command line, 0: none. */
static unsigned int record_number(const char *cmdline, const char *option)
{
	const char *s = strstr(cmdline, option);
	unsigned long v = s ? strtoul(s + strlen(option), NULL, 10) : 0;

	return v > PLAN_DUMP_MAX ? PLAN_DUMP_MAX : (unsigned int)v;
}

struct record_learned {
	unsigned int dump, megabytes; /* of its command line; 0: not there */
	int64_t samples, cut, lost;
};

static int record_read(const char *file, struct record_learned *l,
		       struct err *err)
{
	char *argv[] = { (char *)file, NULL };
	char db_path[PATH_MAX];
	int status = STATUS_OK;
	struct store *db = beside_open(1, argv, false, db_path, &status, err);
	struct rows *r;
	int rc;

	*l = (struct record_learned){ .samples = 0 };
	if (!db)
		return err_while(err, "learning from the last capture");
	r = rows_of(db, "record_learned", err);
	if (rows_step(r)) {
		const char *line = rows_text(r, RECORD_LEARNED_CMDLINE);

		l->dump = record_number(line ? line : "", "dwarf,");
		l->megabytes = record_number(line ? line : "", " -m ");
		l->samples = rows_int(r, RECORD_LEARNED_SAMPLES);
		l->cut = rows_int(r, RECORD_LEARNED_CUT);
		l->lost = rows_int(r, RECORD_LEARNED_LOST);
	}
	rc = rows_end(r, err);
	store_close(db);
	return rc;
}

static bool record_was_cut(const struct record_learned *l, unsigned int size)
{
	return l->cut > l->samples / CUT_OF && size < PLAN_DUMP_MAX;
}

/* Returns the size of larger dumps, if these were too small. */
static unsigned int record_larger(const char *file,
				  const struct record_learned *l,
				  unsigned int size)
{
	unsigned int larger =
		size > PLAN_DUMP_MAX / 2 ? PLAN_DUMP_MAX : 2 * size;

	if (!record_was_cut(l, size))
		return size;
	say("%s: %lld of %lld user stacks end with their dump: dumps of %u "
	    "bytes\n",
	    file, (long long)l->cut, (long long)l->samples, larger);
	return larger;
}

/* For struct plan_opts.learn. What cannot be read teaches nothing. */
static unsigned int record_try(const char *file, unsigned int size)
{
	char beside[PATH_MAX];
	struct record_learned l;
	struct err err;
	int rc = record_read(file, &l, &err);

	snprintf(beside, sizeof(beside), "%s.db", file);
	unlink(beside);
	return rc ? size : record_larger("half a second", &l, size);
}

static int record_learn(struct plan_opts *o, struct err *err)
{
	struct record_learned l;

	if (record_read(o->out, &l, err))
		return -1;
	if (!dump)
		o->dump =
			record_larger(o->out, &l, l.dump ? l.dump : PLAN_DUMP);
	if (l.megabytes && l.megabytes <= MEGABYTES_MAX)
		o->megabytes = l.megabytes;
	if (l.lost) {
		o->megabytes = l.megabytes ? 2 * l.megabytes : 8;
		if (o->megabytes > MEGABYTES_MAX)
			o->megabytes = MEGABYTES_MAX;
		say("%s: %lld records were lost: buffers of %u MB\n", o->out,
		    (long long)l.lost, o->megabytes);
	}
	return 0;
}

/* ---- arguments */

static int record_seconds(double *out, struct err *err)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 } };
	const char *s = how_long;
	int64_t ns = 0;

	*out = 0;
	if (!how_long)
		return 0;
	for (size_t i = 0; !filter_seconds(&s, &ns) && i < ARRAY_SIZE(units);
	     i++, s = how_long)
		if (!strcmp(s, units[i].unit))
			*out = (double)ns / 1e9 * units[i].seconds;
	if (*out <= 0 || *out > SECONDS_MAX)
		return err_set(err, ERR_USAGE,
			       "--for needs a time as 10s, 500ms or 2m, not "
			       "'%s'",
			       how_long);
	return 0;
}

static int record_take(int argc, char **argv, struct plan_opts *o,
		       struct err *err)
{
	bool ftrace = tracer && !strcmp(tracer, "ftrace");
	struct stat st;

	if (tracer && !(waits && ftrace))
		return err_set(err, ERR_USAGE, "--tracer needs %s",
			       waits ? "the name 'ftrace'" : "--waits");
	if (waits && event && strpbrk(event, ":/,{"))
		return err_set(err, ERR_USAGE,
			       "--waits needs the plain name of an event, not "
			       "'%s'",
			       event);
	if (pid && (argc || all || waits))
		return err_set(err, ERR_USAGE, "-p with %s: a process, or %s",
			       all     ? "-a"
			       : waits ? "--waits"
				       : "a program",
			       all || waits ? "all CPUs" : "a program");
	if (!pid && !argc && !all && !waits)
		return err_set(err, ERR_USAGE,
			       "which program? or -p PID, or -a");
	if (pid < 0 || rate <= 0)
		return err_set(err, ERR_USAGE, "--%s needs a number above 0",
			       pid < 0 ? "pid" : "rate");
	if (dump > PLAN_DUMP_MAX || dump % 8)
		return err_set(err, ERR_USAGE,
			       "--dump needs a multiple of 8, at most %u",
			       PLAN_DUMP_MAX);
	output = output ? output : ftrace ? "trace.dat" : "perf.data";
	if (*output == '-' || !*output)
		return err_set(
			err, ERR_USAGE,
			"-o needs the name of a file, not '%s'; 'perf "
			"record -o - | backstitch follow -' reads a pipe",
			output);
	if (!stat(output, &st) && S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE,
			       "-o needs the name of a file, and '%s' is a "
			       "folder",
			       output);
	*o = (struct plan_opts){ .event = event,
				 .rate = rate,
				 .dump = (unsigned int)dump,
				 .all = all || waits,
				 .waits = waits,
				 .ftrace = ftrace,
				 .learn = dump || dry_run || again ? NULL
								   : record_try,
				 .pid = pid,
				 .out = output,
				 .program = argv,
				 .n_program = argc };
	return record_seconds(&o->seconds, err);
}

/* ---- what is said before */

static int record_find_perf(struct err *err)
{
	const char *const argv[] = { tracer ? "trace-cmd" : "perf", "--version",
				     NULL };
	char said[480];
	int status = child_ask(argv, said, sizeof(said));

	if (status == 127 && !*said)
		return err_set(
			err, ERR_IO, "%s",
			tracer ? "trace-cmd is not installed; its package has "
				 "its name"
			       : "perf is not installed; Debian and its kin "
				 "have it in linux-perf, Ubuntu in "
				 "linux-tools-generic, Fedora in perf");
	/* trace-cmd has no --version, and answers with its usage */
	if (status &&
	    !tracer) /* Ubuntu's script, of another kernel than this */
		return err_set(err, ERR_IO, "perf does not start: %s", said);
	return 0;
}

/* The kernel hides its addresses from perf, which then cannot name them. */
static void record_say_kptr(void)
{
	FILE *f = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int level = 0;

	if (f && fscanf(f, "%d", &level) == 1 && level > (geteuid() ? 0 : 1))
		say("kernel functions will have no names: kernel.kptr_restrict "
		    "is %d\n",
		    level);
	if (f)
		fclose(f);
}

static void record_say_runtime(const struct plan *p,
			       const struct record_code *code)
{
	if (p->env && (pid || !runtime))
		say("for names of its functions%s %s=%s\n",
		    pid ? " start it with" : ": --runtime, which sets", p->env,
		    p->value);
	else if (code->runtime == CODE_PYTHON && !p->env)
		say("CPython 3.%u's functions will have no names: 3.12 is the "
		    "first that can name them\n",
		    code->minor);
}

static void record_say(const struct plan *p, const struct plan_opts *o,
		       const struct record_code *code)
{
	char why[PATH_MAX + 256], *line;
	size_t len;
	FILE *f = mem_stream(&line, &len);

	plan_put(f, p, runtime && !pid);
	mem_stream_end(f);
	say("%s\n", line);
	free(line);
	plan_why(p, o, code, why, sizeof(why));
	say("%s\n", why);
	if (o->ftrace)
		return;
	if (strstr(p->event, ":u") && !event)
		say("without the kernel's part, which needs "
		    "kernel.perf_event_paranoid below 2, or root\n");
	else
		record_say_kptr();
	record_say_runtime(p, code);
}

/* ---- afterwards */

/* Returns what a shell would: the status of the program, as perf passes it on.
 * A process or all CPUs have none, and Ctrl-C is how their recording ends. */
static int record_status(const struct run_end *end, const struct plan_opts *o)
{
	if (end->asked && (!o->n_program || o->seconds > 0))
		return STATUS_OK;
	if (WIFSIGNALED(end->status))
		return 128 + WTERMSIG(end->status);
	return WEXITSTATUS(end->status);
}

static bool record_disk_is_full(const char *file)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(file, '/');
	struct statvfs v;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - file + 1) : 1,
		 slash ? file : ".");
	return !statvfs(dir, &v) && v.f_bavail * v.f_frsize < 1 << 16;
}

static bool record_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The first screen has said what was lost or cut, and what perf could do. */
static void record_say_again(const char *file)
{
	struct record_learned l;
	char db[PATH_MAX];
	struct err err;

	input_database_name(file, db, sizeof(db));
	bool cut = !record_read(db, &l, &err) && l.dump &&
		   record_was_cut(&l, l.dump);

	if (cut || l.lost)
		say("'backstitch record --again' with these arguments has "
		    "larger %s\n",
		    !l.lost ? "stack dumps"
		    : cut   ? "stack dumps and buffers"
			    : "buffers");
}

static int record_and_show(const struct plan *p, const struct plan_opts *o,
			   struct err *err)
{
	struct stat before = { .st_ino = 0 }, after = { .st_ino = 0 };
	struct run_end end;
	int status, shown;

	stat(o->out, &before);
	if (run_perf(p, runtime && !pid, o->n_program ? o->seconds : 0, &end,
		     err))
		return -1;
	status = record_status(&end, o);
	if (status && record_disk_is_full(o->out))
		say("%s: the disk is full, so that the capture ends early; -o "
		    "names a file elsewhere\n",
		    o->out);
	if (stat(o->out, &after) || !after.st_size ||
	    record_same(&before, &after))
		return err_set(err, ERR_IO,
			       "%s: %s wrote no capture; its reason is above",
			       o->out, p->argv[0]);
	shown = run_screen(o->out, o->n_program && !term_is_terminal(stdout));
	if (!o->ftrace)
		record_say_again(o->out);
	return status ? status : shown;
}

static int record_run(int argc, char **argv, struct err *err)
{
	struct record_code code = { .files = 0 };
	struct plan_opts o;
	struct plan p;
	int rc;

	if (record_take(argc, argv, &o, err) || record_find_perf(err))
		return -1;
	if (pid	   ? code_of_process(pid, &code, err)
	    : argc ? code_of_program(argv[0], &code, err)
		   : 0)
		return -1;
	if ((again && record_learn(&o, err)) || plan_make(&o, &code, &p, err))
		return -1;
	record_say(&p, &o, &code);
	rc = dry_run ? STATUS_OK : record_and_show(&p, &o, err);
	plan_release(&p);
	return rc;
}

static const char *const examples[] = {
	"backstitch record ./program",
	"backstitch record --for 10s -p 1234",
	"backstitch record --dry-run -- ./program --its-option",
	"backstitch record --waits -o waits.data ./program",
	"backstitch record --again ./program",
	NULL
};

extern const struct command cmd_record;
const struct command cmd_record = {
	.name = "record",
	.args = "[options] [--] PROGRAM [ARGS] | -p PID | -a",
	.summary =
		"start perf so that user stacks are whole, and show the result",
	.examples = examples,
	.opts = opts,
	.program = true,
	.run = record_run,
};
