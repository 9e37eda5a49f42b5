/* merge_fields.c - the fields of events of databases that are merged: the
 * ev_ table of an event has the columns of all of them. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"

/* The columns of a part's table: where they are in the result, and which are
 * ids of lists of addresses. */
struct field_columns {
	unsigned int at[BULK_COLUMNS];
	bool is_stack[BULK_COLUMNS];
	size_t n;
};

/* Finds or makes the columns. */
static int merge_fields_columns(struct merge *m, struct merge_part *p,
				const char *table, unsigned int ev,
				struct field_columns *out, struct err *err)
{
	const struct value name = { .kind = VALUE_TEXT, .text = table };
	struct rows *r =
		rows_open(p->db, store_sql("merge_ev_columns"), &name, 1, err);

	out->n = 1; /* event_id */
	while (rows_step(r) && out->n < BULK_COLUMNS) {
		const char *column = rows_text(r, MERGE_EV_COLUMNS_NAME);
		bool stack = rows_int(r, MERGE_EV_COLUMNS_IS_STACK) != 0;

		out->is_stack[out->n] = stack;
		if (fields_reach_column(m->db, ev, column, stack,
					&out->at[out->n++], err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

static int merge_fields_copy(struct merge *m, struct merge_part *p,
			     const char *name, const char *event,
			     struct err *err)
{
	struct field_columns f = { .n = 0 };
	unsigned int ev, table;
	struct rows *r = NULL;
	char *sql = NULL;

	if (fields_reach_table(m->db, event, &ev, &table, err) ||
	    merge_fields_columns(m, p, name, ev, &f, err))
		return -1;
	sql = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY event_id", name);
	if (sql)
		r = rows_open(p->db, sql, NULL, 0, err);
	sqlite3_free(sql);
	while (rows_step(r)) {
		uint32_t id = merge_part_event(p, rows_int(r, MERGE_ID));
		struct row row;

		if (!id)
			continue;
		if (db_row(m->db, table, merge_row_bytes(r), &row, err))
			return rows_stop(r);
		row_int(&row, 0, id);
		for (size_t i = 1; i < f.n; i++) {
			struct value v = rows_value(r, i);

			if (!f.at[i])
				continue;
			if (f.is_stack[i] && v.kind == VALUE_INT)
				row_id(&row, f.at[i],
				       merge_map_get(&p->map[MERGE_RAW],
						     v.num));
			else
				merge_put_value(&row, f.at[i], &v);
		}
	}
	return rows_end(r, err);
}

/* Tells the types of a part the name that their table has now. */
static int merge_fields_rename(struct merge *m, struct merge_part *p,
			       struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_ev_types", err);

	while (rows_step(r)) {
		uint32_t type = merge_map_get(&p->map[MERGE_TYPE],
					      rows_int(r, MERGE_EV_TYPES_ID));

		if (type &&
		    fields_name_type(m->db, type,
				     rows_text(r, MERGE_EV_TYPES_EVENT), err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

int merge_fields_take(struct merge *m, struct merge_part *p, struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_ev_tables", err);
	bool any = false;

	while (rows_step(r)) {
		any = true;
		if (merge_fields_copy(m, p, rows_text(r, MERGE_EV_TABLES_NAME),
				      rows_text(r, MERGE_EV_TABLES_EVENT), err))
			return rows_stop(r);
	}
	if (rows_end(r, err))
		return -1;
	return any ? merge_fields_rename(m, p, err) : 0;
}
