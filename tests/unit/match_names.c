/* match_names.c - what functions are called in a comparison of two recordings.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/names/homonyms.h"
#include "analyze/names/matching.h"
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
	{ "the_hash_of_a_build_of_rust_does_not_matter",
	  { { "A", "app::run::h0123456789abcdef", 1, false, "app::run" },
	    { "B", "app::run::h123456789abcdef0", 1, false, "app::run" } } },
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
	{ "closures_of_both_sides_keep_their_numbers",
	  { { "AB", "main.f.func1", 1, false, "main.f.func1" },
	    { "AB", "main.f.func2", 1, false, "main.f.func2" } } },
	{ "closures_are_one_after_an_edit_in_front_of_them",
	  { { "A", "main.f.func1.2", 1, false, "main.f.func." },
	    { "AB", "main.f.func2.2", 1, false, "main.f.func." },
	    { "B", "main.f.func3.2", 1, false, "main.f.func." },
	    { "AB", "main.g.func1", 1, false, "main.g.func1" } } },
	{ "so_are_lambdas_of_other_numbers",
	  { { "A", "app::run::{closure#0}", 1, false, "app::run::{closure#}" },
	    { "B", "app::run::{closure#1}", 1, false,
	      "app::run::{closure#}" } } },
	{ "a_function_of_a_script_may_move_in_it",
	  { { "A", "JS:*f /srv/a.js:3:20", 1, false, "JS:f a.js" },
	    { "B", "JS:^f /srv/a.js:4:20", 1, false, "JS:f a.js" },
	    { "B", "JS:*f /srv/a.js:4:20", 1, false, "JS:f a.js" },
	    { "AB", "JS:*g /srv/a.js:1:9", 1, false, "JS:g /srv/a.js:1:9" } } },
	{ "and_with_it",
	  { { "A", "JS:*f /srv/1/a.js:3:20", 1, false, "JS:f a.js" },
	    { "B", "JS:*f /srv/2/a.js:3:20", 1, false, "JS:f a.js" },
	    { "A", "JS:~ /srv/1/a.js:1:1", 1, false, "JS: a.js" },
	    { "B", "JS:~ /srv/2/a.js:1:1", 1, false, "JS: a.js" },
	    { "B", "JS:1:1", 1, false, "JS:1:1" } } },
	{ "but_not_to_another_one",
	  { { "A", "JS:*f /srv/1/a.js:3:2", 1, false, "JS:f /srv/1/a.js:3:2" },
	    { "B", "JS:*f /srv/2/a.js:3:2", 1, false, "JS:f /srv/2/a.js:3:2" },
	    { "AB", "JS:*g /srv/1/a.js:1:9", 1, false,
	      "JS:g /srv/1/a.js:1:9" } } },
	{ "of_several_it_is_not_known_which",
	  { { "A", "JS:*f /srv/a.js:3:20", 1, false, "JS:f /srv/a.js:3:20" },
	    { "AB", "JS:*f /srv/a.js:5:20", 1, false, "JS:f /srv/a.js:5:20" },
	    { "B", "JS:*f /srv/a.js:7:20", 1, false,
	      "JS:f /srv/a.js:7:20" } } },
	{ "what_has_no_name_stays_in_its_line",
	  { { "A", "JS:* /srv/a.js:3:20", 1, false, "JS: /srv/a.js:3:20" },
	    { "B", "JS:* /srv/a.js:4:20", 1, false, "JS: /srv/a.js:4:20" } } },
	{ "operators_are_no_brackets",
	  { { "A", "a::operator<(x const&, y const&)", 1, false, "operator<" },
	    { "B", "operator<", 1, true, "operator<" },
	    { "A", "a::operator<< <int>(x&)", 1, false, "operator<<" },
	    { "B", "operator<<", 1, true, "operator<<" } } },
};

START_TEST(names_are_those_of_the_table)
{
	const struct seen *s = tables[_i].seen;
	struct match_names *m = match_names_new(false);

	for (size_t i = 0; i < 6 && s[i].name; i++)
		for (const char *p = s[i].sides; *p; p++)
			match_names_see(m, *p == 'B', s[i].image, s[i].name,
					s[i].inlined, NULL);
	for (size_t i = 0; i < 6 && s[i].name; i++) {
		const char *got =
			match_names_get(m, s[i].image, s[i].name, NULL, false);

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
	struct match_names *m = match_names_new(false);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int side = 0; side < 2; side++)
			match_names_see(m, side, 1, names[i], true, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert(match_names_get(m, 1, names[i], NULL, false)[0]);
	match_names_free(m);
}
END_TEST

/* A function of side A or B that is in `file` ("": not known) from `start` on;
 * start 0: it is inlined. */
struct placed {
	const char *sides, *file;
	uint64_t start;
	const char *want, *exact; /* NULL: want */
};

static const struct {
	const char *name;
	struct placed placed[4];
} places[] = {
	{ "files_pair_functions_of_one_name",
	  { { "A", "/old/a.c", 0x10, "f (a.c)", NULL },
	    { "A", "/old/b.c", 0x20, "f (b.c)", NULL },
	    { "B", "/new/a.c", 0x90, "f (a.c)", NULL },
	    { "B", "/new/b.c", 0x80, "f (b.c)", NULL } } },
	{ "the_only_one_of_a_side_is_told_too",
	  { { "A", "/old/a.c", 0x10, "f (a.c)", NULL },
	    { "A", "/old/b.c", 0x20, "f (b.c)", NULL },
	    { "B", "/new/b.c", 0x80, "f (b.c)", NULL } } },
	{ "what_is_inlined_is_of_its_file",
	  { { "A", "/old/a.c", 0x10, "f (a.c)", NULL },
	    { "A", "/old/b.c", 0x20, "f (b.c)", NULL },
	    { "B", "/new/b.c", 0, "f (b.c)", NULL } } },
	{ "a_function_of_no_known_file_may_be_each_of_them",
	  { { "A", "/old/a.c", 0x10, "f (several functions)", "f (+0x10)" },
	    { "A", "/old/b.c", 0x20, "f (several functions)", "f (+0x20)" },
	    { "B", "", 0x80, "f (several functions)", "f (+0x80)" } } },
	{ "offsets_pair_in_one_build_only",
	  { { "AB", "/a.h", 0x10, "f (several functions)", "f (+0x10)" },
	    { "AB", "/a.h", 0x20, "f (several functions)", "f (+0x20)" } } },
	{ "one_function_a_side_is_no_homonym",
	  { { "A", "/old/a.c", 0x10, "f", NULL },
	    { "B", "", 0x20, "f", NULL } } },
};

START_TEST(functions_of_one_name_pair_by_what_is_known)
{
	const struct placed *p = places[_i].placed;
	struct match_names *m = match_names_new(false);
	struct homonym at[4];
	unsigned int n[2] = { 0, 0 };
	unsigned int files = 1;

	for (size_t i = 0; i < 4 && p[i].want; i++)
		for (const char *s = p[i].sides; *s; s++)
			n[*s == 'B'] += p[i].start != 0;
	for (size_t i = 1; i < 4 && p[i].want; i++)
		if (!strcmp(p[i].file, p[i - 1].file))
			files = 0;
	for (size_t i = 0; i < 4 && p[i].want; i++) {
		bool several = n[p[i].sides[0] == 'B'] > 1 && p[i].start;

		at[i] = (struct homonym){
			.start = p[i].start ? p[i].start : HOMONYM_INLINED,
			.file = p[i].file[0] ? p[i].file : NULL,
			.apart = several ? "its own" : NULL,
			.depth = several ? files : 0,
		};
		for (const char *s = p[i].sides; *s; s++)
			match_names_see(m, *s == 'B', 1, "f", true, &at[i]);
	}
	for (size_t i = 0; i < 4 && p[i].want; i++) {
		ck_assert_str_eq(match_names_get(m, 1, "f", &at[i], false),
				 p[i].want);
		ck_assert_str_eq(match_names_get(m, 1, "f", &at[i], true),
				 p[i].exact ? p[i].exact : p[i].want);
	}
	match_names_free(m);
}
END_TEST

START_TEST(what_is_drawn_inlined_changes_no_name_of_a_table)
{
	static const struct homonym inside = { .start = HOMONYM_INLINED };
	struct match_names *m = match_names_new(false);

	match_names_see(m, 1, 1, "shop::price(int)", false, NULL);
	match_names_see(m, 1, 1, "shop::price(double)", false, NULL);
	match_names_see(m, 0, 1, "shop::price(int)", false, &inside);
	ck_assert_str_eq(match_names_get(m, 1, "shop::price(int)", NULL, false),
			 "shop::price");
	ck_assert_str_eq(
		match_names_get(m, 1, "shop::price(double)", NULL, false),
		"shop::price");
	/* which a picture tells from others that are inlined */
	ck_assert_str_eq(
		match_names_get(m, 1, "shop::price(int)", &inside, false),
		"shop::price(int)");
	match_names_free(m);
}
END_TEST

static const struct run_table name_tables[] = {
	RUN_TABLE(names_are_those_of_the_table, tables),
	RUN_TABLE(functions_of_one_name_pair_by_what_is_known, places),
};

RUN_TABLES("match_names", name_tables, brackets_need_not_be_balanced,
	   what_is_drawn_inlined_changes_no_name_of_a_table)
