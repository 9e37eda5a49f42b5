/* query_schema.c - tables, columns and comments, as the SQL of the schema has
 * them.
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
#include "cli/commands/query_schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stitch/text/json.h"
#include "cli/output/term.h"
#include "schema/db/queries.h"

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
	/* while it is read: the first column of the line, and what is said of
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

/* Takes the comment of a line, which has so many tabs in front. Returns its
 * end. */
static const char *take_comment(struct schema_thing *t, const char *s,
				size_t tabs, bool behind_columns)
{
	const char *text = s + 2 + (s[2] == ' ');
	size_t len = strcspn(text, "\n");

	if (!behind_columns && tabs <= 1)
		comment_add(tabs ? &t->below : &t->about, text, len);
	else /* a line that has no columns goes on with a comment */
		for (size_t i = t->line_first; i < t->n; i++)
			comment_add(&t->column[i].about, text, len);
	return text + len;
}

/* Reads the thing whose text begins at s: up to its semicolon, and of a view
 * only what stands before the query. */
static void take_thing(struct schema_thing *t, const char *s)
{
	bool ended = false; /* all columns were read: a comment may follow */

	while (*s &&
	       (!ended || !strncmp(s, "--", 2) || !strncmp(s, "AS\n", 3))) {
		size_t tabs = strspn(s, "\t");
		size_t first = t->n;

		/* Takes the code of a line, up to its comment. */
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

/* file: one of schema/sql. */
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

void query_schema(bool json)
{
	struct json j;

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
}
