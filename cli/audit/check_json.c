/* check_json.c - check --json: every answer, as it comes from the database. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli/audit/check.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "stitch/base/err.h"

static void put_key(const char *name)
{
	printf(",\n\"%s\": ", name);
}

static int put_one(struct rows *r, struct err *err)
{
	struct json_object *all = output_json_rows(r, err);

	if (!all)
		return -1;
	output_json_put(stdout, json_object_array_get_idx(all, 0), false);
	json_object_put(all);
	return 0;
}

/* Arrays are written row by row: evidence has no bound. */
static int put_many(struct rows *r, struct err *err)
{
	for (size_t i = 0; outputs[i]; i++)
		if (!strcmp(outputs[i]->name, "json"))
			return outputs[i]->write(stdout, r, err);
	return err_set(err, ERR_USAGE, "no way to write JSON");
}

static int put_answer(struct check *c, const struct check_query *q,
		      struct err *err)
{
	struct rows *r = check_rows(c, q, check_limit(c, q), err);
	int ret;

	if (!r)
		return -1;
	put_key(q->name);
	ret = q->one ? put_one(r, err) : put_many(r, err);
	rows_close(r);
	return ret;
}

static void put_text(const char *text)
{
	struct json_object *o = output_json_text(text, strlen(text));

	output_json_put(stdout, o, false);
	json_object_put(o);
}

static void add_sentence(void *arg, const char *sentence)
{
	struct json_object *all = arg;

	json_object_array_add(all, json_object_new_string(sentence));
}

static int put_advice(struct check *c, struct err *err)
{
	struct json_object *all = json_object_new_array();
	int ret = check_advice(c, add_sentence, all, err);

	put_key("advice");
	output_json_put(stdout, all, false);
	json_object_put(all);
	return ret;
}

int check_print_json(struct check *c, struct err *err)
{
	const struct check_breaks *b = &c->breaks;

	printf("{\n\"database\": ");
	put_text(c->path);
	printf(",\n\"verdict\": \"%s\",\n\"status\": %d", check_verdict(c),
	       check_status(c));
	printf(",\n\"tolerated\": %s", b->tolerated ? "true" : "false");
	printf(",\n\"filtered\": %s", filter_given() ? "true" : "false");
	for (const struct check_query *q = check_queries; q->name; q++)
		if (check_asks(c, q) && !out_failed() && put_answer(c, q, err))
			return -1;
	if (put_advice(c, err))
		return -1;
	puts("\n}");
	return 0;
}
