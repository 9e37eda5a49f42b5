/* readings.h - counts of lost records inside samples (PERF_FORMAT_LOST).
 *
 * A sample that reads its counters may carry, for each event of its group,
 * how many records of that event were dropped so far (Linux 6.0): a number
 * that grows between two samples tells of drops in between, of that event
 * alone. LOST records tell of the same drops for the ring as a whole. */
#ifndef STITCH_AUDIT_READINGS_H
#define STITCH_AUDIT_READINGS_H
#include <stdint.h>

struct readings;
struct rec_sample;

struct readings *readings_new(void);
void readings_free(struct readings *rd);
/* The records of one event dropped in (since, time of the sample]. */
typedef void readings_fn(void *arg, uint64_t n, int64_t since);
/* Calls fn for each event of the sample whose count grew. */
void readings_sample(struct readings *rd, const struct rec_sample *s,
		     int64_t time, readings_fn *fn, void *arg);
#endif
