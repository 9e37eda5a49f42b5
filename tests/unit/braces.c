/* braces.c - tests of the text of CTF fields. */
#include "formats/tracepoint/pointed.h"

#include <string.h>

#include "stitch/base/text_out.h"
#include "tests/unit/run.h"

static const struct {
	const char *text;
	char how;
	const char *want;
} texts[] = {
	{ "", 's', "\"\"" },
	{ "a b", 's', "\"a b\"" },
	{ "q\"u\\o\n\t\x01\x1b\x7f?'\xc3\xa9", 's',
	  "\"q\\\"u\\\\o\\n\\t\\x01\\e\\x7f\\?\\'\xc3\xa9\"" },
	{ "", 'l', "<unknown>" },
	{ "IDLE", 'l', "\"IDLE\"" },
	{ "RUN|two words", 'l', "\"RUN\", \"two words\"" },
	{ "[]", 'j', "[ ]" },
	{ "[5,-6]", 'j', "[ [0] = 5, [1] = -6 ]" },
	{ "[\"0xab\",\"0x0\",\"18446744073709551615\"]", 'j',
	  "[ [0] = 0xAB, [1] = 0x0, [2] = 18446744073709551615 ]" },
	{ "[\"abc\",\"0x\",\"12\",\"a\\\"\\u000a,]\"]", 'j',
	  "[ [0] = \"abc\", [1] = \"0x\", [2] = \"12\", [3] = "
	  "\"a\\\"\\n,]\" ]" },
	{ "[\"\\\\u0041\"]", 'j', "[ [0] = \"\\\\u0041\" ]" },
	{ "[{\"x\":1,\"y\":[]},{\"x\":3,\"y\":[1.5]}]", 'j',
	  "[ [0] = { x = 1, y = [ ] }, [1] = { x = 3, y = [ [0] = 1.5 ] } ]" },
	{ "{}", 'j', "{ }" },
	{ "77", 'v', "{ 77 }" },
	{ "0xff", 'v', "{ 0xFF }" },
	{ "-1.5e+10", 'v', "{ -1.5e+10 }" },
	{ "abc", 'v', "{ \"abc\" }" },
	{ "", 'v', "{ \"\" }" },
	{ "{\"p\":3}", 'v', "{ { p = 3 } }" },
	/* cut at 64 KiB, or never JSON */
	{ "[1,\"ab", 'j', "[ [0] = 1, [1] = \"ab\"" },
	{ "[[[", 'j', "[ [0] = [ [0] = [ " },
	{ "]}", 'j', "]}" },
	{ "{\"", 'j', "{  = " },
	{ "\"\\u00", 'j', "\"\\x00\"" },
};

START_TEST(texts_are_as_babeltrace2_prints_them)
{
	const struct expr_value v = { .kind = EXPR_TEXT,
				      .text = texts[_i].text };
	char buf[256] = "";
	struct text_out o = { .buf = buf, .size = sizeof(buf) };

	ck_assert(tp_out_braces(&o, texts[_i].how, -1, &v));
	ck_assert_str_eq(buf, texts[_i].want);
}
END_TEST

START_TEST(numbers_and_bytes_are_as_babeltrace2_prints_them)
{
	static const unsigned char bytes[] = { 0, 0x93, 0xff };
	const struct expr_value blob = { .kind = EXPR_BLOB,
					 .blob = bytes,
					 .len = sizeof(bytes) };
	const struct expr_value none = { .kind = EXPR_NUM };
	const struct expr_value minus = { .kind = EXPR_NUM, .num = -3ull };
	char buf[256] = "";
	struct text_out o = { .buf = buf, .size = sizeof(buf) };

	ck_assert(tp_out_braces(&o, 'x', -1, &blob));
	ck_assert(tp_out_braces(&o, 'd', -1, &blob));
	ck_assert(tp_out_braces(&o, 'i', -1, &blob));
	ck_assert(tp_out_braces(&o, 'd', -1, &none));
	ck_assert(tp_out_braces(&o, 'b', 8, &minus));
	ck_assert_str_eq(buf, "[ [0] = 0x0, [1] = 0x93, [2] = 0xFF ]"
			      "[ [0] = 0, [1] = 147, [2] = 255 ]"
			      "[ [0] = 0, [1] = -109, [2] = -1 ]"
			      "[ ]0b11111101");
	ck_assert(!tp_out_braces(&o, 'x', -1, &minus));
	ck_assert(!tp_out_braces(&o, 's', -1, &blob));
}
END_TEST

START_TEST(text_ends_with_its_buffer)
{
	char buf[16];

	for (size_t size = 1; size <= sizeof(buf); size++) {
		struct text_out o = { .buf = buf, .size = size };
		const struct expr_value v = {
			.kind = EXPR_TEXT, .text = "[\"a\\nb\",{\"c\":[1,2,3]}]"
		};

		ck_assert(tp_out_braces(&o, 'j', -1, &v));
		ck_assert_uint_lt(strlen(buf), size);
	}
}
END_TEST

static const struct run_table loops[] = { RUN_TIMES(
	texts_are_as_babeltrace2_prints_them,
	(int)(sizeof(texts) / sizeof(*texts))) };

RUN_TABLES("braces", loops, numbers_and_bytes_are_as_babeltrace2_prints_them,
	   text_ends_with_its_buffer)
