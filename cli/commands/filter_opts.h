/* filter_opts.h - the options that say which samples a command reads.
 *
 * Commands hand the filter on to what reads a database. */
#pragma once
#include "cli/command.h"
#include "cli/samples/filter.h"

/* What was given of them. */
extern struct filter filter;
/* --time -C --pid --tid --comm --cgroup --event: for OPT_GROUP */
extern const struct opt filter_opts[];
/* --filter, of commands that read samples by stacks_load() */
extern const struct opt filter_expr_opts[];
