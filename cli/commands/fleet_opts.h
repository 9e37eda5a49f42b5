/* fleet_opts.h - the options that say what the rows of a fleet are. */
#pragma once
#include "analyze/fleet/fleet.h"
#include "cli/args/command.h"

/* --label and --weighted: for OPT_GROUP(). */
extern const struct opt fleet_opts[];
/* Stores what they ask for, with a filter, which is borrowed. Returns 0, or -1
 * and *err if one is malformed. */
int fleet_opts_read(struct fleet_ask *out, const struct filter *filter,
		    struct err *err);
