/* interval_sql.c - the intervals of a database as a table for SQL. It keeps all
 * of them, in 136 bytes each. */
#include "analyze/latency/interval_sql.h"

#include "analyze/latency/intervals.h"
#include "schema/columns.h"
#include "schema/db/virtual_tables.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct interval_sql {
	struct store *db;
	const char *path;
	struct intervals_ask ask;
	struct intervals *iv;
	struct interval *row;
	size_t n, cap;
	struct intervals_counter *counter;
	size_t n_counter, cap_counter;
	char premise[64]; /* of the last row that was read */
	bool loaded;
};

static void interval_sql_keep(void *arg, const struct interval *i)
{
	struct interval_sql *s = arg;

	*mem_add(s->row, s->n, s->cap) = *i;
}

static void interval_sql_keep_inside(void *arg, uint64_t call, uint64_t of)
{
	struct interval_sql *s = arg;

	s->row[call - 1].inside = of;
}

static void interval_sql_keep_counter(void *arg,
				      const struct intervals_counter *c)
{
	struct interval_sql *s = arg;

	*mem_add(s->counter, s->n_counter, s->cap_counter) = *c;
}

/* Reads the intervals, once. A failure ends the statement. */
static int interval_sql_load(void *arg, struct err *err)
{
	struct interval_sql *s = arg;

	if (s->loaded)
		return 0;
	s->iv = intervals_open(s->db, s->path, &s->ask, err);
	if (s->iv) {
		s->iv->inside = interval_sql_keep_inside;
		s->iv->counter = interval_sql_keep_counter;
	}
	if (!s->iv || intervals_each(s->iv, interval_sql_keep, s, err))
		return -1;
	s->loaded = true;
	return 0;
}

/* Returns the next row that matches `ask`. The rows are in the order in which
 * they were reported; their ids count from 1. */
static size_t interval_sql_next(void *arg, const struct virtual_ask *ask,
				size_t row)
{
	const struct interval_sql *s = arg;

	if (ask->by_id) {
		if (ask->id < 1 || (uint64_t)ask->id > s->n ||
		    (size_t)ask->id - 1 < row)
			return VIRTUAL_END;
		return (size_t)ask->id - 1;
	}
	for (; row < s->n; row++) {
		const struct interval *i = &s->row[row];
		int64_t from = i->begin != INTERVAL_NEVER ? i->begin : i->end;
		int64_t to = i->end != INTERVAL_NEVER ? i->end : i->begin;

		if (to >= ask->low && from <= ask->high &&
		    (!ask->by_tid ||
		     intervals_thread(s->iv, i->thread)->tid == ask->tid))
			return row;
	}
	return VIRTUAL_END;
}

/* Returns the words for the premises of a proved interval, borrowed. */
static const char *interval_sql_premise(struct interval_sql *s,
					const struct interval *i)
{
	size_t n = 0;

	s->premise[0] = '\0';
	for (uint8_t bit = 0; bit < INTERVAL_PREMISES; bit++)
		if (i->verdict == INTERVAL_PROVED && i->premise >> bit & 1)
			n += (size_t)snprintf(
				s->premise + n, sizeof(s->premise) - n, "%s%s",
				n ? ", " : "", interval_premise_word(bit));
	return s->premise;
}

/* Stores the value of a column of table interval; NULL if not known. */
static void interval_sql_cell(void *arg, size_t row, int column,
			      struct value *v)
{
	const struct interval_sql *s = arg;
	const struct interval *i = &s->row[row];
	const struct intervals_thread *t = intervals_thread(s->iv, i->thread);
	const struct interval_range range =
		interval_range(i, s->iv->sums.first, s->iv->sums.last);
	const bool is_pair = i->verdict == INTERVAL_CONSISTENT ||
			     i->verdict == INTERVAL_AMBIGUOUS;
	const bool is_timed =
		i->begin != INTERVAL_NEVER && i->end != INTERVAL_NEVER;
	const struct {
		int64_t n;
		bool known;
	} number[] = {
		[COMPUTED_INTERVAL_ID] = { (int64_t)row + 1, true },
		[COMPUTED_INTERVAL_KEY] = { i->key,
					    !intervals_is_text(i->key) },
		[COMPUTED_INTERVAL_THREAD] = { i->thread, i->thread != 0 },
		[COMPUTED_INTERVAL_TID] = { t->tid, t->tid >= 0 },
		[COMPUTED_INTERVAL_CPU] = { i->cpu, i->cpu >= 0 },
		[COMPUTED_INTERVAL_T0] = { i->begin,
					   i->begin != INTERVAL_NEVER },
		[COMPUTED_INTERVAL_T1] = { i->end, i->end != INTERVAL_NEVER },
		[COMPUTED_INTERVAL_NS] = { interval_ns(i),
					   i->verdict == INTERVAL_PROVED ||
						   (is_pair && is_timed) },
		[COMPUTED_INTERVAL_LEAST_NS] = { range.least, true },
		[COMPUTED_INTERVAL_MOST_NS] = { range.most,
						range.most < INT64_MAX },
		[COMPUTED_INTERVAL_RET] = { i->ret, i->has_ret },
		[COMPUTED_INTERVAL_EVENT] = { i->begin_event,
					      i->begin_event != 0 },
		[COMPUTED_INTERVAL_END_EVENT] = { i->end_event,
						  i->end_event != 0 },
		[COMPUTED_INTERVAL_LOSS] = { i->loss, i->loss != 0 },
	};

	switch (column) {
	case COMPUTED_INTERVAL_KIND:
		virtual_text(v, s->iv->pair[i->pair].kind->word);
		break;
	case COMPUTED_INTERVAL_NAME:
		virtual_text(v, intern_get(&s->iv->names, i->name));
		break;
	case COMPUTED_INTERVAL_COMM:
		virtual_text(v, t->comm);
		break;
	case COMPUTED_INTERVAL_VERDICT:
		virtual_text(v, interval_verdict_word(i->verdict));
		break;
	case COMPUTED_INTERVAL_PREMISE:
		virtual_text(v, interval_sql_premise(arg, i));
		break;
	case COMPUTED_INTERVAL_REASON:
		virtual_text(v, interval_reason_word(i->reason));
		break;
	default:
		if (number[column].known)
			virtual_int(v, number[column].n);
	}
}

/* As interval_sql_next(), of the calls whose caller is recorded. */
static size_t interval_sql_next_call(void *arg, const struct virtual_ask *ask,
				     size_t row)
{
	const struct interval_sql *s = arg;

	for (; (row = interval_sql_next(arg, ask, row)) != VIRTUAL_END; row++)
		if (s->iv->pair[s->row[row].pair].kind->again == PAIR_NEST)
			break;
	return row;
}

/* Stores the value of a column of table call. */
static void interval_sql_call_cell(void *arg, size_t row, int column,
				   struct value *v)
{
	static const int as[] = {
		[COMPUTED_CALL_ID] = COMPUTED_INTERVAL_ID,
		[COMPUTED_CALL_KIND] = COMPUTED_INTERVAL_KIND,
		[COMPUTED_CALL_NAME] = COMPUTED_INTERVAL_NAME,
		[COMPUTED_CALL_THREAD] = COMPUTED_INTERVAL_THREAD,
		[COMPUTED_CALL_TID] = COMPUTED_INTERVAL_TID,
		[COMPUTED_CALL_COMM] = COMPUTED_INTERVAL_COMM,
		[COMPUTED_CALL_CPU] = COMPUTED_INTERVAL_CPU,
		[COMPUTED_CALL_T0] = COMPUTED_INTERVAL_T0,
		[COMPUTED_CALL_T1] = COMPUTED_INTERVAL_T1,
		[COMPUTED_CALL_NS] = COMPUTED_INTERVAL_NS,
		[COMPUTED_CALL_RET] = COMPUTED_INTERVAL_RET,
		[COMPUTED_CALL_EVENT] = COMPUTED_INTERVAL_EVENT,
		[COMPUTED_CALL_END_EVENT] = COMPUTED_INTERVAL_END_EVENT,
		[COMPUTED_CALL_VERDICT] = COMPUTED_INTERVAL_VERDICT,
		[COMPUTED_CALL_REASON] = COMPUTED_INTERVAL_REASON,
		[COMPUTED_CALL_LOSS] = COMPUTED_INTERVAL_LOSS,
	};
	const struct interval_sql *s = arg;
	const struct interval *i = &s->row[row];

	if (column == COMPUTED_CALL_DEPTH)
		virtual_int(v, i->depth);
	else if (column == COMPUTED_CALL_SELF_NS && i->whole)
		virtual_int(v, i->self);
	else if (column == COMPUTED_CALL_PARENT && i->inside)
		virtual_int(v, (int64_t)i->inside);
	else if (column != COMPUTED_CALL_SELF_NS &&
		 column != COMPUTED_CALL_PARENT)
		interval_sql_cell(arg, row, as[column], v);
}

static size_t
interval_sql_next_counter(void *arg, const struct virtual_ask *ask, size_t row)
{
	const struct interval_sql *s = arg;

	for (; row < s->n_counter; row++) {
		const struct intervals_counter *c = &s->counter[row];

		if (c->time >= ask->low && c->time <= ask->high &&
		    (!ask->by_tid ||
		     intervals_thread(s->iv, c->thread)->tid == ask->tid))
			return row;
	}
	return VIRTUAL_END;
}

/* Stores the value of a column of table counter. */
static void interval_sql_counter_cell(void *arg, size_t row, int column,
				      struct value *v)
{
	const struct interval_sql *s = arg;
	const struct intervals_counter *c = &s->counter[row];
	const struct intervals_thread *t = intervals_thread(s->iv, c->thread);

	const int64_t number[] = {
		[COMPUTED_COUNTER_TIME_NS] = c->time,
		[COMPUTED_COUNTER_PID] = c->pid,
		[COMPUTED_COUNTER_VALUE] = c->value,
		[COMPUTED_COUNTER_EVENT] = c->event,
		[COMPUTED_COUNTER_TID] = t->tid,
	};

	if (column == COMPUTED_COUNTER_NAME)
		virtual_text(v, intern_get(&s->iv->names, c->name));
	else if (column == COMPUTED_COUNTER_COMM)
		virtual_text(v, t->comm);
	else
		virtual_int(v, number[column]);
}

/* The columns of these tables are in schema/sql/computed.sql. */
static const struct virtual_table interval_tables[] = {
	{ "interval", true, interval_sql_load, interval_sql_next,
	  interval_sql_cell, COMPUTED_INTERVAL_TID, COMPUTED_INTERVAL_T0,
	  COMPUTED_INTERVAL_T1 },
	{ "call", true, interval_sql_load, interval_sql_next_call,
	  interval_sql_call_cell, COMPUTED_CALL_TID, COMPUTED_CALL_T0,
	  COMPUTED_CALL_T1 },
	{ "counter", false, interval_sql_load, interval_sql_next_counter,
	  interval_sql_counter_cell, COMPUTED_COUNTER_TID,
	  COMPUTED_COUNTER_TIME_NS, COMPUTED_COUNTER_TIME_NS },
};

struct interval_sql *interval_sql_new(struct store *db, const char *path,
				      struct err *err)
{
	struct interval_sql *s = mem_new(1, sizeof(*s));

	s->db = db;
	s->path = path;
	s->ask.any = true;
	if (!store_give_tables(db, interval_tables, ARRAY_SIZE(interval_tables),
			       s, err))
		return s;
	interval_sql_free(s);
	return NULL;
}

void interval_sql_free(struct interval_sql *s)
{
	if (!s)
		return;
	intervals_close(s->iv);
	free_all(s->row, s->counter, s);
}
