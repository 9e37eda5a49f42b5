/* timeline.c - what was lost and which stacks are missing, when and on which
 * CPU: reads the database into a struct timeline. */
#include "analyze/samples/loss_marks.h"

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/base/wide.h"
#include "stitch/verdict.h"

#define NEAR 16 /* marks looked at for one of the same column */

void timeline_release(struct timeline *tl)
{
	free(tl->mark);
	free(tl->band);
}

static uint32_t timeline_column(const struct timeline *tl, int64_t time)
{
	uint64_t span = (uint64_t)tl->t1 - (uint64_t)tl->t0;

	if (time <= tl->t0)
		return 0;
	if (time >= tl->t1)
		return TIMELINE_COLUMNS - 1;
	return (uint32_t)wide_div(
		wide_mul((uint64_t)time - (uint64_t)tl->t0, TIMELINE_COLUMNS),
		span);
}

static int timeline_compare_places(const struct timeline_place *a,
				   const struct timeline_place *b)
{
	return compare_numbers(a->capture, b->capture) ?:
	       compare_numbers(a->cpu, b->cpu) ?:
	       compare_numbers(a->kind, b->kind);
}

/* ---- marks */

static bool timeline_same_column(const struct timeline_mark *a,
				 const struct timeline_mark *b)
{
	return a->column == b->column &&
	       !timeline_compare_places(&a->at, &b->at);
}

static void timeline_merge_mark(struct timeline_mark *a,
				const struct timeline_mark *b)
{
	a->n = saturating_add(a->n, b->n);
	lower_to(a->t0, b->t0);
	raise_to(a->t1, b->t1);
}

void timeline_mark(struct timeline *tl, const struct timeline_mark *m)
{
	struct timeline_mark added = *m;

	added.column = timeline_column(tl, m->t0);
	/* marks come in time order from all CPUs, so one of the same column is
	 * near the end */
	for (size_t i = tl->n_mark; i > 0 && tl->n_mark - i < NEAR; i--)
		if (timeline_same_column(&tl->mark[i - 1], &added)) {
			timeline_merge_mark(&tl->mark[i - 1], &added);
			return;
		}
	*mem_add(tl->mark, tl->n_mark, tl->cap_mark) = added;
}

COMPARE_BY(timeline_compare_marks, struct timeline_mark, at.capture, at.cpu,
	   at.kind, column, t0);

/* ---- bands */

void timeline_band(struct timeline *tl, const struct timeline_band *b)
{
	struct timeline_band *added =
		mem_add(tl->band, tl->n_band, tl->cap_band);

	*added = *b;
	added->rows = 1;
	raise_to(added->t0, tl->t0);
	lower_to(added->t0, tl->t1);
	lower_to(added->t1, tl->t1);
	raise_to(added->t1, added->t0);
}

COMPARE_BY(timeline_compare_bands, struct timeline_band, at.capture, at.cpu,
	   at.kind, t0, t1, n);

/* Returns whether two bands, of which b starts later, are one: they overlap, or
 * both are in the same column. */
static bool timeline_same_band(const struct timeline *tl,
			       const struct timeline_band *a,
			       const struct timeline_band *b)
{
	if (timeline_compare_places(&a->at, &b->at))
		return false;
	return b->t0 < a->t1 || (a->t0 == b->t0 && a->t1 == b->t1) ||
	       timeline_column(tl, a->t0) == timeline_column(tl, b->t1);
}

void timeline_finish(struct timeline *tl)
{
	size_t n = 0;

	sort_items(tl->mark, tl->n_mark, timeline_compare_marks);
	for (size_t i = 0; i < tl->n_mark; i++)
		if (n && timeline_same_column(&tl->mark[n - 1], &tl->mark[i]))
			timeline_merge_mark(&tl->mark[n - 1], &tl->mark[i]);
		else
			tl->mark[n++] = tl->mark[i];
	tl->n_mark = n;
	sort_items(tl->band, tl->n_band, timeline_compare_bands);
	n = 0;
	for (size_t i = 0; i < tl->n_band; i++) {
		const struct timeline_band *b = &tl->band[i];
		struct timeline_band *last = n ? &tl->band[n - 1] : NULL;

		if (!last || !timeline_same_band(tl, last, b)) {
			tl->band[n++] = *b;
			continue;
		}
		raise_to(last->t1, b->t1);
		last->n = saturating_add(last->n, b->n);
		last->rows += b->rows;
	}
	tl->n_band = n;
}

/* ---- rows of the database */

static bool timeline_is_null(const struct rows *r, size_t i)
{
	return rows_value(r, i).kind == VALUE_NULL;
}

/* The queries of requests, chains, findings, losses and gaps begin with the
 * same two columns. */
static struct timeline_place timeline_place(const struct rows *r, int kind)
{
	int64_t cpu = rows_int(r, TIMELINE_REQUESTS_CPU);

	return (struct timeline_place){
		.capture = rows_int(r, TIMELINE_REQUESTS_CAPTURE),
		.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
		.kind = kind,
	};
}

/* Takes a row of timeline_requests, or of timeline_chains or _findings, which
 * begin with the same three columns. */
static void timeline_take_mark(struct timeline *tl, const struct rows *r,
			       int kind)
{
	int64_t time = rows_int(r, TIMELINE_REQUESTS_TIME_NS);
	const struct timeline_mark m = {
		.at = timeline_place(r, kind), .n = 1, .t0 = time, .t1 = time
	};

	if (!timeline_is_null(r, TIMELINE_REQUESTS_TIME_NS))
		timeline_mark(tl, &m);
}

static void timeline_take_request(struct timeline *tl, const struct rows *r)
{
	static const enum timeline_mark_kind kind[] = {
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

	timeline_take_mark(tl, r, known ? kind[v] : MARK_UNEXPLAINED);
}

static void timeline_take_chain(struct timeline *tl, const struct rows *r)
{
	static const enum timeline_mark_kind kind[] = {
		[CHAIN_SAMPLE_LOST] = MARK_NO_SAMPLE,
		[CHAIN_FOREIGN] = MARK_FOREIGN,
		[CHAIN_OVERWRITTEN] = MARK_OVERWRITTEN,
		[CHAIN_DUPLICATE] = MARK_DUPLICATE,
		[CHAIN_UNEXPLAINED] = MARK_NO_REASON,
		[CHAIN_UNJOINABLE] = MARK_NO_COOKIE,
	};
	int64_t v = rows_int(r, TIMELINE_CHAINS_VERDICT);
	bool known = v > 0 && v <= CHAIN_UNJOINABLE && kind[v];

	timeline_take_mark(tl, r, known ? kind[v] : MARK_NO_REASON);
}

static void timeline_take_finding(struct timeline *tl, const struct rows *r)
{
	timeline_take_mark(tl, r, MARK_FINDING);
}

/* Takes a row of timeline_losses or _gaps, which begin with the same five
 * columns. A time that is not known stands for the edge. */
static void timeline_take_band(struct timeline *tl, const struct rows *r,
			       int kind)
{
	int64_t n = rows_int(r, TIMELINE_LOSSES_N);
	const struct timeline_band b = {
		.at = timeline_place(r, kind),
		.t0 = timeline_is_null(r, TIMELINE_LOSSES_T0)
			      ? tl->t0
			      : rows_int(r, TIMELINE_LOSSES_T0),
		.t1 = timeline_is_null(r, TIMELINE_LOSSES_T1)
			      ? tl->t1
			      : rows_int(r, TIMELINE_LOSSES_T1),
		.n = n < 0 ? 0 : (uint64_t)n,
	};

	timeline_band(tl, &b);
}

static void timeline_take_loss(struct timeline *tl, const struct rows *r)
{
	static const struct {
		const char *what;
		enum timeline_band_kind kind;
	} known[] = {
		{ "lost", BAND_LOST },
		{ "lost_end", BAND_LOST },
		{ "dropped", BAND_LOST },
		{ "hardware", BAND_LOST },
		{ "silent", BAND_LOST },
		{ "overwritten", BAND_OVERWRITTEN },
		{ "damage", BAND_DAMAGE },
		{ "throttled", BAND_THROTTLED },
		{ "filtered", BAND_FILTERED },
	};
	const char *what = rows_text(r, TIMELINE_LOSSES_WHAT);
	enum timeline_band_kind kind = BAND_OTHER;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].what, what))
			kind = known[i].kind;
	timeline_take_band(tl, r, kind);
}

static void timeline_take_gap(struct timeline *tl, const struct rows *r)
{
	int64_t v = rows_int(r, TIMELINE_GAPS_VERDICT);

	timeline_take_band(tl, r,
			   v == GAP_LOST	? BAND_GAP_LOST
			   : v == GAP_UNCOUNTED ? BAND_GAP_UNCOUNTED
						: BAND_GAP_FOREIGN);
}

int timeline_load(struct timeline *tl, bool *timed, struct store *db,
		  struct err *err)
{
	static const struct {
		const char *query;
		void (*take)(struct timeline *tl, const struct rows *r);
	} step[] = {
		{ "timeline_requests", timeline_take_request },
		{ "timeline_chains", timeline_take_chain },
		{ "timeline_losses", timeline_take_loss },
		{ "timeline_gaps", timeline_take_gap },
		{ "timeline_findings", timeline_take_finding },
	};

	struct rows *range = rows_of(db, "timeline_range", err);

	*timed = false;
	while (rows_step(range)) {
		int64_t t0 = rows_int(range, TIMELINE_RANGE_FIRST_NS);
		int64_t t1 = rows_int(range, TIMELINE_RANGE_LAST_NS);

		if (timeline_is_null(range, TIMELINE_RANGE_FIRST_NS) ||
		    timeline_is_null(range, TIMELINE_RANGE_LAST_NS))
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
	timeline_finish(tl);
	return 0;
}
