/* timeline.c - what was lost, when and on which CPU, as one SVG file: reads
 * the database into a struct timeline. */
#include "cli/pictures/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_svg.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define RULES 64

struct loader {
	struct timeline *tl;
	int64_t *capture; /* of event type i + 1 */
	size_t n_type, cap_type;
	bool timed; /* tl->t0, t1 are set */
};

static bool is_null(const struct rows *r, size_t i)
{
	return rows_value(r, i).kind == VALUE_NULL;
}

static uint64_t count_of(const struct rows *r, size_t i)
{
	int64_t n = rows_int(r, i);

	return n < 0 ? 0 : (uint64_t)n;
}

static int64_t capture_of(const struct loader *l, int64_t type)
{
	return type > 0 && (uint64_t)type <= l->n_type ? l->capture[type - 1]
						       : 0;
}

/* ---- the captures and their time */

static void widen(struct loader *l, const struct rows *r, size_t first,
		  size_t last)
{
	if (is_null(r, first) || is_null(r, last))
		return;

	int64_t t0 = rows_int(r, first);
	int64_t t1 = rows_int(r, last);

	if (!l->timed || t0 < l->tl->t0)
		l->tl->t0 = t0;
	if (!l->timed || t1 > l->tl->t1)
		l->tl->t1 = t1;
	l->timed = true;
}

static int add_capture(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	struct timeline *tl = l->tl;

	(void)err;
	tl->capture = mem_grow(tl->capture, &tl->cap_capture, tl->n_capture + 1,
			       sizeof(*tl->capture));
	tl->capture[tl->n_capture++] = (struct timeline_capture){
		.id = rows_int(r, 0),
		.path = arena_strdup(&tl->text, rows_text(r, 1)),
		.host = arena_strdup(&tl->text, rows_text(r, 2)),
		.clock = arena_strdup(&tl->text, rows_text(r, 3)),
		.timed = !is_null(r, 4),
		.cpus = rows_int(r, 6),
		.whole = rows_int(r, 7) == 1,
	};
	widen(l, r, 4, 5);
	return 0;
}

static int add_range(void *arg, const struct rows *r, struct err *err)
{
	(void)err;
	widen(arg, r, 0, 1);
	return 0;
}

static int add_type(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	l->capture = mem_grow(l->capture, &l->cap_type, l->n_type + 1,
			      sizeof(*l->capture));
	l->capture[l->n_type++] = rows_int(r, 1);
	return 0;
}

static int add_rule(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	int64_t id = rows_int(r, 0);

	(void)err;
	if (id >= 0 && id < RULES)
		l->tl->rule[id] = arena_strdup(&l->tl->text, rows_text(r, 1));
	return 0;
}

/* ---- what is drawn */

static int add_event(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	if (is_null(r, 0)) {
		l->tl->events++;
		l->tl->no_time++;
		return 0;
	}
	timeline_event(l->tl, capture_of(l, rows_int(r, 2)), rows_int(r, 1),
		       rows_int(r, 0));
	return 0;
}

static int add_joined(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	l->tl->requests = count_of(r, 0);
	l->tl->joined = count_of(r, 1);
	l->tl->refused = count_of(r, 2);
	return 0;
}

/* A row with time, CPU, what tells the capture, verdict, tid and comm. */
static void add_mark(struct loader *l, const struct rows *r, int64_t capture,
		     const struct timeline_mark *m)
{
	struct timeline_mark new = *m;
	const char *comm = rows_text(r, 5);
	char who[128];

	if (is_null(r, 0)) {
		l->tl->n[m->kind] = timeline_add(l->tl->n[m->kind], m->n);
		l->tl->no_time++;
		return;
	}
	new.t0 = new.t1 = rows_int(r, 0);
	if (!is_null(r, 4)) {
		/* a comm has 16 bytes; what is longer is cut */
		snprintf(who, sizeof(who), "%.64s%stid %lld", comm,
			 *comm ? ", " : "", (long long)rows_int(r, 4));
		new.who = who;
	}
	timeline_mark(l->tl, capture, rows_int(r, 1), &new);
}

static int add_request(void *arg, const struct rows *r, struct err *err)
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
	int64_t v = rows_int(r, 3);
	struct timeline_mark m = { .kind = MARK_UNEXPLAINED, .n = 1 };

	(void)err;
	if (v > 0 && v < (int64_t)(sizeof(kind) / sizeof(kind[0])) && kind[v])
		m.kind = kind[v];
	add_mark(l, r, capture_of(l, rows_int(r, 2)), &m);
	return 0;
}

static int add_chain(void *arg, const struct rows *r, struct err *err)
{
	static const enum timeline_mark_kind kind[] = {
		[CHAIN_SAMPLE_LOST] = MARK_NO_SAMPLE,
		[CHAIN_FOREIGN] = MARK_FOREIGN,
		[CHAIN_OVERWRITTEN] = MARK_OVERWRITTEN,
		[CHAIN_DUPLICATE] = MARK_DUPLICATE,
		[CHAIN_UNEXPLAINED] = MARK_NO_REASON,
		[CHAIN_UNJOINABLE] = MARK_NO_COOKIE,
	};
	int64_t v = rows_int(r, 3);
	struct timeline_mark m = { .kind = MARK_NO_REASON, .n = 1 };

	(void)err;
	if (v > 0 && v <= CHAIN_UNJOINABLE && kind[v])
		m.kind = kind[v];
	add_mark(arg, r, rows_int(r, 2), &m);
	return 0;
}

static int add_finding(void *arg, const struct rows *r, struct err *err)
{
	int64_t rule = rows_int(r, 3);
	uint64_t n = count_of(r, 5);
	struct timeline_mark m = { .kind = MARK_FINDING, .n = n ? n : 1 };

	(void)err;
	if (rule >= 0 && rule < RULES)
		m.rules = UINT64_C(1) << rule;
	add_mark(arg, r, rows_int(r, 2), &m);
	return 0;
}

static enum timeline_band_kind band_kind(const char *what)
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

static int add_loss(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	bool counts = rows_int(r, 6) != 0;
	int64_t cpu = rows_int(r, 2);

	(void)err;
	if (is_null(r, 3) && is_null(r, 4)) {
		struct timeline_untimed u = {
			.capture = rows_int(r, 0),
			.what = rows_text(r, 1),
			.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
			.counts = counts,
			.n = count_of(r, 5),
		};

		timeline_untimed(l->tl, &u);
		return 0;
	}
	struct timeline_band b = {
		.what = rows_text(r, 1),
		.kind = band_kind(rows_text(r, 1)),
		.t0 = rows_int(r, 3),
		.t1 = rows_int(r, 4),
		.from_start = is_null(r, 3),
		.to_end = is_null(r, 4),
		.some = is_null(r, 5),
		.n = count_of(r, 5),
	};

	timeline_band(l->tl, rows_int(r, 0), cpu, &b, counts);
	return 0;
}

static int add_gap(void *arg, const struct rows *r, struct err *err)
{
	struct loader *l = arg;
	int64_t v = rows_int(r, 5);
	struct timeline_band b = {
		.kind = v == GAP_LOST	     ? BAND_GAP_LOST
			: v == GAP_UNCOUNTED ? BAND_GAP_UNCOUNTED
					     : BAND_GAP_FOREIGN,
		.t0 = rows_int(r, 2),
		.t1 = rows_int(r, 3),
		.from_start = is_null(r, 2),
		.to_end = is_null(r, 3),
		.n = count_of(r, 4),
	};

	(void)err;
	timeline_band(l->tl, rows_int(r, 0), rows_int(r, 1), &b, false);
	return 0;
}

static int load_all(struct loader *l, struct store *db, struct err *err)
{
	static const struct {
		const char *query;
		rows_fn *fn;
	} step[] = {
		{ "timeline_rules", add_rule },
		{ "timeline_events", add_event },
		{ "timeline_joined", add_joined },
		{ "timeline_requests", add_request },
		{ "timeline_chains", add_chain },
		{ "timeline_losses", add_loss },
		{ "timeline_gaps", add_gap },
		{ "timeline_findings", add_finding },
	};

	if (rows_each(db, "timeline_captures", add_capture, l, err) ||
	    rows_each(db, "timeline_range", add_range, l, err) ||
	    rows_each_dense(db, "timeline_types", add_type, l, err))
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
	int rc = load_all(&l, db, err);

	*timed = l.timed;
	if (!rc && l.timed)
		timeline_finish(tl);
	free(l.capture);
	return rc;
}

static int no_times(const struct timeline *tl, struct err *err)
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
		rc = no_times(&tl, err);
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
