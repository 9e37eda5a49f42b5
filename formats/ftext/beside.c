/* beside.c - reads what tracefs has besides a text: the number of CPUs, the
 * clock, and how many events the buffer of each CPU lost.
 *
 * The text alone does not show events that a buffer without overwriting dropped
 * when it was full, nor nested ones that found no room. The kernel's counts
 * include the losses that the text marks ("[LOST n EVENTS]") and those that its
 * header counts. A trace_pipe also lacks the header with "#P:" that the file
 * trace begins with. */
#include "formats/ftext/beside.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "formats/input.h"
#include "formats/reader/scan.h"
#include "formats/reader/reader.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/order/clocks.h"

/* Opens a file of tracefs or a copy of it, and reads all of it into in->data.
 * Returns 0, or -1 and *err. */
static int ftext_beside_file(struct input *in, const char *path,
			     struct err *err)
{
	if (!input_open_adjacent(in, path, err) && !input_spool(in, NULL, err))
		return 0;
	input_close(in);
	return -1;
}

/* Adds the losses in a CPU's file stats to total[]. Returns 0, or -1 and
 * *err. */
static int ftext_beside_stats(struct ftext_beside *b, const char *path,
			      int32_t cpu, struct err *err)
{
	struct input in;
	uint64_t within, before;

	if (ftext_beside_file(&in, path, err))
		return -1;
	struct scan s = scan_of(in.data, in.len);

	before = trace_stats_number(s, "overrun:");
	within = saturating_add(trace_stats_number(s, "dropped events:"),
				trace_stats_number(s, "commit overrun:"));
	input_close(&in);
	*mem_add(b->total, b->n_total, b->cap_total) =
		(struct ftext_total){ cpu, LOST_BEFORE, before };
	if (within)
		*mem_add(b->total, b->n_total, b->cap_total) =
			(struct ftext_total){ cpu, LOST_WITHIN, within };
	return 0;
}

COMPARE_BY(ftext_beside_compare, struct ftext_total, cpu, place);

/* Reads the next name in a folder that is a CPU's, such as "cpu7". Returns
 * false at the end. */
static bool ftext_beside_next(DIR *d, const char **name, int32_t *cpu)
{
	const struct dirent *ent;

	while ((ent = readdir(d))) {
		struct scan s = scan_of(ent->d_name, strlen(ent->d_name));

		*name = ent->d_name;
		if (scan_take(&s, "cpu") && scan_i32(&s, cpu) && !s.n &&
		    *cpu >= 0 && *cpu < CPUS_MAX)
			return true;
	}
	return false;
}

int ftext_beside_read(struct ftext_beside *b, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	DIR *d = *dir ? opendir(dir) : NULL;
	const char *name;
	int32_t cpu;
	int n = 0;

	b->n_total = 0;
	while (d && n >= 0 && ftext_beside_next(d, &name, &cpu))
		if ((!b->only || b->only == cpu + 1) &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s/stats", dir,
				     name) < sizeof(path))
			n = ftext_beside_stats(b, path, cpu, err) ? -1 : n + 1;
	if (d)
		closedir(d);
	if (n < 0)
		b->n_total = 0;
	sort_items(b->total, b->n_total, ftext_beside_compare);
	return n;
}

/* Sets the clock from trace_clock. Clocks that count ticks are left out: the
 * text itself shows them. */
static void ftext_beside_clock(struct ftext_beside *b, const char *path)
{
	struct input in;
	char name[sizeof(b->clock)];

	if (ftext_beside_file(&in, path, NULL))
		return;
	struct scan s = trace_clock_chosen(scan_of(in.data, in.len));

	if (s.n < sizeof(name)) {
		memcpy(name, s.p, s.n);
		name[s.n] = '\0';
		enum clock_id id = clock_id_of(name);

		if (id != CLOCK_ID_NONE && id != CLOCK_ID_TSC)
			snprintf(b->clock, sizeof(b->clock), "%s",
				 trace_clock_name(name));
	}
	input_close(&in);
}

/* Returns the length of the path of the folder that has trace_clock and
 * per_cpu, and sets b->only. */
static int ftext_beside_folder(struct ftext_beside *b, const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	struct scan s = scan_of(path, n ? n - 1 : 0);
	int32_t cpu;

	if (!scan_back_i32(&s, &cpu) || cpu >= CPUS_MAX || s.n < 11 ||
	    !scan_is(scan_tail(s, s.n - 11), "per_cpu/cpu") ||
	    (s.n > 11 && s.p[s.n - 12] != '/'))
		return (int)n;
	b->only = cpu + 1;
	return (int)s.n - 11;
}

void ftext_beside_open(struct ftext_beside *b, const char *path)
{
	const int n = ftext_beside_folder(b, path);
	char clock[PATH_MAX];
	struct statfs fs;
	const char *name;
	int32_t cpu;

	if ((size_t)snprintf(b->per_cpu, sizeof(b->per_cpu), "%.*sper_cpu", n,
			     path) >= sizeof(b->per_cpu) ||
	    (size_t)snprintf(clock, sizeof(clock), "%.*strace_clock", n,
			     path) >= sizeof(clock)) {
		b->per_cpu[0] = '\0';
		return;
	}
	ftext_beside_clock(b, clock);
	DIR *d = opendir(b->per_cpu);

	if (!d) {
		b->per_cpu[0] = '\0';
		return;
	}
	while (ftext_beside_next(d, &name, &cpu))
		b->cpus++;
	b->live = !fstatfs(dirfd(d), &fs) && fs.f_type == TRACEFS_MAGIC;
	closedir(d);
}

/* The folder has an entry for each CPU that the machine can have. The number of
 * CPUs online, as in "#P:", is known only on the machine itself. */
int32_t ftext_beside_cpus(const struct ftext_beside *b)
{
	long n = b->live ? sysconf(_SC_NPROCESSORS_ONLN) : 0;

	return n > 0 ? (int32_t)n : b->cpus;
}

uint64_t ftext_beside_sum(const struct ftext_beside *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->n_total; i++)
		sum = saturating_add(sum, b->total[i].n);
	return sum;
}
