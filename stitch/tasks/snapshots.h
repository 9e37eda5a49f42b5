/* snapshots.h - saved lists of all that a process had mapped at one moment,
 * such as copies of /proc/PID/maps, for captures that do not record it.
 *
 * A list with a time holds from then on; one without holds from the start of
 * the capture or of the process, and again after each exec, as nothing says
 * for which of its programs it was made. Lists of the same process may come
 * from several places: only those of the lowest rank are used.
 *
 * Call order: snapshots_add for all, then questions; they cost O(log n). */
#ifndef STITCH_TASKS_SNAPSHOTS_H
#define STITCH_TASKS_SNAPSHOTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_map;
struct resolve;
struct snapshots;
struct source;
struct tasks;

struct snapshot {
	int32_t pid;
	int64_t time; /* ns on the capture's clock; TIME_NONE: not known */
	const struct rec_map *map; /* by address; borrowed */
	size_t n;
};

struct snapshots *snapshots_new(void);
void snapshots_free(struct snapshots *sn);
/* Copies *s; map is borrowed until snapshots_free(). */
void snapshots_add(struct snapshots *sn, const struct snapshot *s,
		   unsigned int rank);
/* Is there a list of this process? */
bool snapshots_has(struct snapshots *sn, int32_t pid);
/* The list made before t (TIME_NONE: of the start); NULL: none. *next is the
 * first time at which it is another one; INT64_MAX: none. sn NULL: none. */
const struct snapshot *snapshots_find(struct snapshots *sn, int32_t pid,
				      int64_t t, int64_t *next);
/* The list for a program that starts at t: one of just then, or one without a
 * time; NULL: none. */
const struct snapshot *snapshots_exec(struct snapshots *sn, int32_t pid,
				      int64_t t);

/* Where a list's mappings go. */
struct snapshots_to {
	struct tasks *tasks;
	struct resolve *resolve;
	const struct source *src;
};

/* Before a record of a process (slot) at t changes or asks for what is mapped
 * in it, and, started, after its exec: maps what has become due. */
void snapshots_due(struct snapshots *sn, const struct snapshots_to *to,
		   uint32_t process, int64_t t, bool started);
#endif
