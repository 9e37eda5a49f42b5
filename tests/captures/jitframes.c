/* jitframes.c - the program of the capture jitframes: code made at run time
 * that has no frame pointer, and two codes at one address in turn.
 *
 * usage: jitframes MS; gcc -O2 -fomit-frame-pointer -nostdlib -static
 * It writes jit-PID.dump with .eh_frame for each code. The codes use the frame
 * pointer for a number, so that only their tables lead to their callers. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum {
	R_LOAD,
	R_UNWIND = 4,
};

struct head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct prefix {
	uint32_t id, size;
	uint64_t time;
};

struct load {
	struct prefix p;
	uint32_t pid, tid;
	uint64_t vma, addr, len, number;
};

struct unwind {
	struct prefix p;
	uint64_t size, head, mapped;
};

typedef void call_fn(void (*)(void));

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

static int fd;
static uint32_t pid;
static uint64_t stop;
static unsigned char *room;

static uint64_t now(void)
{
	struct timespec t;

	sys(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *data, size_t n)
{
	sys(SYS_write, fd, (long)data, (long)n, 0, 0, 0);
}

__attribute__((noinline)) static void work(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		__asm__ volatile("");
	(void)now();
}

/* push %rbp; sub $frame, %rsp; mov $1234, %ebp; then twice: a loop, a call of
 * what is in %rdi; and out again. */
static size_t make_code(unsigned char *out, unsigned char frame)
{
	const unsigned char code[] = {
		0x55, 0x48, 0x83, 0xec,	 frame, 0xbd, 0xd2, 0x04, 0,
		0,    0xb9, 0,	  2,	 0,	0,    0xff, 0xc9, /* dec %ecx */
		0x75, 0xfc, 0xff, 0xd7, /* jnz, call *%rdi */
		0x48, 0x83, 0xc4, frame, 0x5d,	0xc3
	};

	for (size_t i = 0; i < sizeof(code); i++)
		out[i] = code[i];
	return sizeof(code);
}

/* A CIE, an FDE, and the head behind them, as perf and runtimes have it. */
static void put_unwind(size_t len, unsigned char frame)
{
	unsigned char table[24 + 32 + 20] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
		0x0c, 7, 8, 0x90, 1, 0, 0,
		/* the code begins at -(its length + 32 bytes of this) */
		28, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, (unsigned char)len, 0, 0,
		0, 0,
		/* +1: CFA = SP + 16, rbp at CFA - 16; +4: SP + frame + 16;
		 * before pop and ret: 16, 8 */
		0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e,
		(unsigned char)(frame + 16), 0x54, 0x0e, 16, 0x41, 0x0e, 8,
		0xc6,
		/* .eh_frame_hdr: nobody needs more than its size */
		1, 0x1b, 3, 0x3b
	};
	struct unwind u = { { R_UNWIND, sizeof(u) + sizeof(table), now() },
			    sizeof(table),
			    20,
			    sizeof(table) };
	int32_t back = -(int32_t)(((len + 7) & ~7ul) + 32);

	for (int i = 0; i < 4; i++)
		table[32 + i] = (unsigned char)((uint32_t)back >> 8 * i);
	put(&u, sizeof(u));
	put(table, sizeof(table));
}

/* Code at the one address there is, told to the file. */
static call_fn *make(const char *name, size_t n, unsigned char frame)
{
	static uint64_t number;
	size_t len = make_code(room, frame);
	struct load l = { { R_LOAD, (uint32_t)(sizeof(l) + n + len), 0 },
			  pid,
			  pid,
			  (uint64_t)room,
			  (uint64_t)room,
			  len,
			  number++ };

	put_unwind(len, frame);
	l.p.time = now();
	put(&l, sizeof(l));
	put(name, n);
	put(room, len);
	return (call_fn *)(uintptr_t)room;
}

__attribute__((noinline)) static void run_for(call_fn *f, uint64_t ns)
{
	stop = now() + ns;
	while (now() < stop)
		f(work);
}

/* jit-PID.dump, and the mapping of it by which perf's users find it. */
static void open_dump(void)
{
	struct head h = { 0x4A695444, 1, sizeof(h), EM_X86_64, 0, 0, 0, 0 };
	char name[32] = "jit-";
	size_t n = 4;

	pid = (uint32_t)sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
	for (uint32_t d = 1000000000, any = 0; d; d /= 10) {
		any |= pid / d;
		if (any)
			name[n++] = (char)('0' + pid / d % 10);
	}
	for (size_t i = 0; i < 6; i++)
		name[n + i] = ".dump"[i];
	h.pid = pid;
	h.time = now();
	fd = (int)sys(SYS_open, (long)name, O_CREAT | O_RDWR | O_TRUNC, 0644, 0,
		      0, 0);
	put(&h, sizeof(h));
	sys(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static __attribute__((used)) void start(const long *args)
{
	uint64_t ms = 0;

	for (const char *s = args[0] > 1 ? (const char *)args[2] : "50"; *s;
	     s++)
		ms = ms * 10 + (uint64_t)(*s - '0');
	open_dump();
	room = (unsigned char *)sys(SYS_mmap, 0, 4096,
				    PROT_READ | PROT_WRITE | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run_for(make("small_frame", 12, 0x18), ms * 1000000);
	run_for(make("large_frame", 12, 0x68), ms * 1000000);
	sys(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined %rip\n"
	"mov %rsp, %rdi\nand $-16, %rsp\ncall start\nud2\n.cfi_endproc\n");
