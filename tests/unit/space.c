/* space.c - tests of stitch/tasks/space.c, by hand and against a naive model: a
 * small address space of pages, and for each the list of all mappings. */
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/tasks/space.h"
#include "stitch/fact.h"
#include "tests/unit/run.h"

/* All closed regions; every id must come exactly once. */
struct seen {
	uint32_t ids;
	struct region *closed;
	size_t n, cap;
	size_t held;
};

static void closed(const struct space_owner *own, const struct region *r)
{
	struct seen *s = own->arg;

	*mem_add(s->closed, s->n, s->cap) = *r;
}

static struct space_owner space_test_owner(struct seen *s)
{
	return (struct space_owner){
		.ids = &s->ids, .closed = closed, .arg = s, .held = &s->held
	};
}

static struct space space_empty(bool keep_old)
{
	return (struct space){ .keep_old = keep_old, .changed = TIME_NONE };
}

static void space_test_map(struct space *sp, struct seen *s, uint64_t start,
			   uint64_t end, uint32_t image, int64_t t)
{
	struct space_owner own = space_test_owner(s);
	struct region r = { .start = start,
			    .end = end,
			    .pgoff = image * 0x100000u,
			    .image = image,
			    .t0 = t };

	space_map(sp, &r, &own);
}

/* The image at addr, and checks that its offset is right: 0 for none. */
static uint32_t space_image_at(const struct space *sp, uint64_t addr, int64_t t)
{
	const struct region *r = space_find(sp, addr, t);

	return r ? r->image : 0;
}

static void check_invariants(const struct space *sp)
{
	for (size_t i = 0; i < sp->now.n; i++) {
		const struct region *r = regions_stored(&sp->now, i);

		must(r->start <= r->end - 1);
		must(r->t1 == TIME_NONE);
		if (i)
			must(regions_stored(&sp->now, i - 1)->end - 1 <
			     r->start);
	}
}

/* Ends everything: then each id that was given has one closed region. */
static void space_finish(struct space *sp, struct seen *s)
{
	struct space_owner own = space_test_owner(s);

	space_clear(sp, TIME_NONE, &own);
	bool *got = mem_new(s->ids + 1, sizeof(*got));
	for (size_t i = 0; i < s->n; i++) {
		const struct region *r = &s->closed[i];

		must(r->id >= 1);
		must(r->id <= s->ids);
		must(!got[r->id]);
		got[r->id] = true;
		must(r->t1 == TIME_NONE || r->t1 >= r->t0);
	}
	ck_assert_uint_eq(s->n, s->ids);
	free(got);
	free(s->closed);
	space_release(sp);
}

START_TEST(a_newer_mapping_cuts_an_older_one)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);

	space_test_map(&sp, &s, 0x1000, 0x9000, 1, 1);
	space_test_map(&sp, &s, 0x3000, 0x5000, 2, 2);
	ck_assert_uint_eq(sp.now.n, 3);
	ck_assert_uint_eq(space_image_at(&sp, 0x2fff, TIME_NONE), 1);
	ck_assert_uint_eq(space_image_at(&sp, 0x3000, TIME_NONE), 2);
	ck_assert_uint_eq(space_image_at(&sp, 0x4fff, TIME_NONE), 2);
	const struct region *r = space_find(&sp, 0x5000, TIME_NONE);
	ck_assert_uint_eq(r->image, 1);
	ck_assert_uint_eq(r->pgoff, 0x100000 + 0x4000);
	ck_assert_ptr_null(space_find(&sp, 0x9000, TIME_NONE));
	ck_assert_ptr_null(space_find(&sp, 0xfff, TIME_NONE));
	ck_assert_uint_eq(s.n, 1);
	ck_assert_int_eq(s.closed[0].t1, 2);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_mapping_may_reach_the_end_of_the_address_space)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);

	space_test_map(&sp, &s, 0xffffffffffff0000, 0, 1, 1);
	space_test_map(&sp, &s, 0xfffffffffffff000, 0, 2, 2);
	ck_assert_uint_eq(space_image_at(&sp, UINT64_MAX, TIME_NONE), 2);
	ck_assert_uint_eq(space_image_at(&sp, 0xffffffffffff0000, TIME_NONE),
			  1);
	space_test_map(&sp, &s, 0, 0xffffffffffffffff, 3, 3);
	ck_assert_uint_eq(space_image_at(&sp, 0, TIME_NONE), 3);
	ck_assert_uint_eq(space_image_at(&sp, 0xfffffffffffffffe, TIME_NONE),
			  3);
	ck_assert_uint_eq(space_image_at(&sp, UINT64_MAX, TIME_NONE), 2);
	check_invariants(&sp);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(empty_and_wrapping_mappings_are_ignored)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	space_test_map(&sp, &s, 0x1000, 0x1000, 1, 1);
	space_test_map(&sp, &s, 0x2000, 0x1000, 1, 1);
	space_test_map(&sp, &s, 0, 0, 1, 1);
	space_unmap(&sp, 0x2000, 0x1000, 1, &own);
	ck_assert_uint_eq(sp.now.n, 0);
	ck_assert_uint_eq(s.ids, 0);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(exec_ends_all_mappings_at_its_time)
{
	struct seen s = { 0 };
	struct space sp = space_empty(true);
	struct space_owner own = space_test_owner(&s);

	space_test_map(&sp, &s, 0x1000, 0x2000, 1, 1);
	space_test_map(&sp, &s, 0x3000, 0x4000, 2, 2);
	space_clear(&sp, 7, &own);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_int_eq(s.closed[0].t1, 7);
	ck_assert_uint_eq(space_image_at(&sp, 0x1000, 8), 0);
	ck_assert_uint_eq(space_image_at(&sp, 0x1000, 6), 1);
	ck_assert_uint_eq(space_image_at(&sp, 0x3000, 1), 0);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(exec_keeps_what_was_mapped_for_a_last_look)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	ck_assert_ptr_null(space_before_exec(&sp, 0x1000));
	space_test_map(&sp, &s, 0x1000, 0x2000, 1, 1);
	space_test_map(&sp, &s, 0x3000, 0, 2, 2);
	space_exec(&sp, 7, &own);
	ck_assert_uint_eq(sp.now.n, 0);
	ck_assert_ptr_null(space_before_exec(&sp, 0xfff));
	ck_assert_uint_eq(space_before_exec(&sp, 0x1000)->image, 1);
	ck_assert_ptr_null(space_before_exec(&sp, 0x2000));
	ck_assert_uint_eq(space_before_exec(&sp, UINT64_MAX)->image, 2);
	space_exec(&sp, 8, &own);
	ck_assert_ptr_null(space_before_exec(&sp, 0x1000));
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_forked_child_has_mappings_of_its_own)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space child = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	space_test_map(&sp, &s, 0x1000, 0x3000, 1, 1);
	space_copy(&child, &sp, 5, true, &own);
	space_test_map(&child, &s, 0x1000, 0x2000, 2, 6);
	ck_assert_uint_eq(space_image_at(&sp, 0x1000, TIME_NONE), 1);
	ck_assert_uint_eq(space_image_at(&child, 0x1000, TIME_NONE), 2);
	ck_assert_uint_eq(space_image_at(&child, 0x2000, TIME_NONE), 1);
	ck_assert_int_eq(space_find(&child, 0x2000, TIME_NONE)->t0, 6);
	space_clear(&child, TIME_NONE, &own);
	space_release(&child);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_parent_may_change_before_its_child_does)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space child = space_empty(false);
	struct space grandchild = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	space_test_map(&sp, &s, 0x1000, 0x3000, 1, 1);
	space_test_map(&sp, &s, 0x5000, 0x6000, 2, 2);
	space_copy(&child, &sp, 5, true, &own);
	space_copy(&grandchild, &child, 6, true, &own);
	ck_assert_uint_eq(s.held, 0);
	space_test_map(&sp, &s, 0x2000, 0x3000, 3, 7);
	ck_assert_uint_eq(s.held, 2);
	ck_assert_uint_eq(space_image_at(&sp, 0x2000, TIME_NONE), 3);
	ck_assert_uint_eq(space_image_at(&child, 0x2000, TIME_NONE), 1);
	ck_assert_uint_eq(space_image_at(&grandchild, 0x2000, TIME_NONE), 1);
	space_exec(&child, 8, &own);
	ck_assert_uint_eq(s.n, 1 + 2);
	ck_assert_uint_eq(s.closed[1].id, 3);
	ck_assert_int_eq(s.closed[1].t0, 5);
	ck_assert_int_eq(s.closed[2].t1, 8);
	ck_assert_uint_eq(space_before_exec(&child, 0x2000)->image, 1);
	space_test_map(&grandchild, &s, 0x5800, 0x6000, 4, 9);
	check_invariants(&grandchild);
	ck_assert_int_eq(space_find(&grandchild, 0x1000, TIME_NONE)->t0, 6);
	ck_assert_uint_eq(space_find(&grandchild, 0x1000, TIME_NONE)->id, 5);
	space_clear(&grandchild, 10, &own);
	space_release(&grandchild);
	space_release(&child);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_child_without_rows_is_only_looked_up)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space child = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	space_test_map(&sp, &s, 0x1000, 0x2000, 1, 1);
	space_test_map(&sp, &s, 0x3000, 0x4000, 2, 1);
	space_copy(&child, &sp, 5, false, &own);
	ck_assert_uint_eq(space_image_at(&child, 0x3000, TIME_NONE), 2);
	space_test_map(&child, &s, 0x1000, 0x2000, 3, 6);
	ck_assert_uint_eq(s.ids, 3);
	ck_assert_uint_eq(s.n, 0);
	space_clear(&child, 7, &own);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.closed[0].image, 3);
	space_release(&child);
	ck_assert_uint_eq(s.held, 0);
	space_finish(&sp, &s);
}
END_TEST

/* Each child would be a copy of 4.7 MB: 94 GB in all. */
START_TEST(a_storm_of_forks_costs_no_copies)
{
	struct space *child = mem_new(20000, sizeof(*child));
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space_owner own = space_test_owner(&s);

	for (uint32_t i = 0; i < 65536; i++)
		space_test_map(&sp, &s, (uint64_t)i << 13,
			       ((uint64_t)i << 13) + 0x1000, i + 1, 1);
	for (int i = 0; i < 20000; i++) {
		child[i] = space_empty(false);
		space_copy(&child[i], &sp, 2, false, &own);
	}
	ck_assert_uint_eq(s.held, 0);
	ck_assert_uint_eq(
		space_image_at(&child[19999], 65535ull << 13, TIME_NONE),
		65536);
	for (int i = 0; i < 20000; i++)
		space_release(&child[i]);
	free(child);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_late_mapping_does_not_end_a_newer_one)
{
	struct seen s = { 0 };
	struct space sp = space_empty(true);

	space_test_map(&sp, &s, 0x2000, 0x3000, 1, 10);
	space_test_map(&sp, &s, 0x1000, 0x4000, 2, 5);
	ck_assert_uint_eq(space_image_at(&sp, 0x2000, TIME_NONE), 1);
	ck_assert_uint_eq(space_image_at(&sp, 0x1000, TIME_NONE), 2);
	ck_assert_uint_eq(space_image_at(&sp, 0x3000, TIME_NONE), 2);
	ck_assert_uint_eq(space_image_at(&sp, 0x2000, 7), 2);
	ck_assert_uint_eq(space_find(&sp, 0x3000, TIME_NONE)->pgoff,
			  0x200000 + 0x2000);
	check_invariants(&sp);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(a_change_moves_the_generations)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space_owner own = space_test_owner(&s);
	uint32_t cut, any;

	space_test_map(&sp, &s, 0x1000, 0x2000, 1, 1);
	cut = sp.cut;
	any = sp.any;
	space_test_map(&sp, &s, 0x5000, 0x6000, 2, 2);
	ck_assert_uint_eq(sp.cut, cut);
	ck_assert_uint_ne(sp.any, any);
	space_test_map(&sp, &s, 0x5800, 0x6000, 3, 3);
	ck_assert_uint_ne(sp.cut, cut);
	cut = sp.cut;
	space_unmap(&sp, 0x1000, 0x1800, 4, &own);
	ck_assert_uint_ne(sp.cut, cut);
	cut = sp.cut;
	space_unmap(&sp, 0x8000, 0x9000, 5, &own);
	ck_assert_uint_eq(sp.cut, cut);
	space_finish(&sp, &s);
}
END_TEST

/* Stacks in code stay what they are. */
START_TEST(a_change_of_data_moves_one_generation_only)
{
	struct seen s = { 0 };
	struct space sp = space_empty(false);
	struct space_owner own = space_test_owner(&s);
	struct region data = { .start = 0x1000,
			       .end = 0x3000,
			       .prot = PROT_READ | PROT_WRITE,
			       .t0 = 1 };

	space_map(&sp, &data, &own);
	uint32_t cut = sp.cut;
	uint32_t any = sp.any;

	data.start = 0x2000;
	data.t0 = 2;
	space_map(&sp, &data, &own);
	ck_assert_uint_eq(sp.cut, cut);
	ck_assert_uint_ne(sp.any, any);
	any = sp.any;
	space_unmap(&sp, 0x2800, 0x3000, 3, &own);
	ck_assert_uint_eq(sp.cut, cut);
	ck_assert_uint_ne(sp.any, any);
	space_finish(&sp, &s);
}
END_TEST

START_TEST(ended_mappings_do_not_pile_up_for_ever)
{
	struct seen s = { 0 };
	struct space sp = space_empty(true);

	for (int64_t t = 1; t <= 100000; t++)
		space_test_map(&sp, &s, 0x1000, 0x2000, (uint32_t)t, t);
	ck_assert_uint_le(sp.n_old, 10000);
	ck_assert_uint_eq(space_image_at(&sp, 0x1000, 99990), 99990);
	space_finish(&sp, &s);
}
END_TEST

#define PAGES 48
#define OPS 400

struct op {
	uint64_t start, end; /* pages */
	uint32_t image;
	int64_t t;
};

/* What a page holds at t by the records in op[0..n): the newest of them. */
static const struct op *truth(const struct op *op, size_t n, uint64_t page,
			      int64_t t)
{
	const struct op *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (op[i].t <= t && page >= op[i].start && page < op[i].end &&
		    (!best || op[i].t > best->t))
			best = &op[i];
	return best;
}

/* Pages at both ends of the address space, so that the last one ends at
 * 2^64. */
static uint64_t space_address(uint64_t page)
{
	return page < PAGES / 2 ? page << 12
				: 0 - ((uint64_t)(PAGES - page) << 12);
}

static void space_compare(const struct space *sp, const struct op *op, size_t n,
			  uint64_t page, int64_t t)
{
	uint64_t addr = space_address(page) + 0x123;
	const struct region *r = space_find(sp, addr, t);
	const struct op *want =
		truth(op, n, page, t == TIME_NONE ? 1 << 30 : t);

	/* Before everything known the next mapping is the guess: no check. */
	if (!want) {
		must(!r || r->since > t);
		return;
	}
	must(r);
	must(r->image == want->image);
	must(addr - r->start + r->pgoff ==
	     addr - space_address(want->start) + want->image * 0x100000u);
}

/* late: how many places a record may come later than its time says. */
static void against_model(uint64_t seed, int64_t late)
{
	struct op op[OPS];
	struct seen s = { 0 };
	struct space sp = space_empty(true);

	for (size_t i = 0; i < OPS; i++) {
		uint64_t half = rnd_below(&seed, 2) * (PAGES / 2);
		uint64_t start = rnd_below(&seed, PAGES / 2);
		uint64_t len = 1 + rnd_below(&seed, PAGES / 2 - start);
		int64_t back =
			late ? (int64_t)rnd_below(&seed, (uint64_t)late) : 0;

		/* Times are all different: twice the place, less an odd. */
		op[i] = (struct op){ half + start, half + start + len,
				     (uint32_t)i + 1,
				     1000 + 1000 * (int64_t)i - 1000 * back -
					     (int64_t)i };
		space_test_map(&sp, &s, space_address(op[i].start),
			       space_address(op[i].start) + (len << 12),
			       op[i].image, op[i].t);
		check_invariants(&sp);
		for (uint64_t page = 0; page < PAGES; page++) {
			int64_t t = 1000 * (int64_t)rnd_below(&seed, i + 2);

			space_compare(&sp, op, i + 1, page, TIME_NONE);
			space_compare(&sp, op, i + 1, page, t);
		}
	}
	space_finish(&sp, &s);
}

START_TEST(lookups_now_and_in_the_past_agree_with_a_model)
{
	for (uint64_t seed = 1; seed <= 16 / RUN_FEWER; seed++)
		against_model(seed, 0);
}
END_TEST

START_TEST(lookups_agree_with_a_model_when_records_come_late)
{
	for (uint64_t seed = 1; seed <= 16 / RUN_FEWER; seed++)
		against_model(seed, 8);
}
END_TEST

RUN("space", a_newer_mapping_cuts_an_older_one,
    a_mapping_may_reach_the_end_of_the_address_space,
    empty_and_wrapping_mappings_are_ignored, exec_ends_all_mappings_at_its_time,
    exec_keeps_what_was_mapped_for_a_last_look,
    a_forked_child_has_mappings_of_its_own,
    a_parent_may_change_before_its_child_does,
    a_child_without_rows_is_only_looked_up, a_storm_of_forks_costs_no_copies,
    a_late_mapping_does_not_end_a_newer_one, a_change_moves_the_generations,
    a_change_of_data_moves_one_generation_only,
    ended_mappings_do_not_pile_up_for_ever,
    lookups_now_and_in_the_past_agree_with_a_model,
    lookups_agree_with_a_model_when_records_come_late)
