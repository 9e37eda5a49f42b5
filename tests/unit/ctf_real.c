/* ctf_real.c - tests of the text of floating-point numbers in CTF traces. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/decode/run.h"
#include "tests/rnd.h"
#include "tests/unit/run.h"

static void check_real(double v, bool single)
{
	unsigned char got[64];
	struct ctf_text t = { .at = got, .max = sizeof(got) - 1 };
	char want[64];

	snprintf(want, sizeof(want), single ? "%.6g" : "%.15g", v);
	if (single ? (float)strtod(want, NULL) != (float)v
		   : strtod(want, NULL) != v)
		snprintf(want, sizeof(want), single ? "%.9g" : "%.17g", v);
	ctf_text_real(&t, v, single);
	got[t.n] = 0;
	ck_assert_str_eq((char *)got, want);
}

START_TEST(floating_point_numbers_are_printed_as_printf_does)
{
	static const double edge[] = {
		0,
		-0.0,
		1,
		0.1,
		0.001,
		0.01,
		0.5,
		1e15,
		1e14,
		1e17,
		9.5,
		999999.7,
		1e6,
		0.00099,
		1 / 3.0,
		2.5e-3,
		1e-300,
		1e300,
		4503599627370496.5,
		0.3,
		100,
		1e-3,
		5e-324,
		__builtin_inf(),
		999999999999999.9,
		0.99999999999999989,
		9.9999999999999982,
	};
	uint64_t r = 1;

	for (size_t i = 0; i < sizeof(edge) / sizeof(*edge); i++) {
		check_real(edge[i], false);
		check_real(-edge[i], false);
		check_real((double)(float)edge[i], true);
	}
	for (int i = 0; i < 300000; i++) {
		uint64_t bits = rnd(&r);
		uint64_t n = rnd(&r) >> (bits & 63);
		double v;
		float f = (float)n / (float)(1u << (bits >> 59));

		/* exponents near 0 mostly */
		if (i % 4)
			bits = (bits & ~((uint64_t)0x3ff << 53)) |
			       (uint64_t)(0x3f8 + (bits >> 54 & 31)) << 52;
		memcpy(&v, &bits, sizeof(v));
		if (v == v)
			check_real(v, false);
		check_real((double)n / (i % 7 ? 1000 : 3), false);
		check_real((double)f, true);
	}
}
END_TEST

RUN("ctf_real", floating_point_numbers_are_printed_as_printf_does)
