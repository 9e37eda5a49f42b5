/* span.c - when samples were taken and records were lost. */
#include "cli/view/screen.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/view/cells.h"
#include "schema/columns.h"
#include "stitch/base/err.h"

#define LEFT 2 /* cells in front of the bars */

/* Returns the part of a time; the first or the last if it is beyond. */
static size_t span_part(const struct span *s, int64_t t)
{
	uint64_t at = t > s->first ? ((uint64_t)t - (uint64_t)s->first) /
					     (uint64_t)s->part
				   : 0;

	return at < SPAN_PARTS ? (size_t)at : SPAN_PARTS - 1;
}

static int span_read_samples(struct span *s, struct store *db, struct err *err)
{
	struct rows *r = ROWS_BY(db, "view_times", err, s->first, s->part);

	while (rows_step(r)) {
		int64_t at = rows_int(r, VIEW_TIMES_PART);

		/* the end itself is of the last part */
		if (at >= SPAN_PARTS)
			at = SPAN_PARTS - 1;
		if (at < 0)
			continue;
		s->samples[at] += (uint64_t)rows_int(r, VIEW_TIMES_N);
		if (s->samples[at] > s->most)
			s->most = s->samples[at];
	}
	return rows_end(r, err);
}

int span_load(struct span *s, struct store *db, struct err *err)
{
	*s = (struct span){ .first = 0 };
	/* Stores the first time and the last one of all captures. */
	struct rows *rows = rows_of(db, "timeline_range", err);

	int64_t first = INT64_MAX;
	int64_t last = INT64_MIN;
	while (rows_step(rows)) {
		if (rows_value(rows, TIMELINE_RANGE_FIRST_NS).kind ==
		    VALUE_NULL)
			continue;
		if (rows_int(rows, TIMELINE_RANGE_FIRST_NS) < first)
			first = rows_int(rows, TIMELINE_RANGE_FIRST_NS);
		if (rows_int(rows, TIMELINE_RANGE_LAST_NS) > last)
			last = rows_int(rows, TIMELINE_RANGE_LAST_NS);
	}
	if (rows_end(rows, err))
		return -1;
	if (first > last)
		return err_set(err, ERR_FORMAT,
			       "nothing in it has a time to choose");
	s->first = first;
	s->part =
		(int64_t)(((uint64_t)last - (uint64_t)first) / SPAN_PARTS) + 1;
	struct rows *r = rows_of(db, "timeline_losses", err);

	while (rows_step(r)) {
		int64_t t1 = rows_int_or(r, TIMELINE_LOSSES_T1,
					 rows_int(r, TIMELINE_LOSSES_T0));
		int64_t t0 = rows_int_or(r, TIMELINE_LOSSES_T0, t1);

		for (size_t i = span_part(s, t0); i <= span_part(s, t1); i++)
			s->lost[i] = true;
	}
	return rows_end(r, err) ? -1 : span_read_samples(s, db, err);
}

void span_draw(const struct span *s, int row, size_t from, size_t to)
{
	static const char level[] = " .:-=*#";

	for (size_t i = 0; i < SPAN_PARTS; i++) {
		bool chosen = i >= from && i <= to;
		double share =
			s->most ? (double)s->samples[i] / (double)s->most : 0;
		char bar[] = {
			level[s->samples[i] ? 1 + (size_t)(share * 5) : 0], '\0'
		};

		cells_put(row, LEFT + (int)i, 1,
			  chosen ? CELLS_CHOSEN : CELLS_PLAIN, bar);
		cells_put(row + 1, LEFT + (int)i, 1, CELLS_MISSING,
			  s->lost[i] ? "/" : " ");
	}
	cells_put(row + 1, LEFT + SPAN_PARTS + 1, 16, CELLS_DIM,
		  "/ lost records");
}

bool span_move(int key, size_t *from, size_t *to, bool *marked)
{
	switch (key) {
	case CELLS_LEFT:
		*to -= *to > (*marked ? *from : 0);
		break;
	case CELLS_RIGHT:
		*to += *to + 1 < SPAN_PARTS;
		break;
	case CELLS_ENTER:
		if (*marked)
			return false;
		*marked = true;
		break;
	default:
		break;
	}
	if (!*marked)
		*from = *to;
	return true;
}
