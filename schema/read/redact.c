/* redact.c - a copy of a database without the words that say whose it is.
 *
 * The rule for each column stands in redact_columns.c; a test compares that
 * table with the schema, so that no new column is forgotten. Columns of ev_
 * tables come from captures and have rules by their names. */
#include "schema/read/redact.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/db/db.h"
#include "schema/db/guard.h"
#include "schema/db/problem.h"
#include "schema/db/queries.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define SQL_MAX 4096
#define WORD_MAX 4096

/* A word that was replaced; numbers count per prefix. */
struct word {
	char *text;
	uint32_t number;
	char prefix;
};

struct redact {
	struct store *db;
	const struct redact_opts *o;
	struct word *word;
	size_t n_word, cap_word;
	struct table index;
	uint32_t last[256]; /* by prefix */
	struct redact_counts counts;
};

/* ---- words */

static bool same_word(const void *owner, uint32_t id, const void *key)
{
	const struct word *a = &((const struct redact *)owner)->word[id];
	const struct word *b = key;

	return a->prefix == b->prefix && !strcmp(a->text, b->text);
}

static uint32_t redact_number(struct redact *rd, char prefix, const char *text,
			      size_t len)
{
	char copy[WORD_MAX];
	struct word w = { .text = copy, .prefix = prefix };

	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = 0;
	uint64_t hash = hash_bytes(copy, len, (unsigned char)prefix);
	uint32_t id = table_find(&rd->index, hash, same_word, rd, &w);

	if (id != TABLE_NONE)
		return rd->word[id].number;
	w.text = mem_strdup(copy);
	w.number = ++rd->last[(unsigned char)prefix];
	rd->word = mem_grow(rd->word, &rd->cap_word, rd->n_word + 1,
			    sizeof(*rd->word));
	table_add(&rd->index, hash, (uint32_t)rd->n_word);
	rd->word[rd->n_word++] = w;
	return w.number;
}

/* "[heap]", "//anon" and the like are the kernel's words. */
static bool is_special(const char *path)
{
	return !*path || *path == '[' || !strncmp(path, "//", 2);
}

/* "/data/joe/a.out (deleted)" -> "/d1/d2/f1 (deleted)" */
static size_t redact_put_path(struct redact *rd, const char *path, char *out,
			      size_t size)
{
	static const char gone[] = " (deleted)";
	size_t len = strlen(path);
	size_t tail = sizeof(gone) - 1;
	size_t n = 0;

	if (len < tail || strcmp(path + len - tail, gone) != 0)
		tail = 0;
	for (const char *p = path; p < path + len - tail && n < size - 64;) {
		size_t part = strcspn(p, "/");

		if (part > (size_t)(path + len - tail - p))
			part = (size_t)(path + len - tail - p);
		char prefix = p[part] == '/' ? 'd' : 'f';

		if (part)
			n += (size_t)snprintf(
				out + n, size - n, "%c%u", prefix,
				redact_number(rd, prefix, p, part));
		p += part;
		if (*p == '/') {
			out[n++] = '/';
			p++;
		}
	}
	return n + (size_t)snprintf(out + n, size - n, "%s", tail ? gone : "");
}

/* Of kernel threads, which are the same everywhere; and ":TID". */
static bool is_common_comm(const char *name)
{
	static const char *const start[] = {
		":",	"swapper",  "kworker/", "ksoftirqd/",	"migration/",
		"rcu_", "kthreadd", "cpuhp/",	"idle_inject/", NULL
	};

	for (const char *const *s = start; *s; s++)
		if (!strncmp(name, *s, strlen(*s)))
			return true;
	return false;
}

/* redact(how, value): the word in its place. */
static void redact_value(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	static const char *const form[] = {
		[REDACT_COMM] = "comm-%u",
		[REDACT_NAME] = "function_%u",
		[REDACT_HOST] = "host-%u",
		[REDACT_TEXT] = "text-%u",
	};
	struct redact *rd = sqlite3_user_data(ctx);
	enum redact_how how = (enum redact_how)sqlite3_value_int(v[0]);
	const char *text = (const char *)sqlite3_value_text(v[1]);
	char out[WORD_MAX * 2];
	size_t n;

	(void)argc;
	if (!text || !*text || (how == REDACT_COMM && is_common_comm(text)) ||
	    (how == REDACT_PATH && is_special(text))) {
		sqlite3_result_value(ctx, v[1]);
		return;
	}
	rd->counts.values++;
	if (how == REDACT_PATH)
		n = redact_put_path(rd, text, out, sizeof(out));
	else
		n = (size_t)snprintf(
			out, sizeof(out), form[how],
			redact_number(rd, form[how][0], text, strlen(text)));
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

/* ---- what stays */

static bool is_common_image(enum image_kind kind)
{
	switch (kind) {
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_OOL:
	case IMAGE_VDSO:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_SYMBOLS:
		return true;
	case IMAGE_FILE:
	case IMAGE_BPF:
	case IMAGE_JIT:
	case IMAGE_GUEST:
	case IMAGE_MAPPING:
	case IMAGE_SCRIPT:
		break;
	}
	return false;
}

/* kept(kind, path): is this image left as it is? */
static void is_kept(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	const struct redact *rd = sqlite3_user_data(ctx);
	int kind = sqlite3_value_int(v[0]);
	const char *path = (const char *)sqlite3_value_text(v[1]);
	bool keep = is_common_image((enum image_kind)kind);

	(void)argc;
	for (size_t i = 0; path && !keep && i < rd->o->n_keep; i++)
		keep = !fnmatch(rd->o->keep[i], path, 0);
	sqlite3_result_int(ctx, keep);
}

/* ---- tables */

/* Values of another kind than text in a column that is replaced cannot be
 * told apart from secrets: blobs go. */
static int redact_column(struct redact *rd, const struct redact_column *c,
			 struct err *err)
{
	char sql[SQL_MAX];
	char where[SQL_MAX / 2] = "1";

	if (c->image)
		snprintf(where, sizeof(where),
			 "%s NOT IN (SELECT id FROM temp.kept)", c->image);
	if (c->how == REDACT_GONE)
		sqlite3_snprintf(sizeof(sql), sql,
				 "UPDATE \"%w\" SET \"%w\" = NULL WHERE \"%w\" "
				 "IS NOT NULL AND %s",
				 c->table, c->column, c->column, where);
	else
		sqlite3_snprintf(sizeof(sql), sql,
				 "UPDATE \"%w\" SET \"%w\" = CASE "
				 "typeof(\"%w\") WHEN 'text' THEN redact(%d, "
				 "\"%w\") END WHERE typeof(\"%w\") IN ('text', "
				 "'blob') AND %s",
				 c->table, c->column, c->column, c->how,
				 c->column, c->column, where);
	if (db_exec(rd->db, sql, err))
		return -1;
	if (c->how == REDACT_GONE)
		rd->counts.gone += (uint64_t)sqlite3_changes(rd->db->db);
	return 0;
}

/* Fields of events: what they hold is said by their names. */
static enum redact_how field_how(const char *column)
{
	size_t n = strlen(column);

	if (n >= 4 && !strcmp(column + n - 4, "comm"))
		return REDACT_COMM;
	if (strstr(column, "path") || strstr(column, "file"))
		return REDACT_PATH;
	return REDACT_TEXT;
}

static int redact_fields(struct redact *rd, struct err *err)
{
	sqlite3_stmt *st = db_prepare(rd->db, store_sql("redact_fields"), err);
	int rc = 0;

	while (st && !rc && sqlite3_step(st) == SQLITE_ROW) {
		const struct redact_column c = {
			(const char *)sqlite3_column_text(st,
							  REDACT_FIELDS_TABLE),
			(const char *)sqlite3_column_text(st,
							  REDACT_FIELDS_COLUMN),
			field_how((const char *)sqlite3_column_text(
				st, REDACT_FIELDS_COLUMN)),
			NULL
		};

		rc = redact_column(rd, &c, err);
	}
	sqlite3_finalize(st);
	return st ? rc : -1;
}

static int redact_tables(struct redact *rd, struct err *err)
{
	if (db_exec(rd->db, store_sql("redact_begin"), err))
		return -1;
	for (const struct redact_column *c = redact_columns; c->table; c++)
		if (c->how != REDACT_KEEP && redact_column(rd, c, err))
			return -1;
	if (redact_fields(rd, err) ||
	    db_exec(rd->db, store_sql("redact_end"), err) ||
	    db_exec(rd->db, sql_file("finish"), err))
		return -1;
	return db_exec(rd->db, "COMMIT; VACUUM", err);
}

static int add_functions(struct redact *rd, struct err *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int rc = sqlite3_create_function_v2(rd->db->db, "redact", 2, flags, rd,
					    redact_value, NULL, NULL, NULL);

	if (!rc)
		rc = sqlite3_create_function_v2(rd->db->db, "kept", 2, flags,
						rd, is_kept, NULL, NULL, NULL);
	return rc ? db_error(rd->db, rc, err) : 0;
}

int store_redact(const char *path, const struct redact_opts *o,
		 struct redact_counts *counts, struct err *err)
{
	struct redact rd = { .o = o };
	int rc = -1;

	rd.db = store_open(path, true, err);
	if (rd.db && !add_functions(&rd, err))
		rc = redact_tables(&rd, err);
	store_close(rd.db);
	rd.counts.words = rd.n_word;
	*counts = rd.counts;
	for (size_t i = 0; i < rd.n_word; i++)
		free(rd.word[i].text);
	free(rd.word);
	table_release(&rd.index);
	return rc;
}

int store_copy(struct store *db, const char *path, struct err *err)
{
	char *name = db_plain_name(path);
	sqlite3_stmt *st = NULL;
	int rc;

	sqlite3_set_authorizer(db->db, NULL, NULL);
	sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 1);
	rc = db_exec(db, "PRAGMA query_only=OFF", err);
	if (!rc)
		st = db_prepare(db, "VACUUM INTO ?1", err);
	if (st) {
		sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
		/* the fault is more often with the new file than with ours */
		rc = rc == SQLITE_DONE ? 0 : problem_set(db->db, path, rc, err);
	}
	sqlite3_finalize(st);
	free(name);
	if (!st || rc)
		return -1;
	return guard_reading(db, err);
}
