/* timeline.c - what was lost, when and on which CPU, as one SVG file: reads
 * the database into a struct timeline. */
#include "cli/pictures/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_svg.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define RULES 64

struct loader {
	struct timeline *tl;
	int64_t *capture; /* capture of event type i + 1 */
	size_t n_type, cap_type;
	bool timed; /* tl->t0 and t1 are set */
};

static bool timeline_is_null(const struct rows *r, size_t i)
{
	return rows_value(r, i).kind == VALUE_NULL;
}

static uint64_t timeline_get_count(const struct rows *r, size_t i)
{
	int64_t n = rows_int(r, i);

	return n < 0 ? 0 : (uint64_t)n;
}

static int64_t timeline_type_capture(const struct loader *l, int64_t type)
{
	return type > 0 && (uint64_t)type <= l->n_type ? l->capture[type - 1]
						       : 0;
}

/* ---- the captures and their time */

static void timeline_widen(struct loader *l, const struct rows *r, size_t first,
			   size_t last)
{
	if (timeline_is_null(r, first) || timeline_is_null(r, last))
		return;

	int64_t t0 = rows_int(r, first);
	int64_t t1 = rows_int(r, last);

	if (!l->timed || t0 < l->tl->t0)
		l->tl->t0 = t0;
	if (!l->timed || t1 > l->tl->t1)
		l->tl->t1 = t1;
	l->timed = true;
}

static int timeline_take_capture(void *arg, const struct rows *r,
				 struct err *err)
{
	struct loader *l = arg;
	struct timeline *tl = l->tl;

	(void)err;
	*mem_add(tl->capture, tl->n_capture,
		 tl->cap_capture) = (struct timeline_capture){
		.id = rows_int(r, TIMELINE_CAPTURES_ID),
		.path = arena_strdup(&tl->text,
				     rows_text(r, TIMELINE_CAPTURES_PATH)),
		.host = arena_strdup(&tl->text,
				     rows_text(r, TIMELINE_CAPTURES_HOST)),
		.clock = arena_strdup(&tl->text,
				      rows_text(r, TIMELINE_CAPTURES_CLOCK)),
		.timed = !timeline_is_null(r, TIMELINE_CAPTURES_FIRST_NS),
		.cpus = rows_int(r, TIMELINE_CAPTURES_CPUS),
		.whole = rows_int(r, TIMELINE_CAPTURES_SYSTEM_WIDE) == 1,
	};
	timeline_widen(l, r, TIMELINE_CAPTURES_FIRST_NS,
		       TIMELINE_CAPTURES_LAST_NS);
	return 0;
}

static int timeline_take_range(void *arg, const struct rows *r, struct err *err)
{
	(void)err;
	timeline_widen(arg, r, TIMELINE_RANGE_FIRST_NS, TIMELINE_RANGE_LAST_NS);
	return 0;
}

static int timeline_take_type(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	*mem_add(l->capture, l->n_type, l->cap_type) =
		rows_int(r, TIMELINE_TYPES_CAPTURE);
	return 0;
}

static int timeline_take_rule(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	int64_t id = rows_int(r, TIMELINE_RULES_ID);

	(void)err;
	if (id >= 0 && id < RULES)
		l->tl->rule[id] = arena_strdup(
			&l->tl->text, rows_text(r, TIMELINE_RULES_NAME));
	return 0;
}

/* ---- what is drawn */

static int timeline_take_event(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	if (timeline_is_null(r, TIMELINE_EVENTS_TIME_NS)) {
		l->tl->events++;
		l->tl->no_time++;
		return 0;
	}
	timeline_event(
		l->tl,
		timeline_type_capture(l, rows_int(r, TIMELINE_EVENTS_TYPE)),
		rows_int(r, TIMELINE_EVENTS_CPU),
		rows_int(r, TIMELINE_EVENTS_TIME_NS));
	return 0;
}

static int timeline_take_joined(void *arg, const struct rows *r,
				struct err *err)
{
	struct loader *l = arg;

	(void)err;
	l->tl->requests = timeline_get_count(r, TIMELINE_JOINED_REQUESTS);
	l->tl->joined = timeline_get_count(r, TIMELINE_JOINED_MATCHED);
	l->tl->refused = timeline_get_count(r, TIMELINE_JOINED_REFUSED);
	return 0;
}

/* Adds a mark of a row of timeline_requests, or of timeline_chains or
 * _findings, which have the same columns up to TID. */
static void timeline_take_mark(struct loader *l, const struct rows *r,
			       int64_t capture, const struct timeline_mark *m)
{
	struct timeline_mark added = *m;
	const char *comm = rows_text(r, TIMELINE_REQUESTS_COMM);
	char who[128];

	if (timeline_is_null(r, TIMELINE_REQUESTS_TIME_NS)) {
		l->tl->n[m->kind] = timeline_add(l->tl->n[m->kind], m->n);
		l->tl->no_time++;
		return;
	}
	added.t0 = added.t1 = rows_int(r, TIMELINE_REQUESTS_TIME_NS);
	if (!timeline_is_null(r, TIMELINE_REQUESTS_TID)) {
		/* a comm has 16 bytes; longer ones are cut */
		snprintf(who, sizeof(who), "%.64s%stid %lld", comm,
			 *comm ? ", " : "",
			 (long long)rows_int(r, TIMELINE_REQUESTS_TID));
		added.who = who;
	}
	timeline_mark(l->tl, capture, rows_int(r, TIMELINE_REQUESTS_CPU),
		      &added);
}

static int timeline_take_request(void *arg, const struct rows *r,
				 struct err *err)
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
	};
	struct loader *l = arg;
	int64_t v = rows_int(r, TIMELINE_REQUESTS_VERDICT);
	struct timeline_mark m = { .kind = MARK_UNEXPLAINED, .n = 1 };

	(void)err;
	if (v > 0 && v < (int64_t)(sizeof(kind) / sizeof(kind[0])) && kind[v])
		m.kind = kind[v];
	timeline_take_mark(
		l, r,
		timeline_type_capture(l, rows_int(r, TIMELINE_REQUESTS_TYPE)),
		&m);
	return 0;
}

static int timeline_take_chain(void *arg, const struct rows *r, struct err *err)
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
	struct timeline_mark m = { .kind = MARK_NO_REASON, .n = 1 };

	(void)err;
	if (v > 0 && v <= CHAIN_UNJOINABLE && kind[v])
		m.kind = kind[v];
	timeline_take_mark(arg, r, rows_int(r, TIMELINE_CHAINS_CAPTURE), &m);
	return 0;
}

static int timeline_take_finding(void *arg, const struct rows *r,
				 struct err *err)
{
	int64_t rule = rows_int(r, TIMELINE_FINDINGS_RULE);
	uint64_t n = timeline_get_count(r, TIMELINE_FINDINGS_N);
	struct timeline_mark m = { .kind = MARK_FINDING, .n = n ? n : 1 };

	(void)err;
	if (rule >= 0 && rule < RULES)
		m.rules = UINT64_C(1) << rule;
	timeline_take_mark(arg, r, rows_int(r, TIMELINE_FINDINGS_CAPTURE), &m);
	return 0;
}

static enum timeline_band_kind timeline_band_kind_of(const char *what)
{
	static const struct {
		const char *what;
		enum timeline_band_kind kind;
	} known[] = {
		{ "lost", BAND_LOST },
		{ "lost_end", BAND_LOST },
		{ "hardware", BAND_LOST },
		{ "overwritten", BAND_OVERWRITTEN },
		{ "damage", BAND_DAMAGE },
		{ "throttled", BAND_THROTTLED },
		{ "filtered", BAND_FILTERED },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].what, what))
			return known[i].kind;
	return BAND_OTHER;
}

static int timeline_take_loss(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	bool counts = rows_int(r, TIMELINE_LOSSES_COUNTS) != 0;
	int64_t cpu = rows_int(r, TIMELINE_LOSSES_CPU);

	(void)err;
	if (timeline_is_null(r, TIMELINE_LOSSES_T0) &&
	    timeline_is_null(r, TIMELINE_LOSSES_T1)) {
		struct timeline_untimed u = {
			.capture = rows_int(r, TIMELINE_LOSSES_CAPTURE),
			.what = rows_text(r, TIMELINE_LOSSES_WHAT),
			.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
			.counts = counts,
			.n = timeline_get_count(r, TIMELINE_LOSSES_N),
		};

		timeline_untimed(l->tl, &u);
		return 0;
	}
	struct timeline_band b = {
		.what = rows_text(r, TIMELINE_LOSSES_WHAT),
		.kind = timeline_band_kind_of(
			rows_text(r, TIMELINE_LOSSES_WHAT)),
		.t0 = rows_int(r, TIMELINE_LOSSES_T0),
		.t1 = rows_int(r, TIMELINE_LOSSES_T1),
		.from_start = timeline_is_null(r, TIMELINE_LOSSES_T0),
		.to_end = timeline_is_null(r, TIMELINE_LOSSES_T1),
		.some = timeline_is_null(r, TIMELINE_LOSSES_N),
		.n = timeline_get_count(r, TIMELINE_LOSSES_N),
	};

	timeline_band(l->tl, rows_int(r, TIMELINE_LOSSES_CAPTURE), cpu, &b,
		      counts);
	return 0;
}

static int timeline_take_gap(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	int64_t v = rows_int(r, TIMELINE_GAPS_VERDICT);
	struct timeline_band b = {
		.kind = v == GAP_LOST	     ? BAND_GAP_LOST
			: v == GAP_UNCOUNTED ? BAND_GAP_UNCOUNTED
					     : BAND_GAP_FOREIGN,
		.t0 = rows_int(r, TIMELINE_GAPS_T0),
		.t1 = rows_int(r, TIMELINE_GAPS_T1),
		.from_start = timeline_is_null(r, TIMELINE_GAPS_T0),
		.to_end = timeline_is_null(r, TIMELINE_GAPS_T1),
		.n = timeline_get_count(r, TIMELINE_GAPS_N),
	};

	(void)err;
	timeline_band(l->tl, rows_int(r, TIMELINE_GAPS_CAPTURE),
		      rows_int(r, TIMELINE_GAPS_CPU), &b, false);
	return 0;
}

static int timeline_load_all(struct loader *l, struct store *db,
			     struct err *err)
{
	static const struct {
		const char *query;
		rows_fn *fn;
	} step[] = {
		{ "timeline_rules", timeline_take_rule },
		{ "timeline_events", timeline_take_event },
		{ "timeline_joined", timeline_take_joined },
		{ "timeline_requests", timeline_take_request },
		{ "timeline_chains", timeline_take_chain },
		{ "timeline_losses", timeline_take_loss },
		{ "timeline_gaps", timeline_take_gap },
		{ "timeline_findings", timeline_take_finding },
	};

	if (rows_each(db, "timeline_captures", timeline_take_capture, l, err) ||
	    rows_each(db, "timeline_range", timeline_take_range, l, err) ||
	    rows_each_dense(db, "timeline_types", timeline_take_type, l, err))
		return -1;
	if (!l->timed)
		return 0;
	if (l->tl->t1 <= l->tl->t0 && l->tl->t0 < INT64_MAX)
		l->tl->t1 = l->tl->t0 + 1;
	else if (l->tl->t1 <= l->tl->t0)
		l->tl->t0 = l->tl->t1 - 1;
	for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++)
		if (rows_each(db, step[i].query, step[i].fn, l, err))
			return -1;
	return 0;
}

int timeline_load(struct timeline *tl, bool *timed, struct store *db,
		  struct err *err)
{
	struct loader l = { .tl = tl };
	int rc = timeline_load_all(&l, db, err);

	*timed = l.timed;
	if (!rc && l.timed)
		timeline_finish(tl);
	free(l.capture);
	return rc;
}

static int timeline_no_times(const struct timeline *tl, struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s: has no times, so there is nothing to draw a "
		       "timeline of; record with times (perf record -T)",
		       tl->n_capture ? tl->capture[0].path : "the database");
}

int timeline_write(FILE *out, struct store *db, const char *title,
		   struct err *err)
{
	struct timeline tl = { 0 };
	bool timed = false;
	int rc = timeline_load(&tl, &timed, db, err);

	if (!rc && !timed)
		rc = timeline_no_times(&tl, err);
	if (!rc) {
		timeline_draw(out, &tl, title);
		if (ferror(out))
			rc = err_set(err, ERR_IO,
				     "cannot write the picture: %s",
				     strerror(errno));
	}
	timeline_release(&tl);
	return rc;
}
