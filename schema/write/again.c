/* again.c - user stacks that are another after the last record than when they
 * were stored. */

#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"

/* A stack of an event (kind 0) or a chain (1), and its new raw chain. */
struct again_row {
	int64_t kind, id;
	uint32_t raw;
};

struct again_rows {
	struct again_row *row;
	size_t n, cap;
};

/* Runs the statements that use the new raw chains. */
static int again_apply(struct maker *mk, const struct again_rows *rows,
		       struct err *err)
{
	if (flush_frames(mk, err) ||
	    maker_exec(mk, store_sql("again_table"), err) ||
	    PUT_EACH(mk, store_sql("put_again"), err, rows->n, i,
		     VALUE_OF(rows->row[i].kind), VALUE_OF(rows->row[i].id),
		     VALUE_OF(rows->row[i].raw)) ||
	    maker_exec(mk, store_sql("again_events"), err) ||
	    maker_exec(mk, store_sql("again_chains"), err) ||
	    maker_exec(mk, store_sql("again_requests"), err) ||
	    maker_exec(mk, "DELETE FROM sample_group", err) ||
	    maker_exec(mk, "DROP TABLE temp.again", err))
		return -1;
	return sample_groups_make(mk, err);
}

int store_again(struct maker *mk, int64_t from, int64_t until,
		store_again_fn *fn, void *arg, struct err *err)
{
	struct again_rows rows = { 0 };
	int rc = -1;

	if (!flush_frames(mk, err) && !tables_link(mk, err)) {
		/* Asks fn about each stack. The connection serves one
		 * statement at a time, so that the answers are kept. */
		struct rows *r = ROWS_BY(maker_read(mk, err), "again_stacks",
					 err, from, until);

		while (rows_step(r)) {
			uint32_t raw = (uint32_t)rows_int(r, AGAIN_STACKS_URAW);
			uint32_t now =
				fn(arg,
				   (unsigned int)rows_int(
					   r, AGAIN_STACKS_CAPTURE) -
					   1,
				   (uint32_t)rows_int(r, AGAIN_STACKS_PROCESS),
				   rows_int(r, AGAIN_STACKS_TIME_NS), raw);

			if (now == raw)
				continue;
			*mem_add(rows.row, rows.n, rows.cap) =
				(struct again_row){
					.kind = rows_int(r, AGAIN_STACKS_KIND),
					.id = rows_int(r, AGAIN_STACKS_ID),
					.raw = now,
				};
		}
		rc = rows_end(r, err);
	}
	if (!rc && rows.n)
		rc = again_apply(mk, &rows, err);
	free(rows.row);
	return rc;
}
