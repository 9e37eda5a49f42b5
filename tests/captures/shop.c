/* shop.c - the program of the capture shop.data, which 'make demo' reads: three
 * threads that serve orders. One of them asks the kernel for large reads,
 * during which it is sampled many times before it returns to user mode.
 *
 * usage: shop ROUNDS; gcc -g -O1 -static -nostdlib -fno-omit-frame-pointer
 * -mno-omit-leaf-frame-pointer -fno-stack-protector -fcf-protection=none
 * -fno-optimize-sibling-calls -Wl,--build-id=sha1,--eh-frame-hdr */
#include <fcntl.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define MINE __attribute__((noinline))
#define ROWS 4096
#define BLOCK (1u << 20)
#define STOCK (8u << 20)

static volatile uint64_t sink;
static uint64_t rows[ROWS];
static char stock[STOCK];
static char stacks[2][65536] __attribute__((aligned(16)));
static int rounds;
static int ended; /* threads, a futex */

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

/* ---- orders: computing */

MINE uint64_t mix(uint64_t h, uint64_t v)
{
	for (int i = 0; i < 24; i++)
		h = (h ^ (v >> (i & 31))) * 0x9e3779b97f4a7c15u;
	return h;
}

MINE void hash_rows(void)
{
	uint64_t h = 1;

	for (int i = 0; i < ROWS; i++)
		h = mix(h, rows[i]);
	sink = h;
}

MINE void sort_rows(int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && rows[k - 1] > rows[k]; k--) {
			uint64_t t = rows[k];

			rows[k] = rows[k - 1];
			rows[k - 1] = t;
		}
}

MINE void parse_order(void)
{
	for (int i = 0; i < ROWS; i++)
		rows[i] = sink * (uint64_t)i * 2654435761u;
}

MINE void handle_order(void)
{
	parse_order();
	sort_rows(300);
	hash_rows();
	sink++;
}

MINE void serve_orders(void)
{
	for (int i = 0; i < 80 * rounds; i++)
		handle_order();
	sink++;
}

/* ---- stock: long system calls */

MINE void read_block(int fd)
{
	call(SYS_pread64, fd, (long)stock, STOCK, 0, 0, 0);
	sink++;
}

MINE void count_items(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < STOCK; i += 64)
		n += (unsigned char)stock[i];
	sink += n;
}

MINE void load_stock(int fd)
{
	read_block(fd);
	count_items();
	sink++;
}

MINE void watch_stock(void)
{
	int fd = (int)call(SYS_open, (long)"/dev/zero", O_RDONLY, 0, 0, 0, 0);

	for (int i = 0; i < rounds / 2; i++)
		load_stock(fd);
	sink++;
}

/* ---- receipts: page faults and short sleeps */

MINE void fill_pages(char *p)
{
	for (unsigned int i = 0; i < BLOCK; i += 4096)
		p[i] = stock[i];
}

MINE void print_receipt(void)
{
	char *p = (char *)call(SYS_mmap, 0, BLOCK, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fill_pages(p);
	sink++;
}

MINE void print_receipts(void)
{
	struct timespec nap = { .tv_nsec = 3000000 };

	for (int i = 0; i < rounds; i++) {
		print_receipt();
		call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
	}
	sink++;
}

/* ---- threads */

MINE void name_thread(const char *name)
{
	call(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
}

MINE void thread_orders(void)
{
	name_thread("orders");
	serve_orders();
	sink++;
}

MINE void thread_stock(void)
{
	name_thread("stock");
	watch_stock();
	sink++;
}

/* Begins fn() in a thread; the thread ends with it, and counts in `ended`. */
MINE void thread_begin(void (*fn)(void), char *top)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM;

	__asm__ volatile("syscall\n\t"
			 "test %%eax, %%eax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%%rbx\n\t"
			 "lock incl %[ended]\n\t"
			 "mov %[exit], %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n"
			 "1:"
			 : [ended] "+m"(ended)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0),
			   "b"(fn), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "r8", "r10", "memory");
}

MINE void wait_for_threads(void)
{
	struct timespec nap = { .tv_nsec = 5000000 };

	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < 2)
		call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
}

MINE void run_shop(const char *number)
{
	for (; *number >= '0' && *number <= '9'; number++)
		rounds = rounds * 10 + *number - '0';
	thread_begin(thread_orders, stacks[0] + sizeof(stacks[0]));
	thread_begin(thread_stock, stacks[1] + sizeof(stacks[1]));
	name_thread("receipts");
	print_receipts();
	wait_for_threads();
	call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

__attribute__((naked, used)) void _start(void)
{
	__asm__("xor %ebp, %ebp\n\t"
		"mov 16(%rsp), %rdi\n\t"
		"and $-16, %rsp\n\t"
		"call run_shop");
}
