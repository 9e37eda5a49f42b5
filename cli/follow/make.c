/* make.c - what the child processes of follow do. */
#include "cli/follow/make.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/follow/glance.h"
#include "cli/follow/segments.h"
#include "cli/ingest/load.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* A part that a run was killed in before it had as many bytes has no records.
 */
#define EMPTY 64

/* The parts of a segment. */
struct make {
	char path[SEGMENT_PATH];
	char *paths[SEGMENT_PARTS];
	size_t n;
	uint64_t bytes;
	uint32_t gone;
	FILE *said;
};

/* What ends the recorder must not end this; no progress is shown, and the
 * stream is not held open. Returns where messages go. */
static FILE *make_leave_terminal(void)
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
	return fdopen(said, "w");
}

/* Adds a part. A file of somebody else is a link to it: its own name is the one
 * that is stored. */
static void make_add(struct make *m, const char *part)
{
	char target[SEGMENT_PATH];
	ssize_t n = readlink(part, target, sizeof(target) - 1);
	struct stat st;

	if (lstat(part, &st))
		return;
	if (n > 0)
		target[n] = 0;
	if (stat(part, &st)) {
		fprintf(m->said, "backstitch: %s: %s before it was read\n",
			n > 0 ? target : part,
			errno == ENOENT ? "was removed" : strerror(errno));
		m->gone++;
		return;
	}
	m->bytes += S_ISDIR(st.st_mode) ? EMPTY : (uint64_t)st.st_size;
	m->paths[m->n++] = mem_strdup(n > 0 ? target : part);
}

static int make_load(struct make *m, const char *db, uint32_t number)
{
	struct store *store;
	struct err err = { 0 };
	bool damaged = false;

	if (!m->n)
		return MAKE_GONE;
	if (!load_captures(m->paths, m->n, db, true, &store, &damaged, &err))
		return damaged || m->gone ? STATUS_DAMAGED : STATUS_OK;
	fprintf(m->said, "backstitch: segment %" PRIu32 ": %s\n", number,
		err.msg);
	if (err.code != ERR_FORMAT)
		return STATUS_FAILED;
	return m->bytes < EMPTY ? MAKE_EMPTY : MAKE_BAD;
}

_Noreturn void make_segment(const char *dir, uint32_t number, FILE *report,
			    bool rows)
{
	struct make m = { .said = make_leave_terminal() };
	char db[SEGMENT_PATH];
	struct err err = { 0 };

	if (!m.said)
		_exit(STATUS_FAILED);
	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part(dir, number, i, m.path);
		make_add(&m, m.path);
	}
	segments_database(dir, number, db);
	int status = make_load(&m, db, number);

	if (report && (status == STATUS_OK || status == STATUS_DAMAGED)) {
		if (glance_write(report, db, rows, &err))
			fprintf(m.said, "backstitch: %s\n", err.msg);
		fflush(report);
	}
	fflush(m.said);
	_exit(status);
}

_Noreturn void make_command(const char *command, const char *path)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd >= 0)
		dup2(fd, 0);
	/* what is ignored stays so in another program */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, "sh", path, (char *)NULL);
	_exit(127);
}
