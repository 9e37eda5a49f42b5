/* merge_join.c - requests that waited when their capture ended get the chain
 * that the next capture has, and those that were made after their chain get the
 * one that the capture before has.
 *
 * A cookie is the CPU and a counter since the boot, so that of two captures of
 * one boot (see merge_boots) the same cookie of the same thread id is the same
 * stay in the kernel, if the chain is the later one, or is less than a second
 * earlier, in which no counter wraps. For the same reason a
 * counter that another such capture has is not missing, and a request that an
 * earlier capture has was the first of its cookie. */
#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/verdict.h"

/* Moves the sample to the group that it belongs to now. */
static void join_regroup(struct merge *m, const struct rows *r)
{
	struct merge_group g = {
		.type = (uint32_t)rows_int(r, MERGE_JOINS_TYPE),
		.comm = (uint32_t)rows_int(r, MERGE_JOINS_COMM),
		.kernel = (uint32_t)rows_int(r, MERGE_JOINS_KERNEL),
		.mark = merge_group_mark(rows_int(r, MERGE_JOINS_VERDICT)),
		.kernel_mark = (int32_t)rows_int(r, MERGE_JOINS_KERNEL_MARK),
		.weighs = rows_value(r, MERGE_JOINS_WEIGHT).kind == VALUE_INT,
	};
	int64_t weight = rows_int(r, MERGE_JOINS_WEIGHT);

	merge_groups_leave(m->groups, &g, weight);
	merge_group_join(&g, (uint32_t)rows_int(r, MERGE_JOINS_USER),
			 rows_value(r, MERGE_JOINS_EXEC_NS).kind != VALUE_NULL);
	merge_groups_add(m->groups, &g, weight, 1);
}

/* Joins each request that waits with the chain that another capture has. */
static int join_open(struct merge *m, struct err *err)
{
	struct writing *w = m->db->w;
	sqlite3_stmt *request = NULL, *chain = NULL;
	struct rows *r = NULL;
	int rc = 0;

	if (db_exec(m->db, store_sql("merge_join_begin"), err))
		return -1;
	request = db_prepare(m->db, store_sql("merge_join_request"), err);
	if (request)
		chain = db_prepare(m->db, store_sql("merge_join_chain"), err);
	if (chain)
		r = rows_of(m->db, "merge_joins", err);
	while (!rc && rows_step(r)) {
		bool exec =
			rows_value(r, MERGE_JOINS_EXEC_NS).kind != VALUE_NULL;
		bool other = rows_int(r, MERGE_JOINS_OTHER) != 0;
		int64_t latency = rows_int(r, MERGE_JOINS_LATENCY_NS);
		int64_t uraw = rows_int(r, MERGE_JOINS_URAW);
		uint32_t id = (uint32_t)rows_int(r, MERGE_JOINS_CHAIN);

		sqlite3_bind_int64(request, 1, rows_int(r, MERGE_JOINS_EVENT));
		sqlite3_bind_int64(request, 2, rows_int(r, MERGE_JOINS_CHAIN));
		sqlite3_bind_int64(request, 3,
				   uraw > 0 ? REQ_MATCHED : REQ_EMPTY);
		sqlite3_bind_int64(request, 4, CONF_PROVED);
		sqlite3_bind_int64(request, 5,
				   (exec ? VERDICT_EXEC : 0) |
					   (other ? VERDICT_OTHER_CAPTURE : 0) |
					   (latency < 0 ? VERDICT_AFTER : 0) |
					   VERDICT_MERGED);
		sqlite3_bind_int64(request, 6, latency);
		db_bind_known(request, 7, exec,
			      rows_int(r, MERGE_JOINS_EXEC_NS));
		db_bind_known(request, 8, uraw > 0, uraw);
		sqlite3_bind_int64(chain, 1, rows_int(r, MERGE_JOINS_CHAIN));
		sqlite3_bind_int64(chain, 2, CHAIN_USED);
		sqlite3_bind_int64(chain, 3, CONF_PROVED);
		if (db_step(m->db, request, err) ||
		    db_step(m->db, chain, err)) {
			rc = -1;
			break;
		}
		join_regroup(m, r);
		m->joined++;
		w->joined++;
		w->chain_events++;
		if (id > w->max_chain)
			w->max_chain = id;
	}
	rc = rc ? rows_stop(r) : rows_end(r, err);
	sqlite3_finalize(request);
	sqlite3_finalize(chain);
	return rc ? rc : db_exec(m->db, store_sql("merge_join_end"), err);
}

/* Joins halves of different captures. */
static int join_captures(struct merge *m, struct err *err)
{
	int64_t open, kin;

	if (db_number(m->db, store_sql("merge_has_open"), &open, err) ||
	    db_number(m->db, store_sql("merge_has_kin"), &kin, err))
		return -1;
	if (!open && !kin)
		return 0;
	if (db_exec(m->db, store_sql("merge_boots"), err) ||
	    (open && join_open(m, err)) ||
	    (kin && db_exec(m->db, store_sql("merge_kin"), err)))
		return -1;
	return db_exec(m->db, store_sql("merge_boots_end"), err);
}

int merge_join(struct merge *m, struct err *err)
{
	return merge_settle_open(m, err) || join_captures(m, err) ||
			       merge_settle(m, err)
		       ? -1
		       : 0;
}
