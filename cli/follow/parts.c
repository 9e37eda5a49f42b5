/* parts.c - whole parts of the stream wait, and become databases. */
#include "cli/follow/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/args/status.h"
#include "cli/follow/folder_lock.h"
#include "cli/follow/worker.h"
#include "cli/follow/disk_space.h"
#include "stitch/text/human.h"
#include "cli/output/say.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/search.h"

#define NS 1000000000
/* When no process can be started, that is tried again after this time, and at
 * the end as often. */
#define RETRY_NS (NS / 4)
#define RETRIES 40
/* How long a database is waited for at a time, and how many of these in turn
 * its process may sleep once the user wants an end. */
#define WAIT_MS 200
#define ASLEEP_MAX 75
/* Segments whose age is known without the wall clock. */
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
	/* by an earlier run: these wait first */
	struct segments_left left_over;
	size_t i_left;
	uint32_t begin;	     /* the first segment of this run */
	uint32_t first, end; /* these wait, the first one is made */
	int64_t since[2 * PARTS_WAITING]; /* by number, modulo */
	struct worker *worker;
	bool making; /* the worker has the first one */
	bool again;  /* for the second time */
	int asleep;  /* waits for it in which it did nothing */
	bool stuck;  /* the worker was killed, and no other one is started */
	int64_t making_since;
	struct parts_command *command;
	size_t n_command, cap_command;
	struct parts_age *age;
	size_t n_age, cap_age;
	int64_t retry_at; /* no process before that */
	/* What was free when there was no room for the first segment: none
	 * before there is more; 0: there was. */
	uint64_t full;
	uint32_t made, gone, empty, bad, left, lost, commands_failed, held;
	int64_t held_ns; /* that the stream waited */
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
	q->worker = worker_new(&(struct worker_opts){
		.claim = o->claim,
		.load = o->load,
		.glances = o->each,
		.leave = o->leave,
		.leave_arg = o->leave_arg,
	});
	return q;
}

void parts_free(struct parts *q)
{
	if (!q)
		return;
	worker_free(q->worker);
	free_all(q->command, q->age, q->left_over.number, q);
}

static bool parts_may_start(const struct parts *q)
{
	return now_ns() >= q->retry_at &&
	       (!q->full || disk_space_left(q->o.room) > q->full);
}

/* Says once that no process can be started, which is tried again later. */
static void parts_tell_fork(struct parts *q)
{
	q->retry_at = now_ns() + RETRY_NS;
	if (!q->noted_fork)
		say("backstitch: cannot start a process: %s; it is tried "
		    "again\n",
		    strerror(errno));
	q->noted_fork = true;
}

/* Goes on to the next segment. Those that an earlier run left may be far from
 * each other. */
static void parts_advance(struct parts *q)
{
	if (q->first >= q->begin)
		q->first++;
	else if (++q->i_left < q->left_over.n)
		q->first = q->left_over.number[q->i_left];
	else
		q->first = q->begin;
}

/* Says one line about a finished segment. */
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

static bool parts_ask_keep(void *arg, uint32_t number, int64_t *age)
{
	const struct parts *q = arg;
	size_t at = search_where(q->n_age, i, q->age[i].number >= number);

	for (size_t i = 0; i < q->n_command; i++)
		if (q->command[i].number == number)
			return false;
	/* the wall clock may be set */
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
		/* without flushing, which may be what waits for room: the child
		 * writes nothing of what is in buffers */
		pid = fork();
		if (pid < 0)
			parts_tell_fork(q);
	}
	if (!pid) {
		/* Runs a shell's command with the path as $1. */
		int fd = open("/dev/null", O_RDONLY);

		if (fd >= 0)
			dup2(fd, 0);
		/* what is ignored stays so in another program */
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

/* The database of a segment is finished. */
static void parts_end_segment(struct parts *q, uint32_t number)
{
	q->made++;
	segments_remove(q->o.claim, number);
	parts_run_command(q, number);
	parts_keep(q);
}

/* Goes on to the first segment of which a database is to be made. */
static void parts_find_next(struct parts *q)
{
	for (; q->first < q->end; parts_advance(q)) {
		/* A killed run had made it, and may have removed some of its
		 * parts: made again, it would lack what is in those. */
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

/* Takes how the first segment went. */
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
		q->empty++;
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

/* The process that made the first segment has ended. Another one, which knows
 * nothing yet, tries that once more. */
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

/* Takes the result of the first segment, and waits for it up to wait_ms. */
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
		/* Once the user wants an end, a process that does nothing for
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
		worker_kill(q->worker);
		q->making = false;
		q->stuck = true;
	}
}

/* Takes the result of command i; block: waits for it. Returns whether it has
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
