/* record.c - the command that starts perf so that user stacks will be whole. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/open/capture_db.h"
#include "cli/process/child.h"
#include "cli/args/command.h"
#include "cli/open/input.h"
#include "cli/output/out.h"
#include "cli/output/pager.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/record/cgroups.h"
#include "cli/record/cost.h"
#include "cli/record/last_recording.h"
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
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"

#define TIMEOUT_STATUS 124 /* of timeout(1) when the time was over */
#define KEPT ((size_t)1 << 20)
#define LOOK_MS 20
#define LOOKS 4 /* rings hold a second, a busy one */
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

/* ---- arguments */

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
	/* a capture may go, of which perf keeps the last one */
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

/* ---- what is said before */

/* A name may have ":u" in it, too: probe:update. */
static bool record_is_user(const char *event)
{
	const char *modifier = strrchr(event, ':');

	return modifier && !strcmp(modifier, ":u");
}

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

/* ---- the run */

static volatile sig_atomic_t record_perf, record_asked;

/* A terminal sends Ctrl-C to perf, too: a second SIGINT changes nothing there.
 * perf writes what it has and ends. */
static void record_on_signal(int sig)
{
	int saved = errno;

	record_asked = sig;
	if (record_perf > 0)
		kill((pid_t)record_perf, sig);
	errno = saved;
}

/* Begins to record calls: of the program that comes by exec, or of the threads
 * of a process; of all, if there is neither. */
static void record_follow(const struct rings *rings)
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

/* Returns whether perf handles SIGTERM: before, that ends it without a capture.
 */
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

/* Returns the status of the program, which perf passes on as a shell would. A
 * process or all CPUs have none, and Ctrl-C is how their recording ends. */
static int record_perf_runs(const struct plan *p, struct rings *rings,
			    struct cgroups *cgroups)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	pid_t self = getpid();

	/* what is ignored under nohup is ignored by perf as well */
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signal(signals[i], record_on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	fflush(NULL);
	if (want.pid || !want.n_program)
		say("recording%s\n",
		    want.seconds > 0 ? "" : "; Ctrl-C ends it");
	record_perf = fork();
	if (!record_perf) {
		/* If this command is killed perf writes what it has and ends:
		 * it would record all CPUs until the disk is full. */
		child_end_with(self, SIGTERM);
		/* main() ignores these, and what is recorded would inherit it
		 */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		if (want.runtime && p->env)
			setenv(p->env, p->code.runtime->value, 1);
		if (calls)
			record_follow(rings);
		execvp(p->argv[0], (char *const *)p->argv);
		_exit(127);
	}
	if (record_asked && record_perf > 0)
		kill((pid_t)record_perf, record_asked);
	/* Waits for perf, and copies meanwhile what ftrace has, and what may
	 * keep threads from the CPU. */
	struct pollfd ends[] = { { .fd = -1, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	siginfo_t info = { .si_pid = 0 };
	struct err err;

	if ((cgroups || rings) && record_perf > 0)
		ends[0].fd =
			(int)syscall(SYS_pidfd_open, (pid_t)record_perf, 0);
	/* the process of -p: perf, which records all, does not end with it */
	if ((cgroups || rings) && want.pid) {
		ends[1].fd = (int)syscall(SYS_pidfd_open, (pid_t)want.pid, 0);
		if (ends[1].fd < 0 && errno == ESRCH)
			ends[1].revents = POLLIN;
	}
	unsigned int looks = 0;

	while ((cgroups || rings) && record_perf > 0 && !info.si_pid &&
	       !waitid(P_PID, (id_t)record_perf, &info,
		       WEXITED | WNOHANG | WNOWAIT)) {
		/* pages that are not full are copied, too */
		if (rings && (calls || looks++ % LOOKS == 0) &&
		    rings_drain(rings, &err))
			say("%s: from here on no %s is kept; end the "
			    "recording (Ctrl-C) and make room\n",
			    err.msg, calls ? "call" : "switch or wake-up");
		if (cgroups)
			cgroups_read(cgroups);
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
	signals_init();
	if (status == TIMEOUT_STATUS)
		record_asked = 1;
	return record_asked && (want.seconds > 0 || !want.n_program) ? 0
								     : status;
}

/* Leaves *pid as it is where the records do not tell it. */
static int record_find_program(struct store *db, int64_t *pid, struct err *err)
{
	struct rows *r = rows_of(db, "path_program", err);

	if (rows_step(r))
		*pid = rows_int(r, PATH_PROGRAM_PID);
	return rows_end(r, err);
}

/* Shows what 'path' says about each switch and wake-up, if there are any; else
 * the first screen of the capture. */
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
		/* a perf that has no clock but its own: without quotas, and
		 * without ftrace */
		say("%s\n", err->msg);
		shown[--n] = NULL;
		s = capture_db_open(&(struct open_ask){ 0 }, n, shown, false,
				    db, &status, err);
	}
	if (!s)
		return -1;
	int rc = want.n_program ? record_find_program(s, &pid, err) : 0;
	path_of_process(want.pid);
	store_close(s);
	if (rc)
		return -1;
	rc = *db ? cmd_path.run(1, made, &none) : -1;
	if (rc < 0)
		return cmd_default.run(n, shown, err);
	char *word OWNED = safe_text_word(pid > 0 ? db : want.out);
	/* perf records all CPUs, and so does what the first screen counts */
	if (pid > 0)
		say("'backstitch report --pid %lld %s' has the hot functions "
		    "of this process, 'backstitch report %s' those of the "
		    "whole machine\n",
		    (long long)pid, word, word);
	else
		say("'backstitch %s' has the hot functions\n", word);
	return status ? status : rc;
}

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
	/* a file or pipe after stdout is for what the program prints */
	if (want.n_program && !term_is_terminal(stdout))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	pager_arm();
	rc = record_show(1 + want.waits + want.ftrace, shown, err);
	if (rc < 0)
		return rc;
	/* the screen has said what was lost or cut, and what perf could do */
	input_database_name(out, db, sizeof(db));
	if (!last_recording_read(db, NULL, false, &last, err) &&
	    (last.cut || last.lost))
		say("'backstitch record --again' with these arguments has "
		    "larger %s\n",
		    last.cut ? "stack dumps" : "buffers");
	return status ? status : rc;
}

/* Records calls of the kernel's functions, and shows them. */
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

/* Keeps what was recorded to choose the size of dumps, as a process has ended
 * meanwhile, and shows it. */
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
	/* the status of a shell, which ends this, too */
	if (rc > 0)
		say("%s\n", err->msg);
	if (!rc && want.pid)
		rc = code_of_process(want.pid, &p.code, err);
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
	if (!rc)
		rc = plan_make(&p, err);
	if (!rc)
		record_say(&p);
	if (!rc && !dry_run)
		rc = plan_is_over(&p) ? record_keep(&p, err)
				      : record_and_show(&p, err);
	return rc;
}

static const char *const examples[] = {
	"backstitch record ./program",
	"backstitch record --for 10s -p 1234",
	"backstitch record --dry-run -- ./program --its-option",
	"backstitch record --waits -o waits.data ./program",
	"backstitch record --calls 'vfs_*,ext4_*' ./program",
	"backstitch record --again ./program",
	"backstitch record --cost ./program",
	NULL
};

const struct command cmd_record = {
	.name = "record",
	.args = "[options] [--] PROGRAM [ARGS] | -p PID | -a",
	.summary =
		"start perf so that user stacks are whole, and show the result",
	.examples = examples,
	.opts = opts,
	.common = "pid all for waits calls output dry-run cost again runtime "
		  "tracer event rate dump",
	.program = true,
	.run = record_run,
};
