/* shown_names.c - names that are shown together are told apart, and no longer
 * than that needs. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/name_opts.h"
#include "analyze/names/short_name.h"
#include "analyze/stacks/label.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

static const struct name_opts none;

#define NAMES_MAX 6
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *what;
	const char *name[NAMES_MAX]; /* full, and shown in its place */
	const char *want[NAMES_MAX];
} shown_cases[] = {
	{ "different_functions_are_short",
	  { "f(int)", "g(char)" },
	  { "f", "g" } },
	{ "overloads_keep_their_parameters",
	  { "f(int)", "f(char)", "g(char)" },
	  { "f(int)", "f(char)", "g" } },
	{ "clones_keep_their_suffix",
	  { "f(int)", "f(int) [clone .cold]", "w", "w.part.0" },
	  { "f", "f [clone .cold]", "w", "w.part.0" } },
	{ "instances_keep_long_arguments",
	  { "void f<" LONG ">(int)", "void f<" LONG "b>(int)" },
	  { "f<" LONG ">", "f<" LONG "b>" } },
	{ "overloads_of_instances_keep_both",
	  { "void f<" LONG ">(int)", "void f<" LONG ">(char)",
	    "void f<" LONG "b>(char)" },
	  { "f<...>(int)", "f<...>(char)", "f<" LONG "b>" } },
	{ "methods_of_two_traits_keep_them",
	  { "<T as core::fmt::Debug>::fmt", "<T as core::fmt::Display>::fmt" },
	  { "<T as core::fmt::Debug>::fmt",
	    "<T as core::fmt::Display>::fmt" } },
	{ "what_no_part_tells_apart_is_full",
	  { "std::string::f()", "std::__cxx11::basic_string<char>::f()" },
	  { "std::string::f()", "std::__cxx11::basic_string<char>::f()" } },
	{ "a_function_of_c_keeps_its_name",
	  { "f", "f(int)" },
	  { "f", "f(int)" } },
};

START_TEST(shown_names_are_told_apart)
{
	const char *const *name = shown_cases[_i].name;
	struct shown_names *s = shown_names_new();
	struct arena text = { 0 };

	for (size_t i = 0; i < NAMES_MAX; i++)
		shown_names_add(s, name[i]);
	shown_names_make(s, &none, &text);
	for (size_t i = 0; i < NAMES_MAX && name[i]; i++)
		ck_assert_str_eq(shown_names_get(s, name[i]),
				 shown_cases[_i].want[i]);
	shown_names_free(s);
	arena_release(&text);
}
END_TEST

/* Each is the short form of the next. */
START_TEST(a_chain_of_short_forms_ends)
{
	enum {
		n = 300
	};
	char *name[n];
	struct shown_names *s = shown_names_new();
	struct arena text = { 0 };

	for (size_t i = 0; i < n; i++) {
		name[i] = mem_new(8 * n, 1);
		memset(name[i], 'f', 2);
		for (size_t k = 0; k < i; k++)
			memcpy(name[i] + 2 + 7 * k, ".isra.0", 7);
	}
	for (size_t i = 0; i < n; i++)
		shown_names_add(s, name[i]);
	shown_names_make(s, &none, &text);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			must(strcmp(shown_names_get(s, name[i]),
				    shown_names_get(s, name[k])) != 0);
	shown_names_free(s);
	for (size_t i = 0; i < n; i++)
		free(name[i]);
	arena_release(&text);
}
END_TEST

START_TEST(functions_of_one_name_in_two_files_share_it)
{
	struct labels *l = labels_new();
	struct label a = { .kind = LABEL_USER, .name = "f(int)", .image = "a" };
	struct label b = { .kind = LABEL_USER, .name = "f(int)", .image = "b" };
	struct label comm = { .kind = LABEL_GROUP,
			      .name = "f(int)",
			      .image = "" };
	uint32_t at_a = labels_add(l, &a);
	uint32_t at_b = labels_add(l, &b);
	uint32_t at_comm = labels_add(l, &comm);

	labels_shorten(l, &none);
	ck_assert_str_eq(label_shown(labels_get(l, at_a)), "f");
	ck_assert_str_eq(label_shown(labels_get(l, at_b)), "f");
	/* the name of a thread is nobody's to change */
	ck_assert_str_eq(label_shown(labels_get(l, at_comm)), "f(int)");
	labels_free(l);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(shown_names_are_told_apart, shown_cases),
};

RUN_TABLES("shown_names", tables, a_chain_of_short_forms_ends,
	   functions_of_one_name_in_two_files_share_it)
