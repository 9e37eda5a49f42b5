/* timeline_model.c - what a timeline picture shows, cut down to its pixels.
 *
 * A capture of hours has more marks than pixels: those of one kind that share
 * a pixel column are one mark with a count. Should there still be too many
 * for a file that opens at once, the columns become wider for all of them, or
 * the tooltips are left out. */
#include "cli/pictures/timeline_model.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/search.h"

#define WIDEST 4 /* px */

void timeline_release(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_lane; i++)
		free(tl->lane[i]);
	free(tl->lane);
	free(tl->capture);
	free(tl->mark);
	free(tl->band);
	free(tl->untimed);
	table_release(&tl->lanes);
	arena_release(&tl->text);
}

uint64_t timeline_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint32_t timeline_px(const struct timeline *tl, int64_t time)
{
	uint64_t span = (uint64_t)tl->t1 - (uint64_t)tl->t0;

	if (time <= tl->t0)
		return 0;
	if (time >= tl->t1)
		return TIMELINE_COLUMNS * 10;
	return (uint32_t)(((unsigned __int128)((uint64_t)time -
					       (uint64_t)tl->t0) *
			   TIMELINE_COLUMNS * 10) /
			  span);
}

static const char *timeline_copy_text(struct timeline *tl, const char *s)
{
	return s ? arena_strdup(&tl->text, s) : NULL;
}

static uint32_t timeline_column(const struct timeline *tl, int64_t time)
{
	uint32_t x = timeline_px(tl, time) / 10;

	return x < TIMELINE_COLUMNS ? x : TIMELINE_COLUMNS - 1;
}

/* ---- lanes */

static bool timeline_same_lane(const void *owner, uint32_t id, const void *key)
{
	const struct timeline *tl = owner;
	const struct timeline_lane *l = tl->lane[id];
	const struct timeline_lane *want = key;

	return l->capture == want->capture && l->cpu == want->cpu;
}

/* Returns the lane of a CPU, which is made if needed, or TABLE_NONE if there
 * are too many. */
static uint32_t timeline_get_lane(struct timeline *tl, int64_t capture,
				  int64_t cpu)
{
	struct timeline_lane key = {
		.capture = capture,
		.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
	};
	uint64_t hash = hash_pair((uint64_t)capture, (uint64_t)key.cpu);
	uint32_t id =
		table_find(&tl->lanes, hash, timeline_same_lane, tl, &key);

	if (id != TABLE_NONE || tl->n_lane == TIMELINE_LANES)
		return id;
	id = (uint32_t)tl->n_lane;
	tl->lane = mem_grow(tl->lane, &tl->cap_lane, tl->n_lane + 1,
			    sizeof(struct timeline_lane *));
	tl->lane[id] = mem_new(1, sizeof(**tl->lane));
	tl->lane[id]->capture = key.capture;
	tl->lane[id]->cpu = key.cpu;
	tl->n_lane++;
	table_add(&tl->lanes, hash, id);
	return id;
}

void timeline_event(struct timeline *tl, int64_t capture, int64_t cpu,
		    int64_t time)
{
	uint32_t id = timeline_get_lane(tl, capture, cpu);

	tl->events++;
	if (id == TABLE_NONE) {
		tl->no_lane++;
		return;
	}
	tl->lane[id]->events++;
	tl->lane[id]->column[timeline_column(tl, time)]++;
}

/* Adds lanes for CPUs without events, so that idle CPUs are shown. If CPU ids
 * have holes, some id is at or above the number of CPUs, and the idle ones are
 * unknown. */
static void timeline_add_idle_cpus(struct timeline *tl,
				   const struct timeline_capture *c)
{
	if (!c->whole || !c->timed || c->cpus < 1 || c->cpus > TIMELINE_LANES ||
	    tl->n_lane == TIMELINE_LANES)
		return;
	for (size_t i = 0; i < tl->n_lane; i++)
		if (tl->lane[i]->capture == c->id &&
		    tl->lane[i]->cpu >= c->cpus)
			return;
	for (int64_t cpu = 0; cpu < c->cpus; cpu++)
		timeline_get_lane(tl, c->id, cpu);
}

static int timeline_compare_lanes(const void *a, const void *b)
{
	const struct timeline_lane *x = *(const struct timeline_lane *const *)a;
	const struct timeline_lane *y = *(const struct timeline_lane *const *)b;

	return compare_numbers(x->capture, y->capture)
		       ?: compare_numbers(x->cpu, y->cpu);
}

/* Sorts the lanes and renumbers those of marks and bands. */
static void timeline_sort_lanes(struct timeline *tl)
{
	uint32_t *to = mem_new(tl->n_lane + 1, sizeof(*to));
	struct timeline_lane **old =
		mem_dup(tl->lane, tl->n_lane * sizeof(struct timeline_lane *));

	if (tl->n_lane)
		qsort(tl->lane, tl->n_lane, sizeof(struct timeline_lane *),
		      timeline_compare_lanes);
	table_release(&tl->lanes);
	tl->lanes = (struct table){ 0 };
	for (uint32_t i = 0; i < tl->n_lane; i++)
		table_add(&tl->lanes,
			  hash_pair((uint64_t)tl->lane[i]->capture,
				    (uint64_t)tl->lane[i]->cpu),
			  i);
	for (uint32_t i = 0; i < tl->n_lane; i++)
		to[i] = timeline_get_lane(tl, old[i]->capture, old[i]->cpu);
	for (size_t i = 0; i < tl->n_mark; i++)
		tl->mark[i].lane = to[tl->mark[i].lane];
	for (size_t i = 0; i < tl->n_band; i++)
		tl->band[i].lane = to[tl->band[i].lane];
	free(old);
	free(to);
}

/* ---- marks */

static void timeline_count_mark(struct timeline *tl, struct timeline_lane *l,
				const struct timeline_mark *m)
{
	tl->n[m->kind] = timeline_add(tl->n[m->kind], m->n);
	if (!l)
		return;
	uint64_t *n = m->kind == MARK_FINDING ? &l->findings
		      : m->kind < MARK_CHAINS ? &l->requests
					      : &l->chains;

	*n = timeline_add(*n, m->n);
}

static bool timeline_same_column(const struct timeline_mark *a,
				 const struct timeline_mark *b, uint32_t bin)
{
	return a->lane == b->lane && a->kind == b->kind &&
	       a->column / bin == b->column / bin;
}

static void timeline_merge_mark(struct timeline_mark *a,
				const struct timeline_mark *b)
{
	a->n = timeline_add(a->n, b->n);
	if (b->t0 < a->t0) {
		a->t0 = b->t0;
		a->who = b->who;
	}
	if (b->t1 > a->t1)
		a->t1 = b->t1;
	a->rules |= b->rules;
}

void timeline_mark(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_mark *m)
{
	struct timeline_mark added = *m;

	added.lane = timeline_get_lane(tl, capture, cpu);
	added.column = timeline_column(tl, m->t0);
	if (added.lane == TABLE_NONE) {
		timeline_count_mark(tl, NULL, m);
		tl->no_lane++;
		return;
	}
	timeline_count_mark(tl, tl->lane[added.lane], m);
	/* marks come in time order from all CPUs, so one of the same column is
	 * near the end */
	for (size_t i = tl->n_mark; i > 0 && tl->n_mark - i < 16; i--)
		if (timeline_same_column(&tl->mark[i - 1], &added, 1)) {
			/* only the earliest mark keeps its thread name */
			if (added.t0 < tl->mark[i - 1].t0)
				added.who = timeline_copy_text(tl, added.who);
			timeline_merge_mark(&tl->mark[i - 1], &added);
			return;
		}
	tl->mark = mem_grow(tl->mark, &tl->cap_mark, tl->n_mark + 1,
			    sizeof(*tl->mark));
	added.who = timeline_copy_text(tl, added.who);
	tl->mark[tl->n_mark++] = added;
}

static int timeline_compare_marks(const void *a, const void *b)
{
	const struct timeline_mark *x = a;
	const struct timeline_mark *y = b;

	return compare_numbers(x->lane, y->lane) ?:
	       compare_numbers(x->kind, y->kind) ?:
	       compare_numbers(x->column, y->column) ?:
	       compare_numbers(x->t0, y->t0);
}

/* Returns how many marks are left when those within `bin` px are merged; stores
 * the result if `keep`. */
static size_t timeline_merge_marks(struct timeline *tl, uint32_t bin, bool keep)
{
	struct timeline_mark last = { .lane = TABLE_NONE };
	size_t n = 0;

	for (size_t i = 0; i < tl->n_mark; i++) {
		const struct timeline_mark *m = &tl->mark[i];

		if (n && timeline_same_column(&last, m, bin)) {
			timeline_merge_mark(&last, m);
		} else {
			last = *m;
			n++;
		}
		if (keep)
			tl->mark[n - 1] = last;
	}
	if (keep)
		tl->n_mark = n;
	return n;
}

/* ---- bands */

void timeline_band(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_band *b, bool counts)
{
	uint32_t id = timeline_get_lane(tl, capture, cpu);

	tl->rows[b->kind]++;
	tl->sum[b->kind] = timeline_add(tl->sum[b->kind], b->n);
	tl->some[b->kind] |= b->some;
	if (counts) {
		tl->lost = timeline_add(tl->lost, b->n);
		tl->losses++;
	}
	if (id == TABLE_NONE) {
		tl->no_lane++;
		return;
	}
	struct timeline_lane *l = tl->lane[id];
	struct timeline_band added = *b;

	if (counts) {
		l->lost = timeline_add(l->lost, b->n);
		l->losses++;
	}
	if (b->kind >= BAND_GAPS)
		l->missing = timeline_add(l->missing, b->n);
	added.lane = id;
	added.rows = 1;
	/* clip to the picture; t1 may be before t0 */
	added.t0 = b->from_start || b->t0 < tl->t0 ? tl->t0 : b->t0;
	added.t1 = b->to_end || b->t1 > tl->t1 ? tl->t1 : b->t1;
	if (added.t0 > tl->t1)
		added.t0 = tl->t1;
	if (added.t1 < added.t0)
		added.t1 = added.t0;
	added.what = timeline_copy_text(tl, b->what ? b->what : "");
	*mem_add(tl->band, tl->n_band, tl->cap_band) = added;
}

static int timeline_compare_bands(const void *a, const void *b)
{
	const struct timeline_band *x = a;
	const struct timeline_band *y = b;

	return compare_numbers(x->lane, y->lane) ?:
	       compare_numbers(x->kind, y->kind) ?:
	       compare_numbers(x->t0, y->t0) ?:
	       compare_numbers(x->t1, y->t1) ?:
	       compare_numbers(x->n, y->n) ?: strcmp(x->what, y->what);
}

/* Returns whether two bands, of which b starts later, are drawn as one: they
 * overlap, or both are narrower than a column and in the same one. */
static bool timeline_same_place(const struct timeline *tl,
				const struct timeline_band *a,
				const struct timeline_band *b, uint32_t bin)
{
	if (a->lane != b->lane || a->kind != b->kind)
		return false;
	if (b->t0 < a->t1 || (a->t0 == b->t0 && a->t1 == b->t1))
		return true;
	return timeline_px(tl, a->t0) / 10 / bin ==
		       timeline_px(tl, b->t0) / 10 / bin &&
	       timeline_px(tl, b->t1) - timeline_px(tl, b->t0) < 10 * bin &&
	       timeline_px(tl, a->t1) - timeline_px(tl, a->t0) < 10 * bin;
}

static void timeline_merge_band(struct timeline_band *a,
				const struct timeline_band *b)
{
	if (b->t1 > a->t1)
		a->t1 = b->t1;
	a->from_start |= b->from_start;
	a->to_end |= b->to_end;
	a->some |= b->some;
	a->mixed |= b->mixed || strcmp(a->what, b->what) != 0;
	a->n = timeline_add(a->n, b->n);
	a->rows += b->rows;
}

/* The same as timeline_merge_marks(), for bands. */
static size_t timeline_merge_bands(struct timeline *tl, uint32_t bin, bool keep)
{
	struct timeline_band last = { .lane = TABLE_NONE };
	size_t n = 0;

	for (size_t i = 0; i < tl->n_band; i++) {
		const struct timeline_band *b = &tl->band[i];

		if (n && timeline_same_place(tl, &last, b, bin)) {
			timeline_merge_band(&last, b);
		} else {
			last = *b;
			n++;
		}
		if (keep)
			tl->band[n - 1] = last;
	}
	if (keep)
		tl->n_band = n;
	return n;
}

/* ---- without a time */

void timeline_untimed(struct timeline *tl, const struct timeline_untimed *u)
{
	struct timeline_untimed *last =
		tl->n_untimed ? &tl->untimed[tl->n_untimed - 1] : NULL;

	if (u->counts) {
		uint32_t id = timeline_get_lane(tl, u->capture, u->cpu);

		tl->lost = timeline_add(tl->lost, u->n);
		tl->losses++;
		if (id != TABLE_NONE) {
			tl->lane[id]->lost =
				timeline_add(tl->lane[id]->lost, u->n);
			tl->lane[id]->losses++;
		}
	}
	bool same = last && last->capture == u->capture &&
		    !strcmp(last->what, u->what);

	if (same && last->cpu == u->cpu && last->counts == u->counts) {
		last->n = timeline_add(last->n, u->n);
		last->rows++;
		return;
	}
	if (!same && tl->n_strip == TIMELINE_STRIPS) {
		tl->no_lane++;
		return;
	}
	tl->n_strip += !same;
	last = mem_add(tl->untimed, tl->n_untimed, tl->cap_untimed);
	*last = *u;
	last->what = timeline_copy_text(tl, u->what);
	last->rows = 1;
}

/* Merges items over the narrowest columns that leave at most `most` of them. If
 * WIDEST columns are not enough, merges nothing and gives up the tooltips:
 * wider columns would not show where things are. */
static struct timeline_size
timeline_choose_bin(struct timeline *tl, size_t most,
		    size_t merge(struct timeline *, uint32_t, bool))
{
	struct timeline_size s = { .bin = 1 };

	while (s.bin <= WIDEST && merge(tl, s.bin, false) > most)
		s.bin *= 2;
	if (s.bin > WIDEST)
		s = (struct timeline_size){ .bin = 1, .plain = true };
	merge(tl, s.bin, true);
	return s;
}

void timeline_finish(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_capture; i++)
		timeline_add_idle_cpus(tl, &tl->capture[i]);
	timeline_sort_lanes(tl);
	if (tl->n_mark)
		qsort(tl->mark, tl->n_mark, sizeof(*tl->mark),
		      timeline_compare_marks);
	if (tl->n_band)
		qsort(tl->band, tl->n_band, sizeof(*tl->band),
		      timeline_compare_bands);
	tl->marks =
		timeline_choose_bin(tl, TIMELINE_MARKS, timeline_merge_marks);
	tl->bands =
		timeline_choose_bin(tl, TIMELINE_BANDS, timeline_merge_bands);
}
