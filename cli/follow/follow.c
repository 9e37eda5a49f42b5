/* follow.c - a stream becomes a folder of finished databases. */
#include "cli/follow/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ingest/load.h"
#include "cli/stop.h"
#include "formats/perf/cut.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define NS 1000000000
#define BUFFER ((size_t)1 << 20)
#define POLL_MS 200
/* A stream that is silent for this long is cut between any two records. */
#define SILENT NS
/* Exit status of the process that makes a database: the part holds nothing that
 * can be read, as when a run was killed at its begin. */
#define PART_EMPTY 5
/* Parts that may wait before the stream has to. */
#define WAITING_MAX 32

struct follow {
	const struct follow_opts *o;
	struct perf_cut *cut;
	unsigned char *buf;
	size_t n, cap; /* bytes in buf that are not taken yet */
	/* the part that is received */
	FILE *part;
	FILE *tail; /* the part before it gets the rest of what it needs */
	uint32_t number;
	uint64_t bytes, head, events; /* head: of bytes, before its records */
	int64_t since, heard;
	/* parts first .. number - 1 wait, the first one is read by child */
	uint32_t first;
	pid_t child;
	uint32_t made, gone, held;
	int64_t held_ns; /* that the stream waited */
	bool damaged, failed;
};

static volatile sig_atomic_t follow_cut_now;

static void follow_on_hangup(int sig)
{
	(void)sig;
	follow_cut_now = 1;
}

static int64_t follow_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* ---- parts become databases */

/* Makes the database of a part, in a process of its own. */
static _Noreturn void follow_make(const struct follow *fw, uint32_t number)
{
	char part[SEGMENT_PATH], db[SEGMENT_PATH];
	char *paths[] = { part };
	struct store *store;
	struct err err = { 0 };
	bool damaged = false;

	int said = dup(2);
	int null = open("/dev/null", O_RDWR);

	/* what ends the recorder must not end this */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* no progress is shown, and the stream is not held open */
	dup2(null, 0);
	dup2(null, 2);
	segments_name(fw->o->dir, number, false, part);
	segments_name(fw->o->dir, number, true, db);
	if (load_captures(paths, 1, db, true, &store, &damaged, &err)) {
		dup2(said, 2);
		fprintf(stderr, "backstitch: %s\n", err.msg);
		_exit(err.code == ERR_FORMAT ? PART_EMPTY : STATUS_FAILED);
	}
	_exit(damaged ? STATUS_DAMAGED : STATUS_OK);
}

static void follow_start(struct follow *fw)
{
	char part[SEGMENT_PATH];

	/* what an earlier run left may have gaps */
	uint32_t end = fw->number - (fw->tail != NULL);

	for (; !fw->child && fw->first < end; fw->first++) {
		segments_name(fw->o->dir, fw->first, false, part);
		if (!access(part, F_OK))
			break;
	}
	if (fw->child || fw->first >= end)
		return;
	fflush(NULL);
	pid_t pid = fork();

	if (!pid)
		follow_make(fw, fw->first);
	if (pid > 0)
		fw->child = pid;
}

/* Runs the user's command with the path of a database as $1. */
static void follow_run_command(const struct follow *fw, const char *path)
{
	if (!fw->o->command)
		return;
	fflush(NULL);
	pid_t pid = fork();

	if (pid)
		return;
	int fd = open("/dev/null", O_RDONLY);

	if (fd >= 0)
		dup2(fd, 0);
	execl("/bin/sh", "sh", "-c", fw->o->command, "sh", path, (char *)NULL);
	_exit(127);
}

static void follow_take_result(struct follow *fw, int status)
{
	char part[SEGMENT_PATH], db[SEGMENT_PATH];
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;

	segments_name(fw->o->dir, fw->first, false, part);
	segments_name(fw->o->dir, fw->first, true, db);
	fw->first++;
	fw->child = 0;
	if (code == PART_EMPTY) {
		fw->damaged = true;
		unlink(part);
		return;
	}
	if (code != STATUS_OK && code != STATUS_DAMAGED) {
		/* the part stays: the next run tries it again */
		fw->failed = true;
		return;
	}
	fw->damaged |= code == STATUS_DAMAGED;
	fw->made++;
	unlink(part);
	if (fw->o->keep.ns || fw->o->keep.bytes)
		fw->gone += segments_keep(fw->o->dir, &fw->o->keep);
	follow_run_command(fw, db);
}

/* Takes the results of children that have ended; block: waits for the one that
 * makes a database. */
static void follow_reap(struct follow *fw, bool block)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(block ? fw->child : -1, &status,
				    block ? 0 : WNOHANG);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			break;
		if (pid == fw->child)
			follow_take_result(fw, status);
		if (block)
			break;
	}
	follow_start(fw);
}

/* Stops receiving while too many parts wait: the recorder counts what it loses
 * meanwhile, and the counts are in the stream. */
static void follow_hold(struct follow *fw)
{
	int64_t begin = follow_now();
	uint32_t waiting = fw->number - fw->first;

	if (waiting <= WAITING_MAX)
		return;
	fw->held++;
	if (fw->held == 1 && !fw->o->quiet)
		fprintf(stderr,
			"backstitch: behind: %" PRIu32 " segments wait to be "
			"read, and the stream waits for them\n",
			waiting);
	while (fw->number - fw->first > WAITING_MAX && fw->child)
		follow_reap(fw, true);
	fw->held_ns += follow_now() - begin;
}

/* ---- the part that is received */

static int follow_begin_part(struct follow *fw, struct err *err)
{
	char path[SEGMENT_PATH];

	segments_name(fw->o->dir, fw->number, false, path);
	fw->part = fopen(path, "we");
	if (!fw->part)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	perf_cut_head(fw->cut, fw->part);
	fw->head = fw->bytes = (uint64_t)ftello(fw->part);
	fw->events = 0;
	fw->since = follow_now();
	return 0;
}

static int follow_close(const struct follow *fw, FILE **f, uint32_t number,
			struct err *err)
{
	char path[SEGMENT_PATH];
	bool bad = ferror(*f) != 0;

	bad |= fclose(*f) != 0;
	*f = NULL;
	if (!bad)
		return 0;
	segments_name(fw->o->dir, number, false, path);
	return err_set(err, ERR_IO, "%s: %s; what is finished stays", path,
		       strerror(errno ? errno : ENOSPC));
}

/* Ends the part before the one that is received: it is complete. */
static int follow_end_tail(struct follow *fw, struct err *err)
{
	if (!fw->tail)
		return 0;
	if (follow_close(fw, &fw->tail, fw->number - 1, err))
		return -1;
	follow_reap(fw, false);
	follow_hold(fw);
	return 0;
}

/* Ends the part; one without events is removed. */
static int follow_end_part(struct follow *fw, struct err *err)
{
	char path[SEGMENT_PATH];

	if (!fw->part)
		return 0;
	if (follow_end_tail(fw, err))
		return -1;
	if (fw->events) {
		fw->tail = fw->part;
		fw->part = NULL;
		fw->number++;
		return 0;
	}
	segments_name(fw->o->dir, fw->number, false, path);
	unlink(path);
	return follow_close(fw, &fw->part, fw->number, err);
}

static bool follow_is_full(const struct follow *fw)
{
	const struct segment_limit *l = &fw->o->segment;

	if (!fw->events)
		return false;
	return follow_cut_now ||
	       (l->bytes && fw->bytes - fw->head >= l->bytes) ||
	       (l->ns && follow_now() - fw->since >= l->ns);
}

static int follow_cut(struct follow *fw, struct err *err)
{
	follow_cut_now = 0;
	if (follow_end_part(fw, err) ||
	    (!perf_cut_has_rounds(fw->cut) && follow_end_tail(fw, err)))
		return -1;
	return follow_begin_part(fw, err);
}

/* Stores a record, and ends what ends with it. */
static int follow_put(struct follow *fw, const void *record, uint64_t size,
		      struct err *err)
{
	fwrite(record, 1, (size_t)size, fw->part);
	if (fw->tail && perf_cut_is_state(fw->cut))
		fwrite(record, 1, (size_t)size, fw->tail);
	fw->bytes += size;
	fw->events += perf_cut_is_event(fw->cut);
	if (fw->tail && ferror(fw->tail))
		return follow_close(fw, &fw->tail, fw->number - 1, err);
	if (ferror(fw->part))
		return follow_close(fw, &fw->part, fw->number, err);
	if (!perf_cut_may_end(fw->cut))
		return 0;
	if (follow_end_tail(fw, err))
		return -1;
	return follow_is_full(fw) ? follow_cut(fw, err) : 0;
}

/* Takes the whole records of the buffer. */
static int follow_take(struct follow *fw, struct err *err)
{
	size_t at = 0;

	for (;;) {
		uint64_t used = 0;
		int ret = perf_cut_take(fw->cut, fw->buf + at, fw->n - at,
					&used, err);

		if (ret < 0)
			return -1;
		if (!ret) {
			memmove(fw->buf, fw->buf + at, fw->n - at);
			fw->n -= at;
			fw->buf = mem_grow(fw->buf, &fw->cap,
					   (size_t)used + BUFFER, 1);
			return 0;
		}
		if (follow_put(fw, fw->buf + at, used, err))
			return -1;
		at += (size_t)used;
	}
}

/* ---- the stream */

/* Waits for bytes. Returns 1, 0 at the end, -1 and *err. */
static int follow_read(struct follow *fw, struct err *err)
{
	for (;;) {
		struct pollfd pf = { .fd = 0, .events = POLLIN };
		int ready = poll(&pf, 1, POLL_MS);

		follow_reap(fw, false);
		if (ready > 0) {
			ssize_t n = read(0, fw->buf + fw->n, BUFFER);

			if (n > 0)
				fw->n += (size_t)n;
			if (n > 0)
				fw->heard = follow_now();
			if (n >= 0)
				return n > 0;
			if (errno != EINTR && errno != EAGAIN)
				return err_set(err, ERR_IO, "%s: %s",
					       fw->o->input, strerror(errno));
		}
		if (fw->part && follow_is_full(fw) &&
		    follow_now() - fw->heard >= SILENT &&
		    (follow_cut(fw, err) || follow_end_tail(fw, err)))
			return -1;
		if (stop_requested())
			return 0;
	}
}

static int follow_open(const struct follow_opts *o, struct err *err)
{
	struct stat st;

	if (!strcmp(o->input, "-")) {
		if (isatty(0))
			return err_set(err, ERR_USAGE,
				       "standard input is a terminal; pipe "
				       "'perf record -o -' into it");
		return 0;
	}
	if (!stat(o->input, &st) && S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE,
			       "%s: is a folder; what can be followed is a "
			       "pipe of 'perf record -o -'",
			       o->input);
	/* without a writer, a signal would not end open() */
	int fd = open(o->input, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fcntl(fd, F_SETFL, 0))
		return err_set(err, ERR_IO, "%s: %s", o->input,
			       strerror(errno));
	/* Ctrl-C ends what is read at descriptor 0 */
	if (dup2(fd, 0) < 0)
		return err_set(err, ERR_IO, "%s: %s", o->input,
			       strerror(errno));
	close(fd);
	return 0;
}

/* Waits until all parts are databases. */
static void follow_wait(struct follow *fw)
{
	follow_start(fw);
	while (fw->child)
		follow_reap(fw, true);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static int follow_all(struct follow *fw, struct err *err)
{
	int ret = follow_begin_part(fw, err) ? -1 : 1;

	while (ret > 0) {
		ret = follow_read(fw, err);
		if (ret > 0 && follow_take(fw, err))
			ret = -1;
	}
	struct err late;

	if (follow_end_part(fw, ret ? &late : err) ||
	    follow_end_tail(fw, ret ? &late : err))
		ret = -1;
	if (!ret && fw->n) {
		fprintf(stderr,
			"backstitch: the stream ends in a record: %zu bytes of "
			"it\n",
			fw->n);
		fw->damaged = true;
	}
	return ret;
}

static void follow_tell(const struct follow *fw)
{
	fprintf(stderr, "%s: %" PRIu32 " segment%s, %" PRIu32 " removed",
		fw->o->dir, fw->made, fw->made == 1 ? "" : "s", fw->gone);
	if (fw->held)
		fprintf(stderr,
			"; the stream waited %" PRIu32 " times, %.1f s in all",
			fw->held, (double)fw->held_ns / NS);
	putc('\n', stderr);
}

int follow_stream(const struct follow_opts *o, bool *damaged, struct err *err)
{
	const struct sigaction sa = { .sa_handler = follow_on_hangup };
	struct follow fw = { .o = o };
	uint32_t last, left;
	int rc;

	if (segments_open(o->dir, &last, &left, err) || follow_open(o, err))
		return -1;
	sigaction(SIGHUP, &sa, NULL);
	/* if whoever started this ignores it, children have no status */
	signal(SIGCHLD, SIG_DFL);
	fw.number = last + 1;
	fw.first = left ? left : fw.number;
	fw.cut = perf_cut_new(o->input);
	fw.buf = mem_grow(NULL, &fw.cap, BUFFER, 1);
	fw.heard = follow_now();
	stop_live(true);
	follow_start(&fw);
	rc = follow_all(&fw, err);
	stop_live(false);
	follow_wait(&fw);
	if (!o->quiet)
		follow_tell(&fw);
	*damaged = fw.damaged;
	if (!rc && fw.failed)
		rc = err_set(err, ERR_IO,
			     "%s: not all segments could be read; their parts "
			     "of the stream stay as .segment-*.data",
			     o->dir);
	perf_cut_free(fw.cut);
	free(fw.buf);
	return rc;
}
