/* spool.c - a list of many items of one size, kept in a file. */
#include "cli/export/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/output/folder.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"

#define SPOOL_FIRST ((size_t)1 << 20) /* bytes */
#define SPOOL_STEP ((size_t)64 << 20) /* the size doubles up to this */

struct spool {
	int fd;
	size_t size; /* of one item */
	size_t n;
	size_t len; /* of the file */
	char *map;
};

struct spool *spool_new(size_t size, struct err *err)
{
	struct spool *s = mem_new(1, sizeof(*s));

	s->size = size;
	s->fd = temp_open(folder_for_temp());
	if (s->fd >= 0)
		return s;
	err_set(err, ERR_IO, "a temporary file: %s", strerror(errno));
	free(s);
	return NULL;
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	if (s->map)
		munmap(s->map, s->len);
	close(s->fd);
	free(s);
}

/* Makes file and mapping larger. Returns 0, or -1 and *err. Disk space is
 * allocated first: a write to a mapping without it would raise SIGBUS. */
static int spool_grow_memory(struct spool *s, struct err *err)
{
	size_t more = s->len < SPOOL_STEP ? s->len : SPOOL_STEP;
	size_t len = s->len + (more ? more : SPOOL_FIRST);
	int error =
		posix_fallocate(s->fd, (off_t)s->len, (off_t)(len - s->len));
	void *map;

	if (error)
		return err_set(err, ERR_IO, "a temporary file: %s",
			       strerror(error));
	if (s->map)
		map = mremap(s->map, s->len, len, MREMAP_MAYMOVE);
	else
		map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
			   0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "a temporary file: %s",
			       strerror(errno));
	s->map = map;
	s->len = len;
	return 0;
}

void *spool_add(struct spool *s, struct err *err)
{
	if ((s->n + 1) * s->size > s->len && spool_grow_memory(s, err))
		return NULL;
	return s->map + s->n++ * s->size;
}

void *spool_at(struct spool *s, size_t i)
{
	return s->map + i * s->size;
}

size_t spool_count(const struct spool *s)
{
	return s->n;
}
