/* framed.c - twenty small programs for framed.py, one for each -DLOAD=name:
 * each works three seconds, in calls of its own that are some frames deep, and
 * in what its C library and the kernel do for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define CAT(a, b) a##b
#define RUN(name) CAT(load_, name)
#define KEEP __attribute__((noinline, noclone))

static volatile unsigned long sink;

KEEP static void work_on(int n)
{
	for (int i = 0; i < n; i++)
		sink += i * 7 ^ sink >> 3;
}

/* ---- the program's own code */
KEEP static void load_loop(void)
{
	work_on(20000);
}

KEEP static unsigned long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEEP static void load_recursion(void)
{
	sink += fib(18);
}

KEEP static void go_deep(int n)
{
	if (n)
		go_deep(n - 1);
	else
		work_on(5000);
	sink++;
}

KEEP static void load_deep(void)
{
	go_deep(60);
}

/* ---- its C library */
static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

KEEP static void load_qsort(void)
{
	int v[2000];

	for (int i = 0; i < 2000; i++)
		v[i] = (i * 7919) % 2003;
	qsort(v, 2000, sizeof(*v), compare_ints);
	sink += v[0];
}

KEEP static void load_printf(void)
{
	char s[200];

	for (int i = 0; i < 100; i++)
		sink += snprintf(s, sizeof(s), "%d %s %f %lx", i, "text",
				 i / 3.0, sink);
}

KEEP static void load_malloc(void)
{
	void *p[200];

	for (int i = 0; i < 200; i++)
		memset(p[i] = malloc(i * 40 + 1), i, i * 40 + 1);
	for (int i = 0; i < 200; i++)
		free(p[(i * 7) % 200]);
}

KEEP static void load_regex(void)
{
	regex_t r;

	regcomp(&r, "(a|b)*c[0-9]+$", REG_EXTENDED);
	sink += regexec(&r, "abababababababababc12345", 0, NULL, 0);
	regfree(&r);
}

KEEP static void load_strings(void)
{
	char s[4000];

	memset(s, 'x', sizeof(s) - 1);
	s[sizeof(s) - 1] = 0;
	for (int i = 0; i < 50; i++)
		sink += strlen(s) + !!strstr(s, "xy") + !!strchr(s, 'z');
}

KEEP static void load_math(void)
{
	double d = 1;

	for (int i = 0; i < 500; i++)
		d += sin(d) * exp(-d * d) + pow(d, 0.3);
	sink += d;
}

KEEP static void load_numbers(void)
{
	for (int i = 0; i < 300; i++)
		sink += strtod("3.14159265358979", NULL) +
			strtol("123456789", NULL, 10);
}

KEEP static void load_wide(void)
{
	wchar_t w[300];

	sink += mbstowcs(w, "some text that is made wide, once and again",
			 300) +
		wcslen(w);
	swprintf(w, 300, L"%d %ls", (int)sink, L"wide");
}

/* ---- the kernel */
KEEP static void load_getrandom(void)
{
	char b[4096];

	sink += getrandom(b, sizeof(b), 0);
}

KEEP static void load_zero(void)
{
	static int fd = -1;
	char b[65536];

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY);
	sink += read(fd, b, sizeof(b));
}

KEEP static void load_map(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 1 << 20; i += 4096)
		p[i] = 1;
	munmap(p, 1 << 20);
}

KEEP static void load_stat(void)
{
	struct stat st;

	for (int i = 0; i < 50; i++)
		sink += stat("/usr/bin/env", &st);
}

KEEP static void load_pipe(void)
{
	static int p[2];
	char b[512];

	if (!p[0] && pipe(p))
		abort();
	for (int i = 0; i < 20; i++)
		sink += write(p[1], b, sizeof(b)) + read(p[0], b, sizeof(b));
}

KEEP static void load_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		work_on(2000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void on_signal(int sig)
{
	work_on(200 * sig);
}

KEEP static void load_signal(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *locked(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		work_on(300);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

KEEP static void load_threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, locked, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

KEEP static void load_files(void)
{
	char line[200];
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f))
		sink += line[0];
	fclose(f);
}

int main(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		RUN(LOAD)();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - from.tv_sec < 3);
	return 0;
}
