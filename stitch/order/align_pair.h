/* align_pair.h - how the clock of one capture leads to another's. */
#ifndef STITCH_ORDER_ALIGN_PAIR_H
#define STITCH_ORDER_ALIGN_PAIR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"

struct prints;
struct source_info;

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

/* Why two captures do not go together. */
enum align_why {
	WHY_NOT_ASKED,
	WHY_NO_TIME, /* one has no times, or none that could be looked at */
	WHY_CLOCKS,  /* no method leads from one clock to the other */
	WHY_APART,   /* one had ended before the other began */
	/* From here on they cannot be of one run. */
	WHY_HOST,
	WHY_RELEASE,
	WHY_BOOT,
	WHY_WALL,    /* one clock, that was started at other times */
	WHY_EVENTS,  /* one clock, but equal events are not at equal times */
	WHY_MISSING, /* the switches of one are not in the other */
};

struct align_link {
	enum align_method method; /* 0: none, and why */
	enum align_why why;
	struct clock_map map;
	int64_t error;
	uint64_t pairs;
	uint64_t found; /* switches that are once in both */
	int64_t away;	/* ns: APART, EVENTS, WALL: by how much */
	bool proved;	/* the same kernel at the same time */
	bool strangers; /* whatever proves that: threads of one id are not the
			 * same ones */
};

void align_pair(const struct align_in *a, const struct align_in *b,
		const struct align_said *said, struct align_link *out);
#endif
