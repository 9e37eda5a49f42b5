/* causes_spans.c - which of several captures of one kernel tells of which time.
 */
#include "cli/model/causes_spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/loss_rows.h"
#include "schema/columns.h"
#include "schema/db/int_rows.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Text of ftrace has microseconds. */
#define TEXT_SKEW 1000

/* Times of the events of a type. */
struct causes_times {
	int64_t capture, first, last;
};

/* Columns of table event that are read. */
enum {
	TIMES_ID,
	TIMES_TYPE,
	TIMES_TIME_NS
};

struct causes_spans {
	struct causes_times *type; /* by event_type.id - 1 */
	size_t n_type, cap_type;
	struct causes_capture *capture; /* the main one is first */
	size_t n, cap;
	struct causes_span *span;
	size_t n_span, cap_span;
};

struct causes_spans *causes_spans_new(void)
{
	return mem_new(1, sizeof(struct causes_spans));
}

void causes_spans_free(struct causes_spans *s)
{
	if (!s)
		return;
	free(s->type);
	free(s->capture);
	free(s->span);
	free(s);
}

/* ---- the captures */

/* Linux 5.18 to 6.15; unknown versions may have it. */
static bool causes_signal_bug(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return true;
	return (major == 5 && minor >= 18) || (major == 6 && minor <= 15);
}

void causes_spans_type(struct causes_spans *s, const struct rows *r)
{
	*mem_add(s->type, s->n_type, s->cap_type) = (struct causes_times){
		.capture = rows_int(r, CAUSES_TYPES_CAPTURE),
		.first = TIMELINE_END,
		.last = TIMELINE_START,
	};
}

void causes_spans_note(struct causes_spans *s, const struct rows *r)
{
	const char *format = rows_text(r, CAUSES_TYPES_FORMAT);
	int64_t cpus = rows_int(r, CAUSES_TYPES_CPUS);
	struct causes_capture c = {
		.id = rows_int(r, CAUSES_TYPES_CAPTURE),
		.switches = rows_int(r, CAUSES_TYPES_EVENTS),
		.rules = {
			.cpus = cpus > 0 && cpus < INT32_MAX ? (int32_t)cpus
							     : 0,
			.skew = !strcmp(format, "ftext") ? TEXT_SKEW : 0,
			.signal_bug = causes_signal_bug(
				rows_text(r, CAUSES_TYPES_RELEASE)),
			.pauses = (int8_t)compare_numbers(
				rows_int(r, CAUSES_TYPES_PAUSES), 0),
		},
		.tracks = !strcmp(format, "ctf"),
		.some = !rows_int(r, CAUSES_TYPES_SYSTEM_WIDE),
		.filtered = rows_int(r, CAUSES_TYPES_FILTERED) != 0,
		.text = !strcmp(format, "ftext"),
		.larger = loss_larger_buffers(format),
		.ring = loss_own_ring(format),
		.x86_64 = !strcmp(rows_text(r, CAUSES_TYPES_ARCH), "x86_64"),
		.first = TIMELINE_END,
		.last = TIMELINE_START,
	};
	struct causes_capture *last = s->n ? &s->capture[s->n - 1] : NULL;

	/* LTTng has a stream for each CPU, empty where nothing happened */
	if (c.tracks && !c.rules.cpus)
		c.rules.cpus = -1;
	if (!last || last->id != c.id)
		*mem_add(s->capture, s->n, s->cap) = c;
	else if (c.switches > last->switches)
		*last = c;
}

static int causes_compare_captures(const void *pa, const void *pb)
{
	const struct causes_capture *a = pa;
	const struct causes_capture *b = pb;

	return compare_numbers(b->switches, a->switches)
		       ?: compare_numbers(a->id, b->id);
}

/* Finds when the events of each type were. Grouped by SQLite, a million of them
 * takes a second. */
static int causes_spans_times(struct causes_spans *s, struct store *db,
			      struct err *err)
{
	static const char *const column[] = {
		[TIMES_ID] = "id",
		[TIMES_TYPE] = "type",
		[TIMES_TIME_NS] = "time_ns",
	};
	struct int_rows *r = int_rows_of(db, "event", column,
					 sizeof(column) / sizeof(*column), err);
	struct int_row row;
	int rc = r ? 0 : -1;

	while (r && (rc = int_rows_next(r, &row, err)) > 0) {
		int64_t time = row.v[TIMES_TIME_NS];
		uint64_t type = (uint64_t)row.v[TIMES_TYPE] - 1;
		struct causes_times *t;

		if (type >= s->n_type || !(row.known >> TIMES_TIME_NS & 1))
			continue;
		t = &s->type[type];
		t->first = time < t->first ? time : t->first;
		t->last = time > t->last ? time : t->last;
	}
	int_rows_close(r);
	return rc;
}

/* Finds the times of those of the same kernel as the first one. */
static int causes_spans_load(struct causes_spans *s, struct store *db,
			     struct err *err)
{
	const struct value bind = { .kind = VALUE_INT,
				    .num = s->capture[0].id };
	struct rows *r =
		rows_open(db, store_sql("causes_captures"), &bind, 1, err);

	while (rows_step(r))
		for (size_t i = 0; i < s->n; i++) {
			struct causes_capture *c = &s->capture[i];

			if (c->id != rows_int(r, CAUSES_CAPTURES_ID))
				continue;
			c->error = rows_int(r, CAUSES_CAPTURES_ERROR_NS);
			for (size_t k = 0; k < s->n_type; k++) {
				const struct causes_times *t = &s->type[k];

				if (t->capture != c->id)
					continue;
				if (t->first < c->first)
					c->first = t->first;
				if (t->last > c->last)
					c->last = t->last;
			}
		}
	return rows_end(r, err);
}

/* ---- the spans */

static int64_t causes_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? TIMELINE_START : TIMELINE_END;
	return sum;
}

/* Adds what a capture tells from here on that no span so far does. */
static void causes_spans_add(struct causes_spans *s,
			     const struct causes_capture *c)
{
	size_t n = s->n_span;
	int64_t from = c->first;

	/* those so far are in time order */
	for (size_t i = 0; i <= n && from <= c->last; i++) {
		bool end = i == n;
		int64_t off =
			end ? 0
			    : causes_sum(c->error, s->span[i].capture->error);
		int64_t to =
			end ? c->last
			    : causes_sum(causes_sum(s->span[i].from, -off), -1);
		int64_t next =
			end ? TIMELINE_END
			    : causes_sum(causes_sum(s->span[i].to, off), 1);

		to = to < c->last ? to : c->last;
		if (from <= to)
			*mem_add(s->span, s->n_span, s->cap_span) =
				(struct causes_span){ from, to, c };
		from = next > from ? next : from;
	}
}

/* Moves spans from number n on, which were added last, to their places. There
 * are few of them, so this is less than to sort all. */
static void causes_spans_place(struct causes_spans *s, size_t n)
{
	for (; n < s->n_span; n++) {
		const struct causes_span add = s->span[n];
		size_t at = search_where(n, i, s->span[i].from > add.from);

		memmove(&s->span[at + 1], &s->span[at], (n - at) * sizeof(add));
		s->span[at] = add;
	}
}

int causes_spans_choose(struct causes_spans *s, struct store *db, int64_t only,
			struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!only || s->capture[i].id == only)
			s->capture[n++] = s->capture[i];
	s->n = n;
	if (!n)
		return 0;
	qsort(s->capture, n, sizeof(*s->capture), causes_compare_captures);
	if (n > 1 &&
	    (causes_spans_times(s, db, err) || causes_spans_load(s, db, err)))
		return -1;
	for (size_t i = 0; n > 1 && i < n; i++) {
		size_t before = s->n_span;

		causes_spans_add(s, &s->capture[i]);
		causes_spans_place(s, before);
	}
	if (!s->n_span)
		*mem_add(s->span, s->n_span, s->cap_span) =
			(struct causes_span){ .capture = &s->capture[0] };
	s->span[0].from = TIMELINE_START;
	s->span[s->n_span - 1].to = TIMELINE_END;
	return 1;
}

/* ---- questions */

const struct causes_span *causes_spans_get(const struct causes_spans *s,
					   size_t *n)
{
	*n = s->n_span;
	return s->span;
}

const struct causes_capture *causes_spans_main(const struct causes_spans *s)
{
	return &s->capture[0];
}

struct timeline_rules causes_spans_rules(const struct causes_spans *s)
{
	struct timeline_rules all = s->span[0].capture->rules;

	for (size_t i = 1; i < s->n_span; i++) {
		const struct timeline_rules *r = &s->span[i].capture->rules;

		/* 0 hides everything, -1 is as many as there are */
		if (all.cpus && (!r->cpus || r->cpus > all.cpus))
			all.cpus = r->cpus;
		if (r->skew > all.skew)
			all.skew = r->skew;
		all.signal_bug |= r->signal_bug;
		if (r->pauses > all.pauses || (r->pauses && !all.pauses))
			all.pauses = r->pauses;
	}
	return all;
}

const struct causes_span *causes_spans_find(const struct causes_spans *s,
					    int64_t capture, int64_t time)
{
	size_t at = search_where(s->n_span, i, s->span[i].to >= time);

	if (at == s->n_span || s->span[at].from > time ||
	    s->span[at].capture->id != capture)
		return NULL;
	return &s->span[at];
}
