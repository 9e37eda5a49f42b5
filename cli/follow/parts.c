/* parts.c - whole parts of the stream wait, and become databases. */
#include "cli/follow/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/follow/make.h"
#include "cli/output/human.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define NS 1000000000
/* When no process can be started, that is tried again after this time, and at
 * the end as often. */
#define RETRY_NS (NS / 4)
#define RETRIES 40
/* Segments of which the age is known without the clock of the wall. */
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
	uint32_t first, end; /* these wait, the first one is read by child */
	int64_t since[2 * PARTS_WAITING]; /* by number, modulo */
	pid_t child;
	int64_t child_since;
	FILE *report; /* the child's */
	struct parts_command *command;
	size_t n_command, cap_command;
	struct parts_age *age;
	size_t n_age, cap_age;
	int64_t retry_at; /* no process before that */
	struct glance glance;
	bool has_glance;
	uint32_t made, gone, empty, bad, left, commands_failed, held;
	int64_t held_ns; /* that the stream waited */
	bool damaged, told_fork, told_behind;
};

static int64_t parts_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

struct parts *parts_new(const struct parts_opts *o, uint32_t left,
			uint32_t next)
{
	struct parts *q = mem_new(1, sizeof(*q));

	q->o = *o;
	q->first = left ? left : next;
	q->end = next;
	return q;
}

void parts_free(struct parts *q)
{
	if (!q)
		return;
	if (q->report)
		fclose(q->report);
	glance_release(&q->glance);
	free(q->command);
	free(q->age);
	free(q);
}

/* Starts a process. Returns what fork() does. If there can be none, that is
 * said once, and tried again later. */
static pid_t parts_fork(struct parts *q)
{
	if (parts_now() < q->retry_at)
		return -1;
	fflush(NULL);
	pid_t pid = fork();

	if (!pid && q->o.leave)
		q->o.leave(q->o.leave_arg);
	if (pid >= 0)
		return pid;
	q->retry_at = parts_now() + RETRY_NS;
	if (!q->told_fork)
		fprintf(stderr,
			"backstitch: cannot start a process: %s; it is tried "
			"again\n",
			strerror(errno));
	q->told_fork = true;
	return -1;
}

/* ---- databases */

static void parts_start_next(struct parts *q)
{
	while (!q->child && q->first < q->end &&
	       !segments_waits(q->o.dir, q->first))
		q->first++; /* what an earlier run left may have gaps */
	if (q->child || q->first >= q->end)
		return;
	FILE *report = q->o.each || q->o.rows ? tmpfile() : NULL;
	pid_t pid = parts_fork(q);

	if (!pid)
		make_segment(q->o.dir, q->first, report, q->o.rows);
	if (pid < 0) {
		if (report)
			fclose(report);
		return;
	}
	q->child = pid;
	q->child_since = parts_now();
	q->report = report;
}

/* Says one line about a finished segment. */
static void parts_tell_segment(const struct parts *q, uint32_t number,
			       int64_t took)
{
	const struct glance *g = &q->glance;
	char n[32], t[32], lag[32];
	int64_t behind;
	uint32_t waiting = parts_waiting(q, &behind);

	fprintf(stderr, "segment-%06" PRIu32 ".db: %s samples, ", number,
		human_grouped(n, sizeof(n), g->samples));
	fprintf(stderr, "%s lost%s, ", human_grouped(n, sizeof(n), g->lost),
		g->lost_unknown ? " and more" : "");
	if (g->open)
		fprintf(stderr, "%s stacks still to come, ",
			human_grouped(n, sizeof(n), g->open));
	fprintf(stderr, "made in %s", human_ns(t, sizeof(t), took));
	if (waiting)
		fprintf(stderr, "; %" PRIu32 " wait, %s behind", waiting,
			human_ns(lag, sizeof(lag), behind));
	putc('\n', stderr);
}

static void parts_take_report(struct parts *q, uint32_t number, int64_t took)
{
	struct glance g;

	if (!q->report)
		return;
	rewind(q->report);
	if (glance_read(q->report, &g)) {
		glance_release(&q->glance);
		q->glance = g;
		q->has_glance = true;
		if (q->o.each)
			parts_tell_segment(q, number, took);
	} else {
		glance_release(&g);
	}
}

static bool parts_ask_keep(void *arg, uint32_t number, int64_t *age)
{
	const struct parts *q = arg;
	size_t at = search_where(q->n_age, i, q->age[i].number >= number);

	for (size_t i = 0; i < q->n_command; i++)
		if (q->command[i].number == number)
			return false;
	/* the clock of the wall may be set */
	if (at < q->n_age && q->age[at].number == number)
		*age = parts_now() - q->age[at].since;
	return true;
}

static void parts_keep(struct parts *q)
{
	if (q->o.keep.ns || q->o.keep.bytes)
		q->gone +=
			segments_keep(q->o.dir, &q->o.keep, parts_ask_keep, q);
}

static void parts_note_age(struct parts *q, uint32_t number)
{
	if (q->n_age == AGES_MAX) {
		q->n_age /= 2;
		memmove(q->age, q->age + q->n_age, q->n_age * sizeof(*q->age));
	}
	*mem_add(q->age, q->n_age, q->cap_age) =
		(struct parts_age){ number, parts_now() };
}

/* Runs the user's command with the path of a database as $1. */
static void parts_run_command(struct parts *q, uint32_t number)
{
	char path[SEGMENT_PATH];

	if (!q->o.command)
		return;
	segments_database(q->o.dir, number, path);
	pid_t pid = parts_fork(q);

	if (!pid)
		make_command(q->o.command, path);
	if (pid > 0) {
		*mem_add(q->command, q->n_command, q->cap_command) =
			(struct parts_command){ pid, number };
		return;
	}
	fprintf(stderr,
		"backstitch: %s: its command was not run, as no process "
		"could be started\n",
		path);
	q->commands_failed++;
}

static void parts_take_result(struct parts *q, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
	int64_t took = parts_now() - q->child_since;
	uint32_t number = q->first++;

	q->child = 0;
	q->damaged |= code != STATUS_OK && code != STATUS_FAILED;
	if (WIFSIGNALED(status))
		fprintf(stderr,
			"backstitch: segment %" PRIu32 ": the process that "
			"made its database was ended by signal %d\n",
			number, WTERMSIG(status));
	if (code == MAKE_EMPTY || code == MAKE_GONE) {
		q->empty++;
		segments_remove(q->o.dir, number);
	} else if (code == MAKE_BAD) {
		q->bad++;
		segments_set_aside(q->o.dir, number);
	} else if (code == STATUS_OK || code == STATUS_DAMAGED) {
		q->made++;
		segments_remove(q->o.dir, number);
		parts_note_age(q, number);
		parts_take_report(q, number, took);
		parts_run_command(q, number);
		parts_keep(q);
	} else {
		q->left++; /* the next run tries it again */
	}
	if (q->report)
		fclose(q->report);
	q->report = NULL;
}

/* Takes the result of a command; returns false if it is none. */
static bool parts_take_command(struct parts *q, pid_t pid, int status)
{
	for (size_t i = 0; i < q->n_command; i++) {
		uint32_t number = q->command[i].number;

		if (q->command[i].pid != pid)
			continue;
		q->command[i] = q->command[--q->n_command];
		if (status) {
			q->commands_failed++;
			fprintf(stderr,
				"backstitch: segment %" PRIu32
				": its command %s %d\n",
				number,
				WIFSIGNALED(status) ? "was ended by signal"
						    : "failed with status",
				WIFSIGNALED(status) ? WTERMSIG(status)
						    : WEXITSTATUS(status));
		}
		parts_keep(q);
		return true;
	}
	return false;
}

/* Takes the result of one child that has ended; block: waits for it. Returns
 * whether there was one. */
static bool parts_take(struct parts *q, pid_t which, bool block)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(which, &status, block ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return false;
	if (pid == q->child)
		parts_take_result(q, status);
	else
		parts_take_command(q, pid, status);
	return true;
}

void parts_reap(struct parts *q)
{
	while (parts_take(q, -1, false))
		;
	parts_start_next(q);
}

/* Waits for the child, or until one can be started. */
static void parts_wait_for_one(struct parts *q)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };

	if (q->child)
		parts_take(q, q->child, true);
	else
		nanosleep(&pause, NULL);
	parts_reap(q);
}

void parts_add(struct parts *q, uint32_t end)
{
	for (; q->end < end; q->end++)
		q->since[q->end % (2 * PARTS_WAITING)] = parts_now();
	parts_reap(q);
}

uint32_t parts_waiting(const struct parts *q, int64_t *lag_ns)
{
	uint32_t n = q->end - q->first;
	int64_t since = q->since[q->first % (2 * PARTS_WAITING)];

	*lag_ns =
		n && since && n <= PARTS_WAITING + 1 ? parts_now() - since : 0;
	return n;
}

void parts_hold(struct parts *q, bool (*stop)(void))
{
	int64_t begin = parts_now();
	int64_t lag;
	uint32_t waiting = parts_waiting(q, &lag);

	if (waiting <= PARTS_WAITING)
		return;
	q->held++;
	if (!q->told_behind && !q->o.quiet)
		fprintf(stderr,
			"backstitch: behind: %" PRIu32 " segments wait to be "
			"read, and the stream waits for them\n",
			waiting);
	q->told_behind = true;
	while (parts_waiting(q, &lag) > PARTS_WAITING && !stop())
		parts_wait_for_one(q);
	q->held_ns += parts_now() - begin;
}

int parts_wait(struct parts *q, struct err *err)
{
	parts_reap(q);
	for (int i = 0; q->first < q->end && i < RETRIES; i++) {
		if (q->child)
			i = 0;
		parts_wait_for_one(q);
	}
	q->left += q->end - q->first;
	while (q->n_command && parts_take(q, -1, true))
		;
	if (!q->left)
		return 0;
	return err_set(err, ERR_IO,
		       "%s: no database could be made of %" PRIu32
		       " segment%s; their parts of the stream stay as "
		       ".segment-*.data, and the next run reads them",
		       q->o.dir, q->left, q->left == 1 ? "" : "s");
}

bool parts_take_glance(struct parts *q, struct glance *out)
{
	if (!q->has_glance)
		return false;
	*out = q->glance;
	q->glance = (struct glance){ .samples = 0 };
	q->has_glance = false;
	return true;
}

void parts_count(const struct parts *q, uint32_t *made, uint32_t *held,
		 int64_t *held_ns)
{
	*made = q->made;
	*held = q->held;
	*held_ns = q->held_ns;
}

bool parts_damaged(const struct parts *q)
{
	return q->damaged;
}

void parts_tell(const struct parts *q)
{
	fprintf(stderr, "%s: %" PRIu32 " segment%s, %" PRIu32 " removed",
		q->o.dir, q->made, q->made == 1 ? "" : "s", q->gone);
	if (q->empty)
		fprintf(stderr, "; %" PRIu32 " empty", q->empty);
	if (q->bad)
		fprintf(stderr,
			"; %" PRIu32 " not readable, which stay as .bad",
			q->bad);
	if (q->commands_failed)
		fprintf(stderr, "; %" PRIu32 " commands failed",
			q->commands_failed);
	if (q->held)
		fprintf(stderr,
			"; the stream waited %" PRIu32 " times, %.1f s in all",
			q->held, (double)q->held_ns / NS);
	putc('\n', stderr);
}
