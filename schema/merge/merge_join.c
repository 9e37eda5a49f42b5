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
#include "stitch/base/err.h"
#include "stitch/verdict.h"

/* The statements that change rows, and what is known of the next change. */
struct join_pass {
	sqlite3_stmt *request, *chain;
};

static int join_change(struct merge *m, const struct join_pass *jp,
		       const struct rows *r, struct err *err)
{
	bool exec = rows_value(r, MERGE_JOINS_EXEC_NS).kind != VALUE_NULL;
	bool other = rows_int(r, MERGE_JOINS_OTHER) != 0;
	int64_t latency = rows_int(r, MERGE_JOINS_LATENCY_NS);
	sqlite3_stmt *st = jp->request;

	sqlite3_bind_int64(st, 1, rows_int(r, MERGE_JOINS_EVENT));
	sqlite3_bind_int64(st, 2, rows_int(r, MERGE_JOINS_CHAIN));
	sqlite3_bind_int64(st, 3,
			   rows_int(r, MERGE_JOINS_URAW) > 0 ? REQ_MATCHED
							     : REQ_EMPTY);
	sqlite3_bind_int64(st, 4, CONF_PROVED);
	sqlite3_bind_int64(st, 5,
			   (exec ? VERDICT_EXEC : 0) |
				   (other ? VERDICT_OTHER_CAPTURE : 0) |
				   (latency < 0 ? VERDICT_AFTER : 0) |
				   VERDICT_MERGED);
	sqlite3_bind_int64(st, 6, latency);
	db_bind_known(st, 7, exec, rows_int(r, MERGE_JOINS_EXEC_NS));
	db_bind_known(st, 8, rows_int(r, MERGE_JOINS_URAW) > 0,
		      rows_int(r, MERGE_JOINS_URAW));
	if (db_step(m->db, st, err))
		return -1;
	sqlite3_bind_int64(jp->chain, 1, rows_int(r, MERGE_JOINS_CHAIN));
	sqlite3_bind_int64(jp->chain, 2, CHAIN_USED);
	sqlite3_bind_int64(jp->chain, 3, CONF_PROVED);
	return db_step(m->db, jp->chain, err);
}

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

static int join_open(struct merge *m, struct err *err)
{
	struct join_pass jp = { NULL, NULL };
	struct writing *w = m->db->w;
	struct rows *r = NULL;
	int rc = 0;

	if (db_exec(m->db, store_sql("merge_join_begin"), err))
		return -1;
	jp.request = db_prepare(m->db, store_sql("merge_join_request"), err);
	if (jp.request)
		jp.chain =
			db_prepare(m->db, store_sql("merge_join_chain"), err);
	if (jp.chain)
		r = rows_of(m->db, "merge_joins", err);
	while (rows_step(r)) {
		uint32_t chain = (uint32_t)rows_int(r, MERGE_JOINS_CHAIN);

		rc = join_change(m, &jp, r, err);
		if (rc)
			break;
		join_regroup(m, r);
		m->joined++;
		w->joined++;
		w->chain_events++;
		if (chain > w->max_chain)
			w->max_chain = chain;
	}
	rc = rc ? rows_stop(r) : rows_end(r, err);
	sqlite3_finalize(jp.request);
	sqlite3_finalize(jp.chain);
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
