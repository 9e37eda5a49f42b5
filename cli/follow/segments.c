/* segments.c - the folder of segments that follow makes. */
#include "cli/follow/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/output/folder.h"
#include "cli/follow/folder_lock.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/text/parse_number.h"

#define NS 1000000000
#define UNITS_MAX 1000000 /* of a size: what is above is a mistake */
/* Segments that a folder has; a run makes far less than what is left above. */
#define NUMBER_MAX 4000000000U

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
	g->bytes_before += g->bytes;
	g->since = g->now;
	g->events = g->bytes = 0;
	g->cut_now = false;
}

int segments_limit(const char *opt, const char *text, struct segment_limit *out,
		   struct err *err)
{
	static const char units[] = "KMG";
	const char *p = text;
	const char *unit;
	int64_t ns, v;

	*out = (struct segment_limit){ 0, 0 };
	if (!parse_duration(text, &ns) && ns > 0) {
		out->ns = ns;
		return 0;
	}
	if (!parse_decimal(&p, 3, &v) && v > 0 && v < UNITS_MAX * 1000 && *p &&
	    !p[1] && (unit = strchr(units, *p))) {
		out->bytes = ((uint64_t)v << 10 * (unit - units + 1)) / 1000;
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "--%s needs a time or a size, such as 10s, 5m, 2h, 64M "
		       "or 4G, not '%s'",
		       opt, text);
}

/* Writes the name of a file in the folder: of a segment, or of the part of it
 * that an input has; the first part has no index. */
static void segments_name(const char *begin, uint32_t number, const char *end,
			  unsigned int index, char out[SEGMENT_NAME])
{
	char more[16] = "";

	if (index)
		snprintf(more, sizeof(more), ".%u", index);
	snprintf(out, SEGMENT_NAME, "%s%06" PRIu32 "%s%s", begin, number, end,
		 more);
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

	if (rest - name < (ptrdiff_t)n + 6 || v >= UINT32_MAX ||
	    strncmp(rest, end, n_end) != 0)
		return 0;
	return !rest[n_end] || (more && rest[n_end] == '.') ? (uint32_t)v : 0;
}

static void segments_database_name(uint32_t number, char out[SEGMENT_NAME])
{
	segments_name("segment-", number, ".db", 0, out);
}

void segments_part_name(uint32_t number, unsigned int index,
			char out[SEGMENT_NAME])
{
	segments_name(".segment-", number, ".data", index, out);
}

void segments_database(const char *dir, uint32_t number, char out[SEGMENT_PATH])
{
	char name[SEGMENT_NAME];

	segments_database_name(number, name);
	snprintf(out, SEGMENT_PATH, "%.4000s/%s", dir, name);
}

bool segments_waits(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];
	struct stat st;
	bool found = false;

	for (unsigned int i = 0; !found && i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		/* a link may lead to what was removed */
		found = !fstatat(folder_lock_fd(c), name, &st,
				 AT_SYMLINK_NOFOLLOW);
	}
	return found;
}

bool segments_is_made(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];
	struct stat st;

	segments_database_name(number, name);
	return !fstatat(folder_lock_fd(c), name, &st, AT_SYMLINK_NOFOLLOW);
}

void segments_remove(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME];

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		/* Remove the chunk to which a part leads, if it is one of
		 * live.h below the folder of segments. */
		char to[PATH_MAX];
		ssize_t n =
			readlinkat(folder_lock_fd(c), name, to, sizeof(to) - 1);
		const char *chunk;

		to[n < 0 ? 0 : n] = 0;
		/* below the folder of segments, whatever the link says */
		chunk = strstr(to, "/.live-");
		if (chunk && !strstr(chunk, "/../"))
			folder_remove(folder_lock_fd(c), chunk + 1, 2);
		unlinkat(folder_lock_fd(c), name, 0);
	}
}

void segments_set_aside(const struct folder_lock *c, uint32_t number)
{
	char name[SEGMENT_NAME], bad[SEGMENT_NAME];

	for (unsigned int i = 0; i < SEGMENT_PARTS; i++) {
		segments_part_name(number, i, name);
		segments_name("segment-", number, ".bad", i, bad);
		renameat(folder_lock_fd(c), name, folder_lock_fd(c), bad);
	}
}

/* Opens the folder once more, as a list of it moves in its descriptor. */
static DIR *segments_folder(const struct folder_lock *c)
{
	int fd = openat(folder_lock_fd(c), ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

int segments_scan(const struct folder_lock *c, uint32_t *last,
		  struct segments_left *left, struct err *err)
{
	const char *dir = folder_lock_dir(c);
	DIR *d OWNED_DIR = strlen(dir) > 4000 ? NULL : segments_folder(c);
	const struct dirent *e;
	size_t n = 0;

	*last = 0;
	*left = (struct segments_left){ .n = 0 };
	if (!d && strlen(dir) > 4000)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is "
			       "longer than 4000 bytes");
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		const char *name = e->d_name;
		uint32_t part =
			segments_number(name, ".segment-", ".data", true);
		uint32_t number =
			part
				?: segments_number(name, "segment-", ".db", false)
				?: segments_number(name, "segment-", ".bad", true);

		if (number > *last)
			*last = number;
		if (part)
			*mem_add(left->number, left->n, left->cap) = part;
	}
	/* each number once, ascending */
	sort_items(left->number, left->n, compare_u32);
	for (size_t i = 0; i < left->n; i++)
		if (!n || left->number[n - 1] != left->number[i])
			left->number[n++] = left->number[i];
	left->n = n;
	if (*last <= NUMBER_MAX)
		return 0;
	return err_set(err, ERR_IO,
		       "%s: no number is left after segment %" PRIu32
		       "; give another folder: -o DIR",
		       dir, *last);
}

void segments_sweep(const struct folder_lock *c)
{
	DIR *d OWNED_DIR = segments_folder(c);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		const char *end = strstr(e->d_name, ".db.");
		char base[NAME_MAX + 1] = "";

		if (end)
			memcpy(base, e->d_name, (size_t)(end - e->d_name) + 3);
		if (segments_number(base, "segment-", ".db", false) &&
		    new_file_is_left(dirfd(d), e->d_name, base))
			unlinkat(dirfd(d), e->d_name, 0);
	}
}

struct segment_file {
	uint32_t number;
	uint64_t bytes;
	int64_t time; /* when it was finished */
};

COMPARE_BY(segments_compare, struct segment_file, number);

/* Lists the databases by number; the caller frees *list. */
static size_t segments_list(const struct folder_lock *c,
			    struct segment_file **list)
{
	DIR *d OWNED_DIR = segments_folder(c);
	const struct dirent *e;
	size_t n = 0;
	size_t cap = 0;

	*list = NULL;
	while (d && (e = readdir(d)) != NULL) {
		struct segment_file k = { .number = segments_number(
						  e->d_name, "segment-", ".db",
						  false) };
		struct stat st;

		if (!k.number ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		k.bytes = (uint64_t)st.st_size;
		k.time = (int64_t)st.st_mtim.tv_sec;
		*mem_add(*list, n, cap) = k;
	}
	sort_items(*list, n, segments_compare);
	return n;
}

/* Returns how long ago a time in seconds was, in ns; a file may have any. */
static int64_t segments_age(int64_t now, int64_t then)
{
	int64_t age;

	if (__builtin_sub_overflow(now, then, &age) ||
	    __builtin_mul_overflow(age, NS, &age))
		return now < then ? INT64_MIN : INT64_MAX;
	return age;
}

uint32_t segments_keep(const struct folder_lock *c,
		       const struct segment_limit *keep, segments_ask_fn *ask,
		       void *arg)
{
	struct segment_file *list OWNED = NULL;
	size_t n = segments_list(c, &list);
	int64_t now = (int64_t)time(NULL);
	uint64_t sum = 0;
	uint32_t gone = 0;

	for (size_t i = n; i-- > 0;) {
		char name[SEGMENT_NAME];
		int64_t age = segments_age(now, list[i].time);

		sum += list[i].bytes;
		if (i + 1 == n || !ask(arg, list[i].number, &age) ||
		    ((!keep->bytes || sum <= keep->bytes) &&
		     (!keep->ns || age <= keep->ns)))
			continue;
		segments_database_name(list[i].number, name);
		gone += !unlinkat(folder_lock_fd(c), name, 0);
	}
	return gone;
}
