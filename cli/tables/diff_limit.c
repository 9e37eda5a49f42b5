/* diff_limit.c - how much a comparison lets something grow. */
#include "cli/tables/diff_limit.h"

#include <math.h>

#include "analyze/names/pattern.h"
#include "cli/args/status.h"
#include "cli/output/say.h"
#include "stitch/text/parse_number.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define LINES 10

struct diff_grown {
	char *name;
	double percent, p;
};

int diff_limit_read(struct diff_limit *l, struct err *err)
{
	const char *s = l->above;
	int64_t v;

	if (!s)
		return 0;
	if (parse_decimal(&s, 9, &v) || s[*s == '%'] ||
	    (l->percent = (double)v / 1e9) >= 1e6)
		return err_set(err, ERR_USAGE,
			       "--fail-above needs a percentage such as 0.5, "
			       "not '%s'",
			       l->above);
	return l->function ? pattern_compile(&l->functions, "function",
					     l->function, err)
			   : 0;
}

bool diff_limit_looks(struct diff_limit *l, const char *function)
{
	bool looks =
		!l->function ||
		(function && !regexec(&l->functions, function, 0, NULL, 0));

	l->looked |= looks;
	return looks;
}

void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p)
{
	if (l->above && percent > l->percent)
		*mem_add(l->item, l->n, l->cap) =
			(struct diff_grown){ mem_strdup(name), percent, p };
}

COMPARE_FUNCTION(diff_limit_compare, struct diff_grown,
		 compare_numbers(y->percent, x->percent)
			 ?: strcmp(x->name, y->name));

int diff_limit_end(struct diff_limit *l, int status)
{
	/* a gate that looks at nothing lets everything pass */
	if (l->function && !l->looked)
		say_note("no function is called '%s': 'backstitch diff "
			 "--inline' has what was inlined; what jumped to what "
			 "it called last (a tail call) counts for others\n",
			 l->function);
	if (!l->n)
		return status;
	sort_items(l->item, l->n, diff_limit_compare);
	for (size_t i = 0; i < l->n && i < LINES; i++) {
		char p[24] = "new";

		if (!isnan(l->item[i].p))
			snprintf(p, sizeof(p), "p %.1e", l->item[i].p);
		say("grew by more than %s%s: %s, %+.2f %% (%s)\n", l->above,
		    strchr(l->above, '%') ? "" : " %", l->item[i].name,
		    l->item[i].percent, p);
	}
	if (l->n > LINES)
		say("and %zu more\n", l->n - LINES);
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i].name);
	free(l->item);
	l->item = NULL;
	l->n = l->cap = 0;
	return STATUS_LOSS;
}
