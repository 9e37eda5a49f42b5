/* selfunwind.c - an example of a process that unwinds itself: the protocol of
 * backstitch-formats(5), PROCESSES THAT UNWIND THEMSELVES, from end to end.
 *
 * usage: selfunwind [-o FILE] [-n SAMPLES]
 *
 * A timer interrupts the program, as the kernel would; the handler logs a
 * request with a nonce, walks the frame pointers and logs the stack. Without
 * -o it writes to trace_marker of tracefs (as root, while trace-cmd records);
 * with -o it writes a text like that of trace_pipe, which backstitch reads as
 * it is, and its mappings beside it, as FILE.maps.
 *
 * A timer that hits the unwinder finds the thread busy: then there is a request
 * and no stack, and the audit says in_unwinder. While a line is made and
 * written the timer waits: else a later line with a later time could be written
 * first, or a request with no stack behind the stack of the one before it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MARKER "/sys/kernel/tracing/trace_marker"
#define DEPTH_MAX 40
#define LINE_MAX_LEN 1000 /* trace_marker takes 1 KiB, or less */

static int fd = -1;
static bool as_text;
static uintptr_t stack_low, stack_high;
static volatile sig_atomic_t busy, asked, wanted = 200;
static volatile unsigned int sink;

/* A line for the file or trace_marker, made without allocating. */
struct out {
	char text[LINE_MAX_LEN];
	size_t n;
};

static void line_put(struct out *o, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof(o->text) - o->n)
		n = sizeof(o->text) - o->n;
	memcpy(o->text + o->n, s, n);
	o->n += n;
}

static void line_put_number(struct out *o, uint64_t v, unsigned int base,
			    unsigned int width)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v || sizeof(digits) - 1 - at < width);
	line_put(o, digits + at);
}

/* What the kernel puts in front of a line in trace_pipe. */
static void line_begin(struct out *o)
{
	struct timespec now;

	o->n = 0;
	if (!as_text)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	line_put(o, "      selfunwind-");
	line_put_number(o, (uint64_t)gettid(), 10, 1);
	line_put(o, " [000] ..... ");
	line_put_number(o, (uint64_t)now.tv_sec, 10, 1);
	line_put(o, ".");
	line_put_number(o, (uint64_t)now.tv_nsec / 1000, 10, 6);
	line_put(o, ": tracing_mark_write: ");
}

static void line_end(struct out *o)
{
	line_put(o, "\n");
	if (write(fd, o->text, o->n) != (ssize_t)o->n)
		_exit(1);
}

static bool stack_is_frame(uintptr_t fp)
{
	return fp >= stack_low && fp < stack_high - 16 && fp % 8 == 0;
}

/* Program counter and return addresses; gives how many. */
static size_t stack_unwind(const ucontext_t *uc, uintptr_t ip[DEPTH_MAX])
{
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	uintptr_t fp = (uintptr_t)uc->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
	uintptr_t pc = uc->uc_mcontext.pc;
	uintptr_t fp = uc->uc_mcontext.regs[29];
#else
	uintptr_t pc = 0;
	uintptr_t fp = 0;
#endif
	size_t n = 0;

	for (ip[n++] = pc; n < DEPTH_MAX && stack_is_frame(fp);) {
		const uintptr_t *frame = (const uintptr_t *)fp;

		if (!frame[1])
			break;
		ip[n++] = frame[1];
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return n;
}

/* Captures do not always say of which process a thread is. */
static void put_pid(struct out *o)
{
	line_put(o, " pid=");
	line_put_number(o, (uint64_t)getpid(), 10, 1);
}

static void log_request(uint64_t nonce)
{
	struct out o;

	line_begin(&o);
	line_put(&o, "ureq nonce=");
	line_put_number(&o, nonce, 10, 1);
	put_pid(&o);
	line_end(&o);
}

static void log_stack(uint64_t nonce, const uintptr_t *ip, size_t n)
{
	struct out o;

	line_begin(&o);
	line_put(&o, "ustack nonce=");
	line_put_number(&o, nonce, 10, 1);
	put_pid(&o);
	line_put(&o, " ips=");
	for (size_t i = 0; i < n; i++) {
		line_put(&o, i ? ",0x" : "0x");
		line_put_number(&o, ip[i], 16, 1);
	}
	line_end(&o);
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
	uintptr_t ip[DEPTH_MAX];
	uint64_t nonce = (uint64_t)++asked;
	sigset_t timer;

	(void)sig;
	(void)info;
	log_request(nonce);
	if (busy)
		return;
	busy = 1;
	sigemptyset(&timer);
	sigaddset(&timer, SIGPROF);
	sigprocmask(SIG_UNBLOCK, &timer, NULL);
	size_t n = stack_unwind(context, ip);

	/* as if the next tick came so early */
	if (nonce % 10 == 0)
		raise(SIGPROF);
	sigprocmask(SIG_BLOCK, &timer, NULL);
	log_stack(nonce, ip, n);
	busy = 0;
}

static __attribute__((noinline)) unsigned int spin(unsigned int n)
{
	for (unsigned int i = 0; i < 50000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}

static __attribute__((noinline)) unsigned int deep(unsigned int n)
{
	return n ? deep(n - 1) + 1 : spin(sink);
}

static __attribute__((noinline)) unsigned int burn(void)
{
	return deep(3) + spin(sink) + 1;
}

/* Where this thread's stack is, from its own mappings; a copy of them. */
static void read_maps(const char *copy)
{
	FILE *in = fopen("/proc/self/maps", "r");
	FILE *out = copy ? fopen(copy, "w") : NULL;
	uintptr_t here = (uintptr_t)&in;
	char line[512];

	while (in && fgets(line, sizeof(line), in)) {
		uintptr_t low, high;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) == 2 &&
		    here >= low && here < high) {
			stack_low = low;
			stack_high = high;
		}
		if (out)
			fputs(line, out);
	}
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

static int open_out(const char *path)
{
	static const char head[] = "# tracer: nop\n#\n";

	as_text = path != NULL;
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)
		  : open(MARKER, O_WRONLY);
	if (fd < 0 || (as_text && write(fd, head, sizeof(head) - 1) < 0)) {
		perror(path ? path : MARKER);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	const char *path = NULL;
	char maps[4096];
	int c;

	while ((c = getopt(argc, argv, "o:n:")) != -1) {
		if (c == 'o')
			path = optarg;
		else if (c == 'n')
			wanted = (sig_atomic_t)strtol(optarg, NULL, 10);
		else
			return 2;
	}
	snprintf(maps, sizeof(maps), "%s.maps", path ? path : "selfunwind");
	read_maps(maps);
	sa.sa_sigaction = on_timer;
	if (open_out(path) || sigaction(SIGPROF, &sa, NULL) ||
	    setitimer(ITIMER_PROF, &every, NULL))
		return 1;
	while (asked < wanted)
		sink += burn();
	setitimer(ITIMER_PROF, &never, NULL);
	close(fd);
	return 0;
}
