/* name_find.c - a part of a name is enough where it is one function's. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/name_find.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static const struct name_choice choices[] = {
	{ "A::push(int)", "A::push", "_ZN1A4pushEi", NULL, 30 },
	{ "B::push(int)", "B::push", NULL, NULL, 20 },
	{ "over(int)", "over(int)", NULL, NULL, 5 },
	{ "over(char)", "over(char)", NULL, NULL, 4 },
	{ "push_all(A)", "push_all", NULL, NULL, 3 },
	{ "main", "main", NULL, NULL, 2 },
	{ "main", "main", NULL, NULL, 9 }, /* of another file */
	{ "main.(*Tree).Insert", "main.(*Tree).Insert", NULL, NULL, 1 },
	{ "void help<int>(int) (a.c)", "help<int> (a.c)", NULL, NULL, 6 },
	{ "void help<int>(int) (b.c)", "help<int> (b.c)", NULL, NULL, 7 },
	{ "of(int)", "of (+0x10)", NULL, "of(int) (+0x10)", 6 },
	{ "of(int)", "of (+0x20)", NULL, "of(int) (+0x20)", 7 },
	{ "sched_domains", "sched_domains", NULL, NULL, 7 },
	{ "dl_domain", "dl_domain", NULL, NULL, 8 },
	{ "fmod@@GLIBC_2.38", "fmod@@GLIBC_2.38", NULL, NULL, 4 },
	{ "fmod@plt", "fmod@plt", NULL, NULL, 9 },
	{ "__fmod_finite@GLIBC_2.15", "__fmod_finite@GLIBC_2.15", NULL, NULL,
	  8 },
	{ "JS:*fold /srv/fold.js:3:20", "JS:*fold /srv/fold.js:3:20", NULL,
	  NULL, 2 },
	{ "JS:*walk /srv/fold.js:9:1", "JS:*walk /srv/fold.js:9:1", NULL, NULL,
	  6 },
	{ "js_fold", "js_fold", NULL, NULL, 9 },
};

static const struct {
	const char *what, *text;
	int at; /* in choices; -1: none; -2: several */
	const char *says;
} find_cases[] = {
	{ "the_full_name_wins", "A::push(int)", 0, NULL },
	{ "so_does_the_mangled_one", "_ZN1A4pushEi", 0, NULL },
	{ "the_short_name_wins", "A::push", 0, NULL },
	{ "an_end_wins_over_a_part", "Insert", 7, NULL },
	{ "a_part_is_enough", "_all", 4, NULL },
	{ "a_part_of_the_full_name_too", "(A)", 4, NULL },
	{ "the_heavier_of_one_name", "main", 6, NULL },
	{ "several_are_listed_with_shares", "push", -2,
	  "'push' may be several functions: 'A::push' 30.00 %, 'B::push' "
	  "20.00 %" },
	{ "overloads_are_several", "over", -2,
	  "'over' may be several functions: 'over(int)' 5.00 %, 'over(char)' "
	  "4.00 %" },
	{ "a_word_of_a_name_is_nearer_than_a_part_of_one", "domain", -2,
	  "no function is called 'domain'; 'dl_domain' 8.00 % has it in its "
	  "name" },
	{ "of_functions_told_apart_one_is_meant", "help<int> (a.c)", 8, NULL },
	{ "without_what_tells_them_apart_several", "help<int>", -2,
	  "'help<int>' may be several functions: 'help<int> (b.c)' 7.00 %, "
	  "'help<int> (a.c)' 6.00 %" },
	{ "and_so_with_their_parameters", "void help<int>(int)", -2,
	  "'void help<int>(int)' may be several functions: 'help<int> (b.c)' "
	  "7.00 %, 'help<int> (a.c)' 6.00 %" },
	{ "where_one_name_is_one_choice_the_heavier", "of(int)", 11, NULL },
	{ "or_the_one_that_is_told", "of(int) (+0x10)", 10, NULL },
	{ "or_that_is_told_by_its_short_name", "of (+0x10)", 10, NULL },
	{ "a_version_is_not_asked_for_and_a_stub_is_not_meant", "fmod", 14,
	  NULL },
	{ "a_stub_in_full", "fmod@plt", 15, NULL },
	{ "what_v8_calls_a_function_is_nearer_than_its_file", "fold", 17,
	  NULL },
	{ "no_name_has_it", "nowhere", -1, NULL },
	{ "nothing_is_no_name", "", -1, NULL },
};

START_TEST(a_name_is_found_by_a_part)
{
	struct err err = { 0 };
	size_t at = 0;
	int rc = name_find(choices, sizeof(choices) / sizeof(*choices),
			   find_cases[_i].text, 100, &at, &err);

	ck_assert_int_eq(rc > 0 ? (int)at : rc - 1, find_cases[_i].at);
	if (find_cases[_i].says)
		ck_assert_str_eq(err.msg, find_cases[_i].says);
}
END_TEST

START_TEST(a_long_list_ends)
{
	static const char *const name[] = { "a::f", "b::f", "c::f", "d::f",
					    "e::f", "g::f", "h::f" };
	struct name_choice c[7];
	struct err err = { 0 };
	size_t at;

	for (size_t i = 0; i < 7; i++)
		c[i] = (struct name_choice){ name[i], name[i], NULL, NULL, i };
	ck_assert_int_eq(name_find(c, 7, "f", 100, &at, &err), -1);
	ck_assert_str_eq(err.msg, "'f' may be several functions: 'h::f' "
				  "6.00 %, 'g::f' 5.00 %, 'e::f' 4.00 %, "
				  "'d::f' 3.00 %, 'c::f' 2.00 %, ...");

	size_t of[NAME_LISTED], more;

	ck_assert_uint_eq(name_find_several(c, 7, "f", of, &more), NAME_LISTED);
	ck_assert_uint_eq(of[0], 6);
	ck_assert_uint_eq(of[4], 2);
	ck_assert_uint_eq(more, 2);
}
END_TEST

START_TEST(several_that_may_be_meant_the_heaviest_first)
{
	const size_t n = sizeof(choices) / sizeof(*choices);
	size_t at[NAME_LISTED], more;

	ck_assert_uint_eq(name_find_several(choices, n, "push", at, &more), 2);
	ck_assert_uint_eq(at[0], 0);
	ck_assert_uint_eq(at[1], 1);
	ck_assert_uint_eq(more, 0);
	/* of one name, the heavier is told */
	ck_assert_uint_eq(name_find_several(choices, n, "main", at, &more), 1);
	ck_assert_uint_eq(at[0], 6);
	ck_assert_uint_eq(name_find_several(choices, n, "none", at, &more), 0);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(a_name_is_found_by_a_part, find_cases),
};

RUN_TABLES("name_find", tables, a_long_list_ends,
	   several_that_may_be_meant_the_heaviest_first)
