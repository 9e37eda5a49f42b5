/* cookie_layout.c - tests of the bits of cookies, stitch/audit/counters.c. */
#include "stitch/audit/counters.h"

#include "tests/unit/run.h"

START_TEST(layout_is_read_by_its_word)
{
	unsigned int layout;

	for (unsigned int i = 0; cookie_layout_name(i); i++) {
		const char *word = cookie_layout_name(i);

		ck_assert_int_eq(cookie_layout_parse(word, &layout), 0);
		ck_assert_uint_eq(layout, i);
	}
	ck_assert_int_eq(cookie_layout_parse("cpu49", &layout), -1);
}
END_TEST

START_TEST(width_of_the_cpu_in_the_low_bits_may_be_told)
{
	struct cookie_shape shape[COOKIE_SHAPES];
	unsigned int layout;

	ck_assert_int_eq(cookie_layout_parse("lowcpu:6", &layout), 0);
	cookie_shapes(shape, layout);
	for (size_t i = 0; i < COOKIE_SHAPES; i++) {
		if (shape[i].layout != LAYOUT_LOWCPU)
			continue;
		ck_assert_uint_eq(shape[i].cpu_bits, 6);
		ck_assert_uint_eq(shape[i].count_at, 6);
		ck_assert_uint_eq(shape[i].count_bits, 58);
	}
}
END_TEST

START_TEST(width_that_cannot_be_is_an_error)
{
	static const char *const words[] = { "lowcpu:", "lowcpu:0", "lowcpu:17",
					     "lowcpu:6x", "cpu48:6" };
	unsigned int layout;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_int_eq(cookie_layout_parse(words[i], &layout), -1);
}
END_TEST

RUN("cookie_layout", layout_is_read_by_its_word,
    width_of_the_cpu_in_the_low_bits_may_be_told,
    width_that_cannot_be_is_an_error)
