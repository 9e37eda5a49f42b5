/* check_json.c - check --json: the result of each statement. */
#include <string.h>

#include "cli/audit/check.h"
#include "cli/output/json_rows.h"
#include "stitch/text/json.h"

static void check_json_sentence(void *arg, const char *sentence)
{
	json_text(arg, NULL, sentence);
}

int check_print_json(struct check *c, struct err *err)
{
	struct json j;
	int ret;

	json_answer(&j, stdout, JSON_COMPACT);
	json_lines(&j);
	json_text(&j, "database", c->path);
	json_text(&j, "verdict", check_verdict(c));
	json_bool(&j, "clean", !strcmp(check_verdict(c), "clean"));
	json_int(&j, "status", check_status(c));
	json_bool(&j, "tolerated", c->breaks.tolerated);
	json_bool(&j, "filtered", filter_given(c->filter));
	trust_put_json(c->trust, &j);
	for (const struct check_query *q = check_queries; q->name; q++) {
		struct rows *r;

		if (!check_asks(c, q) || json_failed(&j))
			continue;
		/* rows are written as they are read, since evidence may be of
		 * any size */
		r = check_rows(c, q, check_limit(c, q), err);
		if (!r)
			return -1;
		ret = q->one ? json_row(&j, q->name, r, err)
			     : json_rows(&j, q->name, r, err);
		if (!q->one)
			json_newline(&j);
		rows_close(r);
		if (ret)
			return -1;
	}
	json_array(&j, "advice");
	ret = check_advice(c, check_json_sentence, &j, err);

	json_end(&j);
	json_finish(&j);
	return ret;
}
