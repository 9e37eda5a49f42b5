/* name_opts.h - the options that say how functions are named, where their
 * source is, and what is compared with what. */
#pragma once
#include "analyze/names/matching.h"
#include "analyze/names/name_opts.h"
#include "cli/args/command.h"
#include "cli/tables/diff_limit.h"

/* What was given of them. */
extern struct name_opts chosen_names;
/* --full-names; --fold-library --library; --fold-suffixes; --interpreter: for
 * OPT_GROUP */
extern const struct opt full_names_opts[], library_opts[], suffix_opts[],
	interpreter_opts[];

/* --source-dir, and what was given. */
extern struct opt_list source_dirs;
extern const struct opt source_opts[];

/* --match; --fail-above --function: for OPT_GROUP */
extern const struct opt matching_opts[], diff_limit_opts[];
/* What was given of --fail-above --function. */
extern struct diff_limit diff_limit;

/* Returns what --match says, and --full-names. */
struct match_opts match_opts(void);
/* Checks that --match and --fail-above are given with a comparison only, and
 * reads the latter. Returns 0, or -1 and *err. */
int diff_opts_check(bool diff, struct err *err);
