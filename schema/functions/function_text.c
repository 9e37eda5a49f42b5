/* function_text.c - SQL functions that return one value: text of stacks and
 * frames, hexadecimal numbers, demangled names, wall-clock time.
 *
 * Stacks are walked from the innermost frame by stack.parent, which is less
 * than the stack's own id: anything else is an error, so that a damaged table
 * cannot make the walk endless. */
#include <inttypes.h>

#include "schema/columns.h"
#include "schema/functions/functions.h"
#include "stitch/files/path.h"
#include "stitch/order/clocks.h"
#include "stitch/base/mem.h"

#define NO_ROW 100 /* no error, but the result is NULL */
#define DEPTH_MAX 65536
#define NAME_BUF 16384

static struct functions *functions_of(sqlite3_context *ctx)
{
	return sqlite3_user_data(ctx);
}

static void text_fail(sqlite3_context *ctx, char *message)
{
	if (message)
		sqlite3_result_error(ctx, message, -1);
	else
		sqlite3_result_error_nomem(ctx);
	sqlite3_free(message);
}

/* Steps to the first row of a statement for id. Returns 0, NO_ROW, or -1 after
 * setting the result to the error. The caller resets *out. */
static int text_look_up(sqlite3_context *ctx, enum function_query q,
			sqlite3_int64 id, sqlite3_stmt **out)
{
	struct functions *fs = functions_of(ctx);
	int rc = SQLITE_ERROR;

	*out = functions_statement(fs, q);
	if (*out) {
		sqlite3_bind_int64(*out, 1, id);
		rc = sqlite3_step(*out);
	}
	if (rc == SQLITE_ROW)
		return 0;
	if (rc == SQLITE_DONE)
		return NO_ROW;
	sqlite3_result_error(ctx, sqlite3_errmsg(fs->db), -1);
	return -1;
}

/* The frames of a stack. */
struct stack_frames {
	sqlite3_int64 *frame; /* innermost first */
	size_t n, cap;
};

static int text_damaged(sqlite3_context *ctx, sqlite3_int64 stack)
{
	text_fail(ctx, sqlite3_mprintf("the database is damaged: stack %lld",
				       stack));
	return -1;
}

/* Reads the frames of a stack. Returns 0, NO_ROW, or -1 after setting the
 * result to the error. */
static int text_load_path(sqlite3_context *ctx, sqlite3_int64 stack,
			  struct stack_frames *p)
{
	int rc = 0;

	while (!rc) {
		sqlite3_stmt *st;

		rc = text_look_up(ctx, Q_STACK, stack, &st);
		if (rc == NO_ROW && p->n)
			rc = text_damaged(ctx, stack);
		if (rc) {
			sqlite3_reset(st);
			break;
		}
		bool last =
			sqlite3_column_type(st, FN_STACK_PARENT) == SQLITE_NULL;
		sqlite3_int64 parent =
			sqlite3_column_int64(st, FN_STACK_PARENT);

		*mem_add(p->frame, p->n, p->cap) =
			sqlite3_column_int64(st, FN_STACK_FRAME);
		sqlite3_reset(st);
		if (last)
			break;
		if (parent >= stack || p->n >= DEPTH_MAX)
			rc = text_damaged(ctx, stack);
		stack = parent;
	}
	return rc;
}

/* Ends what text_begin() began: the text is the result, unless rc is set. */
static void text_end(sqlite3_context *ctx, sqlite3_str *s, int rc)
{
	int error = sqlite3_str_errcode(s);
	int n = sqlite3_str_length(s);
	char *text = sqlite3_str_finish(s);

	functions_leave(functions_of(ctx));
	if (!rc && error == SQLITE_TOOBIG)
		sqlite3_result_error_toobig(ctx);
	else if (!rc && error)
		sqlite3_result_error_nomem(ctx);
	else if (!rc && text)
		sqlite3_result_text(ctx, text, n, sqlite3_free);
	else if (!rc)
		sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
	if (rc || error)
		sqlite3_free(text);
}

/* Appends "symbol+0x12 (file)" or "[unknown] (file+0x1234)". */
static int text_put_line(sqlite3_context *ctx, sqlite3_str *s,
			 sqlite3_int64 frame)
{
	sqlite3_stmt *st;
	int rc = text_look_up(ctx, Q_FRAME, frame, &st);

	if (!rc) {
		const char *path = db_column_text(st, FN_FRAME_PATH);
		const char *name = db_column_text(st, FN_FRAME_NAME);

		path = path ? path : "[unknown]";
		if (name)
			sqlite3_str_appendf(
				s, "%s+0x%llx (%s)", name,
				sqlite3_column_int64(st, FN_FRAME_SYMOFF),
				path);
		else
			sqlite3_str_appendf(
				s, "[unknown] (%s+0x%llx)", path,
				sqlite3_column_int64(st, FN_FRAME_OFF));
	} else if (rc == NO_ROW) {
		sqlite3_str_appendall(s, "[unknown]");
	}
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

/* Begins a text made of tables. Returns NULL after setting the result to the
 * error if the tables must not be read. */
static sqlite3_str *text_begin(sqlite3_context *ctx, const char *name)
{
	char *message = NULL;

	if (!functions_enter(functions_of(ctx), name, &message)) {
		text_fail(ctx, message);
		return NULL;
	}
	return sqlite3_str_new(functions_of(ctx)->db);
}

void function_stack_text(sqlite3_context *ctx, int argc UNUSED,
			 sqlite3_value **v)
{
	struct stack_frames p = { 0 };

	if (sqlite3_value_type(v[0]) == SQLITE_NULL)
		return;
	sqlite3_str *s = text_begin(ctx, "stack_text()");

	if (!s)
		return;
	int rc = text_load_path(ctx, sqlite3_value_int64(v[0]), &p);

	for (size_t i = 0; !rc && i < p.n && !sqlite3_str_errcode(s); i++) {
		if (i)
			sqlite3_str_appendchar(s, 1, '\n');
		/* Appends the functions inlined at a frame. */
		sqlite3_stmt *st;
		int ret = text_look_up(ctx, Q_INLINED, p.frame[i], &st);

		while (!ret) {
			sqlite3_str_appendf(
				s, "%s (inlined)\n",
				sqlite3_column_text(st, FN_INLINED_NAME));
			int step = sqlite3_str_errcode(s) ? SQLITE_DONE
							  : sqlite3_step(st);
			if (step == SQLITE_DONE)
				break;
			if (step != SQLITE_ROW) {
				text_fail(ctx, sqlite3_mprintf(
						       "%s",
						       sqlite3_errmsg(
							       functions_of(ctx)
								       ->db)));
				ret = -1;
			}
		}
		sqlite3_reset(st);
		rc = ret < 0 ? -1 : text_put_line(ctx, s, p.frame[i]);
	}
	free(p.frame);
	text_end(ctx, s, rc);
}

/* Appends the labels of a stack, outermost first. Returns 0, NO_ROW, or -1
 * after setting the result to the error. */
static int text_put_folded(sqlite3_context *ctx, sqlite3_str *s,
			   sqlite3_value *v)
{
	struct stack_frames p = { 0 };
	int rc = sqlite3_value_type(v) == SQLITE_NULL
			 ? NO_ROW
			 : text_load_path(ctx, sqlite3_value_int64(v), &p);

	for (size_t i = p.n; !rc && i-- > 0 && !sqlite3_str_errcode(s);) {
		sqlite3_stmt *st;
		int found = text_look_up(ctx, Q_LABEL, p.frame[i], &st);

		if (found < 0)
			rc = -1;
		if (sqlite3_str_length(s))
			sqlite3_str_appendchar(s, 1, ';');
		sqlite3_str_appendall(
			s, found ? "[unknown]"
				 : db_column_text(st, FN_LABEL_NAME));
		sqlite3_reset(st);
	}
	free(p.frame);
	return rc;
}

void function_folded(sqlite3_context *ctx, int argc UNUSED, sqlite3_value **v)
{
	sqlite3_str *s = text_begin(ctx, "folded()");

	if (!s)
		return;
	int user = text_put_folded(ctx, s, v[1]);
	int kernel = user < 0 ? -1 : text_put_folded(ctx, s, v[0]);

	text_end(ctx, s, user < 0 || kernel < 0 || (user && kernel));
}

void function_frame_name(sqlite3_context *ctx, int argc UNUSED,
			 sqlite3_value **v)
{
	sqlite3_stmt *st;

	if (sqlite3_value_type(v[0]) == SQLITE_NULL)
		return;
	sqlite3_str *s = text_begin(ctx, "frame_name()");

	if (!s)
		return;
	int rc = text_look_up(ctx, Q_FRAME, sqlite3_value_int64(v[0]), &st);

	if (!rc && sqlite3_column_type(st, FN_FRAME_NAME) != SQLITE_NULL) {
		sqlite3_str_appendall(s, db_column_text(st, FN_FRAME_NAME));
	} else if (!rc) {
		const char *path = db_column_text(st, FN_FRAME_PATH);

		sqlite3_str_appendf(s, "%s+0x%llx",
				    path ? path_name(path) : "[unknown]",
				    sqlite3_column_int64(st, FN_FRAME_OFF));
	}
	sqlite3_reset(st);
	text_end(ctx, s, rc);
}

/* SQLite's own hex() converts the decimal digits of an integer one by one. This
 * one writes the value; for everything else it does the same as SQLite's. */
void function_hex(sqlite3_context *ctx, int argc UNUSED, sqlite3_value **v)
{
	static const char digit[] = "0123456789ABCDEF";
	sqlite3 *db = sqlite3_context_db_handle(ctx);

	if (sqlite3_value_type(v[0]) == SQLITE_INTEGER) {
		char text[24];

		snprintf(text, sizeof(text), "0x%" PRIx64,
			 (uint64_t)sqlite3_value_int64(v[0]));
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
		return;
	}
	const unsigned char *p = sqlite3_value_blob(v[0]);
	size_t n = (size_t)sqlite3_value_bytes(v[0]);

	if (n > (size_t)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1) / 2) {
		sqlite3_result_error_toobig(ctx);
		return;
	}
	char *out = sqlite3_malloc64(n * 2 + 1);

	if (!out) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		out[i * 2] = digit[p[i] >> 4];
		out[i * 2 + 1] = digit[p[i] & 15];
	}
	out[n * 2] = '\0';
	sqlite3_result_text(ctx, out, (int)(n * 2), sqlite3_free);
}

/* A name that is not mangled is returned unchanged. */
void function_demangle(sqlite3_context *ctx, int argc UNUSED, sqlite3_value **v)
{
	if (sqlite3_value_type(v[0]) == SQLITE_NULL)
		return;
	const char *name = (const char *)sqlite3_value_text(v[0]);
	char *buf = name ? sqlite3_malloc(NAME_BUF) : NULL;
	if (!buf)
		sqlite3_result_error_nomem(ctx);
	else if (functions_of(ctx)->demangle(name, buf, NAME_BUF))
		sqlite3_result_text(ctx, buf, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_value(ctx, v[0]);
	sqlite3_free(buf);
}

/* Stores what to add to a time for ns since 1970. Returns 0, NO_ROW, or -1. */
static int text_wall_offset(sqlite3_context *ctx, sqlite3_int64 *offset)
{
	char *message = NULL;
	sqlite3_stmt *st;

	if (!functions_enter(functions_of(ctx), "wall()", &message)) {
		text_fail(ctx, message);
		return -1;
	}
	int rc = text_look_up(ctx, Q_WALL, 0, &st);

	if (!rc)
		*offset = sqlite3_column_int64(st, FN_WALL_VALUE);
	sqlite3_reset(st);
	functions_leave(functions_of(ctx));
	return rc;
}

void function_wall(sqlite3_context *ctx, int argc UNUSED, sqlite3_value **v)
{
	sqlite3_int64 offset = 0;
	char text[CLOCK_UTC_SIZE];
	int64_t t = sqlite3_value_int64(v[0]);

	if (sqlite3_value_type(v[0]) == SQLITE_NULL ||
	    text_wall_offset(ctx, &offset) ||
	    __builtin_add_overflow(t, offset, &t) || !clock_utc(t, text))
		return;
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}
