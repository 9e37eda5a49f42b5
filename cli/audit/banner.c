/* banner.c - the verdict of check, its figures and its advice, for the top of
 * the HTML page. */
#include "cli/audit/banner.h"

#include "cli/output/lines.h"
#include "stitch/base/mem.h"

static void banner_take_advice(void *arg, const char *sentence)
{
	fprintf(arg, "%s\n", sentence);
}

int banner_read(struct store *db, const char *path, const struct filter *filter,
		struct banner *b, struct err *err)
{
	struct check c = {
		.db = db, .path = path, .filter = filter, .banner = true
	};
	struct lines l = { .len = 0 };
	FILE *advice;
	int rc = -1;

	*b = (struct banner){ .word = "" };
	if (check_filters(&c, err) || check_judge(&c, err) ||
	    check_sum(&c, "findings", "findings", &b->findings, err))
		goto out;
	b->word = check_verdict(&c);
	lines_add(&l, "%s: ", b->word);
	check_say_verdict(&c, &l);
	snprintf(b->verdict, sizeof(b->verdict), "%s", l.text);
	trust_say(c.trust, b->trust);
	b->breaks = c.breaks;
	advice = mem_stream(&b->advice, NULL);
	rc = check_advice(&c, banner_take_advice, advice, err);
	mem_stream_end(advice);
out:
	check_forget(&c);
	free(c.prefix);
	return rc;
}

void banner_release(struct banner *b)
{
	free(b->advice);
}
