/* counters.h - finds gaps in the per-CPU counters that cookies contain, and
 * which bits of a cookie hold these counters.
 *
 * The kernel gives each CPU's cookies an odd counter in steps of 2
 * (kernel/unwind/deferred.c, 7.2). A number that no record has is a request
 * that left no other trace. This proves a loss only in a capture of all CPUs
 * while no other session asked (backstitch-formats(5), failure modes 4 and 16);
 * otherwise the numbers are stored with the reason why they prove nothing. The
 * join does not interpret cookies.
 *
 * Facts: FACT_GAP for each run of missing counters, FACT_COUNTER for each CPU
 * and FACT_SESSION for each source with cookies, all from counters_end().
 * Memory is bounded: old runs are output early.
 *
 * Captures of one kernel (stitch_together()) see the same counters: a counter
 * that any of them has is not missing. Findings are attributed to one of them,
 * the witness, if possible one that records all CPUs; the others only have
 * totals.
 *
 * The time of a run is between the last cookie below it that was certainly made
 * when it was first seen, and the first sight of the next one above it
 * (backstitch-formats(5), "Deferred stacks: counters"). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum cookie_layout {
	LAYOUT_AUTO,   /* perf: LAYOUT_KERNEL as long as all cookies fit, else
			* opaque; others: opaque */
	LAYOUT_KERNEL, /* cpu + 1 in the low half, odd counter in the high
			* half; swapped on big-endian */
	LAYOUT_CPU48,  /* 2024 drafts: (cpu << 48) + counter in steps of 1, so
			* that a counter may carry into the CPU */
	LAYOUT_LOWCPU, /* counter << 12 | cpu, or another number of bits */
	LAYOUT_PAIR,   /* cpu in the low half, counter in the high one */
	LAYOUT_OPAQUE,
};

struct cookie_shape {
	enum cookie_layout layout;
	uint8_t cpu_at, cpu_bits;
	uint8_t count_at, count_bits;
	uint8_t bias; /* value for CPU 0 */
	uint8_t step; /* 2: counters are odd */
	bool carries; /* the counter may carry into the CPU */
};

#define COOKIE_SHAPES 5

/* Returns the word that --cookie-layout takes, or NULL. */
const char *cookie_layout_name(unsigned int layout);
/* Reads such a word, or "lowcpu:BITS", the number of bits that hold the CPU.
 * Returns 0 and *layout, an enum cookie_layout with BITS << 8; or -1. */
int cookie_layout_parse(const char *word, unsigned int *layout);
/* Fills all COOKIE_SHAPES shapes; their member layout tells them apart. layout,
 * from cookie_layout_parse(), sets the bits of LAYOUT_LOWCPU. */
void cookie_shapes(struct cookie_shape *shape, unsigned int layout);

struct clock_bounds;
struct cookie_totals;
struct counters;
struct fact_finding;
struct fact_queue;
struct losses;
struct source_info;

/* layout: as from cookie_layout_parse(). */
struct counters *counters_new(struct fact_queue *out, struct losses *ls,
			      unsigned int layout);
void counters_free(struct counters *cs);
/* info is borrowed until the end, because a pipe fills it late. line: first
 * source of its line. */
void counters_source(struct counters *cs, uint16_t source,
		     const struct source_info *info, uint16_t line);
/* A record with a cookie. */
struct counters_sight {
	uint16_t source;
	uint64_t cookie;
	int32_t cpu;   /* CPU of the record; -1: unknown */
	int64_t time;  /* TIME_NONE: unknown */
	int64_t since; /* when its thread was last seen with another cookie, or
			* started, after which this one was made; TIME_NONE:
			* unknown, it may be older than the capture */
	bool is_sample;
	bool late; /* newer records were read before */
};

/* What counters_see() finds out about a cookie. */
enum counter_sight {
	/* The cookie's first request is missing: the cookie was made on another
	 * CPU, or a later one of its CPU was seen before
	 * (backstitch-formats(5), failure mode 1). */
	COUNTER_FIRST_LOST = 1,
	COUNTER_AGAIN = 2, /* the cookie was certainly seen before */
};

/* Takes a cookie. Returns a set of enum counter_sight. */
unsigned int counters_see(struct counters *cs, const struct counters_sight *s);
/* Returns the CPU that made the cookie; -1: the layout is unknown. */
int32_t counters_cpu(const struct counters *cs, uint16_t source,
		     uint64_t cookie);

/* Returns what the counters of a source show of the clocks of CPUs; NULL:
 * nothing, as another session may have made them. end: the source's totals. */
const struct clock_bounds *counters_bounds(const struct counters *cs,
					   uint16_t source,
					   const struct cookie_totals *end);
/* Takes a CPU of the source whose clock differs from the others': returns 1 and
 * *f, or 0 if there is none left. end: the source's totals. Call it before
 * counters_end(), when all losses are known. */
int counters_next_skew(struct counters *cs, uint16_t source,
		       const struct cookie_totals *end, struct fact_finding *f);
/* Ends a source. Facts are output when all captures of its line have ended. */
void counters_end(struct counters *cs, uint16_t source,
		  const struct cookie_totals *end);
