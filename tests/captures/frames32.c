/* frames32.c - the program of the capture frames32: a 32-bit program without
 * frame pointers: recursion, callbacks, a realigned stack of unknown size.
 *
 * usage: frames32; gcc -m32 -O2 -fomit-frame-pointer -nostdlib -static */
#include <stdalign.h>

static volatile unsigned int sink;

typedef int compare_fn(int, int);

__attribute__((noinline)) static int less(int a, int b)
{
	for (int i = 0; i < 20; i++)
		sink += (unsigned int)i;
	return a < b;
}

__attribute__((noinline)) static void sort(int *v, int n, compare_fn *fn)
{
	int last = 0;

	if (n < 2)
		return;
	for (int i = 1; i < n; i++)
		if (fn(v[i], v[0])) {
			int t = v[++last];

			v[last] = v[i];
			v[i] = t;
		}
	int t = v[0];

	v[0] = v[last];
	v[last] = t;
	sort(v, last, fn);
	sort(v + last + 1, n - last - 1, fn);
}

__attribute__((noinline)) static unsigned int recurse(unsigned int n)
{
	volatile unsigned int held[5];

	for (unsigned int i = 0; i < 5; i++)
		held[i] = n + i;
	return n ? recurse(n - 1) + held[n % 5] : sink;
}

__attribute__((noinline)) static void realigned(unsigned int n)
{
	alignas(64) volatile int v[32];
	int *more = __builtin_alloca(n * sizeof(int));

	for (unsigned int i = 0; i < n; i++)
		more[i] = (int)(i * 7919 % 307);
	for (unsigned int i = 0; i < 32; i++)
		v[i] = more[i % n];
	sort(more, (int)n, less);
	sink += (unsigned int)v[5] + recurse(12);
}

static __attribute__((used, noreturn)) void start(void)
{
	for (unsigned int i = 0; i < 20000; i++)
		realigned(60 + i % 30);
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0));
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined %eip\n"
	"and $-16, %esp\ncall start\nhlt\n.cfi_endproc\n");
