/* clocks.c - times as UTC; how clocks lead to each other is in align.c. */
/* A process for each test: another time zone stays. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stitch/order/clocks.h"
#include "tests/unit/run.h"

static void clocks_expect(int64_t ns, const char *want)
{
	char buf[CLOCK_UTC_SIZE];

	ck_assert_uint_eq(clock_utc(ns, buf), strlen(want));
	ck_assert_str_eq(buf, want);
}

START_TEST(a_time_is_utc_with_nine_digits)
{
	clocks_expect(0, "1970-01-01T00:00:00.000000000Z");
	clocks_expect(1795141530987255272, "2026-11-20T02:25:30.987255272Z");
	clocks_expect(951782400000000001, "2000-02-29T00:00:00.000000001Z");
}
END_TEST

START_TEST(a_time_before_1970_has_a_fraction_that_goes_forward)
{
	clocks_expect(-1, "1969-12-31T23:59:59.999999999Z");
	clocks_expect(-1000000000, "1969-12-31T23:59:59.000000000Z");
	clocks_expect(-1500000000, "1969-12-31T23:59:58.500000000Z");
}
END_TEST

START_TEST(the_ends_of_time_can_be_written)
{
	clocks_expect(INT64_MAX, "2262-04-11T23:47:16.854775807Z");
	clocks_expect(INT64_MIN, "1677-09-21T00:12:43.145224192Z");
}
END_TEST

START_TEST(the_time_zone_does_not_matter)
{
	setenv("TZ", "America/New_York", 1);
	tzset();
	clocks_expect(0, "1970-01-01T00:00:00.000000000Z");
}
END_TEST

RUN("clocks", a_time_is_utc_with_nine_digits,
    a_time_before_1970_has_a_fraction_that_goes_forward,
    the_ends_of_time_can_be_written, the_time_zone_does_not_matter)
