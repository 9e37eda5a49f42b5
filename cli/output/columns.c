/* columns.c - rows as a JSON object of columns. */
#include "cli/output/columns.h"

#include <inttypes.h>
#include <string.h>

static void put_value(FILE *out, const struct column *c, const char *row,
		      size_t i)
{
	uint32_t u32 = 0;
	int64_t i64 = 0;

	if (c->kind == COLUMN_I64 || c->kind == COLUMN_SIZE)
		memcpy(&i64, row + c->at, sizeof(i64));
	else if (c->kind != COLUMN_CONST)
		memcpy(&u32, row + c->at, sizeof(u32));
	if (c->kind == COLUMN_CONST)
		fputs(c->value, out);
	else if (c->kind == COLUMN_PLACE)
		fprintf(out, "%zu", i);
	else if (c->kind == COLUMN_SIZE && !i64)
		fputs("null", out);
	else if (c->kind == COLUMN_I64 || c->kind == COLUMN_SIZE)
		fprintf(out, "%" PRId64, i64);
	else if (c->kind == COLUMN_U32 || u32 != COLUMN_NONE)
		fprintf(out, "%" PRIu32, u32);
	else
		fputs(c->kind == COLUMN_OR_NULL ? "null" : "-1", out);
}

void columns_put(FILE *out, const struct column *c, const void *rows,
		 size_t size, size_t n)
{
	fprintf(out, "{\"length\":%zu", n);
	for (; c->kind; c++) {
		fprintf(out, ",\n\"%s\":[", c->name);
		for (size_t i = 0; i < n; i++) {
			if (i)
				putc(',', out);
			put_value(out, c, (const char *)rows + i * size, i);
		}
		putc(']', out);
	}
	putc('}', out);
}
