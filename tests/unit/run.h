/* run.h - the main() of a unit test program: all tests in one list. */
#pragma once
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/rnd.h"
#include "tests/turn.h"

/* gcc says it by a macro, clang 14 by a feature. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZERS_ADDRESS 1
#else
#define SANITIZERS_ADDRESS 0
#endif

/* Where an assertion holds, libcheck writes to a file where it was, so that it
 * can say behind which one a test crashed: a million writes in several tests,
 * and more time than what they test takes. The name of the test is enough, and
 * sanitizers say the line. */
#define _mark_point(file, line) ((void)0)

/* Long enough for valgrind on a busy machine. */
#define RUN_TIMEOUT 300
/* What takes seconds is done by half for each change, and less with
 * sanitizers; 'make check-long' sets LONG. The group `unit` of 'make check'
 * runs it without sanitizers, and so does .ci/run, by name. */
#define RUN_FEWER                                                              \
	(SANITIZERS_ADDRESS ? (run_long() ? 2 : 8) : (run_long() ? 1 : 2))

/* Whether a test that needs a million of something leaves that to the build
 * without sanitizers, which runs what names this word, and to 'make
 * check-long': sanitizers see the same code with fewer of them. */
#define RUN_ELSEWHERE (SANITIZERS_ADDRESS && !run_long())

static inline int run_long(void)
{
	const char *is = getenv("LONG");

	return is && *is;
}

/* A table of cases: every row is a test of its own, by which `test` runs with
 * the row's index in _i. A row begins with its name, a const char *, which is
 * what a failure says. Without rows, it runs n times. */
struct run_table {
	const TTest *const *test;
	const void *rows;
	size_t size, n;
};

#define RUN_TABLE(test, rows)                                                  \
	{                                                                      \
		&test, rows, sizeof((rows)[0]),                                \
			sizeof(rows) / sizeof((rows)[0])                       \
	}
#define RUN_TIMES(test, n)                                                     \
	{                                                                      \
		&test, NULL, 0, n                                              \
	}
#define RUN_ROWS_MAX 256

static inline void run_add_table(TCase *tc, const struct run_table *t)
{
	/* libcheck keeps the pointers until all tests have run */
	static TTest named[RUN_ROWS_MAX];
	static size_t n;

	if (!t->rows) {
		tcase_add_loop_test(tc, *t->test, 0, (int)t->n);
		return;
	}
	for (size_t i = 0; i < t->n && n < RUN_ROWS_MAX; i++) {
		const char *row = (const char *)t->rows + i * t->size;
		TTest *row_test = &named[n++];

		*row_test = **t->test;
		row_test->name = *(const char *const *)row;
		tcase_add_loop_test(tc, row_test, (int)i, (int)i + 1);
	}
}

/* setup and teardown run around each test; NULL: none. */
static inline int run_tests(const char *name, void (*setup)(void),
			    void (*teardown)(void), const TTest *const *test,
			    size_t n, const struct run_table *table,
			    size_t n_tables)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, RUN_TIMEOUT);
	if (setup)
		tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < n_tables; i++)
		run_add_table(tc, &table[i]);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, test[i]);
	suite_add_tcase(s, tc);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN_WITH(name, setup, teardown, ...)                                   \
	int main(void)                                                         \
	{                                                                      \
		const TTest *const test[] = { __VA_ARGS__ };                   \
		return run_tests(name, setup, teardown, test,                  \
				 sizeof(test) / sizeof(test[0]), NULL, 0);     \
	}
#define RUN(name, ...) RUN_WITH(name, NULL, NULL, __VA_ARGS__)
/* The rows of all tables, then the other tests. */
#define RUN_TABLES_WITH(name, setup, teardown, tables, ...)                    \
	int main(void)                                                         \
	{                                                                      \
		const TTest *const test[] = { __VA_ARGS__ };                   \
		return run_tests(name, setup, teardown, test,                  \
				 sizeof(test) / sizeof(test[0]), tables,       \
				 sizeof(tables) / sizeof((tables)[0]));        \
	}
#define RUN_TABLES(name, tables, ...)                                          \
	RUN_TABLES_WITH(name, NULL, NULL, tables, __VA_ARGS__)

/* As short as ck_assert(), where only the condition is to be said. */
#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)
