/* payload.c - the text of a payload without its capture. */
#include "formats/tracepoint/tracepoint.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/source.h"
#include "tests/unit/run.h"

static const char format[] =
	"name: beep\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int tone;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:char who[4];\toffset:8;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"tone=%d who=%s\", REC->tone, REC->who\n";

static const char little[] = "\7\0\0\0\xfe\xff\xff\xff"
			     "dog";
static const char big[] = "\0\7\0\0\xff\xff\xff\xfe"
			  "dog";

START_TEST(bytes_of_both_orders_give_the_text_of_the_kernel)
{
	struct payload *pl =
		payload_new(format, &(struct payload_machine){ .big = _i });
	char buf[64];

	tp_print(&pl->tp, &pl->fmt, _i ? big : little, 12, buf, sizeof(buf));
	ck_assert_str_eq(buf, "tone=-2 who=dog");
	payload_free(pl);
}
END_TEST

START_TEST(fields_give_the_same_text)
{
	struct payload *pl =
		payload_new(format, &(struct payload_machine){ 0 });
	char buf[64];
	size_t n = pl->fmt.n;
	const struct field_def *def = pl->fmt.def;
	struct field f[8] = { { 0 } };

	ck_assert_uint_le(n, 8);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(def[i].name, "tone"))
			f[i] = (struct field){ .present = true, .num = -2 };
		if (!strcmp(def[i].name, "who"))
			f[i] = (struct field){ .present = true,
					       .text = "dog",
					       .len = 3 };
	}
	tp_print_fields(&pl->tp, &pl->fmt, f, buf, sizeof(buf));
	ck_assert_str_eq(buf, "tone=-2 who=dog");
	payload_free(pl);
}
END_TEST

START_TEST(a_payload_that_is_cut_off_is_no_danger)
{
	struct payload *pl =
		payload_new(format, &(struct payload_machine){ 0 });
	char buf[64];

	for (size_t len = 0; len < 12; len++) {
		char *cut = malloc(len + 1);

		memcpy(cut, little, len);
		tp_print(&pl->tp, &pl->fmt, cut, len, buf, sizeof(buf));
		ck_assert_ptr_nonnull(memchr(buf, 0, sizeof(buf)));
		free(cut);
	}
	payload_free(pl);
}
END_TEST

START_TEST(an_array_without_a_length_goes_to_the_end)
{
	static const char mark[] =
		"name: print\nID: 5\nformat:\n"
		"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n"
		"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";
	static const char raw[] = "\5\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"
				  "a line\n\0\0";
	struct payload *pl = payload_new(mark, &(struct payload_machine){ 0 });
	char buf[64];

	tp_print(&pl->tp, &pl->fmt, raw, sizeof(raw) - 1, buf, sizeof(buf));
	ck_assert_str_eq(buf, "0x10: a line");
	tp_print(&pl->tp, &pl->fmt, raw, 20, buf, sizeof(buf));
	ck_assert_str_eq(buf, "0x10: a li");
	tp_print(&pl->tp, &pl->fmt, raw, 16, buf, sizeof(buf));
	ck_assert_str_eq(buf, "0x10: ");
	payload_free(pl);
}
END_TEST

/* Before Linux 5.9 such an array was declared without brackets. */
START_TEST(an_old_string_at_the_end_is_a_string)
{
	static const char old[] =
		"name: print\nID: 5\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
		"\tsigned:0;\n"
		"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:char buf;\toffset:16;\tsize:0;\tsigned:1;\n"
		"\nprint fmt: \"%s\", REC->buf\n";
	static const char data[] = "\5\0\0\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0"
				   "hello";
	struct payload *pl = payload_new(old, &(struct payload_machine){ 0 });
	size_t n = pl->fmt.n;
	const struct field_def *def = pl->fmt.def;
	char buf[64];

	ck_assert_uint_eq(n, 2);
	ck_assert(def[1].is_text && !def[1].is_blob);
	tp_print(&pl->tp, &pl->fmt, data, sizeof(data), buf, sizeof(buf));
	ck_assert_str_eq(buf, "hello");
	payload_free(pl);
}
END_TEST

START_TEST(what_is_no_format_is_refused)
{
	ck_assert_ptr_null(payload_new("", &(struct payload_machine){ 0 }));
	ck_assert_ptr_null(
		payload_new("name: x\nID: \n", &(struct payload_machine){ 0 }));
}
END_TEST

/* A tracer of programs takes any name. */
START_TEST(an_event_may_be_named_like_the_line_of_its_id)
{
	struct payload *pl =
		payload_new("name: an ID: of\nID: 7\nformat:\n"
			    "\tfield:u8 tone;\toffset:8;\tsize:1;\tsigned:0;\n"
			    "\tfield:unsigned short common_type;\toffset:0;"
			    "\tsize:2;\tsigned:0;\n",
			    &(struct payload_machine){ 0 });

	ck_assert_ptr_nonnull(pl);
	char *text = tp_make_format(&pl->fmt, "an ID: of", 300);

	ck_assert_ptr_nonnull(strstr(text, "name: an ID: of\nID: 300\n"));
	free(text);
	payload_free(pl);
}
END_TEST

/* A tracer's event without the fields that tracepoints of perf begin with. */
static const char foreign[] =
	"name: beep\nID: 0\nformat:\n"
	"\tfield:s8 tone;\toffset:0;\tsize:1;\tsigned:1;\n"
	"\tfield:__data_loc char[] who;\toffset:4;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 much;\toffset:8;\tsize:8;\tsigned:0;\n";

/* What the made format says of the made payload. */
static void read_back(const char *text, const void *raw, size_t len,
		      bool is_big, char *buf, size_t size)
{
	struct payload *pl =
		payload_new(text, &(struct payload_machine){ .big = is_big });

	ck_assert_ptr_nonnull(pl);
	tp_print(&pl->tp, &pl->fmt, raw, len, buf, size);
	payload_free(pl);
}

START_TEST(a_foreign_event_becomes_a_tracepoint_of_perf)
{
	struct payload *pl =
		payload_new(foreign, &(struct payload_machine){ .big = _i });
	struct field f[] = { { .present = true, .num = -2 },
			     { .present = true, .text = "dog", .len = 3 },
			     { .present = true, .num = 1LL << 40 } };
	char *text = tp_make_format(&pl->fmt, "honk", 300);
	char buf[64];
	size_t len;
	const unsigned char *raw =
		tp_make_payload(&pl->tp, &pl->fmt, f, 300, 77, &len);

	ck_assert_ptr_nonnull(strstr(text, "name: honk\nID: 300\n"));
	ck_assert_ptr_nonnull(strstr(text, "common_type;\toffset:0;"));
	ck_assert_ptr_nonnull(strstr(text, "s8 tone;\toffset:8;"));
	ck_assert_uint_eq(raw[_i], 300 & 255);
	ck_assert_uint_eq(raw[_i ? 7 : 4], 77);
	read_back(text, raw, len, _i, buf, sizeof(buf));
	ck_assert_str_eq(buf, "tone=-2 who=dog much=1099511627776");
	free(text);
	payload_free(pl);
}
END_TEST

/* As a text of ftrace has it: among its fields, not in front of them. */
START_TEST(the_flags_of_a_text_are_where_tracepoints_have_them)
{
	static const char text[] =
		"name: text\nID: 0\nformat:\n"
		"\tfield:__rel_loc char[] text;\toffset:0;\tsize:4;"
		"\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:5;\tsize:1;"
		"\tsigned:0;\n"
		"\nprint fmt: \"%s\", __get_rel_str(text)\n";
	struct payload *pl =
		payload_new(text, &(struct payload_machine){ .big = _i });
	struct field f[] = { { .present = true, .text = "dog", .len = 3 },
			     { .present = true, .num = 0x19 } };
	char *made = tp_make_format(&pl->fmt, "bark", 300);
	char *twice = strstr(made, "common_flags");
	char buf[64];
	size_t len;
	const unsigned char *raw =
		tp_make_payload(&pl->tp, &pl->fmt, f, 300, 77, &len);

	ck_assert_uint_eq(raw[2], 0x19);
	ck_assert_ptr_nonnull(twice);
	ck_assert_ptr_null(strstr(twice + 1, "common_flags"));
	read_back(made, raw, len, _i, buf, sizeof(buf));
	ck_assert_str_eq(buf, "dog");
	free(made);
	payload_free(pl);
}
END_TEST

START_TEST(a_tracepoint_keeps_its_bytes_under_another_id)
{
	struct payload *pl =
		payload_new(format, &(struct payload_machine){ .big = _i });
	char *text = tp_make_format(&pl->fmt, "beep", 9);
	char buf[64];
	size_t len;
	const unsigned char *raw = tp_copy_payload(
		&pl->tp, &pl->fmt, _i ? big : little, 12, 9, 1, &len);

	ck_assert_uint_eq(len, 12);
	ck_assert_uint_eq(raw[_i], 9);
	ck_assert_ptr_nonnull(strstr(text, "ID: 9\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"tone=%d who=%s\", REC->tone"));
	read_back(text, raw, len, _i, buf, sizeof(buf));
	ck_assert_str_eq(buf, "tone=-2 who=dog");
	free(text);
	payload_free(pl);
}
END_TEST

START_TEST(functions_that_old_perf_lacks_are_not_printed_with)
{
	static const char newer[] =
		"name: beep\nID: 7\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
		"\tsigned:0;\n"
		"\tfield:int __tone;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"%s\", __get_sockaddr(REC->__tone)\n";
	struct payload *pl = payload_new(newer, &(struct payload_machine){ 0 });
	char *text = tp_make_format(&pl->fmt, "beep", 7);

	ck_assert_ptr_null(strstr(text, "__get_sockaddr"));
	ck_assert_ptr_nonnull(
		strstr(text, "print fmt: \"__tone=%d\", REC->__tone\n"));
	free(text);
	payload_free(pl);
}
END_TEST

START_TEST(a_payload_is_never_larger_than_a_record)
{
	struct payload *pl =
		payload_new(foreign, &(struct payload_machine){ 0 });
	char *much = calloc(1, 100000);
	struct field f[3] = { { .present = true, .num = 1 },
			      { .present = true, .text = much, .len = 99999 },
			      { .present = true, .num = 1 } };
	size_t len;

	tp_make_payload(&pl->tp, &pl->fmt, f, 1, 1, &len);
	ck_assert_uint_lt(len, 65000);
	tp_copy_payload(&pl->tp, &pl->fmt, much, 100000, 1, 1, &len);
	ck_assert_uint_lt(len, 65000);
	payload_free(pl);
	pl = payload_new(format, &(struct payload_machine){ 0 });
	tp_copy_payload(&pl->tp, &pl->fmt, much, 100000, 1, 1, &len);
	ck_assert_uint_lt(len, 65000);
	tp_copy_payload(&pl->tp, &pl->fmt, NULL, 0, 1, 1, &len);
	ck_assert_uint_eq(len, 2);
	payload_free(pl);
	free(much);
}
END_TEST

START_TEST(a_value_is_printed_as_in_the_text_of_its_event)
{
	static const char text[] =
		"name: beep\nID: 7\nformat:\n"
		"\tfield:unsigned long flags;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u32 dev;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:int len;\toffset:20;\tsize:4;\tsigned:1;\n"
		"\tfield:u64 at;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"flags=%s dev %d,%d len %5d or %d at %llx\", "
		"(REC->flags) ? __print_flags(REC->flags, \"|\", "
		"{ 1, \"ONE\" }, { 4, \"FOUR\" }) : \"none\", "
		"REC->dev >> 20, REC->dev & 0xfffff, REC->len, "
		"REC->len + REC->dev, REC->at + jiffies\n";
	static const struct {
		size_t field;
		int64_t num;
		const char *want;
	} row[] = {
		{ 0, 0, "none" },
		{ 0, 5, "ONE|FOUR" },
		{ 1, 8 << 20 | 1, "8,1" },
		{ 2, -7, "-7" },
		/* the jiffies are in no capture */
		{ 3, -1, "18446744073709551615" },
	};
	struct payload *pl = payload_new(text, &(struct payload_machine){ 0 });
	char buf[64];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct field f = { .present = true, .num = row[i].num };

		ck_assert_str_eq(tp_print_value_of(&pl->tp, &pl->fmt,
						   row[i].field, &f, buf,
						   sizeof(buf)),
				 row[i].want);
	}
	payload_free(pl);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(bytes_of_both_orders_give_the_text_of_the_kernel, 2),
	RUN_TIMES(a_foreign_event_becomes_a_tracepoint_of_perf, 2),
	RUN_TIMES(the_flags_of_a_text_are_where_tracepoints_have_them, 2),
	RUN_TIMES(a_tracepoint_keeps_its_bytes_under_another_id, 2)
};

RUN_TABLES("payload", loops, fields_give_the_same_text,
	   a_payload_that_is_cut_off_is_no_danger,
	   an_array_without_a_length_goes_to_the_end,
	   an_old_string_at_the_end_is_a_string, what_is_no_format_is_refused,
	   an_event_may_be_named_like_the_line_of_its_id,
	   functions_that_old_perf_lacks_are_not_printed_with,
	   a_payload_is_never_larger_than_a_record,
	   a_value_is_printed_as_in_the_text_of_its_event)
