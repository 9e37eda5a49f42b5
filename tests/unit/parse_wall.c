/* parse_wall.c - times of the day, as date(1) reads them. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stitch/text/parse_number.h"
#include "tests/unit/run.h"

#define S 1000000000LL
/* date -u -d '2026-11-28 03:12:04' +%s */
#define T (1795835524LL * S)

static const struct {
	const char *what, *text;
	int64_t from, to; /* from T on; 0, 0: no time */
} wall_cases[] = {
	{ "a_second", "2026-11-28 03:12:04Z", 0, S },
	{ "a_zone_by_name", "2026-11-28T03:12:04 UTC", 0, S },
	{ "a_zone_east", "2026-11-28 05:12:04+0200", 0, S },
	{ "a_zone_west", "2026-11-27 19:42:04-07:30", 0, S },
	{ "no_zone_is_that_of_tz", "2026-11-28 04:12:04", 0, S },
	{ "decimals", "2026-11-28 03:12:04.5Z", S / 2, S / 2 + S / 10 },
	{ "milliseconds_with_a_comma", "2026-11-28 03:12:04,512Z",
	  512 * S / 1000, 513 * S / 1000 },
	{ "nanoseconds", "2026-11-28 03:12:04.000000001Z", 1, 2 },
	{ "more_decimals_are_cut", "2026-11-28 03:12:04.00000000199Z", 1, 2 },
	{ "a_span", "2026-11-28 03:12:04.5Z+1s", S / 2, 3 * S / 2 },
	{ "a_span_without_a_zone", "2026-11-28 04:12:04.5+250ms", S / 2,
	  3 * S / 4 },
	{ "a_span_that_looks_like_a_zone", "2026-11-28 04:12:04+1000ms", 0, S },
	{ "two_times", "2026-11-28 03:12:04Z,2026-11-28 03:12:06.25Z", 0,
	  9 * S / 4 },
	{ "postgresql",
	  "2026-11-28 03:12:06.500 UTC [41] LOG:  duration: 2500.000 ms  statement: x",
	  0, 5 * S / 2 + S / 1000 },
	{ "mariadb",
	  "# Time: 2026-11-28T03:12:06Z Query_time: 2.0  Lock_time: 1", 0,
	  3 * S },
	{ "a_web_server",
	  "1.2.3.4 - - [28/Nov/2026:03:12:04 +0000] \"GET / HTTP/1.1\" 200", 0,
	  S },
	{ "seconds_are_none", "32084.154698,32086.076627", 0, 0 },
	{ "a_share_is_none", "10%-20%", 0, 0 },
	{ "a_month_that_is_none", "2026-13-28 03:12:04", 0, 0 },
	{ "an_hour_that_is_none", "2026-11-28 24:12:04", 0, 0 },
	{ "before_1970", "1969-12-31 23:59:59Z", 0, 0 },
	{ "behind_2262", "9999-11-28 03:12:04Z", 0, 0 },
	{ "backwards", "2026-11-28 03:12:04Z,2026-11-28 03:12:03Z", 0, 0 },
	{ "empty", "", 0, 0 },
	{ "cut_off", "2026-11-28 03:12", 0, 0 },
	{ "a_long_number", "92026-11-28 03:12:04Z", 0, 0 },
};

START_TEST(times_of_the_day_are_read)
{
	int64_t from = 0, to = 0;
	bool is;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	is = parse_wall(wall_cases[_i].text, &from, &to);
	ck_assert_int_eq(is, wall_cases[_i].to != 0);
	if (!is)
		return;
	ck_assert_int_eq(from - T, wall_cases[_i].from);
	ck_assert_int_eq(to - T, wall_cases[_i].to);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(times_of_the_day_are_read, wall_cases),
};

START_TEST(text_of_any_kind_is_harmless)
{
	static const char some[] = "0123456789-:/ T.,+ZNovd";
	char text[64];
	int64_t from, to;

	for (int n = 0; n < 200000; n++) {
		size_t len = (size_t)rand() % (sizeof(text) - 1);

		for (size_t i = 0; i < len; i++)
			text[i] = some[(size_t)rand() % (sizeof(some) - 1)];
		text[len] = '\0';
		if (parse_wall(text, &from, &to))
			must(from < to);
	}
}
END_TEST

RUN_TABLES("parse_wall", tables, text_of_any_kind_is_harmless)
