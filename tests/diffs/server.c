/* server.c - a server with one cause of slowness at a time, for causes.py.
 *
 * usage: server CAUSE FOLDER
 *
 * The first thread is the client: it sends a request to each worker, and waits
 * for both answers, ROUNDS times. A worker parses, looks up in a table under a
 * lock, reads from a file, writes a line to a log and answers. CAUSE "none"
 * changes nothing; what each other one changes is where the word is compared.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 2500
#define MOST_WORKERS 8
#define BLOCK 16384
#define BLOCKS 2048
#define TABLE (32 << 20)
#define OWN __attribute__((noinline))

static const char *cause;
static int data, logged, db[2], piped[2], between[2];
static unsigned char *table;
static sem_t pool;
static int workers = 2;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t db_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t herd_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t herd_new = PTHREAD_COND_INITIALIZER;
static struct worker {
	int fd[2], wrong[2];
	unsigned int seed;
} worker[MOST_WORKERS];
static __thread volatile unsigned long sum;
static volatile unsigned long herd_round;
static volatile int spinning;

static bool is(const char *word)
{
	return !strcmp(cause, word);
}

static void toil(long us)
{
	for (long i = 0; i < us * 1000; i++)
		sum += (unsigned long)i;
}

/* What calls the C library is a function of its own: as that has no frame
 * pointers, stacks miss the one that called it. */
OWN static void take_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	sum++;
}

OWN static void give_lock(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
	sum++;
}

OWN static void read_block(int fd, void *to, size_t n, off_t at)
{
	if (pread(fd, to, n, at) < 0)
		exit(1);
	sum++;
}

OWN static void drop_block(int fd, off_t at)
{
	posix_fadvise(fd, at, BLOCK, POSIX_FADV_DONTNEED);
	sum++;
}

OWN static void write_bytes(int fd, const void *from, size_t n)
{
	if (write(fd, from, n) < 0)
		exit(1);
	sum++;
}

OWN static void read_answer(int fd, char *to)
{
	if (read(fd, to, 1) < 0)
		exit(1);
	sum++;
}

OWN static void sync_it(int fd)
{
	fdatasync(fd);
	sum++;
}

OWN static void pause_for(useconds_t us)
{
	usleep(us);
	sum++;
}

OWN static void get_parent(void)
{
	sum += (unsigned long)getppid();
}

OWN static void *map_it(size_t size)
{
	void *to = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		exit(1);
	sum++;
	return to;
}

OWN static void unmap_it(void *from, size_t size)
{
	munmap(from, size);
	sum++;
}

OWN static void advise_it(void *from, size_t size)
{
	madvise(from, size, MADV_HUGEPAGE);
	sum++;
}

OWN static void touch(volatile char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		from[i]++;
}

/* Memory of its own for each request. */
OWN static void use_buffer(void)
{
	size_t size = 1 << 18;
	char *at = map_it(size);

	touch(at, size);
	unmap_it(at, size);
}

/* The same of huge pages. */
OWN static void use_huge(void)
{
	size_t page = 2 << 20, size = 4 * page;
	char *at = map_it(size + page);
	size_t off = page - (unsigned long)at % page;

	advise_it(at + off, size);
	touch(at + off, size);
	unmap_it(at, size + page);
}

OWN static void start_helper(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	sum++;
}

OWN static void spin_for_turn(void)
{
	while (__atomic_exchange_n(&spinning, 1, __ATOMIC_ACQUIRE))
		while (spinning)
			sum++;
	toil(100);
	__atomic_store_n(&spinning, 0, __ATOMIC_RELEASE);
}

OWN static void on_tick_of_timer(int number)
{
	(void)number;
	toil(1500);
	sum++;
}

OWN static void walk_table(unsigned int *seed)
{
	/* as often in each case: what differs is how much it is spread over */
	size_t size = is("larger-table") ? TABLE : 1 << 12;

	for (int i = 0; i < 10000; i++)
		sum += table[(size_t)rand_r(seed) % size];
}

OWN static void take_slot(void)
{
	sem_wait(&pool);
	sum++;
}

OWN static void give_slot(void)
{
	sem_post(&pool);
	sum++;
}

OWN static void parse(void)
{
	toil(is("parse") ? 300 : 30);
}

OWN static void look_up(void)
{
	take_lock(&table_lock);
	toil(is("longer-lock") ? 200 : 20);
	if (is("sleep-in-lock"))
		pause_for(100);
	give_lock(&table_lock);
}

OWN static void count_it(void)
{
	bool locks = is("one-more-lock");

	if (locks)
		take_lock(&stats_lock);
	toil(150);
	if (locks)
		give_lock(&stats_lock);
}

OWN static void fetch(struct worker *w)
{
	static __thread char buf[BLOCK];
	off_t at = (off_t)(rand_r(&w->seed) % BLOCKS) * BLOCK;
	size_t step = is("smaller-reads") ? 16 : BLOCK;

	if (is("drops-behind"))
		drop_block(data, at);
	for (size_t i = 0; i < BLOCK; i += step)
		read_block(data, buf + i, step, at + (off_t)i);
}

OWN static void write_log(void)
{
	static const char line[100] = "a request\n";
	int lines = is("busier-log") ? 400 : 1;

	for (int i = 0; i < lines; i++)
		write_bytes(is("slow-logger") ? piped[1] : logged, line,
			    sizeof(line));
	if (is("fsync"))
		sync_it(logged);
}

OWN static void nap(void)
{
	pause_for(is("sleep") ? 300 : 50);
}

OWN static void ask_db(void)
{
	int n = is("n+1") ? 15 : 1;
	char c = 'q';

	if (is("small-pool"))
		take_slot();
	take_lock(&db_lock);
	for (int i = 0; i < n; i++) {
		write_bytes(is("proxy") ? between[0] : db[0], &c, 1);
		read_answer(is("proxy") ? between[0] : db[0], &c);
	}
	give_lock(&db_lock);
	if (is("small-pool")) {
		pause_for(150);
		give_slot();
	}
}

OWN static void check_parent(void)
{
	int n = is("more-syscalls") ? 3000 : 1;

	for (int i = 0; i < n; i++)
		get_parent();
}

OWN static void answer(const struct worker *w)
{
	static const char text[1 << 20];
	size_t n = is("larger-responses") ? sizeof(text) : 100;
	size_t left = n;

	while (left) {
		ssize_t did = write(w->fd[1], text, left);

		if (did < 0)
			exit(1);
		left -= (size_t)did;
	}
}

/* A request that came to the wrong thread. */
static void *pass_on(void *arg)
{
	struct worker *w = arg;
	char request[8];

	prctl(PR_SET_NAME, "wrong");
	while (read(w->wrong[1], request, sizeof(request)) > 0) {
		toil(40);
		write_bytes(w->wrong[1], request, sizeof(request));
	}
	return NULL;
}

/* Sends a request back and forth before it is worked for. */
OWN static void go_wrong(const struct worker *w)
{
	char request[8] = "request";

	for (int i = 0; i < 4; i++) {
		write_bytes(w->wrong[0], request, sizeof(request));
		read_answer(w->wrong[0], request);
		for (int left = 7; left; left--)
			read_answer(w->wrong[0], request);
	}
}

/* What stops all others for a while. */
static void *collect(void *arg)
{
	prctl(PR_SET_NAME, "collector");
	for (;;) {
		take_lock(&one_lock);
		toil(2000);
		give_lock(&one_lock);
		pause_for(1000);
	}
	return arg;
}

/* Reads what is logged, slowly. */
static void *read_log(void *arg)
{
	static char line[100];

	prctl(PR_SET_NAME, "logger");
	while (read(piped[0], line, sizeof(line)) > 0)
		toil(300);
	return arg;
}

/* Between the workers and the database. */
static void *forward(void *arg)
{
	char c;

	prctl(PR_SET_NAME, "proxy");
	while (read(between[1], &c, 1) > 0) {
		pause_for(200);
		write_bytes(db[0], &c, 1);
		read_answer(db[0], &c);
		write_bytes(between[1], &c, 1);
	}
	return arg;
}

static void *work_for(void *arg)
{
	bool shared = is("one-lock") || is("collector");
	struct worker *w = arg;
	char request[8];
	cpu_set_t cpu;

	prctl(PR_SET_NAME, "worker");
	CPU_ZERO(&cpu);
	CPU_SET(is("affinity") ? 0
			       : (w - worker) % sysconf(_SC_NPROCESSORS_ONLN),
		&cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	if (is("timer-slack"))
		prctl(PR_SET_TIMERSLACK, 500000L);
	while (read(w->fd[1], request, sizeof(request)) > 0) {
		int tries = is("retries") ? 4 : 1;

		if (is("wrong-thread"))
			go_wrong(w);
		if (shared)
			take_lock(&one_lock);
		for (int i = 0; i < tries; i++) {
			parse();
			look_up();
			count_it();
			fetch(w);
		}
		walk_table(&w->seed);
		if (is("page-faults"))
			use_buffer();
		if (is("huge-pages"))
			use_huge();
		if (is("fork"))
			start_helper();
		if (is("spin"))
			spin_for_turn();
		if (shared)
			give_lock(&one_lock);
		check_parent();
		write_log();
		ask_db();
		nap();
		answer(w);
	}
	return NULL;
}

static void *serve_db(void *arg)
{
	char c;

	prctl(PR_SET_NAME, "db");
	while (read(db[1], &c, 1) > 0) {
		toil(15);
		if (write(db[1], &c, 1) < 0)
			exit(1);
	}
	return arg;
}

/* Who waits for rounds, for nothing. */
static void *join_herd(void *arg)
{
	unsigned long seen = 0;

	prctl(PR_SET_NAME, "herd");
	for (;;) {
		pthread_mutex_lock(&herd_lock);
		while (herd_round == seen)
			pthread_cond_wait(&herd_new, &herd_lock);
		seen = herd_round;
		pthread_mutex_unlock(&herd_lock);
		toil(5);
	}
	return arg;
}

static void run_thread(void *(*run)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, arg))
		exit(1);
}

/* A neighbour: a program of its own that takes a CPU. */
static void disturb(int n)
{
	for (int i = 0; i < n; i++)
		if (!fork()) {
			prctl(PR_SET_NAME, "neighbour");
			prctl(PR_SET_PDEATHSIG, 9);
			for (;;)
				toil(1000);
		}
}

/* One that sends packets to nobody. */
static void flood(int n)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(9),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static char packet[1400];

	for (int i = 0; i < n; i++)
		if (!fork()) {
			int fd = socket(AF_INET, SOCK_DGRAM, 0);

			prctl(PR_SET_NAME, "flood");
			prctl(PR_SET_PDEATHSIG, 9);
			for (;;)
				sum += sendto(fd, packet, sizeof(packet), 0,
					      (struct sockaddr *)&to,
					      sizeof(to)) > 0;
		}
}

int main(int argc, char **argv)
{
	static char block[BLOCK];
	char name[4096];

	if (argc != 3)
		return 2;
	cause = argv[1];
	snprintf(name, sizeof(name), "%s/data", argv[2]);
	data = open(name, O_RDWR | O_CREAT, 0600);
	if (lseek(data, 0, SEEK_END) < (off_t)BLOCKS * BLOCK) {
		for (int i = 0; i < BLOCKS; i++)
			if (write(data, block, BLOCK) < 0)
				return 1;
		fsync(data);
	}
	posix_fadvise(data, 0, 0, POSIX_FADV_RANDOM);
	if (is("memory"))
		posix_fadvise(data, 0, 0, POSIX_FADV_DONTNEED);
	/* by another call than that of the workers */
	lseek(data, 0, SEEK_SET);
	for (int i = 0; i < BLOCKS; i++)
		if (read(data, block, BLOCK) < 0)
			return 1;
	if (is("dropped-cache"))
		posix_fadvise(data, 0, 0, POSIX_FADV_DONTNEED);
	snprintf(name, sizeof(name), "%s/log", argv[2]);
	logged = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	table = malloc(TABLE);
	memset(table, 1, TABLE);
	sem_init(&pool, 0, 1);
	if (is("neighbour"))
		disturb(2);
	if (is("nice")) {
		disturb(2);
		setpriority(PRIO_PROCESS, 0, 0);
	}
	if (is("flood"))
		flood(2);
	if (is("more-threads"))
		workers = MOST_WORKERS;
	socketpair(AF_UNIX, SOCK_STREAM, 0, db);
	socketpair(AF_UNIX, SOCK_STREAM, 0, between);
	if (pipe(piped))
		return 1;
	run_thread(serve_db, NULL);
	if (is("proxy"))
		run_thread(forward, NULL);
	if (is("slow-logger")) {
		fcntl(piped[1], F_SETPIPE_SZ, 4096);
		run_thread(read_log, NULL);
	}
	if (is("collector"))
		run_thread(collect, NULL);
	for (int i = 0; is("herd") && i < 30; i++)
		run_thread(join_herd, NULL);
	for (int i = 0; i < workers; i++) {
		worker[i].seed = (unsigned int)i + 1;
		socketpair(AF_UNIX, SOCK_STREAM, 0, worker[i].fd);
		socketpair(AF_UNIX, SOCK_STREAM, 0, worker[i].wrong);
		if (is("wrong-thread"))
			run_thread(pass_on, &worker[i]);
		run_thread(work_for, &worker[i]);
	}
	if (is("signals")) {
		struct sigaction act = { .sa_handler = on_tick_of_timer,
					 .sa_flags = SA_RESTART };
		struct itimerval each = { { 0, 1000 }, { 0, 1000 } };

		sigaction(SIGPROF, &act, NULL);
		setitimer(ITIMER_PROF, &each, NULL);
	}
	for (int n = 0; n < ROUNDS; n++) {
		if (is("herd")) {
			pthread_mutex_lock(&herd_lock);
			herd_round++;
			pthread_cond_broadcast(&herd_new);
			pthread_mutex_unlock(&herd_lock);
		}
		for (int i = 0; i < workers; i++)
			if (write(worker[i].fd[0], "request", 8) < 0)
				return 1;
		for (int i = 0; i < workers; i++) {
			size_t left = is("larger-responses") ? 1 << 20 : 100;

			while (left) {
				ssize_t did = read(worker[i].fd[0], block,
						   left < BLOCK ? left : BLOCK);

				if (did <= 0)
					return 1;
				left -= (size_t)did;
			}
		}
	}
	return 0;
}
