/* merge_settle.c - joins requests that waited when their capture ended with the
 * chain in the next capture, and those made after their chain with the one in
 * the previous capture. In the pieces of a stream that was cut, finds out why
 * the stack of other requests never came, and what requested other stacks.
 *
 * A piece ends before the end of the requests that wait in it is known, and a
 * loss is reported by a later record of its ring, so a request that nothing
 * explains may be explained by the next piece. If the databases have the pieces
 * that follow without a gap (meta cut_before, cut_behind), the next cookie of
 * the thread, its end and the losses are in them, and join.h judges as it does
 * for a capture in one piece. The verdict is marked (VERDICT_MERGED): a later
 * merge, which may have more pieces, starts from the original request. A
 * request is called unexplained only if no missing piece could report a loss
 * before its end.
 *
 * That another session requested a chain is proved by several chains, of which
 * a piece may have one; a chain whose samples have lost their cookie may have
 * these samples in the previous piece. All chains without a request are judged
 * again, each time.
 *
 * Not judged, and so left pending_end, are requests of streams that are not
 * perf's, that overwrite their rings, that were aligned with others or that
 * have no chain at all, and those of processes that unwind themselves. */
#include "schema/columns.h"
#include "schema/lives.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/audit/account.h"
#include "stitch/base/losses.h"
#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/join/join.h"
#include "stitch/join/sessions.h"
#include "stitch/source.h"
#include "stitch/verdict.h"

/* ---- writes new verdicts into the rows of requests, their chains, and the
 * groups of their samples */

/* Sets the user part of a group by the verdict. */
static void verdicts_set_user(struct merge_group *g, int64_t verdict,
			      int64_t user, bool after_exec)
{
	g->user = 0;
	g->mark = merge_group_mark(verdict);
	if (verdict == REQ_MATCHED || verdict == REQ_EMPTY)
		merge_group_join(g, (uint32_t)user, after_exec);
}

/* Writes the verdicts in table new_verdict to their requests, and empties the
 * table. */
static int merge_apply(struct merge *m, struct err *err)
{
	struct rows *r =
		rows_of(maker_read(m->out, err), "merge_verdicts", err);
	sqlite3_stmt *request = NULL, *chain = NULL;

	if (r)
		request =
			maker_prepare(m->out, store_sql("merge_verdict"), err);
	if (request)
		chain = maker_prepare(m->out, store_sql("merge_verdict_chain"),
				      err);
	int rc = chain ? 0 : -1;

	while (!rc && rows_step(r)) {
		int64_t id = rows_int(r, MERGE_VERDICTS_CHAIN);
		struct value v[MERGE_VERDICTS_URAW + 1];

		for (size_t i = 0; i < ARRAY_SIZE(v); i++)
			v[i] = rows_value(r, i);
		/* Move the sample to the group that it belongs to now. */
		struct merge_group g = {
			.type = (uint32_t)rows_int(r, MERGE_VERDICTS_TYPE),
			.comm = (uint32_t)rows_int(r, MERGE_VERDICTS_COMM),
			.kernel = (uint32_t)rows_int(r, MERGE_VERDICTS_KERNEL),
			.kernel_mark = (int32_t)rows_int(
				r, MERGE_VERDICTS_KERNEL_MARK),
			.weighs = rows_value(r, MERGE_VERDICTS_WEIGHT).kind ==
				  VALUE_INT,
		};
		int64_t weight = rows_int(r, MERGE_VERDICTS_WEIGHT);

		verdicts_set_user(&g, rows_int(r, MERGE_VERDICTS_WAS),
				  rows_int(r, MERGE_VERDICTS_USER_WAS),
				  rows_value(r, MERGE_VERDICTS_EXEC_WAS).kind !=
					  VALUE_NULL);
		merge_groups_leave(m->groups, &g, weight);
		verdicts_set_user(&g, rows_int(r, MERGE_VERDICTS_VERDICT),
				  rows_int(r, MERGE_VERDICTS_USER),
				  rows_value(r, MERGE_VERDICTS_EXEC_NS).kind !=
					  VALUE_NULL);
		merge_groups_add(m->groups, &g, weight, 1);
		rc = tables_run(m->out, request, v, ARRAY_SIZE(v), err);
		if (!rc && id) {
			/* give the chain its new request */
			uint32_t number = (uint32_t)id;
			struct writing *w = m->out->w;

			m->joined++;
			w->joined++;
			w->chain_events++;
			if (number > w->max_chain)
				w->max_chain = number;
			rc = PUT_VALUES(m->out, chain, err, VALUE_OF(number),
					VALUE_OF(CHAIN_USED),
					VALUE_OF(CONF_PROVED));
		}
	}
	sqlite3_finalize(request);
	sqlite3_finalize(chain);
	rc = rc ? rows_stop(r) : rows_end(r, err);
	return rc ? rc
		  : maker_exec(m->out, store_sql("merge_verdicts_clear"), err);
}

/* The kinds of rows of settle_halves. */
enum settle_what {
	SETTLE_BEGIN,
	SETTLE_REQUEST,
	SETTLE_CHAIN,
	SETTLE_MARK,
	SETTLE_REFUSED,
	SETTLE_EXIT,
	SETTLE_REUSED
};

struct settle {
	struct merge *m;
	sqlite3_stmt *put, *put_chain;
	/* The current line; its captures are source 0. */
	int64_t line;
	struct losses *losses;
	struct join *join; /* NULL: no request of the line is judged */
	struct fact_queue facts;
	int64_t known; /* losses before this time are known; TIME_NONE: all */
	/* The current thread: */
	int64_t tid, life;
	uint32_t thread; /* a number for its life */
	struct join_task task;
};

static void settle_end_thread(struct settle *s, enum join_reason why,
			      int64_t time)
{
	if (s->join)
		join_retire(s->join, &s->task, why, time);
	s->task = (struct join_task){ 0 };
	s->thread++;
}

/* Takes a row of settle_halves. */
static void settle_take(struct settle *s, const struct rows *r)
{
	int64_t time = rows_int(r, SETTLE_HALVES_TIME_NS);
	uint64_t cookie = (uint64_t)rows_int(r, SETTLE_HALVES_COOKIE);
	int64_t what = rows_int(r, SETTLE_HALVES_WHAT);
	uint32_t id = (uint32_t)rows_int(r, SETTLE_HALVES_ID);
	const struct join_sample sample = { .event = id,
					    .cookie = cookie,
					    .tid = (int32_t)s->tid,
					    .thread = s->thread,
					    .cpu = -1,
					    .time = time };

	if (what == SETTLE_BEGIN)
		return;
	if (what >= SETTLE_EXIT)
		join_retire(s->join, &s->task,
			    what == SETTLE_EXIT ? JOIN_EXIT : JOIN_REUSED,
			    time);
	else if (what == SETTLE_CHAIN)
		join_chain(
			s->join, &s->task,
			&(struct join_chain){ .id = id,
					      .cookie = cookie,
					      .tid = (int32_t)s->tid,
					      .thread = s->thread,
					      .uraw = (uint32_t)rows_int(
						      r, SETTLE_HALVES_URAW),
					      .cpu = -1,
					      .asked_cpu = (int32_t)rows_int_or(
						      r, SETTLE_HALVES_CPU, -1),
					      .time = time });
	else if (what == SETTLE_MARK)
		join_mark(s->join, &s->task, &sample);
	else if (what == SETTLE_REFUSED)
		join_refused(s->join, &sample);
	else
		join_sample(s->join, &s->task, &sample);
}

static int settle_put(struct settle *s, const struct fact_request *r,
		      struct err *err)
{
	bool open = s->known != TIME_NONE &&
		    (r->until == TIME_NONE || r->until > s->known);

	/* a missing piece may report the loss */
	if (!r->event || r->verdict == REQ_MATCHED || r->verdict == REQ_EMPTY ||
	    (r->verdict == REQ_UNEXPLAINED && open))
		return 0;
	return PUT_VALUES(s->m->out, s->put, err, VALUE_OF(r->event),
			  VALUE_OF(r->verdict), VALUE_OF(r->confidence),
			  VALUE_OF(r->end), VALUE_TIME(r->until),
			  VALUE_ID(r->loss), VALUE_OF(VERDICT_MERGED));
}

/* Writes the verdict of a chain. If a missing piece could report a loss, that
 * loss may have had the sample: then none is written. */
static int settle_put_chain(struct settle *s, const struct fact_chain *c,
			    struct err *err)
{
	if (!c->id || c->n_events ||
	    (s->known != TIME_NONE && c->time > s->known))
		return 0;
	return PUT_VALUES(s->m->out, s->put_chain, err, VALUE_OF(c->id),
			  VALUE_OF(c->verdict), VALUE_OF(c->confidence),
			  VALUE_TIME(c->from), VALUE_ID(c->loss),
			  VALUE_OF(c->flags & VERDICT_CONFLICT));
}

/* Writes the verdicts of requests and chains that are judged. */
static int settle_take_facts(struct settle *s, struct err *err)
{
	const struct fact *f;
	int rc = 0;

	while (!rc && (f = fact_queue_next(&s->facts)))
		if (f->kind == FACT_REQUEST)
			rc = settle_put(s, &f->request, err);
		else if (f->kind == FACT_CHAIN)
			rc = settle_put_chain(s, &f->chain, err);
	return rc;
}

static int settle_end_line(struct settle *s, struct err *err)
{
	if (s->join)
		join_end(s->join);
	return settle_take_facts(s, err);
}

/* Reads the facts about a line, and its losses. */
static int settle_begin_line(struct settle *s, int64_t id, struct err *err)
{
	struct rows *r =
		ROWS_BY(maker_read(s->m->out, err), "settle_line", err, id);

	join_free(s->join);
	losses_free(s->losses);
	s->losses = losses_new();
	s->join = NULL;
	s->line = id;
	if (rows_step(r) && rows_int(r, SETTLE_LINE_CHAINS)) {
		s->known = rows_int_or(r, SETTLE_LINE_KNOWN_NS, TIME_NONE);
		s->join = join_new(&s->facts, s->losses, NULL);
		join_source(
			s->join, 0,
			&(struct source_info){
				.has_time = true,
				.cookies = COOKIES_PERF,
				.filtered = rows_int(r, SETTLE_LINE_FILTERED),
				.system_wide = (enum tri)rows_int(
					r, SETTLE_LINE_SYSTEM_WIDE) });
		join_last(s->join, 0, rows_int(r, SETTLE_LINE_LAST_NS));
		join_session(s->join, 0)->n_chains++;
	}
	if (rows_end(r, err))
		return -1;
	r = ROWS_BY(maker_read(s->m->out, err), "settle_losses", err, id);
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

/* Numbers the threads of the pieces by their lives. */
static int settle_lives(struct merge *m, struct err *err)
{
	int64_t n;
	sqlite3_stmt *put =
		maker_prepare(m->out, store_sql("settle_life"), err);
	uint32_t *same = NULL;
	int rc = -1;

	if (put && !maker_number(m->out, store_sql("settle_threads"), &n, err))
		same = lives_load(maker_read(m->out, err), (size_t)n, err);
	if (same)
		rc = 0;
	for (int64_t i = 1; !rc && i < n; i++)
		if (same[i])
			rc = PUT_VALUES(m->out, put, err, VALUE_OF(i),
					VALUE_OF(same[i]));
	sqlite3_finalize(put);
	free(same);
	return rc;
}

/* Fills table new_verdict. */
static int settle_judge(struct merge *m, struct err *err)
{
	struct settle s = { .m = m };
	struct rows *r = NULL;
	int rc = 0;

	s.put = maker_prepare(m->out, store_sql("settle_put"), err);
	if (s.put)
		s.put_chain = maker_prepare(m->out,
					    store_sql("settle_put_chain"), err);
	if (s.put_chain)
		r = rows_of(maker_read(m->out, err), "settle_halves", err);
	while (!rc && rows_step(r)) {
		int64_t line = rows_int(r, SETTLE_HALVES_LINE);
		int64_t tid = rows_int(r, SETTLE_HALVES_TID);
		int64_t life = rows_int(r, SETTLE_HALVES_LIFE);

		/* its EXIT was lost if it has not ended when another thread
		 * with its id begins */
		if (line == s.line && tid == s.tid && life != s.life &&
		    rows_int(r, SETTLE_HALVES_WHAT) == SETTLE_BEGIN)
			settle_end_thread(&s, JOIN_REUSED,
					  rows_int(r, SETTLE_HALVES_TIME_NS));
		else if (line != s.line || tid != s.tid || life != s.life)
			settle_end_thread(&s, JOIN_CAPTURE, TIME_NONE);
		if (line != s.line)
			rc = settle_end_line(&s, err) ||
					     settle_begin_line(&s, line, err)
				     ? -1
				     : 0;
		s.tid = tid;
		s.life = life;
		if (!rc && s.join &&
		    rows_value(r, SETTLE_HALVES_TIME_NS).kind == VALUE_INT) {
			settle_take(&s, r);
			rc = settle_take_facts(&s, err);
		}
	}
	rc = rc ? rows_stop(r) : rows_end(r, err);
	settle_end_thread(&s, JOIN_CAPTURE, TIME_NONE);
	if (!rc)
		rc = settle_end_line(&s, err);
	sqlite3_finalize(s.put);
	sqlite3_finalize(s.put_chain);
	join_free(s.join);
	losses_free(s.losses);
	fact_queue_release(&s.facts);
	return rc;
}

/* Reopens what an earlier merge joined or settled, so that the result depends
 * on the captures only, not on the order of merges. */
static int merge_settle_open(struct merge *m, struct err *err)
{
	int64_t merged, joined, events;

	if (maker_number(m->out, store_sql("settle_has_merged"), &merged, err))
		return -1;
	if (!merged)
		return 0;
	if (maker_exec(m->out, store_sql("settle_open_again"), err) ||
	    merge_apply(m, err) ||
	    maker_number(m->out, store_sql("settle_joined"), &joined, err) ||
	    maker_number(m->out, store_sql("settle_chain_events"), &events,
			 err))
		return -1;
	m->out->w->joined = (uint64_t)joined;
	m->out->w->chain_events = (uint64_t)events;
	return 0;
}

/* Adds the unreported losses that show between pieces. */
static int settle_switches(struct merge *m, struct err *err)
{
	struct rows *r =
		rows_of(maker_read(m->out, err), "settle_switches", err);
	int rc = 0;

	while (!rc && rows_step(r)) {
		const char *fields = rows_text(r, SETTLE_SWITCHES_FIELDS);
		char *name = mem_must(sqlite3_mprintf("%Q", fields));
		char *table = mem_must(sqlite3_mprintf("\"%w\"", fields));
		const struct sql_gap gap[] = { { "name", name },
					       { "table", table } };
		char *sql =
			store_sql_fill("settle_silent", gap, ARRAY_SIZE(gap));

		rc = maker_exec(m->out, sql, err);
		free(sql);
		sqlite3_free(name);
		sqlite3_free(table);
	}
	return rc ? rows_stop(r) : rows_end(r, err);
}

/* Judges the requests that wait in pieces of a stream, and finds where records
 * are missing: since when, and between pieces. */
static int settle_pieces(struct merge *m, struct err *err)
{
	int64_t waits, lossy;

	if (maker_exec(m->out, store_sql("settle_lines"), err) ||
	    maker_number(m->out, store_sql("settle_waiting"), &waits, err) ||
	    maker_number(m->out, store_sql("settle_lossy"), &lossy, err) ||
	    settle_switches(m, err))
		return -1;
	if ((waits || lossy) &&
	    (maker_exec(m->out, store_sql("settle_cpus"), err) ||
	     (waits && (settle_lives(m, err) || settle_judge(m, err) ||
			merge_apply(m, err))) ||
	     maker_exec(m->out, store_sql("settle_cpus_end"), err)))
		return -1;
	return maker_exec(m->out, store_sql("settle_lines_end"), err);
}

/* ---- requests whose chain is in another capture
 *
 * A cookie is the CPU and a counter since the boot, so in two captures of one
 * boot (see merge_boots) the same cookie of the same thread id is the same stay
 * in the kernel, if the chain is later, or less than a second earlier, in which
 * no counter wraps. For the same reason a counter that another such capture has
 * is not missing, and a request in an earlier capture was the first of its
 * cookie. */

/* Joins halves of different captures. */
static int join_captures(struct merge *m, struct err *err)
{
	int64_t open, kin;

	if (maker_number(m->out, store_sql("merge_has_open"), &open, err) ||
	    maker_number(m->out, store_sql("merge_has_kin"), &kin, err))
		return -1;
	if (!open && !kin)
		return 0;
	/* join each waiting request with the chain that another capture has */
	if (maker_exec(m->out, store_sql("merge_boots"), err) ||
	    (open &&
	     (maker_exec(m->out, store_sql("merge_join_begin"), err) ||
	      maker_exec(m->out, store_sql("merge_join_verdicts"), err) ||
	      merge_apply(m, err) ||
	      maker_exec(m->out, store_sql("merge_join_end"), err))) ||
	    (kin && maker_exec(m->out, store_sql("merge_kin"), err)))
		return -1;
	return maker_exec(m->out, store_sql("merge_boots_end"), err);
}

int merge_join(struct merge *m, struct err *err)
{
	int64_t pieces;

	if (maker_exec(m->out, store_sql("merge_verdicts_begin"), err) ||
	    merge_settle_open(m, err) || join_captures(m, err) ||
	    maker_number(m->out, store_sql("settle_has_pieces"), &pieces,
			 err) ||
	    (pieces && settle_pieces(m, err)))
		return -1;
	return maker_exec(m->out, store_sql("merge_verdicts_end"), err);
}
