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
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"

/* Joins each request that waits with the chain that another capture has. */
static int join_open(struct merge *m, struct err *err)
{
	return db_exec(m->db, store_sql("merge_join_begin"), err) ||
			       db_exec(m->db, store_sql("merge_join_verdicts"),
				       err) ||
			       merge_apply(m, err)
		       ? -1
		       : db_exec(m->db, store_sql("merge_join_end"), err);
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
	return db_exec(m->db, store_sql("merge_verdicts_begin"), err) ||
			       merge_settle_open(m, err) ||
			       join_captures(m, err) || merge_settle(m, err)
		       ? -1
		       : db_exec(m->db, store_sql("merge_verdicts_end"), err);
}
