/* counters.h - the per-CPU counters inside cookies, and what is missing.
 *
 * The kernel gives each CPU's cookies an odd counter in steps of 2
 * (kernel/unwind/deferred.c, 7.2): a number that no record has is a request
 * that left no other trace. That is proof only in a capture of all CPUs where
 * nobody else asked (backstitch-formats(5), failure modes 4 and 16); elsewhere
 * the numbers are kept and the reason is given. The join never looks into a
 * cookie.
 *
 * Facts: FACT_GAP for each run of missing counters, FACT_COUNTER for each CPU
 * and FACT_SESSION for each source that has cookies, all from counters_end().
 * Memory is bounded: old runs are given out early.
 *
 * Captures of one kernel (stitch_together()) see the same counters: what any
 * of them has is not missing. The numbers are those of a witness then, one
 * that records all CPUs if there is any; the others have sums of halves only.
 *
 * A run lies in time between the last cookie below it that was surely made
 * when it was first seen, and the first sight of the next above
 * (backstitch-formats(5), "Deferred stacks: counters"). */
#ifndef STITCH_AUDIT_COUNTERS_H
#define STITCH_AUDIT_COUNTERS_H
#include <stdbool.h>
#include <stdint.h>

struct cookie_totals;
struct counters;
struct facts;
struct losses;
struct source_info;

/* Which bits of a cookie are what. */
enum cookie_layout {
	LAYOUT_AUTO,   /* perf's: LAYOUT_KERNEL while all cookies fit, else
			* opaque; others': opaque */
	LAYOUT_KERNEL, /* cpu + 1 in the low half, odd counter in the high
			* one; the halves are swapped on big-endian */
	LAYOUT_CPU48,  /* 2024 drafts: cpu << 48 | counter in steps of 1 */
	LAYOUT_LOWCPU, /* counter << 12 | cpu */
	LAYOUT_PAIR,   /* cpu in the low half, counter in the high one */
	LAYOUT_OPAQUE,
};

/* The word for a layout, as --cookie-layout takes it; NULL: no such one. */
const char *cookie_layout_name(unsigned int layout);

struct counters *counters_new(struct facts *out, struct losses *ls,
			      enum cookie_layout layout);
void counters_free(struct counters *cs);
/* info is borrowed until the end: a pipe tells of itself late. line: as said
 * by stitch_together(). */
void counters_source(struct counters *cs, uint16_t source,
		     const struct source_info *info, uint16_t line);
/* A record that carries a cookie. */
struct counters_sight {
	uint16_t source;
	uint64_t cookie;
	int32_t cpu;   /* of the record; -1: not known */
	int64_t time;  /* TIME_NONE: not known */
	int64_t since; /* when its thread was last seen with another cookie:
			* this one was made later; TIME_NONE: not known */
	bool is_sample;
};

/* True at the first sight of a cookie whose first request is missing: it was
 * made on another CPU, or a later one of its CPU was seen before
 * (backstitch-formats(5), failure mode 1). */
bool counters_see(struct counters *cs, const struct counters_sight *s);
/* The CPU that made it; -1: the layout is not known. */
int32_t counters_cpu(const struct counters *cs, uint16_t source,
		     uint64_t cookie);

/* The facts come when all captures of a line have ended. */
void counters_end(struct counters *cs, uint16_t source,
		  const struct cookie_totals *end);
#endif
