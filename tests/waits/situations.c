/* situations.c - ten programs that wait, each for another reason.
 * usage: situations NAME FOLDER [ARG]; see README.md */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static const char *folder;
static volatile unsigned long sink;

static void spin_us(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		for (int i = 0; i < 1000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000000 +
			 (b.tv_nsec - a.tv_nsec) / 1000 <
		 us);
}

static void sleep_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static int open_in(const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void threads(void *(*run)(void *), int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		pthread_create(&t, NULL, run, NULL);
	for (;;)
		pause();
}

/* Another process of this name, which ends with this one. */
static int child(const char *name)
{
	int pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
	}
	return !pid;
}

/* ---- a row that another process has locked: fcntl(F_SETLKW) of a byte */

static void lock_row(int fd, short how)
{
	struct flock l = { .l_type = how, .l_whence = SEEK_SET, .l_len = 1 };

	while (fcntl(fd, F_SETLKW, &l) && errno == EINTR)
		;
}

static void row_lock(void)
{
	int fd = open_in("table.db", O_RDWR | O_CREAT);
	int is_holder = child("holder");

	if (is_holder) {
		fd = open_in("table.db", O_RDWR);
		for (;;) {
			lock_row(fd, F_WRLCK);
			spin_us(80000);
			lock_row(fd, F_UNLCK);
			sleep_ms(20);
		}
	}
	for (;;) {
		lock_row(fd, F_WRLCK);
		spin_us(200);
		lock_row(fd, F_UNLCK);
		sleep_ms(1);
	}
}

/* ---- a log that is synced under a lock */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd;

static void *committer(void *arg)
{
	static char page[65536];

	for (;;) {
		pthread_mutex_lock(&lock);
		for (int i = 0; i < 16; i++)
			if (write(log_fd, page, sizeof(page)) < 0)
				exit(1);
		fsync(log_fd);
		lseek(log_fd, 0, SEEK_SET);
		pthread_mutex_unlock(&lock);
		sleep_ms(1);
	}
	return arg;
}

static void wal_fsync(void)
{
	log_fd = open_in("wal.log", O_RDWR | O_CREAT);
	committer(NULL);
}

/* ---- an upstream behind TCP that thinks for 40 ms */

static void upstream(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int in = socket(AF_INET, SOCK_STREAM, 0), fd;
	char c = 1;

	bind(in, (struct sockaddr *)&at, sizeof(at));
	listen(in, 1);
	getsockname(in, (struct sockaddr *)&at, &len);
	if (child("upstream")) {
		fd = accept(in, NULL, NULL);
		while (read(fd, &c, 1) == 1) {
			sleep_ms(40);
			if (write(fd, &c, 1) != 1)
				break;
		}
		_exit(0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	connect(fd, (struct sockaddr *)&at, sizeof(at));
	while (write(fd, &c, 1) == 1 && read(fd, &c, 1) == 1)
		spin_us(500);
}

/* ---- a pool of two connections for eight threads */

static sem_t pool;

static void *pooled(void *arg)
{
	for (;;) {
		sem_wait(&pool);
		spin_us(3000);
		sem_post(&pool);
		spin_us(10);
	}
	return arg;
}

static void full_pool(void)
{
	sem_init(&pool, 0, 1);
	threads(pooled, 8);
}

/* ---- a quota; a neighbour: both only compute */

static void wait_compute(void)
{
	for (;;) {
		spin_us(2000);
		sleep_ms(1);
	}
}

static void wait_neighbour(void)
{
	if (child("neighbour"))
		for (;;)
			spin_us(1000000);
	wait_compute();
}

/* ---- more memory than its cgroup has */

static void wait_memory(void)
{
	size_t size = (size_t)96 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int at = 1;

	for (;;) {
		at = at * 1103515245u + 12345u;
		p[(size_t)at * 4096 % size]++;
	}
}

/* ---- reads of a file on a disk that is slow */

static void slow_disk(void)
{
	int fd = open_in("slow", O_RDONLY | O_DIRECT);
	void *page;

	if (posix_memalign(&page, 4096, 1 << 20))
		exit(1);
	for (;;) {
		for (off_t off = 0; pread(fd, page, 1 << 20, off) > 0;
		     off += 1 << 20)
			spin_us(100);
	}
}

/* ---- one lock that all threads want for all that they do */

static void *convoy_thread(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		spin_us(100);
		sleep_ms(1);
		pthread_mutex_unlock(&lock);
		spin_us(5);
	}
	return arg;
}

/* ---- a name server that does not answer: a UDP port that nobody reads */

static void dns(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int in = socket(AF_INET, SOCK_DGRAM, 0);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	bind(in, (struct sockaddr *)&at, sizeof(at));
	getsockname(in, (struct sockaddr *)&at, &len);
	connect(fd, (struct sockaddr *)&at, sizeof(at));
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (send(fd, "name?", 5, 0) != 5)
			exit(1);
		poll(&p, 1, 400);
		spin_us(500);
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "";

	folder = argc > 2 ? argv[2] : "";
	if (!strcmp(name, "row-lock"))
		row_lock();
	else if (!strcmp(name, "wal-fsync"))
		wal_fsync();
	else if (!strcmp(name, "upstream"))
		upstream();
	else if (!strcmp(name, "full-pool"))
		full_pool();
	else if (!strcmp(name, "throttled"))
		wait_compute();
	else if (!strcmp(name, "neighbour"))
		wait_neighbour();
	else if (!strcmp(name, "memory"))
		wait_memory();
	else if (!strcmp(name, "slow-disk"))
		slow_disk();
	else if (!strcmp(name, "convoy"))
		threads(convoy_thread, THREADS);
	else if (!strcmp(name, "dns"))
		dns();
	fprintf(stderr, "usage: situations NAME FOLDER\n");
	return 2;
}
