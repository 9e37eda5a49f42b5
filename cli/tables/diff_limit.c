/* diff_limit.c - the limit of growth in a comparison (--fail-above). */
#include "cli/tables/diff_limit.h"

#include <math.h>

#include "analyze/diffs/compare.h"
#include "analyze/diffs/diff_rows.h"
#include "analyze/names/pattern.h"
#include "analyze/stacks/label.h"
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

/* Returns by how much a row grew, in percent of the whole. If it was renamed,
 * the change of its old name is added. */
static double diff_limit_growth(const struct compare *c, uint32_t row,
				bool total)
{
	double growth = diff_rows_growth(c->d, row, total);

	if (c->renamed && c->renamed[row] != REPORT_NONE)
		growth += diff_rows_growth(c->d, c->renamed[row], total);
	return growth;
}

int diff_limit_rows(struct diff_limit *l, const struct compare *c, bool total,
		    diff_limit_name_fn *name, const void *arg, int status)
{
	const struct diff_rows *d = c->d;
	bool few = d->side[0].runs < 2 || d->side[1].runs < 2;
	double open = l->percent; /* the largest growth that is not judged */
	uint32_t open_row = REPORT_NONE;
	bool looked = false;

	if (!l->above)
		return status;
	for (uint32_t i = 0; i < d->n; i++) {
		const char *function =
			d->keys & KEY_SYM ? diff_rows_label(d, i)->name : NULL;
		int by = diff_rows_grew(d, i, total);

		if (l->function &&
		    (!function || regexec(&l->functions, function, 0, NULL, 0)))
			continue;
		looked = true;
		if (by >= 0) {
			const struct diff_place *p = &d->place[by][i];
			char *of OWNED = name(arg, i);

			diff_limit_add(l, of, diff_limit_growth(c, i, by),
				       p->only ? NAN : p->p);
		} else if (l->percent > 0 &&
			   (d->row[i].unknown ||
			    (few && (d->between > 0 ||
				     diff_rows_doubtful(d, i, total) > 0)))) {
			double growth = diff_limit_growth(c, i, total);

			if (growth > open) {
				open = growth;
				open_row = i;
			}
		}
	}
	/* a limit on a function that does not exist would always pass */
	if (l->function && !looked)
		say_note("no function is called '%s': 'backstitch diff "
			 "--inline' has what was inlined; what jumped to what "
			 "it called last (a tail call) counts for others\n",
			 l->function);
	if (l->n || open_row == REPORT_NONE)
		return diff_limit_end(l, status);

	char *of OWNED = name(arg, open_row);

	say("cannot be judged: %s, %+.2f %%: %s\n", of, open,
	    d->row[open_row].unknown ?: DIFF_LIMIT_FEW);
	return STATUS_UNJUDGED;
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
	if (!l->n)
		return status;
	sort_items(l->item, l->n, diff_limit_compare);
	for (size_t i = 0; i < l->n && i < LINES; i++) {
		char p[24] = "new", by[32] = "none in A";

		if (!isnan(l->item[i].p))
			snprintf(p, sizeof(p), "p %.1e", l->item[i].p);
		if (isfinite(l->item[i].percent))
			snprintf(by, sizeof(by), "%+.2f %%",
				 l->item[i].percent);
		say("grew by more than %s%s: %s, %s (%s)\n", l->above,
		    strchr(l->above, '%') ? "" : " %", l->item[i].name, by, p);
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
