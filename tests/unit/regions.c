/* regions.c - tests that spaces which share their regions in a tree behave as
 * if each had an array of its own. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/tasks/space.h"
#include "tests/unit/run.h"

#define SPACES 4
#define PAGES 3000
#define OPS 9000

/* What a space tells its owner: every id that it asks for, and every region
 * that ends. */
struct heard {
	struct region *at;
	size_t n, cap;
	uint32_t ids;
};

static void heard_closed(void *arg, const struct region *r)
{
	struct heard *h = arg;

	*mem_add(h->at, h->n, h->cap) = *r;
}

static void heard_from_space(const struct space_owner *own,
			     const struct region *r)
{
	heard_closed(own->arg, r);
}

static uint32_t heard_new_id(struct heard *h, size_t n)
{
	uint32_t first = h->ids + 1;

	h->ids += (uint32_t)n;
	return first;
}

/* ---- the model: an array, copied whole at each fork */

struct plain {
	struct region at[2 * PAGES];
	size_t n;
};

static void plain_close(const struct region *r, int64_t t, struct heard *h)
{
	struct region ended = *r;

	ended.t1 = t > r->t0 ? t : r->t0;
	if (r->id)
		heard_closed(h, &ended);
}

/* Adds r's part [start, end), if there is one, as a region of its own. */
static void plain_keep(struct plain *to, const struct region *r, uint64_t start,
		       uint64_t end, int64_t t, struct heard *h)
{
	struct region *p = &to->at[to->n];

	if (start >= end)
		return;
	*p = *r;
	p->start = start;
	p->end = end;
	p->pgoff += start - r->start;
	p->t0 = t;
	if (r->id)
		p->id = heard_new_id(h, 1);
	to->n++;
}

/* Replaces everything in [start, end) by r, or by nothing. */
static void plain_replace(struct plain *sp, uint64_t start, uint64_t end,
			  int64_t t, const struct region *r, struct heard *h)
{
	static struct plain out;
	size_t place = 0;

	out.n = 0;
	for (size_t i = 0; i < sp->n; i++) {
		const struct region *old = &sp->at[i];

		if (old->end <= start || old->start >= end) {
			out.at[out.n++] = *old;
		} else {
			plain_keep(&out, old, old->start, start, t, h);
			if (old->end > end)
				plain_keep(&out, old, end, old->end, t, h);
			plain_close(old, t, h);
		}
	}
	while (place < out.n && out.at[place].start < start)
		place++;
	if (r) {
		memmove(&out.at[place + 1], &out.at[place],
			(out.n - place) * sizeof(*r));
		out.at[place] = *r;
		out.at[place].id = heard_new_id(h, 1);
		out.at[place].since = r->t0;
		out.at[place].t1 = TIME_NONE;
		out.n++;
	}
	memcpy(sp->at, out.at, out.n * sizeof(*r));
	sp->n = out.n;
}

static int plain_by_id(const void *a, const void *b)
{
	const struct region *x = a;
	const struct region *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The rows of a table are appended in the order of their ids. */
static void plain_clear(struct plain *sp, int64_t t, struct heard *h)
{
	qsort(sp->at, sp->n, sizeof(sp->at[0]), plain_by_id);
	for (size_t i = 0; i < sp->n; i++)
		plain_close(&sp->at[i], t, h);
	sp->n = 0;
}

static void plain_fork(struct plain *child, const struct plain *parent,
		       int64_t t, bool rows, struct heard *h)
{
	if (!parent->n)
		return;
	*child = *parent;
	uint32_t first = rows ? heard_new_id(h, child->n) : 0;

	for (size_t i = 0; i < child->n; i++) {
		child->at[i].id = rows ? first + (uint32_t)i : 0;
		child->at[i].t0 = child->at[i].since = t;
	}
}

/* ---- both side by side */

struct both {
	struct plain plain[SPACES];
	struct space space[SPACES];
	struct heard want, got;
	size_t held, most;
};

static bool region_equal(const struct region *a, const struct region *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->pgoff == b->pgoff && a->image == b->image && a->id == b->id &&
	       a->t0 == b->t0 && a->t1 == b->t1 && a->since == b->since;
}

static void both_compare_told(struct both *b)
{
	must(b->want.n == b->got.n);
	must(b->want.ids == b->got.ids);
	for (size_t i = 0; i < b->want.n; i++)
		must(region_equal(&b->want.at[i], &b->got.at[i]));
	b->want.n = b->got.n = 0;
}

static void both_compare_space(struct both *b, size_t k, uint64_t addr)
{
	const struct plain *p = &b->plain[k];
	const struct space *sp = &b->space[k];
	const struct region *is = space_find(sp, addr, TIME_NONE);
	const struct region *want = NULL;

	must(p->n == sp->now.n);
	b->most = p->n > b->most ? p->n : b->most;
	for (size_t i = 0; i < p->n; i++) {
		struct region r = regions_get(&sp->now, i);

		must(region_equal(&r, &p->at[i]));
		if (addr >= r.start && addr < r.end)
			want = &p->at[i];
	}
	must(!is == !want);
	must(!is || (is->start == want->start && is->image == want->image &&
		     is->pgoff == want->pgoff));
}

/* The ways in which a loader, a linker and an attacker map. */
static uint64_t both_choose(uint64_t *seed, size_t i, int way)
{
	uint64_t page = way == 0   ? rnd_below(seed, PAGES)
			: way == 1 ? PAGES - 1 - i % PAGES
			: way == 2 ? i % PAGES
				   : (i * 1237) % PAGES;

	return 0x10000 + (page << 12);
}

static void both_step(struct both *b, uint64_t *seed, size_t i, int way)
{
	struct space_owner own = { .ids = &b->got.ids,
				   .closed = heard_from_space,
				   .arg = &b->got,
				   .held = &b->held,
				   .with_rows = false };
	size_t k = rnd_below(seed, SPACES);
	size_t from = rnd_below(seed, SPACES);
	uint64_t what = rnd_below(seed, 200);
	uint64_t len =
		rnd_below(seed, 200) ? 1 : 1 + rnd_below(seed, PAGES / 8);
	struct region r = { .start = both_choose(seed, i, way),
			    .pgoff = i << 12,
			    .image = (uint32_t)i,
			    .t0 = 10 + (int64_t)i };

	r.end = r.start + (len << 12);
	k = way ? i % 3 : k;
	if (what < 2 && k != from) {
		space_clear(&b->space[k], r.t0, &own);
		plain_clear(&b->plain[k], r.t0, &b->want);
		space_copy(&b->space[k], &b->space[from], r.t0, what, &own);
		plain_fork(&b->plain[k], &b->plain[from], r.t0, what, &b->want);
	} else if (what == 2 && !rnd_below(seed, 4)) {
		space_exec(&b->space[k], r.t0, &own);
		plain_clear(&b->plain[k], r.t0, &b->want);
	} else if (what < 20) {
		space_unmap(&b->space[k], r.start, r.end, r.t0, &own);
		plain_replace(&b->plain[k], r.start, r.end, r.t0, NULL,
			      &b->want);
	} else {
		space_map(&b->space[k], &r, &own);
		plain_replace(&b->plain[k], r.start, r.end, r.t0, &r, &b->want);
	}
	if (i % 16 == 0)
		both_compare_space(b, k, r.start);
}

static void both_run(uint64_t seed, int way)
{
	struct both *b = mem_new(1, sizeof(*b));
	struct space_owner own = { .ids = &b->got.ids,
				   .closed = heard_from_space,
				   .arg = &b->got,
				   .held = &b->held,
				   .with_rows = false };

	for (size_t i = 0; i < OPS; i++) {
		both_step(b, &seed, i, way);
		both_compare_told(b);
	}
	must(b->most > 500);
	for (size_t k = 0; k < SPACES; k++) {
		both_compare_space(b, k, 0);
		space_clear(&b->space[k], OPS, &own);
		plain_clear(&b->plain[k], OPS, &b->want);
		space_release(&b->space[k]);
	}
	both_compare_told(b);
	must(b->held == 0);
	free(b->want.at);
	free(b->got.at);
	free(b);
}

START_TEST(shared_regions_behave_like_arrays_of_their_own)
{
	for (uint64_t seed = 1; seed <= (RUN_ELSEWHERE ? 4 : 8); seed++)
		both_run(seed, (int)(seed % 4));
}
END_TEST

/* In an array this is 5 * 10^10 moves of a region, and takes minutes. */
START_TEST(mappings_from_high_to_low_addresses_take_no_square_of_time)
{
	struct heard h = { 0 };
	struct space sp = { .changed = TIME_NONE };
	struct space_owner own = { .ids = &h.ids,
				   .closed = heard_from_space,
				   .arg = &h,
				   .held = NULL,
				   .with_rows = false };
	const uint32_t n = RUN_ELSEWHERE ? 80000 : 320000;

	for (uint32_t i = 0; i < n; i++) {
		struct region r = { .start = (uint64_t)(n - i) << 13,
				    .image = i,
				    .t0 = 1 };

		r.end = r.start + 0x1000;
		space_map(&sp, &r, &own);
	}
	ck_assert_uint_eq(sp.now.n, n);
	ck_assert_uint_eq(space_find(&sp, (uint64_t)n << 13, 1)->image, 0);
	space_release(&sp);
	free(h.at);
}
END_TEST

/* A copy for each would be 64 Ki regions of 72 bytes: 94 GB in all. */
START_TEST(a_fork_and_a_mapping_in_turn_copy_a_path)
{
	struct heard h = { 0 };
	size_t held = 0;
	struct space sp = { .changed = TIME_NONE };
	struct space_owner own = { .ids = &h.ids,
				   .closed = heard_from_space,
				   .arg = &h,
				   .held = &held,
				   .with_rows = false };
	const size_t n = 20000;
	struct space *child = mem_new(n, sizeof(*child));

	for (uint64_t i = 0; i < 65536 + n; i++) {
		struct region r = { .start = (i * 40503 % 65536) << 13,
				    .t0 = 1 };

		r.end = r.start + 0x1000;
		if (i >= 65536)
			space_copy(&child[i - 65536], &sp, 1, false, &own);
		space_map(&sp, &r, &own);
	}
	ck_assert_uint_le(held, n * 4 * 64);
	for (size_t i = 0; i < n; i++) {
		space_clear(&child[i], 2, &own);
		space_release(&child[i]);
	}
	space_release(&sp);
	ck_assert_uint_eq(held, 0);
	free(child);
	free(h.at);
}
END_TEST

RUN("regions", shared_regions_behave_like_arrays_of_their_own,
    mappings_from_high_to_low_addresses_take_no_square_of_time,
    a_fork_and_a_mapping_in_turn_copy_a_path)
