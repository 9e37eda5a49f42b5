/* group_reads.h - what the members of event groups counted from one sample to
 * the next.
 *
 * A sample of a group has the value of each member since the member was
 * enabled (READ). The weight of a member is the difference to its last value,
 * in the same thread if the values are of threads. A value smaller than the
 * last one, which is of a late record, has no difference; nor has a value for
 * which there is no room, as memory is bounded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct group_reads;
struct group_value;

struct group_reads *group_reads_new(void);
void group_reads_free(struct group_reads *g);
/* Stores in *n what a member of a capture counted since its last sample.
 * thread: row id of the thread that the value is of, 0: not of one. Returns
 * false if the value has no difference. */
bool group_reads_since(struct group_reads *g, uint16_t source, uint32_t thread,
		       const struct group_value *m, uint64_t *n);
/* Returns how many values had no difference. */
uint64_t group_reads_refused(const struct group_reads *g);
