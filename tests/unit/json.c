/* json.c - tests of the writer of JSON. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/text/json.h"
#include "run.h"

static char *got;
static size_t got_len;
static struct json j;

static void json_test_start(enum json_form form)
{
	free(got);
	got = NULL;
	json_open(&j, open_memstream(&got, &got_len), form);
}

static void json_test_members(bool in_object)
{
	free(got);
	got = NULL;
	json_open_members(&j, open_memstream(&got, &got_len), in_object);
}

/* The text so far. */
static const char *text(void)
{
	fclose(j.out);
	return got;
}

static const char *string(const char *s, size_t len)
{
	json_test_start(JSON_COMPACT);
	json_text_len(&j, NULL, s, len);
	return text();
}

static const char *json_test_real(double v)
{
	json_test_start(JSON_COMPACT);
	json_real(&j, NULL, v);
	return text();
}

static void tree(void)
{
	json_object(&j, NULL);
	json_array(&j, "a");
	json_int(&j, NULL, INT64_MIN);
	json_object(&j, NULL);
	json_bool(&j, "t", true);
	json_uint(&j, "u", UINT64_MAX);
	json_end(&j);
	json_null(&j, NULL);
	json_end(&j);
	json_object(&j, "o");
	json_end(&j);
	json_hex(&j, "h", 0x1f);
	json_end(&j);
}

START_TEST(compact_form_has_no_blanks)
{
	json_test_start(JSON_COMPACT);
	tree();
	ck_assert_str_eq(text(), "{\"a\":[-9223372036854775808,{\"t\":true,"
				 "\"u\":18446744073709551615},null],\"o\":{},"
				 "\"h\":\"0x1f\"}");
}
END_TEST

START_TEST(pretty_form_has_a_line_for_each_member)
{
	json_test_start(JSON_PRETTY);
	tree();
	ck_assert_str_eq(text(), "{\n  \"a\":[\n    -9223372036854775808,\n"
				 "    {\n      \"t\":true,\n"
				 "      \"u\":18446744073709551615\n    },\n"
				 "    null\n  ],\n  \"o\":{\n  },\n"
				 "  \"h\":\"0x1f\"\n}");
}
END_TEST

START_TEST(lines_and_breaks_come_where_they_are_asked_for)
{
	json_test_start(JSON_COMPACT);
	json_object(&j, NULL);
	json_lines(&j);
	json_int(&j, "v", 1);
	json_array(&j, "e");
	json_lines(&j);
	json_end(&j);
	json_array(&j, "b");
	json_break(&j);
	json_int(&j, NULL, 1);
	json_int(&j, NULL, 2);
	json_break(&j);
	json_int(&j, NULL, 3);
	json_break(&j);
	json_end(&j);
	json_newline(&j);
	json_array(&j, "n");
	json_break(&j);
	json_end(&j);
	json_end(&j);
	json_newline(&j);
	ck_assert_str_eq(text(), "{\n\"v\": 1,\n\"e\": [],\n"
				 "\"b\": [\n1,2,\n3\n]\n,\n\"n\": [\n]\n}\n");
}
END_TEST

START_TEST(utf8_passes_and_what_hides_is_escaped)
{
	ck_assert_str_eq(string("\xc3\xa4/\"\\\b\n\x01\x0b\x7f", 10),
			 "\"\xc3\xa4/\\\"\\\\\\b\\n\\u0001\\u000b\\u007f\"");
	ck_assert_str_eq(string("a\xe2\x80\xaez", 5), "\"a\\u202ez\"");
	ck_assert_str_eq(string("\xf3\xa0\x81\x81", 4), "\"\\udb40\\udc41\"");
}
END_TEST

START_TEST(a_string_that_is_no_utf8_is_made_safe)
{
	ck_assert_str_eq(string("\xc3\xa4\xff\n", 4),
			 "\"\xc3\xa4\\\\xff\\\\x0a\"");
	ck_assert_str_eq(string("a\0b", 3), "\"a\\\\x00b\"");
	ck_assert(json_can("\xc3\xa4", 2));
	ck_assert(!json_can("\xc3", 1));
	ck_assert(!json_can("a\0", 2));
}
END_TEST

START_TEST(a_long_string_is_made_safe_in_parts)
{
	char s[700];

	for (size_t i = 0; i + 2 <= sizeof(s); i += 2)
		memcpy(s + i, "\xc3\xa4", 2);
	s[0] = 'a';
	s[1] = (char)0xff;
	const char *t = string(s, sizeof(s));

	ck_assert_uint_eq(strlen(t), sizeof(s) - 1 + 5 + 2);
	for (size_t i = 7; i + 2 < strlen(t); i += 2)
		ck_assert_mem_eq(t + i, "\xc3\xa4", 2);
}
END_TEST

START_TEST(shown_text_keeps_its_escapes)
{
	json_test_start(JSON_COMPACT);
	json_shown(&j, NULL, "a\n\xe2\x80\xae\"\xff");
	ck_assert_str_eq(text(), "\"a\\\\x0a\\\\u202e\\\"\\\\xff\"");
}
END_TEST

START_TEST(html_form_has_no_less_than_sign)
{
	json_test_start(JSON_HTML);
	json_object(&j, NULL);
	json_text(&j, "</script>", "<!--");
	json_shown(&j, "s", "<\n");
	json_end(&j);
	ck_assert_str_eq(text(), "{\n\"\\u003c/script>\":\"\\u003c!--\",\n"
				 "\"s\":\"\\u003c\\\\x0a\"\n}");
}
END_TEST

START_TEST(doubles_have_all_their_digits)
{
	ck_assert_str_eq(json_test_real(0.1), "0.10000000000000001");
	ck_assert_str_eq(json_test_real(3), "3.0");
	ck_assert_str_eq(json_test_real(-0.0), "-0.0");
	ck_assert_str_eq(json_test_real(1e300), "1.0000000000000001e+300");
	ck_assert_str_eq(json_test_real(1e17), "1e+17");
	ck_assert_str_eq(json_test_real(NAN), "null");
	ck_assert_str_eq(json_test_real(INFINITY), "9e999");
	ck_assert_str_eq(json_test_real(-INFINITY), "-9e999");
}
END_TEST

START_TEST(numbers_of_fixed_point_are_cut)
{
	json_test_start(JSON_COMPACT);
	json_array(&j, NULL);
	json_fixed(&j, NULL, 1999999, 1000000, 3);
	json_int_or_null(&j, NULL, 7, false);
	json_text(&j, NULL, NULL);
	json_hex_bytes(&j, NULL, "\x0f\xa0", 2);
	json_end(&j);
	ck_assert_str_eq(text(), "[1.999,null,null,\"0fa0\"]");
}
END_TEST

START_TEST(members_made_before_are_put_in_as_they_are)
{
	json_test_start(JSON_COMPACT);
	json_object(&j, NULL);
	json_members(&j, "", 0);
	json_members(&j, "\"a\":1,\"b\":2", 11);
	json_number(&j, "c", "1e3");
	json_end(&j);
	ck_assert_str_eq(text(), "{\"a\":1,\"b\":2,\"c\":1e3}");
	json_test_members(true);
	json_int(&j, "a", 1);
	json_int(&j, "b", 2);
	ck_assert_str_eq(text(), "\"a\":1,\"b\":2");
	json_test_members(false);
	json_int(&j, NULL, 1);
	json_int(&j, NULL, 2);
	ck_assert_str_eq(text(), "1,2");
	json_test_start(JSON_COMPACT);
	json_array(&j, NULL);
	json_int(&j, NULL, 0);
	json_members(&j, "1,2", 3);
	json_end(&j);
	ck_assert_str_eq(text(), "[0,1,2]");
}
END_TEST

START_TEST(a_failed_write_is_kept)
{
	json_open(&j, fopen("/dev/full", "w"), JSON_COMPACT);
	setvbuf(j.out, NULL, _IONBF, 0);
	ck_assert(!json_failed(&j));
	json_int(&j, NULL, 1);
	ck_assert(json_failed(&j));
	fclose(j.out);
}
END_TEST

RUN("json", compact_form_has_no_blanks, pretty_form_has_a_line_for_each_member,
    lines_and_breaks_come_where_they_are_asked_for,
    utf8_passes_and_what_hides_is_escaped,
    a_string_that_is_no_utf8_is_made_safe, a_long_string_is_made_safe_in_parts,
    shown_text_keeps_its_escapes, html_form_has_no_less_than_sign,
    doubles_have_all_their_digits, numbers_of_fixed_point_are_cut,
    members_made_before_are_put_in_as_they_are, a_failed_write_is_kept)
