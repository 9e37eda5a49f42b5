/* code.c - the code that a database knows. */
#include "cli/model/code.h"

#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/sums_code.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

/* The arrays as they grow, and one copy of each string. */
struct code_loading {
	struct known_code c; /* first, for code_free() */
	size_t cap_image, cap_frame, cap_inlined, cap_stack, cap_chain;
	unsigned int parts;
	struct intern strings;
	struct arena text;
};

/* Appends an item to array `what` of l->c. */
#define CODE_ADD(l, what, ...)                                                 \
	(*mem_add((l)->c.what, (l)->c.n_##what, (l)->cap_##what) =             \
		 (__VA_ARGS__))

static const char *code_text(struct code_loading *l, const char *s)
{
	return intern_get(&l->strings, intern_add(&l->strings, s));
}

static const char *code_text_or_null(struct code_loading *l,
				     const struct rows *r, size_t i)
{
	return rows_value(r, i).kind == VALUE_TEXT
		       ? code_text(l, rows_text(r, i))
		       : NULL;
}

static int code_read_images(struct code_loading *l, struct store *db,
			    struct err *err)
{
	struct rows *r = rows_dense(db, "code_images", err);

	while (rows_step(r)) {
		struct code_image i = {
			.status =
				code_text(l, rows_text(r, CODE_IMAGES_STATUS)),
			.pid = rows_int(r, CODE_IMAGES_PID),
		};

		rows_image(r, CODE_IMAGES_KIND, &l->text, &i.img);
		i.img.start = (uint64_t)rows_int(r, CODE_IMAGES_START);
		i.img.len = (uint64_t)rows_int(r, CODE_IMAGES_LEN);
		i.img.t0 = (uint64_t)rows_int(r, CODE_IMAGES_T0);
		CODE_ADD(l, image, i);
	}
	return rows_end(r, err);
}

static int code_read_frames(struct code_loading *l, struct store *db,
			    struct err *err)
{
	bool named = l->parts & (CODE_NAMES | CODE_LINES);
	struct rows *r =
		rows_dense(db, named ? "code_frames" : "code_places", err);

	while (rows_step(r)) {
		int64_t image = rows_int(r, CODE_FRAMES_IMAGE);
		struct code_frame f = {
			.off = (uint64_t)rows_int(r, CODE_FRAMES_OFF),
			.vaddr = (uint64_t)rows_int(r, CODE_FRAMES_VADDR),
			.has_vaddr = rows_value(r, CODE_FRAMES_VADDR).kind ==
				     VALUE_INT,
			.symoff = (uint64_t)rows_int(r, CODE_FRAMES_SYMOFF),
			.symsize = (uint64_t)rows_int(r, CODE_FRAMES_SIZE),
			.image = (uint32_t)image,
			.flags = (uint32_t)rows_int(r, CODE_FRAMES_FLAGS),
		};

		if (image < 1 || (uint64_t)image >= l->c.n_image) {
			rows_unsound(r);
			continue;
		}
		if (l->parts & CODE_NAMES)
			f.at.name = code_text_or_null(l, r, CODE_FRAMES_NAME);
		if (l->parts & CODE_LINES) {
			f.at.file = code_text_or_null(l, r, CODE_FRAMES_FILE);
			f.at.line = (uint32_t)rows_int(r, CODE_FRAMES_LINE);
			f.raw_name =
				code_text_or_null(l, r, CODE_FRAMES_RAW_NAME);
		}
		CODE_ADD(l, frame, f);
	}
	return rows_end(r, err);
}

static int code_read_inlined(struct code_loading *l, struct store *db,
			     struct err *err)
{
	struct rows *r = rows_of(db, "code_inlines", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, CODE_INLINES_FRAME);

		if (id < 1 || (uint64_t)id >= l->c.n_frame)
			continue;
		struct code_frame *f = &l->c.frame[id];

		if (!f->n_inlined++)
			f->inlined = (uint32_t)l->c.n_inlined;
		CODE_ADD(l, inlined,
			 (struct code_where){
				 code_text_or_null(l, r, CODE_INLINES_NAME),
				 code_text_or_null(l, r, CODE_INLINES_FILE),
				 (uint32_t)rows_int(r, CODE_INLINES_LINE) });
	}
	return rows_end(r, err);
}

static int code_read_bogus(struct code_loading *l, struct store *db,
			   struct err *err)
{
	struct rows *r = rows_of(db, "print_bogus", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, PRINT_BOGUS_FRAME);

		if (id >= 1 && (uint64_t)id < l->c.n_frame)
			l->c.frame[id].bogus =
				code_text_or_null(l, r, PRINT_BOGUS_NAME);
	}
	return rows_end(r, err);
}

static int code_read_wrong(struct code_loading *l, struct store *db,
			   struct err *err)
{
	struct rows *r = rows_of(db, "report_bogus", err);

	l->c.wrong = mem_new(l->c.n_stack, sizeof(*l->c.wrong));
	while (rows_step(r)) {
		int64_t stack = rows_int(r, REPORT_BOGUS_STACK);

		if (stack > 0 && (uint64_t)stack < l->c.n_stack)
			l->c.wrong[stack] =
				(uint32_t)rows_int(r, REPORT_BOGUS_FIRST);
	}
	return rows_end(r, err);
}

static int code_read_stacks(struct code_loading *l, struct store *db,
			    struct err *err)
{
	struct rows *r = rows_dense(db, "stacks", err);

	while (rows_step(r)) {
		int64_t parent = rows_int(r, STACKS_PARENT);
		int64_t frame = rows_int(r, STACKS_FRAME);

		if (parent < 0 || parent >= rows_int(r, STACKS_ID) ||
		    frame < 1 || (uint64_t)frame >= l->c.n_frame)
			rows_unsound(r);
		else
			CODE_ADD(l, stack,
				 (struct code_stack){ (uint32_t)parent,
						      (uint32_t)frame, false });
	}
	return rows_end(r, err);
}

static int code_read_chains(struct code_loading *l, struct store *db,
			    struct err *err)
{
	bool addresses = l->parts & CODE_ADDRS;
	struct rows *r = rows_dense(
		db, addresses ? "code_chains" : "code_chain_stacks", err);

	while (rows_step(r)) {
		int64_t stack = rows_int(r, CODE_CHAINS_STACK);
		struct value addrs = rows_value(r, CODE_CHAINS_ADDRS);
		void *copy = NULL;

		if (stack < 0 || (uint64_t)stack >= l->c.n_stack ||
		    addrs.len > UINT32_MAX) {
			rows_unsound(r);
			continue;
		}
		if (addresses)
			copy = arena_take(&l->text, addrs.len ? addrs.len : 1);
		if (copy && addrs.len)
			memcpy(copy, addrs.text, addrs.len);
		CODE_ADD(l, chain,
			 (struct code_chain){
				 .addrs = copy,
				 .len = (uint32_t)addrs.len,
				 .stack = (uint32_t)stack,
				 .ended = (uint8_t)rows_int(r,
							    CODE_CHAINS_ENDED),
				 .caller = (uint8_t)rows_int(
					 r, CODE_CHAINS_CALLER),
			 });
	}
	return rows_end(r, err);
}

static int code_read_callerless(struct code_loading *l, struct store *db,
				struct err *err)
{
	struct rows *r = rows_of(db, "code_callerless", err);

	while (rows_step(r)) {
		int64_t stack = rows_int(r, CODE_CALLERLESS_STACK);

		if (stack > 0 && (uint64_t)stack < l->c.n_stack)
			l->c.stack[stack].callerless = true;
	}
	return rows_end(r, err);
}

/* Takes the code that a database of sums has in memory. */
static void code_take_sums(struct code_loading *l, const struct store *db,
			   const struct frames *fr)
{
	for (uint32_t i = 1; i <= frames_frames(fr); i++) {
		const struct frame *from = frames_get_frame(fr, i);
		struct code_frame f = { .off = from->off,
					.image = from->image,
					.flags = from->flags };
		const char *name = store_sums_name(db, i, &f.symoff);

		f.at.name = name ? code_text(l, name) : NULL;
		CODE_ADD(l, frame, f);
	}
	for (uint32_t i = 1; i <= frames_stacks(fr); i++) {
		const struct stack *s = frames_get_stack(fr, i);

		CODE_ADD(l, stack,
			 (struct code_stack){ s->parent, s->frame, false });
	}
	for (uint32_t i = 1; i <= frames_raws(fr); i++) {
		const struct raw_chain *c = frames_get_raw(fr, i);

		CODE_ADD(l, chain,
			 (struct code_chain){ .stack = c->stack,
					      .ended = c->note.ended,
					      .caller = c->note.caller });
	}
}

/* all: not only images, for which parts is 0. */
static struct known_code *code_load_some(struct store *db, unsigned int parts,
					 bool all, struct err *err)
{
	struct code_loading *l = mem_new(1, sizeof(*l));
	/* a database of sums has the code in memory */
	const struct frames *sums = all ? store_sums_code(db) : NULL;
	bool rows = all && !sums;
	bool chains = parts & (CODE_CHAINS | CODE_ADDRS);

	l->parts = parts;
	CODE_ADD(l, image, (struct code_image){ .img.path = "", .status = "" });
	CODE_ADD(l, frame, (struct code_frame){ 0 });
	CODE_ADD(l, inlined, (struct code_where){ 0 });
	CODE_ADD(l, stack, (struct code_stack){ 0 });
	CODE_ADD(l, chain, (struct code_chain){ 0 });
	if (code_read_images(l, db, err))
		goto fail;
	if (sums)
		code_take_sums(l, db, sums);
	if ((rows && code_read_frames(l, db, err)) ||
	    (parts & CODE_INLINED && code_read_inlined(l, db, err)) ||
	    (parts & CODE_BOGUS && code_read_bogus(l, db, err)) ||
	    (rows && code_read_stacks(l, db, err)) ||
	    (parts & CODE_WRONG && code_read_wrong(l, db, err)) ||
	    (rows && chains && code_read_chains(l, db, err)) ||
	    (parts & CODE_CALLERS && code_read_callerless(l, db, err)))
		goto fail;
	return &l->c;
fail:
	code_free(&l->c);
	return NULL;
}

struct known_code *code_load(struct store *db, unsigned int parts,
			     struct err *err)
{
	return code_load_some(db, parts, true, err);
}

struct known_code *code_load_images(struct store *db, struct err *err)
{
	return code_load_some(db, 0, false, err);
}

void code_free(struct known_code *c)
{
	struct code_loading *l = (struct code_loading *)c;

	if (!c)
		return;
	arena_release(&l->text);
	intern_release(&l->strings);
	free(c->image);
	free(c->frame);
	free(c->inlined);
	free(c->stack);
	free(c->chain);
	free(c->wrong);
	free(l);
}

bool code_is_kernel(enum image_kind kind)
{
	return kind == IMAGE_UNKNOWN_KERNEL || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_BPF || kind == IMAGE_OOL ||
	       kind == IMAGE_SYMBOLS || kind == IMAGE_GUEST;
}
