/* converted.c - a loop in a function that gcc clones, for captures that perf
 * inject --convert-callchain has written: it leaves out clones.
 * gcc -O2 -o converted converted.c */
static volatile long sum;

static __attribute__((noinline)) long work(long n)
{
	for (long i = 0; i < n; i++)
		sum += i * sum;
	return sum;
}

static __attribute__((noinline)) long cloned(long n, long twice)
{
	return work(n * twice) + 1;
}

__attribute__((noinline)) long kept(long n)
{
	return cloned(n, 2) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 40; i++)
		sum += kept(2000000 + argc);
	return 0;
}
