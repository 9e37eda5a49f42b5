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
/* Seconds of which the nanoseconds are an int64_t. */
#define SECONDS_MAX 9e9

bool segment_is_full(const struct segment *g)
{
	const struct segment_limit *l = &g->limit;

	if (!g->events)
		return false;
	return g->cut_now || (l->bytes && g->bytes >= l->bytes) ||
	       (l->ns && g->now - g->since >= l->ns);
}

void segment_next(struct segment *g)
{
	g->number++;
	g->since = g->now;
	g->events = g->bytes = 0;
	g->cut_now = false;
}

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
		if (!units[i].bytes && v >= SECONDS_MAX)
			break;
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

void segments_database(const char *dir, uint32_t number, char out[SEGMENT_PATH])
{
	snprintf(out, SEGMENT_PATH, "%.4000s/segment-%06" PRIu32 ".db", dir,
		 number);
}

void segments_part(const char *dir, uint32_t number, unsigned int index,
		   char out[SEGMENT_PATH])
{
	char more[16] = "";

	if (index)
		snprintf(more, sizeof(more), ".%u", index);
	snprintf(out, SEGMENT_PATH, "%.4000s/.segment-%06" PRIu32 ".data%s",
		 dir, number, more);
}

void segments_new_part(const char *dir, uint32_t number, unsigned int index,
		       char out[SEGMENT_PATH])
{
	snprintf(out, SEGMENT_PATH, "%.4000s/.segment-%06" PRIu32 ".new.%u",
		 dir, number, index);
}

static void segments_bad(const char *dir, uint32_t number, unsigned int index,
			 char out[SEGMENT_PATH])
{
	char more[16] = "";

	if (index)
		snprintf(more, sizeof(more), ".%u", index);
	snprintf(out, SEGMENT_PATH, "%.4000s/segment-%06" PRIu32 ".bad%s", dir,
		 number, more);
}

bool segments_waits(const char *dir, uint32_t number)
{
	char path[SEGMENT_PATH];
	struct stat st;
	bool found = false;

	for (unsigned int i = 0; !found && i < SEGMENT_PARTS; i++) {
		segments_part(dir, number, i, path);
		/* a link may lead to what was removed */
		found = !lstat(path, &st);
	}
	return found;
}

void segments_remove_part(const char *path)
{
	char file[SEGMENT_PATH + 256];
	const struct dirent *e;

	if (!unlink(path) || (errno != EISDIR && errno != EPERM))
		return;
	DIR *d = opendir(path);

	while (d && (e = readdir(d)) != NULL) {
		snprintf(file, sizeof(file), "%.4000s/%.255s", path, e->d_name);
		unlink(file);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

void segments_remove(const char *dir, uint32_t number)
{
	char path[SEGMENT_PATH], gone[SEGMENT_PATH];
	struct stat st;

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part(dir, number, i, path);
		if (lstat(path, &st))
			continue;
		/* what is left of a folder must not be taken for a part */
		segments_new_part(dir, number, i, gone);
		segments_remove_part(rename(path, gone) ? path : gone);
	}
}

void segments_set_aside(const char *dir, uint32_t number)
{
	char path[SEGMENT_PATH], bad[SEGMENT_PATH];

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part(dir, number, i, path);
		segments_bad(dir, number, i, bad);
		rename(path, bad);
	}
}

/* Returns the number in a name with this beginning and end, or 0. more: a dot
 * and a number may follow. */
static uint32_t segments_number(const char *name, const char *begin,
				const char *end, bool more)
{
	size_t n = strlen(begin);
	size_t n_end = strlen(end);
	char *rest;

	if (strncmp(name, begin, n) != 0 || name[n] < '0' || name[n] > '9')
		return 0;
	unsigned long v = strtoul(name + n, &rest, 10);

	if (strncmp(rest, end, n_end) != 0 || v >= UINT32_MAX)
		return 0;
	return !rest[n_end] || (more && rest[n_end] == '.') ? (uint32_t)v : 0;
}

/* Removes a part that a killed run began, or did not quite remove. */
static void segments_remove_in(const char *dir, const char *name)
{
	char path[SEGMENT_PATH + 256];

	snprintf(path, sizeof(path), "%.4000s/%.255s", dir, name);
	segments_remove_part(path);
}

int segments_open(const char *dir, bool *made, uint32_t *last, uint32_t *left,
		  struct err *err)
{
	struct dirent *e;
	DIR *d;

	*last = *left = 0;
	if (strlen(dir) > 4000)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is "
			       "longer than 4000 bytes");
	*made = !mkdir(dir, 0777);
	if (!*made && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: cannot create: %s", dir,
			       strerror(errno));
	d = opendir(dir);
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		uint32_t db =
			segments_number(e->d_name, "segment-", ".db", false);
		uint32_t bad =
			segments_number(e->d_name, "segment-", ".bad", true);
		uint32_t part =
			segments_number(e->d_name, ".segment-", ".data", true);

		if (db > *last)
			*last = db;
		if (bad > *last)
			*last = bad;
		if (part > *last)
			*last = part;
		if (part && (!*left || part < *left))
			*left = part;
		if (segments_number(e->d_name, ".segment-", ".new", true))
			segments_remove_in(dir, e->d_name);
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
		struct kept k = { .number =
					  segments_number(e->d_name, "segment-",
							  ".db", false) };
		char path[SEGMENT_PATH];
		struct stat st;

		if (!k.number)
			continue;
		segments_database(dir, k.number, path);
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

uint32_t segments_keep(const char *dir, const struct segment_limit *keep,
		       segments_ask_fn *ask, void *arg)
{
	struct kept *list;
	size_t n = segments_list(dir, &list);
	int64_t now = (int64_t)time(NULL);
	uint64_t sum = 0;
	uint32_t gone = 0;

	for (size_t i = n; i-- > 0;) {
		char path[SEGMENT_PATH];
		int64_t age = (now - list[i].time) * NS;

		sum += list[i].bytes;
		if (i + 1 == n || !ask(arg, list[i].number, &age) ||
		    ((!keep->bytes || sum <= keep->bytes) &&
		     (!keep->ns || age <= keep->ns)))
			continue;
		segments_database(dir, list[i].number, path);
		gone += !unlink(path);
	}
	free(list);
	return gone;
}
