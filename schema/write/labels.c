/* labels.c - the text of a frame in a line of folded stacks. */
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/db/db.h"
#include "schema/db/int_rows.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"
#include "stitch/base/path.h"
#include "stitch/base/utf8.h"
#include "stitch/tasks/frame.h"

#define LABEL_SIZE 4088

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

struct label_image {
	const char *name; /* of frames without a symbol */
	const char *mark;
};

struct label_inlined {
	int64_t frame;
	const char *name;
};

/* What the labels of frames are made of. */
struct label_making {
	struct store *db; /* borrowed */
	struct arena text;
	struct label_image *image; /* by id */
	const char **symbol; /* by id; NULL: it has no name. 0 is no symbol */
	struct label_inlined *inlined; /* by frame, the outermost first */
	char *line;
	size_t n_image, cap_image, n_symbol, cap_symbol;
	size_t n_inlined, cap_inlined, n_line, cap_line;
};

static int labels_read_images(struct label_making *m, struct err *err)
{
	struct rows *r = rows_dense(m->db, "code_images", err);
	char name[LABEL_SIZE];

	while (rows_step(r)) {
		struct label_image *img =
			mem_add(m->image, m->n_image, m->cap_image);

		labels_image(rows_text(r, CODE_IMAGES_PATH), name,
			     sizeof(name));
		img->name = arena_strdup(&m->text, name);
		img->mark =
			labels_kind_mark((int)rows_int(r, CODE_IMAGES_KIND));
	}
	return rows_end(r, err);
}

static int labels_read_symbols(struct label_making *m, struct err *err)
{
	struct rows *r = rows_dense(m->db, "label_symbols", err);
	char name[LABEL_SIZE];

	while (rows_step(r)) {
		struct value v = rows_value(r, LABEL_SYMBOLS_NAME);

		labels_text(rows_text(r, LABEL_SYMBOLS_NAME), name,
			    sizeof(name));
		*mem_add(m->symbol, m->n_symbol, m->cap_symbol) =
			v.kind == VALUE_NULL ? NULL
					     : arena_strdup(&m->text, name);
	}
	return rows_end(r, err);
}

static int labels_read_inlined(struct label_making *m, struct err *err)
{
	struct rows *r = rows_of(m->db, "label_inlines", err);
	char name[LABEL_SIZE];

	while (rows_step(r)) {
		labels_text(rows_text(r, LABEL_INLINES_NAME), name,
			    sizeof(name));
		*mem_add(m->inlined, m->n_inlined, m->cap_inlined) =
			(struct label_inlined){
				rows_int(r, LABEL_INLINES_FRAME),
				arena_strdup(&m->text, name),
			};
	}
	return rows_end(r, err);
}

static void label_add(struct label_making *m, const char *s)
{
	size_t n = strlen(s);

	m->line = mem_grow(m->line, &m->cap_line, m->n_line + n, 1);
	memcpy(m->line + m->n_line, s, n);
	m->n_line += n;
}

static int labels_put(struct label_making *m, struct err *err)
{
	struct int_rows *q =
		int_rows_open(m->db, store_sql("label_frames"), err);
	struct int_row f;
	size_t at = 0; /* the first inlined function of f, or of a later one */
	int ret = q ? 1 : -1;

	while (ret > 0 && (ret = int_rows_next(q, &f, err)) > 0) {
		uint64_t frame = (uint64_t)f.v[0], image = (uint64_t)f.v[1];
		uint64_t symbol = (uint64_t)f.v[2];
		const char *name;
		struct row row;

		if (!image || image >= m->n_image || frame >= UINT32_MAX)
			continue; /* no view shows a frame without an image */
		name = symbol < m->n_symbol ? m->symbol[symbol] : NULL;
		m->n_line = 0;
		label_add(m, name ? name : m->image[image].name);
		label_add(m, m->image[image].mark);
		for (; at < m->n_inlined &&
		       m->inlined[at].frame <= (int64_t)frame;
		     at++)
			if (m->inlined[at].frame == (int64_t)frame) {
				label_add(m, ";");
				label_add(m, m->inlined[at].name);
				label_add(m, "_[i]");
			}
		if (db_row(m->db, T_LABEL, m->n_line, &row, err)) {
			ret = -1;
			break;
		}
		row_key(&row, (uint32_t)frame);
		row_bytes(&row, 1, CELL_TEXT, m->line, m->n_line);
	}
	int_rows_close(q);
	return ret;
}

int labels_make(struct store *db, struct err *err)
{
	struct label_making m = { .db = db };
	int ret = -1;

	*mem_add(m.image, m.n_image, m.cap_image) = (struct label_image){ 0 };
	*mem_add(m.symbol, m.n_symbol, m.cap_symbol) = NULL;
	if (!db_exec(db, sql_file("finish"), err) &&
	    !labels_read_images(&m, err) && !labels_read_symbols(&m, err) &&
	    !labels_read_inlined(&m, err))
		ret = labels_put(&m, err);
	arena_release(&m.text);
	free(m.image);
	free(m.symbol);
	free(m.inlined);
	free(m.line);
	return ret;
}
