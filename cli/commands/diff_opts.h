/* diff_opts.h - the options of a comparison: which images are the same, and how
 * much may grow. */
#pragma once
#include "analyze/names/matching.h"
#include "cli/args/command.h"
#include "cli/tables/diff_limit.h"

struct err;

/* --match; --fail-above --function: for OPT_GROUP */
extern const struct opt matching_opts[], diff_limit_opts[];
/* What was given of --fail-above --function. */
extern struct diff_limit diff_limit;

/* Returns what --match says, and --full-names. */
struct match_opts match_opts(void);
/* Checks that --match and --fail-above are given with a comparison only, and
 * reads the latter. Returns 0, or -1 and *err. */
int diff_opts_check(bool diff, struct err *err);
