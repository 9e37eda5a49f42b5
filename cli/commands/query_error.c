/* query_error.c - explains where a statement is wrong. */
#include "cli/commands/query_error.h"

#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "cli/args/nearest.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* ---- where */

#define SHOWN_MAX 512 /* bytes of the statement that are shown */

/* Shows the line with the error; a long line from shortly before the error. */
static void show_place(const char *sql, size_t at)
{
	size_t start = at;
	size_t end = at + strcspn(sql + at, "\n");
	size_t lead = (size_t)term_columns(stderr) / 2;

	while (start && sql[start - 1] != '\n' && at - start < SHOWN_MAX)
		start--;
	if (at - start > lead)
		start = at - lead / 2;
	/* do not begin inside a character */
	while (start < at && ((unsigned char)sql[start] & 0xc0) == 0x80)
		start++;
	if (end - start > SHOWN_MAX)
		end = start + SHOWN_MAX;
	fputs("  ", stderr);
	for (size_t i = start; i < end;) {
		size_t n = strcspn(sql + i, "\t\n");

		lower_to(n, end - i);
		safe_text_clean(stderr, sql + i, n);
		i += n;
		if (i < end && sql[i] == '\t') {
			putc(' ', stderr);
			i++;
		}
	}
	char *before OWNED = mem_dup(sql + start, at - start);

	for (char *p = before; *p; p++)
		*p = *p == '\t' ? ' ' : *p;
	fprintf(stderr, "\n  %*s%s^%s\n", (int)safe_text_cells(before), "",
		term_on(stderr, STYLE_RED), term_off(stderr));
}

/* ---- what was meant */

struct missing {
	const char *said; /* SQLite's message before the name */
	const char *query;
};

static const struct missing kinds[] = {
	{ "no such column: ", "near_columns" },
	{ "no such table: ", "near_tables" },
	{ "no such function: ", "near_functions" },
};

struct near_names {
	struct nearest near;
	const char *holder; /* the table with the column near.best; "": it is
			     * not a column, or of a table of the statement */
	struct arena text;
};

/* Finds the missing name in err's message. Returns its index in kinds[], or -1
 * if the message is about something else. */
static int missing_name(const struct err *err, char *word, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = strstr(err->msg, kinds[i].said);

		if (!at)
			continue;
		at += strlen(kinds[i].said);
		/* in "alias.column" the alias is correct */
		if (strrchr(at, '.'))
			at = strrchr(at, '.') + 1;
		snprintf(word, size, "%s", at);
		return (int)i;
	}
	return -1;
}

void query_error(struct store *db, const char *sql, struct err *err)
{
	struct near_names n = { .near = { 0 } };
	int at = store_error_place(db);
	char word[64];

	if (err->code != ERR_DB)
		return;
	int kind = missing_name(err, word, sizeof(word));
	/* SQLite gives no offset for a missing table */
	const char *there = kind >= 0 ? strcasestr(sql, word) : NULL;

	if (at >= 0 && (size_t)at <= strlen(sql))
		show_place(sql, (size_t)at);
	else if (there)
		show_place(sql, (size_t)(there - sql));
	if (kind < 0)
		return;
	struct err old = *err;

	n.near.typed = word;
	/* Names of the tables that the statement uses come first. The
	 * queries near_* have the same columns. */
	struct value bind = { .kind = VALUE_TEXT, .text = sql };
	struct rows *r =
		rows_open(db, store_sql(kinds[kind].query), &bind, 1, NULL);

	while (rows_step(r)) {
		const char *name = rows_text(r, NEAR_TABLES_NAME);
		bool meant = rows_int(r, NEAR_TABLES_MEANT);

		if (n.near.best && !*n.holder && !meant)
			break;
		const char *was = n.near.best;

		nearest_offer(&n.near, arena_strdup(&n.text, name));
		if (n.near.best != was)
			n.holder =
				meant ? ""
				      : arena_strdup(
						&n.text,
						rows_text(r,
							  NEAR_TABLES_HOLDER));
	}
	rows_close(r);
	/* the right name for another table is no near miss */
	if (n.near.best && *n.holder && !strcmp(n.near.best, word))
		err_set(err, old.code, "%s; '%s' is a column of %s", old.msg,
			word, n.holder);
	else if (n.near.best)
		err_set(err, old.code, "%s; did you mean '%s'%s%s?", old.msg,
			n.near.best, *n.holder ? ", a column of " : "",
			n.holder);
	arena_release(&n.text);
}
