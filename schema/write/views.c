/* views.c - adds views to a database that is being made.
 *
 * CREATE VIEW parses the text, writes it into the schema and parses it again
 * from there: the views took a third of the time of a small capture. The
 * row that it makes is added here instead. A view with a wrong text is an error
 * of whoever opens the database next: tests read each of them. */
#include <string.h>

#include "schema/write/writing.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"

static const char create_view[] = "CREATE VIEW ";

/* Returns the end of a statement, its semicolon, or the end of the text. */
static const char *views_end(const char *s)
{
	for (; *s && *s != ';'; s++) {
		if (*s == '\'' || *s == '"') {
			const char *quote = strchr(s + 1, *s);

			s = quote ? quote : s + strlen(s) - 1;
		} else if (s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
			s -= !*s;
		}
	}
	return s;
}

/* Returns the first statement, after comments and blank lines. */
static const char *views_skip(const char *s)
{
	for (;;) {
		s += strspn(s, " \t\n");
		if (s[0] != '-' || s[1] != '-')
			return s;
		s += strcspn(s, "\n");
	}
}

int views_add(struct store *db, const char *sql, struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, store_sql("put_view"), err);
	int rc = st ? 0 : -1;

	for (const char *s = views_skip(sql); !rc && *s;) {
		const char *end = views_end(s);
		const char *name = s + sizeof(create_view) - 1;

		if (strncmp(s, create_view, sizeof(create_view) - 1) != 0) {
			rc = err_set(err, ERR_DB, "'%.20s': needs CREATE VIEW",
				     s);
			break;
		}
		sqlite3_bind_text(st, 1, name, (int)strcspn(name, " ("),
				  SQLITE_STATIC);
		sqlite3_bind_text(st, 2, s, (int)(end - s), SQLITE_STATIC);
		rc = db_step(db, st, err);
		s = views_skip(*end ? end + 1 : end);
	}
	sqlite3_finalize(st);
	return rc;
}
