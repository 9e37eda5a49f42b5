/* oncpu_match.h - checks samples of one capture against switches of another.
 *
 * If one capture has samples and the other has switches, they have no equal
 * events. But a sampled thread must be on a CPU: if many samples agree with the
 * switches, both captures are of one kernel, and their clocks fit.
 *
 * Call order: oncpu_match_add_switch() and oncpu_match_add_hit() in time order,
 * oncpu_match_end(), then oncpu_match_compare(). Memory is bounded: samples are
 * thinned out, and late switches are dropped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_map;

/* A thread comes to a CPU or leaves it. */
struct oncpu_edge {
	uint64_t time;
	int32_t tid, cpu;
	bool comes;
};

struct oncpu_hit {
	uint64_t time;
	int32_t tid, cpu; /* cpu -1: unknown */
};

/* All zeros: empty. */
struct oncpu_match {
	struct oncpu_edge *edge; /* sorted by thread, then time, by
				  * oncpu_match_end() */
	size_t n_edge, cap_edge;
	struct oncpu_hit *hit;
	size_t n_hit, cap_hit;
	uint64_t seen, every; /* samples seen; one in `every` is kept */
	uint64_t first, last; /* times of the switches that are kept */
};

struct oncpu_result {
	uint64_t yes, no; /* samples while their thread was on the CPU; while
			   * it was not */
	uint64_t unknown; /* samples of threads without switches */
};

void oncpu_match_release(struct oncpu_match *r);
void oncpu_match_add_switch(struct oncpu_match *r, int32_t cpu, int32_t prev,
			    int32_t next, uint64_t t);
void oncpu_match_add_hit(struct oncpu_match *r, int32_t cpu, int32_t tid,
			 uint64_t t);
void oncpu_match_end(struct oncpu_match *r);
/* Compares the samples of a, whose times map converts to b's clock, with the
 * switches of b. Samples closer than `within` to a switch do not count. */
void oncpu_match_compare(const struct oncpu_match *a,
			 const struct oncpu_match *b,
			 const struct clock_map *map, uint64_t within,
			 struct oncpu_result *out);
