/* wide.c - tests of stitch/base/wide.h: what machines of 32 bits do is what the
 * others do. */
#include "stitch/base/wide.h"

#include "tests/rnd.h"
#include "tests/unit/run.h"

static const uint64_t edge[] = { 0,
				 1,
				 2,
				 10,
				 1000000000,
				 UINT32_MAX,
				 (uint64_t)UINT32_MAX + 1,
				 (uint64_t)UINT32_MAX + 2,
				 (uint64_t)1 << 48,
				 INT64_MAX,
				 (uint64_t)1 << 63,
				 ((uint64_t)1 << 63) + 1,
				 UINT64_MAX - 1,
				 UINT64_MAX };
#define EDGES (sizeof(edge) / sizeof(*edge))

static void same_product(uint64_t a, uint64_t b)
{
	struct wide v = wide_mul(a, b);
	struct wide w = wide_mul_halves(a, b);

	ck_assert_uint_eq(v.hi, w.hi);
	ck_assert_uint_eq(v.lo, w.lo);
}

static void same_quotient(uint64_t a, uint64_t b, uint64_t d)
{
	struct wide v = wide_mul(a, b);

	ck_assert_uint_eq(wide_div(v, d), wide_div_bits(v, d));
}

START_TEST(halves_and_bits_give_the_same_as_128_bits)
{
	uint64_t r = 1;

	for (size_t i = 0; i < EDGES; i++)
		for (size_t k = 0; k < EDGES; k++) {
			same_product(edge[i], edge[k]);
			for (size_t n = 0; n < EDGES; n++)
				same_quotient(edge[i], edge[k], edge[n]);
		}
	for (int i = 0; i < 20000; i++) {
		uint64_t a = rnd(&r) >> i % 64;
		uint64_t b = rnd(&r) >> i / 64 % 64;
		uint64_t d = rnd(&r) >> i % 61;

		same_product(a, b);
		same_quotient(a, b, d);
	}
}
END_TEST

START_TEST(products_have_all_their_bits)
{
	struct wide v = wide_mul_halves(UINT64_MAX, UINT64_MAX);

	ck_assert_uint_eq(v.hi, UINT64_MAX - 1);
	ck_assert_uint_eq(v.lo, 1);
	v = wide_add(v, UINT64_MAX);
	ck_assert_uint_eq(v.hi, UINT64_MAX);
	ck_assert_uint_eq(v.lo, 0);
	ck_assert_uint_eq(wide_shift(v, 0), 0);
	ck_assert_uint_eq(wide_shift(v, 4), (uint64_t)15 << 60);
	ck_assert_uint_eq(wide_shift(v, 64), UINT64_MAX);
	ck_assert_uint_eq(wide_shift(v, 127), 1);
}
END_TEST

START_TEST(a_quotient_that_is_too_large_is_the_largest_number)
{
	struct wide v = { 7, 5 };

	ck_assert_uint_eq(wide_div_bits(v, 7), UINT64_MAX);
	ck_assert_uint_eq(wide_div(v, 7), UINT64_MAX);
	ck_assert_uint_eq(wide_div(v, 0), UINT64_MAX);
	ck_assert_uint_eq(wide_div_bits((struct wide){ 1, 0 }, 2),
			  (uint64_t)1 << 63);
	ck_assert_uint_eq(wide_div_bits((struct wide){ 0, 17 }, 5), 3);
}
END_TEST

START_TEST(numbers_with_signs_are_rounded_down)
{
	ck_assert_int_eq((int64_t)wide_shift_signed(-3, 1, 1), -2);
	ck_assert_int_eq((int64_t)wide_shift_signed(3, -1, 1), -2);
	ck_assert_int_eq((int64_t)wide_shift_signed(-3, -1, 1), 1);
	ck_assert_int_eq((int64_t)wide_shift_signed(INT64_MIN, 1 << 16, 48),
			 INT64_MIN >> 32);
	ck_assert_int_eq((int64_t)wide_shift_signed(INT64_MIN, INT64_MIN, 64),
			 (int64_t)1 << 62);
}
END_TEST

START_TEST(products_are_compared)
{
	ck_assert(wide_less(3, 5, 4, 4));
	ck_assert(!wide_less(4, 4, 2, 8));
	ck_assert(wide_less(UINT64_MAX, 2, UINT64_MAX, 3));
	ck_assert(!wide_less(UINT64_MAX, 3, UINT64_MAX, 2));
}
END_TEST

RUN("wide", halves_and_bits_give_the_same_as_128_bits,
    products_have_all_their_bits,
    a_quotient_that_is_too_large_is_the_largest_number,
    numbers_with_signs_are_rounded_down, products_are_compared)
