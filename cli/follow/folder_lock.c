/* folder_lock.c - the folder of segments, which one follow has for itself. */
#include "cli/follow/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define LOCK ".lock"
#define SAFE (O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

struct folder_lock {
	const char *dir;
	int fd;
	int lock; /* -1: not locked */
	bool made;
	struct stat st; /* of the folder */
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

/* The kernel knows whose a lock of fcntl() is, no child inherits it, and it
 * ends with its process, however that ends. */
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
	/* a link may be given, but none comes in the place of a new folder */
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
	/* first its name, so that who locks it next sees that it is gone */
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
