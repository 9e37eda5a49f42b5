/* check.c - what was lost in a database, and what that breaks: statements
 * and how filters narrow them, their results, the verdict, and what to do. */
#include "analyze/check/check.h"

#include <assert.h>

#include "analyze/samples/loss_marks.h"
#include "schema/columns.h"
#include "stitch/base/err.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/base/wide.h"

/* Facts that decide on advice; counts, if a comment does not say else. */
struct advice_facts {
	int64_t lost, overwritten, throttled, aux, silent, not_here;
	int64_t exit_per_task, unjoinable, stripped, unexplained;
	int64_t chains; /* without a sample or reason */
	int64_t uncounted, late, places;
	int64_t sampled;
	int64_t perf, ftrace, ftext, ctf; /* captures */
	unsigned int had;		  /* MB of buffers; 0: not known */
	bool record;			  /* record --waits made them */
};

int check_advice(struct check *c, check_advice_fn *fn, void *arg,
		 struct err *err)
{
	struct advice_facts f = { .lost = 0 };

	/* reads the facts */
	const struct {
		const char *name, *column;
		int64_t *sum;
	} sums[] = {
		{ "requests", "exit_per_task", &f.exit_per_task },
		{ "requests", "unjoinable", &f.unjoinable },
		{ "requests", "stripped", &f.stripped },
		{ "requests", "unexplained", &f.unexplained },
		{ "chains", "unjoinable", &f.unjoinable },
		{ "chains", "unexplained", &f.chains },
		{ "cookies", "missing_uncounted", &f.uncounted },
		{ "damage", "places", &f.places },
		{ "sampled", "recorded", &f.sampled },
	};
	struct check_row loss, late, capture;
	struct rows *r = rows_of(c->db, "recorded_by", err);

	if (rows_step(r))
		f.record = rows_int(r, RECORDED_BY_RECORD) > 0;
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
	while (check_next(&loss)) {
		const char *what = check_text(&loss, "what");

		if (!strcmp(what, "lost") || !strcmp(what, "lost_end") ||
		    !strcmp(what, "dropped"))
			f.lost += check_int(&loss, "records") +
				  check_int(&loss, "unknown");
		else if (!strcmp(what, "overwritten"))
			f.overwritten++;
		else if (!strcmp(what, "not_here"))
			f.not_here += check_int(&loss, "records");
		else if (!strcmp(what, "silent"))
			/* 0: perhaps a pause */
			f.silent += check_int(&loss, "counts");
		else if (!strcmp(what, "throttled"))
			f.throttled++;
		else if (!strcmp(what, "aux"))
			f.aux++;
	}
	while (check_next(&late))
		if (!strcmp(check_text(&late, "what"), "late"))
			f.late += check_int(&late, "records");
	while (check_next(&capture)) {
		const char *format = check_text(&capture, "format");

		if (!strncmp(format, "ftrace", 6))
			f.ftrace++;
		else if (!strcmp(format, "ftext"))
			f.ftext++;
		else if (!strcmp(format, "ctf"))
			f.ctf++;
		else {
			f.perf++;
			raise_to(f.had, loss_buffer_megabytes(check_text(
						&capture, "cmdline")));
		}
	}
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
		/* -c 1 is for all events: a clock recorded with them would lose
		 * its rate */
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

#define ALL 100000000 /* 100 %, in millionths of a percent */
/* A capture is doubtful if less than one user stack in this many is whole, more
 * than one in this many is wrong, or one sample in this many has the name of a
 * file that nothing proves. */
#define WHOLE_OF 2
#define WRONG_OF 20
#define UNPROVED_OF 2

/* Returns whether a part of a whole is within a limit. */
static bool judge_is_within(const struct check_limit *l, int64_t part,
			    int64_t whole)
{
	if (part <= 0)
		return true;
	if (!l->percent)
		return (uint64_t)part <= l->n;
	return !wide_less((uint64_t)whole, l->n, (uint64_t)part, ALL);
}

/* Returns a value as a count, from 0 to CHECK_COUNT_MAX: a database may say
 * anything, and a few counts can be added up without an overflow. */
static int64_t check_count(const struct check_row *r, const char *column)
{
	int64_t n = check_int(r, column);

	return n < 0 ? 0 : n > CHECK_COUNT_MAX ? CHECK_COUNT_MAX : n;
}

/* Fills c->breaks, c->damaged and c->trust. Returns 0, or -1 and *err. */
static int judge_read(struct check *c, struct err *err)
{
	struct check_breaks *b = &c->breaks;
	struct check_row broken, requests, gaps, unjudged, unlisted, capture;
	int64_t damaged = 0;

	if (check_open(c, "breaks", &broken, err) < 0 ||
	    check_sum(c, "captures", "records", &b->records, err) ||
	    check_open(c, "requests", &requests, err) < 0 ||
	    check_sum(c, "damage", "places", &damaged, err) ||
	    check_open(c, "gaps", &gaps, err) < 0 ||
	    check_open(c, "not_followed", &unjudged, err) < 0 ||
	    check_open(c, "unlisted", &unlisted, err) < 0 ||
	    check_open(c, "captures", &capture, err) < 0)
		return -1;
	while (check_next(&capture))
		b->untold |= !strcmp(check_text(&capture, "format"), "ptext");
	if (check_next(&broken)) {
		b->requests = check_count(&broken, "requests");
		b->chains = check_count(&broken, "chains");
		b->lost = check_count(&broken, "lost");
		b->lost_unknown = check_count(&broken, "lost_unknown");
		b->out_of_order = check_count(&broken, "out_of_order");
		b->findings = check_count(&broken, "findings");
		b->vanished = check_count(&broken, "vanished");
		b->not_provable = check_count(&broken, "not_provable");
		b->open_findings = check_count(&broken, "open_findings");
		b->open_chains = check_count(&broken, "open_chains");
	}
	if (check_next(&requests)) {
		b->asked = check_count(&requests, "requests");
		b->joined = check_count(&requests, "matched");
		b->refused = check_count(&requests, "refused");
		b->all_stacks = b->asked + b->chains;
	}
	/* the database keeps what was damaged in its capture */
	c->damaged |= damaged > 0;
	if (check_next(&gaps)) {
		b->touched = check_count(&gaps, "touched_ns");
		b->all_time = check_count(&gaps, "all_ns");
		b->gaps_broken = check_count(&gaps, "broken");
		b->gaps_open = check_count(&gaps, "open");
		b->gaps_lost = check_count(&gaps, "losses");
	}
	b->unjudged = unjudged.n;
	b->unlisted = unlisted.n;
	c->trust = trust_read(c->db, c->filter, err);
	return c->trust ? 0 : -1;
}

int check_judge(struct check *c, struct err *err)
{
	struct check_breaks *b = &c->breaks;

	if (judge_read(c, err))
		return -1;
	if (c->max_loss.percent && !check_covers(c, CHECK_WHOLE))
		return err_set(err, ERR_USAGE,
			       "--max-loss in percent is of the whole capture; "
			       "with filters give a number of records");
	if (c->limits_gaps && !check_can(c, "gaps"))
		return err_set(
			err, ERR_USAGE, "--max-gaps is of the whole capture%s",
			c->served ? ", which a server does not have: check the "
				    "database that was pushed"
				  : "; leave out the filters");
	/* With --max-gaps, the share of time that gaps touch breaks a
	 * recording, and what is due to them does not count. */
	if (c->limits_gaps) {
		b->gaps =
			b->unjudged ||
			!judge_is_within(&c->max_gaps, b->touched, b->all_time);
		b->findings -= b->gaps_broken;
		b->open_findings -= b->gaps_open;
		b->lost_unknown -= b->gaps_lost;
	}
	if (b->gaps_broken + b->gaps_open > 0 && !c->banner && !c->served &&
	    check_covers(c, CHECK_WHOLE) &&
	    silent_tasks_load(&c->silent, c->db, c->path, err))
		return -1;
	/* Each stay in the kernel that vanished lost at least one sample. */
	int64_t lost = b->lost + b->vanished;

	b->loss = !judge_is_within(&c->max_loss, lost, lost + b->records);
	/* The number is unknown: only a limit of 100 % covers it. */
	if ((b->lost_unknown || b->unlisted) &&
	    !(c->max_loss.percent && c->max_loss.n >= ALL))
		b->loss = true;
	b->unjoined = !judge_is_within(&c->max_unjoined,
				       b->requests + b->chains, b->all_stacks);
	struct trust_counts t = trust_count(c->trust);

	b->few_whole = wide_less((uint64_t)t.whole, ALL, (uint64_t)t.all,
				 c->min_whole.n);
	b->bad = b->loss || b->unjoined || b->few_whole || b->gaps ||
		 b->out_of_order > 0 || b->findings > 0;
	b->tolerated = !b->bad &&
		       (lost || b->lost_unknown || b->unlisted || b->requests ||
			b->chains || (c->limits_gaps && b->touched));
	return 0;
}

bool check_is_open(const struct check_breaks *b)
{
	return b->not_provable || b->open_findings || b->open_chains;
}

enum check_doubt check_doubt(const struct check *c)
{
	struct trust_counts t = trust_count(c->trust);

	if (c->breaks.untold)
		return DOUBT_UNTOLD;
	if (t.recorded && t.whole * WHOLE_OF < t.all)
		return DOUBT_FEW;
	if (t.wrong * WRONG_OF > t.all)
		return DOUBT_WRONG;
	return t.unproved * UNPROVED_OF > t.counted ? DOUBT_UNPROVED
						    : DOUBT_NONE;
}

const char *check_verdict(const struct check *c)
{
	if (c->breaks.bad)
		return "broken";
	if (c->damaged)
		return "damaged";
	if (check_is_open(&c->breaks))
		return "unproved";
	return check_doubt(c) ? "doubtful" : "clean";
}

struct check_answer {
	struct check_answer *next;
	const char *name; /* name of the query */
	char **column;
	size_t n_column;
	struct value *value; /* row by row */
	size_t n, cap;
	struct arena text;
};

static void answer_free(struct check_answer *a)
{
	arena_release(&a->text);
	free_all(a->column, a->value, a);
}

void check_forget(struct check *c)
{
	while (c->answers) {
		struct check_answer *a = c->answers;

		c->answers = a->next;
		answer_free(a);
	}
	trust_free(c->trust);
	c->trust = NULL;
	silent_tasks_release(&c->silent);
	free(c->prefix);
	c->prefix = NULL;
}

/* Returns the result of a statement, for answer_free(), or NULL and *err. */
static struct check_answer *check_rows_keep(const struct check *c,
					    const struct check_query *q,
					    struct err *err)
{
	struct rows *r = check_rows(c, q, 0, err);
	struct check_answer *a;

	if (!r)
		return NULL;
	a = mem_new(1, sizeof(*a));
	a->name = q->name;
	a->n_column = rows_columns(r);
	a->column = mem_new(a->n_column, sizeof(*a->column));
	for (size_t i = 0; i < a->n_column; i++)
		a->column[i] = arena_strdup(&a->text, rows_name(r, i));
	while (rows_step(r)) {
		mem_grow(a->value, a->cap, a->n + a->n_column);
		for (size_t i = 0; i < a->n_column; i++) {
			struct value v = rows_value(r, i);

			if (v.kind == VALUE_TEXT)
				v.text = arena_strdup(&a->text, v.text);
			else if (v.kind != VALUE_INT)
				v = (struct value){ .kind = VALUE_NULL };
			a->value[a->n++] = v;
		}
	}
	if (!rows_end(r, err))
		return a;
	answer_free(a);
	return NULL;
}

int64_t check_open(struct check *c, const char *name, struct check_row *r,
		   struct err *err)
{
	const struct check_query *q = check_query(name);
	struct check_answer *a;

	*r = (struct check_row){ .kept = NULL };
	if (!check_can(c, name))
		return 0;
	for (a = c->answers; a && a->name != q->name; a = a->next)
		;
	if (!a) {
		a = check_rows_keep(c, q, err);
		if (!a)
			return -1;
		a->next = c->answers;
		c->answers = a;
	}
	r->kept = a;
	r->n = (int64_t)(a->n / a->n_column);
	return r->n;
}

int check_open_live(const struct check *c, const char *name, long limit,
		    struct check_row *r, struct err *err)
{
	*r = (struct check_row){ .kept = NULL };
	if (check_can(c, name))
		r->live = check_rows(c, check_query(name), limit, err);
	return check_can(c, name) && !r->live ? -1 : 0;
}

bool check_next(struct check_row *r)
{
	if (r->live)
		return rows_step(r->live);
	if (!r->kept || r->next >= r->kept->n)
		return false;
	r->first = r->next;
	r->next += r->kept->n_column;
	return true;
}

int check_close(struct check_row *r, struct err *err)
{
	return r->live ? rows_end(r->live, err) : 0;
}

/* Returns the value of a column, which the statement must have. */
static struct value check_rows_value(const struct check_row *r,
				     const char *column)
{
	size_t n = r->live ? rows_columns(r->live) : r->kept->n_column;

	for (size_t i = 0; i < n; i++) {
		const char *name =
			r->live ? rows_name(r->live, i) : r->kept->column[i];

		if (!strcmp(name, column))
			return r->live ? rows_value(r->live, i)
				       : r->kept->value[r->first + i];
	}
	assert(!"a column that the statement has");
	return (struct value){ .kind = VALUE_NULL };
}

int64_t check_int(const struct check_row *r, const char *column)
{
	struct value v = check_rows_value(r, column);

	return v.kind == VALUE_INT ? v.num : 0;
}

const char *check_text(const struct check_row *r, const char *column)
{
	struct value v = check_rows_value(r, column);

	return v.kind == VALUE_TEXT ? v.text : "";
}

bool check_null(const struct check_row *r, const char *column)
{
	return check_rows_value(r, column).kind == VALUE_NULL;
}

int check_sum(struct check *c, const char *name, const char *column,
	      int64_t *sum, struct err *err)
{
	struct check_row r;

	if (check_open(c, name, &r, err) < 0)
		return -1;
	while (check_next(&r)) {
		int64_t n = check_count(&r, column);

		*sum = *sum < CHECK_COUNT_MAX - n ? *sum + n : CHECK_COUNT_MAX;
	}
	return 0;
}

/* The names are keys of --json: names may be added but not changed. */
const struct check_query check_queries[] = {
	{ "breaks",
	  "what makes the exit status 4: requests and chains without their "
	  "other half, records lost, losses of unknown size, records out of "
	  "order, findings, stays that vanished uncounted; and what is not "
	  "provable: missing counters because of another session, findings that "
	  "clocks may explain, chains of another session",
	  true, CHECK_ALWAYS, CHECK_ANY },
	{ "captures", "the captures in the database", false, CHECK_ALWAYS,
	  CHECK_WHOLE },
	{ "trust",
	  "how far user stacks can be trusted: samples by event and class, and "
	  "what would help",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "requests",
	  "samples that asked for a deferred user stack, by what became of "
	  "them",
	  true, CHECK_ALWAYS, CHECK_ANY },
	{ "deferral",
	  "how long joined requests waited for their user stack, by event: at "
	  "most pNN_ns for NN of 100, rounded up by less than a 32nd",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "deferral_by_cpu", "the same, by event and CPU", false, CHECK_ALWAYS,
	  CHECK_WHOLE },
	{ "one_frame",
	  "joined requests whose user stack has only one frame, by the image "
	  "of that frame",
	  false, CHECK_ALWAYS, CHECK_ANY },
	{ "chains", "deferred user stacks, by what became of them", true,
	  CHECK_ALWAYS, CHECK_THREAD },
	{ "across",
	  "requests of one capture whose chain only another one recorded",
	  false, CHECK_ALWAYS, CHECK_ANY },
	{ "copies", "chains that another capture recorded too, stored once",
	  false, CHECK_ALWAYS, CHECK_THREAD },
	{ "callsites",
	  "user stacks by what is in front of their return addresses: a call, "
	  "or none",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "fabricated",
	  "images that lead to callers that cannot be: samples that go on from "
	  "them, and those fabricated there",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "ends_early",
	  "functions in which user stacks end early, though no thread begins "
	  "there: samples, by class",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unchecked",
	  "return addresses in code that could not be looked into, by image",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "kernel_files",
	  "files of the kernel that are not here, and samples whose kernel half "
	  "is unchecked for want of them",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unmapped",
	  "samples with a user stack, those that ran code in no mapping, and "
	  "those with a frame in none",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "not_judged",
	  "samples whose user stack is not judged: not all mappings are known, "
	  "or the image's file may not be the one that ran",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unwound",
	  "samples whose stack was unwound from a dump, by why it ends there",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "callers",
	  "samples into whose frame-pointer chain the caller of its innermost "
	  "frame was put, because the code proves it",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "losses",
	  "what was not recorded, by kind; counts 1: adds to the records lost",
	  false, CHECK_ALWAYS, CHECK_RING },
	{ "unlisted", "processes whose mappings are not all known, and why",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "lost_by_cpu", "records lost by CPU", false, CHECK_ALWAYS,
	  CHECK_RING },
	{ "lost_in_time", "records lost in each fiftieth of the time", false,
	  CHECK_ALWAYS, CHECK_RING },
	{ "cookies",
	  "of each capture: cookies without a chain, counters that no record "
	  "has, and the kernel's own count of lost chains",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "vanished",
	  "stays in the kernel of which neither a sample nor the chain was "
	  "recorded, though no loss was counted, by CPU",
	  false, CHECK_ALWAYS, CHECK_RING },
	{ "findings", "what must not happen in a capture and did, by rule",
	  false, CHECK_ALWAYS, CHECK_THREAD },
	{ "ordering", "broken promises about time order, by kind", false,
	  CHECK_ALWAYS, CHECK_RING },
	{ "gaps",
	  "records missing without a loss: places where switches do not join, "
	  "how much of the time of all CPUs they touch, and the findings and "
	  "losses that --max-gaps tolerates",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "close",
	  "neighbouring events of a CPU that are of different captures, and "
	  "those of them that are closer than their clocks are exact",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "sampled",
	  "switches that were sampled, so that no wait is certain: recorded "
	  "ones, and how many there were",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "not_followed",
	  "switches that no rule judges: of some tasks or CPUs, filtered, "
	  "sampled, or of a recorder that may have paused",
	  false, CHECK_ALWAYS, CHECK_THREAD },
	{ "damage", "parts of the input that could not be read", false,
	  CHECK_ALWAYS, CHECK_WHOLE },
	{ "as_perf", "what perf 7.2 makes of the requests with a cookie", true,
	  CHECK_AS_PERF, CHECK_ANY },
	{ "as_tid",
	  "what the next chain of the thread would be for the requests with "
	  "a cookie",
	  true, CHECK_AS_TID, CHECK_ANY },
	{ "as_tid_wrong",
	  "requests for which the next chain of the thread is a wrong one; "
	  "stacks innermost first",
	  false, CHECK_AS_TID, CHECK_ANY },
	{ "unjoined_requests", "requests without a user stack, and why", false,
	  CHECK_EVIDENCE, CHECK_ANY },
	{ "across_list", "requests whose chain only another capture recorded",
	  false, CHECK_EVIDENCE, CHECK_ANY },
	{ "unused_chains", "chains that no sample has, and why", false,
	  CHECK_EVIDENCE, CHECK_THREAD },
	{ "bogus_list", "frames that nothing can have been called from", false,
	  CHECK_EVIDENCE, CHECK_WHOLE },
	{ "gap_list", "runs of counters that no cookie has", false,
	  CHECK_EVIDENCE, CHECK_RING },
	{ "finding_list", "what the rules found", false, CHECK_EVIDENCE,
	  CHECK_THREAD },
	{ "loss_list", "what was not recorded, one row each", false,
	  CHECK_EVIDENCE, CHECK_RING },
	{ NULL, NULL, false, CHECK_ALWAYS, CHECK_ANY },
};

bool check_covers(const struct check *c, enum check_scope scope)
{
	const struct filter *filter = c->filter;
	bool thread = filter->pid || filter->tid || filter->comm;
	bool event = filter->event || filter->cgroup;

	switch (scope) {
	case CHECK_ANY:
		return true;
	case CHECK_THREAD:
		return !event;
	case CHECK_RING:
		return !event && !thread;
	case CHECK_WHOLE:
		break;
	}
	return !filter_given(filter);
}

/* Returns a statement's text; NULL: the sums of a server cannot answer it. */
static const char *check_sql_text(const struct check *c, const char *name)
{
	char query[64];
	const char *sql;

	snprintf(query, sizeof(query), "served_check_%s", name);
	sql = c->served ? store_sql(query) : NULL;
	if (sql)
		return sql;
	/* these two are about captures and samples only */
	if (c->served && strcmp(name, "captures") && strcmp(name, "trust"))
		return NULL;
	return store_sql(query + strlen("served_"));
}

bool check_can(const struct check *c, const char *name)
{
	return check_covers(c, check_query(name)->scope) &&
	       check_sql_text(c, name);
}

const struct check_query *check_query(const char *name)
{
	const struct check_query *q = check_queries;

	while (q->name && strcmp(q->name, name) != 0)
		q++;
	return q;
}

bool check_asks(const struct check *c, const struct check_query *q)
{
	if (!check_can(c, q->name))
		return false;
	switch (q->when) {
	case CHECK_ALWAYS:
		return true;
	case CHECK_AS_PERF:
		return c->as_perf;
	case CHECK_AS_TID:
		return c->as_tid;
	case CHECK_EVIDENCE:
		break;
	}
	return c->verbose;
}

struct narrowed {
	const char *table, *query;
	enum check_scope scope;
};

/* The query is a view "TABLE AS (...)" with the gap {filter}. */
static const struct narrowed narrowed[] = {
	{ "request", "check_filter_request", CHECK_ANY },
	{ "chain", "check_filter_chain", CHECK_THREAD },
	{ "internal_finding", "check_filter_finding", CHECK_THREAD },
	{ "loss", "check_filter_loss", CHECK_RING },
	{ "cookie_gap", "check_filter_gap", CHECK_RING },
	{ "ordering", "check_filter_ordering", CHECK_RING },
};

/* Makes the prefix of all statements, a WITH clause whose views have the names
 * of tables and narrow them. Each view has the same condition, with the same
 * bound values: a table without a column that a filter is on has no condition,
 * but is empty. */
int check_filters(struct check *c, struct err *err)
{
	struct rows *r = rows_of(c->db, "served_here", err);
	char cond[FILTER_TEXT];
	const struct sql_gap gap = { "filter", cond };
	FILE *out;

	c->served = rows_step(r);
	if (rows_end(r, err))
		return -1;
	if (!filter_given(c->filter))
		return 0;
	if (c->served && c->banner)
		return 0;
	if (c->served)
		return err_set(err, ERR_USAGE,
			       "%s: losses and verdicts are of whole runs: "
			       "leave out the filters, and choose with --where",
			       c->path);
	if (filter_sql(c->filter, c->db, cond, &c->values, err) ||
	    (c->filter->time && !c->banner &&
	     filter_check_recorded(c->filter, c->db, err)))
		return -1;
	out = mem_stream(&c->prefix, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(narrowed); i++) {
		const struct narrowed *t = &narrowed[i];
		char *view;

		fputs(i ? ",\n" : "WITH ", out);
		if (!check_covers(c, t->scope)) {
			fprintf(out, "%s AS (SELECT * FROM main.%s WHERE 0)",
				t->table, t->table);
			continue;
		}
		view = store_sql_fill(t->query, &gap, 1);
		fputs(view, out);
		free(view);
	}
	mem_stream_end(out);
	return 0;
}

/* Returns the whole statement with a LIMIT unless limit is 0; the caller frees
 * it. A statement has one WITH at most: the views of one that begins with it
 * follow those of the filters, after a comma. */
char *check_sql_statement(const struct check *c, const char *name, long limit)
{
	char tail[32] = "";
	const char *sql = check_sql_text(c, name);

	if (limit)
		snprintf(tail, sizeof(tail), "\nLIMIT %ld", limit);
	if (!c->prefix)
		return mem_printf("%s%s", sql, tail);
	if (!strncmp(sql, "WITH ", 5))
		return mem_printf("%s,\n%s%s", c->prefix, sql + 5, tail);
	return mem_printf("%s\n%s%s", c->prefix, sql, tail);
}

struct rows *check_rows(const struct check *c, const struct check_query *q,
			long limit, struct err *err)
{
	char *sql = check_sql_statement(c, q->name, limit);
	struct rows *r =
		rows_open(c->db, sql, c->prefix ? c->values.item : NULL,
			  c->prefix ? c->values.n : 0, err);

	free(sql);
	return r;
}

long check_limit(const struct check *c, const struct check_query *q)
{
	return q->when == CHECK_ALWAYS || q->one ? 0 : c->limit;
}
