/* labels.c - makes the text of a frame in a line of folded stacks. */
#include "schema/write/labels.h"

#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/db/sums_code.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/utf8.h"
#include "stitch/files/path.h"
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

		if (c >= ' ' && c < 0x7f) { /* nearly all */
			out[n++] = c == ';' ? ':' : *s;
			s++;
			continue;
		}
		size_t len = utf8_safe(s, strnlen(s, 4));

		if (len) {
			memcpy(out + n, s, len);
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

struct label_image {
	const char *name; /* of frames without a symbol */
	const char *mark;
};

struct label_inlined {
	uint64_t key; /* frame, and 2^32 - 1 - depth: the outermost first */
	const char *name;
};

struct label_making {
	struct arena text;
	struct label_image *image; /* by id; 0 is no image */
	const char **symbol; /* by id; NULL: it has no name. 0 is no symbol */
	struct label_inlined *inlined;
	char *line;
	size_t n_image, cap_image, n_symbol, cap_symbol;
	size_t n_inlined, cap_inlined, n_line, cap_line;
	size_t at; /* the next of inlined[] */
};

static struct label_making *label_making_new(void)
{
	struct label_making *l = mem_new(1, sizeof(*l));

	*mem_add(l->image, l->n_image, l->cap_image) =
		(struct label_image){ 0 };
	*mem_add(l->symbol, l->n_symbol, l->cap_symbol) = NULL;
	return l;
}

/* NULL is fine */
static void label_making_free(struct label_making *l)
{
	if (!l)
		return;
	arena_release(&l->text);
	free_all(l->image, l->symbol, l->inlined, l->line, l);
}

/* Makes the label of frames without a name: "[libc.so.6]", as in
 * stackcollapse-perf. */
static void labels_image_of(struct label_making *l, const char *path,
			    enum image_kind kind)
{
	const char *base = path && *path ? path_name(path) : "unknown";
	bool of_kernel = image_is_kernel(kind) && kind != IMAGE_GUEST;
	char name[LABEL_SIZE] = "[";
	size_t n;

	if (*base == '[') {
		labels_text(base, name, sizeof(name));
	} else {
		n = labels_text(base, name + 1, sizeof(name) - 2) + 1;
		memcpy(name + n, "]", 2);
	}
	*mem_add(l->image, l->n_image, l->cap_image) = (struct label_image){
		arena_strdup(&l->text, name),
		of_kernel	    ? "_[k]"
		: kind == IMAGE_JIT ? "_[j]"
				    : "",
	};
}

static void labels_symbol(struct label_making *l, uint32_t id, const char *name)
{
	char text[LABEL_SIZE];

	labels_text(name, text, sizeof(text));
	*mem_at(l->symbol, l->n_symbol, l->cap_symbol, id) =
		arena_strdup(&l->text, text);
}

/* Adds a function that was inlined into a frame. None is added twice with the
 * same depth; the outermost function has the highest. */
static void labels_inlined(struct label_making *l, uint32_t frame,
			   uint32_t depth, const char *name)
{
	char text[LABEL_SIZE];

	labels_text(name, text, sizeof(text));
	*mem_add(l->inlined, l->n_inlined, l->cap_inlined) =
		(struct label_inlined){
			(uint64_t)frame << 32 | (UINT32_MAX - depth),
			arena_strdup(&l->text, text),
		};
}

COMPARE_BY(label_by_frame, struct label_inlined, key);

static int labels_read_images(struct label_making *l, struct maker *mk,
			      struct err *err)
{
	struct rows *r = rows_dense(maker_read(mk, err), "code_images", err);

	while (rows_step(r))
		labels_image_of(l, rows_text(r, CODE_IMAGES_PATH),
				(enum image_kind)rows_int(r, CODE_IMAGES_KIND));
	return rows_end(r, err);
}

static int labels_read_symbols(struct label_making *l, struct maker *mk,
			       struct err *err)
{
	struct rows *r = rows_dense(maker_read(mk, err), "label_symbols", err);

	while (rows_step(r)) {
		struct value v = rows_value(r, LABEL_SYMBOLS_NAME);

		if (v.kind == VALUE_NULL)
			*mem_add(l->symbol, l->n_symbol, l->cap_symbol) = NULL;
		else
			labels_symbol(l, (uint32_t)l->n_symbol,
				      rows_text(r, LABEL_SYMBOLS_NAME));
	}
	return rows_end(r, err);
}

static int labels_read_inlined(struct label_making *l, struct maker *mk,
			       struct err *err)
{
	struct rows *r = rows_of(maker_read(mk, err), "label_inlines", err);

	while (rows_step(r)) {
		int64_t frame = rows_int(r, LABEL_INLINES_FRAME);

		/* the outermost comes first */
		if (frame > 0 && frame < UINT32_MAX)
			labels_inlined(l, (uint32_t)frame, 0,
				       rows_text(r, LABEL_INLINES_NAME));
	}
	return rows_end(r, err);
}

static void label_add(struct label_making *l, const char *s)
{
	size_t n = strlen(s);

	mem_append(l->line, l->n_line, l->cap_line, s, n);
}

/* Writes the label of a frame, whose id must be above the last one. symbol: of
 * its function; 0: none. Returns 0, or -1 and *err. */
static int labels_put(struct label_making *l, struct maker *mk, uint32_t frame,
		      uint64_t image, uint64_t symbol, struct err *err)
{
	const char *name = symbol < l->n_symbol ? l->symbol[symbol] : NULL;

	if (!image || image >= l->n_image)
		return 0; /* no view shows a frame without an image */
	l->n_line = 0;
	label_add(l, name ? name : l->image[image].name);
	label_add(l, l->image[image].mark);
	for (; l->at < l->n_inlined && l->inlined[l->at].key >> 32 <= frame;
	     l->at++)
		if (l->inlined[l->at].key >> 32 == frame) {
			label_add(l, ";");
			label_add(l, l->inlined[l->at].name);
			label_add(l, "_[i]");
		}
	struct block *b = maker_packed(mk, T_LABEL, l->n_line, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, frame, l->n_line);

	packing_bytes(&p, RECORD_TEXT, l->line, l->n_line);
	packing_end(&p);
	return 0;
}

/* A frame in the query label_frames. */
struct label_frame {
	uint32_t id;
	int64_t image, symbol;
};

int labels_make(struct maker *mk, struct err *err)
{
	struct label_making *l = label_making_new();
	int ret = -1;

	if (!maker_exec(mk, "DELETE FROM internal_label", err) &&
	    !labels_read_images(l, mk, err) &&
	    !labels_read_symbols(l, mk, err) &&
	    !labels_read_inlined(l, mk, err)) {
		/* No row is read while another one is put: the frames are read
		 * first. */
		struct rows *r = rows_ints(maker_read(mk, err),
					   store_sql("label_frames"), err);
		struct label_frame *frame = NULL;
		size_t n = 0, cap = 0;
		struct int_row row;

		while (rows_step_ints(r, &row))
			if (row.v[0] > 0 && row.v[0] < UINT32_MAX)
				*mem_add(frame, n, cap) = (struct label_frame){
					(uint32_t)row.v[0], row.v[1], row.v[2]
				};
		ret = rows_end(r, err);

		for (size_t i = 0; !ret && i < n; i++)
			ret = labels_put(l, mk, frame[i].id,
					 (uint64_t)frame[i].image,
					 (uint64_t)frame[i].symbol, err);
		free(frame);
	}
	label_making_free(l);
	return ret;
}

struct frame_names {
	struct frame_name *name; /* by frame */
	size_t n, cap;
	struct intern files;
	struct label_making *labels;
};

struct frame_names *frame_names_new(void)
{
	struct frame_names *fn = mem_new(1, sizeof(*fn));

	fn->labels = label_making_new();
	return fn;
}

void frame_names_free(struct frame_names *fn)
{
	if (!fn)
		return;
	intern_release(&fn->files);
	label_making_free(fn->labels);
	free_all(fn->name, fn);
}

void frame_names_put(struct maker *mk, uint32_t frame,
		     const struct frame_name *name)
{
	struct frame_names *fn = mk->w->frame_names;

	*mem_at(fn->name, fn->n, fn->cap, frame) = *name;
	if (name->file)
		fn->name[frame].file = intern_get(
			&fn->files, intern_add(&fn->files, name->file));
}

void frame_names_symbol(struct maker *mk, uint32_t id, const char *name)
{
	if (mk->w->frame_names)
		labels_symbol(mk->w->frame_names->labels, id, name);
}

void frame_names_inlined(struct maker *mk, uint32_t frame, uint32_t depth,
			 const char *name)
{
	if (mk->w->frame_names)
		labels_inlined(mk->w->frame_names->labels, frame, depth, name);
}

static const struct frame_name *frame_names_of(const struct frame_names *fn,
					       uint32_t frame)
{
	static const struct frame_name none;

	return frame < fn->n ? &fn->name[frame] : &none;
}

static int frame_names_put_row(struct maker *mk, uint32_t id,
			       const struct frame_name *name, struct err *err)
{
	const struct frame *f = frames_get_frame(mk->w->fr, id);
	size_t len = name->file ? strlen(name->file) : 0;
	struct block *b = maker_packed(mk, T_FRAME, len, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, len);

	packing_int(&p, f->image);
	packing_int(&p, (int64_t)f->off);
	packing_int(&p, f->flags);
	packing_known(&p, name->has_vaddr, name->vaddr);
	packing_id(&p, name->symbol);
	packing_known(&p, name->symbol, (int64_t)name->symoff);
	if (name->file)
		packing_bytes(&p, RECORD_TEXT, name->file, len);
	else
		packing_null(&p);
	packing_id(&p, name->line);
	packing_end(&p);
	return 0;
}

int frame_names_write(struct maker *mk, bool labels, struct err *err)
{
	struct frame_names *fn = mk->w->frame_names;
	int rc = 0;

	if (!fn)
		return 0;
	mk->w->frame_names = NULL;
	for (uint32_t id = 1; !rc && id <= mk->w->frames; id++)
		rc = frame_names_put_row(mk, id, frame_names_of(fn, id), err);
	if (!rc && labels) {
		/* all symbols and inlined functions were added; fr has the
		 * images */
		for (uint32_t i = 1; i <= mk->w->fr->n_image; i++) {
			const struct image *img =
				frames_get_image(mk->w->fr, i);

			labels_image_of(fn->labels, img->path, img->kind);
		}
		sort_items(fn->labels->inlined, fn->labels->n_inlined,
			   label_by_frame);
		for (uint32_t id = 1; !rc && id <= mk->w->frames; id++)
			rc = labels_put(fn->labels, mk, id,
					frames_get_frame(mk->w->fr, id)->image,
					frame_names_of(fn, id)->symbol, err);
		mk->w->labelled = true;
		mk->w->renamed = false;
	}
	frame_names_free(fn);
	return rc;
}

void store_sums_only(struct maker *mk)
{
	mk->db->sums = sums_code_new(mk->w->fr);
	/* it has no rows of frames */
	frame_names_free(mk->w->frame_names);
	mk->w->frame_names = NULL;
}
