/* pricing.cc - a program of which several builds are compared: templates, a
 * function that one build has not (CUBIC), one that is renamed (RENAMED), one
 * that takes a third longer (SLOWER). */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define KEPT __attribute__((noinline, noclone))

static uint64_t spin(uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		v = v * 6364136223846793005u + (v >> 29);
	return v;
}

struct Poly {
	KEPT static uint64_t price(uint64_t v)
	{
#ifdef SLOWER
		return spin(v, 1064);
#else
		return spin(v, 800);
#endif
	}
};

struct Sqrt {
	KEPT static uint64_t price(uint64_t v) { return spin(v + 1, 700); }
};

struct Cubic {
	KEPT static uint64_t price(uint64_t v) { return spin(v + 2, 200); }
};

template <typename T> struct Book {
	KEPT static uint64_t sum(uint64_t v)
	{
		return T::price(v) + spin(v, 90);
	}
};

#ifdef RENAMED
#define ROUND round_to_cent
#else
#define ROUND round_half_up
#endif

KEPT static uint64_t ROUND(uint64_t v)
{
	return spin(v + 3, 300);
}

KEPT static uint64_t day(uint64_t v)
{
	v = Book<Poly>::sum(v) ^ Book<Sqrt>::sum(v);
#ifdef CUBIC
	v ^= Book<Cubic>::sum(v);
#endif
	return ROUND(v) + 1;
}

int main(int argc, char **argv)
{
	uint64_t v = 7;

	for (long i = argc > 1 ? atol(argv[1]) : 1; i > 0; i--)
		v = day(v);
	printf("%s: %llu\n", BUILD, (unsigned long long)v);
	return 0;
}
