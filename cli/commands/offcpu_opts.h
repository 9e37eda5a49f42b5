/* offcpu_opts.h - the options that ask for the time off the CPU. */
#pragma once
#include <stdbool.h>

#include "cli/command.h"

/* --off-cpu, and --wall --state: for OPT_GROUP; --state is in the filter */
struct offcpu_opts {
	bool on;
	bool wall; /* waits beside samples, see cli/waits/wall.h */
};
extern struct offcpu_opts offcpu_opts;
extern const struct opt offcpu_opt_table[], wall_opt_table[];
/* Returns 0, or -1 and *err if --state is wrong or options exclude each other.
 */
int offcpu_check(struct err *err);
