/* make.c - what the child processes of follow do. */
#include "cli/follow/make.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/follow/claim.h"
#include "cli/follow/glance.h"
#include "cli/follow/room.h"
#include "cli/follow/segments.h"
#include "cli/ingest/load.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/kept.h"

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
static FILE *make_leave_terminal(const struct make_opts *o)
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
	make_close_others(
		(int[]){ o->talk, o->report, said, claim_fd(o->claim) }, 4);
	return said < 0 ? NULL : fdopen(said, "w");
}

static int make_load(struct make *m, const struct claim *c, struct kept *kept,
		     const char *db, uint32_t number)
{
	const char *path = claim_path(c);
	size_t n = strlen(path);
	struct err err = { 0 };
	bool damaged = false;

	/* by name: they are not gone if the folder is */
	bool here = !claim_check(c, &err);

	if (here && !m->n)
		return MAKE_GONE;
	if (here && !load_again(m->paths, m->n, db, kept, &damaged, &err))
		return damaged || m->gone ? STATUS_DAMAGED : STATUS_OK;
	if (err.code == ERR_FULL && room_may_be_short(c, m->bytes))
		return MAKE_NO_ROOM;
	/* nothing was received for it, and that is no damage */
	if (err.code == ERR_FORMAT && m->bytes < EMPTY)
		return MAKE_EMPTY;
	/* why there is no database, by the name that the user gave to the
	 * folder */
	bool inner = !strncmp(err.msg, path, n) && err.msg[n] == '/';

	fprintf(m->said, "backstitch: segment %" PRIu32 ": %s%s\n", number,
		inner ? claim_dir(c) : "", inner ? err.msg + n : err.msg);
	return err.code == ERR_FORMAT ? MAKE_BAD : STATUS_FAILED;
}

/* Writes what is said of the segment. */
static void make_report(const struct make_opts *o, const char *db, FILE *said)
{
	int fd = o->report < 0 ? -1 : dup(o->report);
	FILE *report = fd < 0 ? NULL : fdopen(fd, "w");
	struct err err = { 0 };

	if (!report)
		return;
	if (lseek(fd, 0, SEEK_SET) || ftruncate(fd, 0) ||
	    glance_write(report, db, &err))
		fprintf(said, "backstitch: %s\n", err.msg);
	fclose(report);
}

static int make_segment(const struct make_opts *o, struct kept *kept,
			uint32_t number, FILE *said)
{
	struct make m = { .said = said };
	char part[SEGMENT_PATH], target[SEGMENT_PATH], db[SEGMENT_PATH];

	/* a file of somebody else is a link to it: its own name is the one that
	 * is stored */
	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		struct stat st;

		segments_part(claim_dir(o->claim), number, i, part);

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
	segments_database(claim_path(o->claim), number, db);
	int status = make_load(&m, o->claim, kept, db, number);

	if (status == STATUS_OK || status == STATUS_DAMAGED)
		make_report(o, db, said);
	fflush(said);
	for (size_t i = 0; i < m.n; i++)
		free(m.paths[i]);
	return status;
}

/* Returns the bytes of memory that are this process's alone. */
static unsigned long make_memory(void)
{
	unsigned long resident = 0;
	unsigned long shared = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	if (f)
		fclose(f);
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

_Noreturn void make_segments(const struct make_opts *o)
{
	FILE *said = make_leave_terminal(o);
	struct kept *kept = kept_new(make_objects());
	struct make_done done = { .ends = !said };
	uint32_t number;

	while (!done.ends &&
	       recv(o->talk, &number, sizeof(number), 0) == sizeof(number)) {
		done.status = make_segment(o, kept, number, said);
		done.ends = make_keeps_too_much();
		send(o->talk, &done, sizeof(done), MSG_NOSIGNAL);
	}
	_exit(STATUS_OK);
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
