/* clock_fit.h - compares two clocks by events that both captures have. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"

struct fingerprints;

/* Smallest number of events that proves anything. */
#define CLOCK_FIT_MIN 10
/* Largest distance in ns from the 5th to the 95th percentile. */
#define CLOCK_FIT_SPREAD 100000

struct clock_fit {
	struct clock_map map; /* maps times of a to b */
	int64_t error;	/* ns: the spread, plus the distance of the hooks that
			 * record the event */
	uint64_t found; /* events that occur once in both */
};

/* Fits the clock of a to that of b. Returns false if that is not possible;
 * out->found is valid anyway. */
bool clock_fit_find(const struct fingerprints *a, const struct fingerprints *b,
		    struct clock_fit *out);

/* Switches in the time that both recorded: in a, in b, and those of a that are
 * also in b. */
struct switch_agreement {
	uint64_t a, b, both;
};

/* map: from a to b; equal switches are at most `within` ns apart then. */
void clock_fit_switches(const struct fingerprints *a,
			const struct fingerprints *b,
			const struct clock_map *map, uint64_t within,
			struct switch_agreement *out);
/* Returns the number of events of other kinds that are in both at the same
 * time. */
uint64_t clock_fit_others(const struct fingerprints *a,
			  const struct fingerprints *b,
			  const struct clock_map *map, uint64_t within);
/* Returns true if a process has code at the same page in both, which no other
 * boot would have chosen. */
bool clock_fit_share_process(const struct fingerprints *a,
			     const struct fingerprints *b);
/* Returns true if threads with the same id have different names. */
bool clock_fit_names_differ(const struct fingerprints *a,
			    const struct fingerprints *b);
