/* loads.c - programs that make pairs of events, with a log of what they called.
 *
 * usage: loads NAME SECONDS LOG; each line of LOG is
 * "TID NUMBER BEFORE AFTER": a system call, by its number, between two times of
 * CLOCK_MONOTONIC. In such a time the thread made no other call of that number.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64
#define LINES 200000 /* of a thread; what follows is not logged */

struct line {
	int number;
	int64_t before, after;
};

struct thread {
	pthread_t id;
	int tid, n;
	struct line *line;
	int fd[2];
};

static struct thread threads[2 * THREADS];
static int n_threads;
static int64_t until;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Makes a system call, and logs it. */
static long call(struct thread *t, long number, long a, long b, long c, long d)
{
	int64_t before = now();
	long rc = syscall(number, a, b, c, d, 0L, 0L);
	int64_t after = now();

	if (t->n < LINES)
		t->line[t->n++] = (struct line){ (int)number, before, after };
	return rc;
}

static void start(void *(*fn)(void *), int n)
{
	for (int i = 0; i < n; i++) {
		struct thread *t = &threads[n_threads++];

		t->line = calloc(LINES, sizeof(*t->line));
		if (!t->line || pthread_create(&t->id, NULL, fn, t)) {
			perror("pthread_create");
			exit(1);
		}
	}
}

static void finish(const char *path)
{
	FILE *f = fopen(path, "w");

	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; f && i < n_threads; i++)
		for (int k = 0; k < threads[i].n; k++)
			fprintf(f, "%d %d %lld %lld\n", threads[i].tid,
				threads[i].line[k].number,
				(long long)threads[i].line[k].before,
				(long long)threads[i].line[k].after);
	if (!f || fclose(f))
		perror(path);
}

/* ---- locks: a pipe has one mutex, a file one rwsem, a process another one */

static int shared_pipe[2], shared_file;

static void *lock_pipe(void *arg)
{
	struct thread *t = arg;
	char buf[512] = "";

	t->tid = gettid();
	while (now() < until) {
		call(t, SYS_write, shared_pipe[1], (long)buf, sizeof(buf), 0);
		call(t, SYS_read, shared_pipe[0], (long)buf, sizeof(buf), 0);
	}
	return NULL;
}

static void *lock_file(void *arg)
{
	struct thread *t = arg;
	static char buf[65536];

	t->tid = gettid();
	while (now() < until) {
		void *p;

		call(t, SYS_pwrite64, shared_file, (long)buf, sizeof(buf), 0);
		p = mmap(NULL, 65536, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		memset(p, 1, 65536);
		call(t, SYS_munmap, (long)p, 65536, 0, 0);
	}
	return NULL;
}

static void locks(void)
{
	if (pipe2(shared_pipe, O_NONBLOCK) ||
	    (shared_file = open("file", O_RDWR | O_CREAT, 0600)) < 0)
		exit(1);
	fcntl(shared_pipe[1], F_SETPIPE_SZ, 1 << 20);
	start(lock_pipe, THREADS);
	start(lock_file, 4);
}

/* ---- server: clients of sockets, which log both sides */

static void *server(void *arg)
{
	struct thread *t = arg;
	char buf[64];

	t->tid = gettid();
	while (call(t, SYS_read, t->fd[1], (long)buf, sizeof(buf), 0) > 0)
		call(t, SYS_write, t->fd[1], (long)buf, sizeof(buf), 0);
	return NULL;
}

static void *client(void *arg)
{
	struct thread *t = arg;
	char buf[64] = "";

	t->tid = gettid();
	while (now() < until) {
		call(t, SYS_write, t->fd[0], (long)buf, sizeof(buf), 0);
		call(t, SYS_read, t->fd[0], (long)buf, sizeof(buf), 0);
		call(t, SYS_getppid, 0, 0, 0, 0);
	}
	close(t->fd[0]);
	return NULL;
}

/* Two ends of a connection; those of TCP make softirqs. */
static int connection(int fd[2], int tcp)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int from;

	if (!tcp)
		return socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
	from = socket(AF_INET, SOCK_STREAM, 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(from, (struct sockaddr *)&at, len) || listen(from, 1) ||
	    getsockname(from, (struct sockaddr *)&at, &len) ||
	    connect(fd[0], (struct sockaddr *)&at, len))
		return -1;
	fd[1] = accept(from, NULL, NULL);
	return close(from);
}

static void serve(int tcp)
{
	for (int i = 0; i < 8; i++) {
		struct thread *t = &threads[n_threads];

		if (connection(t->fd, tcp)) {
			perror("connection");
			exit(1);
		}
		t[1].fd[1] = t->fd[1];
		start(client, 1);
		start(server, 1);
	}
}

static void servers(void)
{
	serve(0);
}

static void network(void)
{
	serve(1);
}

/* ---- calls: restarted, interrupted, that return elsewhere or never */

static void nothing(int sig)
{
	(void)sig;
}

static void *exec_in_thread(void *arg)
{
	execl("/bin/true", "true", (char *)NULL);
	return arg;
}

static void *children(void *arg)
{
	struct thread *t = arg;

	t->tid = gettid();
	while (now() < until) {
		int status;
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		call(t, SYS_wait4, pid, (long)&status, 0, 0);
		pid = fork();
		if (!pid) {
			pthread_t other;

			pthread_create(&other, NULL, exec_in_thread, NULL);
			pause();
		}
		call(t, SYS_wait4, pid, (long)&status, 0, 0);
	}
	return NULL;
}

static void *interrupted(void *arg)
{
	struct thread *t = arg;
	struct sigaction act = { .sa_handler = nothing,
				 .sa_flags = SA_RESTART };
	struct itimerval each = { { 0, 700 }, { 0, 700 } };
	int fd[2];

	t->tid = gettid();
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	if (pipe(fd))
		return NULL;
	while (now() < until) {
		struct timespec some = { 0, 3000000 };
		struct pollfd p = { fd[0], POLLIN, 0 };

		call(t, SYS_nanosleep, (long)&some, 0, 0, 0);
		call(t, SYS_poll, (long)&p, 1, 2, 0);
		call(t, SYS_getppid, 0, 0, 0, 0);
	}
	each.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &each, NULL);
	return NULL;
}

/* One that is stopped and goes on: its poll is restarted. */
static void *stopped(void *arg)
{
	struct thread *t = arg;
	pid_t pid = fork();

	t->tid = gettid();
	if (!pid)
		for (;;)
			poll(NULL, 0, 20);
	while (now() < until) {
		struct timespec some = { 0, 2000000 };

		call(t, SYS_kill, pid, SIGSTOP, 0, 0);
		nanosleep(&some, NULL);
		call(t, SYS_kill, pid, SIGCONT, 0, 0);
		nanosleep(&some, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return NULL;
}

static void calls(void)
{
	start(children, 4);
	start(interrupted, 2);
	start(stopped, 1);
}

/* ---- timers: that expire, are moved, and are stopped */

static void *timer(void *arg)
{
	struct thread *t = arg;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned int seed = (unsigned int)gettid();
	uint64_t n;

	t->tid = gettid();
	while (now() < until) {
		struct itimerspec at = { { 0, 0 },
					 { 0, 1 + rand_r(&seed) % 150000 } };

		timerfd_settime(fd, 0, &at, NULL);
		if (!(rand_r(&seed) & 7))
			timerfd_settime(fd, 0, &at, NULL);
		call(t, SYS_read, fd, (long)&n, sizeof(n), 0);
	}
	return NULL;
}

/* A timeout of select() is an hrtimer, that of a socket one of the wheel. */
static void *timeout(void *arg)
{
	struct thread *t = arg;
	struct timeval some = { 0, 1000 };
	int fd[2];
	char c;

	t->tid = gettid();
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		return NULL;
	setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &some, sizeof(some));
	while (now() < until) {
		poll(NULL, 0, 1);
		call(t, SYS_recvfrom, fd[0], (long)&c, 1, 0);
	}
	return NULL;
}

static void timers(void)
{
	start(timer, 6);
	start(timeout, THREADS);
}

/* ---- memory: page faults, and in a cgroup with a limit reclaim */

static void *memory(void *arg)
{
	struct thread *t = arg;
	size_t size = 8 << 20;

	t->tid = gettid();
	while (now() < until) {
		int fd = open("written", O_RDWR | O_CREAT | O_TRUNC, 0600);
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t i = 0; i < size && now() < until; i += 4096)
			p[i] = 1;
		for (size_t i = 0; i < 16 * size && now() < until; i += 65536)
			if (pwrite(fd, p + i % size, 65536, (off_t)i) < 0)
				break;
		call(t, SYS_munmap, (long)p, (long)size, 0, 0);
		close(fd);
	}
	return NULL;
}

static void *compaction(void *arg)
{
	struct thread *t = arg;
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);

	t->tid = gettid();
	while (fd >= 0 && now() < until) {
		call(t, SYS_write, fd, (long)"1", 1, 0);
		usleep(1000);
	}
	return NULL;
}

static void memories(void)
{
	start(memory, 2);
	start(compaction, 1);
}

/* ---- marks: slices that are inside of each other, as a program logs them */

static void *marks(void *arg)
{
	struct thread *t = arg;
	const char *path = getenv("MARKER");
	int fd = open(path ? path : "", O_WRONLY), pid = getpid();

	t->tid = gettid();
	for (int i = 0; fd >= 0 && now() < until; i++) {
		char text[64];
		int n = snprintf(text, sizeof(text), "B|%d|outer", pid);

		call(t, SYS_write, fd, (long)text, n, 0);
		n = snprintf(text, sizeof(text), "S|%d|async|%d", pid,
			     t->tid * 10 + i % 10);
		call(t, SYS_write, fd, (long)text, n, 0);
		n = snprintf(text, sizeof(text), "B|%d|inner", pid);
		call(t, SYS_write, fd, (long)text, n, 0);
		call(t, SYS_write, fd, (long)"E", 1, 0);
		n = snprintf(text, sizeof(text), "F|%d|async|%d", pid,
			     t->tid * 10 + i % 10);
		call(t, SYS_write, fd, (long)text, n, 0);
		call(t, SYS_write, fd, (long)"E", 1, 0);
	}
	return NULL;
}

static void marker(void)
{
	start(marks, 4);
}

/* ---- reads: of a file on a disk, each of which ends with an interrupt. Others
 * keep the CPUs from being idle: perf 6.1 has no record of what interrupts the
 * idle task of some guests. */

static void *reads(void *arg)
{
	struct thread *t = arg;
	int fd = open("read", O_RDWR | O_CREAT | O_DIRECT, 0600);
	size_t size = 16 << 20;
	char *buf = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int seed = (unsigned int)gettid();

	t->tid = gettid();
	if (pwrite(fd, buf, size, 0) != (ssize_t)size)
		return NULL;
	while (now() < until)
		call(t, SYS_pread64, fd, (long)buf, 4096,
		     rand_r(&seed) % 4096 * 4096L);
	return NULL;
}

static void *busy(void *arg)
{
	((struct thread *)arg)->tid = gettid();
	/* of this thread */
	if (nice(19) != 19)
		perror("nice");
	while (now() < until)
		;
	return NULL;
}

static void disk_reads(void)
{
	start(reads, 2);
	start(busy, (int)sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- terminals: what is written to one goes through a work */

static void *terminal(void *arg)
{
	struct thread *t = arg;
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios raw;
	char c = 'x';
	int other;

	t->tid = gettid();
	if (fd < 0 || unlockpt(fd) ||
	    (other = open(ptsname(fd), O_RDWR | O_NOCTTY)) < 0)
		return NULL;
	tcgetattr(other, &raw);
	cfmakeraw(&raw);
	tcsetattr(other, TCSANOW, &raw);
	while (now() < until) {
		call(t, SYS_write, fd, (long)&c, 1, 0);
		call(t, SYS_read, other, (long)&c, 1, 0);
	}
	return NULL;
}

static void terminals(void)
{
	start(terminal, 4);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} loads[] = {
		{ "locks", locks },	 { "servers", servers },
		{ "network", network },	 { "calls", calls },
		{ "timers", timers },	 { "memory", memories },
		{ "marks", marker },	 { "terminals", terminals },
		{ "reads", disk_reads },
	};

	for (size_t i = 0; argc == 4 && i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(loads[i].name, argv[1])) {
			signal(SIGPIPE, SIG_IGN);
			until = now() + (int64_t)(atof(argv[2]) * 1e9);
			loads[i].fn();
			finish(argv[3]);
			return 0;
		}
	fprintf(stderr, "usage: %s NAME SECONDS LOG\n", argv[0]);
	return 2;
}
