/* check_advice.c - what to do about losses and missing stacks. */

#include "analyze/check/check.h"
#include "analyze/samples/loss_rows.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"

struct advice_facts {
	int64_t lost, overwritten, throttled, aux, silent, not_here;
	int64_t exit_per_task, unjoinable, stripped, unexplained;
	int64_t chains; /* unexplained ones */
	int64_t uncounted, late, places;
	int64_t sampled;
	int64_t perf, ftrace, ftext, ctf; /* captures */
	unsigned int had;		  /* MB of buffers; 0: not known */
	bool record;			  /* record --waits made them */
};

static void advice_take_loss(struct advice_facts *f, const struct check_row *r)
{
	const char *what = check_text(r, "what");

	if (!strcmp(what, "lost") || !strcmp(what, "lost_end") ||
	    !strcmp(what, "dropped"))
		f->lost += check_int(r, "records") + check_int(r, "unknown");
	else if (!strcmp(what, "overwritten"))
		f->overwritten++;
	else if (!strcmp(what, "not_here"))
		f->not_here += check_int(r, "records");
	else if (!strcmp(what, "silent"))
		f->silent += check_int(r, "counts"); /* not of a pause */
	else if (!strcmp(what, "throttled"))
		f->throttled++;
	else if (!strcmp(what, "aux"))
		f->aux++;
}

static int advice_gather(struct check *c, struct advice_facts *f,
			 struct err *err)
{
	const struct {
		const char *name, *column;
		int64_t *sum;
	} sums[] = {
		{ "requests", "exit_per_task", &f->exit_per_task },
		{ "requests", "unjoinable", &f->unjoinable },
		{ "requests", "stripped", &f->stripped },
		{ "requests", "unexplained", &f->unexplained },
		{ "chains", "unjoinable", &f->unjoinable },
		{ "chains", "unexplained", &f->chains },
		{ "cookies", "missing_uncounted", &f->uncounted },
		{ "damage", "places", &f->places },
		{ "sampled", "recorded", &f->sampled },
	};
	struct check_row loss, late, capture;
	struct rows *r = rows_of(c->db, "recorded_by", err);

	if (rows_step(r))
		f->record = rows_int(r, RECORDED_BY_RECORD) > 0;
	if (rows_end(r, err))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		if (check_sum(c, sums[i].name, sums[i].column, sums[i].sum,
			      err))
			return -1;
	if (check_open(c, "losses", &loss, err) < 0 ||
	    check_open(c, "ordering", &late, err) < 0 ||
	    check_open(c, "captures", &capture, err) < 0)
		return -1;
	while (check_next(&loss))
		advice_take_loss(f, &loss);
	while (check_next(&late))
		if (!strcmp(check_text(&late, "what"), "late"))
			f->late += check_int(&late, "records");
	while (check_next(&capture)) {
		const char *format = check_text(&capture, "format");

		if (!strncmp(format, "ftrace", 6))
			f->ftrace++;
		else if (!strcmp(format, "ftext"))
			f->ftext++;
		else if (!strcmp(format, "ctf"))
			f->ctf++;
		else {
			f->perf++;
			raise_to(f->had, loss_buffer_megabytes(check_text(
						 &capture, "cmdline")));
		}
	}
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
		{ full && f.ftrace,
		  loss_larger_buffers("ftrace", 0, f.record) },
		{ full && f.ftext && !f.record,
		  loss_larger_buffers("ftext", 0, false) },
		{ f.lost && f.ctf, loss_larger_buffers("ctf", 0, false) },
		{ f.overwritten && f.ctf,
		  "the newest packets only were kept: lttng enable-channel with a larger --tracefile-count or --tracefile-size, or for snapshots --num-subbuf" },
		{ f.lost && f.perf && !(f.record && full && f.ftrace),
		  loss_larger_buffers("perf", f.had, f.record) },
		{ f.overwritten && f.perf,
		  "--overwrite keeps the newest records only: a larger -m "
		  "keeps more of them" },
		{ f.not_here,
		  "copy each per_cpu/cpuN/trace_pipe_raw to its end, with tracing_on 0 and no other reader: what another one reads is gone" },
		{ f.silent && !c->silent.text, loss_own_ring("perf") },
		{ c->silent.text,
		  "no recorder gets records of such tasks; 'backstitch path' proves "
		  "what they do not hide" },
		{ f.throttled && !f.lost && f.perf,
		  "the kernel throttled an event: a lower rate (-F)" },
		{ f.aux && f.perf,
		  "AUX data was cut: a larger AUX buffer, -m ,16M" },
		{ c->breaks.unlisted,
		  "perf record --proc-map-timeout 10000 gives perf 10 s to read "
		  "the mappings of a process" },
		{ f.exit_per_task && f.perf,
		  "record all CPUs (-a): a session of one task ends with it, "
		  "before its last stack is written" },
		{ f.unjoinable && f.perf,
		  "sysctl kernel.perf_event_max_contexts_per_stack=8 (its "
		  "default) before recording: the cookie had no room" },
		{ f.stripped && f.perf,
		  "check the original file: perf inject removes the deferred "
		  "stacks" },
		{ f.chains && f.perf,
		  "give all files of perf record --switch-output together: the "
		  "sample of a chain may be in the one before" },
		{ f.uncounted || f.unexplained || f.chains,
		  "something vanished without being counted: --verbose says "
		  "where" },
		{ f.late && f.perf,
		  "record into a file, not a pipe: then nothing comes late; or "
		  "--slack 100" },
		{ f.late && !f.perf,
		  "wait longer for what comes late: --slack 100" },
		/* -c 1 is for all events, so that a clock recorded with them
		 * would lose its rate */
		{ f.sampled,
		  "record each switch: backstitch record --waits, or without "
		  "other events perf record -c 1 -e sched:sched_switch" },
		{ f.places,
		  "part of the input could not be read: 'backstitch info' says "
		  "where" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].holds) {
			LOG(LOG_ADVICE, "check: rule %zu", i);
			fn(arg, rules[i].text);
		}
	return 0;
}
