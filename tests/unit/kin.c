/* kin.c - tests of stitch/tasks/kin.c. */
#include "stitch/tasks/kin.h"

#include "tests/unit/run.h"

START_TEST(ranges_that_touch_are_one)
{
	struct kins ks = { 0 };
	uint32_t k = kins_join(&ks, 0);

	kins_map(&ks, k, 0x5000, 0x6000);
	kins_map(&ks, k, 0x1000, 0x2000);
	kins_map(&ks, k, 0x3000, 0x4000);
	ck_assert_uint_eq(ks.kin[0].n, 3);
	ck_assert(kins_maps(&ks, k, 0x1000) && kins_maps(&ks, k, 0x1fff));
	ck_assert(!kins_maps(&ks, k, 0xfff) && !kins_maps(&ks, k, 0x2000));
	ck_assert(!kins_maps(&ks, k, 0x6000));
	kins_map(&ks, k, 0x2000, 0x3000);
	ck_assert_uint_eq(ks.kin[0].n, 2);
	ck_assert(kins_maps(&ks, k, 0x2000) && kins_maps(&ks, k, 0x3000));
	kins_map(&ks, k, 0x1800, 0x1900);
	ck_assert_uint_eq(ks.kin[0].n, 2);
	kins_map(&ks, k, 0, 0x10000);
	ck_assert_uint_eq(ks.kin[0].n, 1);
	ck_assert(kins_maps(&ks, k, 0x4800));
	/* a range that wraps is none */
	kins_map(&ks, k, 0x20000, 0);
	ck_assert(!kins_maps(&ks, k, 0x20000));
	kins_release(&ks);
}
END_TEST

START_TEST(the_last_member_takes_the_ranges_along)
{
	struct kins ks = { 0 };
	uint32_t k = kins_join(&ks, 0);

	ck_assert_uint_eq(kins_join(&ks, k), k);
	kins_map(&ks, k, 0x1000, 0x2000);
	kins_leave(&ks, k);
	ck_assert(kins_maps(&ks, k, 0x1000));
	kins_leave(&ks, k);
	ck_assert_uint_eq(kins_join(&ks, 0), k);
	ck_assert(!kins_maps(&ks, k, 0x1000));
	kins_leave(&ks, 0);
	kins_map(&ks, 0, 0x1000, 0x2000);
	ck_assert(!kins_maps(&ks, 0, 0x1000));
	kins_release(&ks);
}
END_TEST

/* Nothing is judged then that lies between the ranges. */
START_TEST(too_many_ranges_become_one)
{
	struct kins ks = { 0 };
	uint32_t k = kins_join(&ks, 0);

	for (uint64_t i = 0; i < 5000; i++)
		kins_map(&ks, k, i * 0x2000, i * 0x2000 + 0x1000);
	ck_assert_uint_le(ks.kin[0].n, 1024);
	for (uint64_t i = 0; i < 5000; i++)
		ck_assert(kins_maps(&ks, k, i * 0x2000));
	kins_release(&ks);
}
END_TEST

RUN("kin", ranges_that_touch_are_one, the_last_member_takes_the_ranges_along,
    too_many_ranges_become_one)
