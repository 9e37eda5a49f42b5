/* code.c - the code that a database knows. */
#include "cli/model/code.h"

#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* The arrays as they grow, and one copy of each string. */
struct loading {
	struct known_code c; /* first: code_free() gets this */
	size_t cap_image, cap_frame, cap_inlined, cap_stack, cap_chain;
	struct arena text;
	struct table strings;
	const char **string;
	size_t n_string, cap_string;
};

static bool same_string(const void *owner, uint32_t id, const void *key)
{
	const struct loading *l = owner;

	return !strcmp(l->string[id], key);
}

static const char *intern(struct loading *l, const char *s)
{
	uint64_t hash = hash_bytes(s, strlen(s), 0);
	uint32_t id = table_find(&l->strings, hash, same_string, l, s);

	if (id != TABLE_NONE)
		return l->string[id];
	l->string = mem_grow(l->string, &l->cap_string, l->n_string + 1,
			     sizeof(*l->string));
	l->string[l->n_string] = arena_strdup(&l->text, s);
	table_add(&l->strings, hash, (uint32_t)l->n_string);
	return l->string[l->n_string++];
}

static const char *text_or_null(struct loading *l, const struct rows *r,
				size_t i)
{
	return rows_value(r, i).kind == VALUE_TEXT ? intern(l, rows_text(r, i))
						   : NULL;
}

static int take_image(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	struct code_image *i;

	(void)err;
	l->c.image = mem_grow(l->c.image, &l->cap_image, l->c.n_image + 1,
			      sizeof(*l->c.image));
	i = &l->c.image[l->c.n_image++];
	*i = (struct code_image){ .status = intern(
					  l, rows_text(r, CODE_IMAGES_STATUS)),
				  .pid = rows_int(r, CODE_IMAGES_PID) };
	rows_image(r, CODE_IMAGES_KIND, &l->text, &i->img);
	i->img.start = (uint64_t)rows_int(r, CODE_IMAGES_START);
	i->img.len = (uint64_t)rows_int(r, CODE_IMAGES_LEN);
	i->img.t0 = (uint64_t)rows_int(r, CODE_IMAGES_T0);
	return 0;
}

static int take_frame(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	int64_t image = rows_int(r, CODE_FRAMES_IMAGE);

	(void)err;
	if (image < 1 || (uint64_t)image >= l->c.n_image)
		return 1;
	l->c.frame = mem_grow(l->c.frame, &l->cap_frame, l->c.n_frame + 1,
			      sizeof(*l->c.frame));
	l->c.frame[l->c.n_frame++] = (struct code_frame){
		.at = { text_or_null(l, r, CODE_FRAMES_NAME),
			text_or_null(l, r, CODE_FRAMES_FILE),
			(uint32_t)rows_int(r, CODE_FRAMES_LINE) },
		.raw_name = text_or_null(l, r, CODE_FRAMES_RAW_NAME),
		.off = (uint64_t)rows_int(r, CODE_FRAMES_OFF),
		.vaddr = (uint64_t)rows_int(r, CODE_FRAMES_VADDR),
		.has_vaddr = rows_value(r, CODE_FRAMES_VADDR).kind == VALUE_INT,
		.symoff = (uint64_t)rows_int(r, CODE_FRAMES_SYMOFF),
		.symsize = (uint64_t)rows_int(r, CODE_FRAMES_SIZE),
		.image = (uint32_t)image,
		.flags = (uint32_t)rows_int(r, CODE_FRAMES_FLAGS),
	};
	return 0;
}

static int take_inline(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	int64_t id = rows_int(r, CODE_INLINES_FRAME);

	(void)err;
	if (id < 1 || (uint64_t)id >= l->c.n_frame)
		return 0;
	struct code_frame *f = &l->c.frame[id];

	if (!f->n_inlined++)
		f->inlined = (uint32_t)l->c.n_inlined;
	l->c.inlined = mem_grow(l->c.inlined, &l->cap_inlined,
				l->c.n_inlined + 1, sizeof(*l->c.inlined));
	l->c.inlined[l->c.n_inlined++] =
		(struct code_where){ text_or_null(l, r, CODE_INLINES_NAME),
				     text_or_null(l, r, CODE_INLINES_FILE),
				     (uint32_t)rows_int(r, CODE_INLINES_LINE) };
	return 0;
}

static int take_bogus(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	int64_t id = rows_int(r, PRINT_BOGUS_FRAME);

	(void)err;
	if (id >= 1 && (uint64_t)id < l->c.n_frame)
		l->c.frame[id].bogus = text_or_null(l, r, PRINT_BOGUS_NAME);
	return 0;
}

static int take_stack(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	int64_t parent = rows_int(r, STACKS_PARENT);
	int64_t frame = rows_int(r, STACKS_FRAME);

	(void)err;
	if (parent < 0 || parent >= rows_int(r, STACKS_ID) || frame < 1 ||
	    (uint64_t)frame >= l->c.n_frame)
		return 1;
	l->c.stack = mem_grow(l->c.stack, &l->cap_stack, l->c.n_stack + 1,
			      sizeof(*l->c.stack));
	l->c.stack[l->c.n_stack++] =
		(struct code_stack){ (uint32_t)parent, (uint32_t)frame };
	return 0;
}

static int take_chain(void *arg, const struct rows *r, struct err *err)
{
	struct loading *l = arg;
	int64_t stack = rows_int(r, CODE_CHAINS_STACK);
	struct value addrs = rows_value(r, CODE_CHAINS_ADDRS);
	void *copy;

	(void)err;
	if (stack < 0 || (uint64_t)stack >= l->c.n_stack ||
	    addrs.len > UINT32_MAX)
		return 1;
	copy = arena_take(&l->text, addrs.len ? addrs.len : 1);
	if (addrs.len)
		memcpy(copy, addrs.text, addrs.len);
	l->c.chain = mem_grow(l->c.chain, &l->cap_chain, l->c.n_chain + 1,
			      sizeof(*l->c.chain));
	l->c.chain[l->c.n_chain++] = (struct code_chain){
		.addrs = copy,
		.len = (uint32_t)addrs.len,
		.stack = (uint32_t)stack,
		.ended = (uint8_t)rows_int(r, CODE_CHAINS_ENDED),
		.caller = (uint8_t)rows_int(r, CODE_CHAINS_CALLER),
	};
	return 0;
}

/* Item 0 of each array: none. */
static void begin(struct loading *l)
{
	l->c.image = mem_grow(NULL, &l->cap_image, 1, sizeof(*l->c.image));
	l->c.image[0] = (struct code_image){ .img.path = "", .status = "" };
	l->c.frame = mem_grow(NULL, &l->cap_frame, 1, sizeof(*l->c.frame));
	l->c.frame[0] = (struct code_frame){ 0 };
	l->c.inlined =
		mem_grow(NULL, &l->cap_inlined, 1, sizeof(*l->c.inlined));
	l->c.inlined[0] = (struct code_where){ 0 };
	l->c.stack = mem_grow(NULL, &l->cap_stack, 1, sizeof(*l->c.stack));
	l->c.stack[0] = (struct code_stack){ 0 };
	l->c.chain = mem_grow(NULL, &l->cap_chain, 1, sizeof(*l->c.chain));
	l->c.chain[0] = (struct code_chain){ 0 };
	l->c.n_image = l->c.n_frame = l->c.n_inlined = l->c.n_stack =
		l->c.n_chain = 1;
}

static int load_names(struct loading *l, struct store *db, struct err *err)
{
	if (rows_each_dense(db, "code_frames", take_frame, l, err) ||
	    rows_each(db, "code_inlines", take_inline, l, err))
		return -1;
	return rows_each(db, "print_bogus", take_bogus, l, err);
}

static struct known_code *load(struct store *db, bool places, struct err *err)
{
	struct loading *l = mem_new(1, sizeof(*l));

	begin(l);
	if (rows_each_dense(db, "code_images", take_image, l, err) ||
	    (places ? rows_each_dense(db, "code_places", take_frame, l, err)
		    : load_names(l, db, err)) ||
	    rows_each_dense(db, "stacks", take_stack, l, err) ||
	    (!places &&
	     rows_each_dense(db, "code_chains", take_chain, l, err))) {
		code_free(&l->c);
		return NULL;
	}
	return &l->c;
}

struct known_code *code_load(struct store *db, struct err *err)
{
	return load(db, false, err);
}

struct known_code *code_load_places(struct store *db, struct err *err)
{
	return load(db, true, err);
}

void code_free(struct known_code *c)
{
	struct loading *l = (struct loading *)c;

	if (!c)
		return;
	arena_release(&l->text);
	table_release(&l->strings);
	free(l->string);
	free(c->image);
	free(c->frame);
	free(c->inlined);
	free(c->stack);
	free(c->chain);
	free(l);
}

bool code_is_kernel(enum image_kind kind)
{
	return kind == IMAGE_UNKNOWN_KERNEL || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_BPF || kind == IMAGE_OOL ||
	       kind == IMAGE_SYMBOLS || kind == IMAGE_GUEST;
}
