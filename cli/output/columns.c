/* columns.c - rows as a JSON object of columns. */
#include "cli/output/columns.h"

#include <string.h>

#include "cli/output/json.h"

static void columns_put_value(struct json *j, const struct column *c,
			      const char *row, size_t i)
{
	uint32_t u32 = 0;
	int64_t i64 = 0;

	switch (c->kind) {
	case COLUMN_CONST:
		json_number(j, NULL, c->value);
		break;
	case COLUMN_PLACE:
		json_uint(j, NULL, i);
		break;
	case COLUMN_SIZE:
	case COLUMN_I64:
		memcpy(&i64, row + c->at, sizeof(i64));
		json_int_or_null(j, NULL, i64, c->kind == COLUMN_I64 || i64);
		break;
	default:
		memcpy(&u32, row + c->at, sizeof(u32));
		if (c->kind == COLUMN_U32 || u32 != COLUMN_NONE)
			json_uint(j, NULL, u32);
		else if (c->kind == COLUMN_OR_NULL)
			json_null(j, NULL);
		else
			json_int(j, NULL, -1);
	}
}

void columns_json(struct json *j, const char *key, const struct column *c,
		  const void *rows, size_t size, size_t n)
{
	json_object(j, key);
	json_uint(j, "length", n);
	for (; c->kind; c++) {
		json_break(j);
		json_array(j, c->name);
		for (size_t i = 0; i < n; i++)
			columns_put_value(j, c, (const char *)rows + i * size,
					  i);
		json_end(j);
	}
	json_end(j);
}
