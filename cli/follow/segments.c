/* segments.c - the folder of segments that follow makes. */
#include "cli/follow/segments.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define NS 1000000000

int segments_limit(const char *opt, const char *text, struct segment_limit *out,
		   struct err *err)
{
	static const struct {
		char letter;
		uint64_t unit;
		bool bytes;
	} units[] = {
		{ 's', 1, false },	{ 'm', 60, false },
		{ 'h', 3600, false },	{ 'd', 86400, false },
		{ 'K', 1 << 10, true }, { 'M', 1 << 20, true },
		{ 'G', 1 << 30, true },
	};
	char *end;
	double v = strtod(text, &end);

	*out = (struct segment_limit){ 0, 0 };
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (end == text || end[0] != units[i].letter || end[1] ||
		    !(v > 0 && v < 1e6))
			continue;
		v *= (double)units[i].unit;
		if (units[i].bytes)
			out->bytes = (uint64_t)v;
		else
			out->ns = (int64_t)(v * NS);
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "--%s needs a time or a size, such as 10s, 5m, 2h, 64M "
		       "or 4G, not '%s'",
		       opt, text);
}

void segments_name(const char *dir, uint32_t number, bool database,
		   char out[SEGMENT_PATH])
{
	snprintf(out, SEGMENT_PATH, "%.4000s/%ssegment-%06" PRIu32 "%s", dir,
		 database ? "" : ".", number, database ? ".db" : ".data");
}

/* Returns the number in a name with this beginning and end, or 0. */
static uint32_t segments_number(const char *name, const char *begin,
				const char *end)
{
	size_t n = strlen(begin);
	char *rest;

	if (strncmp(name, begin, n) != 0 || name[n] < '0' || name[n] > '9')
		return 0;
	unsigned long v = strtoul(name + n, &rest, 10);

	return strcmp(rest, end) == 0 && v < UINT32_MAX ? (uint32_t)v : 0;
}

int segments_open(const char *dir, uint32_t *last, uint32_t *left,
		  struct err *err)
{
	struct dirent *e;
	DIR *d;

	*last = *left = 0;
	if (strlen(dir) > 4000)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is "
			       "longer than 4000 bytes");
	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: cannot create: %s", dir,
			       strerror(errno));
	d = opendir(dir);
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		uint32_t db = segments_number(e->d_name, "segment-", ".db");
		uint32_t part =
			segments_number(e->d_name, ".segment-", ".data");

		if (db > *last)
			*last = db;
		if (part > *last)
			*last = part;
		if (part && (!*left || part < *left))
			*left = part;
	}
	closedir(d);
	return 0;
}

struct kept {
	uint32_t number;
	uint64_t bytes;
	int64_t time; /* when it was finished */
};

static int segments_compare(const void *pa, const void *pb)
{
	const struct kept *a = pa;
	const struct kept *b = pb;

	return compare_numbers(a->number, b->number);
}

/* Lists the databases by number; the caller frees *list. */
static size_t segments_list(const char *dir, struct kept **list)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;
	size_t cap = 0;

	*list = NULL;
	while (d && (e = readdir(d)) != NULL) {
		struct kept k = { .number = segments_number(
					  e->d_name, "segment-", ".db") };
		char path[SEGMENT_PATH];
		struct stat st;

		if (!k.number)
			continue;
		segments_name(dir, k.number, true, path);
		if (stat(path, &st))
			continue;
		k.bytes = (uint64_t)st.st_size;
		k.time = (int64_t)st.st_mtim.tv_sec;
		*mem_add(*list, n, cap) = k;
	}
	if (d)
		closedir(d);
	if (n)
		qsort(*list, n, sizeof(**list), segments_compare);
	return n;
}

uint32_t segments_keep(const char *dir, const struct segment_limit *keep)
{
	struct kept *list;
	size_t n = segments_list(dir, &list);
	int64_t now = (int64_t)time(NULL);
	uint64_t sum = 0;
	uint32_t gone = 0;

	for (size_t i = n; i-- > 0;) {
		char path[SEGMENT_PATH];

		sum += list[i].bytes;
		if (i + 1 == n ||
		    ((!keep->bytes || sum <= keep->bytes) &&
		     (!keep->ns || now - list[i].time <= keep->ns / NS)))
			continue;
		segments_name(dir, list[i].number, true, path);
		gone += !unlink(path);
	}
	free(list);
	return gone;
}
