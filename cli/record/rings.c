/* rings.c - switches and wake-ups by an instance of ftrace. */
#include "cli/record/rings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCES TRACING "/instances"
#define OWN "backstitch-"
#define RING_MB 16   /* for each CPU: a second of a busy one */
#define RINGS_MB 256 /* for all */

struct rings {
	char at[64]; /* the instance */
	int lock;    /* of it, while we live */
	char folder[PATH_MAX];
	int dir; /* that folder */
	char *page;
	size_t page_size;
	long size; /* of a CPU's ring, bytes */
	int cpus;
	int *from, *to; /* by CPU; -1: it has none */
	int failed;	/* errno of the first write that failed */
};

/* What 'path' uses, as of perf: see plan_add_events(). A kernel may lack disks.
 */
static const char *const rings_events[] = {
	"sched/sched_switch",	    "sched/sched_waking",
	"sched/sched_wakeup",	    "sched/sched_wakeup_new",
	"sched/sched_process_exec", "irq/irq_handler_entry",
	"irq/irq_handler_exit",	    "irq/softirq_entry",
	"irq/softirq_exit",	    "irq/softirq_raise",
	"block/block_rq_complete",
};
/* Whose stacks say where a thread waits, and where it is woken. */
static const char *const rings_stacks[] = { "sched/sched_switch",
					    "sched/sched_waking" };

void rings_folder(const char *capture, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s" BESIDE_FTRACE,
		 (int)(PATH_MAX - sizeof(BESIDE_FTRACE)), capture);
}

/* Writes a file of the instance. Returns whether that worked. */
static bool rings_put(const struct rings *r, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", r->at, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

static void rings_write(struct rings *r, int fd, size_t n)
{
	for (size_t at = 0; at < n && !r->failed;) {
		ssize_t put = write(fd, r->page + at, n - at);

		if (put < 0 && errno != EINTR)
			r->failed = errno;
		at += put > 0 ? (size_t)put : 0;
	}
}

/* Copies what a file has now, about `most` bytes of it. */
static void rings_copy_open(struct rings *r, int from, int to, uint64_t most)
{
	ssize_t n;

	for (uint64_t at = 0; from >= 0 && to >= 0 && !r->failed && at < most &&
			      (n = read(from, r->page, r->page_size)) > 0;
	     at += (uint64_t)n)
		rings_write(r, to, (size_t)n);
}

/* Opens the folder of a file below ours, and makes it if it is not there. Links
 * are not followed: root writes where others may have made them. */
static int rings_enter(const struct rings *r, const char *name)
{
	int dir = fcntl(r->dir, F_DUPFD_CLOEXEC, 0);
	char part[NAME_MAX + 1];

	for (const char *end; dir >= 0 && (end = strchr(name, '/'));
	     name = end + 1) {
		int outer = dir;

		snprintf(part, sizeof(part), "%.*s", (int)(end - name), name);
		mkdirat(outer, part, 0777);
		dir = openat(outer, part,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(outer);
	}
	return dir;
}

/* Removes a file of an earlier recording, which may have more of them than this
 * one, and makes it anew if `make`. Returns a descriptor to write to, or -1. */
static int rings_replace(struct rings *r, const char *name, bool make)
{
	const char *base = strrchr(name, '/');
	int dir = rings_enter(r, name);
	int fd = -1;

	base = base ? base + 1 : name;
	if (dir >= 0 && (!unlinkat(dir, base, 0) || errno == ENOENT) && make)
		fd = openat(dir, base,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
				    O_CLOEXEC,
			    0600);
	if (make && fd < 0 && !r->failed)
		r->failed = errno;
	if (dir >= 0)
		close(dir);
	return fd;
}

/* What is not there is left out: the reader says what it lacks. */
static void rings_copy(struct rings *r, const char *from, const char *name)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = rings_replace(r, name, in >= 0);

	rings_copy_open(r, in, out, UINT64_MAX);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !r->failed)
		r->failed = errno;
}

static void rings_open_cpus(struct rings *r)
{
	char path[PATH_MAX], name[64];

	r->cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	r->cpus = r->cpus > 0 ? r->cpus : 1;
	r->from = mem_new((size_t)r->cpus, sizeof(*r->from));
	r->to = mem_new((size_t)r->cpus, sizeof(*r->to));
	for (int i = 0; i < r->cpus; i++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", i);
		snprintf(path, sizeof(path), "%s/%s", r->at, name);
		r->from[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		r->to[i] = r->from[i] < 0 ? -1 : rings_replace(r, name, true);
	}
}

/* Opens the folder, and removes the pages that an earlier recording left. */
static void rings_open_folder(struct rings *r)
{
	const struct dirent *e;
	char name[NAME_MAX + 32];
	DIR *d;

	mkdir(r->folder, 0777);
	r->dir = open(r->folder,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int cpus = r->dir < 0 ? -1 : rings_enter(r, "per_cpu/");

	if (cpus < 0) {
		r->failed = errno;
		return;
	}
	d = fdopendir(cpus);
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "cpu", 3) != 0)
			continue;
		snprintf(name, sizeof(name), "per_cpu/%s/trace_pipe_raw",
			 e->d_name);
		rings_replace(r, name, false);
		snprintf(name, sizeof(name), "per_cpu/%s/stats", e->d_name);
		rings_replace(r, name, false);
	}
	if (d)
		closedir(d);
	else
		close(cpus);
}

/* ---- the instance */

/* Removes those whose makers were killed: they go on to record, and nobody has
 * them locked. A process number would not do: each container has its own. */
static void rings_remove_dead(void)
{
	DIR *d = opendir(INSTANCES);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, OWN, strlen(OWN)) != 0)
			continue;
		int fd = openat(dirfd(d), e->d_name,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool dead = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

		if (fd >= 0)
			close(fd);
		if (dead)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* Makes the instance. Returns whether that worked; else there is none, also
 * where another one has its name. */
static bool rings_make_instance(struct rings *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long mb = RING_MB;
	char kb[24];
	int error;

	while (mb > 1 && cpus > RINGS_MB / mb)
		mb /= 2;
	r->size = mb << 20;
	snprintf(kb, sizeof(kb), "%ld", mb << 10);
	rings_remove_dead();
	if (mkdir(r->at, 0700))
		return false;
	r->lock = open(r->at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->lock >= 0 && !flock(r->lock, LOCK_EX | LOCK_NB) &&
	    rings_put(r, "trace_clock", "mono") &&
	    rings_put(r, "buffer_size_kb", kb))
		return true;
	error = errno;
	rmdir(r->at);
	errno = error;
	return false;
}

static void rings_free(struct rings *r)
{
	if (r->lock >= 0)
		close(r->lock);
	if (r->dir >= 0)
		close(r->dir);
	free_all(r->from, r->to, r->page, r);
}

bool rings_may(void)
{
	return !geteuid() && !access(INSTANCES, W_OK | X_OK) &&
	       !access(TRACING "/events/sched/sched_switch", F_OK);
}

struct rings *rings_open(const char *folder, struct err *err)
{
	struct rings *r = mem_new(1, sizeof(*r));

	r->lock = r->dir = -1;
	snprintf(r->at, sizeof(r->at), INSTANCES "/" OWN "%ld", (long)getpid());
	snprintf(r->folder, sizeof(r->folder), "%s", folder);
	/* a page of the rings is one of memory (4 kB on most machines) */
	r->page_size = (size_t)sysconf(_SC_PAGESIZE);
	r->page = mem_new(r->page_size, 1);
	if (!rings_make_instance(r)) {
		err_set(err, ERR_IO, "%s: %s%s", r->at, strerror(errno),
			errno == ENOMEM
				? "; its buffers need more memory than is free"
				: "; ftrace needs root, and tracefs at " TRACING
				  " ('mount -t tracefs none " TRACING "')");
		rings_free(r);
		return NULL;
	}
	rings_put(r, "options/userstacktrace", "1");
	rings_open_folder(r);
	if (!r->failed)
		rings_open_cpus(r);
	if (r->failed) {
		rings_close(r, err);
		return NULL;
	}
	return r;
}

int rings_start(struct rings *r, struct err *err)
{
	char name[128];

	for (size_t i = 0; i < ARRAY_SIZE(rings_stacks); i++) {
		snprintf(name, sizeof(name), "events/%s/trigger",
			 rings_stacks[i]);
		rings_put(r, name, "stacktrace");
	}
	for (size_t i = 0; i < ARRAY_SIZE(rings_events); i++) {
		snprintf(name, sizeof(name), "events/%s/enable",
			 rings_events[i]);
		if (!rings_put(r, name, "1") && i < ARRAY_SIZE(rings_stacks))
			return err_set(err, ERR_IO, "%s/%s: %s", r->at, name,
				       strerror(errno));
	}
	return 0;
}

/* Twice what a ring holds, as pages that are not full are read, too: a CPU on
 * which threads switch faster than its ring is copied would have no end. */
int rings_drain(struct rings *r, struct err *err)
{
	if (r->failed)
		return 0;
	for (int i = 0; i < r->cpus; i++)
		rings_copy_open(r, r->from[i], r->to[i], 2 * (uint64_t)r->size);
	return r->failed ? err_set(err, ERR_IO, "%s: %s", r->folder,
				   strerror(r->failed))
			 : 0;
}

/* Copies the files without which pages are not read, and the kernel's names. */
static void rings_describe(struct rings *r)
{
	static const char *const own[] = { "ftrace/kernel_stack",
					   "ftrace/user_stack" };
	char from[PATH_MAX], name[128];

	for (size_t i = 0; i < ARRAY_SIZE(rings_events) + ARRAY_SIZE(own);
	     i++) {
		size_t k = i - ARRAY_SIZE(rings_events);

		snprintf(name, sizeof(name), "events/%s/format",
			 i < ARRAY_SIZE(rings_events) ? rings_events[i]
						      : own[k]);
		snprintf(from, sizeof(from), TRACING "/%s", name);
		rings_copy(r, from, name);
	}
	for (int i = 0; i < r->cpus; i++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", i);
		snprintf(from, sizeof(from), "%s/%s", r->at, name);
		if (r->from[i] >= 0)
			rings_copy(r, from, name);
	}
	snprintf(from, sizeof(from), "%s/trace_clock", r->at);
	rings_copy(r, from, "trace_clock");
	rings_copy(r, TRACING "/events/header_page", "events/header_page");
	rings_copy(r, TRACING "/saved_cmdlines", "saved_cmdlines");
	rings_copy(r, TRACING "/saved_tgids", "saved_tgids");
	rings_copy(r, "/proc/sys/kernel/osrelease", "osrelease");
	/* without it nothing names what only this machine has: its vdso */
	rings_copy(r, "/proc/sys/kernel/hostname", "hostname");
	rings_copy(r, "/proc/kallsyms", "kallsyms");
}

int rings_close(struct rings *r, struct err *err)
{
	int rc = 0;

	if (!r)
		return 0;
	rings_put(r, "tracing_on", "0");
	if (!r->failed && !rings_drain(r, err))
		rings_describe(r);
	for (int i = 0; i < r->cpus; i++) {
		if (r->from[i] >= 0)
			close(r->from[i]);
		if (r->to[i] >= 0 && close(r->to[i]) && !r->failed)
			r->failed = errno;
	}
	rmdir(r->at);
	if (r->failed)
		rc = err_set(err, ERR_IO, "%s: %s", r->folder,
			     strerror(r->failed));
	rings_free(r);
	return rc;
}
