/* cli_text.c - tests of filters as SQL, safe text, and numbers for people. */
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/filter.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "cli/tables/script.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static struct err err;
static char sql[FILTER_TEXT];
static struct filter_values values;
static struct filter filter;

static int text_make(void)
{
	memset(&err, 0, sizeof(err));
	return filter_sql(&filter, NULL, sql, &values, &err);
}

START_TEST(no_filter_is_true)
{
	filter = (struct filter){ 0 };
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1");
	ck_assert(!filter_given(&filter));
}
END_TEST

START_TEST(lists_of_numbers_become_ranges)
{
	filter = (struct filter){ .cpu = "0,2-4", .pid = "17" };
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1 AND (cpu BETWEEN 0 AND 0 OR cpu BETWEEN 2 "
			      "AND 4) AND (pid BETWEEN 17 AND 17)");
	ck_assert(filter_given(&filter));
}
END_TEST

START_TEST(what_is_no_list_of_numbers_is_refused)
{
	static const char *const bad[] = { "",	  "a",	    "1,",
					   "1-",  "4-2",    "1;DROP",
					   "-1",  "1 OR 1", "99999999999",
					   "0x1", NULL };

	for (size_t i = 0; bad[i]; i++) {
		filter = (struct filter){ .tid = bad[i] };
		ck_assert_msg(text_make() == -1, "%s", bad[i]);
		ck_assert_int_eq(err.code, ERR_USAGE);
	}
}
END_TEST

START_TEST(names_are_bound_and_never_printed)
{
	filter = (struct filter){ .comm = "a'b,worker*,x[1" };
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1 AND (comm = ?1 OR comm GLOB ?2 OR comm = "
			      "?3)");
	ck_assert_uint_eq(values.n, 3);
	ck_assert_str_eq(values.item[0].text, "a'b");
	ck_assert_str_eq(values.item[1].text, "worker*");
	ck_assert_uint_eq(values.item[1].len, 7);
}
END_TEST

START_TEST(times_are_exact)
{
	filter = (struct filter){ .time = "12.5,13" };
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1 AND time_ns >= 12500000000 AND time_ns < "
			      "13000001000");
	filter.time = ",0.000000001";
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1 AND time_ns < 1001");
	filter.time = "3,";
	ck_assert_int_eq(text_make(), 0);
	ck_assert_str_eq(sql, "1 AND time_ns >= 3000000000");
}
END_TEST

START_TEST(what_is_no_time_is_refused)
{
	static const char *const bad[] = { "x",
					   "1,2,3",
					   "1;2",
					   "99999999999999999999",
					   "1.2.3",
					   "20%-10%",
					   "10%",
					   "10%-200%",
					   "5%-",
					   "9223372036.9",
					   "0%-100.0000001%",
					   NULL };

	for (size_t i = 0; bad[i]; i++) {
		filter = (struct filter){ .time = bad[i] };
		ck_assert_msg(text_make() == -1, "%s", bad[i]);
		ck_assert_int_eq(err.code, ERR_USAGE);
	}
}
END_TEST

START_TEST(too_many_names_are_refused)
{
	static char many[2 * FILTER_VALUES + 4];

	for (size_t i = 0; i + 2 < sizeof(many); i += 2)
		memcpy(many + i, "a,", 3);
	filter = (struct filter){ .comm = many };
	ck_assert_int_eq(text_make(), -1);
	ck_assert_int_eq(err.code, ERR_USAGE);
}
END_TEST

static const char *text_clean(const char *s, size_t len, const char *also)
{
	static char buf[256];
	size_t n = safe_text_clean_buf(buf, sizeof(buf), s, len, also);

	ck_assert_uint_eq(n, strlen(buf));
	return buf;
}

START_TEST(control_bytes_cannot_reach_the_terminal)
{
	ck_assert_str_eq(text_clean("a\033[31mb\n\t\177", 10, NULL),
			 "a\\x1b[31mb\\x0a\\x09\\x7f");
	ck_assert_str_eq(text_clean("x\0y", 3, NULL), "x\\x00y");
	/* C1, and a mark that turns the text around */
	ck_assert_str_eq(text_clean("\302\233m", 3, NULL), "\\xc2\\x9bm");
	ck_assert_str_eq(text_clean("\342\200\256", 3, NULL),
			 "\\xe2\\x80\\xae");
}
END_TEST

START_TEST(utf8_passes_and_other_bytes_do_not)
{
	ck_assert_str_eq(
		text_clean("\303\251\342\202\254\360\237\230\200", 9, NULL),
		"\303\251\342\202\254\360\237\230\200");
	ck_assert_str_eq(text_clean("\351t\351", 3, NULL), "\\xe9t\\xe9");
	ck_assert_str_eq(text_clean("\303", 1, NULL), "\\xc3");
	/* too long a form, a surrogate, too large */
	ck_assert_str_eq(text_clean("\300\200", 2, NULL), "\\xc0\\x80");
	ck_assert_str_eq(text_clean("\355\240\200", 3, NULL),
			 "\\xed\\xa0\\x80");
	ck_assert_str_eq(text_clean("\364\220\200\200", 4, NULL),
			 "\\xf4\\x90\\x80\\x80");
}
END_TEST

/* Plain bytes are copied in blocks. */
START_TEST(a_control_byte_is_found_at_any_place)
{
	static const char odd[] = { '\033', '\177', '\n', '\200' };

	for (size_t i = 0; i < 40; i++) {
		char s[41], want[64];

		memset(s, 'x', 40);
		s[40] = 0;
		s[i] = odd[i % 4];
		snprintf(want, sizeof(want), "%.*s\\x%02x%s", (int)i, s,
			 (unsigned char)s[i], s + i + 1);
		ck_assert_str_eq(text_clean(s, 40, NULL), want);
	}
}
END_TEST

START_TEST(also_names_more_bytes)
{
	ck_assert_str_eq(text_clean("a;b", 3, ";"), "a\\x3bb");
}
END_TEST

START_TEST(a_small_buffer_cuts_and_ends)
{
	char buf[6];

	ck_assert_uint_eq(
		safe_text_clean_buf(buf, sizeof(buf), "abcdefgh", 8, NULL), 5);
	ck_assert_str_eq(buf, "abcde");
	ck_assert_uint_eq(
		safe_text_clean_buf(buf, sizeof(buf), "ab\033", 3, NULL), 2);
	ck_assert_str_eq(buf, "ab");
}
END_TEST

START_TEST(numbers_have_three_digits_that_count)
{
	char b[32];

	ck_assert_str_eq(human_count(b, sizeof(b), 0), "0");
	ck_assert_str_eq(human_count(b, sizeof(b), 999), "999");
	ck_assert_str_eq(human_count(b, sizeof(b), 1000), "1.00 k");
	ck_assert_str_eq(human_count(b, sizeof(b), 1560000), "1.56 M");
	ck_assert_str_eq(human_count(b, sizeof(b), 999999), "1.00 M");
	ck_assert_str_eq(human_grouped(b, sizeof(b), 999), "999");
	ck_assert_str_eq(human_grouped(b, sizeof(b), 7832), "7,832");
	ck_assert_str_eq(human_grouped(b, sizeof(b), UINT64_MAX),
			 "18,446,744,073,709,551,615");
	ck_assert_str_eq(human_bytes(b, sizeof(b), 230000000), "230 MB");
	ck_assert_str_eq(human_bytes(b, sizeof(b), UINT64_MAX), "18447 PB");
	ck_assert_str_eq(human_ns(b, sizeof(b), 12500000), "12.5 ms");
	ck_assert_str_eq(human_ns(b, sizeof(b), -800), "-800 ns");
	ck_assert_str_eq(human_seconds(b, sizeof(b), 12345678999), "12.345678");
	ck_assert_str_eq(human_seconds(b, sizeof(b), -1500), "-0.000001");
	ck_assert_str_eq(human_seconds(b, sizeof(b), INT64_MIN),
			 "-9223372036.854775");
}
END_TEST

START_TEST(shares_have_two_decimals_and_nothing_and_all_are_exact)
{
	static const struct {
		double part, whole;
		const char *text;
	} row[] = {
		{ 0, 0, "0.00 %" },	      { 0, 7, "0.00 %" },
		{ 7, 7, "100.00 %" },	      { 1, 3, "33.33 %" },
		{ 2, 3, "66.67 %" },	      { 1, 800, "0.13 %" },
		{ 1, 20000, "0.01 %" },	      { 1, 20001, "<0.01 %" },
		{ 19999, 20000, ">99.99 %" }, { 19997, 20000, "99.99 %" },
		{ 1e-9, 1e18, "<0.01 %" },    { 3, 2, "150.00 %" },
	};
	char b[16];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		ck_assert_str_eq(
			human_percent(b, sizeof(b), row[i].part, row[i].whole),
			row[i].text);
	ck_assert_str_eq(human_share(b, sizeof(b), 1, 3), "33.33");
	ck_assert_str_eq(human_share(b, sizeof(b), 1e300, 1e-300),
			 "10000000000.00");
	ck_assert_str_eq(human_share(b, sizeof(b), -1, 3), "0.00");
}
END_TEST

START_TEST(script_fields_are_checked)
{
	struct script_fields f;

	ck_assert_int_eq(
		script_parse("comm,pid,tid,cpu,time,event,ip", true, &f, &err),
		0);
	ck_assert(f.comm && f.pid && f.frame.ip && !f.frame.sym && !f.period);
	ck_assert(!f.verdict);
	ck_assert_int_eq(script_parse(NULL, true, &f, &err), 0);
	ck_assert(f.verdict && f.frame.sym && !f.pid);
	ck_assert_int_eq(script_parse("comm,nope", true, &f, &err), -1);
	ck_assert_int_eq(script_parse("sym", true, &f, &err), -1);
	ck_assert_int_eq(script_parse("ip,symoff", true, &f, &err), -1);
}
END_TEST

RUN("cli_text", no_filter_is_true, lists_of_numbers_become_ranges,
    what_is_no_list_of_numbers_is_refused, names_are_bound_and_never_printed,
    times_are_exact, what_is_no_time_is_refused, too_many_names_are_refused,
    control_bytes_cannot_reach_the_terminal, utf8_passes_and_other_bytes_do_not,
    a_control_byte_is_found_at_any_place, also_names_more_bytes,
    a_small_buffer_cuts_and_ends, numbers_have_three_digits_that_count,
    shares_have_two_decimals_and_nothing_and_all_are_exact,
    script_fields_are_checked)
