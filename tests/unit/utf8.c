/* utf8.c - tests of stitch/base/utf8.c. */
#include "stitch/base/utf8.h"

#include <string.h>

#include "tests/unit/run.h"

static uint32_t value(const char *s, size_t want)
{
	uint32_t c = 0;

	ck_assert_uint_eq(utf8_char(s, strlen(s), &c), want);
	return c;
}

START_TEST(characters_of_each_length_are_read)
{
	ck_assert_uint_eq(value("a", 1), 'a');
	ck_assert_uint_eq(value("\xc3\xa4", 2), 0xe4);
	ck_assert_uint_eq(value("\xe2\x82\xac", 3), 0x20ac);
	ck_assert_uint_eq(value("\xf0\x9f\xa7\xb5", 4), 0x1f9f5);
	ck_assert_uint_eq(value("\xf4\x8f\xbf\xbd", 4), 0x10fffd);
}
END_TEST

START_TEST(what_is_no_utf8_is_none)
{
	static const char *const bad[] = {
		"\x80",
		"\xff",
		"\xc0\xaf",
		"\xc3",
		"\xc3\x28",
		"\xe0\x80\xaf",
		"\xe2\x82",
		"\xed\xa0\x80",
		"\xf0\x80\x80\xaf",
		"\xf0\x9f\xa7",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		value(bad[i], 0);
	/* cut by the length, not by a 0 */
	ck_assert_uint_eq(utf8_safe("\xe2\x82\xac", 2), 0);
	ck_assert_uint_eq(utf8_safe("", 0), 0);
}
END_TEST

START_TEST(what_commands_or_hides_is_not_shown)
{
	static const uint32_t hidden[] = {
		0,	0x1b,	0x7f,	0x80,	0x9b,	 0xad,
		0x61c,	0x200b, 0x200f, 0x2028, 0x202e,	 0x2066,
		0x2069, 0xfeff, 0xfffe, 0xfdd0, 0xe0001,
	};
	static const uint32_t shown[] = { ' ',	  '~',	  0xa0,	  0xe9,
					  0x20ac, 0x65e5, 0xfffd, 0x1f600 };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		ck_assert(!utf8_shown(hidden[i]));
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		ck_assert(utf8_shown(shown[i]));
}
END_TEST

RUN("utf8", characters_of_each_length_are_read, what_is_no_utf8_is_none,
    what_commands_or_hides_is_not_shown)
