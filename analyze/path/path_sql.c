/* path_sql.c - presents the causes of waits as tables for SQL. */
#include "analyze/path/path_sql.h"

#include "analyze/causes/account.h"
#include "analyze/causes/causes.h"
#include "analyze/causes/wake_context.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/path/path_run.h"
#include "schema/columns.h"
#include "schema/db/virtual_tables.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/intern.h"
#include "stitch/base/search.h"

/* The row of table wait that was read last: the data for its columns is
 * computed once, and kept for one row only. */
struct sql_wait {
	size_t row; /* + 1; 0: none yet */
	struct path_wait w;
	bool summed, chained;
	uint64_t ns[PIECE_STATES]; /* proved */
	uint32_t edge;		   /* edge that ended the wait */
	struct path_sum most;	   /* the largest part of the chain */
	uint64_t proved;
};

/* The waits and wake-ups of a thread. */
struct sql_list {
	uint32_t *wait; /* numbers of their first pieces */
	uint32_t *wake; /* edges that ended a piece */
	size_t n_wait, cap_wait, n_wake, cap_wake;
	int64_t waits, wakes; /* numbers of waits and wake-ups of all threads
			       * before it, once numbered */
	bool made;
};

struct sql_edge {
	uint32_t item; /* index + 1 in its thread's `wake`; 0: it ended no
			* piece */
	uint8_t link;  /* enum proof */
};

struct blame_row {
	uint32_t thread; /* thread that waited */
	struct path_sum sum;
	uint64_t waits;
};

/* The rows of table blame for a thread. */
struct blamed {
	size_t first, n;
	bool made;
};

/* Rows are ordered by thread: their numbers are SQL_ROW(thread, item of that
 * thread). */
#define SQL_ROW(thread, item) ((size_t)(thread) << 32 | (item))
#define SQL_THREAD(row) ((uint32_t)((row) >> 32))
#define SQL_ITEM(row) ((uint32_t)(row))

struct path_sql {
	struct path_run r;
	struct path_ask ask;
	bool loaded;
	struct sql_list *of; /* by thread; made when first requested */
	bool numbered;
	struct sql_edge *edge; /* by edge; set for threads whose list is made */
	size_t n_edge, cap_edge;
	struct sql_wait at;
	struct blame_row *blame; /* rows of each thread, in the order of
				  * requests */
	size_t n_blame, cap_blame;
	struct blamed *blamed; /* by thread */
	uint32_t *order; /* indexes of all blame rows, by time; NULL: not made
			  * yet */
	struct intern blame_index; /* rows of the thread that is being added */
};

/* ---- the waits and wake-ups of each thread */

/* Returns a thread's waits and wake-ups, and lists them at the first
 * request. */
static const struct sql_list *sql_list_of(struct path_sql *s, uint32_t thread)
{
	const struct proofs *p = s->r.proofs;
	struct sql_list *of = &s->of[thread];
	struct path_walk at = { .thread = thread };
	struct path_wait w;
	size_t n;

	if (of->made)
		return of;
	of->made = true;
	n = proofs_pieces(s->r.proofs, thread);
	/* the edges of pieces that were empty ended no wait */
	mem_reach(s->edge, s->n_edge, s->cap_edge, proofs_edges(p));
	for (size_t k = 0; k < n; k++) {
		const struct proof_piece pc = proofs_piece(p, thread, k);
		struct sql_edge *e;

		if (pc.edge == TIMELINE_NONE)
			continue;
		e = &s->edge[pc.edge];
		if (!e->item) {
			*mem_add(of->wake, of->n_wake, of->cap_wake) = pc.edge;
			e->item = (uint32_t)of->n_wake;
		}
		raise_to(e->link, pc.link);
	}
	while (path_next_of_thread(&s->r, &at, &w))
		*mem_add(of->wait, of->n_wait, of->cap_wait) = w.piece;
	return of;
}

/* Makes the lists of all threads and numbers their waits and wake-ups, which
 * ids need. */
static void sql_number(struct path_sql *s)
{
	int64_t waits = 0;
	int64_t wakes = 0;

	if (s->numbered)
		return;
	for (uint32_t i = 0; i < s->r.t->n_thread; i++) {
		const struct sql_list *of = sql_list_of(s, i);

		s->of[i].waits = waits;
		s->of[i].wakes = wakes;
		waits += (int64_t)of->n_wait;
		wakes += (int64_t)of->n_wake;
	}
	s->numbered = true;
}

/* ---- what waits are put down to */

COMPARE_LARGEST_BY(blame_compare, struct blame_row, sum.ns, thread, sum.thread,
		   sum.state, sum.proof);

COMPARE_FUNCTION_OF(blame_compare_places, uint32_t, struct blame_row,
		    blame_compare(&of[*x], &of[*y]));

/* Returns the blame rows of a thread, and makes them at the first request. */
static const struct blamed *blame_of(struct path_sql *s, uint32_t thread)
{
	struct blamed *of = &s->blamed[thread];
	struct path_walk at = { .thread = thread };
	struct path_wait w;

	if (of->made)
		return of;
	of->made = true;
	of->first = s->n_blame;
	while (path_next_of_thread(&s->r, &at, &w)) {
		struct chain c = { 0 };
		struct path_sum *sum;
		size_t n;

		path_chain(&s->r, w.thread, w.from, w.to, &c);
		sum = path_sums(NULL, &c, true, &n);
		for (size_t k = 0; k < n; k++) {
			const uint32_t key[3] = { sum[k].thread,
						  (uint32_t)sum[k].state,
						  (uint32_t)sum[k].proof };
			uint32_t id = intern_add_bytes(&s->blame_index, key,
						       sizeof(key));
			struct blame_row *row;

			if (id == of->n) {
				*mem_add(s->blame, s->n_blame, s->cap_blame) =
					(struct blame_row){ .thread = w.thread,
							    .sum = sum[k] };
				s->blame[of->first + of->n++].sum.ns = 0;
			}
			row = &s->blame[of->first + id];
			row->sum.ns += sum[k].ns;
			row->waits++;
		}
		free(sum);
		chain_release(&c);
	}
	sort_items(s->blame + of->first, of->n, blame_compare);
	intern_release(&s->blame_index);
	return of;
}

/* ---- parts that all tables share */

/* Returns the first requested item of a thread at or after `at`; VIRTUAL_END:
 * none. */
typedef size_t sql_seek_fn(struct path_sql *s, const struct virtual_ask *ask,
			   uint32_t thread, size_t at);

/* Returns the first requested row at or after `row`; VIRTUAL_END: none. */
static size_t sql_next(struct path_sql *s, const struct virtual_ask *ask,
		       size_t row, sql_seek_fn *seek)
{
	uint32_t thread = SQL_THREAD(row);
	uint32_t end = (uint32_t)s->r.t->n_thread;
	size_t at = SQL_ITEM(row);

	if (ask->by_tid) {
		uint32_t only = timeline_thread(s->r.t, causes_id(ask->tid));

		if (only == TIMELINE_NONE || thread > only)
			return VIRTUAL_END;
		at = thread < only ? 0 : at;
		thread = only;
		end = only + 1;
	}
	for (; thread < end; thread++, at = 0) {
		size_t item = seek(s, ask, thread, at);

		if (item != VIRTUAL_END)
			return SQL_ROW(thread, item);
	}
	return VIRTUAL_END;
}

/* Moves *row to the first requested row, in a table whose row numbers have
 * thread 0 for all rows in an order of their own, and thread + 1 for those of
 * one thread. Returns false if the requested thread does not exist. */
static bool sql_thread_row(const struct path_sql *s,
			   const struct virtual_ask *ask, size_t *row)
{
	uint32_t thread =
		ask->by_tid ? timeline_thread(s->r.t, causes_id(ask->tid)) : 0;

	if (thread == TIMELINE_NONE)
		return false;
	if (ask->by_tid && !SQL_THREAD(*row))
		*row = SQL_ROW(thread + 1u, 0);
	return true;
}

/* Returns the row with the requested id if it is at or after `row`; else
 * VIRTUAL_END. */
static size_t sql_row_of(struct path_sql *s, const struct virtual_ask *ask,
			 bool wakes, size_t row)
{
	const struct sql_list *of;
	size_t thread, item;

	sql_number(s);
	thread = search_where(s->r.t->n_thread, i,
			      (wakes ? s->of[i].wakes : s->of[i].waits) >=
				      ask->id);
	if (ask->id <= 0 || !thread--)
		return VIRTUAL_END;
	of = &s->of[thread];
	item = (size_t)(ask->id - 1 - (wakes ? of->wakes : of->waits));
	return item < (wakes ? of->n_wake : of->n_wait) &&
			       SQL_ROW(thread, item) >= row
		       ? SQL_ROW(thread, item)
		       : VIRTUAL_END;
}

/* Loads the data when a table is first read. Returns 0, or -1 and *err, which
 * ends the statement. */
static int sql_load(void *arg, struct err *err)
{
	struct path_sql *s = arg;

	if (s->loaded)
		return 0;
	if (path_open(&s->r, s->r.db, s->r.path, err))
		return -1;
	s->of = mem_new(s->r.t->n_thread + 1, sizeof(*s->of));
	s->blamed = mem_new(s->r.t->n_thread + 1, sizeof(*s->blamed));
	s->loaded = true;
	return 0;
}

/* A number for a column; NULL if it is not known. */
struct sql_known {
	int64_t n;
	bool known;
};

static void sql_int_if(struct value *v, const struct sql_known *number)
{
	if (number->known)
		virtual_int(v, number->n);
}

static void sql_text(struct value *v, const char *text)
{
	*v = (struct value){ .kind = VALUE_TEXT, .text = text };
}

/* Sets the id of the wake-up of an edge; NULL without an edge. */
static void sql_wake_id(struct path_sql *s, uint32_t thread, uint32_t edge,
			struct value *v)
{
	if (edge == TIMELINE_NONE)
		return;
	sql_number(s);
	virtual_int(v, s->of[thread].wakes + s->edge[edge].item);
}

/* ---- stay */

/* Finds the stay of a row. All stays are listed by their ends, including those
 * of idle CPUs with tid 0. */
static bool sql_stay(const struct path_sql *s, size_t row,
		     struct timeline_stay *out)
{
	uint32_t item = SQL_ITEM(row);
	struct numbers id = { .n = s->r.t->stay.n };

	if (SQL_THREAD(row))
		id = lists_get(&s->r.t->stays, SQL_THREAD(row) - 1);
	if (item >= id.n)
		return false;
	*out = timeline_stay(s->r.t, id.of ? numbers_get(&id, item) : item);
	return true;
}

/* Returns the first requested stay at or after `row`; VIRTUAL_END: none. */
static size_t sql_next_stay(void *arg, const struct virtual_ask *ask,
			    size_t row)
{
	const struct path_sql *s = arg;
	struct timeline_stay st;
	struct virtual_ask of = *ask;

	of.by_tid = of.by_tid && of.tid != 0;
	if (!sql_thread_row(s, &of, &row))
		return VIRTUAL_END;
	while (sql_stay(s, row, &st)) {
		if (st.to >= ask->low && st.from <= ask->high)
			return row;
		row++;
	}
	return VIRTUAL_END;
}

static void sql_stay_cell(void *arg, size_t row, int column, struct value *v)
{
	struct path_sql *s = arg;
	struct timeline_stay st;

	sql_stay(s, row, &st);
	const int64_t number[] = {
		[COMPUTED_STAY_TID] = timeline_tid(s->r.t, st.thread),
		[COMPUTED_STAY_CPU] = st.cpu,
		[COMPUTED_STAY_T0] = st.from,
		[COMPUTED_STAY_T1] = st.to,
		[COMPUTED_STAY_EXACT0] = st.exact_from,
		[COMPUTED_STAY_EXACT1] = st.exact_to,
	};

	if (column == COMPUTED_STAY_COMM)
		sql_text(v, path_comm(&s->r, st.thread));
	else if (column == COMPUTED_STAY_STATE)
		virtual_text(v, st.exact_to ? offcpu_state(st.state) : NULL);
	else if (column == COMPUTED_STAY_EVENT) {
		if (timeline_stay_out(&st))
			virtual_int(v, timeline_stay_out(&st));
	} else
		virtual_int(v, number[column]);
}

/* ---- state_interval */

static size_t sql_seek_interval(struct path_sql *s,
				const struct virtual_ask *ask, uint32_t thread,
				size_t at)
{
	const struct proofs *p = s->r.proofs;
	size_t n = proofs_pieces(s->r.proofs, thread);

	if (at < n && proofs_piece(p, thread, at).to < ask->low)
		at = search_where(n, i,
				  proofs_piece(p, thread, i).to >= ask->low);
	return at < n && proofs_piece(p, thread, at).from <= ask->high
		       ? at
		       : VIRTUAL_END;
}

static size_t sql_next_interval(void *arg, const struct virtual_ask *ask,
				size_t row)
{
	return sql_next(arg, ask, row, sql_seek_interval);
}

static void sql_interval_cell(void *arg, size_t row, int column,
			      struct value *v)
{
	struct path_sql *s = arg;
	uint32_t thread = SQL_THREAD(row);
	const struct proof_piece pc =
		proofs_piece(s->r.proofs, thread, SQL_ITEM(row));
	bool bounded = pc.from != TIMELINE_START && pc.to != TIMELINE_END;
	const struct sql_known number[] = {
		[COMPUTED_STATE_INTERVAL_TID] = { timeline_tid(s->r.t, thread),
						  true },
		[COMPUTED_STATE_INTERVAL_T0] = { pc.from,
						 pc.from != TIMELINE_START },
		[COMPUTED_STATE_INTERVAL_T1] = { pc.to, pc.to != TIMELINE_END },
		[COMPUTED_STATE_INTERVAL_NS] = { bounded ? pc.to - pc.from : 0,
						 bounded },
		[COMPUTED_STATE_INTERVAL_CPU] = { pc.cpu, pc.cpu >= 0 },
		[COMPUTED_STATE_INTERVAL_EVENT] = { pc.out, pc.out != 0 },
	};

	if (column == COMPUTED_STATE_INTERVAL_COMM)
		sql_text(v, path_comm(&s->r, thread));
	else if (column == COMPUTED_STATE_INTERVAL_STATE)
		sql_text(v, chain_state_word(chain_own(&pc)));
	else if (column == COMPUTED_STATE_INTERVAL_PROOF ||
		 column == COMPUTED_STATE_INTERVAL_PREMISE) {
		/* Proofs of
		 * all states but birth and death rest on the premise of the
		 * capture; a ready state may have its own. */
		const struct limits_answer held =
			proofs_held(s->r.proofs, thread, &pc);
		unsigned int own =
			pc.state == PIECE_READY ? limits_premises(&held) : 0;
		bool all = pc.state != PIECE_UNBORN && pc.state != PIECE_DEAD &&
			   causes_premise(s->r.causes).words;

		if (column == COMPUTED_STATE_INTERVAL_PROOF)
			sql_text(v, proof_key_of((enum proof)pc.proof,
						 all || own));
		else
			virtual_text(v, limits_keys(own));
	} else if (column == COMPUTED_STATE_INTERVAL_BEHIND) {
		/* who was longest on the CPU for which the thread was ready */
		struct occupant o;

		if (pc.state == PIECE_READY &&
		    account_occupant(s->r.t, pc.cpu, pc.from, pc.to, &o))
			virtual_int(v, timeline_tid(s->r.t, o.thread));
	} else if (column == COMPUTED_STATE_INTERVAL_WAKE)
		sql_wake_id(s, thread, pc.edge, v);
	else if (column == COMPUTED_STATE_INTERVAL_LOSS) {
		/* the first loss that may hide more in the piece, and has a
		 * row in table loss */
		const struct timeline_loss *l = NULL;

		while (pc.open && v->kind == VALUE_NULL &&
		       (l = timeline_next_loss_in(s->r.t, pc.from, pc.to, l))) {
			if (l->id)
				virtual_int(v, l->id);
		}
	} else {
		sql_int_if(v, &number[column]);
	}
}

/* ---- wake */

static size_t sql_seek_wake(struct path_sql *s, const struct virtual_ask *ask,
			    uint32_t thread, size_t at)
{
	const struct sql_list *of = sql_list_of(s, thread);

	for (; at < of->n_wake; at++) {
		const struct proof_edge e =
			proofs_edge(s->r.proofs, of->wake[at]);

		if (e.to >= ask->low && e.from <= ask->high)
			return at;
	}
	return VIRTUAL_END;
}

static size_t sql_next_wake(void *arg, const struct virtual_ask *ask,
			    size_t row)
{
	return ask->by_id ? sql_row_of(arg, ask, true, row)
			  : sql_next(arg, ask, row, sql_seek_wake);
}

static void sql_wake_cell(void *arg, size_t row, int column, struct value *v)
{
	struct path_sql *s = arg;
	uint32_t thread = SQL_THREAD(row);
	uint32_t edge = sql_list_of(s, thread)->wake[SQL_ITEM(row)];
	const struct proof_edge e = proofs_edge(s->r.proofs, edge);
	int32_t waker = path_edge_waker(&e);
	const struct sql_known number[] = {
		[COMPUTED_WAKE_TIME_NS] = { e.time, true },
		[COMPUTED_WAKE_CPU] = { e.cpu, e.cpu >= 0 },
		[COMPUTED_WAKE_T0] = { e.from, true },
		[COMPUTED_WAKE_T1] = { e.to, true },
		[COMPUTED_WAKE_EVENT] = { e.event, e.event != 0 },
		[COMPUTED_WAKE_TID] = { timeline_tid(s->r.t, e.waiter), true },
		[COMPUTED_WAKE_BY_TID] = { waker, waker > 0 },
		[COMPUTED_WAKE_CURRENT] = { e.waker, e.waker >= 0 },
	};

	if (column == COMPUTED_WAKE_ID)
		sql_wake_id(s, thread, edge, v);
	else if (column == COMPUTED_WAKE_CONTEXT)
		sql_text(v, path_context(e.context));
	else if (column == COMPUTED_WAKE_WHAT)
		virtual_text(v, wake_contexts_what(s->r.causes->contexts, &e));
	else if (column == COMPUTED_WAKE_KIND)
		sql_text(v, path_edge_kind(&e));
	else if (column == COMPUTED_WAKE_FUNCTION)
		/* the function of an interrupted thread did not wake anyone */
		virtual_text(v,
			     waker > 0 ? path_function(&s->r, e.event) : NULL);
	else if (column == COMPUTED_WAKE_PROOF)
		sql_text(v, proof_key_of(
				    (enum proof)s->edge[edge].link,
				    causes_wake_has_premise(s->r.causes, &e)));
	else if (column == COMPUTED_WAKE_COMM)
		sql_text(v, path_comm(&s->r, e.waiter));
	else if (column == COMPUTED_WAKE_BY_COMM && waker > 0)
		sql_text(v, causes_comm(s->r.causes, waker));
	else
		sql_int_if(v, &number[column]);
}

/* ---- wait */

/* Waits of a thread do not overlap, so the order of their ends is that of their
 * starts. */
static size_t sql_seek_wait(struct path_sql *s, const struct virtual_ask *ask,
			    uint32_t thread, size_t at)
{
	const struct sql_list *of = sql_list_of(s, thread);
	const struct proofs *p = s->r.proofs;
	size_t n = of->n_wait;

	if (at + 1 < n &&
	    proofs_piece(p, thread, of->wait[at + 1]).from <= ask->low)
		at = search_where(n, i,
				  proofs_piece(p, thread, of->wait[i]).from >
					  ask->low) -
		     1;
	return at < n && proofs_piece(p, thread, of->wait[at]).from <= ask->high
		       ? at
		       : VIRTUAL_END;
}

static size_t sql_next_wait(void *arg, const struct virtual_ask *ask,
			    size_t row)
{
	return ask->by_id ? sql_row_of(arg, ask, false, row)
			  : sql_next(arg, ask, row, sql_seek_wait);
}

static struct path_wait sql_wait_at(struct path_sql *s, size_t row)
{
	uint32_t thread = SQL_THREAD(row);
	size_t end;

	return path_wait_of(&s->r, thread,
			    sql_list_of(s, thread)->wait[SQL_ITEM(row)], &end);
}

/* Sums the proved time of a wait by state; the rest is unknown. */
static const struct sql_wait *sql_sum_wait(struct path_sql *s,
					   struct sql_wait *w)
{
	struct proofs *p = s->r.proofs;
	size_t n = proofs_pieces(p, w->w.thread);

	if (w->summed)
		return w;
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
	return w;
}

static void sql_wait_cell(void *arg, size_t row, int column, struct value *v)
{
	/* proved time of each state */
	static const enum piece_state part[] = {
		[COMPUTED_WAIT_BLOCKED_NS] = PIECE_BLOCKED,
		[COMPUTED_WAIT_READY_NS] = PIECE_READY,
		[COMPUTED_WAIT_OFF_NS] = PIECE_OFF,
		[COMPUTED_WAIT_THROTTLED_NS] = PIECE_THROTTLED,
		[COMPUTED_WAIT_NOT_RUN_NS] = PIECE_HELD,
		[COMPUTED_WAIT_UNKNOWN_NS] = PIECE_UNKNOWN,
	};
	struct path_sql *s = arg;
	struct sql_wait *at = &s->at;
	const struct path_wait *w = &at->w;

	if (at->row != row + 1)
		*at = (struct sql_wait){ .row = row + 1,
					 .w = sql_wait_at(s, row),
					 .edge = TIMELINE_NONE };
	const struct sql_known number[] = {
		[COMPUTED_WAIT_TID] = { timeline_tid(s->r.t, w->thread), true },
		[COMPUTED_WAIT_T0] = { w->from, true },
		[COMPUTED_WAIT_T1] = { w->to, true },
		[COMPUTED_WAIT_NS] = { w->to - w->from, true },
		[COMPUTED_WAIT_EVENT] = { w->out, w->out != 0 },
	};

	if (column == COMPUTED_WAIT_ID) {
		sql_number(s);
		virtual_int(v, s->of[w->thread].waits + SQL_ITEM(row) + 1);
	} else if (column == COMPUTED_WAIT_COMM)
		sql_text(v, path_comm(&s->r, w->thread));
	else if (column == COMPUTED_WAIT_STATE)
		sql_text(v, offcpu_state(w->bits));
	else if (column == COMPUTED_WAIT_FUNCTION)
		virtual_text(v, path_function(&s->r, w->out));
	else if (column == COMPUTED_WAIT_CAUSE)
		/* from the stack at its start */
		virtual_text(v, wait_cause_word(wait_causes_get(
					s->r.words, w->bits,
					causes_stack(s->r.causes, w->out))));
	else if (column == COMPUTED_WAIT_WAKE)
		sql_wake_id(s, w->thread, sql_sum_wait(s, at)->edge, v);
	else if (column >= COMPUTED_WAIT_PROVED_NS) {
		/* the chain of the wait is made once */
		if (!at->chained) {
			struct chain c = { 0 };
			struct path_sum *sum;
			size_t n;

			at->chained = true;
			path_chain(&s->r, at->w.thread, at->w.from, at->w.to,
				   &c);
			at->proved = path_with(&c, PROOF_PROVED);
			sum = path_sums(NULL, &c, true, &n);
			if (n)
				at->most = sum[0];
			free(sum);
			chain_release(&c);
		}
		if (column == COMPUTED_WAIT_PROVED_NS)
			virtual_int(v, (int64_t)at->proved);
		else if (column == COMPUTED_WAIT_BY_TID)
			virtual_int(v, timeline_tid(s->r.t, at->most.thread));
		else if (column == COMPUTED_WAIT_BY_COMM)
			sql_text(v, path_comm(&s->r, at->most.thread));
		else if (column == COMPUTED_WAIT_BY_STATE)
			sql_text(v, chain_state_word(at->most.state));
		else if (column == COMPUTED_WAIT_BY_NS)
			virtual_int(v, (int64_t)at->most.ns);
	} else if (column >= COMPUTED_WAIT_BLOCKED_NS)
		virtual_int(v, (int64_t)sql_sum_wait(s, at)->ns[part[column]]);
	else
		sql_int_if(v, &number[column]);
}

/* ---- blame */

/* Returns a row of blame, valid until the next call; NULL after the last
 * one. */
static const struct blame_row *sql_blame(struct path_sql *s, size_t row)
{
	const struct blamed *of =
		SQL_THREAD(row) ? blame_of(s, SQL_THREAD(row) - 1) : NULL;

	if (of)
		return SQL_ITEM(row) < of->n
			       ? &s->blame[of->first + SQL_ITEM(row)]
			       : NULL;
	if (!s->order) {
		for (uint32_t k = 0; k < s->r.t->n_thread; k++)
			blame_of(s, k);
		s->order = mem_new(s->n_blame + 1, sizeof(*s->order));
		for (size_t k = 0; k < s->n_blame; k++)
			s->order[k] = (uint32_t)k;
		sort_items_by(s->order, s->n_blame, blame_compare_places,
			      s->blame);
	}
	return row < s->n_blame ? &s->blame[s->order[row]] : NULL;
}

static size_t sql_next_blame(void *arg, const struct virtual_ask *ask,
			     size_t row)
{
	struct path_sql *s = arg;

	if (!sql_thread_row(s, ask, &row))
		return VIRTUAL_END;
	return sql_blame(s, row) ? row : VIRTUAL_END;
}

static void sql_blame_cell(void *arg, size_t row, int column, struct value *v)
{
	struct path_sql *s = arg;
	const struct blame_row *b = sql_blame(s, row);
	const int64_t number[] = {
		[COMPUTED_BLAME_TID] = timeline_tid(s->r.t, b->thread),
		[COMPUTED_BLAME_BY_TID] = timeline_tid(s->r.t, b->sum.thread),
		[COMPUTED_BLAME_NS] = (int64_t)b->sum.ns,
		[COMPUTED_BLAME_WAITS] = (int64_t)b->waits,
	};

	if (column == COMPUTED_BLAME_COMM)
		sql_text(v, path_comm(&s->r, b->thread));
	else if (column == COMPUTED_BLAME_BY_COMM)
		sql_text(v, path_comm(&s->r, b->sum.thread));
	else if (column == COMPUTED_BLAME_BY_STATE)
		sql_text(v, chain_state_word(b->sum.state));
	else if (column == COMPUTED_BLAME_PROOF)
		sql_text(v, proof_key_of(b->sum.proof,
					 causes_premise(s->r.causes).words));
	else
		virtual_int(v, number[column]);
}

/* ---- the tables */

/* Their columns are in schema/sql/computed.sql. */
static const struct virtual_table sql_tables[] = {
	{ "stay", false, sql_load, sql_next_stay, sql_stay_cell,
	  COMPUTED_STAY_TID, COMPUTED_STAY_T0, COMPUTED_STAY_T1 },
	{ "state_interval", false, sql_load, sql_next_interval,
	  sql_interval_cell, COMPUTED_STATE_INTERVAL_TID,
	  COMPUTED_STATE_INTERVAL_T0, COMPUTED_STATE_INTERVAL_T1 },
	{ "wake", true, sql_load, sql_next_wake, sql_wake_cell,
	  COMPUTED_WAKE_TID, COMPUTED_WAKE_T0, COMPUTED_WAKE_T1 },
	{ "wait", true, sql_load, sql_next_wait, sql_wait_cell,
	  COMPUTED_WAIT_TID, COMPUTED_WAIT_T0, COMPUTED_WAIT_T1 },
	{ "blame", false, sql_load, sql_next_blame, sql_blame_cell,
	  COMPUTED_BLAME_TID, 0, 0 },
};

struct path_sql *path_sql_new(struct store *db, const char *path,
			      struct err *err)
{
	struct path_sql *s = mem_new(1, sizeof(*s));

	s->ask.tid = s->ask.pid = -1;
	s->r.ask = &s->ask;
	s->r.db = db;
	s->r.path = path;
	if (!store_give_tables(db, sql_tables, ARRAY_SIZE(sql_tables), s, err))
		return s;
	path_sql_free(s);
	return NULL;
}

void path_sql_free(struct path_sql *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->of && i < s->r.t->n_thread; i++)
		free_all(s->of[i].wait, s->of[i].wake);
	free_all(s->of, s->edge, s->blame, s->blamed, s->order);
	path_close(&s->r);
	free(s);
}
