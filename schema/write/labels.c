/* labels.c - the text of a frame in a line of folded stacks. */
#include <stdio.h>
#include <string.h>

#include "schema/db/db.h"
#include "schema/write/writing.h"
#include "stitch/base/path.h"
#include "stitch/base/utf8.h"
#include "stitch/tasks/frame.h"

#define LABEL_SIZE 4096

/* ';' separates frames and a newline separates stacks. Names come from
 * captures, so bytes that a terminal obeys or cannot show are escaped too. */
size_t labels_text(const char *s, char *out, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	while (*s && n + 5 < size) {
		unsigned char c = (unsigned char)*s;
		size_t len = utf8_safe(s, strnlen(s, 4));

		if (len) {
			memcpy(out + n, s, len);
			if (c == ';')
				out[n] = ':';
			n += len;
			s += len;
			continue;
		}
		out[n++] = '\\';
		out[n++] = 'x';
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
		s++;
	}
	out[n] = '\0';
	return n;
}

/* Writes "[libc.so.6]" for a frame without a name, as stackcollapse-perf does.
 */
static size_t labels_image(const char *path, char *out, size_t size)
{
	const char *base = path && *path ? path_name(path) : "unknown";
	size_t n;

	if (*base == '[')
		return labels_text(base, out, size);
	out[0] = '[';
	n = labels_text(base, out + 1, size - 2) + 1;
	out[n++] = ']';
	out[n] = '\0';
	return n;
}

static const char *labels_kind_mark(int kind)
{
	switch (kind) {
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_BPF:
	case IMAGE_OOL:
	case IMAGE_SYMBOLS:
		return "_[k]";
	case IMAGE_JIT:
		return "_[j]";
	default:
		return "";
	}
}

/* frame_label(symbol, path, kind): a frame in folded stacks. */
static void frame_label(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	char out[LABEL_SIZE];
	const char *name = (const char *)sqlite3_value_text(v[0]);
	const char *path = (const char *)sqlite3_value_text(v[1]);
	size_t n;

	(void)argc;
	if (name)
		n = labels_text(name, out, sizeof(out) - 8);
	else
		n = labels_image(path, out, sizeof(out) - 8);
	n += (size_t)snprintf(out + n, sizeof(out) - n, "%s",
			      labels_kind_mark(sqlite3_value_int(v[2])));
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

/* inline_label(name): a function inlined at a frame. */
static void inline_label(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	char out[LABEL_SIZE];
	const char *name = (const char *)sqlite3_value_text(v[0]);
	size_t n = labels_text(name ? name : "[unknown]", out, sizeof(out) - 8);

	(void)argc;
	n += (size_t)snprintf(out + n, sizeof(out) - n, "_[i]");
	sqlite3_result_text(ctx, out, (int)n, SQLITE_TRANSIENT);
}

int labels_register(struct store *db, struct err *err)
{
	const int flags =
		SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	int rc =
		sqlite3_create_function_v2(db->db, "frame_label", 3, flags,
					   NULL, frame_label, NULL, NULL, NULL);

	if (!rc)
		rc = sqlite3_create_function_v2(db->db, "inline_label", 1,
						flags, NULL, inline_label, NULL,
						NULL, NULL);
	return rc ? db_error(db, rc, err) : 0;
}
