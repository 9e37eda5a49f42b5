/* out_sql.c - rows as SQL that makes a table `result` of them.
 *
 * It is for a shell of SQLite, in any database: an older `result` is replaced.
 */

#include "cli/output/output.h"
#include "stitch/text/safe_text.h"

void sql_put_text(FILE *out, const char *s, size_t len)
{
	putc('\'', out);
	safe_text_doubled(out, s, len, '\'');
	putc('\'', out);
}

/* Writes the name of a column of the table, for the first one with what is
 * before it. */
static void out_sql_put_column(FILE *out, const char *name, bool first)
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

const struct output out_sql = {
	.name = "sql",
	.text = sql_put_text,
	.column = out_sql_put_column,
	.first = "INSERT INTO result VALUES(",
	.before = ", ",
	.end = ");\n",
	.last = "COMMIT;\n",
	.null = "NULL",
	.blob = "X'",
	.blob_end = "'",
};
