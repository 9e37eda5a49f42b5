/* out_json.c - rows as an array in a JSON object, one row a line. */
#include "cli/output/json_rows.h"
#include "stitch/text/json.h"
#include "cli/output/output.h"

static int out_json_write(FILE *out, struct rows *rows, struct err *err)
{
	struct json j;

	json_answer(&j, out, JSON_COMPACT);
	if (json_rows(&j, "rows", rows, err))
		return -1;
	json_finish(&j);
	return 0;
}

const struct output out_json = {
	.name = "json",
	.write = out_json_write,
};
