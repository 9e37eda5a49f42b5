/* align.h - puts all captures on one timeline.
 *
 * The timeline is the clock of one capture, the reference. Every other capture
 * is connected to it by pairs of captures whose clocks one of the methods can
 * compare, so that the sum of errors is smallest (backstitch-formats(5),
 * "Alignment"). Also finds out which captures are of one kernel. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"

struct err;
struct fingerprints;
struct source_info;

/* Methods, the most trusted first. */
enum align_method {
	ALIGN_REFERENCE = 1, /* its clock is the timeline */
	ALIGN_GIVEN,	     /* the user gave the offset */
	ALIGN_HOST,	     /* a guest whose times are on its host's clock */
	ALIGN_SAME,	     /* the same clock */
	ALIGN_TSC,	     /* by perf's PERF_RECORD_TIME_CONV */
	ALIGN_SCHED,	     /* by the kernel's sched_clock offset */
	ALIGN_EVENTS,	     /* by events that both recorded */
	ALIGN_WALL,	     /* by wall time that both noted */
};

/* What is known about a capture. All pointers are borrowed. */
struct align_in {
	const char *path;
	const struct source_info *info;
	const struct fingerprints *fingerprints;
	bool given; /* offset is valid: ns to add to its times */
	int64_t offset;
	size_t host; /* the capture whose clock info->on uses; SIZE_MAX: none */
};

/* Facts about the machine that the user gave. */
struct align_report {
	bool has_sched; /* sched: local_clock() minus sched_clock(), ns */
	int64_t sched;
};

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
		   const struct align_report *said, struct align_out *out,
		   struct err *err);
