/* lives.c - finds the rows of each thread in the pieces of a stream.
 *
 * Thread ids are reused. Some rows have the times at which threads with the id
 * began and ended; a row without the begin of its thread is of the thread that
 * lived when the piece began. A piece begins with the last records of the
 * previous one, so both may report the same end and begin. */
#include "schema/lives.h"

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

struct lives_row {
	int64_t thread, line, tid, place;
	int64_t start, end; /* INT64_MIN, INT64_MAX: unknown */
	int64_t before;	    /* the last time of the previous piece */
};

/* The rows of one id in one stream. */
struct lives {
	struct lives_row *row;
	size_t n, cap;
	int64_t *bound; /* times at which a thread began or ended, ascending */
	size_t n_bound, cap_bound;
};

/* Returns how many times are not after `time`, which numbers the life that
 * begins there; equal times count separately, the same in each row. */
static size_t lives_up_to(const struct lives *l, int64_t time)
{
	return search_where(l->n_bound, i, l->bound[i] > time);
}

/* Returns the number of the life of row i, equal for rows of one life; SIZE_MAX
 * if it is unknown. */
static size_t lives_of(const struct lives *l, size_t i)
{
	const struct lives_row *r = &l->row[i];
	const struct lives_row *last = i ? r - 1 : NULL;
	int64_t alive = r->before;

	if (r->start > INT64_MIN)
		return lives_up_to(l, r->start);
	if (last && last->place == r->place)
		return last->end < INT64_MAX ? lives_up_to(l, last->end)
					     : SIZE_MAX;
	if (!r->place)
		return 0;
	if (r->end < INT64_MAX)
		lower_to(alive, r->end - 1);
	if (i + 1 < l->n && r[1].place == r->place && r[1].start > INT64_MIN)
		lower_to(alive, r[1].start - 1);
	return lives_up_to(l, alive);
}

/* Stores the first row of each life in same[], and clears the rows. */
static void lives_end(struct lives *l, uint32_t *same, size_t n)
{
	sort_items(l->bound, l->n_bound, compare_i64);
	uint32_t *first = mem_new(l->n_bound + 1, sizeof(*first));
	for (size_t i = 0; i < l->n; i++) {
		size_t life = lives_of(l, i);
		int64_t thread = l->row[i].thread;

		if (life == SIZE_MAX || thread <= 0 || (uint64_t)thread >= n)
			continue;
		if (first[life])
			same[thread] = first[life];
		else
			first[life] = (uint32_t)thread;
	}
	free(first);
	l->n = l->n_bound = 0;
}

uint32_t *lives_load(struct store *db, size_t n, struct err *err)
{
	uint32_t *same = mem_new(n + 1, sizeof(*same));
	struct rows *rows = rows_of(db, "interval_lives", err);
	struct lives l = { 0 };

	while (rows_step(rows)) {
		const struct lives_row r = {
			.thread = rows_int(rows, INTERVAL_LIVES_THREAD),
			.line = rows_int(rows, INTERVAL_LIVES_LINE),
			.tid = rows_int(rows, INTERVAL_LIVES_TID),
			.place = rows_int(rows, INTERVAL_LIVES_PLACE),
			.start = rows_int_or(rows, INTERVAL_LIVES_START_NS,
					     INT64_MIN),
			.end = rows_int_or(rows, INTERVAL_LIVES_END_NS,
					   INT64_MAX),
			.before = rows_int_or(rows, INTERVAL_LIVES_BEFORE_NS,
					      INT64_MIN),
		};

		if (l.n && (l.row->line != r.line || l.row->tid != r.tid))
			lives_end(&l, same, n);
		*mem_add(l.row, l.n, l.cap) = r;
		if (r.start > INT64_MIN)
			*mem_add(l.bound, l.n_bound, l.cap_bound) = r.start;
		if (r.end < INT64_MAX)
			*mem_add(l.bound, l.n_bound, l.cap_bound) = r.end;
	}
	lives_end(&l, same, n);
	free_all(l.row, l.bound);
	if (!rows_end(rows, err))
		return same;
	free(same);
	return NULL;
}
