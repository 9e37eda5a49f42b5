/* deep.c - the program of the capture deep: a system call on a stack of 100 KB,
 * more than the largest dump has.
 *
 * usage: deep; gcc -O1 -fomit-frame-pointer -nostdlib -static */
static long call(long nr, long arg)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(arg)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noinline)) static long descend(int n)
{
	volatile char pad[1000];

	pad[0] = (char)n;
	return (n ? descend(n - 1) : call(39, 0)) + pad[0];
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	call(231, descend(100) < 0);
}
