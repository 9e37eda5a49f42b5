/* merge_verdicts.c - new verdicts of requests into their rows, their chains,
 * and the groups of their samples. */
#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/verdict.h"

/* Sets the part of a group that the verdict tells. */
static void verdicts_set_user(struct merge_group *g, int64_t verdict,
			      int64_t user, bool after_exec)
{
	g->user = 0;
	g->mark = merge_group_mark(verdict);
	if (verdict == REQ_MATCHED || verdict == REQ_EMPTY)
		merge_group_join(g, (uint32_t)user, after_exec);
}

/* Moves the sample to the group that it belongs to now. */
static void verdicts_regroup(struct merge *m, const struct rows *r)
{
	struct merge_group g = {
		.type = (uint32_t)rows_int(r, MERGE_VERDICTS_TYPE),
		.comm = (uint32_t)rows_int(r, MERGE_VERDICTS_COMM),
		.kernel = (uint32_t)rows_int(r, MERGE_VERDICTS_KERNEL),
		.kernel_mark = (int32_t)rows_int(r, MERGE_VERDICTS_KERNEL_MARK),
		.weighs =
			rows_value(r, MERGE_VERDICTS_WEIGHT).kind == VALUE_INT,
	};
	int64_t weight = rows_int(r, MERGE_VERDICTS_WEIGHT);

	verdicts_set_user(&g, rows_int(r, MERGE_VERDICTS_WAS),
			  rows_int(r, MERGE_VERDICTS_USER_WAS),
			  rows_value(r, MERGE_VERDICTS_EXEC_WAS).kind !=
				  VALUE_NULL);
	merge_groups_leave(m->groups, &g, weight);
	verdicts_set_user(&g, rows_int(r, MERGE_VERDICTS_VERDICT),
			  rows_int(r, MERGE_VERDICTS_USER),
			  rows_value(r, MERGE_VERDICTS_EXEC_NS).kind !=
				  VALUE_NULL);
	merge_groups_add(m->groups, &g, weight, 1);
}

/* Gives its chain another request. */
static int verdicts_count_chain(struct merge *m, sqlite3_stmt *st, uint32_t id,
				struct err *err)
{
	struct writing *w = m->db->w;

	m->joined++;
	w->joined++;
	w->chain_events++;
	if (id > w->max_chain)
		w->max_chain = id;
	return PUT_VALUES(m->db, st, err, VALUE_OF(id), VALUE_OF(CHAIN_USED),
			  VALUE_OF(CONF_PROVED));
}

int merge_apply(struct merge *m, struct err *err)
{
	struct rows *r = rows_of(m->db, "merge_verdicts", err);
	sqlite3_stmt *request = NULL, *chain = NULL;

	if (r)
		request = db_prepare(m->db, store_sql("merge_verdict"), err);
	if (request)
		chain = db_prepare(m->db, store_sql("merge_verdict_chain"),
				   err);
	int rc = chain ? 0 : -1;

	while (!rc && rows_step(r)) {
		int64_t id = rows_int(r, MERGE_VERDICTS_CHAIN);
		struct value v[MERGE_VERDICTS_URAW + 1];

		for (size_t i = 0; i < ARRAY_SIZE(v); i++)
			v[i] = rows_value(r, i);
		verdicts_regroup(m, r);
		rc = tables_run(m->db, request, v, ARRAY_SIZE(v), err);
		if (!rc && id)
			rc = verdicts_count_chain(m, chain, (uint32_t)id, err);
	}
	sqlite3_finalize(request);
	sqlite3_finalize(chain);
	rc = rc ? rows_stop(r) : rows_end(r, err);
	return rc ? rc : db_exec(m->db, store_sql("merge_verdicts_clear"), err);
}
