/* empty.c - writes a database with all tables and no rows, from the pages of
 * its file. */
#include "schema/db/empty.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "stitch/files/write_all.h"

int empty_write(const char *path, uint32_t page_size)
{
	const struct empty_file *f = empty_files;

	while (f->page_size && f->page_size != page_size)
		f++;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno;
	char *all = mem_new(1, f->size);

	for (size_t i = 0; i < f->n_run; i++)
		memcpy(all + f->run[i].off, f->run[i].bytes, f->run[i].len);
	int rc = write_all(fd, all, f->size) ? errno : 0;

	free(all);
	if (close(fd) && !rc)
		rc = errno;
	return rc;
}
