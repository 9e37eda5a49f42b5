/* check_advice.c - what to do about losses and missing stacks. */
#include <string.h>

#include "cli/audit/check.h"
#include "stitch/base/mem.h"

struct advice_facts {
	int64_t lost, overwritten, throttled, aux, silent;
	int64_t exit_per_task, unjoinable, stripped, unexplained;
	int64_t uncounted, late, places;
	int64_t sampled;
	int64_t perf, ftrace, ctf; /* captures */
};

static void advice_take_loss(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;
	const char *what = check_text(r, "what");

	if (!strcmp(what, "lost") || !strcmp(what, "lost_end"))
		f->lost += check_int(r, "records") + check_int(r, "unknown");
	else if (!strcmp(what, "overwritten"))
		f->overwritten++;
	else if (!strcmp(what, "silent"))
		f->silent++;
	else if (!strcmp(what, "throttled"))
		f->throttled++;
	else if (!strcmp(what, "aux"))
		f->aux++;
}

static void advice_take_requests(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	f->exit_per_task = check_int(r, "exit_per_task");
	f->unjoinable += check_int(r, "unjoinable");
	f->stripped = check_int(r, "stripped");
	f->unexplained += check_int(r, "unexplained");
}

static void take_chains(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	f->unjoinable += check_int(r, "unjoinable");
	f->unexplained += check_int(r, "unexplained");
}

static void take_cookies(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	f->uncounted += check_int(r, "missing_uncounted");
}

static void take_ordering(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	if (!strcmp(check_text(r, "what"), "late"))
		f->late += check_int(r, "records");
}

static void advice_take_damage(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	f->places += check_int(r, "places");
}

static void advice_take_sampled(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	f->sampled += check_int(r, "recorded");
}

static void advice_take_capture(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;

	if (!strncmp(check_text(r, "format"), "ftrace", 6))
		f->ftrace++;
	else if (!strcmp(check_text(r, "format"), "ctf"))
		f->ctf++;
	else
		f->perf++;
}

static int advice_gather(struct check *c, struct advice_facts *f,
			 struct err *err)
{
	static const struct {
		const char *name;
		check_fn *fn;
	} ask[] = {
		{ "losses", advice_take_loss },
		{ "requests", advice_take_requests },
		{ "chains", take_chains },
		{ "cookies", take_cookies },
		{ "ordering", take_ordering },
		{ "damage", advice_take_damage },
		{ "sampled", advice_take_sampled },
		{ "captures", advice_take_capture },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ask); i++)
		if (check_each(c, ask[i].name, 0, ask[i].fn, f, err) < 0)
			return -1;
	return 0;
}

int check_advice(struct check *c, check_advice_fn *fn, void *arg,
		 struct err *err)
{
	struct advice_facts f = { .lost = 0 };

	if (advice_gather(c, &f, err))
		return -1;
	if ((f.lost || f.overwritten) && f.ftrace)
		fn(arg, "larger buffers: trace-cmd record -b 20000 (KB for "
			"each CPU), or more; or fewer events (-e, -f)");
	if ((f.lost || f.overwritten) && f.ctf)
		fn(arg, "larger buffers: lttng enable-channel --subbuf-size=4M "
			"--num-subbuf=8, or more; or fewer events");
	if (f.lost && f.perf)
		fn(arg, "larger buffers: perf record -m 4M or more; fewer "
			"events; lower -F");
	if (f.overwritten && f.perf)
		fn(arg, "--overwrite keeps the newest records only: a larger "
			"-m keeps more of them");
	if (f.silent)
		fn(arg, "perf left records out without a word, as in guests "
			"with Linux 6.18: trace-cmd has a ring of its own");
	if (f.throttled && !f.lost && f.perf)
		fn(arg, "the kernel throttled an event: a lower rate (-F)");
	if (f.aux && f.perf)
		fn(arg, "AUX data was cut: a larger AUX buffer, -m ,16M");
	if (f.exit_per_task && f.perf)
		fn(arg, "record all CPUs (-a): a session of one task ends "
			"with it, before its last stack is written");
	if (f.unjoinable && f.perf)
		fn(arg, "sysctl kernel.perf_event_max_contexts_per_stack=8 "
			"(its default) before recording: the cookie had no "
			"room");
	if (f.stripped && f.perf)
		fn(arg, "check the original file: perf inject removes the "
			"deferred stacks");
	if (f.uncounted || f.unexplained)
		fn(arg, "something vanished without being counted: "
			"--verbose says where");
	if (f.late)
		fn(arg, f.perf ? "record into a file, not a pipe: then nothing "
				 "comes late; or --slack 100"
			       : "wait longer for what comes late: --slack "
				 "100");
	if (f.sampled)
		fn(arg, "record each switch: perf record -c 1 -e "
			"sched:sched_switch");
	if (f.places)
		fn(arg, "part of the input could not be read: 'backstitch "
			"info' says where");
	return 0;
}
