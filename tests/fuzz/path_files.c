/* path_files.c - libFuzzer target: any bytes as files at paths. A list that is
 * searched from its beginning must agree with the table. */
#include <assert.h>
#include <string.h>

#include "stitch/files/path_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FILES 64

struct known {
	char path[256];
	struct path_file first;
	bool several;
};

static bool differs(const struct path_file *a, const struct path_file *b)
{
	if (a->maj == b->maj && a->min == b->min)
		return a->ino != b->ino ||
		       (a->gen && b->gen && a->gen != b->gen);
	return (a->maj && b->maj) || (a->gen && b->gen);
}

/* Eight bytes are a file: a path of one letter, small numbers. */
static void add_all(const uint8_t *data, size_t len, struct path_files **pf,
		    struct known *list, size_t *n)
{
	for (size_t i = 0; i + 8 <= len; i += 8) {
		const uint8_t *d = data + i;
		char path[] = { '/', (char)('a' + d[0] % 4), 0 };
		const struct path_file f = { d[1] & 1, d[2] & 1, d[3] & 3,
					     d[4] & 3 };
		size_t k = 0;

		path_files_add(pf, path, 2, &f);
		if (!f.ino)
			continue;
		while (k < *n && strcmp(list[k].path, path) != 0)
			k++;
		if (k == *n) {
			strncpy(list[k].path, path, 3);
			list[k].first = f;
			list[k].several = false;
			(*n)++;
		}
		list[k].several |= differs(&list[k].first, &f);
		if (!list[k].first.gen && !list[k].several)
			list[k].first = f;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct path_files *all = NULL;
	struct known list[FILES];
	size_t n = 0;

	add_all(data, len, &all, list, &n);
	for (size_t i = 0; i < n; i++)
		assert(path_files_several(all, list[i].path) ==
		       list[i].several);
	path_files_free(all);
	return 0;
}
