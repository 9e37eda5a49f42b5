/* code.c - the code that a database knows. */
#include "analyze/samples/code.h"

#include "schema/columns.h"
#include "schema/store.h"
#include "schema/db/sums_code.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

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

/* A row of table symbol. */
struct code_symbol {
	int64_t id;
	uint64_t size;
	const char *name, *raw_name; /* NULL: not known */
};

struct code_symbols {
	struct code_symbol *at; /* by rising id */
	size_t n, cap;
};

static int code_read_symbols(struct code_loading *l, struct store *db,
			     struct code_symbols *s, struct err *err)
{
	struct rows *r = rows_of(db, "code_symbols", err);

	while (rows_step(r))
		*mem_add(s->at, s->n, s->cap) = (struct code_symbol){
			.id = rows_int(r, CODE_SYMBOLS_ID),
			.size = (uint64_t)rows_int(r, CODE_SYMBOLS_SIZE),
			.name = code_text_or_null(l, r, CODE_SYMBOLS_NAME),
			.raw_name =
				code_text_or_null(l, r, CODE_SYMBOLS_RAW_NAME),
		};
	return rows_end(r, err);
}

/* Returns the symbol of an id, or NULL. Most databases have all from 1 on. */
static const struct code_symbol *code_symbol_of(const struct code_symbols *s,
						int64_t id)
{
	if (id > 0 && (uint64_t)id <= s->n && s->at[id - 1].id == id)
		return &s->at[id - 1];
	size_t at = search_where(s->n, i, s->at[i].id >= id);
	return at < s->n && s->at[at].id == id ? &s->at[at] : NULL;
}

enum frame_columns {
	FRAME_ID,
	FRAME_IMAGE,
	FRAME_OFF,
	FRAME_FLAGS,
	FRAME_VADDR,
	FRAME_PLACE_COLUMNS, /* all that a frame without a name has */
	FRAME_SYMBOL = FRAME_PLACE_COLUMNS,
	FRAME_SYMOFF,
	FRAME_LINE,
	FRAME_COLUMNS
};

/* Appends a frame. Returns false if its image is out of range. */
static bool code_take_frame(struct code_loading *l, const struct int_row *row,
			    const struct code_symbols *symbols)
{
	const int64_t image = row->v[FRAME_IMAGE];
	struct code_frame f = {
		.off = (uint64_t)row->v[FRAME_OFF],
		.vaddr = (uint64_t)row->v[FRAME_VADDR],
		.has_vaddr = row->known >> FRAME_VADDR & 1,
		.image = (uint32_t)image,
		.flags = (uint32_t)row->v[FRAME_FLAGS],
	};
	const struct code_symbol *s = NULL;

	if (image < 1 || (uint64_t)image >= l->c.n_image)
		return false;
	if (l->parts & (CODE_NAMES | CODE_LINES)) {
		f.symoff = (uint64_t)row->v[FRAME_SYMOFF];
		s = code_symbol_of(symbols, row->v[FRAME_SYMBOL]);
	}
	if (s)
		f.symsize = s->size;
	if (s && l->parts & CODE_NAMES)
		f.at.name = s->name;
	if (s && l->parts & CODE_LINES)
		f.raw_name = s->raw_name;
	if (l->parts & CODE_LINES)
		f.at.line = (uint32_t)row->v[FRAME_LINE];
	CODE_ADD(l, frame, f);
	return true;
}

/* Appends the frames, with the parts that are wanted. Returns 0, or -1. */
static int code_read_frames(struct code_loading *l, struct store *db,
			    struct err *err)
{
	static const char *const column[FRAME_COLUMNS] = { "id",     "image",
							   "off",    "flags",
							   "vaddr",  "symbol",
							   "symoff", "line" };
	bool named = l->parts & (CODE_NAMES | CODE_LINES);
	struct code_symbols symbols = { 0 };
	struct int_row row;

	if (named && code_read_symbols(l, db, &symbols, err)) {
		free(symbols.at);
		return -1;
	}
	struct rows *r = rows_ints_dense(
		db, "frame", column,
		named ? FRAME_COLUMNS : FRAME_PLACE_COLUMNS, err);

	while (rows_step_ints(r, &row))
		if (!code_take_frame(l, &row, &symbols))
			rows_unsound(r);
	free(symbols.at);
	if (rows_end(r, err))
		return -1;
	if (l->parts & CODE_LINES) {
		r = rows_of(db, "code_files", err);

		while (rows_step(r)) {
			int64_t id = rows_int(r, CODE_FILES_ID);

			if (id > 0 && (uint64_t)id < l->c.n_frame)
				l->c.frame[id].at.file = code_text_or_null(
					l, r, CODE_FILES_FILE);
		}
		return rows_end(r, err);
	}
	return 0;
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

/* Fills c.wrong. Returns 0, or -1 and *err. */
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

enum stack_columns {
	STACK_ID,
	STACK_PARENT,
	STACK_FRAME,
	STACK_COLUMNS
};

struct rows *code_open_stacks(struct store *db, struct err *err)
{
	static const char *const column[STACK_COLUMNS] = { "id", "parent",
							   "frame" };

	return rows_ints_dense(db, "stack", column, STACK_COLUMNS, err);
}

bool code_next_stack(struct rows *r, size_t n_frame, struct code_stack *out)
{
	struct int_row row;

	if (!rows_step_ints(r, &row))
		return false;
	int64_t parent = row.v[STACK_PARENT];
	int64_t frame = row.v[STACK_FRAME];

	if (parent < 0 || parent >= row.v[STACK_ID] || frame < 1 ||
	    (uint64_t)frame >= n_frame) {
		rows_unsound(r);
		return false;
	}
	*out = (struct code_stack){ (uint32_t)parent, (uint32_t)frame, false };
	return true;
}

static int code_read_stacks(struct code_loading *l, struct store *db,
			    struct err *err)
{
	struct rows *r = code_open_stacks(db, err);
	struct code_stack s;

	while (code_next_stack(r, l->c.n_frame, &s))
		CODE_ADD(l, stack, s);
	return rows_end(r, err);
}

/* Appends the chains, with addresses if wanted. Returns 0, or -1 and *err. */
static int code_read_chains(struct code_loading *l, struct store *db,
			    struct err *err)
{
	if (!(l->parts & CODE_ADDRS)) {
		enum {
			ID,
			STACK,
			ENDED,
			CALLER,
			COLUMNS
		};
		static const char *const column[COLUMNS] = { "id", "stack",
							     "ended",
							     "caller" };
		struct rows *rows =
			rows_ints_dense(db, "raw_chain", column, COLUMNS, err);
		struct int_row row;

		while (rows_step_ints(rows, &row)) {
			int64_t stack = row.v[STACK];

			if (stack < 0 || (uint64_t)stack >= l->c.n_stack)
				rows_unsound(rows);
			else
				CODE_ADD(l, chain,
					 (struct code_chain){
						 .stack = (uint32_t)stack,
						 .ended = (uint8_t)row.v[ENDED],
						 .caller =
							 (uint8_t)row.v[CALLER],
					 });
		}
		return rows_end(rows, err);
	}
	struct rows *r = rows_dense(db, "code_chains", err);
	while (rows_step(r)) {
		int64_t stack = rows_int(r, CODE_CHAINS_STACK);
		struct value addrs = rows_value(r, CODE_CHAINS_ADDRS);

		if (stack < 0 || (uint64_t)stack >= l->c.n_stack ||
		    addrs.len > UINT32_MAX) {
			rows_unsound(r);
			continue;
		}
		void *copy = arena_take(&l->text, addrs.len ? addrs.len : 1);
		if (addrs.len)
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

struct known_code *code_load(struct store *db, unsigned int parts,
			     struct err *err)
{
	bool all = parts != CODE_BARE;
	struct code_loading *l = mem_new(1, sizeof(*l));
	/* a database of sums has the code in memory */
	const struct frames *sums = all ? store_sums_code(db) : NULL;
	bool rows = all && !sums;
	bool chains = parts & (CODE_CHAINS | CODE_ADDRS);

	l->parts = parts;
	CODE_ADD(l, image, (struct code_image){ .img.path = "" });
	CODE_ADD(l, frame, (struct code_frame){ 0 });
	CODE_ADD(l, inlined, (struct code_where){ 0 });
	CODE_ADD(l, stack, (struct code_stack){ 0 });
	CODE_ADD(l, chain, (struct code_chain){ 0 });
	struct rows *r = rows_dense(db, "code_images", err);

	while (rows_step(r)) {
		struct code_image i = {
			.status = image_status_of(
				rows_text(r, CODE_IMAGES_STATUS)),
			.pid = rows_int(r, CODE_IMAGES_PID),
			.proved = rows_int(r, CODE_IMAGES_PROVED) != 0,
		};

		rows_image(r, CODE_IMAGES_KIND, &l->text, &i.img);
		i.img.start = (uint64_t)rows_int(r, CODE_IMAGES_START);
		i.img.len = (uint64_t)rows_int(r, CODE_IMAGES_LEN);
		i.img.t0 = (uint64_t)rows_int(r, CODE_IMAGES_T0);
		i.img.mapped = (uint64_t)rows_int(r, CODE_IMAGES_MAPPED);
		CODE_ADD(l, image, i);
	}
	if (rows_end(r, err))
		goto fail;
	r = rows_of(db, "several_images", err);
	while (rows_step(r)) {
		int64_t id = rows_int(r, SEVERAL_IMAGES_ID);

		if (id <= 0 || (uint64_t)id >= l->c.n_image)
			continue;
		l->c.image[id].img.several = true;
		l->c.image[id].img.reused =
			rows_int(r, SEVERAL_IMAGES_REUSED) != 0;
	}
	if (rows_end(r, err))
		goto fail;
	if (sums) {
		/* Takes the code that a database of sums has in memory. */
		for (uint32_t i = 1; i <= sums->n_frame; i++) {
			const struct frame *from = frames_get_frame(sums, i);
			struct code_frame f = { .off = from->off,
						.image = from->image,
						.flags = from->flags };
			const char *name = store_sums_name(db, i, &f.symoff);

			f.at.name = name ? code_text(l, name) : NULL;
			CODE_ADD(l, frame, f);
		}
		for (uint32_t i = 1; i <= sums->n_stack; i++) {
			const struct stack *s = frames_get_stack(sums, i);

			CODE_ADD(l, stack,
				 (struct code_stack){ s->parent, s->frame,
						      false });
		}
		for (uint32_t i = 1; i <= sums->n_raw; i++) {
			const struct raw_chain *c = frames_get_raw(sums, i);

			CODE_ADD(l, chain,
				 (struct code_chain){ .stack = c->stack,
						      .ended = c->note.ended,
						      .caller =
							      c->note.caller });
		}
	}
	if ((rows && code_read_frames(l, db, err)) ||
	    (parts & CODE_INLINED && code_read_inlined(l, db, err)))
		goto fail;
	if (parts & CODE_BOGUS) {
		struct rows *list = rows_of(db, "print_bogus", err);

		while (rows_step(list)) {
			int64_t number = rows_int(list, PRINT_BOGUS_FRAME);

			if (number >= 1 && (uint64_t)number < l->c.n_frame)
				l->c.frame[number].bogus = code_text_or_null(
					l, list, PRINT_BOGUS_NAME);
		}
		if (rows_end(list, err))
			goto fail;
	}
	if ((rows && code_read_stacks(l, db, err)) ||
	    (parts & CODE_WRONG && code_read_wrong(l, db, err)) ||
	    (rows && chains && code_read_chains(l, db, err)))
		goto fail;
	if (parts & CODE_CALLERS) {
		r = rows_of(db, "code_callerless", err);

		while (rows_step(r)) {
			int64_t stack = rows_int(r, CODE_CALLERLESS_STACK);

			if (stack > 0 && (uint64_t)stack < l->c.n_stack)
				l->c.stack[stack].callerless = true;
		}
		if (rows_end(r, err))
			goto fail;
	}
	return &l->c;
fail:
	code_free(&l->c);
	return NULL;
}

void code_free(struct known_code *c)
{
	struct code_loading *l = (struct code_loading *)c;

	if (!c)
		return;
	arena_release(&l->text);
	intern_release(&l->strings);
	free_all(c->image, c->frame, c->inlined, c->stack, c->chain, c->wrong,
		 l);
}
