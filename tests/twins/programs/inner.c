/* inner.c - innermost functions, in a file of their own: built with frame
 * pointers beside one without, and the other way round. */
#include "inner.h"

#define AWAY __attribute__((noinline))

/* A leaf: no compiler must give it a frame. */
AWAY unsigned long inner_hash(unsigned long n)
{
	unsigned long h = 5381;

	for (unsigned long i = 0; i < n; i++)
		h = h * 33 ^ (h >> 7) ^ i;
	return h;
}

AWAY unsigned long inner_sum(const unsigned char *b, size_t n)
{
	unsigned long s = 0;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + b[i];
	return s;
}

/* Uses more values than there are registers: rbp too, if it is free. */
AWAY static unsigned long inner_middle(unsigned long n)
{
	unsigned long a = n, b = 1, c = 2, d = 3, e = 5, f = 7, g = 11, h = 13;
	unsigned long i = 17, j = 19, k = 23, l = 29;

	while (n--) {
		a += b ^ n;
		b += c;
		c ^= d;
		d += e;
		e ^= f * 3;
		f += g;
		g ^= h;
		h += i;
		i ^= j;
		j += k;
		k ^= l;
		l += a;
	}
	return inner_hash(a % 200) + b + c + d + e + f + g + h + i + j + k + l;
}

AWAY unsigned long inner_outer(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += inner_middle(i) * (i + 1);
	return sum;
}

AWAY unsigned long inner_assembly(unsigned long n)
{
	return leaf_plain(n) + leaf_saves(n) + leaf_frame(n);
}
