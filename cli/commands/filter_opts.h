/* filter_opts.h - the options that say which samples a command reads, and which
 * time off the CPU.
 *
 * Commands hand the filter on to what reads a database. */
#pragma once
#include "cli/args/command.h"
#include "analyze/samples/filter.h"

/* What was given of them. */
extern struct filter filter;
/* --time -C --pid --tid --comm --cgroup --event: for OPT_GROUP */
extern const struct opt filter_opts[];
/* --filter, of commands that read samples by stacks_load() */
extern const struct opt filter_expr_opts[];

/* --by, for OPT_GROUP; returns whether it was given, and whether each sample
 * weighs 1: --by samples. */
extern const struct opt by_opts[];
bool by_given(void);
bool by_samples(void);

/* --off-cpu, and --wall --state: for OPT_GROUP; --state is in the filter */
struct offcpu_opts {
	bool on;
	bool wall; /* waits beside samples, see analyze/waits/wall.h */
};
extern struct offcpu_opts offcpu_opts;
extern const struct opt offcpu_opt_table[], wall_opt_table[];
/* Returns 0, or -1 and *err if --state is wrong or options exclude each other.
 */
int offcpu_check(struct err *err);
