/* late_maps.h - mappings whose record came late, for stacks resolved before.
 *
 * A live pipe gives out a record before it is certain that no earlier one
 * follows. If a mapping then comes late, the stacks of its process between its
 * time and its arrival were resolved without it. Order: late_maps_add() when
 * such a mapping was applied, late_maps_sort() at the end of the stream, then
 * late_maps_again() for each stack. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct process;
struct region;

/* A region that is valid in [from, until). */
struct late_map {
	uint32_t process, image; /* row ids */
	uint64_t start, end, pgoff;
	int64_t from, until;
	int64_t reach; /* largest until of it and of those of its process before
			* it; set by late_maps_sort() */
	bool derived;
};

struct late_maps {
	struct late_map *map;
	size_t n, cap;
	int64_t from, until;	       /* of all of them; n > 0 */
	bool full;		       /* there were more than are kept */
	const struct late_map **valid; /* those of one time */
	size_t cap_valid;
};

/* Adds what became of r, which process p has mapped at r->t0. now: time of the
 * newest record before. */
void late_maps_add(struct late_maps *lm, const struct process *p,
		   const struct region *r, int64_t now);
void late_maps_sort(struct late_maps *lm);
/* Returns the raw chain of the same addresses with the frames that a process
 * (row id) had there at t, which is raw itself if that changes nothing. Keeps
 * jitted code. */
uint32_t late_maps_again(struct late_maps *lm, struct frames *fr,
			 uint32_t process, int64_t t, uint64_t mask,
			 uint32_t raw);
void late_maps_release(struct late_maps *lm);
