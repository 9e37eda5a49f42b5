/* stack_names.c - all stacks of a database as labels. */
#include "cli/model/stack_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/interpreter.h"
#include "cli/model/label.h"
#include "cli/model/stack_tree.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* A frame's own label, and what was inlined there: places in inlined[]. */
struct named_frame {
	uint32_t label;
	uint32_t image; /* 0: none */
	uint32_t first, n;
	struct interpreter_frame interp;
	bool kernel;
	const char *bogus; /* as a return address: why; NULL */
};

struct inlined {
	uint32_t label;
	struct interpreter_frame interp;
};

struct named_image {
	enum image_kind kind;
	char *path, *short_name; /* "[libc.so.6]" */
	uint32_t interpreters;
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
	uint32_t *wrong; /* by stack: pos of its first bogus frame; 0: none */
	size_t n_wrong, cap_wrong;
	struct inlined *inlined;
	enum interpreter_mode mode;
	size_t n_inlined, cap_inlined;
	struct interpreter_frame *what; /* of the stack at hand */
	size_t cap_what;
	struct arena text;
};

#define GAP_MAX (1 << 20)
#define NAME_SIZE 4096

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

/* Jitted code is in no file; its image is called as its function. */
static const char *image_text(enum image_kind kind, const char *path)
{
	if (kind == IMAGE_UNKNOWN_KERNEL)
		return "[unknown kernel code]";
	return kind == IMAGE_JIT ? "[jit]" : path;
}

static int add_image(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, REPORT_IMAGES_ID);

	if (REACH(sn, image, id, err))
		return -1;

	struct named_image *img = &sn->image[id];

	img->kind = (enum image_kind)rows_int(r, REPORT_IMAGES_KIND);
	img->path = arena_strdup(
		&sn->text,
		image_text(img->kind, rows_text(r, REPORT_IMAGES_PATH)));
	img->short_name = short_name(&sn->text, img->kind, img->path);
	if (sn->mode != INTERPRETER_KEEP)
		img->interpreters =
			interpreters_of(img->path, img->kind == IMAGE_JIT);
	return 0;
}

static bool is_kernel(enum image_kind kind)
{
	return kind == IMAGE_UNKNOWN_KERNEL || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_BPF || kind == IMAGE_OOL ||
	       kind == IMAGE_SYMBOLS;
}

/* Those of an interpreter's own may be marked as such. */
static uint32_t add_label(struct stack_names *sn, struct interpreter_frame in,
			  const struct label *want)
{
	struct label l = *want;
	char name[NAME_SIZE];

	if (sn->mode == INTERPRETER_MARK && in.class == INTERPRETER_OWN) {
		snprintf(name, sizeof(name), "%s %s",
			 interpreter_label(in.language), want->name);
		l.name = name;
	}
	return labels_add(sn->labels, &l);
}

static int add_frame(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	static const struct named_image nowhere = { IMAGE_UNKNOWN_USER, "",
						    "[unknown]", 0 };
	int64_t id = rows_int(r, REPORT_FRAMES_ID);
	int64_t at = rows_int(r, REPORT_FRAMES_IMAGE);
	struct value name = rows_value(r, REPORT_FRAMES_NAME);

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
		.off = (uint64_t)rows_int(r, REPORT_FRAMES_OFF) -
		       (uint64_t)rows_int(r, REPORT_FRAMES_SYMOFF),
		.has_off = img->kind != IMAGE_JIT,
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
	sn->frame[id].image = (uint32_t)(img == &nowhere ? 0 : at);
	if (name.kind == VALUE_TEXT)
		sn->frame[id].interp = interpreter_frame(
			img->interpreters, img->kind == IMAGE_JIT, l.name);
	sn->frame[id].label = add_label(sn, sn->frame[id].interp, &l);
	return 0;
}

static int add_inline(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, REPORT_INLINES_FRAME);

	(void)err;
	if (id < 0 || (size_t)id >= sn->n_frame)
		return 0;

	struct named_frame *f = &sn->frame[id];
	struct label l = *labels_get(sn->labels, f->label);

	l.kind = LABEL_INLINED;
	l.name = rows_text(r, REPORT_INLINES_NAME);
	if (!l.name[0])
		l.name = "[inlined]";
	if (!f->n++)
		f->first = (uint32_t)sn->n_inlined;
	sn->inlined = mem_grow(sn->inlined, &sn->cap_inlined, sn->n_inlined + 1,
			       sizeof(*sn->inlined));
	struct inlined *in = &sn->inlined[sn->n_inlined++];

	in->interp =
		f->image ? interpreter_frame(sn->image[f->image].interpreters,
					     false, l.name)
			 : (struct interpreter_frame){ 0, 0 };
	in->label = add_label(sn, in->interp, &l);
	return 0;
}

static int add_raw(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, REPORT_RAWS_ID);
	int64_t stack = rows_int(r, REPORT_RAWS_STACK);

	if (REACH(sn, raw, id, err))
		return -1;
	if (stack < 0 || (size_t)stack > sn->tree.n)
		return err_set(err, ERR_DB,
			       "raw chain %lld has no stack; "
			       "ingest the capture again",
			       (long long)id);
	sn->raw[id].stack = (uint32_t)stack;
	sn->raw[id].ended = (uint32_t)rows_int(r, REPORT_RAWS_ENDED);
	return 0;
}

/* The words of the check that say that no call returns to there. */
static int add_bogus_frame(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;
	int64_t id = rows_int(r, PRINT_BOGUS_FRAME);
	const char *no_code = callsite_kind_name(CALLSITE_NO_CODE);

	(void)err;
	if (id > 0 && (size_t)id < sn->n_frame)
		sn->frame[id].bogus =
			strcmp(rows_text(r, PRINT_BOGUS_NAME), no_code)
				? callsite_kind_name(CALLSITE_NO_CALL)
				: no_code;
	return 0;
}

static int add_bogus_stack(void *arg, const struct rows *r, struct err *err)
{
	struct stack_names *sn = arg;

	if (REACH(sn, wrong, rows_int(r, REPORT_BOGUS_STACK), err))
		return -1;
	sn->wrong[rows_int(r, REPORT_BOGUS_STACK)] =
		(uint32_t)rows_int(r, REPORT_BOGUS_FIRST);
	return 0;
}

static int load_bogus(struct stack_names *sn, struct store *db, struct err *err)
{
	return rows_each(db, "print_bogus", add_bogus_frame, sn, err) ||
			       rows_each(db, "report_bogus", add_bogus_stack,
					 sn, err)
		       ? -1
		       : 0;
}

struct stack_names *stack_names_load(struct store *db, struct labels *labels,
				     bool by_name, bool inlined, bool bogus,
				     struct err *err)
{
	struct stack_names *sn = mem_new(1, sizeof(*sn));

	sn->labels = labels;
	sn->by_name = by_name;
	sn->mode = interpreter_mode();
	if (rows_each(db, "report_images", add_image, sn, err) ||
	    rows_each(db, "report_frames", add_frame, sn, err) ||
	    (inlined && rows_each(db, "report_inlines", add_inline, sn, err)) ||
	    stack_tree_load(&sn->tree, db, sn->n_frame ? sn->n_frame - 1 : 0,
			    err) ||
	    rows_each(db, "report_raws", add_raw, sn, err) ||
	    (bogus && load_bogus(sn, db, err))) {
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
	free(sn->wrong);
	free(sn->inlined);
	free(sn->what);
	arena_release(&sn->text);
	free(sn);
}

static void add_from(struct label_list *l, uint32_t label,
		     struct label_from from)
{
	l->label = mem_grow(l->label, &l->cap, l->n + 1, sizeof(*l->label));
	l->label[l->n] = label;
	if (l->want_from) {
		l->from = mem_grow(l->from, &l->cap_from, l->n + 1,
				   sizeof(*l->from));
		l->from[l->n] = from;
	}
	l->n++;
}

void label_list_add(struct label_list *l, uint32_t label)
{
	add_from(l, label, (struct label_from){ 0 });
}

/* Item i of the list becomes item n <= i. */
static void move(struct label_list *l, size_t n, size_t i)
{
	l->label[n] = l->label[i];
	if (l->want_from)
		l->from[n] = l->from[i];
}

/* The same label, of a kind that stands out. */
static uint32_t as_kind(struct stack_names *sn, uint32_t id,
			enum label_kind kind, const char *bogus)
{
	struct label l = *labels_get(sn->labels, id);

	l.kind = kind;
	l.bogus = bogus;
	return labels_add(sn->labels, &l);
}

const char *stack_names_ended(const struct stack_names *sn, uint32_t raw)
{
	uint32_t ended = raw < sn->n_raw ? sn->raw[raw].ended : UNWIND_NONE;

	return ended == UNWIND_OUTERMOST ? NULL : unwind_end_name(ended);
}

/* The position of its innermost bogus frame; 0: it has none. Stacks that were
 * unwound by tables may share frames with it, and are not meant. */
static uint32_t first_bogus(const struct stack_names *sn, uint32_t raw)
{
	uint32_t stack = raw < sn->n_raw ? sn->raw[raw].stack : 0;

	return stack < sn->n_wrong && !sn->raw[raw].ended ? sn->wrong[stack]
							  : 0;
}

bool stack_names_bogus(const struct stack_names *sn, uint32_t raw)
{
	return first_bogus(sn, raw) != 0;
}

bool stack_names_label(const struct stack_names *sn, int64_t frame,
		       uint32_t *label)
{
	if (frame < 1 || (uint64_t)frame >= sn->n_frame)
		return false;
	*label = sn->frame[frame].label;
	return true;
}

/* An interpreter's own frames that follow code of its language, seen from the
 * root, are how that code runs: the code is the frame. Others are one frame
 * together. The frames of out from `from` on are the outermost first; what[]
 * says what each one is. */
static void collapse(struct stack_names *sn, struct label_list *out,
		     size_t from)
{
	uint32_t seen = 0; /* languages whose code is in the stack so far */
	uint8_t last = 0;  /* language of the run that goes on */
	size_t n = from;

	for (size_t i = from; i < out->n; i++) {
		struct interpreter_frame in = sn->what[i - from];
		uint8_t run = in.class == INTERPRETER_OWN ? in.language : 0;

		if (in.class == INTERPRETER_CODE)
			seen |= 1u << in.language;
		if (!run) {
			move(out, n++, i);
		} else if (run != last && !(seen >> run & 1)) {
			const struct label l = {
				.kind = LABEL_USER,
				.name = interpreter_label(run),
				.image = "",
			};

			out->label[n] = labels_add(sn->labels, &l);
			if (out->want_from)
				out->from[n] = (struct label_from){ 0 };
			n++;
		}
		last = run;
	}
	out->n = n;
}

static uint32_t marked(struct stack_names *sn, uint32_t label,
		       const char *bogus)
{
	return bogus ? as_kind(sn, label, LABEL_BOGUS, bogus) : label;
}

static void take(struct stack_names *sn, struct label_list *out, size_t from,
		 uint32_t label, struct label_from at,
		 struct interpreter_frame interp)
{
	add_from(out, label, at);
	if (sn->mode != INTERPRETER_COLLAPSE)
		return;
	sn->what = mem_grow(sn->what, &sn->cap_what, out->n - from,
			    sizeof(*sn->what));
	sn->what[out->n - from - 1] = interp;
}

/* It was read from the innermost frame on. */
static void turn(struct stack_names *sn, struct label_list *out, size_t from)
{
	for (size_t i = from, j = out->n; i + 1 < j; i++) {
		uint32_t l = out->label[i];

		out->label[i] = out->label[--j];
		out->label[j] = l;
		if (out->want_from) {
			struct label_from at = out->from[i];

			out->from[i] = out->from[j];
			out->from[j] = at;
		}
		if (sn->mode == INTERPRETER_COLLAPSE) {
			struct interpreter_frame in = sn->what[i - from];

			sn->what[i - from] = sn->what[j - from];
			sn->what[j - from] = in;
		}
	}
}

void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out)
{
	size_t from = out->n;
	uint32_t at = raw < sn->n_raw ? sn->raw[raw].stack : 0;
	/* those that were unwound are inside the call */
	bool recorded = raw < sn->n_raw && !sn->raw[raw].ended;
	struct label_from what = { 0 };
	uint32_t first = first_bogus(sn, raw);
	uint32_t pos = 0;

	for (const struct stack_link *l; at; at = l->parent, pos++) {
		const struct named_frame *f;
		const char *bogus;

		l = stack_tree_at(&sn->tree, at);
		f = &sn->frame[l->frame];
		bogus = first && pos >= first ? f->bogus : NULL;
		what.frame = l->frame;
		for (uint32_t i = 0; i < f->n; i++) {
			const struct inlined *in = &sn->inlined[f->first + i];

			what.inlined = i + 1;
			take(sn, out, from, marked(sn, in->label, bogus), what,
			     in->interp);
		}
		what.inlined = 0;
		take(sn, out, from, marked(sn, f->label, bogus), what,
		     f->interp);
		what.called = recorded;
	}
	turn(sn, out, from);
	if (sn->mode == INTERPRETER_COLLAPSE)
		collapse(sn, out, from);
	for (size_t i = from; exec && i < out->n; i++)
		out->label[i] = as_kind(sn, out->label[i], LABEL_EXEC, NULL);
}
