/* out_sql.c - rows as SQL that makes a table `result` of them.
 *
 * It is for a shell of SQLite, in any database: an older `result` is replaced.
 */
#include <string.h>

#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "cli/output/sql.h"
#include "schema/store.h"

void sql_put_text(FILE *out, const char *s, size_t len)
{
	putc('\'', out);
	safe_text_doubled(out, s, len, '\'');
	putc('\'', out);
}

void sql_put_column(FILE *out, const char *name, bool first)
{
	fputs(first ? "BEGIN;\nDROP TABLE IF EXISTS result;\n"
		      "CREATE TABLE result(\""
		    : ", \"",
	      out);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', out);
		/* a name in a query may be anything */
		putc((unsigned char)*name < ' ' ? ' ' : *name, out);
	}
	putc('"', out);
}

static int out_sql_write(FILE *out, struct rows *rows, struct err *err)
{
	size_t n = rows_columns(rows);
	int ret;

	for (size_t i = 0; i < n; i++)
		sql_put_column(out, rows_name(rows, i), !i);
	fputs(");\n", out);
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		for (size_t i = 0; i < n; i++) {
			struct value v = rows_value(rows, i);

			fputs(i ? ", " : "INSERT INTO result VALUES(", out);
			if (v.kind == VALUE_TEXT)
				sql_put_text(out, v.text, v.len);
			else if (v.kind == VALUE_NULL)
				fputs("NULL", out);
			else if (v.kind == VALUE_BLOB)
				fputs("X'", out);
			output_value(out, &v);
			if (v.kind == VALUE_BLOB)
				putc('\'', out);
		}
		fputs(");\n", out);
	}
	fputs("COMMIT;\n", out);
	return ret < 0 ? -1 : 0;
}

const struct output out_sql = {
	.name = "sql",
	.write = out_sql_write,
};
