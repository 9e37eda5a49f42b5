/* group_reads.h - computes what the members of event groups counted between
 * samples.
 *
 * A sample of a group has the value of each member since the member was enabled
 * (READ). The weight of a member is the difference to its last value, in the
 * same thread if the values are of threads. A value smaller than the last one,
 * from a late record, has no difference; nor has a value for which there is no
 * room, as memory is bounded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct group_value;

/* The last value of a member. */
struct group_read {
	uint64_t id, value;
	uint32_t thread;
	uint16_t source;
};

/* All zeros: empty. */
struct group_reads {
	struct group_read *read;
	size_t n, cap;
	struct table by_key;
	uint64_t refused; /* values that had no difference */
};

void group_reads_release(struct group_reads *g);
/* Stores in *n what a member of a capture counted since its last sample.
 * thread: row id of the thread whose value it is; 0: not a thread's value.
 * Returns false if the value has no difference. */
bool group_reads_since(struct group_reads *g, uint16_t source, uint32_t thread,
		       const struct group_value *m, uint64_t *n);
