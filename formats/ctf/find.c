/* find.c - finds the traces below a folder: sessions with their domains,
 * buffers per user or per process, rotated chunks, snapshots, the output of a
 * relay daemon. In every layout a trace is a folder with a file 'metadata'. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/ctf/ctf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/search.h"
#include "stitch/files/named_file.h"

#define DEPTH_MAX 24
#define FOLDERS_MAX 50000
#define TRACES_MAX 20000

struct folder_walk {
	struct ctf *ctf; /* NULL: folders that cannot be listed are not noted */
	char **found;
	size_t n, cap, most, folders;
};

char *ctf_find_join_path(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return mem_printf("%.*s/%s", (int)n, dir, name);
}

static int ctf_find_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ctf_find_list(struct ctf *ctf, const char *dir, struct dirent ***list)
{
	int n = scandir(dir, list, NULL, alphasort);
	int error = errno;
	struct err err;

	if (n >= 0 || !ctf)
		return n;
	err_set(&err, ERR_IO, "%s: its files cannot be listed: %s", dir,
		strerror(error));
	reader_damage(&ctf->src, "folder", 0, 0, &err);
	return n;
}

/* Adds the traces below a folder to w. Does not follow links, which may form a
 * cycle. */
static void ctf_find_walk(struct folder_walk *w, const char *dir,
			  unsigned int depth)
{
	struct dirent **list OWNED = NULL;

	if (w->n >= w->most || depth > DEPTH_MAX || ++w->folders > FOLDERS_MAX)
		return;
	char *meta OWNED = ctf_find_join_path(dir, "metadata");
	struct stat is;

	if (!stat(meta, &is) && S_ISREG(is.st_mode)) {
		*mem_add(w->found, w->n, w->cap) = mem_strdup(dir);
		return;
	}
	int n = ctf_find_list(w->ctf, dir, &list);

	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		char *path = ctf_find_join_path(dir, name);
		struct stat st;

		if (*name != '.' && !lstat(path, &st) && S_ISDIR(st.st_mode))
			ctf_find_walk(w, path, depth + 1);
		free_all(path, list[i]);
	}
}

static void ctf_find_end_walk(struct folder_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->found[i]);
	free(w->found);
}

char *ctf_find_first(const char *path)
{
	struct folder_walk w = { .most = 1 };

	ctf_find_walk(&w, path, 0);
	char *first = w.n ? mem_strdup(w.found[0]) : NULL;

	ctf_find_end_walk(&w);
	return first;
}

bool ctf_is_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return false;
	char *first OWNED = ctf_find_first(path);

	return first != NULL;
}

void *ctf_file_map(const char *path, uint64_t *len)
{
	uint64_t size;
	int fd = named_file_open_any(path, &size, NULL);
	void *data = MAP_FAILED;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (size)
		data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	int error = errno;

	close(fd);
	errno = error;
	if (data == MAP_FAILED)
		return NULL;
	*len = size;
	return data;
}

void *ctf_file_map_noted(struct ctf *ctf, const char *path, uint64_t *len)
{
	void *data = ctf_file_map(path, len);
	int error = errno;
	struct stat st;
	struct err err;

	if (data || (!stat(path, &st) && !st.st_size))
		return data;
	err_set(&err, ERR_IO, "%s: %s", path, strerror(error));
	ledger_damage(ctf->src.ledger, ctf->src.index, "file", 0, 0, &err);
	return NULL;
}

void ctf_file_unmap(void *data, uint64_t len)
{
	if (data)
		munmap(data, len);
}

int ctf_find_traces(struct ctf *ctf, const char *path,
		    void (*fn)(struct ctf *ctf, const char *folder),
		    struct err *err)
{
	struct folder_walk w = { .ctf = ctf, .most = TRACES_MAX };
	const struct ledger_entry limit = {
		.kind = LEDGER_SKIPPED,
		.capture = ctf->src.index,
		.what = "trace",
		.detail = "a limit: 20000 traces in one folder",
		.n = 1,
		.cpu = -1,
		.event = -1,
	};

	ctf_find_walk(&w, path, 0);
	sort_items(w.found, w.n, ctf_find_compare_names);
	for (size_t i = 0; i < w.n; i++)
		fn(ctf, w.found[i]);
	if (w.n >= TRACES_MAX)
		ledger_add(ctf->src.ledger, &limit);
	ctf_find_end_walk(&w);
	return w.n ? 0
		   : err_set(err, ERR_FORMAT,
			     "%s: no trace in this folder: needs a file "
			     "'metadata'",
			     path);
}
