/* merge_read.c - the events of a database that is merged, many at a time.
 *
 * An aggregate function of ours takes the values of the rows: SQLite gives them
 * to it for a third of the time that a row costs which is returned. A statement
 * covers a range of ids, so that databases that overlap in time can be read by
 * turns. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"

#define EVENTS 1024 /* ids of a range */

struct merge_reader {
	struct store *db; /* borrowed */
	sqlite3_stmt *st;
	struct merge_event *event;
	size_t n, at;
	int64_t last; /* id of the last event */
	int64_t from; /* first id of the next range */
	bool bad;     /* the ids are not those of the range, in order */
};

static void merge_read_take(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct merge_reader *r = sqlite3_user_data(ctx);
	struct merge_event *e = &r->event[r->n];
	int64_t id = sqlite3_value_int64(v[MERGE_EVENT_ID]);

	if (r->n == EVENTS || id <= r->last) {
		r->bad = true;
		return;
	}
	r->n++;
	r->last = id;
	e->known = 0;
	e->v[MERGE_EVENT_ID] = id;
	for (int i = 0; i < n && i < MERGE_EVENT_VALUES; i++) {
		if (sqlite3_value_type(v[i]) != SQLITE_INTEGER)
			continue;
		e->v[i] = sqlite3_value_int64(v[i]);
		e->known |= 1u << i;
	}
}

static void merge_read_end(sqlite3_context *ctx)
{
	sqlite3_result_null(ctx);
}

int merge_read_register(struct store *db, struct merge_reader *r,
			struct err *err)
{
	int rc = sqlite3_create_function_v2(
		db->db, "merge_take", MERGE_EVENT_VALUES, SQLITE_UTF8, r, NULL,
		merge_read_take, merge_read_end, NULL);

	return rc ? db_error(db, rc, err) : 0;
}

struct merge_reader *merge_read_open(struct store *db, struct err *err)
{
	struct merge_reader *r = mem_new(1, sizeof(*r));

	r->db = db;
	r->last = r->from = INT64_MIN;
	r->event = mem_new(EVENTS, sizeof(*r->event));
	if (!merge_read_register(db, r, err))
		r->st = db_prepare(db, store_sql("merge_take_events"), err);
	if (r->st)
		return r;
	merge_read_close(r);
	return NULL;
}

void merge_read_close(struct merge_reader *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->st);
	free(r->event);
	free(r);
}

/* Finds the next id. Returns 1, 0 if there is none, -1 and *err. */
static int merge_read_seek(struct merge_reader *r, struct err *err)
{
	const struct value from = { .kind = VALUE_INT, .num = r->from };
	struct rows *rows =
		rows_open(r->db, store_sql("merge_next_id"), &from, 1, err);
	int ret = rows ? rows_next(rows, err) : -1;

	if (ret > 0 && rows_value(rows, MERGE_NEXT_ID_ID).kind != VALUE_INT)
		ret = 0;
	if (ret > 0)
		r->from = rows_int(rows, MERGE_NEXT_ID_ID);
	rows_close(rows);
	return ret;
}

/* Reads the next range that has events. */
static int merge_read_more(struct merge_reader *r, struct err *err)
{
	int ret = merge_read_seek(r, err);
	int64_t to;

	if (ret <= 0)
		return ret;
	if (__builtin_add_overflow(r->from, EVENTS - 1, &to))
		to = INT64_MAX;
	r->n = r->at = 0;
	sqlite3_bind_int64(r->st, 1, r->from);
	sqlite3_bind_int64(r->st, 2, to);
	if (db_step(r->db, r->st, err))
		return -1;
	if (r->bad || !r->n)
		return err_set(err, ERR_DB,
			       "%s: the database is damaged: the ids of its "
			       "events are not in order",
			       r->db->path);
	r->from = to == INT64_MAX ? to : to + 1;
	return 1;
}

int merge_read_next(struct merge_reader *r, const struct merge_event **out,
		    struct err *err)
{
	if (r->at == r->n) {
		int ret = merge_read_more(r, err);

		if (ret <= 0)
			return ret;
	}
	*out = &r->event[r->at++];
	return 1;
}
