/* redact.c - makes a copy of a database without the words that identify its
 * origin.
 *
 * redact_columns[] has the rule for each column; a test compares that table
 * with the schema, so that no new column is forgotten. Columns of ev_ tables
 * come from captures; their rules depend on their names. */
#include "schema/read/redact.h"

#include <fnmatch.h>

#include "schema/columns.h"
#include "schema/db/filling.h"
#include "schema/db/queries.h"
#include "schema/guard/guard.h"
#include "schema/maker.h"
#include "schema/store.h"
#include "schema/write/labels.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/tasks/frame.h"

/* The image that a row belongs to. */
#define OWN "image"
#define OF_FRAME "(SELECT f.image FROM frame f WHERE f.id = frame)"

/* Names of events, fields and ftrace buffers stay, because queries need them.
 * Columns that hold only numbers are not listed. */
const struct redact_column redact_columns[] = {
	{ "word", "kind", REDACT_KEEP, NULL },
	{ "word", "name", REDACT_KEEP, NULL },
	{ "meta", "key", REDACT_KEEP, NULL },
	{ "meta", "value", REDACT_KEEP, NULL }, /* ours, or gone */
	{ "capture", "path", REDACT_PATH, NULL },
	{ "capture", "format", REDACT_KEEP, NULL },
	{ "capture", "host", REDACT_HOST, NULL },
	{ "capture", "release", REDACT_KEEP, NULL },
	{ "capture", "version", REDACT_KEEP, NULL },
	{ "capture", "arch", REDACT_KEEP, NULL },
	{ "capture", "cmdline", REDACT_KEEP, NULL }, /* redact_begin does it */
	{ "capture", "clock", REDACT_KEEP, NULL },
	{ "capture", "note", REDACT_KEEP, NULL },
	{ "capture", "align", REDACT_KEEP, NULL },
	{ "comm", "name", REDACT_COMM, NULL },
	{ "comm", "label", REDACT_GONE, NULL },
	{ "image", "build_id", REDACT_GONE, "id" },
	{ "image", "file", REDACT_GONE,
	  NULL }, /* path on the machine that named it */
	{ "image", "status", REDACT_KEEP, NULL },
	{ "image", "identity", REDACT_KEEP, NULL },
	{ "internal_image_section", "file", REDACT_KEEP,
	  NULL }, /* rows are gone */
	{ "internal_image_section", "name", REDACT_KEEP, NULL },
	{ "internal_user_trust", "judged", REDACT_KEEP, NULL },
	{ "event_type", "name", REDACT_KEEP, NULL },
	{ "event_type", "kind", REDACT_KEEP, NULL },
	{ "event_type", "format", REDACT_KEEP, NULL },
	{ "event_type", "fields", REDACT_KEEP, NULL },
	{ "event_type", "buffer", REDACT_KEEP, NULL },
	{ "event_type", "how", REDACT_KEEP, NULL },
	{ "event_type", "unit", REDACT_KEEP, NULL },
	{ "payload", "data", REDACT_KEEP, NULL }, /* rows are gone */
	{ "sample_extra", "name", REDACT_KEEP, NULL },
	{ "sample_extra", "value", REDACT_TEXT, NULL },
	{ "frame", "file", REDACT_PATH, OWN },
	{ "stack", "hash", REDACT_GONE, NULL }, /* of paths and build-ids */
	{ "internal_label", "name", REDACT_KEEP, NULL }, /* made again */
	{ "raw_chain", "addrs", REDACT_KEEP, NULL },
	{ "symbol", "name", REDACT_NAME, OWN },
	{ "symbol", "raw_name", REDACT_GONE, OWN },
	{ "symbol", "how", REDACT_KEEP, NULL },
	{ "jit_code", "bytes", REDACT_KEEP, NULL }, /* rows are gone */
	{ "jit_line", "file", REDACT_PATH, OWN },
	{ "inline_frame", "name", REDACT_NAME, OF_FRAME },
	{ "inline_frame", "file", REDACT_PATH, OF_FRAME },
	{ "cookies", "layout", REDACT_KEEP, NULL },
	{ "cookies", "reason", REDACT_KEEP, NULL },
	{ "internal_rule", "name", REDACT_KEEP, NULL },
	{ "internal_rule", "proves", REDACT_KEEP, NULL },
	{ "loss", "what", REDACT_KEEP, NULL },
	{ "ordering", "what", REDACT_KEEP, NULL },
	{ "ordering", "detail", REDACT_GONE, NULL },
	{ "damage", "kind", REDACT_KEEP, NULL },
	{ "damage", "what", REDACT_KEEP, NULL },
	{ "damage", "detail", REDACT_GONE, NULL },
	/* last, as other rules need the path */
	{ "image", "path", REDACT_PATH, "id" },
	{ NULL, NULL, REDACT_KEEP, NULL },
};

#define SQL_MAX 4096
#define WORD_MAX 4096

struct redact {
	struct maker *mk;
	const struct redact_opts *o;
	struct intern
		words;	  /* texts that were replaced, each after its prefix */
	uint32_t *number; /* by word; each prefix has its own numbers */
	size_t n_number, cap_number;
	uint32_t last[256]; /* by prefix */
	struct redact_counts counts;
};

/* Returns the number of a word, from 1 on for each prefix. */
static uint32_t redact_number(struct redact *rd, char prefix, const char *text,
			      size_t len)
{
	char word[WORD_MAX + 1];

	if (len >= WORD_MAX)
		len = WORD_MAX - 1;
	word[0] = prefix;
	memcpy(word + 1, text, len);
	uint32_t id = intern_add_bytes(&rd->words, word, len + 1);

	mem_reach(rd->number, rd->n_number, rd->cap_number, (size_t)id + 1);
	if (!rd->number[id])
		rd->number[id] = ++rd->last[(unsigned char)prefix];
	return rd->number[id];
}

/* Returns true for the kernel's and perf's own names of mappings that are not
 * files: see user_kind() of stitch/tasks/resolve.c. A process chooses the text
 * in [anon:NAME] (prctl(2), PR_SET_VMA_ANON_NAME), so only whole names
 * count. */
static bool redact_is_special(const char *path)
{
	static const char *const word[] = {
		"",
		"//anon",
		"//toolong",
		"//enomem",
		"//unknown",
		"[heap]",
		"[stack]",
		"[anon]",
		"[vdso]",
		"[vdso32]",
		"[vdsox32]",
		"[vvar]",
		"[vvar_vclock]",
		"[vsyscall]",
		"[vectors]",
		"[sigpage]",
		"[uprobes]",
		"/dev/zero",
		"/dev/zero (deleted)",
		"/anon_hugepage",
		"/anon_hugepage (deleted)",
		/* backstitch's own */
		"[unknown]",
		"[unnamed file]",
		"[guest kernel]",
		"[guest user]",
		"[script]",
		"[jit]",
	};

	return any_where(ARRAY_SIZE(word), i, !strcmp(path, word[i]));
}

/* Writes "[anon:text-1]" for "[anon:pool]". Returns the length, or 0 if path is
 * no such name. */
static size_t redact_put_anon(struct redact *rd, const char *path, char *out,
			      size_t size)
{
	static const char *const start[] = { "[anon:", "[anon_shmem:" };

	for (size_t i = 0; i < ARRAY_SIZE(start); i++) {
		size_t n = strlen(start[i]);

		if (!strncmp(path, start[i], n))
			return (size_t)snprintf(
				out, size, "%stext-%u]", start[i],
				redact_number(rd, 't', path + n,
					      strlen(path + n)));
	}
	return 0;
}

/* redact(how, value): the word that replaces the value. */
static void redact_value(sqlite3_context *ctx, int argc UNUSED,
			 sqlite3_value **v)
{
	static const char *const form[] = {
		[REDACT_COMM] = "comm-%u",  [REDACT_NAME] = "function_%u",
		[REDACT_HOST] = "host-%u",  [REDACT_TEXT] = "text-%u",
		[REDACT_STATE] = "text-%u",
	};
	struct redact *rd = sqlite3_user_data(ctx);
	enum redact_how how = (enum redact_how)sqlite3_value_int(v[0]);
	const char *text = (const char *)sqlite3_value_text(v[1]);
	char out[WORD_MAX * 2];
	size_t n;

	if (!text || !*text ||
	    (how == REDACT_PATH && redact_is_special(text)) ||
	    (how == REDACT_STATE &&
	     !text[strspn(text, "RSDTtXZPIKW|+-,0123456789")])) {
		sqlite3_result_value(ctx, v[1]);
		return;
	}
	rd->counts.values++;
	n = how == REDACT_PATH ? redact_put_anon(rd, text, out, sizeof(out))
			       : 0;
	if (how == REDACT_PATH && !n) {
		/* Writes "/d1/d2/f1 (deleted)" for "/data/joe/a.out
		 * (deleted)". By the other endings, record --waits is known. */
		static const char *const ends[] = { " (deleted)", ".ftrace",
						    ".cgroups" };
		size_t size = sizeof(out);
		size_t len = strlen(text);
		size_t tail = 0;
		size_t count = 0;

		for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
			size_t k = strlen(ends[i]);

			if (len >= k && !strcmp(text + len - k, ends[i]))
				tail = k;
		}
		for (const char *p = text;
		     p < text + len - tail && count < size - 64;) {
			size_t part = strcspn(p, "/");

			if (part > (size_t)(text + len - tail - p))
				part = (size_t)(text + len - tail - p);
			char prefix = p[part] == '/' ? 'd' : 'f';

			if (part)
				count += (size_t)snprintf(
					out + count, size - count, "%c%u",
					prefix,
					redact_number(rd, prefix, p, part));
			p += part;
			if (*p == '/') {
				out[count++] = '/';
				p++;
			}
		}
		n = count + (size_t)snprintf(out + count, size - count, "%s",
					     text + len - tail);
	} else if (!n)
		n = (size_t)snprintf(
			out, sizeof(out), form[how],
			redact_number(rd, form[how][0], text, strlen(text)));
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

/* Returns whether an image is code of the kernel, or one of its own mappings in
 * a process. */
static bool redact_is_kernels(enum image_kind kind, const char *path)
{
	switch (kind) {
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_OOL:
	case IMAGE_SYMBOLS:
		return true;
	case IMAGE_VDSO:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
		return !path || redact_is_special(path);
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

/* kept(kind, path): 1 if the image is not redacted. */
static void redact_kept(sqlite3_context *ctx, int argc UNUSED,
			sqlite3_value **v)
{
	const struct redact *rd = sqlite3_user_data(ctx);
	int kind = sqlite3_value_int(v[0]);
	const char *path = (const char *)sqlite3_value_text(v[1]);
	bool keep = redact_is_kernels((enum image_kind)kind, path);

	for (size_t i = 0; path && !keep && i < rd->o->n_keep; i++)
		keep = !fnmatch(rd->o->keep[i], path, 0);
	sqlite3_result_int(ctx, keep);
}

/* Applies the rule of a column. In a column whose text is replaced, blobs
 * become NULL, because their contents are unknown. */
static int redact_column(struct redact *rd, const struct redact_column *c,
			 struct err *err)
{
	char sql[SQL_MAX];
	char where[SQL_MAX / 2] = "1";

	if (c->image)
		snprintf(where, sizeof(where),
			 "%s NOT IN (SELECT id FROM temp.kept)", c->image);
	if (c->how == REDACT_COMM)
		sqlite3_snprintf(sizeof(where), where,
				 "\"%w\" NOT IN temp.kernel_comm", c->column);
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
	return maker_exec(rd->mk, sql, err);
}

/* Returns the rule for a field of an event, by its name. */
static enum redact_how redact_field_how(const char *column)
{
	size_t n = strlen(column);

	if (n >= 4 && !strcmp(column + n - 4, "comm"))
		return REDACT_COMM;
	if (!strcmp(column, "prev_state") || !strcmp(column, "cpus"))
		return REDACT_STATE;
	/* of the recorder's readings: the same as capture.host */
	if (!strcmp(column, "host"))
		return REDACT_HOST;
	return strstr(column, "path") || strstr(column, "file") ? REDACT_PATH
								: REDACT_TEXT;
}

static int redact_fields(struct redact *rd, struct err *err)
{
	struct rows *r = rows_of(maker_read(rd->mk, err), "redact_fields", err);

	while (rows_step(r)) {
		const char *column = rows_text(r, REDACT_FIELDS_COLUMN);
		const struct redact_column c = {
			rows_text(r, REDACT_FIELDS_TABLE), column,
			redact_field_how(column), NULL
		};

		if (redact_column(rd, &c, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

static int redact_tables(struct redact *rd, struct err *err)
{
	char comm[16];
	const struct sql_gap gap = { "comm", comm };

	snprintf(comm, sizeof(comm), "%d", REDACT_COMM);
	char *begin OWNED = store_sql_fill("redact_begin", &gap, 1);

	if (maker_exec(rd->mk, begin, err) ||
	    maker_exec(rd->mk, store_sql("redact_payloads"), err))
		return -1;
	for (const struct redact_column *c = redact_columns; c->table; c++)
		if (c->how != REDACT_KEEP && redact_column(rd, c, err))
			return -1;
	if (redact_fields(rd, err) ||
	    maker_exec(rd->mk, store_sql("redact_end"), err) ||
	    labels_make(rd->mk, err))
		return -1;
	return maker_exec(rd->mk, "COMMIT; VACUUM", err);
}

static int redact_register(struct redact *rd, struct err *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int rc = sqlite3_create_function_v2(rd->mk->db->db, "redact", 2, flags,
					    rd, redact_value, NULL, NULL, NULL);

	if (!rc)
		rc = sqlite3_create_function_v2(rd->mk->db->db, "kept", 2,
						flags, rd, redact_kept, NULL,
						NULL, NULL);
	return rc ? db_error(rd->mk->db, rc, err) : 0;
}

int store_redact(const char *path, const char *name,
		 const struct redact_opts *o, struct redact_counts *counts,
		 struct err *err)
{
	struct redact rd = { .o = o };
	int rc = -1;

	rd.mk = maker_open(path, name, err);
	/* for VACUUM */
	if (rd.mk)
		sqlite3_limit(rd.mk->db->db, SQLITE_LIMIT_ATTACHED, 1);
	if (rd.mk && !redact_register(&rd, err))
		rc = redact_tables(&rd, err);
	maker_free(rd.mk);
	rd.counts.words = rd.n_number;
	*counts = rd.counts;
	free(rd.number);
	intern_release(&rd.words);
	return rc;
}

int store_copy(struct store *db, const char *path, const char *name,
	       struct err *err)
{
	char *plain = db_plain_name(path);
	sqlite3_stmt *st = NULL;

	sqlite3_set_authorizer(db->db, NULL, NULL);
	sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 1);
	int rc = db_exec(db, "PRAGMA query_only=OFF", err);
	if (!rc)
		st = db_prepare(db, "VACUUM INTO ?1", err);
	if (st) {
		sqlite3_bind_text(st, 1, plain, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
		/* most errors concern the new file */
		rc = rc == SQLITE_DONE ? 0 : problem_set(db->db, name, rc, err);
	}
	sqlite3_finalize(st);
	free(plain);
	return !st || rc ? -1 : guard_reading(db, err);
}
