/* bounds.c - tests of formats/reader/bounds.h. */
#include "formats/reader/bounds.h"

#include "tests/unit/run.h"

/* Returns after how many records of `later` the time is near again, which were
 * of `first` before. */
static unsigned int bounds_until_near(uint64_t first, uint64_t later)
{
	struct near_time near = { .time = 0 };
	unsigned int n = 0;

	for (unsigned int i = 0; i < 2 * TIMES_FAR_MAX; i++)
		must(!near_time_is_far(&near, first));
	while (near_time_is_far(&near, later))
		n++;
	return n;
}

START_TEST(times_that_are_years_apart_are_far_in_both_directions)
{
	const uint64_t last = UINT64_MAX;

	ck_assert_uint_eq(bounds_until_near(5, 5 + YEAR_NS), 0);
	ck_assert_uint_eq(bounds_until_near(5 + YEAR_NS, 5), 0);
	ck_assert_uint_eq(bounds_until_near(5, 6 + YEAR_NS), TIMES_FAR_MAX - 1);
	ck_assert_uint_eq(bounds_until_near(6 + YEAR_NS, 5), TIMES_FAR_MAX - 1);
	ck_assert_uint_eq(bounds_until_near(5, last - 5), TIMES_FAR_MAX - 1);
	/* they are not near because the numbers begin again there */
	ck_assert_uint_eq(bounds_until_near(last - 5, 5), TIMES_FAR_MAX - 1);
}
END_TEST

RUN("bounds", times_that_are_years_apart_are_far_in_both_directions)
