/* diff_cause.c - the function that is named as the cause of a change, of stacks
 * whose cause is known. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diffs/diff_cause.h"
#include "analyze/diffs/diff_rows.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define KEYS (KEY_SYM | KEY_DSO | KEY_HITS)
#define BUILDS 64

/* same, other: functions of images with the same and with another build, as
 * words; of none of them it is known. same NULL: the code of others is another
 * one, that of all the rest is the same, and blind is diff_cause.same. cause,
 * instead, blind: ""; none. Functions that begin with "jit" were made at run
 * time, "jit_tier" by another tier of the compiler; "jit_run" interprets. */
static const struct {
	const char *name, *a, *b, *same, *other, *cause, *instead, *blind;
} causes[] = {
	{ "nothing_changed_has_no_cause", "m;f 1000|m;g 2000",
	  "m;f 1010|m;g 1990", "", "", "", "", "" },
	{ "a_leaf_that_took_longer", "m;f 1000|m;g 4000|m;h 3000",
	  "m;f 2000|m;g 4000|m;h 3000", "", "", "f", "", "" },
	/* push has less than three quarters of what clerk has more: x varies */
	{ "a_function_in_what_grew_beside_which_nothing_is_left",
	  "m;clerk;x 6000|m;clerk;push;lock 10|m;y 8000|m;z 9000",
	  "m;clerk;x 6400|m;clerk;push;lock 300|m;clerk;push;unlock 300|m;y "
	  "8000|m;z 9000",
	  "", "", "push", "", "" },
	/* of what main has more f has less than half, as others vary */
	{ "a_leaf_and_not_the_entry_that_calls_all",
	  "m;main;f 1200|m;main;g 900|m;main;h 2000|m;main;x 6000|m;main;y 1000|m;z 8000",
	  "m;main;f 2200|m;main;g 1400|m;main;h 2600|m;main;x 6000|m;main;y 1000|m;z 8000",
	  "", "", "f", "", "" },
	/* and what is spread is the change of what calls it all */
	{ "the_entry_of_what_grew_throughout",
	  "m;main;f 1200|m;main;g 900|m;main;h 1000|m;z 2000|m;w 900",
	  "m;main;f 2200|m;main;g 1700|m;main;h 1900|m;z 2000|m;w 900", "", "",
	  "main", "", "" },
	{ "what_has_less_and_not_a_caller_that_vanished_in_part",
	  "m;top;parse 7000|m;top;x 500|m;y 9000|m;z 5000",
	  "m;top;parse 1500|m;parse 1500|m;top;x 500|m;y 9000|m;z 5000", "", "",
	  "parse", "", "" },
	{ "who_calls_what_others_call_as_before",
	  "m;x;copy 500|m;y;copy 500|m;z 4000|m;x 300|m;w 3000",
	  "m;x;copy 900|m;y;copy 500|m;z 4000|m;x 300|m;w 3000", "", "", "x",
	  "", "" },
	{ "what_its_callers_call_no_more_often",
	  "m;x;copy 500|m;y;copy 500|m;z 4000|m;x 300|m;w 3000",
	  "m;x;copy 900|m;y;copy 900|m;z 4000|m;x 300|m;w 3000", "", "", "copy",
	  "", "" },
	{ "who_calls_a_library_more_often",
	  "m;parse;free 400|m;z 4000|m;w 3000",
	  "m;parse;free 900|m;z 4000|m;w 3000", "free", "m parse z w", "parse",
	  "", "" },
	{ "none_where_callers_of_a_library_are_missing",
	  "m;?;free 400|m;z 4000|m;w 3000", "m;?;free 900|m;z 4000|m;w 3000",
	  "free", "m z w", "", "", "free" },
	{ "none_where_what_calls_two_of_a_library_is_missing",
	  "m;clerk;x 3000|m;clerk;?;lock 10|m;clerk;?;unlock 10|m;z 4000|m;w "
	  "3000",
	  "m;clerk;x 3000|m;clerk;?;lock 400|m;clerk;?;unlock 300|m;z 4000|m;w "
	  "3000",
	  "lock unlock", "m clerk x z w", "", "", "lock" },
	{ "a_library_that_is_another_one_itself",
	  "m;?;free 400|m;z 4000|m;w 3000", "m;?;free 900|m;z 4000|m;w 3000",
	  "", "free m z w", "free", "", "" },
	{ "what_two_functions_call_in_turn_moved",
	  "m;a;clerk;x 3000|m;a;clerk;sort 2000|m;b;teller;y 4000|m;z 4000",
	  "m;a;clerk;x 3000|m;b;teller;sort 2000|m;b;teller;y 4000|m;z 4000",
	  "", "", "teller", "clerk", "" },
	{ "what_was_inlined_has_another_in_its_place",
	  "m;f 1000|m;f;g 900|m;z 4000", "m;f 1900|m;z 4000", "", "", "g", "f",
	  "" },
	/* nearly all that index calls is quote, which has all of the change */
	{ "whose_code_differs_and_not_what_it_calls_more_often",
	  "m;index;quote;rune 300|m;index;x 500|m;z 5000|m;w 3000",
	  "m;index;quote;rune 1100|m;index;x 500|m;z 5000|m;w 3000", NULL,
	  "index", "index", "", "" },
	{ "none_of_what_has_the_same_code_and_is_called_as_before",
	  "m;f 300|m;g 5000|m;z 3000", "m;f 600|m;g 5000|m;z 3000", NULL, "",
	  "", "", "f" },
	{ "whose_code_differs_though_another_changed_more",
	  "m;f 300|m;g 500|m;z 5000", "m;f 500|m;g 1000|m;z 5000", NULL, "f",
	  "f", "", "" },
	{ "what_has_the_same_code_and_many_times_as_much_to_do",
	  "m;f 1000|m;g 5000|m;z 3000", "m;f 3000|m;g 5000|m;z 3000", NULL, "",
	  "f", "", "" },
	/* the builtin that it calls is the same program's */
	{ "code_made_at_run_time_that_calls_the_same_code_more_often",
	  "m;jit_f;lock 300|m;jit_g 5000|m;z 3000",
	  "m;jit_f;lock 900|m;jit_g 5000|m;z 3000", "m lock z", "", "jit_f", "",
	  "" },
	/* it changed more, but is the same */
	{ "code_made_at_run_time_before_the_same_code",
	  "m;jit_f 400|m;gc 400|m;jit_g 5000|m;z 3000",
	  "m;jit_f 800|m;gc 1000|m;jit_g 5000|m;z 3000", "m gc z", "", "jit_f",
	  "", "" },
	{ "a_quarter_more_in_one_run_of_what_was_compiled_before",
	  "m;f 1000|m;g 5000|m;z 3000", "m;f 1250|m;g 5000|m;z 3000", "", "",
	  "f", "", "" },
	{ "none_where_as_much_was_compiled_at_run_time",
	  "m;jit_f 1000|m;jit_g 5000|m;z 3000",
	  "m;jit_f 1250|m;jit_g 5000|m;z 3000", "m z", "", "", "", "" },
	{ "none_where_most_of_it_is_another_tier",
	  "m;jit_f;jit_tier 300|m;jit_f 500|m;jit_g 5000|m;z 3000",
	  "m;jit_f;jit_tier 900|m;jit_f 520|m;jit_g 5000|m;z 3000", "m z", "",
	  "", "", "" },
	{ "none_where_an_interpreter_that_called_it_has_most_of_it",
	  "jit_run;jit_f;jit_run 300|jit_run;jit_f 500|jit_run;jit_g 5000|z "
	  "3000",
	  "jit_run;jit_f;jit_run 900|jit_run;jit_f 520|jit_run;jit_g 5000|z "
	  "3000",
	  "z", "", "", "", "" },
	{ "what_calls_another_tier_and_has_more_itself",
	  "m;jit_f;jit_tier 300|m;jit_f 500|m;jit_g 5000|m;z 3000",
	  "m;jit_f;jit_tier 360|m;jit_f 990|m;jit_g 5000|m;z 3000", "m z", "",
	  "jit_f", "", "" },
	/* clerk has little less, and teller little more */
	{ "where_else_what_is_as_large_is_called",
	  "m;a;clerk;x 6000|m;a;clerk;sort 300|m;b;teller;y 8000|m;z 4000",
	  "m;a;clerk;x 6050|m;b;teller;sort 310|m;b;teller;y 8100|m;z 4000",
	  NULL, "clerk teller", "teller", "clerk", "" },
	/* w has more by chance of its compiler, and less than what moved */
	{ "what_moved_before_what_changed_by_less",
	  "m;jit_c;x 3000|m;jit_c;sort 900|m;jit_t;y 4000|m;z 4000|m;jit_w 900",
	  "m;jit_c;x 3000|m;jit_t;sort 900|m;jit_t;y 4000|m;z 4000|m;jit_w 500",
	  "", "", "jit_t", "jit_c", "" },
	{ "none_where_more_is_interpreted",
	  "m;jit_run 300|m;jit_g 5000|m;z 3000",
	  "m;jit_run 900|m;jit_g 5000|m;z 3000", "m z", "", "", "", "" },
	{ "nothing_where_who_called_it_has_the_same_code",
	  "m;a;clerk;x 6000|m;a;clerk;sort 300|m;b;teller;y 8000|m;z 4000",
	  "m;a;clerk;x 6050|m;b;teller;sort 310|m;b;teller;y 8100|m;z 4000",
	  NULL, "z", "", "", "" },
};

/* Adds stacks "m;f 10|m;?;g 20"; "?" is a missing caller. */
static void diff_cause_take(struct report_rows *r, struct labels *labels,
			    const char *text)
{
	char *copy = strdup(text), *line, *save = NULL;

	for (line = strtok_r(copy, "|", &save); line;
	     line = strtok_r(NULL, "|", &save)) {
		struct label_list l = { .label = NULL };
		char *space = strrchr(line, ' '), *at = NULL;
		uint64_t n = strtoull(space, NULL, 10);

		*space = '\0';
		for (char *f = strtok_r(line, ";", &at); f;
		     f = strtok_r(NULL, ";", &at))
			label_list_add(
				&l,
				*f == '?'
					? labels_add_name(labels, LABEL_MISSING,
							  STACK_NAMES_GAP)
					: labels_add_name(labels,
							  strncmp(f, "jit", 3)
								  ? LABEL_USER
								  : LABEL_JIT,
							  f));
		report_rows_add(r, 0, &l, n, n);
		free(l.label);
	}
	free(copy);
}

static bool diff_cause_has(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = words; (p = strstr(p, name)); p += n)
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static void diff_cause_expect(const struct diff_rows *d, uint32_t row,
			      const char *want)
{
	ck_assert_str_eq(
		row == REPORT_NONE ? "" : diff_rows_label(d, row)->name, want);
}

START_TEST(the_cause_is_the_function_that_changed)
{
	const char *text[2] = { causes[_i].a, causes[_i].b };
	struct labels *labels = labels_new();
	struct diff_rows_run run[2] = { { .rows = NULL } };
	int8_t build[BUILDS] = { 0 };
	struct diff_known known = { .build = build };

	for (int side = 0; side < 2; side++) {
		run[side].rows = report_rows_empty(labels, KEYS);
		diff_cause_take(run[side].rows, labels, text[side]);
	}
	known.n = labels_count(labels);
	ck_assert_uint_le(known.n, BUILDS);
	for (uint32_t i = 0; i < known.n; i++) {
		const char *name = labels_get(labels, i)->name;

		bool other = diff_cause_has(causes[_i].other, name);

		if (!causes[_i].same)
			build[i] = other ? DIFF_OTHER_CODE : DIFF_SAME_CODE;
		else
			build[i] = diff_cause_has(causes[_i].same, name)
					   ? DIFF_SAME_BUILD
				   : !strcmp(name, "jit_tier") ? DIFF_OTHER_TIER
				   : !strcmp(name, "jit_run") ? DIFF_INTERPRETED
				   : other		      ? DIFF_OTHER_BUILD
							      : 0;
	}

	struct diff_rows *d = diff_rows_new(run, 2, 1, KEYS, false, known);

	diff_cause_judge(d);
	diff_cause_expect(d, d->cause.row, causes[_i].cause);
	if (d->cause.row != REPORT_NONE)
		diff_cause_expect(d, d->cause.instead, causes[_i].instead);
	/* what is named is marked in the table, too */
	if (d->cause.row != REPORT_NONE && !d->cause.moved)
		ck_assert(d->place[0][d->cause.row].change == d->cause.sign ||
			  d->place[1][d->cause.row].change == d->cause.sign);
	diff_cause_expect(d, causes[_i].same ? d->cause.blind : d->cause.same,
			  causes[_i].blind);
	diff_rows_free(d);
	for (int side = 0; side < 2; side++)
		report_rows_free(run[side].rows);
	labels_free(labels);
}
END_TEST

/* push has most of what clerk has more, and too little in two of four runs to
 * be proved, as the rest is of pull there. */
START_TEST(what_the_table_does_not_mark_is_no_cause)
{
	static const unsigned int push[] = { 600, 100, 550, 150 };
	struct labels *labels = labels_new();
	struct diff_rows_run run[8] = { { .rows = NULL } };
	char text[128];

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int n = i < 4 ? 0 : push[i - 4];

		snprintf(text, sizeof(text),
			 "m;clerk;x %u|m;clerk;push %u|m;clerk;pull %u|"
			 "m;y %u|m;z %u",
			 6000 + i % 3, 5 + n, 5 + (i < 4 ? 0 : 600 - n),
			 8000 - i % 3, 9000 + i % 2);
		run[i].rows = report_rows_empty(labels, KEYS);
		diff_cause_take(run[i].rows, labels, text);
	}

	struct diff_rows *d = diff_rows_new(run, 8, 4, KEYS, false,
					    (struct diff_known){ .n = 0 });

	diff_cause_judge(d);
	diff_cause_expect(d, d->cause.row, "clerk");
	diff_rows_free(d);
	for (int i = 0; i < 8; i++)
		report_rows_free(run[i].rows);
	labels_free(labels);
}
END_TEST

/* The run of B has half of it in slow code, and as much in optimized code as
 * that of A has, or half as much again: of fewer calls. */
START_TEST(more_in_code_of_one_tier_is_more)
{
	const char *text[2] = { "m;jit_tier 800|m;jit_g 5000|m;z 3000",
				"m;jit_tier 2500|m;jit_g 5000|m;z 3000" };

	for (int more = 0; more < 2; more++) {
		struct labels *labels = labels_new();
		struct diff_rows_run run[2] = { { .rows = NULL } };
		int8_t build[BUILDS] = { 0 };
		struct diff_tier tier[BUILDS][2] = { { { .samples = 0 } } };
		struct diff_known known = { .build = build, .tier = tier[0] };

		for (int side = 0; side < 2; side++) {
			run[side].rows = report_rows_empty(labels, KEYS);
			diff_cause_take(run[side].rows, labels, text[side]);
		}
		known.n = labels_count(labels);
		ck_assert_uint_le(known.n, BUILDS);
		for (uint32_t i = 0; i < known.n; i++) {
			if (strcmp(labels_get(labels, i)->name, "jit_tier") !=
			    0)
				continue;
			build[i] = DIFF_OTHER_TIER;
			tier[i][0] = (struct diff_tier){ 800, 800, false };
			tier[i][1] =
				(struct diff_tier){ 2500, more ? 1200 : 820,
						    false };
		}

		struct diff_rows *d =
			diff_rows_new(run, 2, 1, KEYS, false, known);

		diff_cause_judge(d);
		diff_cause_expect(d, d->cause.row, more ? "jit_tier" : "");
		diff_cause_expect(d, d->cause.same, more ? "" : "jit_tier");
		diff_rows_free(d);
		for (int side = 0; side < 2; side++)
			report_rows_free(run[side].rows);
		labels_free(labels);
	}
}
END_TEST

/* f has time in B that is less than a sample. */
START_TEST(a_function_without_samples_is_not_new)
{
	static const int8_t only[] = { 1, 1, 1 };
	struct labels *labels = labels_new();
	struct diff_rows_run run[2] = { { .rows = NULL } };

	for (int side = 0; side < 2; side++)
		run[side].rows = report_rows_empty(labels, KEYS);
	diff_cause_take(run[1].rows, labels, "f 0|g 10");
	diff_cause_take(run[0].rows, labels, "h 10");

	struct diff_rows *d = diff_rows_new(
		run, 2, 1, KEYS, true,
		(struct diff_known){ .only = only, .n = labels_count(labels) });

	ck_assert_uint_le(labels_count(labels), ARRAY_SIZE(only));
	ck_assert_uint_eq(diff_rows_changed(d, true).appeared, 1);
	diff_rows_free(d);
	for (int side = 0; side < 2; side++)
		report_rows_free(run[side].rows);
	labels_free(labels);
}
END_TEST

/* ---- pairs of runs that differ by chance */

#define PAIRS 500

static uint64_t drawn = 1;

static double diff_cause_draw(void)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (double)(drawn >> 11) / 9007199254740992.0;
}

/* Returns about n, as often as a recording has it if the cost of a function
 * varies from run to run by 3 %. */
static unsigned int diff_cause_vary(double n)
{
	double normal = 0;

	for (int i = 0; i < 12; i++)
		normal += diff_cause_draw() - 0.5;
	n += normal * sqrt(n + 0.03 * n * 0.03 * n);
	return n > 0 ? (unsigned int)(n + 0.5) : 0;
}

START_TEST(equal_programs_have_a_cause_as_seldom_as_before)
{
	static const char *const stacks[] = {
		"m;a;f", "m;a;g", "m;b;f",   "m;b;h",	  "m;b;h;k",
		"m;c",	 "m;c;l", "m;c;l;n", "m;d;l;n",	  "m;d",
		"m;e;p", "m;e;q", "m;e;q;r", "m;e;?;r;s", "m;?;t",
		"m;u;v", "m;u;w", "m;u;w;k",
	};
	unsigned int found = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		struct labels *labels = labels_new();
		struct diff_rows_run run[2] = { { .rows = NULL } };

		for (int side = 0; side < 2; side++) {
			char text[64];

			run[side].rows = report_rows_empty(labels, KEYS);
			for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
				double n = 2000.0 / (double)(1 + i * i / 8);

				snprintf(text, sizeof(text), "%s %u", stacks[i],
					 diff_cause_vary(n));
				diff_cause_take(run[side].rows, labels, text);
			}
		}

		struct diff_rows *d = diff_rows_new(run, 2, 1, KEYS, false,
						    (struct diff_known){ 0 });

		diff_cause_judge(d);
		found += d->cause.row != REPORT_NONE;
		diff_rows_free(d);
		for (int side = 0; side < 2; side++)
			report_rows_free(run[side].rows);
		labels_free(labels);
	}
	ck_assert_uint_le(found, 3);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(the_cause_is_the_function_that_changed, causes),
};

RUN_TABLES("diff_cause", tables, what_the_table_does_not_mark_is_no_cause,
	   more_in_code_of_one_tier_is_more,
	   a_function_without_samples_is_not_new,
	   equal_programs_have_a_cause_as_seldom_as_before)
