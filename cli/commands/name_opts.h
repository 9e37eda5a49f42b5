/* name_opts.h - the options that say how functions are named, and where their
 * source is. */
#pragma once
#include "analyze/names/name_opts.h"
#include "cli/args/command.h"

/* What was given of them. */
extern struct name_opts chosen_names;
/* --full-names; --fold-library --library; --fold-suffixes; --interpreter: for
 * OPT_GROUP */
extern const struct opt full_names_opts[], library_opts[], suffix_opts[],
	interpreter_opts[];

/* --source-dir, and what was given. */
extern struct opt_list source_dirs;
extern const struct opt source_opts[];
