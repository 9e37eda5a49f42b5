/* check_json.c - check --json: the result of each statement, and --sql: its
 * text. */
#include <string.h>

#include "analyze/check/check.h"
#include "cli/args/status.h"
#include "cli/check/check_print.h"
#include "cli/output/json_rows.h"
#include "stitch/text/json.h"

static void check_json_sentence(void *arg, const char *sentence)
{
	json_text(arg, NULL, sentence);
}

int check_status(const struct check *c)
{
	return c->breaks.bad ? STATUS_LOSS
	       : c->damaged  ? STATUS_DAMAGED
			     : STATUS_OK;
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

/* ---- --sql */

/* Writes a statement with a literal for each ?N, since the SQL shell of the
 * user binds nothing. Only a parameter has a number after a question mark:
 * names and patterns of the filters are bound values. */
static void put_bound(const struct check *c, const char *sql, FILE *out)
{
	while (*sql) {
		char *end = NULL;
		unsigned long i = *sql == '?' ? strtoul(sql + 1, &end, 10) : 0;

		if (!i || i > c->values.n) {
			fputc(*sql++, out);
			continue;
		}
		fputc('\'', out);
		for (const char *p = c->values.item[i - 1].text; *p; p++) {
			if (*p == '\'')
				fputc('\'', out);
			fputc(*p, out);
		}
		fputc('\'', out);
		sql = end;
	}
}

void check_print_sql(const struct check *c)
{
	for (const struct check_query *q = check_queries; q->name; q++) {
		char *sql OWNED = NULL;

		if (!check_asks(c, q))
			continue;
		sql = check_sql_statement(c, q->name, check_limit(c, q));
		printf("-- %s: %s\n", q->name, q->what);
		if (c->prefix)
			put_bound(c, sql, stdout);
		else
			fputs(sql, stdout);
		fputs(";\n\n", stdout);
	}
}
