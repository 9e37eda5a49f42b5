/* plan.c - the command line of perf, and why it is this one. */
#include "cli/record/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/causes/silent_tasks.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/process/child.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/record/libraries.h"
#include "cli/record/rings.h"
#include "cli/process/signals.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/text_out.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"
#include "symbolize/cfi/cfi.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/identity.h"

/* ---- what a capture teaches the next recording */

/* Dumps are enlarged if more than 1 of 100 stacks are cut at their end. */
#define CUT_OF 100
/* The largest dumps are taken if more than 1 of 2 stacks are cut, as it is not
 * known how much larger these stacks are. */
#define CUT_MOST_OF 2
/* Buffers of a CPU, for dumps of 16 kB: a quarter of a second of these at 997
 * Hz. perf's default holds 31 of them. */
#define MEGABYTES 4
#define MEGABYTES_MAX 64

/* Returns twice `had`, or twice perf's default if it is 0; at most `most`. */
static unsigned int last_recording_larger(int64_t had, unsigned int perfs,
					  unsigned int most)
{
	if (had < 0 || had > most / 2)
		return most;
	return had ? 2 * (unsigned int)had : 2 * perfs;
}

/* Reads from a trial what 'path' will be able to prove. In some guests there
 * are tasks of which no tracer records anything; a trial shows them at once. */
static int last_recording_proves(struct store *db, const char *file,
				 struct last_recording *out, struct err *err)
{
	struct silent_tasks s RELEASED_BY(silent_tasks_release);
	int rc = silent_tasks_load(&s, db, file, err);

	if (!rc && (s.others || s.text))
		out->ftrace = s.others ? "may miss none"
				       : "hears interrupts in their context";
	if (!rc && s.others)
		snprintf(out->proves, sizeof(out->proves),
			 "%" PRIu64 " time%s records are missing without a "
			 "word: what 'path' proves will rest on that they are "
			 "missing only where it shows",
			 s.others, s.others == 1 ? "" : "s");
	else if (!rc && s.text)
		snprintf(out->proves, sizeof(out->proves),
			 "%s; 'path' will prove waits if only these are "
			 "missing",
			 s.text);
	else if (!rc && s.told)
		snprintf(out->proves, sizeof(out->proves),
			 "no record is missing without a word: 'path' will "
			 "prove what is not lost");
	return rc;
}

int last_recording_read(const char *file, const char *name, bool all,
			struct last_recording *out, struct err *err)
{
	int status = STATUS_OK;
	struct store *db OWNED_STORE =
		database_open(&(struct open_ask){ 0 }, file, &status, err);
	struct trust *t = NULL;
	bool failed = false;
	struct rows *r;
	int rc;

	*out = (struct last_recording){ .dump = 0 };
	if (!db)
		return err_while(err, "learning from the last capture");
	r = ROWS_BY(db, "record_learned", err, getpid(), getppid());
	if (rows_step(r)) {
		const char *others = rows_text(r, RECORD_LEARNED_OTHERS);
		const struct filter f = { .pid = all ? others : NULL };
		struct trust_counts n = { .all = 0 };

		if (!all || *others)
			t = trust_read(db, &f, err);
		failed = !t && (!all || *others);
		if (t)
			n = trust_count(t);
		/* perf 7.2 and 7.3 store only a part of the command line */
		unsigned int mb = loss_buffer_megabytes(
			rows_text(r, RECORD_LEARNED_CMDLINE));
		int64_t dump = rows_int(r, RECORD_LEARNED_DUMP);
		long long samples = n.all, cut = n.cut;
		long long lost = rows_int(r, RECORD_LEARNED_LOST);

		/* larger dumps lose more records: enlarge buffers first */
		out->cut = cut > samples / CUT_OF && cut > lost &&
			   dump < DUMP_LARGEST;
		out->lost = lost;
		out->stacks = n.all;
		out->whole = n.whole;
		out->dump = (unsigned int)dump;
		out->megabytes = mb;
		if (out->cut && cut > samples / CUT_MOST_OF)
			out->dump = DUMP_LARGEST;
		else if (out->cut || dump < 0 || dump > DUMP_LARGEST)
			out->dump = last_recording_larger(dump, DUMP_USUAL / 2,
							  DUMP_LARGEST);
		if (lost || mb > MEGABYTES_MAX)
			out->megabytes = last_recording_larger(
				mb ? mb : dump / (DUMP_USUAL / MEGABYTES),
				MEGABYTES, MEGABYTES_MAX);
		if (name && out->cut)
			say("%s: %lld of %lld user stacks end with their dump: "
			    "dumps of %u bytes\n",
			    name, cut, samples, out->dump);
		if (name && lost)
			say("%s: %lld records were lost: buffers of %u MB\n",
			    name, lost, out->megabytes);
	}
	rc = rows_end(r, err) || failed ? -1 : 0;
	if (!rc && !name)
		rc = last_recording_proves(db, file, out, err);
	trust_free(t);
	return rc;
}

/* ---- the code that a program or process runs, read before it is recorded:
 * one file */

/* One function in twenty may lack a frame pointer: assembly and the like. */
#define FRAMES_OF 20
#define STACKS_TELL 20 /* with fewer in a trial, the code is judged instead */
#define SCRIPTS_MAX 4  /* scripts in a row that are run by a script */
#define LISTED 65536   /* bytes that are read of a file in /proc/PID */

/* Counts the functions of a file, and keeps the worst file. */
static void code_add(struct record_code *c, const char *path, const char *name)
{
	struct elf_section s;
	struct elf_file *ef = elf_file_open(path, NULL);
	struct frame_share share;
	struct cfi *cfi;

	if (!ef)
		return;
	c->go |= elf_section_find(ef, ".gopclntab", &s) ||
		 elf_section_find(ef, ".data.rel.ro.gopclntab", &s);
	cfi = cfi_open_both(ef);
	frame_share_count(ef, cfi, NULL, &share);
	cfi_close(cfi);
	elf_file_close(ef);
	if (!share.functions)
		return;
	if (!c->files++ || (uint64_t)share.set * c->worst.functions <
				   (uint64_t)c->worst.set * share.functions) {
		c->worst = share;
		snprintf(c->worst_path, sizeof(c->worst_path), "%s", name);
	}
}

static const struct code_runtime runtimes[] = {
	/* since 3.12 */
	{ "CPython", "@(lib|)python3.*", "PYTHONPERFSUPPORT", "1", "-Xperf",
	  0 },
	{ "Node", "@(node|nodejs|libnode.so*)", "NODE_OPTIONS",
	  "--perf-basic-prof", "--perf-basic-prof", 0 },
	/* since JDK 17; compiled code is unwound only by frame pointers. Dumps
	 * of 16 kB cut 14 % of the stacks of a program, those of 32 kB none */
	{ "Java", "@(java|libjvm.so)", "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
	  "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	  "-XX:+DumpPerfMapAtExit", 32768 },
	{ ".NET", "@(dotnet|libcoreclr.so)", "DOTNET_PerfMapEnabled", "1", NULL,
	  0 },
	{ "Ruby", "@(ruby|ruby[0-9]*|libruby-*)", NULL, NULL, NULL, 0 },
	{ "Perl", "@(perl|libperl.so*)", NULL, NULL, NULL, 0 },
	{ "PHP", "@(php|php[0-9]*|libphp[0-9]*)", NULL, NULL, NULL, 0 },
};

/* Sets the runtime if the name of a program or library is one's. */
static void code_name(struct record_code *c, const char *path)
{
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (!fnmatch(runtimes[i].files, base, FNM_EXTMATCH))
			c->runtime = &runtimes[i];
	if (c->runtime == runtimes)
		sscanf(base, "%*[libpython]3.%u", &c->minor);
}

/* Returns whether nearly all functions of each file set a frame pointer. */
static bool code_has_frames(const struct record_code *c)
{
	/* Go's functions set frame pointers, except assembly and parts of
	 * prologues: 57 % of the stacks of a Go 1.19 program are whole by frame
	 * pointers, 80 % by its unwind tables, which 'strip' removes. */
	if (c->go)
		return !c->files;
	return c->files && c->worst.functions - c->worst.set <=
				   c->worst.functions / FRAMES_OF;
}

/* ---- a program */

/* Replaces the path of a script by that of its interpreter, or of NAME for
 * "#!/usr/bin/env [-S] NAME". Returns false if it is no script or the
 * interpreter is not found. */
static bool code_interpreter(char path[PATH_MAX])
{
	char line[256], *word, *save;
	FILE *f OWNED_FILE = fopen(path, "re");
	bool is = f && fgets(line, sizeof(line), f) && !strncmp(line, "#!", 2);

	if (!is)
		return false;
	word = strtok_r(line + 2, " \t\n", &save);
	if (word && !strcmp(path_base(word), "env")) {
		do
			word = strtok_r(NULL, " \t\n", &save);
		while (word && (*word == '-' || strchr(word, '=')));
	}
	return word && child_find(word, strlen(word), path);
}

static void code_add_library(void *code, const char *path)
{
	code_name(code, path);
	code_add(code, path, path);
}

int code_of_program(const char *name, struct record_code *out, struct err *err)
{
	char real[PATH_MAX];

	*out = (struct record_code){ .files = 0 };
	if (!child_find(name, strlen(name), out->path)) {
		err_set(err, ERR_IO, "%s: no such program, or no right to it",
			name);
		/* a name without '/' is not looked up in this folder */
		return strchr(name, '/') && !access(name, F_OK) ? 126 : 127;
	}
	for (int i = 0; i < SCRIPTS_MAX && code_interpreter(out->path); i++)
		;
	if (realpath(out->path, real))
		snprintf(out->path, sizeof(out->path), "%s", real);
	code_add(out, out->path, out->path);
	libraries_of(out->path, code_add_library, out);
	code_name(out, out->path);
	return 0;
}

/* ---- a process */

/* Sets out to the path by which we reach what the process sees at `file`. */
static void code_path_of(long pid, const char *file, char out[PATH_MAX + 64])
{
	snprintf(out, PATH_MAX + 64, "/proc/%ld/root%s", pid, file);
}

/* Counts a mapping whose file is no longer the one at its path, keeps the first
 * one, and returns true. Mappings with no regular file at their path, such as
 * devices and shared memory, and files that may not be read do not count. */
static bool code_take_replaced(struct record_code *c, long pid,
			       const struct image *img, const char *kept)
{
	char path[PATH_MAX + 64], file[PATH_MAX];
	struct image now = *img;
	struct stat st;
	size_t len;
	bool gone = identity_is_deleted(img->path, &len);

	snprintf(file, sizeof(file), "%.*s", (int)len, img->path);
	code_path_of(pid, file, path);
	now.path = path;
	if (access(path, R_OK) || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    (!gone && identity_may_be_mapped(&now)))
		return false;
	if (!c->n_replaced++) {
		memcpy(c->replaced, file, len + 1);
		snprintf(c->kept, sizeof(c->kept), "%s", kept);
	}
	return true;
}

int code_of_process(long pid, struct record_code *out, struct err *err)
{
	char name[64], line[PATH_MAX + 128], file[PATH_MAX];
	char path[PATH_MAX + 64], exec;
	unsigned long from, to;
	struct image img = { .kind = IMAGE_FILE, .path = file };
	ssize_t n;
	FILE *f OWNED_FILE = NULL;

	*out = (struct record_code){ .files = 0 };
	snprintf(name, sizeof(name), "/proc/%ld/maps", pid);
	f = fopen(name, "re");
	if (!f && errno == ENOENT)
		return err_set(err, ERR_IO, "%ld: no such process", pid);
	snprintf(name, sizeof(name), "/proc/%ld/exe", pid);
	n = readlink(name, out->path, sizeof(out->path) - 1);
	out->path[n > 0 ? n : 0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line,
			   "%lx-%lx %*2c%c%*s %*s %x:%x %" SCNu64 " %4095[^\n]",
			   &from, &to, &exec, &img.maj, &img.min, &img.ino,
			   file) != 7 ||
		    exec != 'x' || *file != '/')
			continue;
		/* a process in a container sees other files than we do */
		code_path_of(pid, file, path);
		snprintf(name, sizeof(name), "/proc/%ld/map_files/%lx-%lx", pid,
			 from, to);
		if (code_take_replaced(out, pid, &img, name))
			snprintf(path, sizeof(path), "%s", name);
		/* the loader runs before the program does */
		if (strncmp(path_base(file), "ld-", 3) != 0)
			code_add(out, path, file);
		code_name(out, file);
	}
	return 0;
}

#define MEGABYTES_ALL 256  /* of all CPUs together */
#define MEGABYTES_WAITS 16 /* of a CPU, if switches are recorded */
/* Bytes of a record: at most 127 addresses, and some more words. */
#define CHAIN 1100
#define SAID 16384 /* bytes of perf's output that are kept */

/* ---- the words */

static void plan_add_word(struct plan *p, const char *word)
{
	*mem_add(p->argv, p->n_argv, p->cap_argv) = word;
}

/* Adds the words of a text that is split at blanks. */
__attribute__((format(printf, 2, 3))) static void plan_add(struct plan *p,
							   const char *fmt, ...)
{
	char text[512], *save;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		plan_add_word(p, arena_strdup(&p->words, word));
}

/* Returns whether dumps are requested by a term of the sampling event instead
 * of --call-graph dwarf. With the latter, events with call-graph=fp lack user
 * stacks, as perf 6.1 leaves exclude_callchain_user set
 * (evsel__reset_callgraph()). */
static bool plan_dumps_by_event(const struct plan *p)
{
	return p->waits && p->dump;
}

/* Adds the sampling event and, for waits, the events from which 'path' and
 * --off-cpu prove. Without -F and -c each occurrence is recorded; freq= keeps
 * the rate of the samples. Only switches and sched_waking need a stack, for
 * where a thread waits and is woken: that of --call-graph, without dumps, with
 * which a busy machine lost a third of all records, and the proofs. */
static void plan_add_events(struct plan *p, bool trial)
{
	plan_add(p, "-e");
	if (!p->waits) {
		plan_add_word(p, p->event);
		plan_add(p, "-F %ld", p->want->rate);
		return;
	}
	const bool by_event = plan_dumps_by_event(p);
	const char *chain = by_event ? "/call-graph=fp/" : "";
	char dump[64] = "";

	if (by_event)
		snprintf(dump, sizeof(dump), ",call-graph=%s,stack-size=%u",
			 p->graph, p->dump);
	/* without name=, a trial shows to which event perf falls back */
	plan_add(p,
		 "%s/freq=%ld%s%s%s/ -e sched:sched_switch%s "
		 "-e sched:sched_waking%s "
		 "-e sched:sched_wakeup*/call-graph=no/ "
		 "-e irq:*_e*/call-graph=no/ "
		 "-e irq:softirq_raise/call-graph=no/%s",
		 p->event, p->want->rate, dump,
		 trial ? "" : ",name=", trial ? "" : p->event, chain, chain,
		 p->no_disks ? ""
			     : " -e block:block_rq_complete/call-graph=no/");
}

/* Returns whether a trial decides if deferred stacks are used. */
static bool plan_asks(const struct plan *p)
{
	return p->want->tries && !p->want->waits &&
	       (p->want->all || p->want->pid) && !strcmp(p->graph, "fp,defer");
}

/* Returns whether the trial records what runs here, and is read. */
static bool plan_learns(const struct plan *p)
{
	/* ftrace records what perf may omit silently */
	if (p->want->waits)
		return p->want->tries && !p->want->ftrace;
	if (plan_asks(p))
		return p->defers;
	return p->want->tries && p->dump && (p->want->all || p->want->pid) &&
	       p->dump < DUMP_LARGEST;
}

/* Ends argv with the command that perf runs: the program, sleep for the given
 * time, or nothing. */
static void plan_add_command(struct plan *p)
{
	const struct plan_wants *want = p->want;

	if (want->seconds > 0)
		plan_add(p, "%s %.9g",
			 want->n_program ? "timeout --foreground" : "sleep",
			 want->seconds);
	for (int i = 0; i < want->n_program; i++)
		plan_add_word(p, want->program[i]);
	plan_add_word(p, NULL);
}

void plan_make_calls(struct plan *p)
{
	if (!p->want->n_program && p->want->seconds <= 0)
		plan_add(p, "sleep infinity");
	plan_add_command(p);
}

/* Makes argv. trial: the output file of a trial; NULL: it is no trial. */
static void plan_build(struct plan *p, const char *trial)
{
	p->n_argv = 0;
	/* With ftrace a trial of switches and wake-ups is useless, and perf
	 * takes half a second to turn so many events on and off. */
	p->waits = p->want->waits && !p->want->ftrace;
	plan_add(p, "perf record");
	plan_add_events(p, trial);
	if (!p->dump)
		plan_add(p, "--call-graph %s", p->graph);
	else if (!plan_dumps_by_event(p))
		plan_add(p, "--call-graph %s,%u", p->graph, p->dump);
	if (p->megabytes)
		plan_add(p, "-m %uM", p->megabytes);
	/* build-ids of the files that are mapped, not of those at their paths
	 * when perf ends; since perf 5.12 and Linux 5.12 */
	if (!p->no_ids)
		plan_add(p, "--buildid-mmap");
	/* the clock of jitdumps, of rings.h and of cgroups.h */
	if (p->env || p->want->waits)
		plan_add(p, "-k CLOCK_MONOTONIC");
	/* the trial that asks whether stacks can be deferred runs 'true' */
	if (trial && plan_asks(p) && !p->defers)
		;
	else if (p->want->all)
		plan_add(p, "-a");
	else if (p->want->pid)
		plan_add(p, "-p %ld", p->want->pid);
	/* as root, perf 5.1 and newer start a thread for BPF programs that
	 * checks once a second whether to end: a trial would take 1.1 s */
	if (trial && !p->bpf_waits)
		plan_add(p, "--no-bpf-event");
	plan_add(p, "-o");
	plan_add_word(p, trial ? trial : p->want->out);
	if (trial) {
		plan_add(p, !plan_learns(p) ? "-- true"
			    : p->want->all  ? "-- sleep 0.5"
					    : "-- sleep 0.25");
		plan_add_word(p, NULL);
		return;
	}
	if (p->want->seconds > 0 || p->want->n_program)
		plan_add(p, "--");
	plan_add_command(p);
}

char *plan_text(const struct plan *p)
{
	char *text, *word;
	FILE *f = mem_stream(&text, NULL);

	if (p->env && p->want->runtime && p->want->n_program) {
		word = safe_text_word(p->code.runtime->value);
		fprintf(f, "%s=%s ", p->env, word);
		free(word);
	}
	for (size_t i = 0; p->argv[i]; i++) {
		word = safe_text_word(p->argv[i]);
		fprintf(f, "%s%s", i ? " " : "", word);
		free(word);
	}
	mem_stream_end(f);
	return text;
}

void plan_release(struct plan *p)
{
	if (p->trial)
		fclose(p->trial);
	free(p->argv);
	arena_release(&p->words);
}

bool plan_is_over(const struct plan *p)
{
	return p->trial && p->want->pid && !p->want->all &&
	       new_file_has_ended((pid_t)p->want->pid);
}

/* ---- what perf refuses */

/* Prints perf's output, sets *err to what the user can do, returns -1. */
static int plan_refused(const struct plan *p, char *output, struct err *err)
{
	bool denied = strstr(output, "ermission") ||
		      strstr(output, "not permitted") ||
		      strstr(output, "perf_event_paranoid");
	char *save;

	for (char *line = strtok_r(output, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		say("perf: %s\n", line);
	return err_set(
		err, ERR_IO, "%s",
		!denied && *output ? "perf does not record this; its reason is "
				     "above"
		: !denied      ? "perf does not record this and says nothing; "
				 "'perf record -v' may say why"
		: !geteuid()   ? "perf may not record here, although this is "
				 "root: a container needs --cap-add PERFMON "
				 "(or SYS_ADMIN) and a seccomp profile that "
				 "allows perf_event_open"
		: p->want->all ? "perf may not record all CPUs; as root, "
				 "'sysctl kernel.perf_event_paranoid=-1' "
				 "allows it, or record as root"
		: p->want->pid ? "perf may not record this process; record as "
				 "root, or one of your own"
			       : "perf may not record this; as root, 'sysctl "
				 "kernel.perf_event_paranoid=1' allows it, or "
				 "record as root");
}

/* ---- trials */

/* The output of perf, and of perf evlist -v on what the kernel accepted. */
static char perf_said[SAID], plan_attrs[SAID];

/* Makes a trial in `file` and reads it. Returns whether perf accepted argv. */
static bool plan_try(struct plan *p, const char *file,
		     struct last_recording *learned)
{
	const char *const evlist[] = {
		"perf", "evlist", "-v", "-i", file, NULL
	};
	struct err err;

	*learned = (struct last_recording){ .cut = false };
	plan_attrs[0] = '\0';
	plan_build(p, file);
	if (child_ask(p->argv, perf_said, sizeof(perf_said)))
		return false;
	if (child_ask(evlist, plan_attrs, sizeof(plan_attrs)))
		plan_attrs[0] = '\0';
	/* a trial that cannot be read is as one without findings */
	if (plan_learns(p) &&
	    last_recording_read(file, NULL, p->want->all, learned, &err))
		*learned = (struct last_recording){ .cut = false };
	if (learned->cut)
		say("a trial: over 1 %% of the user stacks end with their "
		    "dump: dumps of %u bytes\n",
		    learned->dump);
	return true;
}

/* Sets the size of dumps, and of buffers in proportion to it. */
static void plan_take_dump(struct plan *p, unsigned int dump)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	p->dump = dump;
	bool switches = p->want->waits && !p->want->ftrace;

	p->megabytes = switches ? MEGABYTES_WAITS : dump ? MEGABYTES : 0;
	for (; dump > DUMP_USUAL; dump /= 2)
		p->megabytes *= 2;
	while (p->megabytes > 1 && cpus > MEGABYTES_ALL / (long)p->megabytes)
		p->megabytes /= 2;
	raise_to(p->megabytes, p->want->megabytes);
}

/* Returns whether the deferred stacks of a trial are whole or, if it has few,
 * whether those of the program will be. */
static bool plan_serves(struct plan *p, const struct last_recording *l)
{
	if (l->stacks < STACKS_TELL)
		return code_has_frames(&p->code);
	p->stacks = l->stacks;
	p->whole = l->whole;
	return l->stacks - l->whole <= l->stacks / FRAMES_OF;
}

/* Sets how stacks are taken: `along` if frames is set, else by dumps. */
static void plan_take_graph(struct plan *p, bool frames, const char *along)
{
	const struct code_runtime *r = p->code.runtime;

	p->graph = frames ? along : "dwarf";
	plan_take_dump(p, frames	  ? 0
			  : p->want->dump ? (unsigned int)p->want->dump
			  : r && r->dump  ? r->dump
					  : DUMP_USUAL);
}

/* Makes trials until perf accepts one, and gives up an option after each that
 * it refuses. The file has no name in any folder: perf gets that of our
 * descriptor. frames: frame pointers replace deferred stacks, not dumps.
 * Returns 0, or -1 and *err. */
static int plan_find(struct plan *p, bool frames, struct err *err)
{
	FILE *f = p->trial;
	struct last_recording l;
	char file[40];

	snprintf(file, sizeof(file), "/proc/%ld/fd/%d", (long)getpid(),
		 fileno(f));
	for (;;) {
		/* perf renames an output file that is not empty */
		bool accepted =
			!ftruncate(fileno(f), 0) && plan_try(p, file, &l);

		if (stop_requested())
			return err_set(err, ERR_STOPPED, "stopped");
		if (!strcmp(p->graph, "fp,defer") &&
		    !strstr(plan_attrs, "defer_callchain: 1"))
			plan_take_graph(p, frames, "fp");
		else if (accepted && plan_asks(p) && !p->defers)
			p->defers = true;
		else if (accepted && plan_asks(p) && !plan_is_over(p) &&
			 !plan_serves(p, &l))
			plan_take_graph(p, false, NULL);
		else if (accepted && l.cut && l.dump > p->dump &&
			 !plan_is_over(p))
			plan_take_dump(p, l.dump);
		else if (accepted) {
			const char *other = p->want->ftrace ? NULL : l.ftrace;

			if (*l.proves)
				say("a trial: %s%s%s\n", l.proves,
				    other ? "; 'backstitch record --waits "
					    "--tracer ftrace' "
					  : "",
				    other ?: "");
			return 0;
		} else if (!p->no_ids && (strstr(perf_said, "buildid-mmap") ||
					  strstr(perf_said, "build id")))
			p->no_ids = true;
		else if (!p->bpf_waits && strstr(perf_said, "no-bpf-event"))
			p->bpf_waits = true;
		else if (p->want->waits && !p->no_disks &&
			 strstr(perf_said, "block:"))
			p->no_disks = true;
		else if (p->megabytes && !p->want->megabytes &&
			 (strstr(perf_said, "mlock") ||
			  strstr(perf_said, "mmap")))
			p->megabytes = 0;
		else if (!p->want->event && !strcmp(p->event, "cycles"))
			p->event = "cpu-clock";
		else
			return plan_refused(p, perf_said, err);
	}
}

int plan_make(struct plan *p, struct err *err)
{
	const struct code_runtime *r = p->code.runtime;
	const struct plan_wants *want = p->want;
	unsigned int minor = p->code.minor;
	/* Dumps share the buffers with switches, a third of which were lost on
	 * a busy machine; who waits for whom is known without dumps. */
	bool frames = want->graph   ? *want->graph == 'f'
		      : want->waits ? !want->dump
				    : !(want->all && want->dump) &&
					      code_has_frames(&p->code);
	bool asks = !want->graph && want->tries && (want->all || want->pid);
	int rc;

	p->trial = tmpfile();
	if (!p->trial)
		return err_set(err, ERR_IO, "no file can be made in /tmp");
	p->event = want->event ? want->event : "cycles";
	plan_take_graph(p, frames || asks, want->graph ?: "fp,defer");
	if (r && (!minor || minor >= 12))
		p->env = minor > 12 && p->dump ? "PYTHON_PERF_JIT_SUPPORT"
					       : r->env;
	/* of all programs, some have no frame pointers */
	rc = plan_find(p, frames && (want->waits || !want->all), err);
	/* perf falls back by itself if the CPU does not count cycles, and omits
	 * the kernel if it may not be sampled: write that explicitly. */
	const char *kernel = strstr(plan_attrs, "exclude_kernel: 1");
	bool user = kernel && kernel < strchrnul(plan_attrs, '\n');

	if (!p->want->event) {
		/* perf 7.2 falls back to task-clock for a program */
		if (!strncmp(plan_attrs, "cpu-clock", strlen("cpu-clock")) ||
		    !strncmp(plan_attrs, "task-clock", strlen("task-clock")))
			p->event = user ? "cpu-clock:u" : "cpu-clock";
		else if (user)
			p->event = "cycles:u";
	}
	plan_build(p, NULL);
	return rc;
}

/* ---- why */

/* Adds the strings of a file of /proc, without the zeros that end them. */
static void plan_add_proc(struct text_out *out, long pid, const char *name)
{
	char path[64];
	FILE *f OWNED_FILE = NULL;
	int c;

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	f = fopen(path, "re");
	for (size_t i = 0; f && i < LISTED && (c = getc(f)) != EOF; i++)
		if (c)
			text_out_add(out, "%c", c);
}

bool plan_has_names(const struct plan *p)
{
	static char text[2 * LISTED];
	struct text_out out = { .buf = text, .size = sizeof(text) };
	const struct code_runtime *r = p->code.runtime;
	char set[256], map[64], path[PATH_MAX + 64];

	snprintf(set, sizeof(set), "%s=%s", p->env, r->value);
	snprintf(map, sizeof(map), "/tmp/perf-%ld.map", p->want->pid);
	code_path_of(p->want->pid, map, path);
	for (int i = 0; i < p->want->n_program; i++)
		text_out_add(&out, "%s", p->want->program[i]);
	if (p->want->pid) {
		plan_add_proc(&out, p->want->pid, "cmdline");
		plan_add_proc(&out, p->want->pid, "environ");
	} else if (getenv(p->env)) {
		text_out_add(&out, "%s=%s", p->env, getenv(p->env));
	}
	return strstr(text, set) || (r->word && strstr(text, r->word)) ||
	       (p->want->pid && !access(path, F_OK));
}

void plan_say_why(const struct plan *p)
{
	const struct record_code *c = &p->code;

	if (p->dump)
		say("stack dumps of %u bytes: ", p->dump);
	else
		say(!strcmp(p->graph, "fp") ? "frame pointers: "
					    : "deferred stacks, which this "
					      "kernel and perf have: ");
	if (p->stacks)
		say("of a trial, %s of the deferred user stacks are whole",
		    HUMAN_PERCENT(p->whole, p->stacks));
	else if (p->want->waits && !p->dump)
		say("what is not built with them lacks callers; 'backstitch "
		    "record --waits --dump 16K' has those, and loses more");
	else if (p->want->all)
		say("some of all programs have no frame pointers");
	else if (c->go)
		say(p->dump ? "some code of Go sets no frame pointer"
			    : "Go's file has no unwind tables");
	else if (!c->files)
		say("nothing is known of the code of %s",
		    *c->path ? path_name(c->path) : "the process");
	else
		say("of %s, %u of %u functions looked at set a frame pointer",
		    path_name(c->worst_path), c->worst.set, c->worst.functions);
	say("; up to %s a second for each busy CPU%s\n",
	    HUMAN_BYTES(((uint64_t)p->dump + CHAIN) * (uint64_t)p->want->rate),
	    p->want->waits ? "; switches along frame pointers" : "");
	if (p->want->ftrace) {
		char folder[PATH_MAX];

		rings_folder(p->want->out, folder);
		char *word OWNED = safe_text_word(folder);

		say("switches and wake-ups by an instance of ftrace, into the "
		    "folder %s\n",
		    word);
	}
}
