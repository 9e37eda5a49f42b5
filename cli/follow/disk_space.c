/* disk_space.c - room on the disk of the folder of segments. */
#include "cli/follow/disk_space.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/follow/folder_lock.h"
#include "cli/output/say.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

/* Bytes of the disk that an empty database takes while it is made, and those of
 * one for each byte of a stream. */
#define ROOM_LEAST (512u << 10)
#define ROOM_EACH 2
/* So many times of what a database takes are room enough. */
#define ROOM_PLENTY 16
/* Fewer bytes of a stream are not received. */
#define MORE_LEAST 4096

/* A file that is written. */
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
			errno = error; /* a signal ended the waiting */
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
