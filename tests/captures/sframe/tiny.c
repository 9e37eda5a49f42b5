/* tiny.c - a program without libc, so that SFrame covers all of it. */
#include <stdint.h>

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t leaf(uint64_t n)
{
	uint64_t s = 0;

	for (uint64_t i = 0; i < n; i++)
		s += i * i ^ sink;
	return s;
}

__attribute__((noinline)) static uint64_t middle(uint64_t n)
{
	volatile char b[64];

	b[n % 64] = 1;
	return leaf(n) + (uint64_t)b[3];
}

__attribute__((noinline)) static uint64_t deep(unsigned int d, uint64_t n)
{
	return d ? deep(d - 1, n) * 3 + 1 : middle(n);
}

__attribute__((noinline)) static uint64_t room(unsigned int n)
{
	volatile char b[n * 16 + 1];

	b[n] = 2;
	return deep(3, 20000) + (uint64_t)b[0];
}

__attribute__((used, noinline)) static void run(void)
{
	for (unsigned int i = 0; i < 6000; i++)
		sink += i & 1 ? deep(i % 5, 20000) : room(i % 9 + 1);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
	__builtin_unreachable();
}

__asm__(".globl _start\n.type _start, @function\n_start:\n"
	".cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\ncall run\n.cfi_endproc\n.size _start, . - _start\n");
