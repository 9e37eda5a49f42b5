/* ring_counts.h - what the kernel counts of a live ring of ftrace: its file
 * per_cpu/cpuN/stats. */
#ifndef CLI_FOLLOW_RING_COUNTS_H
#define CLI_FOLLOW_RING_COUNTS_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct piece;
struct tracefs;

/* Counters of the kernel since the buffer was followed. */
struct ring_counts {
	uint64_t overrun, commit_overrun, dropped, read;
};

/* Returns the text of counters, which the caller frees; NULL: none. */
char *ring_stats(const struct tracefs *fs, int32_t cpu);
/* Returns the number behind a key, as "entries: "; 0: there is none. */
uint64_t ring_count(const char *text, const char *key);
/* Reads the counters into last, and adds to sum what they grew by. */
void ring_counts_read(const struct tracefs *fs, int32_t cpu,
		      struct ring_counts *last, struct ring_counts *sum);
/* Returns what was lost, if pages marked so many events as lost. Events that
 * the kernel counted as overwritten are marked in the next page, with a number
 * if there is room for it: the larger of both sums is what was lost. */
struct ring_counts ring_counts_lost(const struct ring_counts *sum,
				    uint64_t marked);
/* Stores in a part what was lost since the part before it, which told what is
 * in told. Returns 0, or -1 and *err. */
int ring_tell_lost(struct piece *p, int32_t cpu, struct ring_counts *told,
		   const struct ring_counts *end, struct err *err);
/* Returns the time of the ring's clock, or UINT64_MAX if nobody tells it. */
uint64_t ring_time(const struct tracefs *fs, int32_t cpu);
/* Says how many events the kernel counts as read that were not seen; damaged:
 * pages of the ring were. */
void ring_tell_missing(const char *input, int32_t cpu, uint64_t n,
		       bool damaged);
/* Says how many events could not be read. */
void ring_tell_left(const char *input, int32_t cpu, uint64_t n);
#endif
