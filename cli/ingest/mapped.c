/* mapped.c - mappings of processes from saved copies of /proc/PID/maps. */
#include "cli/ingest/mapped.h"

#include "formats/code/maps.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/source.h"
#include "stitch/stitch.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/late_maps.h"
#include "symbolize/files/mapping_offsets.h"

#define PATH_SIZE 4096
/* At most this many files are read for the offsets of their mappings. */
#define PROOFS_MAX 20000
/* Most adjacent mappings of a file, one for each segment. */
#define GROUP_MAX 64

/* Of several lists of one process, the one with the smallest rank is used. */
enum rank {
	RANK_OPTION,
	RANK_BESIDE,
	RANK_PROVED,
};

struct mapped {
	struct ledger *ledger;
	struct maps *given;
	struct maps **beside; /* one for each capture that has such a folder */
	size_t n, cap;
	struct rec_map **copy; /* of captures' own lists */
	size_t n_copy, cap_copy;
	size_t proofs;
	bool hints; /* none was given: says what could be */
};

struct mapped *mapped_new(const char *const *given, size_t n, struct ledger *lg,
			  struct err *err)
{
	struct mapped *md = mem_new(1, sizeof(*md));

	md->ledger = lg;
	md->given = maps_new();
	md->hints = !n;
	for (size_t i = 0; i < n; i++)
		if (maps_option(md->given, given[i], lg, 0, err)) {
			mapped_free(md);
			return NULL;
		}
	return md;
}

void mapped_free(struct mapped *md)
{
	if (!md)
		return;
	maps_free(md->given);
	for (size_t i = 0; i < md->n; i++)
		maps_free(md->beside[i]);
	free(md->beside);
	for (size_t i = 0; i < md->n_copy; i++)
		free(md->copy[i]);
	free_all(md->copy, md);
}

/* Prints that --maps could be used. A folder next to a file is not used by
 * itself: it may belong to another capture, where the pids are other processes.
 */
static void mapped_print_hint(struct mapped *md, const struct source *src)
{
	const char *slash = strrchr(src->path, '/');
	char dir[PATH_SIZE], text[2 * PATH_SIZE + 128];
	int n = slash ? (int)(slash - src->path) + 1 : 0;

	if (!md->hints || !strcmp(src->path, "-") ||
	    path_is_folder(src->path) ||
	    (size_t)snprintf(dir, sizeof(dir), "%.*smaps", n, src->path) >=
		    sizeof(dir) ||
	    !maps_in_folder(dir))
		return;
	snprintf(text, sizeof(text),
		 "folder %s next to it is not read, as it may be of another "
		 "run; if it is not: --maps %s",
		 dir, dir);
	ledger_note(md->ledger, src->index, "maps", text);
}

static void mapped_report(struct maps *m, struct stitch *st, uint16_t source,
			  enum rank rank)
{
	size_t n;
	const struct snapshot *s = maps_list(m, &n);

	for (size_t i = 0; i < n; i++)
		stitch_maps(st, source, &s[i], rank);
}

/* Proves the offsets in files, which a capture's own list may lack: mappings of
 * a file are not derived if the file exists and its headers agree with them. */
static void mapped_prove_offsets(struct mapped *md, struct stitch *st,
				 uint16_t source, const struct symbolizer *sy,
				 const struct snapshot *s)
{
	struct snapshot mine = *s;

	if (!s->n)
		return;
	struct rec_map *map = mem_new(s->n, sizeof(*map));

	memcpy(map, s->map, s->n * sizeof(*map));
	mine.map = map;
	*mem_add(md->copy, md->n_copy, md->cap_copy) = map;
	bool *seen OWNED = mem_new(s->n, sizeof(*seen));

	for (size_t i = 0; i < s->n; i++) {
		const struct image img = { .kind = IMAGE_FILE,
					   .path = map[i].path };
		struct mapping_offset group[GROUP_MAX];
		size_t at[GROUP_MAX];
		size_t n = 0;

		if (!map[i].derived || seen[i])
			continue;
		for (size_t k = i; k < s->n && k - i < GROUP_MAX; k++) {
			if (!map[k].derived ||
			    strcmp(map[k].path, img.path) != 0)
				continue;
			seen[k] = true;
			at[n] = k;
			group[n++] = (struct mapping_offset){
				map[k].start, map[k].start + map[k].len, 0
			};
		}
		if (md->proofs++ >= PROOFS_MAX ||
		    !mapping_offsets_prove(sy, &img, group, n))
			continue;
		for (size_t k = 0; k < n; k++) {
			map[at[k]].pgoff = group[k].pgoff;
			map[at[k]].derived = false;
		}
	}
	stitch_maps(st, source, &mine, RANK_PROVED);
}

/* Reads the folder "maps" in a capture that is a folder. */
static int add_adjacent(struct mapped *md, struct stitch *st,
			const struct source *src, struct err *err)
{
	char dir[PATH_SIZE], text[PATH_SIZE + 64];

	if (!strcmp(src->path, "-") || !path_is_folder(src->path))
		return 0;
	snprintf(dir, sizeof(dir), "%s/maps", src->path);
	if (!path_is_folder(dir))
		return 0;

	struct maps *m = maps_new();

	*mem_add(md->beside, md->n, md->cap) = m;
	int n = maps_folder(m, dir, md->ledger, src->index, err);

	if (n < 0)
		return -1;
	snprintf(text, sizeof(text), "mappings from %s: %d file%s", dir, n,
		 n == 1 ? "" : "s");
	if (n)
		ledger_note(md->ledger, src->index, "maps", text);
	mapped_report(m, st, src->index, RANK_BESIDE);
	return 0;
}

int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err)
{
	mapped_report(md->given, st, src->index, RANK_OPTION);
	if (add_adjacent(md, st, src, err))
		return -1;
	/* only captures of perf have mappings */
	if (src->info.cookies != COOKIES_PERF)
		mapped_print_hint(md, src);
	for (size_t i = 0; sy && i < src->info.n_maps; i++)
		mapped_prove_offsets(md, st, src->index, sy,
				     &src->info.maps[i]);
	return 0;
}
