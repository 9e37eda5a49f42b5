/* queries.c - finds embedded SQL: a whole file, or a named query. */
#include "schema/db/queries.h"

#include <pthread.h>

#include "stitch/base/mem.h"

#define MARK "-- name: "

const char *sql_file(const char *name)
{
	for (const struct sql_file *f = sql_files; f->name; f++)
		if (!strcmp(f->name, name))
			return f->text;
	return NULL;
}

/* Returns the text after the line "-- name: NAME", up to the next such line, or
 * NULL. */
static const char *queries_find(const char *text, const char *name, size_t *len)
{
	size_t n = strlen(name);

	for (const char *p = strstr(text, MARK); p; p = strstr(p, MARK)) {
		p += strlen(MARK);
		if (strncmp(p, name, n) || p[n] != '\n')
			continue;
		p += n + 1;
		const char *end = strstr(p, MARK);

		*len = end ? (size_t)(end - p) : strlen(p);
		return p;
	}
	return NULL;
}

/* The queries returned so far, each copied out of its file once. They live as
 * long as the program, like the files. */
struct query {
	struct query *next;
	const char *name;
	char text[];
};

static struct query *queries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *queries_cut_out(const char *name)
{
	for (const struct sql_file *f = sql_files; f->name; f++) {
		size_t len;
		const char *p = strncmp(f->name, "queries", 7)
					? NULL
					: queries_find(f->text, name, &len);

		if (!p)
			continue;
		struct query *q = mem_new(1, sizeof(*q) + len + 1);

		memcpy(q->text, p, len);
		/* callers append to statements */
		while (len && strchr(" \t\n;", q->text[len - 1]))
			q->text[--len] = '\0';
		q->name = mem_strdup(name);
		q->next = queries;
		queries = q;
		return q->text;
	}
	return NULL;
}

const char *store_sql(const char *name)
{
	const char *text = NULL;

	pthread_mutex_lock(&lock);
	for (const struct query *q = queries; q && !text; q = q->next)
		if (!strcmp(q->name, name))
			text = q->text;
	if (!text)
		text = queries_cut_out(name);
	pthread_mutex_unlock(&lock);
	return text;
}

char *store_sql_fill(const char *query, const struct sql_gap *gap, size_t n)
{
	char *sql = NULL;
	FILE *out = mem_stream(&sql, NULL);

	for (const char *p = store_sql(query); *p;) {
		size_t plain = strcspn(p, "{");

		fwrite(p, 1, plain, out);
		p += plain;
		if (!*p)
			break;

		size_t name = strcspn(p + 1, "}");
		const char *text = NULL;

		for (size_t i = 0; !text && i < n; i++)
			if (strlen(gap[i].name) == name &&
			    !memcmp(gap[i].name, p + 1, name))
				text = gap[i].text;
		/* SQLite reports a gap that has no text */
		fputs(text ? text : "{", out);
		p += text ? name + 2 : 1;
	}
	mem_stream_end(out);
	return sql;
}
