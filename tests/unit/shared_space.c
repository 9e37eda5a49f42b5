/* shared_space.c - tests of stitch/tasks/space.c. */
#include "stitch/tasks/space.h"

#include "tests/unit/run.h"

START_TEST(ranges_that_touch_are_one)
{
	struct shared_spaces ks = { 0 };
	uint32_t k = shared_spaces_join(&ks, 0);

	shared_spaces_map(&ks, k, 0x5000, 0x6000);
	shared_spaces_map(&ks, k, 0x1000, 0x2000);
	shared_spaces_map(&ks, k, 0x3000, 0x4000);
	ck_assert_uint_eq(ks.kin[0].n, 3);
	ck_assert(shared_spaces_maps(&ks, k, 0x1000) &&
		  shared_spaces_maps(&ks, k, 0x1fff));
	ck_assert(!shared_spaces_maps(&ks, k, 0xfff) &&
		  !shared_spaces_maps(&ks, k, 0x2000));
	ck_assert(!shared_spaces_maps(&ks, k, 0x6000));
	shared_spaces_map(&ks, k, 0x2000, 0x3000);
	ck_assert_uint_eq(ks.kin[0].n, 2);
	ck_assert(shared_spaces_maps(&ks, k, 0x2000) &&
		  shared_spaces_maps(&ks, k, 0x3000));
	shared_spaces_map(&ks, k, 0x1800, 0x1900);
	ck_assert_uint_eq(ks.kin[0].n, 2);
	shared_spaces_map(&ks, k, 0, 0x10000);
	ck_assert_uint_eq(ks.kin[0].n, 1);
	ck_assert(shared_spaces_maps(&ks, k, 0x4800));
	/* a range that wraps is none */
	shared_spaces_map(&ks, k, 0x20000, 0);
	ck_assert(!shared_spaces_maps(&ks, k, 0x20000));
	shared_spaces_release(&ks);
}
END_TEST

START_TEST(the_last_member_takes_the_ranges_along)
{
	struct shared_spaces ks = { 0 };
	uint32_t k = shared_spaces_join(&ks, 0);

	ck_assert_uint_eq(shared_spaces_join(&ks, k), k);
	shared_spaces_map(&ks, k, 0x1000, 0x2000);
	shared_spaces_leave(&ks, k);
	ck_assert(shared_spaces_maps(&ks, k, 0x1000));
	shared_spaces_leave(&ks, k);
	ck_assert_uint_eq(shared_spaces_join(&ks, 0), k);
	ck_assert(!shared_spaces_maps(&ks, k, 0x1000));
	shared_spaces_leave(&ks, 0);
	shared_spaces_map(&ks, 0, 0x1000, 0x2000);
	ck_assert(!shared_spaces_maps(&ks, 0, 0x1000));
	shared_spaces_release(&ks);
}
END_TEST

/* Nothing is judged then that lies between the ranges. */
START_TEST(too_many_ranges_become_one)
{
	struct shared_spaces ks = { 0 };
	uint32_t k = shared_spaces_join(&ks, 0);

	for (uint64_t i = 0; i < 5000; i++)
		shared_spaces_map(&ks, k, i * 0x2000, i * 0x2000 + 0x1000);
	ck_assert_uint_le(ks.kin[0].n, 1024);
	for (uint64_t i = 0; i < 5000; i++)
		ck_assert(shared_spaces_maps(&ks, k, i * 0x2000));
	shared_spaces_release(&ks);
}
END_TEST

RUN("kin", ranges_that_touch_are_one, the_last_member_takes_the_ranges_along,
    too_many_ranges_become_one)
