/* err.c - tests of stitch/base/err.c. */
#include <string.h>

#include "stitch/base/err.h"
#include "tests/unit/run.h"

START_TEST(message_at_a_place_starts_with_path_and_offset)
{
	struct err err;

	ck_assert_int_eq(err_at(&err, "perf.data", 0x1f40, "is %d bytes", 12),
			 -1);
	ck_assert_str_eq(err.msg, "perf.data+0x1f40: is 12 bytes");
	ck_assert_int_eq(err.code, ERR_FORMAT);
}
END_TEST

START_TEST(nobody_has_to_want_the_message)
{
	ck_assert_int_eq(err_set(NULL, ERR_IO, "x"), -1);
	ck_assert_int_eq(err_at(NULL, "p", 1, "x"), -1);
	ck_assert_int_eq(err_while(NULL, "x"), -1);
}
END_TEST

START_TEST(control_bytes_are_shown_and_not_sent)
{
	struct err err;

	err_set(&err, ERR_IO, "a%cb\nc%cd", 0x1b, 0x7f);
	ck_assert_str_eq(err.msg, "a\\x1bb\\x0ac\\x7fd");
}
END_TEST

START_TEST(c1_bytes_are_shown_raw_or_as_utf8)
{
	struct err err;

	err_set(&err, ERR_IO, "a%sb%sc", "\x9b", "\xc2\x9b");
	ck_assert_str_eq(err.msg, "a\\x9bb\\xc2\\x9bc");
}
END_TEST

START_TEST(utf8_names_stay_readable)
{
	struct err err;

	err_set(&err, ERR_IO, "%s", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\xa7\xb5");
	ck_assert_str_eq(err.msg, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\xa7\xb5");
}
END_TEST

START_TEST(broken_utf8_is_shown_as_bytes)
{
	struct err err;

	err_set(&err, ERR_IO, "%s", "\xe2\x82");
	ck_assert_str_eq(err.msg, "\\xe2\\x82");
}
END_TEST

START_TEST(while_goes_in_front)
{
	struct err err;

	err_set(&err, ERR_DB, "disk full");
	err_while(&err, "writing '%s'", "a.db");
	ck_assert_str_eq(err.msg, "while writing 'a.db': disk full");
	ck_assert_int_eq(err.code, ERR_DB);
}
END_TEST

START_TEST(long_names_do_not_push_the_cause_out)
{
	struct err err;
	char name[2000];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	err_set(&err, ERR_DB, "disk full");
	err_while(&err, "writing %s", name);
	ck_assert_ptr_nonnull(strstr(err.msg, "disk full"));
}
END_TEST

START_TEST(messages_longer_than_the_room_are_cut)
{
	struct err err;
	char name[2000];

	memset(name, 1, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	err_at(&err, name, 0, "%s", name);
	ck_assert_uint_lt(strlen(err.msg), sizeof(err.msg));
	err_while(&err, "%s", name);
	ck_assert_uint_lt(strlen(err.msg), sizeof(err.msg));
}
END_TEST

RUN("err", message_at_a_place_starts_with_path_and_offset,
    nobody_has_to_want_the_message, control_bytes_are_shown_and_not_sent,
    c1_bytes_are_shown_raw_or_as_utf8, utf8_names_stay_readable,
    broken_utf8_is_shown_as_bytes, while_goes_in_front,
    long_names_do_not_push_the_cause_out, messages_longer_than_the_room_are_cut)
