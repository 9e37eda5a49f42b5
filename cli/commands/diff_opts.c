/* diff_opts.c - the options of a comparison. */
#include "cli/commands/diff_opts.h"

#include "cli/commands/name_opts.h"
#include "stitch/base/err.h"

static struct opt_list match;

const struct opt matching_opts[] = {
	OPT_LIST(0, "match", "OLD=NEW", &match,
		 "with --diff: the image OLD of A is NEW of B"),
	{ .kind = OPT_END }
};

struct diff_limit diff_limit;

const struct opt diff_limit_opts[] = {
	OPT_STRING(0, "fail-above", "PERCENT", &diff_limit.above,
		   "with --diff: status 4 if something grew by more"),
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
