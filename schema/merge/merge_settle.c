/* merge_settle.c - requests whose stack never came, in the pieces of a stream
 * that was cut: why that is so.
 *
 * A piece ends before it is known what became of the requests that wait in it,
 * and a loss is told by a later record of its ring, so that a request that
 * nothing explains may be explained by the next piece. If the databases have
 * the pieces that follow without a gap (meta cut_before, cut_behind), the next
 * cookie of the thread, its end and the losses are in them, and
 * missing_reason.h judges as it does for a capture in one piece. The verdict is
 * marked (VERDICT_MERGED): a later merge, which may have more pieces, begins
 * with the request as it was. That nothing explains a request is said only if
 * no piece that is not there could tell of a loss before its end.
 *
 * Not judged, so that they stay pending_end, are requests of streams that are
 * not perf's, that overwrite their rings, that were aligned with others or that
 * have no chain at all, and those of processes that unwind themselves. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/audit/account.h"
#include "stitch/base/err.h"
#include "stitch/base/losses.h"
#include "stitch/fact.h"
#include "stitch/join/cookies.h"
#include "stitch/join/missing_reason.h"
#include "stitch/join/sessions.h"
#include "stitch/join/unwinders.h"
#include "stitch/tasks/join_task.h"

/* What settle_halves tells. */
enum settle_what {
	SETTLE_REQUEST,
	SETTLE_CHAIN,
	SETTLE_EXIT,
	SETTLE_REUSED
};

/* A request that waits; the next one of the same cookie, 0: none. */
struct settle_wait {
	int64_t event, was;
	uint32_t next;
};

struct settle {
	struct merge *m;
	sqlite3_stmt *put;
	/* of the line; its captures are source 0 */
	int64_t line;
	struct losses *losses;
	struct session session;
	int64_t known; /* losses before are known; TIME_NONE: all of them */
	bool judges;
	/* of the thread: entries as in join.c, [0] is unused */
	int64_t tid;
	struct cookie_entry *entry;
	size_t n, cap;
	uint32_t *hole;
	size_t n_hole, cap_hole;
	struct table by_cookie;
	uint32_t recent[JOIN_RECENT];
	struct settle_wait *wait; /* [0] is unused */
	size_t n_wait, cap_wait;
};

/* ---- new verdicts into the rows */

/* Moves the sample to the group that it belongs to now. */
static void settle_regroup(struct merge *m, const struct rows *r)
{
	struct merge_group g = {
		.type = (uint32_t)rows_int(r, SETTLE_ROWS_TYPE),
		.comm = (uint32_t)rows_int(r, SETTLE_ROWS_COMM),
		.kernel = (uint32_t)rows_int(r, SETTLE_ROWS_KERNEL),
		.mark = merge_group_mark(rows_int(r, SETTLE_ROWS_WAS)),
		.kernel_mark = (int32_t)rows_int(r, SETTLE_ROWS_KERNEL_MARK),
		.weighs = rows_value(r, SETTLE_ROWS_WEIGHT).kind == VALUE_INT,
	};
	int64_t weight = rows_int(r, SETTLE_ROWS_WEIGHT);

	if (g.mark == -REQ_MATCHED || g.mark == -REQ_EMPTY)
		merge_group_join(&g, (uint32_t)rows_int(r, SETTLE_ROWS_USER),
				 rows_value(r, SETTLE_ROWS_EXEC_NS).kind !=
					 VALUE_NULL);
	merge_groups_leave(m->groups, &g, weight);
	g.user = 0;
	g.mark = merge_group_mark(rows_int(r, SETTLE_ROWS_VERDICT));
	merge_groups_add(m->groups, &g, weight, 1);
}

/* Applies table settled_request, and empties it. */
static int settle_apply(struct merge *m, struct err *err)
{
	struct rows *r = rows_of(m->db, "settle_rows", err);
	sqlite3_stmt *st =
		r ? db_prepare(m->db, store_sql("settle_request"), err) : NULL;
	int rc = st ? 0 : -1;

	while (!rc && rows_step(r)) {
		for (int i = SETTLE_ROWS_EVENT; i <= SETTLE_ROWS_FLAG; i++) {
			struct value v = rows_value(r, (size_t)i);

			db_bind_known(st, i + 1, v.kind == VALUE_INT, v.num);
		}
		settle_regroup(m, r);
		rc = db_step(m->db, st, err);
	}
	sqlite3_finalize(st);
	rc = rc ? rows_stop(r) : rows_end(r, err);
	return rc ? rc : db_exec(m->db, store_sql("settle_clear"), err);
}

/* ---- the cookies of a thread */

static void settle_close(struct cookie_entry *e, enum request_end end,
			 int64_t time)
{
	if (e->end)
		return;
	e->end = end;
	e->closed_at = time;
}

/* A request with its chain has nothing to wait for. */
static void settle_evict(struct settle *s, uint32_t i)
{
	if (!i || !s->entry[i].has_chain)
		return;
	table_remove(&s->by_cookie, hash_u64(s->entry[i].cookie), i);
	*mem_add(s->hole, s->n_hole, s->cap_hole) = i;
}

static struct cookie_entry *settle_new(struct settle *s, uint64_t cookie,
				       int64_t time)
{
	uint32_t i;

	if (s->n_hole) {
		i = s->hole[--s->n_hole];
	} else {
		s->n += !s->n;
		i = (uint32_t)s->n;
		(void)mem_add(s->entry, s->n, s->cap);
	}
	s->entry[i] = (struct cookie_entry){ .cookie = cookie,
					     .tid = (int32_t)s->tid };
	table_add(&s->by_cookie, hash_u64(cookie), i);
	if (s->recent[0])
		settle_close(&s->entry[s->recent[0]], END_COOKIE, time);
	settle_evict(s, s->recent[JOIN_RECENT - 1]);
	memmove(s->recent + 1, s->recent,
		(JOIN_RECENT - 1) * sizeof(*s->recent));
	s->recent[0] = i;
	return &s->entry[i];
}

/* Takes a row of settle_halves. */
static void settle_take(struct settle *s, const struct rows *r)
{
	int64_t time = rows_int(r, SETTLE_HALVES_TIME_NS);
	uint64_t cookie = (uint64_t)rows_int(r, SETTLE_HALVES_COOKIE);
	int64_t what = rows_int(r, SETTLE_HALVES_WHAT);

	if (what >= SETTLE_EXIT) {
		for (size_t k = 0; k < JOIN_RECENT && s->recent[k]; k++) {
			settle_close(&s->entry[s->recent[k]],
				     what == SETTLE_EXIT ? END_EXIT
							 : END_REUSED,
				     time);
			settle_evict(s, s->recent[k]);
			s->recent[k] = 0;
		}
		return;
	}
	uint32_t i = table_find_hash(&s->by_cookie, hash_u64(cookie));
	struct cookie_entry *e =
		i == TABLE_NONE ? settle_new(s, cookie, time) : &s->entry[i];

	if (what == SETTLE_CHAIN) {
		e->has_chain = true;
		return;
	}
	if (!e->n_events++)
		e->sample_time = time;
	e->last_time = time;
	struct value event = rows_value(r, SETTLE_HALVES_EVENT);

	if (event.kind != VALUE_INT)
		return;
	s->n_wait += !s->n_wait;
	uint32_t first = (uint32_t)s->n_wait;

	*mem_add(s->wait, s->n_wait, s->cap_wait) =
		(struct settle_wait){ event.num, rows_int(r, SETTLE_HALVES_WAS),
				      e->first };
	e->first = first;
}

/* ---- verdicts */

static int settle_put(struct settle *s, const struct settle_wait *w,
		      const struct fact_request *r, struct err *err)
{
	bool open = s->known != TIME_NONE &&
		    (r->until == TIME_NONE || r->until > s->known);

	/* a piece that is not there may tell of the loss */
	if (r->verdict == REQ_UNEXPLAINED &&
	    (open || w->was == REQ_UNEXPLAINED))
		return 0;
	sqlite3_bind_int64(s->put, 1, w->event);
	sqlite3_bind_int64(s->put, 2, r->verdict);
	sqlite3_bind_int64(s->put, 3, r->confidence);
	sqlite3_bind_int64(s->put, 4, r->end);
	db_bind_known(s->put, 5, r->until != TIME_NONE, r->until);
	db_bind_known(s->put, 6, r->loss != 0, r->loss);
	sqlite3_bind_int64(s->put, 7, VERDICT_MERGED);
	return db_step(s->m->db, s->put, err);
}

/* Judges the requests of the thread that wait, and forgets the thread. */
static int settle_end_thread(struct settle *s, struct err *err)
{
	static const struct unwinder_life none;
	int rc = 0;

	for (size_t i = 1; i < s->n && s->judges && !rc; i++) {
		const struct cookie_entry *e = &s->entry[i];
		struct fact_request r = { .event = 0 };

		if (!e->first || e->has_chain)
			continue;
		missing_reason_request(s->losses, &s->session, e, &none, &r);
		for (uint32_t w = e->first; w && !rc; w = s->wait[w].next)
			rc = settle_put(s, &s->wait[w], &r, err);
	}
	s->n = s->n_hole = s->n_wait = 0;
	memset(s->recent, 0, sizeof(s->recent));
	table_release(&s->by_cookie);
	return rc;
}

/* Reads what is known of a line, and its losses. */
static int settle_begin_line(struct settle *s, int64_t id, struct err *err)
{
	const struct value line = { .kind = VALUE_INT, .num = id };
	struct rows *r =
		rows_open(s->m->db, store_sql("settle_line"), &line, 1, err);

	s->line = id;
	s->judges = false;
	if (rows_step(r)) {
		s->session = (struct session){
			.next = &s->session,
			.has_time = true,
			.cookies = COOKIES_PERF,
			.system_wide =
				(enum tri)rows_int(r, SETTLE_LINE_SYSTEM_WIDE),
			.last = rows_int(r, SETTLE_LINE_LAST_NS),
			.n_chains = (uint64_t)rows_int(r, SETTLE_LINE_CHAINS),
		};
		s->known = rows_int_or(r, SETTLE_LINE_KNOWN_NS, TIME_NONE);
		s->judges = s->session.n_chains != 0;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_open(s->m->db, store_sql("settle_losses"), &line, 1, err);
	losses_free(s->losses);
	s->losses = losses_new();
	while (rows_step(r)) {
		int64_t t0 = rows_int_or(r, SETTLE_LOSSES_T0, TIME_NONE);
		int64_t none = t0 == TIME_NONE ? TIME_NONE : INT64_MAX;
		const struct loss l = {
			.id = (uint32_t)rows_int(r, SETTLE_LOSSES_ID),
			.cpu = (int32_t)rows_int_or(r, SETTLE_LOSSES_CPU, -1),
			.t0 = t0,
			.t1 = rows_int_or(r, SETTLE_LOSSES_T1, none),
		};

		if (account_explains(rows_text(r, SETTLE_LOSSES_WHAT)))
			losses_add(s->losses, 0, &l);
	}
	return rows_end(r, err);
}

/* Fills table settled_request. */
static int settle_judge(struct merge *m, struct err *err)
{
	struct settle s = { .m = m };
	struct rows *r = NULL;
	int rc = 0;

	s.put = db_prepare(m->db, store_sql("settle_put"), err);
	if (s.put)
		r = rows_of(m->db, "settle_halves", err);
	while (!rc && rows_step(r)) {
		int64_t line = rows_int(r, SETTLE_HALVES_LINE);
		int64_t tid = rows_int(r, SETTLE_HALVES_TID);

		if (line != s.line || tid != s.tid)
			rc = settle_end_thread(&s, err);
		if (!rc && line != s.line)
			rc = settle_begin_line(&s, line, err);
		s.tid = tid;
		if (!rc &&
		    rows_value(r, SETTLE_HALVES_TIME_NS).kind == VALUE_INT)
			settle_take(&s, r);
	}
	rc = rc ? rows_stop(r) : rows_end(r, err);
	if (!rc)
		rc = settle_end_thread(&s, err);
	sqlite3_finalize(s.put);
	losses_free(s.losses);
	table_release(&s.by_cookie);
	free(s.entry);
	free(s.hole);
	free(s.wait);
	return rc;
}

int merge_settle_open(struct merge *m, struct err *err)
{
	int64_t merged, joined, events;

	if (db_exec(m->db, store_sql("settle_begin"), err) ||
	    db_number(m->db, store_sql("settle_has_merged"), &merged, err))
		return -1;
	if (!merged)
		return 0;
	if (db_exec(m->db, store_sql("settle_open_again"), err) ||
	    settle_apply(m, err) ||
	    db_number(m->db, store_sql("settle_joined"), &joined, err) ||
	    db_number(m->db, store_sql("settle_chain_events"), &events, err))
		return -1;
	m->db->w->joined = (uint64_t)joined;
	m->db->w->chain_events = (uint64_t)events;
	return 0;
}

/* Judges the requests that wait in pieces of a stream. */
static int settle_pieces(struct merge *m, struct err *err)
{
	int64_t waits;

	if (db_exec(m->db, store_sql("settle_lines"), err) ||
	    db_number(m->db, store_sql("settle_waiting"), &waits, err))
		return -1;
	if (waits && (db_exec(m->db, store_sql("settle_cpus"), err) ||
		      settle_judge(m, err) || settle_apply(m, err) ||
		      db_exec(m->db, store_sql("settle_cpus_end"), err)))
		return -1;
	return db_exec(m->db, store_sql("settle_lines_end"), err);
}

int merge_settle(struct merge *m, struct err *err)
{
	int64_t has;

	if (db_number(m->db, store_sql("settle_has_pieces"), &has, err) ||
	    (has && settle_pieces(m, err)))
		return -1;
	return db_exec(m->db, store_sql("settle_end"), err);
}
