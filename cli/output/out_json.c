/* out_json.c - rows as a JSON array with one object a line. */
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static int out_json_write(FILE *out, struct rows *rows, struct err *err)
{
	struct json j;

	json_open(&j, out, JSON_COMPACT);
	if (json_rows(&j, NULL, rows, err))
		return -1;
	json_newline(&j);
	return 0;
}

extern const struct output out_json;
const struct output out_json = {
	.name = "json",
	.summary = "an array with one object for each row",
	.write = out_json_write,
};
