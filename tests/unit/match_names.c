/* match_names.c - what functions are called in a comparison of two recordings.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/model/match_names.h"
#include "run.h"

/* A function of side A, B or both; `inlined` ones are so everywhere. */
struct seen {
	const char *sides, *name;
	uint32_t image;
	bool inlined;
	const char *want;
};

static const struct {
	const char *name;
	struct seen seen[6];
} tables[] = {
	{ "a_name_is_short_without_parameters",
	  { { "AB", "void f(int)", 1, false, "f" } } },
	{ "other_parameters_are_the_same_function",
	  { { "A", "f(int)", 1, false, "f" },
	    { "B", "f(unsigned long)", 1, false, "f" } } },
	{ "overloads_of_both_sides_are_kept_apart",
	  { { "AB", "f(int)", 1, false, "f(int)" },
	    { "AB", "f(char)", 1, false, "f(char)" } } },
	{ "a_changed_overload_takes_the_short_name",
	  { { "AB", "f(int)", 1, false, "f(int)" },
	    { "A", "f(char)", 1, false, "f" },
	    { "B", "f(long)", 1, false, "f" } } },
	{ "clones_are_one_function",
	  { { "A", "g.isra.0", 1, false, "g" },
	    { "B", "g.part.1", 1, false, "g" } } },
	{ "the_last_part_of_an_inlined_name_stands_for_all_of_it",
	  { { "A", "(anonymous namespace)::mix(int)", 1, false, "mix" },
	    { "B", "mix", 1, true, "mix" } } },
	{ "and_for_every_function_that_may_be_meant",
	  { { "A", "a::Matrix<double>::operator*(a const&)", 1, false,
	      "operator*" },
	    { "A", "b::Iterator<int>::operator*() const", 1, false,
	      "operator*" },
	    { "B", "operator*", 1, true, "operator*" },
	    { "B", "operator()<int>", 1, true, "operator()" },
	    { "A", "f(int)::{lambda(int)#2}::operator()(int) const", 1, false,
	      "operator()" } } },
	{ "a_whole_name_without_colons_does_not",
	  { { "A", "a::mix(int)", 1, false, "a::mix" },
	    { "B", "mix", 1, false, "mix" } } },
	{ "another_image_does_not",
	  { { "A", "a::mix(int)", 1, false, "a::mix" },
	    { "B", "mix", 2, true, "mix" } } },
	{ "operators_are_no_brackets",
	  { { "A", "a::operator<(x const&, y const&)", 1, false, "operator<" },
	    { "B", "operator<", 1, true, "operator<" },
	    { "A", "a::operator<< <int>(x&)", 1, false, "operator<<" },
	    { "B", "operator<<", 1, true, "operator<<" } } },
};

START_TEST(names_are_those_of_the_table)
{
	const struct seen *s = tables[_i].seen;
	struct match_names *m = match_names_new();

	for (size_t i = 0; i < 6 && s[i].name; i++)
		for (const char *p = s[i].sides; *p; p++)
			match_names_see(m, *p == 'B', s[i].image, s[i].name,
					s[i].inlined);
	for (size_t i = 0; i < 6 && s[i].name; i++) {
		const char *got = match_names_get(m, s[i].image, s[i].name);

		ck_assert_msg(!strcmp(got, s[i].want), "%s: '%s' is '%s'",
			      tables[_i].name, s[i].name, got);
	}
	match_names_free(m);
}
END_TEST

START_TEST(brackets_need_not_be_balanced)
{
	static const char *const names[] = { "<<<::",  "operator",
					     "::",     "a::",
					     ")>}::x", "operator<<<<",
					     "<",      "{lambda" };
	struct match_names *m = match_names_new();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int side = 0; side < 2; side++)
			match_names_see(m, side, 1, names[i], true);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert(match_names_get(m, 1, names[i])[0]);
	match_names_free(m);
}
END_TEST

static const struct run_table name_tables[] = {
	RUN_TABLE(names_are_those_of_the_table, tables),
};

RUN_TABLES("match_names", name_tables, brackets_need_not_be_balanced)
