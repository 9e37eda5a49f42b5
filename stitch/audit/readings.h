/* readings.h - reads the numbers of lost records in samples (PERF_FORMAT_LOST).
 *
 * A sample that reads its counters may contain, for each event of its group,
 * how many records of that event were dropped so far (Linux 6.0). If the number
 * grows from one sample to the next, records of that event were dropped in
 * between. LOST records report the same drops for the whole ring. */
#pragma once
#include <stdint.h>

struct readings;
struct rec_sample;

struct readings *readings_new(void);
void readings_free(struct readings *rd);
/* n records of one event were dropped in (since, time of the sample]. */
typedef void readings_fn(void *arg, uint64_t n, int64_t since);
/* Calls fn for each event of the sample whose number grew. */
void readings_sample(struct readings *rd, const struct rec_sample *s,
		     int64_t time, readings_fn *fn, void *arg);
