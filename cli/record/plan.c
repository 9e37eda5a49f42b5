/* plan.c - the command line of perf whose user stacks will be whole, and why.
 */
#include "cli/record/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/output/human.h"
#include "cli/output/say.h"
#include "cli/record/code.h"
#include "cli/stop.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/path.h"

/* Buffers for each CPU where there are dumps: a quarter of a second of 16 kB at
 * 997 Hz. perf's default holds 31 of them. */
#define MEGABYTES 4
#define MEGABYTES_ALL 256 /* of all CPUs */
#define MEGABYTES_WAITS 16
#define SAID 16384  /* bytes of perf's answer that are looked at */
#define TRIAL "0.5" /* seconds */

/* ---- the words */

static void plan_add(struct plan *p, const char *word)
{
	*mem_add(p->argv, p->n_argv, p->cap_argv) = word;
}

static void plan_add_pair(struct plan *p, const char *option, const char *value)
{
	plan_add(p, option);
	plan_add(p, value);
}

/* What runs already is tried itself, for half a second. */
static bool plan_learns(const struct plan *p, const struct plan_opts *o)
{
	return o->learn && p->dump && (o->all || o->pid);
}

/* The events by which 'path' and --off-cpu prove: each of them, as neither -F
 * nor -c is given, beside a clock that keeps its rate. Only switches have a
 * stack, and no dump: with dumps a third of all records were lost on a busy
 * machine, and with them the proofs. */
static void plan_add_events(struct plan *p, const struct plan_opts *o,
			    bool trial)
{
	/* perf's event falls back in a trial, and is then named */
	snprintf(p->sampled, sizeof(p->sampled), "%s/freq=%ld%s%s/", p->event,
		 o->rate, trial ? "" : ",name=", trial ? "" : p->event);
	plan_add_pair(p, "-e", o->waits ? p->sampled : p->event);
	if (!o->waits) {
		plan_add_pair(p, "-F", p->rate);
		return;
	}
	plan_add_pair(p, "-e", "sched:sched_switch/call-graph=fp/");
	plan_add_pair(p, "-e", "sched:sched_wak*/call-graph=no/");
	plan_add_pair(p, "-e", "irq:*_e*/call-graph=no/");
}

static void plan_add_ftrace(struct plan *p)
{
	plan_add_pair(p, "trace-cmd", "record");
	plan_add_pair(p, "-b", "20000");
	plan_add_pair(p, "-e", "sched:sched_switch");
	plan_add_pair(p, "-e", "sched:sched_wak*");
	plan_add_pair(p, "-e", "irq:*_e*");
}

static void plan_add_perf(struct plan *p, const struct plan_opts *o, bool trial)
{
	snprintf(p->rate, sizeof(p->rate), "%ld", o->rate);
	snprintf(p->call_graph, sizeof(p->call_graph), "%s", p->graph);
	if (p->dump)
		snprintf(p->call_graph, sizeof(p->call_graph), "%s,%u",
			 p->graph, p->dump);
	snprintf(p->buffers, sizeof(p->buffers), "%uM", p->megabytes);
	snprintf(p->pid, sizeof(p->pid), "%ld", o->pid);
	plan_add_pair(p, "perf", "record");
	plan_add_events(p, o, trial);
	plan_add_pair(p, "--call-graph", p->call_graph);
	if (p->megabytes)
		plan_add_pair(p, "-m", p->buffers);
	if (p->mono)
		plan_add_pair(p, "-k", "CLOCK_MONOTONIC");
	if (o->all)
		plan_add(p, "-a");
	if (o->pid)
		plan_add_pair(p, "-p", p->pid);
}

/* trial: the file that is recorded to for a moment; NULL: the real one. */
static void plan_build(struct plan *p, const struct plan_opts *o,
		       const char *trial)
{
	p->n_argv = 0;
	snprintf(p->seconds, sizeof(p->seconds), "%.9g", o->seconds);
	if (o->ftrace)
		plan_add_ftrace(p);
	else
		plan_add_perf(p, o, trial);
	plan_add_pair(p, "-o", trial ? trial : o->out);
	if (trial || o->n_program || o->seconds > 0)
		plan_add(p, "--");
	if (trial && !plan_learns(p, o))
		plan_add(p, "true");
	else if (trial)
		plan_add_pair(p, "sleep", TRIAL);
	else if (!o->n_program && o->seconds > 0)
		plan_add_pair(p, "sleep", p->seconds);
	for (int i = 0; !trial && i < o->n_program; i++)
		plan_add(p, o->program[i]);
	plan_add(p, NULL);
}

static void plan_put_word(FILE *out, const char *s)
{
	if (*s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
			       "UVWXYZ0123456789_-+=.,:/@%")]) {
		fputs(s, out);
		return;
	}
	putc('\'', out);
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", out);
		else
			putc(*s, out);
	putc('\'', out);
}

void plan_put(FILE *out, const struct plan *p, bool env)
{
	if (env && p->env) {
		fprintf(out, "%s=", p->env);
		plan_put_word(out, p->value);
		putc(' ', out);
	}
	for (size_t i = 0; p->argv[i]; i++) {
		if (i)
			putc(' ', out);
		plan_put_word(out, p->argv[i]);
	}
}

void plan_release(struct plan *p)
{
	free(p->argv);
	p->argv = NULL;
}

/* ---- what perf refuses */

static bool plan_says(const char *said, const char *const *words)
{
	for (; *words; words++)
		if (strstr(said, *words))
			return true;
	return false;
}

/* Prints what perf said, and sets what to do. */
static int plan_refused(const struct plan_opts *o, char *said, struct err *err)
{
	static const char *const denied[] = { "perf_event_paranoid",
					      "ermission", "not permitted",
					      NULL };
	static const char setting[] = "perf_event_paranoid setting is ";
	const char *level = strstr(said, setting);
	bool is_denied = plan_says(said, denied);
	char *save;

	for (char *line = strtok_r(said, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		say("perf: %s\n", line);
	if (!is_denied)
		return err_set(
			err, ERR_IO,
			"perf does not record this; its reason is above");
	if (!geteuid())
		return err_set(err, ERR_IO,
			       "perf may not record here, although this is "
			       "root: a container needs --cap-add PERFMON (or "
			       "SYS_ADMIN) and a seccomp profile that allows "
			       "perf_event_open");
	return err_set(
		err, ERR_IO,
		"perf may not record this%s%.*s; as root, 'sysctl "
		"kernel.perf_event_paranoid=%s' allows it, or record as "
		"root",
		level ? ": kernel.perf_event_paranoid is " : "",
		level ? (int)strspn(level + strlen(setting), "-0123456789") : 0,
		level ? level + strlen(setting) : "", o->all ? "-1" : "1");
}

/* ---- trials */

struct plan_trial {
	char dir[PATH_MAX], file[PATH_MAX + 8];
	char said[SAID];   /* by perf record */
	char attrs[SAID];  /* by perf evlist -v: what the kernel accepted */
	unsigned int dump; /* that the stacks need; 0: not known */
};

/* Returns whether perf records in this way. */
static bool plan_try(struct plan *p, const struct plan_opts *o,
		     struct plan_trial *t)
{
	const char *const evlist[] = { "perf", "evlist", "-v",
				       "-i",   t->file,	 NULL };
	int status;

	plan_build(p, o, t->file);
	status = child_ask(p->argv, t->said, sizeof(t->said));
	t->attrs[0] = '\0';
	if (!status && child_ask(evlist, t->attrs, sizeof(t->attrs)))
		t->attrs[0] = '\0';
	if (!status && plan_learns(p, o))
		t->dump = o->learn(t->file, p->dump);
	unlink(t->file);
	return !status;
}

/* Goes on to the next way if perf refuses one; each is given up once. */
static int plan_find(struct plan *p, const struct plan_opts *o,
		     struct plan_trial *t, struct err *err)
{
	static const char *const memory[] = { "mlock", "mmap", NULL };

	for (;;) {
		bool accepted = plan_try(p, o, t);

		if (stop_requested())
			return err_set(err, ERR_STOPPED, "stopped");
		if (!strcmp(p->graph, "fp,defer") &&
		    (!accepted || !strstr(t->attrs, "defer_callchain: 1")))
			p->graph = "fp";
		else if (accepted && t->dump <= p->dump)
			return 0;
		else if (accepted)
			p->dump = t->dump;
		else if (p->megabytes && !o->megabytes &&
			 plan_says(t->said, memory))
			p->megabytes = 0;
		else if (!o->event && !strcmp(p->event, "cycles"))
			p->event = "cpu-clock";
		else
			return plan_refused(o, t->said, err);
	}
}

/* perf falls back by itself where there are no cycles, and leaves the kernel
 * out where only that is allowed: the command line says so. */
static void plan_take_event(struct plan *p, const char *attrs)
{
	size_t n = strcspn(attrs, "\n");
	const char *kernel = strstr(attrs, "exclude_kernel: 1");

	if (!strncmp(attrs, "cpu-clock", strlen("cpu-clock")))
		p->event = "cpu-clock";
	if (kernel && kernel < attrs + n)
		p->event = !strcmp(p->event, "cycles") ? "cycles:u"
						       : "cpu-clock:u";
}

static void plan_take_runtime(struct plan *p, const struct record_code *code)
{
	p->mono = true;
	p->value = "1";
	switch (code->runtime) {
	case CODE_NODE:
		p->env = "NODE_OPTIONS";
		p->value = "--perf-basic-prof";
		break;
	case CODE_JAVA:
		/* since JDK 17; of compiled code only frame pointers tell the
		 * caller */
		p->env = "JAVA_TOOL_OPTIONS";
		p->value = "-XX:+IgnoreUnrecognizedVMOptions "
			   "-XX:+PreserveFramePointer "
			   "-XX:+UnlockDiagnosticVMOptions "
			   "-XX:+DumpPerfMapAtExit";
		break;
	case CODE_PYTHON:
		if (code->minor < 12)
			break;
		p->env = p->dump && code->minor > 12 ? "PYTHON_PERF_JIT_SUPPORT"
						     : "PYTHONPERFSUPPORT";
		break;
	default:
		p->mono = false;
	}
}

int plan_make(const struct plan_opts *o, const struct record_code *code,
	      struct plan *out, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct plan_trial *t = mem_new(1, sizeof(*t));
	bool frames = !o->all && code_has_frames(code);
	/* 14 % of the stacks of a Java program ended with 16 kB, none with
	 * 32 */
	unsigned int dump = PLAN_DUMP << (code->runtime == CODE_JAVA);
	int rc = -1;

	*out = (struct plan){ .event = o->event ? o->event : "cycles",
			      .graph = frames ? "fp,defer" : "dwarf",
			      .dump = frames	? 0
				      : o->dump ? o->dump
						: dump,
			      .megabytes = o->megabytes };
	if (o->ftrace) {
		plan_build(out, o, NULL);
		free(t);
		return 0;
	}
	if (out->dump && !out->megabytes)
		out->megabytes = o->waits ? MEGABYTES_WAITS : MEGABYTES;
	while (!o->megabytes && out->megabytes > 1 &&
	       cpus > MEGABYTES_ALL / (long)out->megabytes)
		out->megabytes /= 2;
	plan_take_runtime(out, code);
	snprintf(t->dir, sizeof(t->dir), "%s/backstitch-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(t->dir)) {
		err_set(err, ERR_IO, "%s: no folder can be made here", t->dir);
		goto out;
	}
	snprintf(t->file, sizeof(t->file), "%s/trial", t->dir);
	rc = plan_find(out, o, t, err);
	rmdir(t->dir);
	if (!rc && !o->event)
		plan_take_event(out, t->attrs);
	plan_build(out, o, NULL);
out:
	free(t);
	if (rc)
		plan_release(out);
	return rc;
}

/* ---- why */

void plan_why(const struct plan *p, const struct plan_opts *o,
	      const struct record_code *code, char *out, size_t size)
{
	const struct frame_share *s = &code->worst;
	char bytes[32], reason[PATH_MAX + 128];

	if (o->ftrace) {
		snprintf(out, size,
			 "ftrace's own rings, of which it says what they lost; "
			 "stacks are in perf's, without --tracer");
		return;
	}
	if (o->all)
		snprintf(reason, sizeof(reason),
			 "some of all programs have no frame pointers");
	else if (code->runtime == CODE_GO)
		snprintf(reason, sizeof(reason), "%s",
			 p->dump ? "assembly and some prologues of Go set no "
				   "frame pointer"
				 : "Go's functions set them, and the file has "
				   "no unwind tables");
	else if (!code->files)
		snprintf(reason, sizeof(reason),
			 "nothing is known of the code of %s",
			 *code->path ? path_name(code->path) : "the process");
	else
		snprintf(reason, sizeof(reason),
			 "of %s, %u of %u functions looked at set a frame "
			 "pointer",
			 path_name(code->worst_path), s->set, s->functions);
	if (p->dump)
		snprintf(out, size,
			 "stack dumps of %u bytes: %s; up to %s a second for "
			 "each busy CPU%s",
			 p->dump, reason,
			 human_bytes(bytes, sizeof(bytes),
				     (uint64_t)p->dump * (uint64_t)o->rate),
			 o->waits ? "; switches along frame pointers" : "");
	else
		snprintf(out, size, "%s: %s",
			 strcmp(p->graph, "fp") ? "deferred stacks, which this "
						  "kernel and perf have"
						: "frame pointers",
			 reason);
}
