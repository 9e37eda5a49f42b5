/* groups.c - reads the samples of a database, added up in groups. */
#include "schema/db/groups.h"

#include "schema/db/db.h"
#include "schema/db/rows.h"
#include "schema/columns.h"
#include "stitch/base/mem.h"

enum group_columns {
	GROUP_ROWID,
	GROUP_TYPE,
	GROUP_COMM,
	GROUP_KERNEL,
	GROUP_USER,
	GROUP_MARK,
	GROUP_KERNEL_MARK,
	GROUP_WEIGHT,
	GROUP_N,
	GROUP_COLUMNS
};

int store_groups_each(const struct store *db, store_group_fn *fn, void *arg,
		      struct err *err)
{
	if (!db || !db->group) {
		static const char *const column[GROUP_COLUMNS] = {
			"rowid", "type",	"comm",	  "kernel", "user",
			"mark",	 "kernel_mark", "weight", "n"
		};
		struct rows *r = rows_ints_of(db, "sample_group", column,
					      GROUP_COLUMNS, err);
		struct int_row row;
		int rc;

		if (!r)
			return -1;
		while ((rc = rows_next_ints(r, &row, err)) > 0) {
			const bool weighs = row.known >> GROUP_WEIGHT & 1;
			const struct store_group g = {
				.type = row.v[GROUP_TYPE],
				.comm = row.v[GROUP_COMM],
				.kernel = row.v[GROUP_KERNEL],
				.user = row.v[GROUP_USER],
				.mark = row.v[GROUP_MARK],
				.kernel_mark = row.v[GROUP_KERNEL_MARK],
				.weight =
					row.v[weighs ? GROUP_WEIGHT : GROUP_N],
				.n = row.v[GROUP_N],
			};

			rc = fn(arg, &g, err);
			if (rc)
				break;
		}
		rows_close(r);
		return rc ? -1 : 0;
	}
	for (size_t i = 0; i < db->n_group; i++) {
		const struct sample_group *s = &db->group[i];
		const struct store_group g = {
			.type = sample_group_type(s),
			.comm = (uint32_t)s->what,
			.kernel = (uint32_t)(s->stacks >> 32),
			.user = (uint32_t)s->stacks,
			.mark = sample_group_mark(s),
			.kernel_mark = s->marks >> 8 & 0xff,
			.weight = s->marks & GROUP_WEIGHS ? (int64_t)s->weight
							  : s->n,
			.n = s->n,
		};

		if (fn(arg, &g, err))
			return -1;
	}
	return 0;
}

struct kept_frames *store_kept_frames(const struct store *db, size_t *n,
				      struct err *err)
{
	struct rows *r = rows_dense(db, "kept_frames", err);
	struct kept_frames *kept = NULL;
	size_t cap = 0;

	*n = 0;
	*mem_add(kept, *n, cap) = (struct kept_frames){ 0, 0 };
	while (rows_step(r))
		*mem_add(kept, *n, cap) = (struct kept_frames){
			(uint32_t)rows_int(r, KEPT_FRAMES_KERNEL),
			(uint32_t)rows_int(r, KEPT_FRAMES_BOTH),
		};
	if (!rows_end(r, err))
		return kept;
	free(kept);
	return NULL;
}
