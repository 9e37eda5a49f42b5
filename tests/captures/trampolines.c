/* trampolines.c - the program of the capture trampolines: it calls each of its
 * functions by way of a copy of CPython 3.12's trampoline.
 *
 * usage: trampolines; gcc -O2 -fomit-frame-pointer -nostdlib -static
 * Copies of 11 bytes are at 0x10000000, and of 15, with endbr64, at 0x10001000;
 * trampolines.map is the perf map. The program uses the frame pointer for a
 * number, so that it leads nowhere. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

typedef long evaluate_fn(long depth, long with_endbr, long unused);
typedef long trampoline_fn(long depth, long with_endbr, long unused,
			   evaluate_fn *evaluate);

#define PLACE ((unsigned char *)0x10000000)
#define DEPTH 3

static const unsigned char code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48,
				      0x83, 0xec, 0x08, 0xff, 0xd1,
				      0x48, 0x83, 0xc4, 0x08, 0xc3 };

static long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noinline)) static long evaluate(long depth, long with_endbr,
					       long unused)
{
	unsigned char *at =
		with_endbr ? PLACE + 0x1000 + depth * 15 : PLACE + depth * 11;
	long ret;

	__asm__ volatile("mov $1234, %%ebp" ::: "rbp");
	if (depth == DEPTH)
		return sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
	ret = ((trampoline_fn *)at)(depth + 1, with_endbr, unused, evaluate);
	__asm__ volatile("" ::: "memory");
	return ret + 1;
}

static __attribute__((used)) void start(void)
{
	sys(SYS_mmap, (long)PLACE, 0x2000, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (int i = 0; i < DEPTH; i++) {
		for (int k = 0; k < 15; k++)
			PLACE[0x1000 + i * 15 + k] = code[k];
		for (int k = 0; k < 11; k++)
			PLACE[i * 11 + k] = code[k + 4];
	}
	evaluate(0, 0, 0);
	evaluate(0, 1, 0);
	sys(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined %rip\n"
	"and $-16, %rsp\ncall start\nud2\n.cfi_endproc\n");
