/* check_advice.c - what to do about losses and missing stacks. */
#include <string.h>

#include "cli/audit/check.h"
#include "cli/model/loss_rows.h"
#include "stitch/base/mem.h"

struct advice_facts {
	int64_t lost, overwritten, throttled, aux, silent;
	int64_t exit_per_task, unjoinable, stripped, unexplained;
	int64_t uncounted, late, places;
	int64_t sampled;
	int64_t perf, ftrace, ftext, ctf; /* captures */
};

static void advice_take_loss(void *arg, const struct check_row *r)
{
	struct advice_facts *f = arg;
	const char *what = check_text(r, "what");

	if (!strcmp(what, "lost") || !strcmp(what, "lost_end") ||
	    !strcmp(what, "dropped"))
		f->lost += check_int(r, "records") + check_int(r, "unknown");
	else if (!strcmp(what, "overwritten"))
		f->overwritten++;
	else if (!strcmp(what, "silent"))
		f->silent += check_int(r, "counts"); /* not of a pause */
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
	else if (!strcmp(check_text(r, "format"), "ftext"))
		f->ftext++;
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
	const bool full = f.lost || f.overwritten;
	const struct {
		bool holds;
		const char *text;
	} rules[] = {
		{ full && f.ftrace, loss_larger_buffers("ftrace") },
		{ full && f.ftext, loss_larger_buffers("ftext") },
		{ full && f.ctf, loss_larger_buffers("ctf") },
		{ f.lost && f.perf, loss_larger_buffers("perf") },
		{ f.overwritten && f.perf,
		  "--overwrite keeps the newest records only: a larger -m "
		  "keeps more of them" },
		{ f.silent, loss_own_ring("perf") },
		{ f.throttled && !f.lost && f.perf,
		  "the kernel throttled an event: a lower rate (-F)" },
		{ f.aux && f.perf,
		  "AUX data was cut: a larger AUX buffer, -m ,16M" },
		{ f.exit_per_task && f.perf,
		  "record all CPUs (-a): a session of one task ends with it, "
		  "before its last stack is written" },
		{ f.unjoinable && f.perf,
		  "sysctl kernel.perf_event_max_contexts_per_stack=8 (its "
		  "default) before recording: the cookie had no room" },
		{ f.stripped && f.perf,
		  "check the original file: perf inject removes the deferred "
		  "stacks" },
		{ f.uncounted || f.unexplained,
		  "something vanished without being counted: --verbose says "
		  "where" },
		{ f.late && f.perf,
		  "record into a file, not a pipe: then nothing comes late; or "
		  "--slack 100" },
		{ f.late && !f.perf,
		  "wait longer for what comes late: --slack 100" },
		/* -c 1 is for all events, so that a clock beside them would
		 * lose its rate */
		{ f.sampled,
		  "record each switch: backstitch record --waits, or without "
		  "other events perf record -c 1 -e sched:sched_switch" },
		{ f.places,
		  "part of the input could not be read: 'backstitch info' says "
		  "where" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].holds)
			fn(arg, rules[i].text);
	return 0;
}
