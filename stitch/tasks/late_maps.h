/* late_maps.h - mappings whose record came late, for stacks resolved before.
 *
 * A live pipe delivers a record before it is certain that no earlier one
 * follows. If a mapping then comes late, the stacks of its process between its
 * time and its arrival were resolved without it. Order: late_maps_add() when
 * such a mapping was applied, late_maps_sort() at the end of the stream, then
 * late_maps_again() for each stack.
 *
 * A recorder's list of existing processes is also late, if another recorder had
 * started earlier. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct frames;
struct process;
struct region;
struct rec_map;
struct resolve;
struct snapshots;
struct source;
struct tasks;
struct image;

/* A list has all mappings of a process at one moment, such as a copy of
 * /proc/PID/maps, for captures that do not record mappings. A list with a time
 * is valid from that time on. A list without a time is valid from the start of
 * the capture or process, and again after each exec, because it is not known
 * for which of its programs it was made. If several places have lists of a
 * process, only those of the lowest rank are used.
 *
 * Call order: snapshots_add() for all lists, then queries, which cost O(log
 * n). */

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

/* Some records have only the range of a whole file: its mappings are derived
 * from the file's own segments, if it is available. */

/* A segment of a file in memory, relative to the file's lowest address. */
struct file_part {
	uint64_t start, end, off; /* off: file offset of start */
};

/* Stores the segments of a file, sorted by address, in out, at most max.
 * Returns how many; 0: the file is not available. */
typedef size_t (*partial_maps_fn)(void *arg, const struct image *img,
				  struct file_part *out, size_t max);

/* The segments of one image. */
struct partial_file {
	bool asked;
	size_t n;
	struct file_part *part; /* owned */
};

struct partial_maps {
	const struct frames *fr;
	partial_maps_fn fn; /* called once for each image; NULL: no file is
			     * available */
	void *arg;
	struct partial_file *file; /* by image */
	size_t n, cap;
};

void partial_maps_release(struct partial_maps *wh);
/* Stores the i-th mapping of a file in *out. all is the complete range with its
 * image. Returns 1, or 0 if there are no more. A file that is not available has
 * one mapping, whose offsets equal the relative addresses; that is right for
 * most files. */
int partial_maps_get(struct partial_maps *wh, const struct region *all,
		     size_t i, struct region *out);

/* A region that is valid in [from, until). */
struct late_map {
	uint32_t process, image; /* row ids */
	uint64_t start, end, pgoff;
	int64_t from, until;
	int64_t reach; /* largest until of it and of those of its process before
			* it; set by late_maps_sort() */
	bool derived;
	bool listed; /* mapped at `until`; no record shows that it was
		      * earlier */
	bool steady; /* this mapping and the earlier ones of its process are
		      * listed and valid at the same times; set by
		      * late_maps_sort() */
};

struct late_maps {
	struct late_map *map;
	size_t n, cap;
	int64_t from, until; /* earliest `from` and latest `until` of all; valid
			      * if n > 0 */
	bool full;	     /* there were more late mappings than are kept */
	const struct late_map **valid; /* valid at one time */
	size_t cap_valid;
	struct table known; /* hash of process and raw chain -> the answer, of
			     * steady mappings */
};

/* Adds the parts of r that are still mapped, which process p has mapped at
 * r->t0 (TIME_NONE: unknown, but maybe at `since`). now: time of the newest
 * earlier record. */
void late_maps_add(struct late_maps *lm, const struct process *p,
		   const struct region *r, int64_t since, int64_t now);
void late_maps_sort(struct late_maps *lm);
/* Returns the raw chain of the same addresses with the frames that a process
 * (row id) had there at t, which is raw itself if that changes nothing. Keeps
 * jitted code. */
uint32_t late_maps_again(struct late_maps *lm, struct frames *fr,
			 uint32_t process, int64_t t, uint64_t mask,
			 uint32_t raw);
void late_maps_release(struct late_maps *lm);
