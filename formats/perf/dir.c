/* dir.c - the files of the folder that perf record --threads writes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

#define FILES_MAX 32767 /* a handle has 15 bits for the file */

/* Returns N for "data.N", else -1. */
static long perf_dir_parse_number(const char *name)
{
	char *end;

	if (strncmp(name, "data.", 5) || !isdigit((unsigned char)name[5]))
		return -1;
	errno = 0;
	long n = strtol(name + 5, &end, 10);

	return *end || errno ? -1 : n;
}

static int perf_dir_compare_numbers(const void *a, const void *b)
{
	long x = *(const long *)a;
	long y = *(const long *)b;

	return compare_numbers(x, y);
}

/* Returns the numbers of all data.N in a folder, ascending; the caller frees
 * them. NULL: it cannot be listed. */
static long *perf_dir_list_numbers(const char *dir, size_t *n, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *ent;
	long *v = NULL;
	size_t cap = 0;

	*n = 0;
	if (!d) {
		err_set(err, ERR_IO, "%s: cannot list it (%m)", dir);
		return NULL;
	}
	v = mem_grow_to(NULL, &cap, 1, sizeof(*v));
	while ((ent = readdir(d))) {
		long number = perf_dir_parse_number(ent->d_name);

		if (number >= 0)
			*mem_add(v, *n, cap) = number;
	}
	closedir(d);
	sort_items(v, *n, perf_dir_compare_numbers);
	return v;
}

int perf_dir_open(struct perf *p, const char *dir, struct err *err)
{
	size_t n;
	long *v = perf_dir_list_numbers(dir, &n, err);
	int rc = v ? 0 : -1;

	if (n >= FILES_MAX)
		rc = err_set(err, ERR_LIMIT, "%s: more than %d files", dir,
			     FILES_MAX);
	if (!rc) {
		size_t cap = 1;

		mem_grow(p->file, cap, n + 1);
		memset(p->file + 1, 0, n * sizeof(*p->file));
	}
	for (size_t i = 0; !rc && i < n; i++) {
		struct perf_file *f = &p->file[p->n_file];
		char *path = mem_printf("%s/data.%ld", dir, v[i]);
		struct stat st;

		/* perf leaves an empty file for a CPU without records */
		if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size) {
			rc = input_open(&f->in, path, p->opts.temp_dir, err);
			if (!rc) {
				f->index = (uint16_t)p->n_file++;
				f->end = f->in.len;
			}
		}
		free(path);
	}
	free(v);
	return rc;
}
