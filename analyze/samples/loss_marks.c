/* loss_marks.c - the losses of a database in time order; and marks and bands of
 * losses and missing stacks, by time and CPU. */
#include "analyze/samples/loss_marks.h"

#include "analyze/samples/filter.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/base/wide.h"
#include "stitch/verdict.h"

struct loss_rows *loss_rows_load(struct store *db, const struct filter *filter,
				 struct err *err)
{
	struct loss_rows *l = mem_new(1, sizeof(*l));
	/* a loss belongs to no thread and no event */
	const struct filter of_losses = { .time = filter->time,
					  .cpu = filter->cpu,
					  .apart = filter->apart };
	struct rows *r =
		filter_rows(&of_losses, db, "export_losses", NULL, 0, err);

	while (rows_step(r))
		*mem_add(l->row, l->n, l->cap) = (struct loss_row){
			.id = rows_int(r, EXPORT_LOSSES_ID),
			.capture = (uint32_t)rows_int(r, EXPORT_LOSSES_CAPTURE),
			.what = arena_strdup(&l->text,
					     rows_text(r, EXPORT_LOSSES_WHAT)),
			.counts = rows_int(r, EXPORT_LOSSES_COUNTS),
			.cpu = rows_int_or(r, EXPORT_LOSSES_CPU, -1),
			.from = rows_int(r, EXPORT_LOSSES_T0),
			.has_from = rows_value(r, EXPORT_LOSSES_T0).kind ==
				    VALUE_INT,
			.to = rows_int(r, EXPORT_LOSSES_T1),
			.has_to = rows_value(r, EXPORT_LOSSES_T1).kind ==
				  VALUE_INT,
			.n = rows_int_or(r, EXPORT_LOSSES_N, -1),
			.type = rows_int(r, EXPORT_LOSSES_TYPE),
		};
	if (!rows_end(r, err))
		return l;
	loss_rows_free(l);
	return NULL;
}

void loss_rows_free(struct loss_rows *l)
{
	if (!l)
		return;
	arena_release(&l->text);
	free_all(l->row, l);
}

unsigned int loss_buffer_megabytes(const char *cmdline)
{
	const char *end = strstr(cmdline, " -- ");
	unsigned int found = 0;

	for (const char *s = cmdline; (s = strstr(s, " -")) && s != end; s++) {
		uint64_t n = 0, unit = 4096; /* a number alone counts pages */
		const char *p = s + 2;

		if (*p == 'm')
			p++;
		else if (!strncmp(p, "-mmap-pages", 11))
			p += 11;
		else
			continue;
		p += *p == ' ' || *p == '=';
		size_t digits = strspn(p, "0123456789");
		if (!digits || digits > 9)
			continue;
		for (size_t i = 0; i < digits; i++)
			n = n * 10 + (uint64_t)(p[i] - '0');
		switch (p[digits]) {
		case 'B':
			unit = 1;
			break;
		case 'K':
			unit = 1 << 10;
			break;
		case 'M':
			unit = 1 << 20;
			break;
		case 'G':
			unit = 1 << 30;
		}
		n = (n * unit + (1 << 20) - 1) >> 20;
		found = n < UINT32_MAX ? (unsigned int)n : UINT32_MAX;
	}
	return found;
}

unsigned int loss_larger_megabytes(unsigned int had)
{
	return had < 2 ? 4 : had < 4 ? 8 : had < 8 ? 16 : had < 32 ? 64 : 0;
}

const char *loss_larger_buffers(const char *format, unsigned int had,
				bool record)
{
	if (record && (strcmp(format, "perf") || loss_larger_megabytes(had)))
		return "larger buffers: backstitch record --waits --again, "
		       "with the same arguments";
	if (!strncmp(format, "ftrace", 6))
		return "larger buffers: trace-cmd record -b 20000 (KB for each "
		       "CPU), or more; or fewer events (-e, -f)";
	if (!strcmp(format, "ftext"))
		return "larger buffers: echo 20000 >buffer_size_kb in tracefs "
		       "(KB for each CPU), or more; or fewer events";
	if (!strcmp(format, "ctf"))
		return "larger buffers: lttng enable-channel --subbuf-size=4M "
		       "--num-subbuf=8, or more; or fewer events";
	switch (loss_larger_megabytes(had)) {
	case 4:
		return "larger buffers: perf record -m 4M or more; fewer "
		       "events; lower -F";
	case 8:
		return "larger buffers: perf record -m 8M or more; fewer "
		       "events; lower -F";
	case 16:
		return "larger buffers: perf record -m 16M or more; smaller "
		       "stack dumps, or none; fewer events; lower -F";
	case 64:
		return "larger buffers: perf record -m 64M or more; smaller "
		       "stack dumps, or none; fewer events; lower -F";
	default:
		return "smaller stack dumps, or none; fewer events; lower -F; "
		       "the buffers were large";
	}
}

const char *loss_own_ring(const char *format)
{
	return strcmp(format, "perf")
		       ? NULL
		       : "perf left records out without a word, as in guests "
			 "with Linux 6.18: backstitch record --waits --tracer ftrace";
}

int loss_rows_sum(struct store *db, uint64_t *n, bool *unknown, struct err *err)
{
	struct rows *r = rows_of(db, "report_lost_all", err);

	if (rows_step(r)) {
		*n = (uint64_t)rows_int(r, REPORT_LOST_ALL_N);
		*unknown = rows_int(r, REPORT_LOST_ALL_UNKNOWN) > 0;
	}
	return rows_end(r, err);
}

const struct loss_words loss_mark_words[MARK_KINDS] = {
	[MARK_FINDING] = { "finding", "what must not happen in a capture" },
	[MARK_CHAIN_LOST] = { "chain_lost",
			      "request whose chain was lost: records were "
			      "dropped meanwhile" },
	[MARK_UNJOINABLE] = { "unjoinable",
			      "request with the marker but without a cookie" },
	[MARK_STRIPPED] = { "stripped",
			    "request in a file whose chains were removed" },
	[MARK_EXIT_PER_TASK] = { "exit_per_task",
				 "request of a thread that ended before its "
				 "chain could be written" },
	[MARK_PENDING_END] = { "pending_end",
			       "request still in the kernel when the capture "
			       "ended" },
	[MARK_UNWINDER] = { "no answer",
			    "request to a process that unwinds itself: it had "
			    "not opted in, was at it already, or gave up" },
	[MARK_EMPTY] = { "empty", "request whose chain has no address" },
	[MARK_UNEXPLAINED] = { "unexplained",
			       "request without a chain, and without a "
			       "reason" },
	[MARK_NO_SAMPLE] = { "chain: sample_lost",
			     "chain whose samples were lost" },
	[MARK_OVERWRITTEN] = { "chain: overwritten",
			       "chain whose samples were overwritten in the "
			       "ring" },
	[MARK_FOREIGN] = { "chain: foreign",
			   "chain that another session asked for" },
	[MARK_DUPLICATE] = { "chain: duplicate",
			     "chain that was there already" },
	[MARK_NO_COOKIE] = { "chain: unjoinable",
			     "chain whose samples carry no cookie" },
	[MARK_NO_REASON] = { "chain: unexplained",
			     "chain without a sample, and without a reason" },
};

const struct loss_words loss_band_words[BAND_KINDS] = {
	[BAND_LOST] = { "lost", "records dropped: the ring was full" },
	[BAND_OVERWRITTEN] = { "overwritten",
			       "the ring overwrote its oldest records" },
	[BAND_DAMAGE] = { "damage", "a part of the file could not be read" },
	[BAND_OTHER] = { "other", "not recorded" },
	[BAND_FILTERED] = { "filtered", "dropped by a filter, on purpose" },
	[BAND_THROTTLED] = { "throttled", "the kernel stopped the event" },
	[BAND_GAP_LOST] = { "missing cookies: lost",
			    "counters of cookies that no record has; a loss "
			    "explains them" },
	[BAND_GAP_UNCOUNTED] = { "missing cookies: uncounted",
				 "counters of cookies that no record has, and "
				 "no loss explains them" },
	[BAND_GAP_FOREIGN] = { "missing cookies: lost or foreign",
			       "counters of cookies that no record has: lost, "
			       "or asked for by somebody else" },
};

#define NEAR 16 /* marks looked at for one of the same column */

void loss_marks_release(struct loss_marks *tl)
{
	free_all(tl->mark, tl->band);
}

/* Returns the column of a time. */
static uint32_t loss_marks_column(const struct loss_marks *tl, int64_t time)
{
	uint64_t span = (uint64_t)tl->t1 - (uint64_t)tl->t0;

	if (time <= tl->t0)
		return 0;
	if (time >= tl->t1)
		return LOSS_COLUMNS - 1;
	return (uint32_t)wide_div(
		wide_mul((uint64_t)time - (uint64_t)tl->t0, LOSS_COLUMNS),
		span);
}

static int loss_marks_compare_places(const struct loss_place *x,
				     const struct loss_place *y)
{
	return COMPARE_FIELDS(capture, cpu, kind);
}

static bool loss_marks_same_column(const struct loss_mark *a,
				   const struct loss_mark *b)
{
	return a->column == b->column &&
	       !loss_marks_compare_places(&a->at, &b->at);
}

static void loss_marks_merge_mark(struct loss_mark *a,
				  const struct loss_mark *b)
{
	a->n = saturating_add(a->n, b->n);
	lower_to(a->t0, b->t0);
	raise_to(a->t1, b->t1);
}

void loss_mark(struct loss_marks *tl, const struct loss_mark *m)
{
	struct loss_mark added = *m;

	added.column = loss_marks_column(tl, m->t0);
	/* marks come in time order from all CPUs: one of the same column is
	 * near the end */
	for (size_t i = tl->n_mark; i > 0 && tl->n_mark - i < NEAR; i--)
		if (loss_marks_same_column(&tl->mark[i - 1], &added)) {
			loss_marks_merge_mark(&tl->mark[i - 1], &added);
			return;
		}
	*mem_add(tl->mark, tl->n_mark, tl->cap_mark) = added;
}

COMPARE_BY(loss_marks_compare_marks, struct loss_mark, at.capture, at.cpu,
	   at.kind, column, t0);

void loss_band(struct loss_marks *tl, const struct loss_band *b)
{
	struct loss_band *added = mem_add(tl->band, tl->n_band, tl->cap_band);

	*added = *b;
	added->rows = 1;
	raise_to(added->t0, tl->t0);
	lower_to(added->t0, tl->t1);
	lower_to(added->t1, tl->t1);
	raise_to(added->t1, added->t0);
}

COMPARE_BY(loss_marks_compare_bands, struct loss_band, at.capture, at.cpu,
	   at.kind, t0, t1, n);

/* Sorts marks and bands. Merges marks of one column, and bands that overlap or
 * are within one column. */
void loss_marks_finish(struct loss_marks *tl)
{
	size_t n = 0;

	sort_items(tl->mark, tl->n_mark, loss_marks_compare_marks);
	for (size_t i = 0; i < tl->n_mark; i++)
		if (n && loss_marks_same_column(&tl->mark[n - 1], &tl->mark[i]))
			loss_marks_merge_mark(&tl->mark[n - 1], &tl->mark[i]);
		else
			tl->mark[n++] = tl->mark[i];
	tl->n_mark = n;
	sort_items(tl->band, tl->n_band, loss_marks_compare_bands);
	n = 0;
	for (size_t i = 0; i < tl->n_band; i++) {
		const struct loss_band *b = &tl->band[i];
		struct loss_band *last = n ? &tl->band[n - 1] : NULL;

		if (!last || loss_marks_compare_places(&last->at, &b->at) ||
		    (b->t0 >= last->t1 &&
		     (last->t0 != b->t0 || last->t1 != b->t1) &&
		     loss_marks_column(tl, last->t0) !=
			     loss_marks_column(tl, b->t1))) {
			tl->band[n++] = *b;
			continue;
		}
		raise_to(last->t1, b->t1);
		last->n = saturating_add(last->n, b->n);
		last->rows += b->rows;
	}
	tl->n_band = n;
}

static bool loss_marks_is_null(const struct rows *r, size_t i)
{
	return rows_value(r, i).kind == VALUE_NULL;
}

/* The queries whose rows are marks or bands begin with the same two columns. */
static struct loss_place loss_place(const struct rows *r, int kind)
{
	int64_t cpu = rows_int(r, TIMELINE_REQUESTS_CPU);

	return (struct loss_place){
		.capture = rows_int(r, TIMELINE_REQUESTS_CAPTURE),
		.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
		.kind = kind,
	};
}

/* Adds the mark of a row of timeline_requests, _chains or _findings, which
 * begin with the same three columns. */
static void loss_marks_take_mark(struct loss_marks *tl, const struct rows *r,
				 int kind)
{
	int64_t time = rows_int(r, TIMELINE_REQUESTS_TIME_NS);
	const struct loss_mark m = {
		.at = loss_place(r, kind), .n = 1, .t0 = time, .t1 = time
	};

	if (!loss_marks_is_null(r, TIMELINE_REQUESTS_TIME_NS))
		loss_mark(tl, &m);
}

/* Adds the mark of a request, by its verdict. */
static void loss_marks_take_request(struct loss_marks *tl, const struct rows *r)
{
	static const enum loss_mark_kind kind[] = {
		[REQ_CHAIN_LOST] = MARK_CHAIN_LOST,
		[REQ_EXIT_PER_TASK] = MARK_EXIT_PER_TASK,
		[REQ_PENDING_END] = MARK_PENDING_END,
		[REQ_UNJOINABLE] = MARK_UNJOINABLE,
		[REQ_STRIPPED] = MARK_STRIPPED,
		[REQ_UNEXPLAINED] = MARK_UNEXPLAINED,
		[REQ_BEFORE_OPT_IN] = MARK_UNWINDER,
		[REQ_IN_UNWINDER] = MARK_UNWINDER,
		[REQ_UNWINDER_DIED] = MARK_UNWINDER,
		[REQ_EMPTY] = MARK_EMPTY,
	};
	int64_t v = rows_int(r, TIMELINE_REQUESTS_VERDICT);
	bool known = v > 0 && v < (int64_t)ARRAY_SIZE(kind) && kind[v];

	loss_marks_take_mark(tl, r, known ? kind[v] : MARK_UNEXPLAINED);
}

static void loss_marks_take_chain(struct loss_marks *tl, const struct rows *r)
{
	static const enum loss_mark_kind kind[] = {
		[CHAIN_SAMPLE_LOST] = MARK_NO_SAMPLE,
		[CHAIN_FOREIGN] = MARK_FOREIGN,
		[CHAIN_OVERWRITTEN] = MARK_OVERWRITTEN,
		[CHAIN_DUPLICATE] = MARK_DUPLICATE,
		[CHAIN_UNEXPLAINED] = MARK_NO_REASON,
		[CHAIN_UNJOINABLE] = MARK_NO_COOKIE,
	};
	int64_t v = rows_int(r, TIMELINE_CHAINS_VERDICT);
	bool known = v > 0 && v <= CHAIN_UNJOINABLE && kind[v];

	loss_marks_take_mark(tl, r, known ? kind[v] : MARK_NO_REASON);
}

static void loss_marks_take_finding(struct loss_marks *tl, const struct rows *r)
{
	loss_marks_take_mark(tl, r, MARK_FINDING);
}

/* Adds the band of a row of timeline_losses or _gaps, which begin with the same
 * five columns. A time that is not known is the edge of the database. */
static void loss_marks_take_band(struct loss_marks *tl, const struct rows *r,
				 int kind)
{
	int64_t n = rows_int(r, TIMELINE_LOSSES_N);
	const struct loss_band b = {
		.at = loss_place(r, kind),
		.t0 = loss_marks_is_null(r, TIMELINE_LOSSES_T0)
			      ? tl->t0
			      : rows_int(r, TIMELINE_LOSSES_T0),
		.t1 = loss_marks_is_null(r, TIMELINE_LOSSES_T1)
			      ? tl->t1
			      : rows_int(r, TIMELINE_LOSSES_T1),
		.n = n < 0 ? 0 : (uint64_t)n,
	};

	loss_band(tl, &b);
}

/* Adds the band of a loss, by what was lost. */
static void loss_marks_take_loss(struct loss_marks *tl, const struct rows *r)
{
	static const struct {
		const char *what;
		enum loss_band_kind kind;
	} known[] = {
		{ "lost", BAND_LOST },
		{ "lost_end", BAND_LOST },
		{ "dropped", BAND_LOST },
		{ "not_here", BAND_LOST },
		{ "hardware", BAND_LOST },
		{ "silent", BAND_LOST },
		{ "overwritten", BAND_OVERWRITTEN },
		{ "damage", BAND_DAMAGE },
		{ "throttled", BAND_THROTTLED },
		{ "filtered", BAND_FILTERED },
	};
	const char *what = rows_text(r, TIMELINE_LOSSES_WHAT);
	enum loss_band_kind kind = BAND_OTHER;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].what, what))
			kind = known[i].kind;
	loss_marks_take_band(tl, r, kind);
}

static void loss_marks_take_gap(struct loss_marks *tl, const struct rows *r)
{
	int64_t v = rows_int(r, TIMELINE_GAPS_VERDICT);

	loss_marks_take_band(tl, r,
			     v == GAP_LOST	  ? BAND_GAP_LOST
			     : v == GAP_UNCOUNTED ? BAND_GAP_UNCOUNTED
						  : BAND_GAP_FOREIGN);
}

int loss_marks_load(struct loss_marks *tl, bool *timed, struct store *db,
		    struct err *err)
{
	static const struct {
		const char *query;
		void (*take)(struct loss_marks *tl, const struct rows *r);
	} step[] = {
		{ "timeline_requests", loss_marks_take_request },
		{ "timeline_chains", loss_marks_take_chain },
		{ "timeline_losses", loss_marks_take_loss },
		{ "timeline_gaps", loss_marks_take_gap },
		{ "timeline_findings", loss_marks_take_finding },
	};

	struct rows *range = rows_of(db, "timeline_range", err);

	*timed = false;
	while (rows_step(range)) {
		int64_t t0 = rows_int(range, TIMELINE_RANGE_FIRST_NS);
		int64_t t1 = rows_int(range, TIMELINE_RANGE_LAST_NS);

		if (loss_marks_is_null(range, TIMELINE_RANGE_FIRST_NS) ||
		    loss_marks_is_null(range, TIMELINE_RANGE_LAST_NS))
			continue;
		if (!*timed || t0 < tl->t0)
			tl->t0 = t0;
		if (!*timed || t1 > tl->t1)
			tl->t1 = t1;
		*timed = true;
	}
	if (rows_end(range, err))
		return -1;
	/* without a time, t0 and t1 are not set */
	if (!*timed)
		return 0;
	if (tl->t1 <= tl->t0 && tl->t0 < INT64_MAX)
		tl->t1 = tl->t0 + 1;
	else if (tl->t1 <= tl->t0)
		tl->t0 = tl->t1 - 1;
	for (size_t i = 0; i < ARRAY_SIZE(step); i++) {
		struct rows *r = rows_of(db, step[i].query, err);

		while (rows_step(r))
			step[i].take(tl, r);
		if (rows_end(r, err))
			return -1;
	}
	loss_marks_finish(tl);
	return 0;
}
