/* parts.c - the queue of segments, and the worker that reads them. */
#include "cli/follow/parts.h"

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
#include "cli/ingest/load.h"
#include "stitch/text/human.h"
#include "cli/output/say.h"
#include "cli/process/child.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/owned.h"
#include "stitch/base/search.h"
#include "symbolize/symbolizer_cache.h"

/* ---- the worker: the process that makes the databases of segments.
 *
 * It lives as long as follow does and makes one segment after the other, so
 * that names, tables and files that do not change are read once. If it dies,
 * the process that receives goes on, and worker_give() starts another one. */

/* Results for a segment, besides those of enum status (cli/args/status.h). */
enum make_status {
	MAKE_EMPTY = 10, /* the parts do not even have a header */
	MAKE_GONE,	 /* the files of the segment were removed */
	MAKE_BAD,	 /* the parts cannot be read */
	MAKE_NO_ROOM,	 /* the disk is full */
};

/* The numbers in the line about a finished segment. */
struct glance {
	uint64_t samples;
	uint64_t lost;	   /* lost records */
	bool lost_unknown; /* more were lost, their number is unknown */
	uint64_t open;	   /* deferred stacks still to come */
};

/* The result for a segment. */
struct worker_done {
	int status; /* that of waitpid() if the worker died */
	bool ends;  /* the worker ends: it keeps too much memory */
	bool glanced;
	struct glance glance; /* if glanced */
};

enum worker_got {
	WORKER_BUSY,
	WORKER_DONE,
	WORKER_LOST, /* it died; another one can be given work */
};

struct worker_opts {
	const struct folder_lock *claim;
	const struct load_ask *load; /* how segments are read */
	bool glances;		     /* a line is printed for each */
	/* Called in the worker, which must not hold inputs open; NULL:
	 * nothing. */
	void (*leave)(void *arg);
	void *leave_arg;
};

#define NS 1000000000
/* Parts of fewer bytes than this, left by a killed run or on a full disk, have
 * no records. */
#define EMPTY 64
/* A worker that keeps more bytes of memory is replaced. */
#define KEPT_MAX ((unsigned long)256 << 20)
/* Files that may be open: in all, those of other things than kept objects, and
 * those of each kept object. */
#define FILES 4096
#define FILES_LEFT 256
#define FILES_OF_OBJECT 4

/* The parts of a segment that is being made. */
struct make {
	char *paths[SEGMENT_PARTS];
	size_t n;
	uint64_t bytes;
	uint32_t gone; /* parts that were removed before they were read */
	FILE *messages;
};

/* Closes all descriptors from 3 on, except those in keep[]. */
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

/* Detaches the worker: signals that end the recorder do not end it, and it
 * holds no stream open. Returns the stream for messages, NULL on failure. */
static FILE *make_leave_terminal(const struct folder_lock *c, int talk)
{
	/* not descriptor 0, which is free once standard input has ended */
	int messages = fcntl(2, F_DUPFD, 3);
	int null = open("/dev/null", O_RDWR);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	dup2(null, 0);
	dup2(null, 2);
	make_close_others((int[]){ talk, messages, folder_lock_fd(c) }, 3);
	return messages < 0 ? NULL : fdopen(messages, "w");
}

/* Makes a database, or prints why not. Returns enum status or make_status. */
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
	/* if the folder was replaced, its parts are not gone */
	bool here = !folder_lock_check(c, &err);

	if (here && !m->n)
		return MAKE_GONE;
	if (here && !load_captures(m->paths, m->n, &ask, &none, &damaged, &err))
		return damaged || m->gone ? STATUS_DAMAGED : STATUS_OK;
	if (err.code == ERR_FULL && disk_space_may_be_short(c, m->bytes))
		return MAKE_NO_ROOM;
	/* a segment for which nothing was received is not damaged */
	if (err.code == ERR_FORMAT && m->bytes < EMPTY)
		return MAKE_EMPTY;
	/* with the user's name of the folder, not that in /proc */
	bool inner = !strncmp(err.msg, path, n) && err.msg[n] == '/';

	fprintf(m->messages, "backstitch: segment %" PRIu32 ": %s%s\n", number,
		inner ? folder_lock_dir(c) : "", inner ? err.msg + n : err.msg);
	return err.code == ERR_FORMAT ? MAKE_BAD : STATUS_FAILED;
}

/* Reads the numbers for the line about a database, or returns -1 and *err. */
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

/* Makes the database of a segment, and returns the result. */
static struct worker_done make_segment(const struct worker_opts *o,
				       struct symbolizer_cache *kept,
				       uint32_t number, FILE *messages)
{
	struct make m = { .messages = messages };
	struct worker_done done = { .ends = false };
	struct err err;
	char name[SEGMENT_NAME], part[SEGMENT_PATH], target[SEGMENT_PATH],
		db[SEGMENT_PATH];

	/* a part may be a link to another program's file, and the database
	 * stores that file's name */
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
			fprintf(messages,
				"backstitch: %s: %s before it was read\n",
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
			fprintf(messages, "backstitch: %s\n", err.msg);
	}
	fflush(messages);
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

/* Returns whether the process has more memory than it may keep, even after
 * malloc_trim(), which would cost more than it saves if called each time. */
static bool make_keeps_too_much(void)
{
	if (make_memory() <= KEPT_MAX)
		return false;
	malloc_trim(0);
	return make_memory() > KEPT_MAX;
}

/* Raises the limit of open files. Returns how many objects may be kept. */
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

/* Receives numbers of segments, makes their databases and sends the results. */
static _Noreturn void make_segments(const struct worker_opts *o, int talk)
{
	FILE *messages = make_leave_terminal(o->claim, talk);
	struct symbolizer_cache *kept = symbolizer_cache_new(make_objects());
	struct worker_done done = { .ends = !messages };
	uint32_t number;

	while (!done.ends &&
	       recv(talk, &number, sizeof(number), 0) == sizeof(number)) {
		done = make_segment(o, kept, number, messages);
		done.ends = make_keeps_too_much();
		send(talk, &done, sizeof(done), MSG_NOSIGNAL);
	}
	_exit(STATUS_OK);
}

struct worker {
	struct worker_opts o;
	pid_t pid;	 /* 0: none */
	int talk;	 /* socket to it; -1: none */
	int64_t used_ns; /* processor time at the last worker_sleeps() */
};

/* Lets the process end, and returns its status. */
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

/* Starts the process, or returns false and errno. User commands must not get
 * the sockets: the process ends when no one holds the other end of its own. */
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
		 * what was not finished: the worker must not go on at the same
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

/* Gives a segment to the worker, which must have finished the one before.
 * Returns false and errno if there is no process and none can be started. */
static bool worker_give(struct worker *m, uint32_t number)
{
	/* the worker may have been killed while it had no work */
	if (m->pid && send(m->talk, &number, sizeof(number), MSG_NOSIGNAL) < 0)
		worker_end(m);
	else if (m->pid)
		return true;
	if (!worker_start(m))
		return false;
	/* if that fails, worker_take() returns WORKER_LOST */
	send(m->talk, &number, sizeof(number), MSG_NOSIGNAL);
	return true;
}

/* Waits up to wait_ms for the result of the segment, and sets *done to it. */
static enum worker_got worker_take(struct worker *m, int wait_ms,
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

/* Returns whether the process has used no processor time since the last call:
 * it waits for something. False if that is unknown. */
static bool worker_sleeps(struct worker *m)
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

/* If no process can be started, the time until the next try, and the number of
 * tries at the end. */
#define RETRY_NS (NS / 4)
#define RETRIES 40
/* How long one wait for a database is, and in how many in a row its process may
 * sleep once the user wants to stop. */
#define WAIT_MS 200
#define ASLEEP_MAX 75
/* The most segments whose age is known by the monotonic clock. */
#define AGES_MAX 4096

/* A command that runs for a segment. */
struct parts_command {
	pid_t pid;
	uint32_t number;
};

struct parts_age {
	uint32_t number;
	int64_t since;
};

struct parts {
	struct parts_opts o;
	/* by an earlier run; made first */
	struct segments_left left_over;
	size_t i_left;			  /* index of the next one */
	uint32_t begin;			  /* the first segment of this run */
	uint32_t first, end;		  /* these wait; first is being made */
	int64_t since[2 * PARTS_WAITING]; /* when each was added */
	struct worker *worker;
	bool making; /* the worker has the first one */
	bool again;  /* it is the second try */
	int asleep;  /* waits in a row in which it did nothing */
	bool stuck;  /* the worker was killed, and no other one is started */
	int64_t making_since; /* when the worker got it, ns */
	struct parts_command *command;
	size_t n_command, cap_command;
	struct parts_age *age;
	size_t n_age, cap_age;
	int64_t retry_at; /* no process is started before */
	/* Free bytes when the disk was too full for the first segment: tried
	 * again when more are free; 0: it was not. */
	uint64_t full;
	uint32_t made, gone, empty, bad, left, lost, commands_failed, held;
	int64_t held_ns; /* how long the streams waited */
	bool damaged, noted_fork, noted_behind;
};

struct parts *parts_new(const struct parts_opts *o, struct segments_left *left,
			uint32_t next)
{
	struct parts *q = mem_new(1, sizeof(*q));

	q->o = *o;
	q->left_over = *left;
	*left = (struct segments_left){ .n = 0 };
	q->begin = q->end = next;
	q->first = q->left_over.n ? q->left_over.number[0] : next;
	q->worker = mem_new(1, sizeof(*q->worker));
	q->worker->talk = -1;
	q->worker->o = (struct worker_opts){
		.claim = o->claim,
		.load = o->load,
		.glances = o->each,
		.leave = o->leave,
		.leave_arg = o->leave_arg,
	};
	return q;
}

void parts_free(struct parts *q)
{
	if (!q)
		return;
	/* the worker ends after the segment that it has */
	if (q->worker && q->worker->pid)
		worker_end(q->worker);
	free_all(q->worker, q->command, q->age, q->left_over.number, q);
}

static bool parts_may_start(const struct parts *q)
{
	return now_ns() >= q->retry_at &&
	       (!q->full || disk_space_left(q->o.room) > q->full);
}

/* Prints once that no process can be started, and sets the next try. */
static void parts_tell_fork(struct parts *q)
{
	q->retry_at = now_ns() + RETRY_NS;
	if (!q->noted_fork)
		say("backstitch: cannot start a process: %s; it is tried "
		    "again\n",
		    strerror(errno));
	q->noted_fork = true;
}

/* Moves q->first to the next segment. Segments that an earlier run left may
 * have gaps between their numbers. */
static void parts_advance(struct parts *q)
{
	if (q->first >= q->begin)
		q->first++;
	else if (++q->i_left < q->left_over.n)
		q->first = q->left_over.number[q->i_left];
	else
		q->first = q->begin;
}

/* Prints a line about a finished segment. */
static void parts_tell_segment(const struct parts *q, uint32_t number,
			       const struct glance *g, int64_t took)
{
	int64_t behind;
	uint32_t waiting = parts_waiting(q, &behind);

	say("segment-%06" PRIu32 ".db: %s samples, ", number,
	    HUMAN_GROUPED(g->samples));
	if (g->lost || !g->lost_unknown)
		say("%s lost%s, ", HUMAN_GROUPED(g->lost),
		    g->lost_unknown ? " and more" : "");
	else
		say("an unknown number lost, ");
	if (g->open)
		say("%s stacks still to come, ", HUMAN_GROUPED(g->open));
	say("made in %s", HUMAN_NS(took));
	if (waiting)
		say("; %" PRIu32 " wait, %s behind", waiting, HUMAN_NS(behind));
	say("\n");
}

/* A segments_ask_fn: keeps a database whose command still runs. */
static bool parts_ask_keep(void *arg, uint32_t number, int64_t *age)
{
	const struct parts *q = arg;
	size_t at = search_where(q->n_age, i, q->age[i].number >= number);

	for (size_t i = 0; i < q->n_command; i++)
		if (q->command[i].number == number)
			return false;
	/* the wall clock, which file times have, may be set */
	if (at < q->n_age && q->age[at].number == number)
		*age = now_ns() - q->age[at].since;
	return true;
}

static void parts_keep(struct parts *q)
{
	if (q->o.keep.ns || q->o.keep.bytes)
		q->gone += segments_keep(q->o.claim, &q->o.keep, parts_ask_keep,
					 q);
}

/* Runs the user's command with the path of a database as $1. */
static void parts_run_command(struct parts *q, uint32_t number)
{
	char path[SEGMENT_PATH];
	pid_t pid = -1;

	if (!q->o.command)
		return;
	segments_database(folder_lock_dir(q->o.claim), number, path);
	if (now_ns() >= q->retry_at) {
		/* no fflush(), which may wait for space: the child writes
		 * nothing that is in buffers */
		pid = fork();
		if (pid < 0)
			parts_tell_fork(q);
	}
	if (!pid) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd >= 0)
			dup2(fd, 0);
		/* exec() keeps ignored signals */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		execl("/bin/sh", "sh", "-c", q->o.command, "sh", path,
		      (char *)NULL);
		_exit(127);
	}
	if (pid > 0) {
		*mem_add(q->command, q->n_command, q->cap_command) =
			(struct parts_command){ pid, number };
		return;
	}
	say("backstitch: %s: its command was not run, as no process "
	    "could be started\n",
	    path);
	q->commands_failed++;
}

/* Removes the parts of a finished segment, and runs its command. */
static void parts_end_segment(struct parts *q, uint32_t number)
{
	q->made++;
	segments_remove(q->o.claim, number);
	parts_run_command(q, number);
	parts_keep(q);
}

/* Moves q->first to the next segment that needs a database. */
static void parts_find_next(struct parts *q)
{
	for (; q->first < q->end; parts_advance(q)) {
		/* A killed run has made it, and may have removed some of its
		 * parts: made again, it would lack their records. */
		if (q->first < q->begin &&
		    segments_is_made(q->o.claim, q->first)) {
			parts_end_segment(q, q->first);
			continue;
		}
		if (segments_waits(q->o.claim, q->first))
			return;
		if (q->first < q->begin)
			continue;
		say("backstitch: segment %" PRIu32 ": its parts "
		    "were removed before they were read\n",
		    q->first);
		q->lost++;
		q->damaged = true;
	}
}

/* Handles the result of the first segment. */
static void parts_take_done(struct parts *q, const struct worker_done *done)
{
	int code = done->status;
	int64_t took = now_ns() - q->making_since;
	uint32_t number = q->first;

	if (code == MAKE_NO_ROOM) {
		q->making = q->again = false;
		q->full = disk_space_left(q->o.room) | 1;
		q->retry_at = now_ns() + RETRY_NS;
		return;
	}
	parts_advance(q);
	q->making = q->again = false;
	q->damaged |= code != STATUS_OK && code != STATUS_FAILED;
	if (code == MAKE_EMPTY || code == MAKE_GONE) {
		q->empty += code == MAKE_EMPTY;
		q->lost += code == MAKE_GONE;
		segments_remove(q->o.claim, number);
	} else if (code == MAKE_BAD) {
		q->bad++;
		segments_set_aside(q->o.claim, number);
	} else if (code == STATUS_OK || code == STATUS_DAMAGED) {
		if (q->n_age == AGES_MAX) {
			q->n_age /= 2;
			memmove(q->age, q->age + q->n_age,
				q->n_age * sizeof(*q->age));
		}
		*mem_add(q->age, q->n_age, q->cap_age) =
			(struct parts_age){ number, now_ns() };
		if (done->glanced)
			parts_tell_segment(q, number, &done->glance, took);
		parts_end_segment(q, number);
	} else {
		q->left++; /* the next run tries it again */
	}
}

/* Handles the death of the worker: a new one, which has kept nothing, makes the
 * first segment once more. */
static void parts_take_loss(struct parts *q, int status)
{
	say("backstitch: segment %" PRIu32 ": the process that made its "
	    "database %s %d%s\n",
	    q->first,
	    WIFSIGNALED(status) ? "was ended by signal" : "ended with status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	    q->again ? ", again: its parts stay"
		     : "; another one tries it again");
	q->making = false;
	if (q->again)
		parts_take_done(
			q, &(struct worker_done){ .status = STATUS_FAILED });
	else
		q->again = true;
}

/* Handles the result of the first segment, after waiting up to wait_ms. */
static void parts_take_segment(struct parts *q, int wait_ms)
{
	struct worker_done done;
	enum worker_got got = q->making ? worker_take(q->worker, wait_ms, &done)
					: WORKER_BUSY;

	if (got == WORKER_DONE)
		parts_take_done(q, &done);
	else if (got == WORKER_LOST)
		parts_take_loss(q, done.status);
	else if (q->making && wait_ms) {
		/* Once the user wants to stop, a process that does nothing for
		 * 15 s is not waited for: it may wait for a FIFO or a file
		 * system, for ever. */
		bool sleeps = worker_sleeps(q->worker);

		q->asleep = sleeps && q->o.stop() ? q->asleep + 1 : 0;
		if (q->asleep < ASLEEP_MAX)
			return;
		say("backstitch: segment %" PRIu32
		    ": the process that makes its "
		    "database did nothing for %d s, and was ended: its parts "
		    "stay\n",
		    q->first, ASLEEP_MAX * WAIT_MS / 1000);
		/* No other one is started. A process that waits for a disk that
		 * does not answer cannot even be killed, so nothing waits for
		 * its end. */
		kill(q->worker->pid, SIGKILL);
		close(q->worker->talk);
		q->worker->talk = -1;
		q->worker->pid = 0;
		q->making = false;
		q->stuck = true;
	}
}

/* Handles the end of command i; block: waits for it. Returns whether it has
 * ended. */
static bool parts_take_command(struct parts *q, size_t i, bool block)
{
	uint32_t number = q->command[i].number;
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(q->command[i].pid, &status, block ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	q->command[i] = q->command[--q->n_command];
	if (pid < 0 || status) {
		q->commands_failed++;
		say("backstitch: segment %" PRIu32 ": its command %s %d\n",
		    number,
		    WIFSIGNALED(status) ? "was ended by signal"
					: "failed with status",
		    WIFSIGNALED(status) ? WTERMSIG(status)
					: WEXITSTATUS(status));
	}
	parts_keep(q);
	return true;
}

void parts_reap(struct parts *q)
{
	parts_take_segment(q, 0);
	for (size_t i = 0; i < q->n_command;)
		if (!parts_take_command(q, i, false))
			i++;
	if (q->making || q->stuck)
		return;
	parts_find_next(q);
	if (q->first >= q->end || !parts_may_start(q))
		return;
	q->asleep = 0;
	q->full = 0;
	q->making_since = now_ns();
	q->making = worker_give(q->worker, q->first);
	if (!q->making)
		parts_tell_fork(q);
}

bool parts_wait_room(void *parts)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	struct parts *q = parts;

	if (q->making)
		parts_take_segment(q, WAIT_MS);
	else
		nanosleep(&pause, NULL);
	parts_keep(q);
	return !q->o.stop();
}

/* Waits a little for the first segment, or until a process can be started. */
static void parts_wait_for_one(struct parts *q)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };

	if (q->making)
		parts_take_segment(q, WAIT_MS);
	else if (!parts_may_start(q) && q->full)
		disk_space_wait(q->o.room);
	else if (!parts_may_start(q))
		nanosleep(&pause, NULL);
	parts_reap(q);
}

void parts_add(struct parts *q, uint32_t end)
{
	for (; q->end < end; q->end++)
		q->since[q->end % (2 * PARTS_WAITING)] = now_ns();
	parts_reap(q);
}

uint32_t parts_waiting(const struct parts *q, int64_t *lag_ns)
{
	bool old = q->first < q->begin;
	uint32_t n =
		old ? q->end - q->begin + (uint32_t)(q->left_over.n - q->i_left)
		    : q->end - q->first;
	int64_t since = q->since[q->first % (2 * PARTS_WAITING)];

	*lag_ns = n && !old && n <= PARTS_WAITING + 1 ? now_ns() - since : 0;
	return n;
}

/* Waits while more than `most` segments wait. */
static void parts_wait_below(struct parts *q, uint32_t most)
{
	int64_t begin = now_ns();
	int64_t lag;

	while (parts_waiting(q, &lag) > most && !q->stuck && !q->o.stop())
		parts_wait_for_one(q);
	q->held_ns += now_ns() - begin;
}

void parts_drain(struct parts *q)
{
	parts_wait_below(q, 0);
}

void parts_hold(struct parts *q)
{
	int64_t lag;
	uint32_t waiting = parts_waiting(q, &lag);

	if (waiting <= PARTS_WAITING)
		return;
	q->held++;
	if (!q->noted_behind && !q->o.quiet)
		say("backstitch: behind: %" PRIu32 " segments wait to be "
		    "read, and the stream waits for them\n",
		    waiting);
	q->noted_behind = true;
	parts_wait_below(q, PARTS_WAITING);
}

int parts_wait(struct parts *q, struct err *err)
{
	int64_t lag;

	parts_reap(q);
	for (int i = 0; q->first < q->end && i < RETRIES && !q->stuck; i++) {
		if (q->making)
			i = 0;
		parts_wait_for_one(q);
	}
	q->left += parts_waiting(q, &lag);
	while (q->n_command)
		parts_take_command(q, 0, true);
	if (!q->left)
		return 0;
	return err_set(err, ERR_IO,
		       "%s: no database could be made of %" PRIu32
		       " segment%s; their parts of the stream stay as "
		       ".segment-*.data, and the next run reads them",
		       folder_lock_dir(q->o.claim), q->left,
		       q->left == 1 ? "" : "s");
}

bool parts_damaged(const struct parts *q)
{
	return q->damaged;
}

void parts_tell(const struct parts *q)
{
	say("%s: %" PRIu32 " segment%s, %" PRIu32 " removed",
	    folder_lock_dir(q->o.claim), q->made, q->made == 1 ? "" : "s",
	    q->gone);
	if (q->empty)
		say("; %" PRIu32 " empty", q->empty);
	if (q->lost)
		say("; %" PRIu32 " removed before they were read", q->lost);
	if (q->bad)
		say("; %" PRIu32 " not readable, which stay as .bad", q->bad);
	if (q->commands_failed)
		say("; %" PRIu32 " commands failed", q->commands_failed);
	if (q->held)
		say("; the stream waited %" PRIu32 " times, %.1f s in all",
		    q->held, (double)q->held_ns / NS);
	if (q->o.room->waited)
		say("; %.1f s without room on the disk",
		    (double)q->o.room->waited / NS);
	say("\n");
}
