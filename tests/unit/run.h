/* run.h - the main() of a unit test program: all tests in one list. */
#ifndef TESTS_UNIT_RUN_H
#define TESTS_UNIT_RUN_H
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Long enough for valgrind on a busy machine. */
#define RUN_TIMEOUT 300

static inline int run_tests(const char *name, const TTest *const *test,
			    size_t n)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, RUN_TIMEOUT);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, test[i]);
	suite_add_tcase(s, tc);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN(name, ...)                                                         \
	int main(void)                                                         \
	{                                                                      \
		const TTest *const test[] = { __VA_ARGS__ };                   \
		return run_tests(name, test, sizeof(test) / sizeof(test[0]));  \
	}

/* The same numbers on every machine: splitmix64. */
static inline uint64_t rnd(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint64_t rnd_below(uint64_t *state, uint64_t n)
{
	return rnd(state) % n;
}
#endif
