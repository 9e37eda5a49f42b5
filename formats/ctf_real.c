/* ctf_real.c - the shortest decimal text that gives the same double back.
 *
 * What "%.15g" makes of it, or 16, or 17 digits: the first that is exact. For
 * numbers of usual size it is calculated here, in integers and without
 * rounding; printing and reading back up to three times took a tenth of the
 * time of decoding. A double is m * 2^e; with its first 17 digits in front of
 * the point it is m * 10^k / 2^-e, and the doubles beside it are 10^k / 2^-e
 * away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf.h"

/* Not more than 20 zeros, so that m * 10^k fits into 128 bits; and below 1e14
 * %g has no exponent. */
#define REAL_MIN 1e-4
#define REAL_MAX 1e14

typedef unsigned __int128 u128;

/* A double of usual size. */
struct parts {
	u128 v;		    /* m * 10^k */
	u128 half;	    /* of the way to its neighbours, in the same */
	unsigned int shift; /* v >> shift has 17 digits */
	int exp;	    /* of ten, of the first digit */
};

static u128 power(unsigned int k)
{
	u128 p = 1;

	while (k--)
		p *= 10;
	return p;
}

/* false: not of usual size, or its neighbours are not equally far away. */
static bool take_apart(double v, struct parts *out)
{
	const uint64_t one = (uint64_t)1 << 52;
	const uint64_t least = 10000000000000000u; /* of 17 digits */
	uint64_t bits;

	if (!(v >= REAL_MIN && v < REAL_MAX))
		return false;
	memcpy(&bits, &v, sizeof(bits));
	uint64_t m = bits & (one - 1);

	if (!m)
		return false;
	out->shift = 1075 - (unsigned int)(bits >> 52);
	out->exp = 13;
	for (double p = 1e13; out->exp > -5 && v < p; p /= 10)
		out->exp--;
	for (int tries = 0; tries < 3; tries++) {
		u128 scale = power((unsigned int)(16 - out->exp));

		out->v = (m | one) * scale;
		out->half = scale / 2;
		if (out->v >> out->shift < least)
			out->exp--;
		else if (out->v >> out->shift >= (u128)least * 10)
			out->exp++;
		else
			return true;
	}
	return false;
}

/* The number that the first 17 - less digits make, and whether it is exact:
 * 1, 0, -1 cannot be told. */
static int rounded(const struct parts *p, unsigned int less, uint64_t *out)
{
	uint64_t unit = (uint64_t)power(less);
	u128 part = (u128)unit << p->shift;
	uint64_t top = (uint64_t)(p->v >> p->shift);
	u128 rest = p->v - ((u128)(top / unit * unit) << p->shift);
	bool up = rest * 2 > part;

	*out = top / unit + up;
	if (rest * 2 == part || *out >= (uint64_t)power(17 - less))
		return -1;
	if (up)
		rest = part - rest;
	return rest == p->half ? -1 : rest < p->half;
}

/* n of n digits and a point, as %g places them. */
static void place(uint64_t number, int n, int exp, char *to)
{
	char digits[24];
	int whole = exp < 0 ? 0 : exp + 1;

	for (int i = n; i-- > 0; number /= 10)
		digits[i] = (char)('0' + number % 10);
	while (n > whole && n > 1 && digits[n - 1] == '0')
		n--;
	if (exp < 0)
		*to++ = '0';
	memcpy(to, digits, (size_t)whole);
	to += whole;
	if (n > whole)
		*to++ = '.';
	for (int i = exp; i < -1; i++)
		*to++ = '0';
	memcpy(to, digits + whole, (size_t)(n - whole));
	to[n - whole] = 0;
}

static bool calculated(double v, char *to)
{
	struct parts p;
	uint64_t number;

	if (v < 0) {
		*to++ = '-';
		v = -v;
	}
	if (!take_apart(v, &p))
		return false;
	for (unsigned int less = 3; less-- > 0;) {
		int exact = rounded(&p, less, &number);

		if (exact < 0)
			return false;
		if (exact || !less) {
			place(number, 17 - (int)less, p.exp, to);
			return true;
		}
	}
	return false;
}

void ctf_real_text(double v, bool is_float, char out[CTF_REAL_LEN])
{
	int digits = is_float ? 6 : 15;
	int most = is_float ? 9 : 17;

	if (!is_float && calculated(v, out))
		return;
	for (; digits <= most; digits++) {
		snprintf(out, CTF_REAL_LEN, "%.*g", digits, v);
		double back = strtod(out, NULL);

		if (is_float ? (float)back == (float)v : back == v)
			break;
	}
}
