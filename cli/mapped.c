/* mapped.c - what processes had mapped, from saved copies of
 * /proc/PID/maps. */
#include "cli/mapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/maps.h"
#include "stitch/ledger.h"
#include "stitch/mem.h"
#include "stitch/snapshots.h"
#include "stitch/stitch.h"

#define PATH_SIZE 4096

/* Which lists of one process count: the smaller one. */
enum rank {
	RANK_OPTION,
	RANK_BESIDE,
};

static struct opt_list given;

const struct opt mapped_opts[] = {
	{ .kind = OPT_LIST,
	  .name = "maps",
	  .arg = "PID=FILE",
	  .help = "what a process had mapped, from a copy of /proc/PID/maps: "
		  "PID=FILE from the start on, PID=FILE@SECONDS from then on, "
		  "or a folder with PID.maps; may be given several times "
		  "(default: folder 'maps' beside the capture)",
	  .value = &given },
	{ .kind = OPT_END }
};

struct mapped {
	struct ledger *ledger;
	struct maps *given;
	struct maps **beside; /* one for each capture that has such a folder */
	size_t n, cap;
};

struct mapped *mapped_new(struct ledger *lg, struct err *err)
{
	struct mapped *md = mem_new(1, sizeof(*md));

	md->ledger = lg;
	md->given = maps_new();
	for (size_t i = 0; i < given.n; i++)
		if (maps_option(md->given, given.item[i], lg, 0, err)) {
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
	free(md);
}

static void note(struct mapped *md, uint16_t source, const char *dir, int n)
{
	char text[PATH_SIZE + 64];
	struct ledger_entry e = {
		.kind = LEDGER_NOTE,
		.capture = source,
		.what = "maps",
		.detail = text,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};

	snprintf(text, sizeof(text), "mappings from %s: %d file%s", dir, n,
		 n == 1 ? "" : "s");
	ledger_add(md->ledger, &e);
}

/* The folder "maps" in that of the capture, or in the capture. */
static bool find_folder(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!strcmp(path, "-"))
		return false;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		snprintf(out, size, "%s/maps", path);
	else
		snprintf(out, size, "%.*smaps",
			 slash ? (int)(slash + 1 - path) : 0, path);
	return !stat(out, &st) && S_ISDIR(st.st_mode);
}

static void tell(struct maps *m, struct stitch *st, uint16_t source,
		 enum rank rank)
{
	size_t n;
	const struct snapshot *s = maps_list(m, &n);

	for (size_t i = 0; i < n; i++)
		stitch_maps(st, source, &s[i], rank);
}

int mapped_add(struct mapped *md, struct stitch *st, uint16_t source,
	       const char *path, struct err *err)
{
	char dir[PATH_SIZE];

	tell(md->given, st, source, RANK_OPTION);
	if (!find_folder(path, dir, sizeof(dir)))
		return 0;
	struct maps *m = maps_new();

	md->beside = mem_grow(md->beside, &md->cap, md->n + 1,
			      sizeof(*md->beside));
	md->beside[md->n++] = m;
	int n = maps_folder(m, dir, md->ledger, source, err);

	if (n < 0)
		return -1;
	if (n)
		note(md, source, dir, n);
	tell(m, st, source, RANK_BESIDE);
	return 0;
}
