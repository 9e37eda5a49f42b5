/* diff_limit.c - how much a comparison lets something grow: --fail-above. */
#include "cli/tables/diff_limit.h"

#include <math.h>
#include <regex.h>

#include "analyze/names/pattern.h"
#include "cli/output/say.h"
#include "stitch/text/parse_number.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define LINES 10

static const char *fail_above, *function_pattern;
static double limit;
static regex_t functions; /* of function_pattern */

const struct opt diff_limit_opts[] = {
	OPT_STRING(0, "fail-above", "PERCENT", &fail_above,
		   "with --diff: status 4 if something grew by more"),
	OPT_STRING(0, "function", "REGEX", &function_pattern,
		   "with --fail-above: if one of these functions did"),
	{ .kind = OPT_END }
};

struct diff_grown {
	char *name;
	double percent, p;
};

static bool diff_limit_parse(const char *s)
{
	int64_t v;

	if (parse_decimal(&s, 9, &v) || s[*s == '%'])
		return false;
	limit = (double)v / 1e9;
	return limit < 1e6;
}

int diff_limit_check(bool diff, struct err *err)
{
	if (!fail_above && function_pattern)
		return err_set(err, ERR_USAGE,
			       "--function says what --fail-above looks at: "
			       "add it");
	if (!fail_above)
		return 0;
	if (!diff)
		return err_set(err, ERR_USAGE, "--fail-above needs --diff");
	if (!diff_limit_parse(fail_above))
		return err_set(err, ERR_USAGE,
			       "--fail-above needs a percentage such as 0.5, "
			       "not '%s'",
			       fail_above);
	return function_pattern ? pattern_compile(&functions, "function",
						  function_pattern, err)
				: 0;
}

bool diff_limit_of_functions(void)
{
	return function_pattern;
}

bool diff_limit_looks(struct diff_limit *l, const char *function)
{
	bool looks = !function_pattern ||
		     (function && !regexec(&functions, function, 0, NULL, 0));

	l->looked |= looks;
	return looks;
}

void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p)
{
	if (fail_above && percent > limit)
		*mem_add(l->item, l->n, l->cap) =
			(struct diff_grown){ mem_strdup(name), percent, p };
}

COMPARE_FUNCTION(diff_limit_compare, struct diff_grown,
		 compare_numbers(y->percent, x->percent)
			 ?: strcmp(x->name, y->name));

int diff_limit_end(struct diff_limit *l, int status)
{
	/* a gate that looks at nothing lets everything pass */
	if (function_pattern && !l->looked)
		say_note(
			"no function is called '%s': 'backstitch report --diff "
			"--inline' has what was inlined; what jumped to what "
			"it called last (a tail call) counts for others\n",
			function_pattern);
	if (!l->n)
		return status;
	sort_items(l->item, l->n, diff_limit_compare);
	for (size_t i = 0; i < l->n && i < LINES; i++) {
		char p[24] = "new";

		if (!isnan(l->item[i].p))
			snprintf(p, sizeof(p), "p %.1e", l->item[i].p);
		say("grew by more than %s%s: %s, %+.2f %% (%s)\n", fail_above,
		    strchr(fail_above, '%') ? "" : " %", l->item[i].name,
		    l->item[i].percent, p);
	}
	if (l->n > LINES)
		say("and %zu more\n", l->n - LINES);
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i].name);
	free(l->item);
	*l = (struct diff_limit){ 0 };
	return STATUS_LOSS;
}
