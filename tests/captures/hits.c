/* hits.c - the program of the captures hits-*: it computes, calls the kernel,
 * touches new pages and sleeps, by itself or in two processes.
 *
 * usage: hits ROUNDS [PROCESSES]; gcc -O1 -static -nostdlib
 * -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-stack-protector
 * -fcf-protection=none -Wl,--build-id=sha1,--eh-frame-hdr */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define PAGE 4096
#define PAGES 24
#define MINE __attribute__((noinline))

static volatile unsigned long sink;

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

MINE void multiply(int n)
{
	for (int i = 0; i < n; i++)
		sink = sink * 6364136223846793005u + 1;
}

MINE void add(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

MINE void compute(void)
{
	multiply(60000);
	add(180000);
	sink++;
}

MINE void ask_kernel(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

MINE void touch_pages(void)
{
	char *p =
		(char *)call(SYS_mmap, 0, PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < PAGES; i++)
		p[i * PAGE] = 1;
	call(SYS_munmap, (long)p, PAGES * PAGE, 0, 0, 0, 0);
}

MINE void nap(void)
{
	struct timespec t = { 0, 200000 };

	call(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}

MINE int work(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		compute();
		ask_kernel(1500);
		touch_pages();
		if (i % 4 == 3)
			nap();
	}
	return 0;
}

static int number(const char *s)
{
	int n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + *s++ - '0';
	return n;
}

__attribute__((used)) MINE void start(long *sp)
{
	char **argv = (char **)(sp + 1);
	long argc = *sp;

	if (argc > 2 && !call(SYS_fork, 0, 0, 0, 0, 0, 0)) {
		work(number(argv[1]));
		call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	work(argc > 1 ? number(argv[1]) : 1);
	if (argc > 2)
		call(SYS_wait4, -1, 0, 0, 0, 0, 0);
	call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\txor %ebp,%ebp\n\tmov %rsp,%rdi\n"
	"\tand $-16,%rsp\n\tcall start\n\thlt\n");
