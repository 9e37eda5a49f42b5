/* path_sql.c - the causes of waits as tables for SQL. */
#include "cli/tables/path_sql.h"

#include <stdlib.h>
#include <string.h>

#include "cli/causes/account.h"
#include "cli/model/causes.h"
#include "cli/model/offcpu.h"
#include "cli/model/wait_cause.h"
#include "cli/tables/path.h"
#include "schema/columns.h"
#include "schema/db/given.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* The row of table wait that was asked for last: what its columns need is made
 * once, and kept for one row only. */
struct sql_wait {
	size_t row; /* + 1; 0: none yet */
	struct path_wait w;
	bool summed, chained;
	uint64_t ns[PIECE_STATES]; /* proved */
	uint32_t edge;		   /* that ended it */
	struct path_sum most;	   /* the largest part of the chain */
	uint64_t proved;
};

struct sql_blame {
	uint32_t thread; /* that waited */
	struct path_sum sum;
	uint64_t waits;
};

struct path_sql {
	struct path_run r;
	struct path_opts o;
	bool loading, loaded, blamed;
	size_t *first;	/* by thread: number of its first piece */
	uint32_t *wake; /* by row of wake: the edge */
	uint32_t *row;	/* by edge: its row + 1; 0: it is of no piece */
	uint8_t *link;	/* by edge: enum proof */
	size_t n_wake;
	struct sql_place {
		uint32_t thread, piece;
	} * wait;
	size_t n_wait, cap_wait;
	struct sql_wait at;
	struct sql_blame *blame;
	size_t n_blame, cap_blame;
	struct intern index; /* of blame[] */
};

/* ---- what all tables are made of */

static int sql_take_wait(void *arg, const struct path_wait *w, struct err *err)
{
	struct path_sql *s = arg;

	(void)err;
	*mem_add(s->wait, s->n_wait, s->cap_wait) =
		(struct sql_place){ w->thread, w->piece };
	return 0;
}

static int sql_load_all(struct path_sql *s, struct err *err)
{
	uint32_t threads;
	uint32_t n_edge;
	size_t n = 0;

	if (path_open(&s->r, s->r.db, s->r.path, err))
		return -1;
	threads = timeline_threads(s->r.t);
	s->first = mem_new(threads + 1u, sizeof(*s->first));
	for (uint32_t i = 0; i < threads; i++) {
		s->first[i] = n;
		n += proofs_pieces(s->r.proofs, i);
	}
	s->first[threads] = n;
	/* Pieces that were made of nothing leave edges behind that ended no
	 * wait. */
	n_edge = proofs_edges(s->r.proofs);
	s->wake = mem_new(n_edge + 1u, sizeof(*s->wake));
	s->row = mem_new(n_edge + 1u, sizeof(*s->row));
	s->link = mem_new(n_edge + 1u, sizeof(*s->link));
	for (uint32_t i = 0; i < threads; i++) {
		size_t pieces = proofs_pieces(s->r.proofs, i);

		for (size_t k = 0; k < pieces; k++) {
			const struct proof_piece pc =
				proofs_piece(s->r.proofs, i, k);
			uint32_t e = pc.edge;

			if (e == TIMELINE_NONE)
				continue;
			if (!s->row[e]) {
				s->wake[s->n_wake++] = e;
				s->row[e] = (uint32_t)s->n_wake;
			}
			if (pc.link > s->link[e])
				s->link[e] = pc.link;
		}
	}
	return path_each_wait(&s->r, sql_take_wait, s, err);
}

/* Loads once. A database may have a view in place of a table that is read, and
 * that view may read ours. */
static int sql_load(struct path_sql *s, struct err *err)
{
	int rc;

	if (s->loaded)
		return 0;
	if (s->loading)
		return err_set(err, ERR_FORMAT,
			       "%s: a table of the database reads the tables "
			       "that are computed from it",
			       s->r.path);
	s->loading = true;
	rc = sql_load_all(s, err);
	s->loaded = !rc;
	return rc;
}

static void sql_int(struct value *v, int64_t n)
{
	*v = (struct value){ .kind = VALUE_INT, .num = n };
}

/* NULL for `none`. */
static void sql_int_or(struct value *v, int64_t n, int64_t none)
{
	if (n != none)
		sql_int(v, n);
}

static void sql_text(struct value *v, const char *text)
{
	*v = (struct value){ .kind = VALUE_TEXT, .text = text };
}

/* "" is NULL. */
static void sql_text_or_null(struct value *v, const char *text)
{
	if (*text)
		sql_text(v, text);
}

/* ---- stay */

static int sql_load_stays(void *arg, size_t *n, struct err *err)
{
	struct path_sql *s = arg;

	if (sql_load(s, err))
		return -1;
	*n = timeline_all_stays(s->r.t);
	return 0;
}

static int sql_stay_cell(void *arg, size_t row, int column, struct value *v,
			 struct err *err)
{
	struct path_sql *s = arg;
	const struct timeline_stay *st = timeline_stay(s->r.t, (uint32_t)row);

	(void)err;
	switch (column) {
	case COMPUTED_STAY_TID:
		sql_int(v, timeline_tid(s->r.t, st->thread));
		break;
	case COMPUTED_STAY_COMM:
		sql_text(v, path_comm(&s->r, st->thread));
		break;
	case COMPUTED_STAY_CPU:
		sql_int(v, st->cpu);
		break;
	case COMPUTED_STAY_T0:
		sql_int(v, st->from);
		break;
	case COMPUTED_STAY_T1:
		sql_int(v, st->to);
		break;
	case COMPUTED_STAY_EXACT0:
		sql_int(v, st->exact_from);
		break;
	case COMPUTED_STAY_EXACT1:
		sql_int(v, st->exact_to);
		break;
	case COMPUTED_STAY_STATE:
		if (st->exact_to)
			sql_text(v, offcpu_state(st->state));
		break;
	case COMPUTED_STAY_EVENT:
		sql_int_or(v, timeline_stay_out(st), 0);
		break;
	}
	return 0;
}

/* ---- state_interval */

static int sql_load_intervals(void *arg, size_t *n, struct err *err)
{
	struct path_sql *s = arg;

	if (sql_load(s, err))
		return -1;
	*n = s->first[timeline_threads(s->r.t)];
	return 0;
}

static struct proof_piece sql_piece(const struct path_sql *s, size_t row,
				    uint32_t *thread)
{
	size_t n = timeline_threads(s->r.t);

	*thread = (uint32_t)(search_where(n, i, s->first[i] > row) - 1);
	return proofs_piece(s->r.proofs, *thread, row - s->first[*thread]);
}

static const char *sql_state_word(enum piece_state state)
{
	static const char *const word[PIECE_STATES] = {
		[PIECE_RUN] = "run",	     [PIECE_READY] = "ready",
		[PIECE_BLOCKED] = "blocked", [PIECE_OFF] = "off",
		[PIECE_UNBORN] = "unborn",   [PIECE_DEAD] = "dead",
		[PIECE_UNKNOWN] = "unknown",
	};

	return word[state];
}

/* Who was on the CPU to which the thread came, for most of the time. */
static void sql_behind(const struct path_sql *s, const struct proof_piece *pc,
		       struct value *v)
{
	struct occupant o;

	if (pc->state == PIECE_READY &&
	    account_occupant(s->r.t, pc->cpu, pc->from, pc->to, &o))
		sql_int(v, timeline_tid(s->r.t, o.thread));
}

/* The first loss that hides more of a piece, if table loss has it. */
static void sql_loss(const struct path_sql *s, const struct proof_piece *pc,
		     struct value *v)
{
	for (uint32_t i = 0; i < pc->n_loss && v->kind == VALUE_NULL; i++) {
		size_t loss = proofs_loss(s->r.proofs, pc->loss + i);

		sql_int_or(v, timeline_loss(s->r.t, loss)->id, 0);
	}
}

static int sql_interval_cell(void *arg, size_t row, int column, struct value *v,
			     struct err *err)
{
	struct path_sql *s = arg;
	uint32_t thread;
	const struct proof_piece one = sql_piece(s, row, &thread);
	const struct proof_piece *pc = &one;
	bool bounded = pc->from != TIMELINE_START && pc->to != TIMELINE_END;

	(void)err;
	switch (column) {
	case COMPUTED_STATE_INTERVAL_TID:
		sql_int(v, timeline_tid(s->r.t, thread));
		break;
	case COMPUTED_STATE_INTERVAL_COMM:
		sql_text(v, path_comm(&s->r, thread));
		break;
	case COMPUTED_STATE_INTERVAL_T0:
		sql_int_or(v, pc->from, TIMELINE_START);
		break;
	case COMPUTED_STATE_INTERVAL_T1:
		sql_int_or(v, pc->to, TIMELINE_END);
		break;
	case COMPUTED_STATE_INTERVAL_NS:
		if (bounded)
			sql_int(v, pc->to - pc->from);
		break;
	case COMPUTED_STATE_INTERVAL_STATE:
		sql_text(v, sql_state_word((enum piece_state)pc->state));
		break;
	case COMPUTED_STATE_INTERVAL_CPU:
		sql_int_or(v, pc->cpu, -1);
		break;
	case COMPUTED_STATE_INTERVAL_PROOF:
		sql_text(v, proof_word((enum proof)pc->proof));
		break;
	case COMPUTED_STATE_INTERVAL_BEHIND:
		sql_behind(s, pc, v);
		break;
	case COMPUTED_STATE_INTERVAL_WAKE:
		if (pc->edge != TIMELINE_NONE)
			sql_int(v, s->row[pc->edge]);
		break;
	case COMPUTED_STATE_INTERVAL_EVENT:
		sql_int_or(v, pc->out, 0);
		break;
	case COMPUTED_STATE_INTERVAL_LOSS:
		sql_loss(s, pc, v);
		break;
	}
	return 0;
}

/* ---- wake */

static int sql_load_wakes(void *arg, size_t *n, struct err *err)
{
	struct path_sql *s = arg;

	if (sql_load(s, err))
		return -1;
	*n = s->n_wake;
	return 0;
}

static int sql_wake_cell(void *arg, size_t row, int column, struct value *v,
			 struct err *err)
{
	struct path_sql *s = arg;
	const struct proof_edge one = proofs_edge(s->r.proofs, s->wake[row]);
	const struct proof_edge *e = &one;
	int32_t waker = path_edge_waker(e);
	const char *f;

	switch (column) {
	case COMPUTED_WAKE_ID:
		sql_int(v, (int64_t)row + 1);
		break;
	case COMPUTED_WAKE_TIME_NS:
		sql_int(v, e->time);
		break;
	case COMPUTED_WAKE_CONTEXT:
		sql_text(v, path_context(e->context));
		break;
	case COMPUTED_WAKE_WHAT:
		f = causes_what(s->r.causes, e);
		sql_text_or_null(v, f ? f : "");
		break;
	case COMPUTED_WAKE_KIND:
		sql_text(v, path_edge_kind(e));
		break;
	case COMPUTED_WAKE_CPU:
		sql_int_or(v, e->cpu, -1);
		break;
	case COMPUTED_WAKE_T0:
		sql_int(v, e->from);
		break;
	case COMPUTED_WAKE_T1:
		sql_int(v, e->to);
		break;
	case COMPUTED_WAKE_EVENT:
		sql_int_or(v, e->event, 0);
		break;
	case COMPUTED_WAKE_FUNCTION:
		f = path_function(&s->r, e->event, err);
		if (!f)
			return -1;
		sql_text_or_null(v, f);
		break;
	case COMPUTED_WAKE_PROOF:
		sql_text(v, proof_word((enum proof)s->link[s->wake[row]]));
		break;
	case COMPUTED_WAKE_TID:
		sql_int(v, timeline_tid(s->r.t, e->waiter));
		break;
	case COMPUTED_WAKE_COMM:
		sql_text(v, path_comm(&s->r, e->waiter));
		break;
	case COMPUTED_WAKE_BY_TID:
		if (waker > 0)
			sql_int(v, waker);
		break;
	case COMPUTED_WAKE_BY_COMM:
		if (waker > 0)
			sql_text(v, causes_comm(s->r.causes, waker));
		break;
	case COMPUTED_WAKE_CURRENT:
		sql_int_or(v, e->waker, -1);
		break;
	}
	return 0;
}

/* ---- wait */

static int sql_load_waits(void *arg, size_t *n, struct err *err)
{
	struct path_sql *s = arg;

	if (sql_load(s, err))
		return -1;
	*n = s->n_wait;
	return 0;
}

static struct path_wait sql_wait_at(struct path_sql *s, size_t row)
{
	size_t end;

	return path_wait_of(&s->r, s->wait[row].thread, s->wait[row].piece,
			    &end);
}

/* Sums what is proved of a wait; all else is unknown. */
static void sql_sum_wait(struct path_sql *s, struct sql_wait *w)
{
	struct proofs *p = s->r.proofs;
	size_t n = proofs_pieces(p, w->w.thread);

	if (w->summed)
		return;
	w->summed = true;
	for (size_t i = proofs_find(p, w->w.thread, w->w.from); i < n; i++) {
		const struct proof_piece pc = proofs_piece(p, w->w.thread, i);
		enum piece_state state = pc.proof == PROOF_PROVED
						 ? (enum piece_state)pc.state
						 : PIECE_UNKNOWN;

		if (pc.from >= w->w.to)
			break;
		w->ns[state] += (uint64_t)(pc.to - pc.from);
		if (pc.edge != TIMELINE_NONE)
			w->edge = pc.edge;
	}
}

/* What it waited for, by the stack of its begin. */
static int sql_wait_cause(struct path_sql *s, const struct path_wait *w,
			  struct value *v, struct err *err)
{
	struct offcpu_stack at = { 0 };
	int rc = w->out ? causes_stack(s->r.causes, w->out, &at, err) : 0;

	if (rc < 0)
		return -1;
	sql_text_or_null(v, wait_cause_word(wait_causes_get(s->r.words, w->bits,
							    at.kraw)));
	return 0;
}

/* What its chain tells. */
static void sql_wait_chain(struct path_sql *s, struct sql_wait *w, int column,
			   struct value *v)
{
	if (!w->chained) {
		struct chain c = { 0 };
		struct path_sum *sum;
		size_t n;

		w->chained = true;
		path_chain(&s->r, w->w.thread, w->w.from, w->w.to, &c);
		w->proved = path_with(&c, PROOF_PROVED);
		sum = path_sums(&c, &n);
		if (n)
			w->most = sum[0];
		free(sum);
		chain_release(&c);
	}
	switch (column) {
	case COMPUTED_WAIT_PROVED_NS:
		sql_int(v, (int64_t)w->proved);
		break;
	case COMPUTED_WAIT_BY_TID:
		sql_int(v, timeline_tid(s->r.t, w->most.thread));
		break;
	case COMPUTED_WAIT_BY_COMM:
		sql_text(v, path_comm(&s->r, w->most.thread));
		break;
	case COMPUTED_WAIT_BY_STATE:
		sql_text(v, chain_state_word(w->most.state));
		break;
	case COMPUTED_WAIT_BY_NS:
		sql_int(v, (int64_t)w->most.ns);
		break;
	}
}

static int sql_wait_cell(void *arg, size_t row, int column, struct value *v,
			 struct err *err)
{
	/* what is proved of the states */
	static const enum piece_state part[] = {
		[COMPUTED_WAIT_BLOCKED_NS] = PIECE_BLOCKED,
		[COMPUTED_WAIT_READY_NS] = PIECE_READY,
		[COMPUTED_WAIT_OFF_NS] = PIECE_OFF,
		[COMPUTED_WAIT_UNKNOWN_NS] = PIECE_UNKNOWN,
	};
	struct path_sql *s = arg;
	struct sql_wait *w = &s->at;
	const char *f;

	if (w->row != row + 1)
		*w = (struct sql_wait){ .row = row + 1,
					.w = sql_wait_at(s, row),
					.edge = TIMELINE_NONE };
	switch (column) {
	case COMPUTED_WAIT_ID:
		sql_int(v, (int64_t)w->row);
		return 0;
	case COMPUTED_WAIT_TID:
		sql_int(v, timeline_tid(s->r.t, w->w.thread));
		return 0;
	case COMPUTED_WAIT_COMM:
		sql_text(v, path_comm(&s->r, w->w.thread));
		return 0;
	case COMPUTED_WAIT_T0:
		sql_int(v, w->w.from);
		return 0;
	case COMPUTED_WAIT_T1:
		sql_int(v, w->w.to);
		return 0;
	case COMPUTED_WAIT_NS:
		sql_int(v, w->w.to - w->w.from);
		return 0;
	case COMPUTED_WAIT_STATE:
		sql_text(v, offcpu_state(w->w.bits));
		return 0;
	case COMPUTED_WAIT_EVENT:
		sql_int_or(v, w->w.out, 0);
		return 0;
	case COMPUTED_WAIT_BLOCKED_NS:
	case COMPUTED_WAIT_READY_NS:
	case COMPUTED_WAIT_OFF_NS:
	case COMPUTED_WAIT_UNKNOWN_NS:
		sql_sum_wait(s, w);
		sql_int(v, (int64_t)w->ns[part[column]]);
		return 0;
	case COMPUTED_WAIT_WAKE:
		sql_sum_wait(s, w);
		if (w->edge != TIMELINE_NONE)
			sql_int(v, s->row[w->edge]);
		return 0;
	case COMPUTED_WAIT_FUNCTION:
		f = path_function(&s->r, w->w.out, err);
		if (!f)
			return -1;
		sql_text_or_null(v, f);
		return 0;
	case COMPUTED_WAIT_CAUSE:
		return sql_wait_cause(s, &w->w, v, err);
	default:
		sql_wait_chain(s, w, column, v);
		return 0;
	}
}

/* ---- blame */

static int sql_compare_blame(const void *pa, const void *pb)
{
	const struct sql_blame *a = pa;
	const struct sql_blame *b = pb;

	return compare_numbers(b->sum.ns, a->sum.ns)
		       ?: compare_numbers(a->thread, b->thread)
		       ?: compare_numbers(a->sum.thread, b->sum.thread)
		       ?: compare_numbers(a->sum.state, b->sum.state)
		       ?: compare_numbers(a->sum.proof, b->sum.proof);
}

static int sql_load_blame(void *arg, size_t *n, struct err *err)
{
	struct path_sql *s = arg;

	if (sql_load(s, err))
		return -1;
	for (size_t i = 0; !s->blamed && i < s->n_wait; i++) {
		const struct path_wait w = sql_wait_at(s, i);
		struct chain c = { 0 };
		struct path_sum *sum;
		size_t sums;

		path_chain(&s->r, w.thread, w.from, w.to, &c);
		sum = path_sums(&c, &sums);
		for (size_t k = 0; k < sums; k++) {
			const uint32_t key[4] = { w.thread, sum[k].thread,
						  (uint32_t)sum[k].state,
						  (uint32_t)sum[k].proof };
			uint32_t id =
				intern_add_bytes(&s->index, key, sizeof(key));

			if (id == s->n_blame) {
				*mem_add(s->blame, s->n_blame, s->cap_blame) =
					(struct sql_blame){ .thread = w.thread,
							    .sum = sum[k] };
				s->blame[id].sum.ns = 0;
			}
			s->blame[id].sum.ns += sum[k].ns;
			s->blame[id].waits++;
		}
		free(sum);
		chain_release(&c);
	}
	if (!s->blamed && s->n_blame)
		qsort(s->blame, s->n_blame, sizeof(*s->blame),
		      sql_compare_blame);
	s->blamed = true;
	*n = s->n_blame;
	return 0;
}

static int sql_blame_cell(void *arg, size_t row, int column, struct value *v,
			  struct err *err)
{
	struct path_sql *s = arg;
	const struct sql_blame *b = &s->blame[row];

	(void)err;
	switch (column) {
	case COMPUTED_BLAME_TID:
		sql_int(v, timeline_tid(s->r.t, b->thread));
		break;
	case COMPUTED_BLAME_COMM:
		sql_text(v, path_comm(&s->r, b->thread));
		break;
	case COMPUTED_BLAME_BY_TID:
		sql_int(v, timeline_tid(s->r.t, b->sum.thread));
		break;
	case COMPUTED_BLAME_BY_COMM:
		sql_text(v, path_comm(&s->r, b->sum.thread));
		break;
	case COMPUTED_BLAME_BY_STATE:
		sql_text(v, chain_state_word(b->sum.state));
		break;
	case COMPUTED_BLAME_PROOF:
		sql_text(v, proof_word(b->sum.proof));
		break;
	case COMPUTED_BLAME_NS:
		sql_int(v, (int64_t)b->sum.ns);
		break;
	case COMPUTED_BLAME_WAITS:
		sql_int(v, (int64_t)b->waits);
		break;
	}
	return 0;
}

/* ---- the tables */

/* Their columns are in schema/sql/computed.sql. */
static const struct given_table sql_tables[] = {
	{ "stay", false, sql_load_stays, sql_stay_cell },
	{ "state_interval", false, sql_load_intervals, sql_interval_cell },
	{ "wake", true, sql_load_wakes, sql_wake_cell },
	{ "wait", true, sql_load_waits, sql_wait_cell },
	{ "blame", false, sql_load_blame, sql_blame_cell },
};

struct path_sql *path_sql_new(struct store *db, const char *path,
			      struct err *err)
{
	struct path_sql *s = mem_new(1, sizeof(*s));

	s->o.tid = -1;
	s->r.o = &s->o;
	s->r.db = db;
	s->r.path = path;
	s->r.keeps = true;
	if (!store_give_tables(db, sql_tables,
			       sizeof(sql_tables) / sizeof(*sql_tables), s,
			       err))
		return s;
	path_sql_free(s);
	return NULL;
}

void path_sql_free(struct path_sql *s)
{
	if (!s)
		return;
	path_close(&s->r);
	intern_release(&s->index);
	free(s->first);
	free(s->wake);
	free(s->row);
	free(s->link);
	free(s->wait);
	free(s->blame);
	free(s);
}
