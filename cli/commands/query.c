/* query.c - the command that runs SQL statements. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "formats/input.h"
#include "stitch/text/safe_text.h"
#include "cli/process/signals.h"
#include "analyze/latency/interval_sql.h"
#include "analyze/path/path_sql.h"
#include "cli/args/options.h"
#include "cli/output/term.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/names/demangle.h"
#include "stitch/text/json.h"
#include "schema/db/queries.h"

#define SHOWN_MAX 512 /* bytes of the statement that are shown */

/* Shows the line with the error and a mark below it; a long line in part. */
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

struct missing {
	const char *message; /* SQLite's message before the name */
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

/* Copies the missing name from err's message. Returns its index in kinds[], or
 * -1 if the message is about something else. */
static int missing_name(const struct err *err, char *word, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = strstr(err->msg, kinds[i].message);

		if (!at)
			continue;
		at += strlen(kinds[i].message);
		/* in "alias.column" the alias is correct */
		if (strrchr(at, '.'))
			at = strrchr(at, '.') + 1;
		snprintf(word, size, "%s", at);
		return (int)i;
	}
	return -1;
}

/* Shows the place of an error on stderr and, if a name was not found, adds the
 * nearest one to the message. Call it right after SQLite refused the
 * statement. */
static void query_error(struct store *db, const char *sql, struct err *err)
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
	/* Names of the tables that the statement uses come first. All near_*
	 * queries have the same columns. */
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
	/* the same name, of another table, is no near miss */
	if (n.near.best && *n.holder && !strcmp(n.near.best, word))
		err_set(err, old.code, "%s; '%s' is a column of %s", old.msg,
			word, n.holder);
	else if (n.near.best)
		err_set(err, old.code, "%s; did you mean '%s'%s%s?", old.msg,
			n.near.best, *n.holder ? ", a column of " : "",
			n.holder);
	arena_release(&n.text);
}

/* ---- --schema: tables, columns and comments, as the SQL of the schema has
 * them. Those whose names begin with internal_ are left out.
 *
 * The text is our own, part of the program:
 *
 *	CREATE TABLE comm(
 *	-- One name of one thread, from time_ns on.
 *		thread INTEGER,
 *		time_ns INTEGER,	-- NULL: before
 *					-- the capture
 *
 * A comment belongs to the columns that begin on its line, one after a single
 * tab to those below it. A view has its columns between brackets and one
 * comment, after AS. */

#define COLUMNS 40 /* of a table */

/* Joined lines of comment. */
struct comment {
	char text[2048];
	size_t n;
};

struct schema_column {
	char name[32], type[16];
	struct comment about;
};

struct schema_thing {
	char name[64];
	const char *kind; /* "table", "view", "computed" */
	struct comment about;
	struct schema_column column[COLUMNS];
	size_t n;
	/* while it is read: the first column of the line, and the comment on
	 * the columns below */
	size_t line_first;
	struct comment below;
	int brackets;
	bool begins; /* a column may begin here */
};

static void comment_add(struct comment *c, const char *s, size_t len)
{
	int n = snprintf(c->text + c->n, sizeof(c->text) - c->n, "%s%.*s",
			 c->n ? " " : "", (int)len, s);

	c->n += (size_t)n;
	if (c->n >= sizeof(c->text))
		c->n = sizeof(c->text) - 1;
}

/* Copies a name without its quotes. Returns the end. */
static const char *take_name(const char *s, char *out, size_t size)
{
	size_t n = 0;

	for (; isalnum((unsigned char)*s) || *s == '_' || *s == '"'; s++)
		if (*s != '"' && n + 1 < size)
			out[n++] = *s;
	out[n] = 0;
	return s;
}

/* Adds the column whose text begins at s. Returns the end of what it took. */
static const char *begin_column(struct schema_thing *t, const char *s)
{
	struct schema_column *c = &t->column[t->n];

	t->begins = false;
	if (t->n == COLUMNS)
		return s + 1;
	memset(c, 0, sizeof(*c));
	const char *end = take_name(s, c->name, sizeof(c->name));
	if (!strcmp(c->name, "PRIMARY"))
		return end;
	take_name(end + (*end == ' '), c->type, sizeof(c->type));
	c->about = t->below;
	t->n++;
	return end;
}

/* Adds the comment of a line, with so many tabs in front, to what it is about.
 * Returns its end. */
static const char *take_comment(struct schema_thing *t, const char *s,
				size_t tabs, bool behind_columns)
{
	const char *text = s + 2 + (s[2] == ' ');
	size_t len = strcspn(text, "\n");

	if (!behind_columns && tabs <= 1)
		comment_add(tabs ? &t->below : &t->about, text, len);
	else /* a line without columns continues a comment */
		for (size_t i = t->line_first; i < t->n; i++)
			comment_add(&t->column[i].about, text, len);
	return text + len;
}

/* Reads a table or view from s: up to its semicolon, or to a view's query. */
static void take_thing(struct schema_thing *t, const char *s)
{
	bool ended = false; /* all columns were read: a comment may follow */

	while (*s &&
	       (!ended || !strncmp(s, "--", 2) || !strncmp(s, "AS\n", 3))) {
		size_t tabs = strspn(s, "\t");
		size_t first = t->n;

		/* Read the code of a line, up to its comment. */
		const char *str = s + tabs;
		while (*str && *str != '\n' && strncmp(str, "--", 2) != 0) {
			if (t->begins &&
			    (isalpha((unsigned char)*str) || *str == '"')) {
				str = begin_column(t, str);
				continue;
			}
			t->brackets += (*str == '(') - (*str == ')');
			t->begins |= t->brackets == 1 &&
				     (*str == '(' || *str == ',');
			str++;
			if (t->brackets == 0 && str[-1] == ')')
				t->begins = false;
		}
		s = str;
		ended |= t->n && !t->brackets;
		if (t->n > first)
			t->line_first = first;
		if (!strncmp(s, "--", 2))
			s = take_comment(t, s, tabs, t->n > first);
		if (t->n > first)
			t->below.n = t->below.text[0] = 0;
		s += *s == '\n';
	}
}

/* Prints a table or view with its columns and comments. */
static void print_thing(const struct schema_thing *t)
{
	int width = term_columns(stdout);

	printf("%s%s%s (%s)\n  ", term_on(stdout, STYLE_BOLD), t->name,
	       term_off(stdout), t->kind);
	term_wrap(stdout, t->about.text, 2, 2, width);
	for (size_t i = 0; i < t->n; i++) {
		const struct schema_column *c = &t->column[i];

		if (c->about.n) {
			printf("    %-14s %-8s ", c->name, c->type);
			term_wrap(stdout, c->about.text, 28, 28, width);
		} else {
			printf("    %-*s%s\n", *c->type ? 15 : 0, c->name,
			       c->type);
		}
	}
	putchar('\n');
}

/* Prints the tables or views of a file of schema/sql; j NULL: as text. */
static void each_thing(const char *file, const char *kind, struct json *j)
{
	static struct schema_thing t; /* too large for a stack */

	const char *head =
		!strcmp(kind, "view") ? "\nCREATE VIEW " : "\nCREATE TABLE ";

	for (const char *s = sql_file(file); (s = strstr(s, head));) {
		memset(&t, 0, sizeof(t));
		t.kind = kind;
		s = take_name(s + strlen(head), t.name, sizeof(t.name));
		if (!strncmp(t.name, "internal_", 9))
			continue;
		take_thing(&t, s);
		if (j) {
			json_object(j, NULL);
			json_text(j, "name", t.name);
			json_text(j, "kind", t.kind);
			json_text(j, "comment", t.about.text);
			json_array(j, "columns");
			for (size_t i = 0; i < t.n; i++) {
				const struct schema_column *c = &t.column[i];

				json_object(j, NULL);
				json_text(j, "name", c->name);
				json_text(j, "type", *c->type ? c->type : NULL);
				json_text(j, "comment",
					  c->about.n ? c->about.text : NULL);
				json_end(j);
			}
			json_end(j);
			json_end(j);
		} else
			print_thing(&t);
	}
}

#define SQL_MAX (1 << 20)
/* Cells of the longest name in the list of views to begin with. */
#define FIRST_CELLS 16

static const char *file;
static bool list_views, list_tables, list_functions, list_schema;

static const struct opt opts[] = {
	OPT_STRING('f', "file", "FILE", &file,
		   "read the SQL from FILE ('-': standard input)"),
	OPT_GROUP(output_opts),
	OPT_FLAG(0, "views", &list_views, "list the views and their columns"),
	OPT_FLAG(0, "tables", &list_tables,
		 "list the tables and their columns"),
	OPT_FLAG(0, "schema", &list_schema,
		 "print what tables, views and columns mean; needs no "
		 "database"),
	OPT_FLAG(0, "functions", &list_functions,
		 "list the SQL functions of backstitch"),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* Returns the text of a file, or NULL and *err; the caller frees it. */
static char *read_sql(const char *path, struct err *err)
{
	FILE *f = input_stream(path, err);

	if (!f)
		return NULL;
	char *sql = mem_new(SQL_MAX + 1, 1);
	size_t n = fread(sql, 1, SQL_MAX, f);
	int failed = ferror(f) ? errno : 0;

	fclose(f);
	if (failed || n == SQL_MAX || memchr(sql, 0, n)) {
		err_set(err, failed ? ERR_IO : ERR_LIMIT, "%s: %s", path,
			failed	       ? strerror(failed)
			: n == SQL_MAX ? "more than 1 MiB of SQL"
				       : "is not SQL text");
		free(sql);
		return NULL;
	}
	return sql;
}

/* Prints the schema. No database is read: it is the same for all. */
static int query_print_schema(int argc, struct err *err)
{
	bool json = output_is_set() && !strcmp(output_chosen()->name, "json");
	struct json j;

	if (argc || file || list_views || list_tables || list_functions ||
	    output_is_set() != json)
		return err_set(err, ERR_USAGE,
			       "--schema is asked alone, or with --json");
	if (json) {
		json_answer(&j, stdout, JSON_COMPACT);
		json_array(&j, "tables");
		json_lines(&j);
	}
	each_thing("tables", "table", json ? &j : NULL);
	each_thing("views", "view", json ? &j : NULL);
	each_thing("computed", "computed", json ? &j : NULL);
	if (json) {
		json_end(&j);
		json_finish(&j);
	}
	return 0;
}

static int query_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	int status = STATUS_OK;
	const char *sql = NULL;
	struct path_sql *causes = NULL;
	struct interval_sql *intervals = NULL;
	char *owned OWNED = NULL;
	int ret = -1;

	if (output_check(err))
		return -1;
	if (list_schema)
		return query_print_schema(argc, err);
	int listing = list_views + list_tables + list_functions;

	if (listing > 1 || (listing && file))
		return err_set(err, ERR_USAGE,
			       "--views, --tables, --functions and a statement "
			       "are four questions; ask one at a time");
	/* The arguments are databases and a statement, each optional. A last
	 * word that is not a file, after a database or with a space, is a
	 * statement. */
	if (listing)
		sql = store_sql(list_views    ? "list_views"
				: list_tables ? "list_tables"
					      : "list_functions");
	else if (argc && access(argv[argc - 1], F_OK) &&
		 (strchr(argv[argc - 1], ' ') || (argc > 1 && !file)))
		sql = argv[--argc];
	if (file && sql)
		return err_set(err, ERR_USAGE,
			       "one statement, please: --file or an argument");
	const bool first = !sql && !file; /* the views to begin with */

	if (first)
		sql = store_sql("list_first");
	const char *path = input_path(&ask, argc, argv, err);
	if (!path || (!sql && !(sql = owned = read_sql(file, err))))
		return -1;
	struct store *db OWNED_STORE = database_open(&ask, path, &status, err);
	if (db && !store_functions(db, demangle_name, err))
		causes = path_sql_new(db, path, err);
	if (causes)
		intervals = interval_sql_new(db, path, err);
	if (!intervals)
		;
	else if ((listing || first) && !output_is_set()) {
		/* Print names in bold with their columns, wrapped to the
		 * screen. pad: cells that each name takes at least. */
		size_t pad = first ? FIRST_CELLS : 0;
		int width = term_is_terminal(stdout) ? term_columns(stdout)
						     : INT_MAX;
		struct rows *r = rows_open(db, sql, NULL, 0, err);

		while (rows_step(r)) {
			const char *name = rows_text(r, LIST_VIEWS_VIEW);
			const char *columns = rows_text(r, LIST_VIEWS_COLUMNS);
			char clean[8192];

			safe_text_clean_buf(clean, sizeof(clean), columns,
					    strlen(columns), NULL);
			safe_text_say(stdout, term_on(stdout, STYLE_BOLD), name,
				      "");
			size_t cells = safe_text_cells(name);
			int gap = cells < pad ? (int)(pad - cells) : 0;

			fprintf(stdout, "%s: %*s", term_off(stdout), gap, "");
			term_wrap(stdout, clean, (int)cells + gap + 2, 4,
				  width);
		}
		ret = rows_end(r, err);
	} else {
		signals_query(db);
		struct rows *r = rows_open(db, sql, NULL, 0, err);

		if (r)
			ret = output_write(output_chosen(), stdout, r, err);
		else
			query_error(db, sql, err);
		rows_close(r);
		signals_query(NULL);
	}
	path_sql_free(causes);
	interval_sql_free(intervals);
	if (!ret && first && !output_is_set())
		printf("\nThese are views; 'backstitch query DB \"SELECT * FROM "
		       "samples LIMIT 9\"' asks one.\n"
		       "--views and --tables list all with their columns; "
		       "backstitch-sql(7) has queries.\n");
	return ret ? -1 : status;
}

const struct command cmd_query = {
	.name = "query",
	.args = "[options] [DB] [SQL]",
	.summary = "run SQL on a database",
	.examples = { "backstitch query perf.db \"SELECT * FROM verdicts\"",
		      "backstitch query --views perf.db",
		      "backstitch query --format csv perf.db \"SELECT comm, pid FROM samples\"" },
	.opts = opts,
	.common = "file format json views tables schema functions input symfs",
	.pages = true,
	.run = query_run,
};
