/* clone.c - the program of the capture clone: it makes threads as glibc does,
 * whose unwind table ends at the system call that the child returns from, too.
 *
 * usage: clone; gcc -O2 -fomit-frame-pointer -nostdlib -static */
#define FLAGS "0x50f00" /* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */

__asm__(".type make, @function\n"
	"make:\n"
	"	.cfi_startproc\n"
	"	mov	%rdi, %rsi\n"
	"	mov	$" FLAGS ", %edi\n"
	"	xor	%edx, %edx\n"
	"	xor	%r10d, %r10d\n"
	"	xor	%r8d, %r8d\n"
	"	mov	$56, %eax\n"
	"	.cfi_endproc\n"
	"	syscall\n"
	"	test	%rax, %rax\n"
	"	je	1f\n"
	"	ret\n"
	"1:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor	%edi, %edi\n"
	"	mov	$60, %eax\n"
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size make, .-make\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor	%ebp, %ebp\n"
	"	call	run\n"
	"	xor	%edi, %edi\n"
	"	mov	$231, %eax\n"
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size _start, .-_start\n");

static char stack[5][4096] __attribute__((aligned(16)));

long make(void *stack);
void run(void);

__attribute__((noinline)) static long server(int n)
{
	long made = 0;

	for (int i = 0; i < n; i++)
		made += make(stack[i] + sizeof(stack[i])) > 0;
	return made;
}

__attribute__((used)) void run(void)
{
	volatile long made = server(3);

	made += server(2);
}
