/* stack_names.c - all stacks of a database as labels. */
#include "cli/stack_names.h"

#include <stdlib.h>
#include <string.h>

#include "cli/label.h"
#include "cli/stack_tree.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/frame.h"
#include "stitch/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* A frame's own label, and what was inlined there: places in inlined[]. */
struct named_frame {
	uint32_t label;
	uint32_t first, n;
	bool kernel;
};

struct named_image {
	enum image_kind kind;
	char *path, *short_name; /* "[libc.so.6]" */
};

struct raw_stack {
	uint32_t stack, ended; /* ended: enum unwind_end; 0: not unwound */
};

struct stack_names {
	struct labels *labels;
	bool by_name;
	struct named_image *image;
	size_t n_image, cap_image;
	struct named_frame *frame;
	size_t n_frame, cap_frame;
	struct stack_tree tree;
	struct raw_stack *raw;
	size_t n_raw, cap_raw;
	uint32_t *inlined;
	size_t n_inlined, cap_inlined;
	struct arena text;
};

#define GAP_MAX (1 << 20)

/* Makes p[id] exist, all items up to it zero. Ids are dense by the schema; a
 * file that has been tampered with may say otherwise, and must not make us
 * allocate what it likes. */
static void *reach(void *p, size_t *n, size_t *cap, int64_t id, size_t size,
		   struct err *err)
{
	if (id < 0 || id >= UINT32_MAX || id > (int64_t)*n + GAP_MAX) {
		err_set(err, ERR_DB,
			"the database has an id of %lld; "
			"ingest the capture again",
			(long long)id);
		return NULL;
	}
	if ((size_t)id < *n)
		return p;

	size_t want = (size_t)id + 1;

	p = mem_grow(p, cap, want, size);
	memset((char *)p + *n * size, 0, (want - *n) * size);
	*n = want;
	return p;
}

#define REACH(sn, what, id, err)                                               \
	({                                                                     \
		void *p_ =                                                     \
			reach((sn)->what, &(sn)->n_##what, &(sn)->cap_##what,  \
			      id, sizeof(*(sn)->what), err);                   \
		if (p_)                                                        \
			(sn)->what = p_;                                       \
		p_ ? 0 : -1;                                                   \
	})

/* "/usr/lib/libc.so.6" -> "[libc.so.6]", "//anon" -> "[anon]". */
static char *short_name(struct arena *text, enum image_kind kind,
			const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t len = strlen(base);

	if (kind == IMAGE_UNKNOWN_USER || kind == IMAGE_UNKNOWN_KERNEL || !len)
		return arena_strdup(text, "[unknown]");
	if (base[0] == '[')
		return arena_strdup(text, base);

	char *s = arena_take(text, len + 3);

	s[0] = '[';
	memcpy(s + 1, base, len);
	s[len + 1] = ']';
	s[len + 2] = 0;
	return s;
}

static int add_image(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, 0);

	if (REACH(sn, image, id, err))
		return -1;

	struct named_image *img = &sn->image[id];

	img->kind = (enum image_kind)rows_int(r, 1);
	img->path = arena_strdup(&sn->text, img->kind == IMAGE_UNKNOWN_KERNEL
						    ? "[unknown kernel code]"
						    : rows_text(r, 2));
	img->short_name = short_name(&sn->text, img->kind, img->path);
	return 0;
}

static bool is_kernel(enum image_kind kind)
{
	return kind == IMAGE_UNKNOWN_KERNEL || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_BPF || kind == IMAGE_OOL ||
	       kind == IMAGE_SYMBOLS;
}

static int add_frame(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	static const struct named_image nowhere = { IMAGE_UNKNOWN_USER, "",
						    "[unknown]" };
	int64_t id = rows_int(r, 0);
	int64_t at = rows_int(r, 1);
	struct value name = rows_value(r, 3);

	if (REACH(sn, frame, id, err))
		return -1;

	const struct named_image *img =
		at > 0 && (size_t)at < sn->n_image && sn->image[at].path
			? &sn->image[at]
			: &nowhere;
	bool kernel = is_kernel(img->kind);
	struct label l = {
		.kind = kernel			 ? LABEL_KERNEL
			: img->kind == IMAGE_JIT ? LABEL_JIT
						 : LABEL_USER,
		.name = name.text,
		.kernel = kernel,
		.image = img->path,
		.off = (uint64_t)rows_int(r, 2) - (uint64_t)rows_int(r, 4),
		.has_off = true,
	};

	if (name.kind != VALUE_TEXT || !name.text[0]) {
		l.kind = LABEL_UNNAMED;
		l.name = img->short_name;
		l.off = 0;
		l.has_off = false;
	}
	if (sn->by_name) {
		l.image = "";
		l.off = 0;
		l.has_off = false;
	}
	sn->frame[id].kernel = kernel;
	sn->frame[id].label = labels_add(sn->labels, &l);
	return 0;
}

static int add_inline(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, 0);

	(void)err;
	if (id < 0 || (size_t)id >= sn->n_frame)
		return 0;

	struct named_frame *f = &sn->frame[id];
	struct label l = *labels_get(sn->labels, f->label);

	l.kind = LABEL_INLINED;
	l.name = rows_text(r, 1);
	if (!l.name[0])
		l.name = "[inlined]";
	if (!f->n++)
		f->first = (uint32_t)sn->n_inlined;
	sn->inlined = mem_grow(sn->inlined, &sn->cap_inlined, sn->n_inlined + 1,
			       sizeof(*sn->inlined));
	sn->inlined[sn->n_inlined++] = labels_add(sn->labels, &l);
	return 0;
}

static int add_raw(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, 0);
	int64_t stack = rows_int(r, 1);

	if (REACH(sn, raw, id, err))
		return -1;
	if (stack < 0 || (size_t)stack > sn->tree.n)
		return err_set(err, ERR_DB,
			       "raw chain %lld has no stack; "
			       "ingest the capture again",
			       (long long)id);
	sn->raw[id].stack = (uint32_t)stack;
	sn->raw[id].ended = (uint32_t)rows_int(r, 2);
	return 0;
}

struct stack_names *stack_names_load(struct store *db, struct labels *labels,
				     bool by_name, bool inlined,
				     struct err *err)
{
	struct stack_names *sn = mem_new(1, sizeof(*sn));

	sn->labels = labels;
	sn->by_name = by_name;
	if (rows_each(db, "report_images", add_image, sn, err) ||
	    rows_each(db, "report_frames", add_frame, sn, err) ||
	    (inlined && rows_each(db, "report_inlines", add_inline, sn, err)) ||
	    stack_tree_load(&sn->tree, db, sn->n_frame ? sn->n_frame - 1 : 0,
			    err) ||
	    rows_each(db, "report_raws", add_raw, sn, err)) {
		stack_names_free(sn);
		return NULL;
	}
	return sn;
}

void stack_names_free(struct stack_names *sn)
{
	if (!sn)
		return;
	free(sn->image);
	free(sn->frame);
	stack_tree_release(&sn->tree);
	free(sn->raw);
	free(sn->inlined);
	arena_release(&sn->text);
	free(sn);
}

void label_list_add(struct label_list *l, uint32_t label)
{
	l->label = mem_grow(l->label, &l->cap, l->n + 1, sizeof(*l->label));
	l->label[l->n++] = label;
}

/* Another program's code looks like that everywhere. */
static uint32_t as_exec(struct stack_names *sn, uint32_t id)
{
	struct label l = *labels_get(sn->labels, id);

	l.kind = LABEL_EXEC;
	return labels_add(sn->labels, &l);
}

const char *stack_names_ended(const struct stack_names *sn, uint32_t raw)
{
	uint32_t ended = raw < sn->n_raw ? sn->raw[raw].ended : UNWIND_NONE;

	return ended == UNWIND_OUTERMOST ? NULL : unwind_end_name(ended);
}

void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out)
{
	size_t from = out->n;
	uint32_t at = raw < sn->n_raw ? sn->raw[raw].stack : 0;

	for (const struct stack_link *l; at; at = l->parent) {
		const struct named_frame *f;

		l = stack_tree_at(&sn->tree, at);
		f = &sn->frame[l->frame];
		for (uint32_t i = 0; i < f->n; i++)
			label_list_add(out, sn->inlined[f->first + i]);
		label_list_add(out, f->label);
	}
	for (size_t i = from; exec && i < out->n; i++)
		out->label[i] = as_exec(sn, out->label[i]);
	/* it was read from the innermost frame on */
	for (size_t i = from, j = out->n; i + 1 < j; i++) {
		uint32_t l = out->label[i];

		out->label[i] = out->label[--j];
		out->label[j] = l;
	}
}
