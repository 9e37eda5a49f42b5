/* twins.c - one program that is recorded twice, from two folders and in two
 * builds, to see what a comparison of the recordings calls a change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int hash(const unsigned char *p, size_t n)
{
	unsigned int h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static int before(int a, int b)
{
	return a < b;
}

static void sort(int *v, int n)
{
	for (int gap = n / 2; gap; gap /= 2)
		for (int i = gap; i < n; i++)
			for (int k = i; k >= gap && before(v[k], v[k - gap]);
			     k -= gap) {
				int x = v[k];

				v[k] = v[k - gap];
				v[k - gap] = x;
			}
}

static double power(double x, int n)
{
	return n ? x * power(x, n - 1) : 1;
}

__attribute__((noinline)) static unsigned int step(unsigned char *p, int *v)
{
	unsigned int sum = hash(p, 20000);

	for (int i = 0; i < 2000; i++)
		v[i] = (int)((unsigned int)i * 2654435761u >> 8);
	sort(v, 2000);
	for (int i = 0; i < 100; i++)
		sum += (unsigned int)power(1.01, 50 + i % 3);
	return sum + (unsigned int)v[7];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	unsigned char *p = malloc(20000);
	int *v = malloc(2000 * sizeof(*v));
	unsigned int sum = 0;

	memset(p, 7, 20000);
	while (n--)
		sum += step(p, v);
	printf("%u\n", sum);
	free(p);
	free(v);
	return 0;
}
