/* lines.c - the program of the captures lines-*: two functions that compute,
 * with debug information.
 *
 * In /wl: gcc or clang -gdwarf-5 -O1 -static -nostdlib -fno-omit-frame-pointer
 * -mno-omit-leaf-frame-pointer -fno-stack-protector -fcf-protection=none
 * -Wl,--build-id=sha1 -o lines-gcc or lines-clang lines.c */
#include "lines.h"

#define SYS_EXIT 60

static volatile unsigned long sink;

__attribute__((noinline)) static void hot(unsigned long n)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < n; i++)
		x = mix(x, i);
	sink = x;
}

__attribute__((noinline)) static void warm(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i % 7;
}

void _start(void)
{
	for (int i = 0; i < 300; i++) {
		hot(400000);
		warm(20000);
	}
	__asm__ volatile("syscall" : : "a"(SYS_EXIT), "D"(0));
}
