/* json_rows.c - rows of a query as JSON. */
#include "cli/output/json_rows.h"

#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/text/json.h"

/* the longest part of a blob that is written, in bytes */
#define BLOB_MAX ((size_t)1 << 20)

void json_value(struct json *j, const char *key, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NULL:
		json_null(j, key);
		break;
	case VALUE_INT:
		json_int(j, key, v->num);
		break;
	case VALUE_REAL:
		json_real(j, key, v->real);
		break;
	case VALUE_TEXT:
		json_text_len(j, key, v->text, v->len);
		break;
	case VALUE_BLOB:
		json_hex_bytes(j, key, v->text,
			       v->len < BLOB_MAX ? v->len : BLOB_MAX);
		break;
	}
}

/* Returns, for each column, the column whose value is written in its place. A
 * JSON object has each key once: of columns with the same name, the first has
 * the value of the last, and the others SIZE_MAX, which skips them. The caller
 * frees it. */
static size_t *json_columns(const struct rows *r)
{
	size_t n = rows_columns(r);
	size_t *column = mem_new(n ? n : 1, sizeof(*column));

	for (size_t i = 0; i < n; i++) {
		column[i] = i;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(rows_name(r, k), rows_name(r, i)) != 0)
				continue;
			column[k] = column[k] == SIZE_MAX ? SIZE_MAX : i;
			column[i] = SIZE_MAX;
		}
	}
	return column;
}

static void json_put_row(struct json *j, const char *key, struct rows *r,
			 const size_t *column)
{
	json_object(j, key);
	for (size_t i = 0; i < rows_columns(r); i++) {
		if (column[i] == SIZE_MAX)
			continue;
		struct value v = rows_value(r, column[i]);

		json_value(j, rows_name(r, i), &v);
	}
	json_end(j);
}

int json_row(struct json *j, const char *key, struct rows *r, struct err *err)
{
	int ret = rows_next(r, err);

	if (ret < 0)
		return -1;
	if (!ret) {
		json_null(j, key);
		return 0;
	}
	size_t *column OWNED = json_columns(r);

	json_put_row(j, key, r, column);
	return 0;
}

int json_rows(struct json *j, const char *key, struct rows *r, struct err *err)
{
	size_t *column OWNED = json_columns(r);
	int ret;

	json_array(j, key);
	if (j->form != JSON_PRETTY)
		json_lines(j);
	while ((ret = rows_next(r, err)) > 0 && !json_failed(j))
		json_put_row(j, NULL, r, column);
	json_end(j);
	return ret < 0 ? -1 : 0;
}

bool json_before_rows(void)
{
	return getenv("BACKSTITCH_ROWS") != NULL;
}
