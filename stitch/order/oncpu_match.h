/* oncpu_match.h - do the threads of one capture run when another saw them on a
 * CPU?
 *
 * Where one capture has samples and the other switches there are no equal
 * events, but a thread that is sampled must be on a CPU: many samples that
 * fall into the right turns prove that both are of one kernel, and that their
 * clocks go together.
 *
 * oncpu_match_add_switch() and oncpu_match_add_hit() in time order,
 * oncpu_match_end(), then oncpu_match_compare(). Memory is bounded: of hits
 * some are left out, of switches the end. */
#ifndef STITCH_ORDER_ONCPU_MATCH_H
#define STITCH_ORDER_ONCPU_MATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_map;

/* A thread gets a CPU, or leaves it. */
struct oncpu_edge {
	uint64_t time;
	int32_t tid, cpu;
	bool comes;
};

struct oncpu_hit {
	uint64_t time;
	int32_t tid, cpu; /* cpu -1: not known */
};

/* Zero-initialised is empty. */
struct oncpu_match {
	struct oncpu_edge
		*edge; /* by thread, then time, after oncpu_match_end() */
	size_t n_edge, cap_edge;
	struct oncpu_hit *hit;
	size_t n_hit, cap_hit;
	uint64_t seen, every; /* hits; one of so many is kept */
	uint64_t first, last; /* times of the switches that are kept */
};

struct oncpu_result {
	uint64_t yes, no; /* hits in a turn of their thread; outside of it */
	uint64_t unknown; /* of threads that had none */
};

void oncpu_match_release(struct oncpu_match *r);
void oncpu_match_add_switch(struct oncpu_match *r, int32_t cpu, int32_t prev,
			    int32_t next, uint64_t t);
void oncpu_match_add_hit(struct oncpu_match *r, int32_t cpu, int32_t tid,
			 uint64_t t);
void oncpu_match_end(struct oncpu_match *r);
/* Hits of a, whose times the map leads to b's, in the turns of b; what is
 * closer than within to the end of one says nothing. */
void oncpu_match_compare(const struct oncpu_match *a,
			 const struct oncpu_match *b,
			 const struct clock_map *map, uint64_t within,
			 struct oncpu_result *out);
#endif
