/* cli_options.c - tests of the command line parser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/options.h"
#include "stitch/base/err.h"
#include "stitch/base/text_out.h"
#include "tests/unit/run.h"

static bool flag, other, off;
static const char *text, *choice;
static long number;
static unsigned long size;
static struct opt_list list;

static const char *const choices[] = { "table", "csv", NULL };
static const struct opt group[] = {
	{ .kind = OPT_LIST,
	  .letter = 'l',
	  .name = "list",
	  .arg = "X",
	  .help = "",
	  .value = &list },
	{ .kind = OPT_NO, .name = "no-off", .help = "", .value = &off },
	{ .kind = OPT_END }
};
static const struct opt opts[] = { { .kind = OPT_FLAG,
				     .letter = 'f',
				     .name = "force",
				     .help = "",
				     .value = &flag },
				   { .kind = OPT_FLAG,
				     .letter = 'q',
				     .name = "quiet",
				     .help = "",
				     .value = &other },
				   { .kind = OPT_STRING,
				     .letter = 'o',
				     .name = "output",
				     .arg = "FILE",
				     .help = "",
				     .value = &text },
				   { .kind = OPT_NUMBER,
				     .name = "width",
				     .arg = "N",
				     .help = "",
				     .value = &number },
				   { .kind = OPT_SIZE,
				     .name = "memory",
				     .arg = "N",
				     .help = "",
				     .value = &size },
				   { .kind = OPT_CHOICE,
				     .name = "format",
				     .arg = "F",
				     .help = "",
				     .value = &choice,
				     .choices = choices },
				   { .kind = OPT_GROUP,
				     .value = (void *)group },
				   { .kind = OPT_END } };
static const struct command command = { .name = "command", .opts = opts };

/* A command with a word for another one. */
static const struct command apart;
static bool deep;
static const struct opt whole_words[] = { OPT_WORD("apart", &apart),
					  { .kind = OPT_END } };
static const struct opt whole_opts[] = { OPT_FLAG(0, "force", &flag, ""),
					 OPT_STRING('o', "output", "FILE",
						    &text, ""),
					 { .kind = OPT_END } };
static const struct command whole = { .name = "whole",
				      .opts = whole_opts,
				      .words = whole_words };
static const struct opt apart_opts[] = { OPT_FLAG('d', "deep", &deep, ""),
					 OPT_FLAG(0, "force", &flag, ""),
					 OPT_FLAG(0, "outputs", &off, ""),
					 { .kind = OPT_END } };
static const struct command apart = { .name = "apart", .opts = apart_opts };

static struct err err;
static char *args[16];

/* Parses a line of words; gives what options_parse gives. */
static int options_test_parse_of(const struct command *c, const char *line)
{
	static char copy[256];
	int n = 0;

	flag = other = options_help = false;
	off = true;
	text = choice = NULL;
	number = 0;
	size = 0;
	list.n = 0;
	memset(&err, 0, sizeof(err));
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = copy; p;) {
		char *end = strchr(p, ' ');

		args[n++] = p;
		if (end)
			*end++ = 0;
		p = end;
	}
	args[n] = NULL;
	return options_parse(options_command(c, n, args), n, args, &err);
}

static int options_test_parse(const char *line)
{
	return options_test_parse_of(&command, line);
}

START_TEST(options_and_arguments_may_be_mixed)
{
	ck_assert_int_eq(options_test_parse("a -f b --output x c"), 3);
	ck_assert_str_eq(args[0], "a");
	ck_assert_str_eq(args[1], "b");
	ck_assert_str_eq(args[2], "c");
	ck_assert(flag);
	ck_assert_str_eq(text, "x");
}
END_TEST

START_TEST(letters_may_be_bundled_with_a_value_at_the_end)
{
	ck_assert_int_eq(options_test_parse("-fqo out.db"), 0);
	ck_assert(flag && other);
	ck_assert_str_eq(text, "out.db");
	ck_assert_int_eq(options_test_parse("-foout.db x"), 1);
	ck_assert_str_eq(text, "out.db");
}
END_TEST

START_TEST(nothing_is_an_option_after_two_dashes)
{
	ck_assert_int_eq(options_test_parse("-f -- -q --what -"), 3);
	ck_assert(flag && !other);
	ck_assert_str_eq(args[0], "-q");
	ck_assert_str_eq(args[2], "-");
}
END_TEST

START_TEST(a_single_dash_is_an_argument)
{
	ck_assert_int_eq(options_test_parse("- -f"), 1);
	ck_assert_str_eq(args[0], "-");
}
END_TEST

START_TEST(a_value_may_be_empty_or_look_like_an_option)
{
	ck_assert_int_eq(options_test_parse("--output= -f"), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(options_test_parse("-o -f"), 0);
	ck_assert_str_eq(text, "-f");
	ck_assert(!flag);
}
END_TEST

START_TEST(a_missing_value_is_said)
{
	ck_assert_int_eq(options_test_parse("--output"), -1);
	ck_assert_int_eq(err.code, ERR_USAGE);
	ck_assert_str_eq(err.msg, "--output needs a value: --output FILE");
	ck_assert_int_eq(options_test_parse("-fo"), -1);
	ck_assert_str_eq(err.msg, "-o needs a value: -o FILE");
	ck_assert_int_eq(options_test_parse("--output --output=x"), -1);
	ck_assert_str_eq(err.msg, "--output needs a value: --output FILE");
	ck_assert_int_eq(options_test_parse("-o --output x"), -1);
	ck_assert_int_eq(options_test_parse("--output=--output"), 0);
	ck_assert_str_eq(text, "--output");
	ck_assert_int_eq(options_test_parse("-o --none"), 0);
	ck_assert_str_eq(text, "--none");
}
END_TEST

START_TEST(a_value_that_is_not_wanted_is_said)
{
	ck_assert_int_eq(options_test_parse("--force=yes"), -1);
	ck_assert_str_eq(err.msg, "--force takes no value");
}
END_TEST

START_TEST(sizes_have_units)
{
	ck_assert_int_eq(options_test_parse("--memory 64M"), 0);
	ck_assert_uint_eq(size, 64ul << 20);
	ck_assert_int_eq(options_test_parse("--memory 2GiB"), 0);
	ck_assert_uint_eq(size, 2ul << 30);
	ck_assert_int_eq(options_test_parse("--memory 1kB"), 0);
	ck_assert_uint_eq(size, 1024);
	ck_assert_int_eq(options_test_parse("--memory 7"), 0);
	ck_assert_uint_eq(size, 7);
	ck_assert_int_eq(options_test_parse("--memory 64Q"), -1);
	ck_assert_int_eq(options_test_parse("--memory -5"), -1);
	ck_assert_int_eq(options_test_parse("--memory 99999999999999T"), -1);
	ck_assert_int_eq(options_test_parse("--memory M"), -1);
	ck_assert_int_eq(options_test_parse("--memory 1MM"), -1);
}
END_TEST

START_TEST(numbers_and_choices_are_checked)
{
	ck_assert_int_eq(options_test_parse("--width 12 --format csv"), 0);
	ck_assert_int_eq(number, 12);
	ck_assert_str_eq(choice, "csv");
	ck_assert_int_eq(options_test_parse("--width 12x"), -1);
	ck_assert_int_eq(options_test_parse("--width=-1"), -1);
	ck_assert_str_eq(err.msg, "--width needs a number from 0 on, not '-1'");
	ck_assert_int_eq(options_test_parse("--format xml"), -1);
	ck_assert_str_eq(err.msg, "--format is one of table, csv, not 'xml'");
}
END_TEST

START_TEST(groups_are_searched_and_lists_are_kept_in_order)
{
	ck_assert_int_eq(options_test_parse("-l a --list=b -lc --no-off"), 0);
	ck_assert_uint_eq(list.n, 3);
	ck_assert_str_eq(list.item[0], "a");
	ck_assert_str_eq(list.item[2], "c");
	ck_assert(!off);
}
END_TEST

START_TEST(a_list_that_is_too_long_is_refused)
{
	static char *many[200];
	int n = 0;

	list.n = 0;
	while (n < 200) {
		many[n++] = "-l";
		many[n++] = "x";
	}
	ck_assert_int_eq(options_parse(&command, n - 1, many, &err), -1);
	ck_assert_str_eq(err.msg, "too many --list");
}
END_TEST

START_TEST(a_typing_error_gets_a_suggestion)
{
	ck_assert_int_eq(options_test_parse("--ouptut x"), -1);
	ck_assert_str_eq(err.msg, "unknown option '--ouptut'; did you mean "
				  "'--output'?");
	ck_assert_int_eq(options_test_parse("--outt x"), -1);
	ck_assert(strstr(err.msg, "did you mean '--output'?"));
	ck_assert_int_eq(options_test_parse("--colour never"), -1);
	ck_assert(strstr(err.msg, "did you mean '--color'?"));
}
END_TEST

START_TEST(a_long_name_may_be_cut_as_long_as_it_is_clear)
{
	ck_assert_int_eq(options_test_parse("--out x"), 0);
	ck_assert_str_eq(text, "x");
	ck_assert_int_eq(options_test_parse("--o=y"), 0);
	ck_assert_str_eq(text, "y");
	ck_assert_int_eq(options_test_parse("--fo"), -1);
	ck_assert_str_eq(err.msg, "option '--fo' could be --force, --format");
	ck_assert_int_eq(options_test_parse("--=x"), -1);
	ck_assert(strstr(err.msg, "unknown option"));
}
END_TEST

START_TEST(something_else_gets_no_suggestion)
{
	ck_assert_int_eq(options_test_parse("--zzzzzz"), -1);
	ck_assert_str_eq(err.msg, "unknown option '--zzzzzz'");
	ck_assert_int_eq(options_test_parse("-z"), -1);
	ck_assert_str_eq(err.msg, "unknown option '-z'");
}
END_TEST

START_TEST(a_very_long_option_is_no_trouble)
{
	char a[4096] = "--";
	char *v[] = { a, NULL };

	memset(a + 2, 'x', sizeof(a) - 3);
	ck_assert_int_eq(options_parse(&command, 1, v, &err), -1);
	ck_assert_int_eq(err.code, ERR_USAGE);
}
END_TEST

START_TEST(help_is_understood_everywhere)
{
	ck_assert_int_eq(options_test_parse("-fh"), 0);
	ck_assert(options_help && flag);
	ck_assert_int_eq(options_test_parse("--help"), 0);
	ck_assert(options_help);
}
END_TEST

START_TEST(a_word_may_stand_for_a_command)
{
	static const struct {
		const char *line, *said;
	} row[] = {
		{ "--deep a", "--deep is for 'backstitch apart'" },
		{ "-d a", "--deep is for 'backstitch apart'" },
		{ "--apart=x", "--apart takes no value" },
		{ "--apart -o x",
		  "'apart' has no such option: leave out --output" },
		{ "--apart --output x",
		  "'apart' has no such option: leave out --output" },
		{ "--apart --outp", NULL },
		{ "-- --apart --deep", NULL },
		{ "a --apart --deep -d --force", NULL },
		{ "--force --ap --de", NULL },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int n = options_test_parse_of(&whole, row[i].line);

		ck_assert_int_eq(n < 0, row[i].said != NULL);
		if (n < 0)
			ck_assert_str_eq(err.msg, row[i].said);
	}
	ck_assert(flag && deep);
}
END_TEST

static void options_test_note(void *arg, const struct opt *o)
{
	text_out_add(arg, " %s", o->name);
}

START_TEST(a_word_is_not_listed)
{
	char names[100];
	struct text_out o = { .buf = names, .size = sizeof(names) };

	options_walk(whole_opts, options_test_note, &o);
	ck_assert_str_eq(names, " force output");
	o.len = 0;
	options_walk_ranked(whole_opts, "force", options_test_note, &o);
	ck_assert_str_eq(names, " force output");
}
END_TEST

RUN("cli_options", options_and_arguments_may_be_mixed,
    letters_may_be_bundled_with_a_value_at_the_end,
    nothing_is_an_option_after_two_dashes, a_single_dash_is_an_argument,
    a_value_may_be_empty_or_look_like_an_option, a_missing_value_is_said,
    a_value_that_is_not_wanted_is_said, sizes_have_units,
    numbers_and_choices_are_checked,
    groups_are_searched_and_lists_are_kept_in_order,
    a_list_that_is_too_long_is_refused, a_typing_error_gets_a_suggestion,
    a_long_name_may_be_cut_as_long_as_it_is_clear,
    something_else_gets_no_suggestion, a_very_long_option_is_no_trouble,
    help_is_understood_everywhere, a_word_may_stand_for_a_command,
    a_word_is_not_listed)
