/* stats.c - what each CPU's buffer lost, from copies of its file stats.
 *
 * tracefs has it in per_cpu/cpuN. The text alone does not tell of events that a
 * buffer without overwriting dropped when it was full, nor of nested ones that
 * found no room. The kernel's counts include what the text has marks of
 * ("[LOST n EVENTS]") and what its header counts. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ftext/ftext.h"
#include "formats/input.h"
#include "formats/reader/reader.h"
#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define CPUS_MAX 65536

/* The number behind a key at the start of a line; 0: there is none. */
static uint64_t ftext_stats_number(struct scan s, const char *key)
{
	while (s.n) {
		size_t n = scan_find_char(s, '\n');
		struct scan line = scan_head(s, n);
		uint64_t value;

		scan_skip(&s, n < s.n ? n + 1 : n);
		if (!scan_take(&line, key))
			continue;
		scan_blanks(&line);
		return scan_u64(&line, &value) ? value : 0;
	}
	return 0;
}

static int ftext_stats_file(struct ftext *ft, const char *path, int32_t cpu,
			    struct err *err)
{
	struct input in;
	uint64_t within, before;

	if (input_open_beside(&in, path, ft->opts.temp_dir, err))
		return -1;
	if (!in.data && input_spool(&in, ft->opts.temp_dir, err)) {
		input_close(&in);
		return -1;
	}
	struct scan s = scan_of(in.data, in.len);

	before = ftext_stats_number(s, "overrun:");
	within = ftext_stats_number(s, "dropped events:");
	if (__builtin_add_overflow(
		    within, ftext_stats_number(s, "commit overrun:"), &within))
		within = UINT64_MAX;
	input_close(&in);
	*mem_add(ft->total, ft->n_total, ft->cap_total) =
		(struct ftext_total){ cpu, LOST_BEFORE, before };
	if (within)
		*mem_add(ft->total, ft->n_total, ft->cap_total) =
			(struct ftext_total){ cpu, LOST_WITHIN, within };
	return 0;
}

/* Reads cpuN/stats in dir. Returns how many there are, or -1 and *err. */
static int ftext_stats_folder(struct ftext *ft, const char *dir,
			      struct err *err)
{
	char path[PATH_MAX];
	const struct dirent *ent;
	DIR *d = opendir(dir);
	int n = 0;

	while (d && n >= 0 && (ent = readdir(d))) {
		struct scan s = scan_of(ent->d_name, strlen(ent->d_name));
		int32_t cpu;

		if (!scan_take(&s, "cpu") || !scan_i32(&s, &cpu) || s.n ||
		    cpu < 0 || cpu > CPUS_MAX ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s/stats", dir,
				     ent->d_name) >= sizeof(path))
			continue;
		n = ftext_stats_file(ft, path, cpu, err) ? -1 : n + 1;
	}
	if (d)
		closedir(d);
	return n;
}

static int ftext_stats_by_cpu(const void *a, const void *b)
{
	const struct ftext_total *x = a;
	const struct ftext_total *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

int ftext_stats(struct ftext *ft, struct err *err)
{
	const char *given = ft->opts.stats;
	char dir[PATH_MAX];
	int n;

	if (given) {
		n = ftext_stats_folder(ft, given, err);
		snprintf(dir, sizeof(dir), "%s/per_cpu", given);
		if (!n)
			n = ftext_stats_folder(ft, dir, err);
		if (!n)
			return err_set(err, ERR_USAGE,
				       "--stats %s: no file in it is called "
				       "cpu0/stats",
				       given);
	} else {
		const char *slash = strrchr(ft->in.path, '/');

		/* the folder per_cpu beside the text */
		snprintf(dir, sizeof(dir), "%.*s/per_cpu",
			 slash ? (int)(slash - ft->in.path) : 1,
			 slash ? ft->in.path : ".");
		n = ftext_stats_folder(ft, dir, NULL);
		/* what the text says itself counts then */
		if (n < 0)
			n = (int)(ft->n_total = 0);
	}
	if (n > 0)
		qsort(ft->total, ft->n_total, sizeof(*ft->total),
		      ftext_stats_by_cpu);
	return n < 0 ? -1 : 0;
}

bool ftext_has_totals(struct ftext *ft)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ft->n_total; i++)
		if (__builtin_add_overflow(sum, ft->total[i].n, &sum))
			sum = UINT64_MAX;
	if (!ft->n_total || sum >= ft->overwritten)
		return ft->n_total > 0;
	reader_note(
		&ft->src, "stats",
		"the files stats count fewer events than the header of the "
		"text says were overwritten: they are not of this text, and "
		"are not used");
	ft->n_total = 0;
	return false;
}
