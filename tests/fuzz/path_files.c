/* path_files.c - libFuzzer target: any bytes as records MMAP2 of perf, of which
 * each tells the file of a path. A list that is searched from its beginning
 * must agree with the table, and with that of two halves. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/plain.h"
#include "stitch/base/bytes.h"
#include "stitch/base/path_files.h"

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

static void take_records(const uint8_t *data, size_t len)
{
	struct path_files *pf = NULL;
	struct bytes b;
	uint16_t misc, size;

	bytes_init(&b, data, len, "", 0, len & 1);
	while (!bytes_peek_u16(&b, 4, &misc) && !bytes_peek_u16(&b, 6, &size)) {
		perf_plain_take_map(&pf, &b, misc, size);
		if (size < 8 || bytes_skip(&b, size, NULL))
			break;
	}
	path_files_free(pf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct path_files *all = NULL, *half = NULL;
	struct known list[FILES];
	size_t n = 0;
	/* malloc()ed, so that reading behind it is seen */
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		return 0;
	if (len)
		memcpy(copy, data, len);
	take_records(copy, len);
	free(copy);
	add_all(data, len, &all, list, &n);
	for (size_t i = 0; i < n; i++)
		assert(path_files_several(all, list[i].path) ==
		       list[i].several);
	/* what the second half says is not lost, and nothing is made up */
	path_files_merge(&half, all);
	for (size_t i = 0; i < n; i++)
		assert(path_files_several(half, list[i].path) ==
		       list[i].several);
	path_files_free(all);
	path_files_free(half);
	return 0;
}
