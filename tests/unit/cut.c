/* cut.c - names that are cut show both ends, and what tells them apart. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/text/cut.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define NAMES_MAX 4
#define CELLS 20

static const struct {
	const char *what;
	const char *name[NAMES_MAX], *want[NAMES_MAX];
} cut_cases[] = {
	{ "a_name_that_fits_is_whole",
	  { "std::string::append", "twenty_characters_ok" },
	  { "std::string::append", "twenty_characters_ok" } },
	{ "both_ends_are_visible",
	  { "github.com/some/where.Name" },
	  { "github.c...here.Name" } },
	{ "equal_names_are_equal",
	  { "github.com/some/where.Name", "github.com/some/where.Name" },
	  { "github.c...here.Name", "github.c...here.Name" } },
	{ "parts_of_a_name_stay_whole",
	  { "std::vector<int>::push_back", "ns::detail::thing::get::it",
	    "std::map<a::b<c>>::find(d::e)" },
	  { "std...::push_back", "...::thing::get::it",
	    "std...::find(d::e)" } },
	{ "a_gap_beside_dots_is_one_gap",
	  { "std::_Function<...>::call" },
	  { "std::_Fu...>::call" } },
	{ "a_small_part_is_not_all_that_is_shown",
	  { "std::vector<int, std::allocator>::at" },
	  { "std::vec...ator>::at" } },
	{ "a_difference_in_the_middle_is_visible",
	  { "std::vector<int>::push_back", "std::vector<map>::push_back" },
	  { "std:...<int...h_back", "std:...<map...h_back" } },
	{ "differences_in_two_places_are_visible",
	  { "ns::some_class<int>::and_method_a_long_tail",
	    "ns::some_class<int>::and_method_b_long_tail",
	    "ns::some_class<map>::and_method_b_long_tail" },
	  { "ns...<i..._a..._tail", "ns...<i..._b..._tail",
	    "ns::...<map...g_tail" } },
	{ "two_differences_of_each_are_visible",
	  { "ns::some_class<int>::and_method_a_long_tail",
	    "ns::some_class<int>::and_method_b_long_tail",
	    "ns::some_class<map>::and_method_a_long_tail",
	    "ns::some_class<map>::and_method_b_long_tail" },
	  { "ns...<i..._a..._tail", "ns...<i..._b..._tail",
	    "ns...<m..._a..._tail", "ns...<m..._b..._tail" } },
	{ "escapes_are_not_cut_in_two",
	  { "a\x1b\x1b\x1b\x1b\x1b\x1b\x1bz" },
	  { "a\\x1b...\\x1b\\x1bz" } },
};

START_TEST(cut_names_show_what_tells_them_apart)
{
	struct cut_name name[NAMES_MAX] = { 0 };
	struct arena text = { 0 };
	size_t n = 0;

	for (; n < NAMES_MAX && cut_cases[_i].name[n]; n++)
		name[n].full = cut_cases[_i].name[n];
	cut_names(name, n, CELLS, &text);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(name[i].cut, cut_cases[_i].want[i]);
	arena_release(&text);
}
END_TEST

START_TEST(a_mark_is_not_cut)
{
	struct cut_name c = { .full = "std::vector<int>::push_back",
			      .mark = " (mark)" };
	struct arena text = { 0 };

	cut_names(&c, 1, CELLS, &text);
	ck_assert_str_eq(c.cut, "std::..._back");
	arena_release(&text);
}
END_TEST

START_TEST(no_name_is_wider_than_asked)
{
	static const char *const name[] = {
		"std::vector<int>::push_back",
		"\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b",
		("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"
		 "\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97")
	};

	for (size_t cells = CUT_LEAST; cells < 40; cells++)
		for (size_t i = 0; i < 3; i++) {
			struct cut_name c = { .full = name[i] };
			struct arena text = { 0 };

			cut_names(&c, 1, cells, &text);
			ck_assert_uint_le(safe_text_cells(c.cut), cells);
			ck_assert_uint_gt(strlen(c.cut), 0);
			arena_release(&text);
		}
}
END_TEST

START_TEST(names_that_differ_in_many_places_stay_different)
{
	enum {
		places = 8,
		n = 1 << places
	};
	static const char between[] = "_something_between_places_";
	static struct cut_name name[n];
	struct arena text = { 0 };

	for (size_t i = 0; i < n; i++) {
		char *s = arena_take(&text, places * sizeof(between) + 1);

		name[i].full = s;
		for (size_t k = 0; k < places; k++) {
			*s++ = i >> k & 1 ? 'a' : 'b';
			memcpy(s, between, sizeof(between));
			s += strlen(between);
		}
	}
	cut_names(name, n, CELLS, &text);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			must(strcmp(name[i].cut, name[k].cut) != 0);
	arena_release(&text);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(cut_names_show_what_tells_them_apart, cut_cases),
};

RUN_TABLES("cut", tables, a_mark_is_not_cut, no_name_is_wider_than_asked,
	   names_that_differ_in_many_places_stay_different)
