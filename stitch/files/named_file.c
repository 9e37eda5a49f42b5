/* named_file.c - opens files whose paths a capture or a database names. */
#include "stitch/files/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* These are not in every release's linux/magic.h. */
#define CONFIGFS_TYPE 0x62656570
#define FUSECTL_TYPE 0x65735543

/* Returns whether the kernel generates the files of this file system. Reading
 * one may block, change something, or return data that is not a program's
 * file. */
static bool named_file_is_kernels(int fd)
{
	static const uint32_t type[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	      DEBUGFS_MAGIC,
		TRACEFS_MAGIC,	  SECURITYFS_MAGIC,   SELINUX_MAGIC,
		SMACK_MAGIC,	  CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC,	  PSTOREFS_MAGIC,     EFIVARFS_MAGIC,
		BINFMTFS_MAGIC,	  DEVPTS_SUPER_MAGIC, NSFS_MAGIC,
		CONFIGFS_TYPE,	  FUSECTL_TYPE,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	return any_where(ARRAY_SIZE(type), i, (uint32_t)fs.f_type == type[i]);
}

/* Opens the file of an O_PATH descriptor for reading. Without /proc the path is
 * opened again, and must still be the same file. */
static int named_file_reopen(int place, const char *path, const struct stat *st)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat now;
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	int fd = open(link, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, flags);
	if (fd < 0 || (!fstat(fd, &now) && now.st_dev == st->st_dev &&
		       now.st_ino == st->st_ino))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* named_file_open(), or with any named_file_open_any(). */
static int named_file_open_as(const char *path, bool any, uint64_t *size,
			      struct err *err)
{
	int place = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd = -1;

	if (place < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (fstat(place, &st) || !S_ISREG(st.st_mode))
		err_set(err, ERR_IO, "%s: not a regular file", path);
	else if (!any && named_file_is_kernels(place))
		err_set(err, ERR_IO,
			"%s: a file of the kernel, not one that a program ran",
			path);
	else {
		fd = named_file_reopen(place, path, &st);
		if (fd < 0)
			err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	close(place);
	*size = fd < 0 ? 0 : (uint64_t)st.st_size;
	return fd;
}

int named_file_open(const char *path, uint64_t *size, struct err *err)
{
	return named_file_open_as(path, false, size, err);
}

int named_file_open_any(const char *path, uint64_t *size, struct err *err)
{
	return named_file_open_as(path, true, size, err);
}

void *named_file_load(const char *path, uint64_t max, size_t *len)
{
	uint64_t size;
	const int fd = named_file_open(path, &size, NULL);
	unsigned char *buf = fd >= 0 && size && size <= max
				     ? mem_new((size_t)size, 1)
				     : NULL;
	ssize_t got = buf ? 1 : 0;

	for (*len = 0; got > 0 && *len < size; *len += (size_t)got) {
		got = read(fd, buf + *len, (size_t)size - *len);
		raise_to(got, 0);
	}
	if (fd >= 0)
		close(fd);
	return buf;
}
