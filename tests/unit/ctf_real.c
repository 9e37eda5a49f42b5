/* ctf_real.c - doubles as text: the same as printf and strtod find. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf.h"
#include "tests/unit/run.h"

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Exact again with as few digits as possible. */
static void check_text(double v)
{
	char want[CTF_REAL_LEN];
	char have[CTF_REAL_LEN];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(want, sizeof(want), "%.*g", digits, v);
		if (strtod(want, NULL) == v)
			break;
	}
	ctf_real_text(v, false, have);
	ck_assert_str_eq(have, want);
}

START_TEST(text_is_what_printf_says)
{
	static const double numbers[] = {
		0.0,
		-0.0,
		0.5,
		1.0,
		0.1,
		0.3,
		-2.5,
		1e-4,
		9.9e-5,
		1e13,
		1e14,
		1e15,
		1e16,
		1e100,
		1e-300,
		5e-324,
		100.0,
		123456.0,
		1.0 / 3,
		2.0 / 3,
		99999999999999.9,
		0.99999999999999999,
		9.9999999999999995e13,
		0.00010000000000000002,
		4503599627370497.5,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		check_text(numbers[i]);
		check_text(-numbers[i]);
	}
}
END_TEST

START_TEST(random_numbers_are_exact_again)
{
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = next();
		double v;

		memcpy(&v, &bits, sizeof(v));
		check_text(v);
		check_text((double)i / 7);
		check_text((double)(next() % 1000000) / (double)(i + 1));
		check_text(-(double)(next() % 100000000) * 1e-8);
		check_text((double)(next() >> 20) / 1000);
	}
}
END_TEST

START_TEST(halves_and_neighbours_are_exact_again)
{
	for (uint64_t k = 1; k < 47; k++) {
		double power = (double)((uint64_t)1 << k);
		uint64_t bits;

		memcpy(&bits, &power, sizeof(bits));
		for (int off = -20; off <= 20; off++) {
			uint64_t near = bits + (uint64_t)off;
			double v;

			memcpy(&v, &near, sizeof(v));
			check_text(v);
			check_text(1 / v);
		}
	}
}
END_TEST

START_TEST(floats_need_fewer_digits)
{
	char text[CTF_REAL_LEN];

	ctf_real_text((double)0.1f, true, text);
	ck_assert_str_eq(text, "0.1");
	ctf_real_text((double)16777216.0f, true, text);
	ck_assert_str_eq(text, "16777216");
}
END_TEST

RUN("ctf_real", text_is_what_printf_says, random_numbers_are_exact_again,
    halves_and_neighbours_are_exact_again, floats_need_fewer_digits)
