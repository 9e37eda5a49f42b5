/* align.h - puts all captures on one timeline.
 *
 * The timeline is the clock of one capture, the reference. Every other capture
 * is connected to it by pairs of captures whose clocks one of the methods can
 * compare, so that the sum of errors is smallest (backstitch-formats(5),
 * "Alignment"). Also finds out which captures are of one kernel. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/order/align_pair.h"

struct err;

/* Returns the word for a method, or NULL. */
const char *align_method_name(unsigned int method);

#define ALIGN_UNKNOWN (-1)

struct align_out {
	enum align_method method;
	struct clock_map map;
	int64_t error;	/* ns; ALIGN_UNKNOWN: the user gave no error */
	uint64_t pairs; /* number of equal events that agree */
	uint16_t line;	/* the first capture that is proved to be of the same
			 * kernel at the same time; or itself */
};

/* Fills out[0..n). Returns 0, or -1 and *err, which names two captures that do
 * not fit, the reason, and what would help. */
int align_captures(const struct align_in *in, size_t n,
		   const struct align_said *said, struct align_out *out,
		   struct err *err);
