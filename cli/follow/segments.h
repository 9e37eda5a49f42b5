/* segments.h - the folder of segments that follow makes.
 *
 * segment-000001.db is a finished database. .segment-000002.data is the part of
 * the stream that is being received, or waits to be read; nobody else looks at
 * it, and what a killed run left behind is read by the next one. */
#ifndef CLI_FOLLOW_SEGMENTS_H
#define CLI_FOLLOW_SEGMENTS_H
#include <stdbool.h>
#include <stdint.h>

struct err;

#define SEGMENT_PATH 4096

/* A limit in time or in bytes; 0: none. */
struct segment_limit {
	int64_t ns;
	uint64_t bytes;
};

/* Reads "10s", "5m", "2h", "64M" or "4G". Returns 0, or -1 and *err. */
int segments_limit(const char *opt, const char *text, struct segment_limit *out,
		   struct err *err);
/* Makes the folder if it is not there. Stores the highest number that is used,
 * and the lowest of a part that was left behind, 0 if there is none. Returns 0,
 * or -1 and *err. */
int segments_open(const char *dir, uint32_t *last, uint32_t *left,
		  struct err *err);
/* Writes the name of a database or of a part of the stream. */
void segments_name(const char *dir, uint32_t number, bool database,
		   char out[SEGMENT_PATH]);
/* Removes the oldest databases beyond the limit, but never the newest. Returns
 * how many. */
uint32_t segments_keep(const char *dir, const struct segment_limit *keep);
#endif
