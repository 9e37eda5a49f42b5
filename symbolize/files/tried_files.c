/* tried_files.c - the files that were looked for, found or not. */
#include "symbolize/files/tried_files.h"

#include <sys/stat.h>
#include <time.h>

#include "stitch/base/mem.h"
#include "stitch/base/now.h"

#define NS 1000000000u
/* Times of files have the resolution of the kernel's tick or, on other file
 * systems, of up to two seconds. */
#define YOUNG ((uint64_t)2 * NS)

static uint64_t tried_files_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

static void tried_files_identify(struct tried_path *p)
{
	struct stat st;

	memset(p->id, 0, sizeof(p->id));
	p->changed = 0;
	if (stat(p->path, &st))
		return;
	p->id[0] = st.st_dev;
	p->id[1] = st.st_ino;
	p->id[2] = (uint64_t)st.st_size;
	p->id[3] = tried_files_ns(&st.st_mtim);
	p->changed = tried_files_ns(&st.st_ctim);
}

void tried_files_add(struct tried_files *t, const char *path)
{
	struct tried_path *p = NULL;

	if (!t)
		return;
	/* Searched again: it may have been created meanwhile. */
	for (size_t i = 0; i < t->n && !p; i++)
		if (!strcmp(t->p[i].path, path))
			p = &t->p[i];
	if (!p) {
		p = mem_add(t->p, t->n, t->cap);
		*p = (struct tried_path){ .path = mem_strdup(path) };
	}
	tried_files_identify(p);
	t->young |= p->changed + YOUNG > (uint64_t)now_wall_ns();
}

bool tried_files_unchanged(const struct tried_files *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tried_path now = { .path = t->p[i].path };

		tried_files_identify(&now);
		if (memcmp(now.id, t->p[i].id, sizeof(now.id)) != 0 ||
		    (t->p[i].changed && now.changed != t->p[i].changed))
			return false;
	}
	return true;
}

bool tried_files_can_tell(const struct tried_files *t)
{
	return !any_where(t->n, i,
			  t->p[i].id[1] &&
				  (!strncmp(t->p[i].path, "/proc/", 6) ||
				   !strncmp(t->p[i].path, "/sys/", 5)));
}

void tried_files_release(struct tried_files *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->p[i].path);
	free(t->p);
	memset(t, 0, sizeof(*t));
}
