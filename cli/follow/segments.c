/* segments.c - the folder of segments that follow makes. */
#include "cli/follow/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/output/folder.h"
#include "cli/output/say.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/search.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/text/parse_number.h"

#define LOCK ".lock"
#define SAFE (O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

struct folder_lock {
	const char *dir;
	int fd;
	int lock; /* -1: not locked */
	bool made;
	struct stat st; /* of the open folder */
	char path[40];	/* "": there is no /proc */
};

int folder_lock_open_file(const struct folder_lock *c, const char *name,
			  int flags)
{
	int fd = openat(c->fd, name, flags | SAFE, 0666);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink < 2)
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

int folder_lock_create(const struct folder_lock *c, const char *name,
		       struct err *err)
{
	if (folder_lock_check(c, err))
		return -1;
	int fd = openat(c->fd, name, O_WRONLY | O_CREAT | O_EXCL | SAFE, 0666);

	if (fd >= 0)
		return fd;
	return err_set(err, ERR_IO, "%s/%s: %s", c->dir, name,
		       errno == EEXIST ? "somebody else made it; what is "
					 "finished stays"
				       : strerror(errno));
}

int folder_lock_check(const struct folder_lock *c, struct err *err)
{
	struct stat st;

	if (!stat(c->dir, &st) && st.st_dev == c->st.st_dev &&
	    st.st_ino == c->st.st_ino)
		return 0;
	return err_set(err, ERR_IO,
		       "%s: was replaced or renamed; what is finished stays in "
		       "the folder that it was",
		       c->dir);
}

/* Locks with fcntl(): the kernel can name the owner of such a lock, no child
 * inherits it, and it ends with its process. Returns 0, or -1 and *err. */
static int folder_lock_try_lock(struct folder_lock *c, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(c->lock, F_SETLK, &lock))
		return 0;
	int error = errno;

	if (error != EACCES && error != EAGAIN)
		return err_set(err, ERR_IO, "%s/" LOCK ": cannot lock: %s",
			       c->dir, strerror(error));
	if (fcntl(c->lock, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	return err_set(err, ERR_IO,
		       "%s: process %ld follows into this folder; give each "
		       "'backstitch follow' one of its own: -o DIR",
		       c->dir, (long)lock.l_pid);
}

/* Locks the lock file, or a new one if another process has just removed it. */
static int folder_lock_lock(struct folder_lock *c, struct err *err)
{
	for (;;) {
		c->lock = folder_lock_open_file(c, LOCK, O_RDWR | O_CREAT);
		if (c->lock < 0 && errno == EEXIST)
			return err_set(err, ERR_IO,
				       "%s/" LOCK ": is no file of follow",
				       c->dir);
		if (c->lock < 0)
			return err_set(err, ERR_IO, "%s/" LOCK ": %s", c->dir,
				       strerror(errno));
		if (folder_lock_try_lock(c, err)) {
			close(c->lock);
			c->lock = -1;
			return -1;
		}
		struct stat st, named;

		if (!fstat(c->lock, &st) &&
		    !fstatat(c->fd, LOCK, &named, AT_SYMLINK_NOFOLLOW) &&
		    st.st_dev == named.st_dev && st.st_ino == named.st_ino)
			return 0;
		close(c->lock);
	}
}

struct folder_lock *folder_lock_open(const char *dir, struct err *err)
{
	struct folder_lock *c = mem_new(1, sizeof(*c));

	*c = (struct folder_lock){ .dir = dir, .fd = -1, .lock = -1 };
	c->made = !mkdir(dir, 0777);
	if (!c->made && errno != EEXIST) {
		err_set(err, ERR_IO, "%s: cannot create: %s", dir,
			strerror(errno));
		goto out;
	}
	/* dir may be a link, but not one that has replaced the new folder */
	c->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
				  (c->made ? O_NOFOLLOW : 0));
	if (c->fd < 0 || fstat(c->fd, &c->st)) {
		err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
		goto out;
	}
	if (!folder_lock_lock(c, err)) {
		snprintf(c->path, sizeof(c->path), "/proc/self/fd/%d", c->fd);
		if (access(c->path, X_OK))
			c->path[0] = '\0';
		return c;
	}
out:
	folder_lock_close(c, true);
	return NULL;
}

void folder_lock_close(struct folder_lock *c, bool failed)
{
	if (!c)
		return;
	/* unlink first: the next one to lock it sees that it is gone */
	if (c->lock >= 0) {
		unlinkat(c->fd, LOCK, 0);
		close(c->lock);
	}
	if (failed && c->made && !folder_lock_check(c, &(struct err){ 0 }))
		rmdir(c->dir);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

const char *folder_lock_dir(const struct folder_lock *c)
{
	return c->dir;
}

int folder_lock_fd(const struct folder_lock *c)
{
	return c->fd;
}

const char *folder_lock_path(const struct folder_lock *c)
{
	return c->path[0] ? c->path : c->dir;
}

/* Disk space in bytes of an empty database while it is made, and what each byte
 * of a stream adds. */
#define ROOM_LEAST (512u << 10)
#define ROOM_EACH 2
/* The disk may be full unless this many times a database's space is free. */
#define ROOM_PLENTY 16
/* Streams wait if there is space for fewer bytes than this. */
#define MORE_LEAST 4096

/* A file of disk_space_create(). */
struct disk_space_file {
	struct disk_space *room;
	int fd;
};

static uint64_t disk_space_of(const struct folder_lock *c)
{
	struct statvfs v;

	return fstatvfs(folder_lock_fd(c), &v) ? UINT64_MAX
					       : v.f_bavail * v.f_frsize;
}

uint64_t disk_space_left(const struct disk_space *r)
{
	return disk_space_of(r->claim);
}

bool disk_space_may_be_short(const struct folder_lock *c, uint64_t bytes)
{
	return disk_space_of(c) / ROOM_PLENTY < ROOM_LEAST + ROOM_EACH * bytes;
}

uint64_t disk_space_for_more(const struct disk_space *r, uint64_t received)
{
	uint64_t left = disk_space_left(r);
	uint64_t need = ROOM_LEAST + ROOM_EACH * received;
	uint64_t more = left > need ? (left - need) / (1 + ROOM_EACH) : 0;

	return more < MORE_LEAST ? 0 : more;
}

bool disk_space_wait(struct disk_space *r)
{
	int64_t begin = now_ns();

	if (!r->told)
		say("backstitch: %s: %s; the stream waits for room, and what "
		    "is finished stays\n",
		    folder_lock_dir(r->claim), strerror(ENOSPC));
	r->told = true;
	bool on = r->wait(r->arg);

	r->waited += now_ns() - begin;
	return on;
}

/* Writes n bytes, and waits for space. Returns n, or 0 and errno. */
static ssize_t disk_space_write(void *cookie, const char *buf, size_t n)
{
	const struct disk_space_file *f = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t put = write(f->fd, buf + done, n - done);
		int error = errno;

		if (put >= 0)
			done += (size_t)put;
		else if (error != EINTR &&
			 ((error != ENOSPC && error != EDQUOT) ||
			  !disk_space_wait(f->room))) {
			errno = error; /* the user ended the wait */
			return 0;
		}
	}
	return (ssize_t)n;
}

static int disk_space_close(void *cookie)
{
	struct disk_space_file *f = cookie;
	int rc = close(f->fd);

	free(f);
	return rc;
}

FILE *disk_space_create(struct disk_space *r, const char *name, struct err *err)
{
	int fd = folder_lock_create(r->claim, name, err);

	if (fd < 0)
		return NULL;
	struct disk_space_file *f = mem_new(1, sizeof(*f));

	*f = (struct disk_space_file){ r, fd };
	return mem_must(fopencookie(
		f, "w",
		(cookie_io_functions_t){ .write = disk_space_write,
					 .close = disk_space_close }));
}

#define NS 1000000000
#define UNITS_MAX 1000000 /* of a size: a larger one is a mistake */
/* The highest number with which a run begins: enough are left for all of it. */
#define NUMBER_MAX 4000000000U

bool segment_is_full(const struct segment *g)
{
	const struct segment_limit *l = &g->limit;

	if (!g->events)
		return false;
	return g->cut_now || (l->bytes && g->bytes >= l->bytes) ||
	       (l->ns && g->now - g->since >= l->ns);
}

void segment_next(struct segment *g)
{
	g->number++;
	g->bytes_before += g->bytes;
	g->since = g->now;
	g->events = g->bytes = 0;
	g->cut_now = false;
}

int segments_limit(const char *opt, const char *text, struct segment_limit *out,
		   struct err *err)
{
	static const char units[] = "KMG";
	const char *p = text;
	const char *unit;
	int64_t ns, v;

	*out = (struct segment_limit){ 0, 0 };
	if (!parse_duration(text, &ns) && ns > 0) {
		out->ns = ns;
		return 0;
	}
	if (!parse_decimal(&p, 3, &v) && v > 0 && v < UNITS_MAX * 1000 && *p &&
	    !p[1] && (unit = strchr(units, *p))) {
		out->bytes = ((uint64_t)v << 10 * (unit - units + 1)) / 1000;
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "--%s needs a time or a size, such as 10s, 5m, 2h, 64M "
		       "or 4G, not '%s'",
		       opt, text);
}

/* Writes the name of a database, or of the part of an input: begin, number,
 * end, and ".index" unless that is 0. */
static void segments_name(const char *begin, uint32_t number, const char *end,
			  unsigned int index, char out[SEGMENT_NAME])
{
	char more[16] = "";

	if (index)
		snprintf(more, sizeof(more), ".%u", index);
	snprintf(out, SEGMENT_NAME, "%s%06" PRIu32 "%s%s", begin, number, end,
		 more);
}

/* Returns the number in a name with this beginning and end, or 0. more: "." and
 * more digits may follow. */
static uint32_t segments_number(const char *name, const char *begin,
				const char *end, bool more)
{
	size_t n = strlen(begin);
	size_t n_end = strlen(end);
	char *rest;

	if (strncmp(name, begin, n) != 0 || name[n] < '0' || name[n] > '9')
		return 0;
	unsigned long v = strtoul(name + n, &rest, 10);

	if (rest - name < (ptrdiff_t)n + 6 || v >= UINT32_MAX ||
	    strncmp(rest, end, n_end) != 0)
		return 0;
	return !rest[n_end] || (more && rest[n_end] == '.') ? (uint32_t)v : 0;
}

/* Writes the name of the database of a segment. */
static void segments_database_name(uint32_t number, char out[SEGMENT_NAME])
{
	segments_name("segment-", number, ".db", 0, out);
}

void segments_part_name(uint32_t number, unsigned int index,
			char out[SEGMENT_NAME])
{
	segments_name(".segment-", number, ".data", index, out);
}

void segments_database(const char *dir, uint32_t number, char out[SEGMENT_PATH])
{
	char name[SEGMENT_NAME];

	segments_database_name(number, name);
	snprintf(out, SEGMENT_PATH, "%.4000s/%s", dir, name);
}

bool segments_waits(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];
	struct stat st;
	bool found = false;

	for (unsigned int i = 0; !found && i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		/* the link itself: its target may be removed */
		found = !fstatat(folder_lock_fd(c), name, &st,
				 AT_SYMLINK_NOFOLLOW);
	}
	return found;
}

bool segments_is_made(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];
	struct stat st;

	segments_database_name(number, name);
	return !fstatat(folder_lock_fd(c), name, &st, AT_SYMLINK_NOFOLLOW);
}

void segments_remove(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		/* Remove the chunk of live.h to which a part leads. */
		char to[PATH_MAX];
		ssize_t n =
			readlinkat(folder_lock_fd(c), name, to, sizeof(to) - 1);
		const char *chunk;

		to[n < 0 ? 0 : n] = 0;
		/* below the folder of segments, wherever the link leads */
		chunk = strstr(to, "/.live-");
		if (chunk && !strstr(chunk, "/../"))
			folder_remove(folder_lock_fd(c), chunk + 1, 2);
		unlinkat(folder_lock_fd(c), name, 0);
	}
}

void segments_set_aside(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME], bad[SEGMENT_NAME];

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		segments_name("segment-", number, ".bad", i, bad);
		renameat(folder_lock_fd(c), name, folder_lock_fd(c), bad);
	}
}

/* Opens the folder again, as readdir() moves the offset of a descriptor. */
static DIR *segments_folder(const struct folder_lock *c)
{
	int fd = openat(folder_lock_fd(c), ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

int segments_scan(const struct folder_lock *c, uint32_t *last,
		  struct segments_left *left, struct err *err)
{
	const char *dir = folder_lock_dir(c);
	DIR *d OWNED_DIR = strlen(dir) > 4000 ? NULL : segments_folder(c);
	const struct dirent *e;
	size_t n = 0;

	*last = 0;
	*left = (struct segments_left){ .n = 0 };
	if (!d && strlen(dir) > 4000)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is "
			       "longer than 4000 bytes");
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		const char *name = e->d_name;
		uint32_t part =
			segments_number(name, ".segment-", ".data", true);
		uint32_t number =
			part
				?: segments_number(name, "segment-", ".db", false)
				?: segments_number(name, "segment-", ".bad", true);

		if (number > *last)
			*last = number;
		if (part)
			*mem_add(left->number, left->n, left->cap) = part;
	}
	/* each number once, ascending */
	sort_items(left->number, left->n, compare_u32);
	for (size_t i = 0; i < left->n; i++)
		if (!n || left->number[n - 1] != left->number[i])
			left->number[n++] = left->number[i];
	left->n = n;
	if (*last <= NUMBER_MAX)
		return 0;
	free(left->number);
	return err_set(err, ERR_IO,
		       "%s: no number is left after segment %" PRIu32
		       "; give another folder: -o DIR",
		       dir, *last);
}

void segments_sweep(const struct folder_lock *c)
{
	DIR *d OWNED_DIR = segments_folder(c);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		const char *end = strstr(e->d_name, ".db.");
		char base[NAME_MAX + 1] = "";

		if (end)
			memcpy(base, e->d_name, (size_t)(end - e->d_name) + 3);
		if (segments_number(base, "segment-", ".db", false) &&
		    new_file_is_left(dirfd(d), e->d_name, base))
			unlinkat(dirfd(d), e->d_name, 0);
	}
}

struct segment_file {
	uint32_t number;
	uint64_t bytes;
	int64_t time; /* of the last change, seconds */
};

COMPARE_BY(segments_compare, struct segment_file, number);

/* Returns the number of databases. The caller frees *list, sorted by number. */
static size_t segments_list(const struct folder_lock *c,
			    struct segment_file **list)
{
	DIR *d OWNED_DIR = segments_folder(c);
	const struct dirent *e;
	size_t n = 0;
	size_t cap = 0;

	*list = NULL;
	while (d && (e = readdir(d)) != NULL) {
		struct segment_file k = { .number = segments_number(
						  e->d_name, "segment-", ".db",
						  false) };
		struct stat st;

		if (!k.number ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		k.bytes = (uint64_t)st.st_size;
		k.time = (int64_t)st.st_mtim.tv_sec;
		*mem_add(*list, n, cap) = k;
	}
	sort_items(*list, n, segments_compare);
	return n;
}

uint32_t segments_newest(const struct folder_lock *c)
{
	struct segment_file *list OWNED = NULL;
	size_t n = segments_list(c, &list);

	return n ? list[n - 1].number : 0;
}

/* Returns the age in ns of a time in seconds, which may be any number. */
static int64_t segments_age(int64_t now, int64_t then)
{
	int64_t age;

	if (__builtin_sub_overflow(now, then, &age) ||
	    __builtin_mul_overflow(age, NS, &age))
		return now < then ? INT64_MIN : INT64_MAX;
	return age;
}

uint32_t segments_keep(const struct folder_lock *c,
		       const struct segment_limit *keep, segments_ask_fn *ask,
		       void *arg)
{
	struct segment_file *list OWNED = NULL;
	size_t n = segments_list(c, &list);
	int64_t now = (int64_t)time(NULL);
	uint64_t sum = 0;
	uint32_t gone = 0;

	for (size_t i = n; i-- > 0;) {
		char name[SEGMENT_NAME];
		int64_t age = segments_age(now, list[i].time);

		sum += list[i].bytes;
		if (i + 1 == n || !ask(arg, list[i].number, &age) ||
		    ((!keep->bytes || sum <= keep->bytes) &&
		     (!keep->ns || age <= keep->ns)))
			continue;
		segments_database_name(list[i].number, name);
		gone += !unlinkat(folder_lock_fd(c), name, 0);
	}
	return gone;
}
