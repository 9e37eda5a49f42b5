/* name_opts.c - the options that say how functions are named, where their
 * source is, and what is compared with what. */
#include "cli/commands/name_opts.h"

#include "analyze/stacks/interpreter.h"
#include "stitch/base/err.h"

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

static struct opt_list match;

const struct opt matching_opts[] = {
	OPT_LIST(0, "match", "OLD=NEW", &match,
		 "of a comparison: the image OLD of A is NEW of B"),
	{ .kind = OPT_END }
};

struct diff_limit diff_limit;

const struct opt diff_limit_opts[] = {
	OPT_STRING(0, "fail-above", "PERCENT", &diff_limit.above,
		   "of a comparison: status 4 if something grew by more"),
	OPT_STRING(0, "function", "REGEX", &diff_limit.function,
		   "with --fail-above: if one of these functions did"),
	{ .kind = OPT_END }
};

struct match_opts match_opts(void)
{
	return (struct match_opts){ match.item, match.n, chosen_names.full };
}

int diff_opts_check(bool diff, struct err *err)
{
	if (match.n && !diff)
		return err_set(err, ERR_USAGE, "--match needs --diff");
	if (!diff_limit.above && diff_limit.function)
		return err_set(err, ERR_USAGE,
			       "--function says what --fail-above looks at: "
			       "add it");
	if (diff_limit.above && !diff)
		return err_set(err, ERR_USAGE, "--fail-above needs --diff");
	return diff_limit_read(&diff_limit, err);
}
