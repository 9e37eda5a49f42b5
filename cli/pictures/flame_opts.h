/* flame_opts.h - what a flame graph shows: the options of the command flame. */
#pragma once
#include <stdbool.h>

#include "cli/command.h"

struct filter;

struct flame_opts {
	const struct filter *filter; /* which samples; borrowed */
	const char *out_path, *title, *subtitle, *minwidth, *colors;
	long width;
	bool reverse, inverted, upward, by_pid, by_thread, by_verdict, no_comm,
		from_folded, inlined, inlined_rows, collapse;
	struct opt_list include, exclude; /* regular expressions */
	bool diff, absolute, wakeups, by_state;
	bool wall; /* waits beside samples */
	const char *diff_by, *weight;
	const char *latency; /* a kind of intervals, as report --latency */
};
