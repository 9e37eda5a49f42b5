/* cost.h - what recording a program costs and tells, by running it in each way
 * that is possible, in turn. */
#pragma once
#include <stdbool.h>

struct err;
struct plan_wants;
struct record_code;

/* What is asked for. */
struct cost_opts {
	bool dry_run; /* only say what would run */
	bool json;
};

/* Runs the program without perf and with each way, several times, and prints
 * the table; nothing that the program prints is shown. code: of the program.
 * Returns 0, or -1 and *err, also if a run fails. */
int cost_measure(const struct plan_wants *want, const struct record_code *code,
		 const struct cost_opts *o, struct err *err);
