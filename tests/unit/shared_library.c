/* shared_library.c - a library is loaded when it is used, or its package told.
 */
#include "stitch/base/shared_library.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

struct shared_calls {
	double (*fabs)(double);
	double (*floor)(double);
};

START_TEST(the_first_file_that_is_there_is_loaded)
{
	static const char *const files[] = { "libnone.so.7", "libm.so.6",
					     NULL };
	static const char *const names[] = { "fabs", "floor" };
	struct shared_calls calls = { 0 };
	const struct shared_library l = {
		"numbers are rounded by", files, "libc6", names,
		ARRAY_SIZE(names),	  &calls
	};
	struct err err = { 0 };

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(shared_library_load(&l, &err), 0);
		ck_assert_double_eq(calls.fabs(-2.5), 2.5);
		ck_assert_double_eq(calls.floor(2.5), 2.0);
	}
}
END_TEST

START_TEST(the_package_of_one_that_is_missing_is_told)
{
	static const char *const files[] = { "libnone.so.7", "libno.so.7",
					     NULL };
	static const char *const names[] = { "fabs", "floor" };
	struct shared_calls calls = { 0 };
	const struct shared_library l = {
		"numbers are rounded by", files, "libnone7", names,
		ARRAY_SIZE(names),	  &calls
	};
	struct err err = { 0 };

	ck_assert_int_eq(shared_library_load(&l, &err), -1);
	ck_assert_int_eq(err.code, ERR_USAGE);
	ck_assert_str_eq(err.msg,
			 "numbers are rounded by libnone.so.7, which is not "
			 "here; install libnone7");
}
END_TEST

START_TEST(one_that_lacks_a_function_is_too_old_each_time)
{
	static const char *const files[] = { "libm.so.6", NULL };
	static const char *const names[] = { "fabs", "round_up_to_seven" };
	struct shared_calls calls = { 0 };
	const struct shared_library l = {
		"numbers are rounded by", files, "libc6", names,
		ARRAY_SIZE(names),	  &calls
	};

	for (int i = 0; i < 2; i++) {
		struct err err = { 0 };

		ck_assert_int_eq(shared_library_load(&l, &err), -1);
		ck_assert_str_eq(err.msg, "libm.so.6 is too old: it has no "
					  "round_up_to_seven()");
	}
}
END_TEST

RUN("shared_library", the_first_file_that_is_there_is_loaded,
    the_package_of_one_that_is_missing_is_told,
    one_that_lacks_a_function_is_too_old_each_time)
