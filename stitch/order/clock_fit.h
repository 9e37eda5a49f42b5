/* clock_fit.h - how the clocks of two captures go together, by the events that
 * both have. */
#ifndef STITCH_ORDER_CLOCK_FIT_H
#define STITCH_ORDER_CLOCK_FIT_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"

struct prints;

/* Fewer than this prove nothing. */
#define MATCH_MIN 10
/* ns from the 5th to the 95th percentile, at most. */
#define MATCH_SPREAD 100000

struct match {
	struct clock_map map; /* of a's times to b's */
	int64_t middle;	      /* ns that b's are ahead of a's, in the middle */
	int64_t error;	      /* ns: the spread, and how far the places in the
			       * kernel are apart that record the event */
	uint64_t pairs;	      /* that agree */
	uint64_t found;	      /* events that are there once in both */
};

/* False: nothing can be said; found is filled all the same. */
bool match_clocks(const struct prints *a, const struct prints *b,
		  struct match *out);

/* Of the switches of each while both were recorded: how many there are in
 * each, and how many of a are in b too. */
struct agreement {
	uint64_t a, b, both;
};

void match_switches(const struct prints *a, const struct prints *b,
		    const struct clock_map *map, uint64_t within,
		    struct agreement *out);
/* Events of the other kinds that are in both at the same time. */
uint64_t match_others(const struct prints *a, const struct prints *b,
		      const struct clock_map *map, uint64_t within);
/* Do threads of the same id have other names? */
bool match_names_differ(const struct prints *a, const struct prints *b);
#endif
