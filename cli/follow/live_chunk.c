/* live_chunk.c - removes what was received of a live session. */
#include "cli/follow/live_chunk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "cli/follow/folder_lock.h"
#include "stitch/base/mem.h"

/* Removes a folder and what is in it, three levels deep. */
static void live_chunk_clear(int at, const char *name, int depth)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(fd, e->d_name, 0) && depth)
			live_chunk_clear(fd, e->d_name, depth - 1);
	if (d)
		closedir(d);
	unlinkat(at, name, AT_REMOVEDIR);
}

void live_chunk_remove(const struct folder_lock *c, const char *part)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(folder_lock_fd(c), part, to, sizeof(to) - 1);
	const char *chunk;

	to[n < 0 ? 0 : n] = 0;
	/* below the folder of segments, whatever the link says */
	chunk = strstr(to, "/.live-");
	if (chunk && !strstr(chunk, "/../"))
		live_chunk_clear(folder_lock_fd(c), chunk + 1, 2);
}
