/* oncpu_match.h - do the threads of one capture run when another saw them on a
 * CPU?
 *
 * Where one capture has samples and the other switches there are no equal
 * events, but a thread that is sampled must be on a CPU: many samples that
 * fall into the right turns prove that both are of one kernel, and that their
 * clocks go together.
 *
 * ran_switch() and ran_hit() in time order, ran_end(), then ran_compare().
 * Memory is bounded: of hits some are left out, of switches the end. */
#ifndef STITCH_ORDER_ONCPU_MATCH_H
#define STITCH_ORDER_ONCPU_MATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_map;

/* A thread gets a CPU, or leaves it. */
struct ran_edge {
	uint64_t time;
	int32_t tid, cpu;
	bool comes;
};

struct ran_hit {
	uint64_t time;
	int32_t tid, cpu; /* cpu -1: not known */
};

/* Zero-initialised is empty. */
struct ran {
	struct ran_edge *edge; /* by thread, then time, after ran_end() */
	size_t n_edge, cap_edge;
	struct ran_hit *hit;
	size_t n_hit, cap_hit;
	uint64_t seen, every; /* hits; one of so many is kept */
	uint64_t first, last; /* times of the switches that are kept */
};

struct ran_said {
	uint64_t yes, no; /* hits in a turn of their thread; outside of it */
	uint64_t unknown; /* of threads that had none */
};

void ran_release(struct ran *r);
void ran_switch(struct ran *r, int32_t cpu, int32_t prev, int32_t next,
		uint64_t t);
void ran_hit(struct ran *r, int32_t cpu, int32_t tid, uint64_t t);
void ran_end(struct ran *r);
/* Hits of a, whose times the map leads to b's, in the turns of b; what is
 * closer than within to the end of one says nothing. */
void ran_compare(const struct ran *a, const struct ran *b,
		 const struct clock_map *map, uint64_t within,
		 struct ran_said *out);
#endif
