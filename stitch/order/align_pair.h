/* align_pair.h - compares the clocks of two captures. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"

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

/* What the user told about the machine. */
struct align_said {
	bool has_sched; /* sched: local_clock() minus sched_clock(), ns */
	int64_t sched;
};

/* Why two captures do not fit together. */
enum align_why {
	WHY_NOT_ASKED,
	WHY_NO_TIME, /* one has no times, or none that could be examined */
	WHY_CLOCKS,  /* no method applies to the two clocks */
	WHY_APART,   /* one ended before the other began */
	/* From here on: proofs that the captures are not of one run. */
	WHY_HOST,
	WHY_RELEASE,
	WHY_BOOT,
	WHY_WALL,    /* the same clock, but started at different times */
	WHY_EVENTS,  /* the same clock, but equal events have different times */
	WHY_MISSING, /* the switches of one are missing in the other */
};

struct align_link {
	enum align_method method; /* 0: none; see why */
	enum align_why why;
	struct clock_map map;
	int64_t error;
	uint64_t pairs;
	uint64_t found; /* switches that occur once in both */
	int64_t away;	/* WHY_APART, WHY_EVENTS, WHY_WALL: distance in ns */
	bool proved;	/* of the same kernel at the same time */
	bool strangers; /* thread ids of the two mean different threads, even
			 * if proved */
	bool part;	/* a has, in its time, all switches of b, and no others:
			 * what it tells of a third one, b does */
};

/* The least error that a link has. */
#define ALIGN_LEAST 1000

/* Returns whether what the two say of their machines proves that they are not
 * of one run. */
bool align_other_machine(const struct align_in *a, const struct align_in *b);

/* Compares the clocks of two captures. Fills *out with the best method that is
 * not refuted, which maps times of a to b, or with method 0 and the reason.
 * far: whether equal events are looked for in captures that are far apart by
 * the clock that both have: they can only tell better why these do not fit. */
void align_pair(const struct align_in *a, const struct align_in *b,
		const struct align_said *said, bool far,
		struct align_link *out);
