/* name_opts.c - the options that say how functions are named, and where their
 * source is. */
#include "cli/commands/name_opts.h"

#include "analyze/stacks/interpreter.h"

struct name_opts chosen_names;

const struct opt full_names_opts[] = {
	OPT_FLAG(0, "full-names", &chosen_names.full,
		 "names with parameters and all template arguments"),
	{ .kind = OPT_END }
};

const struct opt library_opts[] = {
	OPT_FLAG(0, "fold-library", &chosen_names.fold_library,
		 "inlined library code counts for its caller"),
	OPT_STRING(0, "library", "REGEX", &chosen_names.library,
		   "the same, and what REGEX matches is library"),
	{ .kind = OPT_END }
};

const struct opt suffix_opts[] = {
	OPT_FLAG(0, "fold-suffixes", &chosen_names.fold_suffixes,
		 "names without .isra.0, .cold, hashes and the like"),
	{ .kind = OPT_END }
};

const struct opt interpreter_opts[] = {
	OPT_CHOICE(0, "interpreter", "HOW", &chosen_names.interpreter,
		   interpreter_words,
		   "frames of an interpreter's own (CPython, Node, Perl, Ruby, "
		   "Lua, JVM): keep (default), mark, or collapse into one, or "
		   "none where the frames of the program are in the stack"),
	{ .kind = OPT_END }
};

struct opt_list source_dirs;

const struct opt source_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_LIST(0, "source-dir", "DIR", &source_dirs,
		 "look for source files below DIR too, by the end of their "
		 "path; may be given several times"),
	{ .kind = OPT_END }
};
