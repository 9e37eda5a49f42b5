/* align.h - one timeline for the captures of a run: which clock leads to
 * which, how exactly, and which captures are of one kernel.
 *
 * The timeline is the clock of one capture, the reference. Every other finds
 * its way there over pairs of captures whose clocks go together by one of the
 * methods, so that the sum of the errors is smallest (formats.md F.2). */
#ifndef STITCH_ORDER_ALIGN_H
#define STITCH_ORDER_ALIGN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/order/clocks.h"

struct err;
struct prints;

/* In the order of trust, where several apply. */
enum align_method {
	ALIGN_REFERENCE = 1, /* its clock is the timeline */
	ALIGN_GIVEN,	     /* the user says the offset */
	ALIGN_HOST,	     /* a guest's times, on its host's clock already */
	ALIGN_SAME,	     /* the same clock */
	ALIGN_TSC,	     /* by perf's TIME_CONV */
	ALIGN_SCHED,	     /* by the kernel's sched_clock offset */
	ALIGN_EVENTS,	     /* by the events that are in both */
	ALIGN_WALL,	     /* by wall time, noted in both */
};

/* The word of a method; NULL: there is none. */
const char *align_method_name(unsigned int method);

/* What is known of a capture. All borrowed. */
struct align_in {
	const char *path;
	const struct source_info *info;
	const struct prints *prints;
	bool given; /* offset: ns that lead to the timeline */
	int64_t offset;
	size_t host; /* whose clock info->on is; SIZE_MAX: none */
};

/* What the user knows of the machine. */
struct align_said {
	bool has_sched; /* local_clock() less sched_clock(), ns */
	int64_t sched;
};

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
