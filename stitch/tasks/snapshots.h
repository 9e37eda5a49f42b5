/* snapshots.h - saved lists of mappings.
 *
 * A list has all mappings of a process at one moment, such as a copy of
 * /proc/PID/maps, for captures that do not record mappings. A list with a time
 * is valid from that time on. A list without a time is valid from the start of
 * the capture or process, and again after each exec, because nothing tells for
 * which of its programs it was made. If several places have lists of a process,
 * only those of the lowest rank are used.
 *
 * Call order: snapshots_add() for all lists, then queries, which cost O(log
 * n). */
#pragma once
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
	int64_t time; /* ns on the capture's clock; TIME_NONE: unknown */
	const struct rec_map *map; /* sorted by address; borrowed */
	size_t n;
};

struct snapshots *snapshots_new(void);
void snapshots_free(struct snapshots *sn);
/* Copies *s. s->map is borrowed until snapshots_free(). */
void snapshots_add(struct snapshots *sn, const struct snapshot *s,
		   unsigned int rank);
/* Returns true if there is a list of this process. */
bool snapshots_has(struct snapshots *sn, int32_t pid);
/* Returns the list that is valid at t (TIME_NONE: at the start), or NULL. Sets
 * *next to the time when the next list becomes valid, or INT64_MAX. sn may be
 * NULL. */
const struct snapshot *snapshots_find(struct snapshots *sn, int32_t pid,
				      int64_t t, int64_t *next);
/* Returns the list for a program that starts at t: one made at t, or one
 * without a time; else NULL. */
const struct snapshot *snapshots_exec(struct snapshots *sn, int32_t pid,
				      int64_t t);

/* Where to apply lists. */
struct snapshots_to {
	struct tasks *tasks;
	struct resolve *resolve;
	const struct source *src;
};

/* Applies the lists that are due for a process (slot). Call it before each
 * record at time t that uses or changes its mappings, and with `started` after
 * its exec. */
void snapshots_due(struct snapshots *sn, const struct snapshots_to *to,
		   uint32_t process, int64_t t, bool started);
