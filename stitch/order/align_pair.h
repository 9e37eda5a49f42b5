/* align_pair.h - how the clock of one capture leads to another's. */
#ifndef STITCH_ORDER_ALIGN_PAIR_H
#define STITCH_ORDER_ALIGN_PAIR_H
#include "stitch/order/align.h"
#include "stitch/order/clock_fit.h"

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
