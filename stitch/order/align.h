/* align.h - one timeline for the captures of a run: which clock leads to
 * which, how exactly, and which captures are of one kernel.
 *
 * The timeline is the clock of one capture, the reference. Every other finds
 * its way there over pairs of captures whose clocks go together by one of the
 * methods, so that the sum of the errors is smallest (backstitch-formats(5),
 * "Alignment"). */
#ifndef STITCH_ORDER_ALIGN_H
#define STITCH_ORDER_ALIGN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/order/align_pair.h"

struct err;

/* The word of a method; NULL: there is none. */
const char *align_method_name(unsigned int method);

#define ALIGN_UNKNOWN (-1)

struct align_out {
	enum align_method method;
	struct clock_map map;
	int64_t error;	 /* ns; ALIGN_UNKNOWN: the user did not say */
	uint64_t pairs;	 /* equal events that agree with it */
	uint16_t parent; /* over which capture; itself: the reference */
	uint16_t line;	 /* the first capture of the same kernel at the same
			  * time, as far as that is proved; or itself */
};

/* Fills out[0..n), or gives -1 and *err: which two do not go together, why,
 * and what would help. */
int align_captures(const struct align_in *in, size_t n,
		   const struct align_said *said, struct align_out *out,
		   struct err *err);
#endif
