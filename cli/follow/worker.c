/* worker.c - the process that makes the databases of segments. */
#include "cli/follow/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/samples/loss_marks.h"
#include "cli/args/status.h"
#include "cli/follow/disk_space.h"
#include "cli/follow/folder_lock.h"
#include "cli/follow/segments.h"
#include "cli/ingest/load.h"
#include "cli/process/child.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "symbolize/symbolizer_cache.h"

#define NS 1000000000
/* A part of fewer bytes than this, left by a killed run or on a full disk, has
 * no records. */
#define EMPTY 64
/* A process that keeps more than this makes room for another one. */
#define KEPT_MAX ((unsigned long)256 << 20)
/* Files that may be open: in all, besides those of what is kept, and those of
 * each object that is kept. */
#define FILES 4096
#define FILES_LEFT 256
#define FILES_OF_OBJECT 4

/* The parts of a segment. */
struct make {
	char *paths[SEGMENT_PARTS];
	size_t n;
	uint64_t bytes;
	uint32_t gone;
	FILE *said;
};

/* Closes all descriptors from 3 on but those in keep[]. */
static void make_close_others(const int *keep, size_t n)
{
	unsigned int from = 3;

	for (;;) {
		unsigned int next = ~0U;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from &&
			    (unsigned int)keep[i] < next)
				next = (unsigned int)keep[i];
		if (next > from)
			close_range(from, next == ~0U ? next : next - 1, 0);
		if (next == ~0U)
			return;
		from = next + 1;
	}
}

/* What ends the recorder must not end this; no progress is shown, and the
 * streams are not held open. Returns where messages go. */
static FILE *make_leave_terminal(const struct folder_lock *c, int talk)
{
	/* not as descriptor 0, which is free once standard input has ended */
	int said = fcntl(2, F_DUPFD, 3);
	int null = open("/dev/null", O_RDWR);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* the handler of the table would change the terminal */
	signal(SIGTSTP, SIG_DFL);
	dup2(null, 0);
	dup2(null, 2);
	make_close_others((int[]){ talk, said, folder_lock_fd(c) }, 3);
	return said < 0 ? NULL : fdopen(said, "w");
}

static int make_load(struct make *m, const struct worker_opts *o,
		     struct symbolizer_cache *kept, const char *db,
		     uint32_t number)
{
	const struct folder_lock *c = o->claim;
	const char *path = folder_lock_path(c);
	struct load_ask ask = *o->load;
	size_t n = strlen(path);
	struct err err = { 0 };
	struct store *none;
	bool damaged = false;

	ask.out = db;
	ask.force = true;
	ask.kept = kept;
	/* by name: they are not gone if the folder is */
	bool here = !folder_lock_check(c, &err);

	if (here && !m->n)
		return MAKE_GONE;
	if (here && !load_captures(m->paths, m->n, &ask, &none, &damaged, &err))
		return damaged || m->gone ? STATUS_DAMAGED : STATUS_OK;
	if (err.code == ERR_FULL && disk_space_may_be_short(c, m->bytes))
		return MAKE_NO_ROOM;
	/* nothing was received for it, and that is no damage */
	if (err.code == ERR_FORMAT && m->bytes < EMPTY)
		return MAKE_EMPTY;
	/* why there is no database, by the name that the user gave to the
	 * folder */
	bool inner = !strncmp(err.msg, path, n) && err.msg[n] == '/';

	fprintf(m->said, "backstitch: segment %" PRIu32 ": %s%s\n", number,
		inner ? folder_lock_dir(c) : "", inner ? err.msg + n : err.msg);
	return err.code == ERR_FORMAT ? MAKE_BAD : STATUS_FAILED;
}

/* Reads what is said of the database of a segment. Returns 0, or -1 and *err.
 */
static int make_glance(const char *path, struct glance *g, struct err *err)
{
	struct store *db OWNED_STORE = store_open(path, err);
	struct rows *r = db ? rows_of(db, "follow_glance", err) : NULL;

	if (rows_step(r)) {
		g->samples = (uint64_t)rows_int(r, FOLLOW_GLANCE_SAMPLES);
		g->open = (uint64_t)rows_int(r, FOLLOW_GLANCE_OPEN);
	}
	int rc = rows_end(r, err);

	if (!rc)
		rc = loss_rows_sum(db, &g->lost, &g->lost_unknown, err);
	return rc;
}

static struct worker_done make_segment(const struct worker_opts *o,
				       struct symbolizer_cache *kept,
				       uint32_t number, FILE *said)
{
	struct make m = { .said = said };
	struct worker_done done = { .ends = false };
	struct err err;
	char name[SEGMENT_NAME], part[SEGMENT_PATH], target[SEGMENT_PATH],
		db[SEGMENT_PATH];

	/* a file of somebody else is a link to it: its own name is the one that
	 * is stored */
	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		struct stat st;

		segments_part_name(number, i, name);
		snprintf(part, sizeof(part), "%.4000s/%s",
			 folder_lock_dir(o->claim), name);

		ssize_t n = readlink(part, target, sizeof(target) - 1);

		if (lstat(part, &st))
			continue;
		if (n > 0)
			target[n] = 0;
		if (stat(part, &st)) {
			fprintf(said, "backstitch: %s: %s before it was read\n",
				n > 0 ? target : part,
				errno == ENOENT ? "was removed"
						: strerror(errno));
			m.gone++;
			continue;
		}
		m.bytes += S_ISDIR(st.st_mode) ? EMPTY : (uint64_t)st.st_size;
		m.paths[m.n++] = mem_strdup(n > 0 ? target : part);
	}
	segments_database(folder_lock_path(o->claim), number, db);
	done.status = make_load(&m, o, kept, db, number);
	if (o->glances &&
	    (done.status == STATUS_OK || done.status == STATUS_DAMAGED)) {
		done.glanced = !make_glance(db, &done.glance, &err);
		if (!done.glanced)
			fprintf(said, "backstitch: %s\n", err.msg);
	}
	fflush(said);
	for (size_t i = 0; i < m.n; i++)
		free(m.paths[i]);
	return done;
}

/* Returns the bytes of memory that are this process's alone. */
static unsigned long make_memory(void)
{
	unsigned long resident = 0;
	unsigned long shared = 0;
	FILE *f OWNED_FILE = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	return (resident - shared) * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* Returns whether the process has more memory than it may keep, although what
 * is free was given back. To do that each time would cost the kernel more than
 * it saves. */
static bool make_keeps_too_much(void)
{
	if (make_memory() <= KEPT_MAX)
		return false;
	malloc_trim(0);
	return make_memory() > KEPT_MAX;
}

/* Returns how many objects may be kept: each has up to four files open. */
static size_t make_objects(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return 0;
	if (l.rlim_cur < FILES && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max < FILES ? l.rlim_max : FILES;
		setrlimit(RLIMIT_NOFILE, &l);
		getrlimit(RLIMIT_NOFILE, &l);
	}
	if (l.rlim_cur > FILES)
		l.rlim_cur = FILES;
	return l.rlim_cur <= FILES_LEFT
		       ? 0
		       : (size_t)(l.rlim_cur - FILES_LEFT) / FILES_OF_OBJECT;
}

/* Makes the databases of the segments that it is told to. */
static _Noreturn void make_segments(const struct worker_opts *o, int talk)
{
	FILE *said = make_leave_terminal(o->claim, talk);
	struct symbolizer_cache *kept = symbolizer_cache_new(make_objects());
	struct worker_done done = { .ends = !said };
	uint32_t number;

	while (!done.ends &&
	       recv(talk, &number, sizeof(number), 0) == sizeof(number)) {
		done = make_segment(o, kept, number, said);
		done.ends = make_keeps_too_much();
		send(talk, &done, sizeof(done), MSG_NOSIGNAL);
	}
	_exit(STATUS_OK);
}

struct worker {
	struct worker_opts o;
	pid_t pid;	 /* 0: none */
	int talk;	 /* to it; -1: none */
	int64_t used_ns; /* of the processor, as worker_sleeps() saw it last */
};

struct worker *worker_new(const struct worker_opts *o)
{
	struct worker *m = mem_new(1, sizeof(*m));

	*m = (struct worker){ .o = *o, .talk = -1 };
	return m;
}

/* Waits for the end of the process, and returns its status. */
static int worker_end(struct worker *m)
{
	int status = 0;
	pid_t pid;

	close(m->talk);
	do
		pid = waitpid(m->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	m->talk = -1;
	m->pid = 0;
	return status;
}

void worker_free(struct worker *m)
{
	if (!m)
		return;
	if (m->pid)
		worker_end(m);
	free(m);
}

/* Commands of the user must not get the sockets: the process ends when no one
 * holds the other end of its own. */
static bool worker_start(struct worker *m)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	fflush(NULL);
	pid_t parent = getpid();

	m->pid = fork();
	if (!m->pid) {
		/* If the process that receives is killed, the next run makes
		 * what was not finished: this one must not go on at the same
		 * time. */
		child_end_with(parent, SIGKILL);
		if (m->o.leave)
			m->o.leave(m->o.leave_arg);
		make_segments(&m->o, pair[1]);
	}
	int error = errno;

	close(pair[1]);
	m->talk = pair[0];
	if (m->pid > 0)
		return true;
	close(m->talk);
	m->talk = -1;
	m->pid = 0;
	errno = error;
	return false;
}

bool worker_give(struct worker *m, uint32_t number)
{
	/* it may have been killed while it had no work */
	if (m->pid && send(m->talk, &number, sizeof(number), MSG_NOSIGNAL) < 0)
		worker_end(m);
	else if (m->pid)
		return true;
	if (!worker_start(m))
		return false;
	/* if that fails, worker_take() says so */
	send(m->talk, &number, sizeof(number), MSG_NOSIGNAL);
	return true;
}

enum worker_got worker_take(struct worker *m, int wait_ms,
			    struct worker_done *done)
{
	struct pollfd p = { .fd = m->talk, .events = POLLIN };
	ssize_t n;

	if (wait_ms)
		poll(&p, 1, wait_ms);
	do
		n = recv(m->talk, done, sizeof(*done), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return WORKER_BUSY;
	if (n != sizeof(*done)) {
		done->status = worker_end(m);
		return WORKER_LOST;
	}
	if (done->ends)
		worker_end(m);
	return WORKER_DONE;
}

bool worker_sleeps(struct worker *m)
{
	struct timespec t;
	clockid_t clock;

	if (!m->pid || clock_getcpuclockid(m->pid, &clock) ||
	    clock_gettime(clock, &t))
		return false;
	int64_t was = m->used_ns;

	m->used_ns = (int64_t)t.tv_sec * NS + t.tv_nsec;
	return m->used_ns == was;
}

/* What waits for a disk that does not answer cannot even be killed, so nothing
 * waits for its end. */
void worker_kill(struct worker *m)
{
	kill(m->pid, SIGKILL);
	close(m->talk);
	m->talk = -1;
	m->pid = 0;
}
