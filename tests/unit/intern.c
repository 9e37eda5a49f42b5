/* intern.c - tests of stitch/base/intern.c, and of stitch/base/search.h. */
#include "stitch/base/intern.h"

#include <stdio.h>
#include <stdlib.h>

#include "stitch/base/search.h"
#include "tests/unit/run.h"

START_TEST(equal_strings_have_one_id)
{
	struct intern in = { 0 };
	char name[16];

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "name%u", i);
			ck_assert_uint_eq(intern_add(&in, name), i);
			ck_assert_str_eq(intern_get(&in, i), name);
		}
	ck_assert_uint_eq(in.n, 1000);
	intern_release(&in);
}
END_TEST

START_TEST(bytes_with_a_zero_are_told_apart)
{
	struct intern in = { 0 };

	ck_assert_uint_eq(intern_add_bytes(&in, "a\0b", 3), 0);
	ck_assert_uint_eq(intern_add_bytes(&in, "a\0c", 3), 1);
	ck_assert_uint_eq(intern_add(&in, "a"), 2);
	ck_assert_uint_eq(intern_add(&in, ""), 3);
	ck_assert_uint_eq(intern_length(&in, 0), 3);
	ck_assert_uint_eq(intern_length(&in, 3), 0);
	intern_release(&in);
}
END_TEST

START_TEST(search_finds_the_first_item)
{
	for (size_t n = 0; n < 20; n++)
		for (size_t first = 0; first <= n; first++)
			ck_assert_uint_eq(search_where(n, i, i >= first),
					  first);
}
END_TEST

RUN("intern", equal_strings_have_one_id, bytes_with_a_zero_are_told_apart,
    search_finds_the_first_item)
