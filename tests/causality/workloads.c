/* workloads.c - programs of known structure that log what their threads do.
 *
 * usage: workloads NAME [ROUNDS]
 *
 * Record one with all CPUs, all scheduler events and the clock of the log:
 *
 *	perf record -a -g -k CLOCK_MONOTONIC -e sched:*,irq:*,timer:* \
 *		-- workloads lock >lock.log
 *
 * A line of the log is "NS TID NAME WHAT": "begin" and "end" around each piece
 * of computing and each wait, so that the time between two lines of a thread is
 * known to be its own computing, or a wait for what the list below says. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#define LINES 100000
#define US 1000ll

struct log_line {
	int64_t ns;
	int tid;
	char name[16];
	const char *what;
};

/* Shared with the processes that a workload makes. */
static struct {
	atomic_uint n;
	struct log_line line[LINES];
} * log_of_all;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void note(const char *what)
{
	unsigned int i = atomic_fetch_add(&log_of_all->n, 1);

	if (i >= LINES)
		return;
	struct log_line *l = &log_of_all->line[i];

	prctl(PR_GET_NAME, l->name);
	l->tid = (int)syscall(SYS_gettid);
	l->what = what;
	l->ns = clock_ns(CLOCK_MONOTONIC);
}

static void print_log(void)
{
	for (unsigned int i = 0; i < log_of_all->n && i < LINES; i++) {
		const struct log_line *l = &log_of_all->line[i];

		printf("%" PRId64 " %d %s %s\n", l->ns, l->tid, l->name,
		       l->what);
	}
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Runs on the CPU for so long: time that it was preempted does not count. */
static void compute(int64_t us)
{
	int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * US;

	note("begin compute");
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	note("end compute");
}

static void doze(int64_t us)
{
	struct timespec t = { 0, us * US };

	note("begin sleep");
	while (nanosleep(&t, &t) && errno == EINTR)
		;
	note("end sleep");
}

static void workload_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* ---- threads */

static int rounds = 20;

static pthread_t begin_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	must(!pthread_create(&t, NULL, fn, arg), "pthread_create");
	return t;
}

static void take_byte(int fd)
{
	char c;

	note("begin wait");
	must(read(fd, &c, 1) == 1, "read");
	note("end wait");
}

static void give_byte(int fd)
{
	must(write(fd, "x", 1) == 1, "write");
}

/* chain: five processes pass a token through pipes, each computing 150 + 50 i
 * us; the asker waits for the last one. */
#define HOPS 5

static void hop(int i, int pipes[][2])
{
	char name[16];

	snprintf(name, sizeof(name), "hop%d", i + 1);
	workload_name(name);
	for (int r = 0; r < rounds; r++) {
		take_byte(pipes[i][0]);
		compute(150 + 50 * i);
		give_byte(pipes[i + 1][1]);
	}
	_exit(0);
}

static void run_chain(void)
{
	int pipes[HOPS + 1][2];

	for (int i = 0; i <= HOPS; i++)
		must(!pipe(pipes[i]), "pipe");
	for (int i = 0; i < HOPS; i++)
		if (!fork())
			hop(i, pipes);
	workload_name("asker");
	for (int r = 0; r < rounds; r++) {
		compute(20);
		give_byte(pipes[0][1]);
		take_byte(pipes[HOPS][0]);
		doze(2000);
	}
	while (wait(NULL) > 0)
		;
}

/* lock and pi: the waiter wants a mutex whose owner computes 700 us, sleeps 900
 * us and computes 300 us. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;

static void *own_mutex(void *arg)
{
	(void)arg;
	workload_name("owner");
	for (int r = 0; r < rounds; r++) {
		pthread_mutex_lock(&mutex);
		turn = r + 1;
		compute(700);
		doze(900);
		compute(300);
		pthread_mutex_unlock(&mutex);
		doze(2000);
	}
	return NULL;
}

static void run_lock(void)
{
	pthread_t owner = begin_thread(own_mutex, NULL);

	workload_name("waiter");
	for (int r = 0; r < rounds; r++) {
		while (turn <= r)
			doze(50);
		note("begin wait");
		pthread_mutex_lock(&mutex);
		note("end wait");
		pthread_mutex_unlock(&mutex);
	}
	pthread_join(owner, NULL);
}

static void run_pi(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &a);
	run_lock();
}

/* cond and herd: one or eight threads wait for a condition that another one
 * signals after computing 400 us. */
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int made;

static void *wait_for_cond(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "waiter%d", (int)(intptr_t)arg);
	workload_name(name);
	for (int r = 0; r < rounds; r++) {
		pthread_mutex_lock(&mutex);
		note("begin wait");
		while (made <= r)
			pthread_cond_wait(&cond, &mutex);
		note("end wait");
		pthread_mutex_unlock(&mutex);
		compute(30);
	}
	return NULL;
}

static void signal_conds(int n)
{
	pthread_t waiter[8];

	for (int i = 0; i < n; i++)
		waiter[i] = begin_thread(wait_for_cond, (void *)(intptr_t)i);
	workload_name("signaler");
	for (int r = 0; r < rounds; r++) {
		doze(1000);
		compute(400);
		pthread_mutex_lock(&mutex);
		made++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	for (int i = 0; i < n; i++)
		pthread_join(waiter[i], NULL);
}

static void run_cond(void)
{
	signal_conds(1);
}

static void run_herd(void)
{
	signal_conds(8);
}

/* queue: a producer of 100 us and a consumer of 250 us share two places. */
static int queued;

static void *consume(void *arg)
{
	(void)arg;
	workload_name("consumer");
	for (int r = 0; r < rounds; r++) {
		pthread_mutex_lock(&mutex);
		note("begin wait");
		while (!queued)
			pthread_cond_wait(&cond, &mutex);
		note("end wait");
		queued--;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
		compute(250);
	}
	return NULL;
}

static void run_queue(void)
{
	pthread_t consumer = begin_thread(consume, NULL);

	workload_name("producer");
	for (int r = 0; r < rounds; r++) {
		compute(100);
		pthread_mutex_lock(&mutex);
		note("begin wait");
		while (queued == 2)
			pthread_cond_wait(&cond, &mutex);
		note("end wait");
		queued++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	pthread_join(consumer, NULL);
}

/* timers: a thread sleeps and computes. disk: it writes and waits for that. */
static void run_timers(void)
{
	workload_name("sleeper");
	for (int r = 0; r < rounds; r++) {
		doze(500 + 100 * (r % 5));
		compute(100);
	}
}

static void run_disk(void)
{
	char path[] = "/var/tmp/workloadsXXXXXX";
	int fd = mkstemp(path);
	static char block[65536];

	must(fd >= 0, path);
	unlink(path);
	workload_name("writer");
	for (int r = 0; r < rounds; r++) {
		must(write(fd, block, sizeof(block)) > 0, "write");
		note("begin wait");
		fsync(fd);
		note("end wait");
		compute(50);
	}
	close(fd);
}

/* sock: a client asks an epoll server over TCP, the server asks a backend that
 * sleeps 600 us and computes 200 us. */
static int listen_on(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){ .sin_family = AF_INET };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)at, len) &&
		     !listen(fd, 4) &&
		     !getsockname(fd, (struct sockaddr *)at, &len),
	     "listen");
	return fd;
}

static int connect_to(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0 && !connect(fd, (struct sockaddr *)at, sizeof(*at)),
	     "connect");
	return fd;
}

static struct sockaddr_in front, back;

static void *serve_back(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);

	workload_name("backend");
	for (int r = 0; r < rounds; r++) {
		take_byte(fd);
		doze(600);
		compute(200);
		give_byte(fd);
	}
	return NULL;
}

static void *serve_front(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	int ask = connect_to(&back);
	int ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	workload_name("server");
	must(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), "epoll");
	e.data.fd = ask;
	must(!epoll_ctl(ep, EPOLL_CTL_ADD, ask, &e), "epoll");
	for (int r = 0; r < 2 * rounds; r++) {
		note("begin wait");
		while (epoll_wait(ep, &e, 1, -1) < 1)
			;
		note("end wait");
		take_byte(e.data.fd);
		compute(e.data.fd == fd ? 300 : 150);
		give_byte(e.data.fd == fd ? ask : fd);
	}
	return NULL;
}

static void run_sock(void)
{
	int at_back = listen_on(&back), at_front = listen_on(&front);
	pthread_t b = begin_thread(serve_back, &at_back);
	pthread_t f = begin_thread(serve_front, &at_front);
	int fd = connect_to(&front);

	workload_name("client");
	for (int r = 0; r < rounds; r++) {
		compute(20);
		give_byte(fd);
		take_byte(fd);
		doze(1000);
	}
	pthread_join(f, NULL);
	pthread_join(b, NULL);
}

/* direct: one reads from a disk, past the cache, beside a client and a server
 * of TCP that never sleep: softirqs of the disk run in their system calls, too.
 */
#define DIRECT_BLOCKS 4096

static atomic_int direct_read;

static void *read_direct(void *arg)
{
	char path[] = "/var/tmp/workloadsXXXXXX";
	int fd = mkstemp(path);
	static char block[4096] __attribute__((aligned(4096)));

	(void)arg;
	must(fd >= 0, path);
	for (int i = 0; i < DIRECT_BLOCKS; i++)
		must(write(fd, block, sizeof(block)) > 0, "write");
	fsync(fd);
	close(fd);
	fd = open(path, O_RDONLY | O_DIRECT);
	unlink(path);
	must(fd >= 0, "O_DIRECT");
	workload_name("direct");
	for (int r = 0; r < rounds; r++) {
		off_t at =
			(off_t)((unsigned int)r * 2654435761u % DIRECT_BLOCKS);

		note("begin wait");
		must(pread(fd, block, sizeof(block),
			   at * (off_t)sizeof(block)) > 0,
		     "pread");
		note("end wait");
	}
	close(fd);
	direct_read = 1;
	return NULL;
}

static void *answer_direct(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	char c;

	workload_name("answers");
	note("begins");
	while (read(fd, &c, 1) == 1)
		give_byte(fd);
	close(fd);
	return NULL;
}

static void run_direct(void)
{
	struct sockaddr_in at;
	int listens = listen_on(&at);
	/* else one waits for the other's page fault */
	must(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
	pthread_t s = begin_thread(answer_direct, &listens);
	pthread_t d = begin_thread(read_direct, NULL);
	int fd = connect_to(&at);

	workload_name("asks");
	for (int r = 0; !direct_read; r++) {
		give_byte(fd);
		if (r % 8) {
			char c;

			must(read(fd, &c, 1) == 1, "read");
		} else {
			take_byte(fd);
		}
	}
	close(fd);
	pthread_join(d, NULL);
	pthread_join(s, NULL);
}

/* hog: two threads that compute share a CPU: one waits for it, ready. */
static void *hog(void *arg)
{
	workload_name(arg);
	for (int r = 0; r < rounds; r++)
		compute(5000);
	return NULL;
}

static void run_hog(void)
{
	unsigned long first = 1;

	must(syscall(SYS_sched_setaffinity, 0, sizeof(first), &first) >= 0,
	     "sched_setaffinity");
	pthread_t t = begin_thread(hog, "hog1");

	hog("hog2");
	pthread_join(t, NULL);
}

/* fork: the parent waits for a child that computes 500 us. */
static void run_fork(void)
{
	workload_name("parent");
	for (int r = 0; r < rounds; r++) {
		if (!fork()) {
			workload_name("child");
			compute(500);
			_exit(0);
		}
		note("begin wait");
		wait(NULL);
		note("end wait");
	}
}

/* signals: a thread waits for a signal that another one sends. Those of real
 * time are queued: two of the others may become one. */
static void *await_signals(void *arg)
{
	sigset_t set;
	int got;

	(void)arg;
	workload_name("receiver");
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	for (int r = 0; r < rounds; r++) {
		note("begin wait");
		sigwait(&set, &got);
		note("end wait");
		compute(50);
	}
	return NULL;
}

static void run_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_t t = begin_thread(await_signals, NULL);

	workload_name("sender");
	for (int r = 0; r < rounds; r++) {
		doze(1000);
		compute(300);
		pthread_kill(t, SIGRTMIN);
	}
	pthread_join(t, NULL);
}

/* pty: a reader waits for what a typist writes; a kworker carries it over. */
static void *read_pty(void *arg)
{
	char buf[64];
	int fd = *(int *)arg;

	workload_name("reader");
	for (int r = 0; r < rounds; r++) {
		note("begin wait");
		must(read(fd, buf, sizeof(buf)) > 0, "read");
		note("end wait");
		compute(50);
	}
	return NULL;
}

static void run_pty(void)
{
	int typist = posix_openpt(O_RDWR | O_NOCTTY);

	must(typist >= 0 && !grantpt(typist) && !unlockpt(typist), "pty");
	int reader = open(ptsname(typist), O_RDWR | O_NOCTTY);

	must(reader >= 0, "ptsname");
	pthread_t t = begin_thread(read_pty, &reader);

	workload_name("typist");
	for (int r = 0; r < rounds; r++) {
		doze(1500);
		compute(100);
		must(write(typist, "line\n", 5) == 5, "write");
	}
	pthread_join(t, NULL);
}

/* futex: two threads hand a word to each other. */
static atomic_int word;

static void await_word(int value)
{
	note("begin wait");
	for (int now; (now = word) != value;)
		syscall(SYS_futex, &word, FUTEX_WAIT, now, NULL, NULL, 0);
	note("end wait");
}

static void set_word(int value)
{
	word = value;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *pong(void *arg)
{
	(void)arg;
	workload_name("pong");
	for (int r = 0; r < rounds; r++) {
		await_word(2 * r + 1);
		compute(200);
		set_word(2 * r + 2);
	}
	return NULL;
}

static void run_futex(void)
{
	pthread_t t = begin_thread(pong, NULL);

	workload_name("ping");
	for (int r = 0; r < rounds; r++) {
		compute(100);
		set_word(2 * r + 1);
		await_word(2 * r + 2);
	}
	pthread_join(t, NULL);
}

/* ---- a taker waits for what a giver, which sleeps and computes, gives in one
 * of several ways */

static struct {
	void (*give)(void), (*take)(void);
	int from, to; /* descriptors, if it has some */
	sem_t sem;
	pthread_barrier_t barrier;
} way;

static void *take_often(void *arg)
{
	(void)arg;
	workload_name("taker");
	for (int r = 0; r < rounds; r++) {
		note("begin wait");
		way.take();
		note("end wait");
		compute(50);
	}
	return NULL;
}

static void give_often(void)
{
	pthread_t t = begin_thread(take_often, NULL);

	workload_name("giver");
	for (int r = 0; r < rounds; r++) {
		doze(800);
		compute(200);
		way.give();
	}
	pthread_join(t, NULL);
}

static void give_sem(void)
{
	sem_post(&way.sem);
}

static void take_sem(void)
{
	while (sem_wait(&way.sem) && errno == EINTR)
		;
}

static void run_sem(void)
{
	sem_init(&way.sem, 0, 0);
	way.give = give_sem;
	way.take = take_sem;
	give_often();
}

static void meet(void)
{
	pthread_barrier_wait(&way.barrier);
}

static void run_barrier(void)
{
	pthread_barrier_init(&way.barrier, NULL, 2);
	way.give = way.take = meet;
	give_often();
}

static void give_word(void)
{
	uint64_t v = 1;

	must(write(way.to, &v, sizeof(v)) == sizeof(v), "write");
}

static void take_word(void)
{
	uint64_t v;

	must(read(way.from, &v, sizeof(v)) == sizeof(v), "read");
}

static void run_pair(void)
{
	int fd[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd), "socketpair");
	way.from = fd[0];
	way.to = fd[1];
	way.give = give_word;
	way.take = take_word;
	give_often();
}

static void run_udp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	way.from = socket(AF_INET, SOCK_DGRAM, 0);
	way.to = socket(AF_INET, SOCK_DGRAM, 0);
	must(!bind(way.from, (struct sockaddr *)&at, sizeof(at)) &&
		     !getsockname(way.from, (struct sockaddr *)&at, &len) &&
		     !connect(way.to, (struct sockaddr *)&at, sizeof(at)),
	     "udp");
	way.give = give_word;
	way.take = take_word;
	give_often();
}

static int poller;

static void take_event(void)
{
	struct epoll_event e;

	must(epoll_wait(poller, &e, 1, -1) == 1, "epoll_wait");
	take_word();
}

static void run_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	poller = epoll_create1(0);
	way.from = way.to = eventfd(0, EFD_SEMAPHORE);
	must(!epoll_ctl(poller, EPOLL_CTL_ADD, way.from, &e), "epoll_ctl");
	way.give = give_word;
	way.take = take_event;
	give_often();
}

/* ---- a parent, and what it does to a child */

/* vfork: the parent waits until the child ends. */
static void run_vfork(void)
{
	workload_name("parent");
	for (int r = 0; r < rounds; r++) {
		note("begin wait");
		pid_t child = vfork();

		if (!child) {
			workload_name("child");
			compute(500);
			_exit(0);
		}
		note("end wait");
		workload_name("parent");
		waitpid(child, NULL, 0);
	}
}

/* Begins a child that computes until it is killed. */
static pid_t begin_child(void)
{
	pid_t child = fork();

	while (!child) {
		workload_name("child");
		compute(100);
	}
	workload_name("parent");
	return child;
}

/* stop: the child is stopped and goes on by signals. */
static void run_stop(void)
{
	pid_t child = begin_child();

	for (int r = 0; r < rounds; r++) {
		doze(500);
		kill(child, SIGSTOP);
		waitpid(child, NULL, WUNTRACED);
		doze(500);
		kill(child, SIGCONT);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* ptrace: the child stops for a tracer. */
static void run_ptrace(void)
{
	pid_t child = begin_child();

	must(!ptrace(PTRACE_SEIZE, child, NULL, NULL), "ptrace");
	for (int r = 0; r < rounds; r++) {
		doze(500);
		ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
		waitpid(child, NULL, __WALL);
		doze(500);
		ptrace(PTRACE_CONT, child, NULL, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
}

/* ---- threads that are ready, and run elsewhere */

/* yield: two threads that yield to each other on one CPU. */
static void *yield_often(void *arg)
{
	workload_name(arg);
	for (int r = 0; r < rounds; r++) {
		compute(100);
		sched_yield();
	}
	return NULL;
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void run_yield(void)
{
	on_cpu(0);
	pthread_t t = begin_thread(yield_often, "yield1");

	yield_often("yield2");
	pthread_join(t, NULL);
}

/* affinity: a thread that moves to another CPU, which migration/N does. */
static void run_affinity(void)
{
	workload_name("mover");
	for (int r = 0; r < rounds; r++) {
		compute(200);
		on_cpu(r & 1);
	}
}

/* rt: a thread of real time wakes up on the CPU of one that computes. */
static void run_rt(void)
{
	const struct sched_param p = { .sched_priority = 10 };

	on_cpu(0);
	pthread_t t = begin_thread(hog, "hog");

	workload_name("urgent");
	must(!sched_setscheduler(0, SCHED_FIFO, &p), "sched_setscheduler");
	for (int r = 0; r < rounds; r++) {
		doze(700);
		compute(100);
	}
	pthread_join(t, NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} workload[] = {
	{ "chain", run_chain },
	{ "lock", run_lock },
	{ "cond", run_cond },
	{ "queue", run_queue },
	{ "timers", run_timers },
	{ "disk", run_disk },
	{ "sock", run_sock },
	{ "hog", run_hog },
	{ "direct", run_direct },
	{ "fork", run_fork },
	{ "signals", run_signals },
	{ "pty", run_pty },
	{ "pi", run_pi },
	{ "herd", run_herd },
	{ "futex", run_futex },
	{ "sem", run_sem },
	{ "barrier", run_barrier },
	{ "pair", run_pair },
	{ "udp", run_udp },
	{ "epoll", run_epoll },
	{ "vfork", run_vfork },
	{ "stop", run_stop },
	{ "ptrace", run_ptrace },
	{ "yield", run_yield },
	{ "affinity", run_affinity },
	{ "rt", run_rt },
};

int main(int argc, char **argv)
{
	size_t n = sizeof(workload) / sizeof(*workload);

	if (argc > 2)
		rounds = (int)strtol(argv[2], NULL, 10);
	log_of_all = mmap(NULL, sizeof(*log_of_all), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(log_of_all != MAP_FAILED, "mmap");
	for (size_t i = 0; i < n; i++) {
		if (argc < 2 || strcmp(argv[1], workload[i].name) != 0)
			continue;
		workload[i].run();
		print_log();
		return 0;
	}
	fprintf(stderr, "usage: %s NAME [ROUNDS]\nnames:", argv[0]);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %s", workload[i].name);
	fprintf(stderr, "\n");
	return 2;
}
