/* diff_limit.c - how much a comparison lets something grow: --fail-above. */
#include "cli/model/diff_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/safe_text.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define LINES 10

static const char *fail_above;
static double limit;

const struct opt diff_limit_opts[] = {
	OPT_STRING(0, "fail-above", "PERCENT", &fail_above,
		   "with --diff: status 4 if something grew by more"),
	{ .kind = OPT_END }
};

struct diff_grown {
	char *name;
	double percent, p;
};

/* strtod() would want "0,1" in some locales. */
static bool diff_limit_parse(const char *s)
{
	double scale = 1;
	bool point = false;
	bool any = false;

	limit = 0;
	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		any = true;
		scale /= point ? 10 : 1;
		limit = point ? limit + scale * (*s - '0')
			      : limit * 10 + (*s - '0');
	}
	return any && !s[*s == '%'] && limit < 1e6;
}

int diff_limit_check(bool diff, struct err *err)
{
	if (!fail_above)
		return 0;
	if (!diff)
		return err_set(err, ERR_USAGE, "--fail-above needs --diff");
	if (!diff_limit_parse(fail_above))
		return err_set(err, ERR_USAGE,
			       "--fail-above needs a percentage such as 0.5, "
			       "not '%s'",
			       fail_above);
	return 0;
}

void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p)
{
	if (fail_above && percent > limit)
		*mem_add(l->item, l->n, l->cap) =
			(struct diff_grown){ mem_strdup(name), percent, p };
}

static int diff_limit_compare(const void *pa, const void *pb)
{
	const struct diff_grown *a = pa;
	const struct diff_grown *b = pb;

	return compare_numbers(b->percent, a->percent)
		       ?: strcmp(a->name, b->name);
}

int diff_limit_end(struct diff_limit *l, int status)
{
	if (!l->n)
		return status;
	qsort(l->item, l->n, sizeof(*l->item), diff_limit_compare);
	for (size_t i = 0; i < l->n && i < LINES; i++) {
		fputs("grew by more than ", stderr);
		safe_text_put(stderr, fail_above, 0, 0);
		fprintf(stderr, "%s: ", strchr(fail_above, '%') ? "" : " %");
		safe_text_put(stderr, l->item[i].name, 0, 0);
		fprintf(stderr, ", %+.2f %% (p %.1e)\n", l->item[i].percent,
			l->item[i].p);
	}
	if (l->n > LINES)
		fprintf(stderr, "and %zu more\n", l->n - LINES);
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i].name);
	free(l->item);
	*l = (struct diff_limit){ 0 };
	return STATUS_LOSS;
}
