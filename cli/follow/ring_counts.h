/* ring_counts.h - what the kernel counts of a live ring of ftrace: its file
 * per_cpu/cpuN/stats. */
#ifndef CLI_FOLLOW_RING_COUNTS_H
#define CLI_FOLLOW_RING_COUNTS_H
#include <stdbool.h>
#include <stdint.h>

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
/* Returns the time of the ring's clock, or UINT64_MAX if nobody tells it. */
uint64_t ring_time(const struct tracefs *fs, int32_t cpu);
/* Says how many events the kernel counts as read that were not seen; damaged:
 * pages of the ring were. */
void ring_tell_missing(const char *input, int32_t cpu, uint64_t n,
		       bool damaged);
/* Says how many events could not be read. */
void ring_tell_left(const char *input, int32_t cpu, uint64_t n);
#endif
