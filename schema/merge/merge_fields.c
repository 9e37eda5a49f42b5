/* merge_fields.c - the fields of events of databases that are merged: the
 * ev_ table of an event has the columns of all of them. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"

static int merge_fields_copy(struct merge *m, struct merge_part *p,
			     const char *name, const char *event,
			     struct err *err)
{
	const struct value of_table = { .kind = VALUE_TEXT, .text = name };
	/* by column of the part's table: where it is in the result, and if it
	 * has ids of lists of addresses */
	unsigned int at[BULK_COLUMNS];
	bool is_stack[BULK_COLUMNS];
	size_t n = 1; /* event_id */
	unsigned int ev, table;
	struct rows *r;

	if (fields_reach_table(m->db, event, &ev, &table, err))
		return -1;
	r = rows_open(p->db, store_sql("merge_ev_columns"), &of_table, 1, err);
	for (; rows_step(r) && n < BULK_COLUMNS; n++) {
		is_stack[n] = rows_int(r, MERGE_EV_COLUMNS_IS_STACK) != 0;
		if (fields_reach_column(m->db, ev,
					rows_text(r, MERGE_EV_COLUMNS_NAME),
					is_stack[n], &at[n], err))
			return rows_stop(r);
	}
	if (rows_end(r, err))
		return -1;

	char *sql =
		sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY event_id", name);

	r = sql ? rows_open(p->db, sql, NULL, 0, err) : NULL;
	sqlite3_free(sql);
	while (rows_step(r)) {
		uint32_t id = merge_part_event(p, rows_int(r, MERGE_ID));
		size_t bytes = 0;
		struct row row;

		if (!id)
			continue;
		for (size_t i = 1; i < n; i++)
			bytes += rows_value(r, i).len;
		if (db_row(m->db, table, bytes, &row, err))
			return rows_stop(r);
		row_int(&row, 0, id);
		for (size_t i = 1; i < n; i++) {
			struct value v = rows_value(r, i);

			if (!at[i])
				continue;
			if (is_stack[i] && v.kind == VALUE_INT)
				row_id(&row, at[i],
				       merge_map_get(&p->map[MERGE_RAW],
						     v.num));
			else
				row_value(&row, at[i], &v);
		}
	}
	return rows_end(r, err);
}

/* Tells a type the name that its table has now. */
static int merge_fields_rename(struct merge *m, struct merge_part *p UNUSED,
			       const struct rows *r, struct value *v,
			       struct err *err)
{
	return fields_name_type(m->db, (uint32_t)v[MERGE_EV_TYPES_ID].num,
				rows_text(r, MERGE_EV_TYPES_EVENT), err);
}

int merge_fields_take(struct merge *m, struct merge_part *p, struct err *err)
{
	static const struct merge_copy types = { "merge_ev_types",
						 .kind = MERGE_TYPE,
						 .take = merge_fields_rename };
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
	return any ? merge_copy_rows(m, p, &types, 1, err) : 0;
}
