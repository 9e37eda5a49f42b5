/* room.c - room on the disk of the folder of segments. */
#include "cli/follow/room.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/follow/claim.h"
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

struct room {
	const struct claim *claim;
	room_wait_fn *wait;
	void *arg;
	bool told;
	int64_t waited;
};

/* A file that is written. */
struct room_file {
	struct room *room;
	int fd;
};

struct room *room_new(const struct claim *c)
{
	struct room *r = mem_new(1, sizeof(*r));

	r->claim = c;
	return r;
}

void room_free(struct room *r)
{
	free(r);
}

void room_wait_by(struct room *r, room_wait_fn *fn, void *arg)
{
	r->wait = fn;
	r->arg = arg;
}

static uint64_t room_of(const struct claim *c)
{
	struct statvfs v;

	return fstatvfs(claim_fd(c), &v) ? UINT64_MAX : v.f_bavail * v.f_frsize;
}

uint64_t room_left(const struct room *r)
{
	return room_of(r->claim);
}

bool room_may_be_short(const struct claim *c, uint64_t bytes)
{
	return room_of(c) / ROOM_PLENTY < ROOM_LEAST + ROOM_EACH * bytes;
}

uint64_t room_for_more(const struct room *r, uint64_t received)
{
	uint64_t left = room_left(r);
	uint64_t need = ROOM_LEAST + ROOM_EACH * received;
	uint64_t more = left > need ? (left - need) / (1 + ROOM_EACH) : 0;

	return more < MORE_LEAST ? 0 : more;
}

bool room_wait(struct room *r)
{
	int64_t begin = now_ns();

	if (!r->told)
		say("backstitch: %s: %s; the stream waits for room, and what "
		    "is finished stays\n",
		    claim_dir(r->claim), strerror(ENOSPC));
	r->told = true;
	bool on = r->wait(r->arg);

	r->waited += now_ns() - begin;
	return on;
}

int64_t room_waited(const struct room *r)
{
	return r->waited;
}

/* ---- files */

static ssize_t room_write(void *cookie, const char *buf, size_t n)
{
	const struct room_file *f = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t put = write(f->fd, buf + done, n - done);
		int error = errno;

		if (put >= 0)
			done += (size_t)put;
		else if (error != EINTR &&
			 ((error != ENOSPC && error != EDQUOT) ||
			  !room_wait(f->room))) {
			errno = error; /* a signal ended the waiting */
			return 0;
		}
	}
	return (ssize_t)n;
}

static int room_close(void *cookie)
{
	struct room_file *f = cookie;
	int rc = close(f->fd);

	free(f);
	return rc;
}

FILE *room_create(struct room *r, const char *name, struct err *err)
{
	int fd = claim_create(r->claim, name, err);

	if (fd < 0)
		return NULL;
	struct room_file *f = mem_new(1, sizeof(*f));

	*f = (struct room_file){ r, fd };
	return mem_must(
		fopencookie(f, "w",
			    (cookie_io_functions_t){ .write = room_write,
						     .close = room_close }));
}
