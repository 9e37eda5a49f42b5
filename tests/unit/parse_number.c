/* parse_number.c - tests of the numbers and durations that users type. */
#include "stitch/text/parse_number.h"

#include <stddef.h>

#include "tests/unit/run.h"

/* Reads text, of which `rest` must be left. */
static int64_t decimal(const char *text, unsigned int places, const char *rest)
{
	const char *p = text;
	int64_t v = -1;

	ck_assert_int_eq(parse_decimal(&p, places, &v), 0);
	ck_assert_str_eq(p, rest);
	return v;
}

START_TEST(decimals_are_read_exactly_and_cut)
{
	ck_assert_int_eq(decimal("12", 0, ""), 12);
	ck_assert_int_eq(decimal("12.5,13", 9, ",13"), 12500000000);
	ck_assert_int_eq(decimal("0.1%", 6, "%"), 100000);
	ck_assert_int_eq(decimal(".5", 1, ""), 5);
	ck_assert_int_eq(decimal("5.", 1, ""), 50);
	ck_assert_int_eq(decimal("1.9999", 3, ""), 1999);
	ck_assert_int_eq(decimal("1.9", 0, ""), 1);
	ck_assert_int_eq(decimal("1.2.3", 1, ".3"), 12);
	ck_assert_int_eq(decimal("9223372036.854775807", 9, ""), INT64_MAX);
}
END_TEST

START_TEST(what_is_no_decimal_or_too_large_is_refused)
{
	static const char *const bad[] = {
		"",	"-1",	     ".",
		"x",	"inf",	     "9223372036.854775808",
		" 1.5", "+1",	     "99999999999999999999",
		",5",	"9223372037"
	};
	int64_t v = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *p = bad[i];

		ck_assert_int_eq(parse_decimal(&p, 9, &v), -1);
		ck_assert_ptr_eq(p, bad[i]);
	}
	ck_assert_int_eq(v, 7);
}
END_TEST

START_TEST(times_have_a_unit)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "200ms", 200000000 },
		{ "1.5ms", 1500000 },
		{ "1.5s", 1500000000 },
		{ "5m", 300000000000 },
		{ "2h", 7200000000000 },
		{ "1d", 86400000000000 },
		{ "10000000000ms", 10000000000000000 },
	};
	static const char *const bad[] = {
		"",	 "10",	    "s",   "10S",  "10s ",	     "10M",
		"0x10s", "200000d", "-1s", "1e1s", "9223372036855ms"
	};
	int64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_int_eq(parse_duration(good[i].text, &ns), 0);
		ck_assert_int_eq(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(parse_duration(bad[i], &ns), -1);
}
END_TEST

RUN("typed", decimals_are_read_exactly_and_cut,
    what_is_no_decimal_or_too_large_is_refused, times_have_a_unit)
