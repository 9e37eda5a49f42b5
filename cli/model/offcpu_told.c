/* offcpu_told.c - which waits other captures of the same kernel tell of.
 *
 * A capture tells of a wait if it was recording when the wait began: of its end
 * it then tells too, or says that it is open or uncertain. Of a wait that was
 * under way when recording began it has no more than the return, which nobody
 * counts. */
#include "cli/model/offcpu_told.h"

#include <stdlib.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct told_span {
	int64_t from, to;
	bool of_all;
	struct table tids; /* of_all: empty */
};

struct offcpu_told {
	struct told_span *span;
	size_t n, cap;
};

struct offcpu_told *offcpu_told_new(void)
{
	return mem_new(1, sizeof(struct offcpu_told));
}

void offcpu_told_free(struct offcpu_told *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		table_release(&t->span[i].tids);
	free(t->span);
	free(t);
}

int offcpu_told_add(struct offcpu_told *t, struct store *db, int64_t type,
		    int64_t from, int64_t to, bool of_all, struct err *err)
{
	const struct value bind = { .kind = VALUE_INT, .num = type };
	struct told_span s = { .from = from, .to = to, .of_all = of_all };
	int rc = 0;

	if (!of_all) {
		struct rows *r =
			rows_open(db, store_sql("offcpu_told"), &bind, 1, err);

		while (rows_step(r)) {
			int64_t tid = rows_int(r, OFFCPU_TOLD_TID);

			table_add(&s.tids, hash_u64((uint64_t)tid), 0);
		}
		rc = rows_end(r, err);
	}
	*mem_add(t->span, t->n, t->cap) = s;
	return rc;
}

bool offcpu_told_has(const struct offcpu_told *t, int64_t tid, int64_t from,
		     int64_t to)
{
	uint64_t hash = hash_u64((uint64_t)tid);

	for (size_t i = 0; i < t->n; i++) {
		const struct told_span *s = &t->span[i];

		if (from <= s->to && to >= s->from &&
		    (s->of_all ||
		     table_find_hash(&s->tids, hash) != TABLE_NONE))
			return true;
	}
	return false;
}
