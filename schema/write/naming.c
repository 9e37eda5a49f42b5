/* naming.c - names frames, image by image.
 *
 * store_unnamed() walks through the images that unnamed_load() lists. Answers
 * of store_symbol() are kept in an array next to the offsets until the image is
 * complete. Those of a first naming go where the rows of frames are made
 * (labels.h), others are written with one UPDATE for each frame. */

#include <stdbool.h>

#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/db/sums_code.h"
#include "schema/write/labels.h"
#include "schema/write/mapped_code.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/digits.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/image_status.h"
#include "stitch/symbol.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"

/* A frame; several frames of an image may have the same offset. */
struct todo {
	uint32_t frame;
	uint32_t at; /* place in the image's code[] */
	/* from an earlier naming: its name is of a file that nothing proves; it
	 * has a line, or inlined functions, too */
	bool doubted, complete;
};

/* An image; code and todo point into the arrays of struct unnamed. */
struct unnamed_image {
	uint32_t image;
	struct code_place *code; /* by off, unique */
	struct todo *todo;	 /* in the order of code[] */
	size_t n_code, n_todo;
};

struct unnamed {
	struct code_place *code;
	size_t n_code, cap_code;
	struct todo *todo;
	size_t n_todo, cap_todo;
	struct unnamed_image *image;
	size_t n_image, cap_image;
	struct mapped_parts parts;
	bool first; /* the rows of these frames have no column that naming sets
		     */
};

/* The list is made or read as a whole, because naming changes the frames, and
 * because several images are named at a time. It takes 16 bytes per place in
 * code. */

/* The stacks that are being read, callers first. */
struct stack_scan {
	uint8_t *callees; /* by frame: as in struct code_place */
	size_t n_frame;
	uint32_t *frame; /* by stack */
	size_t n, cap;
};

static void unnamed_add_callee(struct stack_scan *sc, uint32_t frame)
{
	sc->callees[frame] += sc->callees[frame] < UINT8_MAX;
}

static void unnamed_add_frame(struct unnamed *u, const struct stack_scan *sc,
			      uint32_t image, uint64_t off, uint64_t frame)
{
	struct unnamed_image *img =
		u->n_image ? &u->image[u->n_image - 1] : NULL;

	if (!img || img->image != image) {
		img = mem_add(u->image, u->n_image, u->cap_image);
		*img = (struct unnamed_image){ .image = image };
	}
	if (!img->n_code || u->code[u->n_code - 1].off != off) {
		*mem_add(u->code, u->n_code, u->cap_code) =
			(struct code_place){ .off = off };
		img->n_code++;
	}
	/* a place that is both sampled and a return address follows a call, and
	 * gets the name of the caller, even if a function begins there */
	if (frame < sc->n_frame && sc->callees[frame]) {
		struct code_place *code = &u->code[u->n_code - 1];

		code->after_call = true;
		if (code->callees < sc->callees[frame])
			code->callees = sc->callees[frame];
	}
	*mem_add(u->todo, u->n_todo, u->cap_todo) = (struct todo){
		.frame = (uint32_t)frame,
		.at = (uint32_t)img->n_code - 1,
	};
	img->n_todo++;
}

struct unnamed_frame {
	uint64_t image;
	uint64_t place; /* the offset + 2^63: as the database sorts it */
	uint32_t frame;
};

#define PLACE_ZERO ((uint64_t)1 << 63)

SORT_BY_DIGITS(unnamed_by_place, struct unnamed_frame, place);
SORT_BY_DIGITS(unnamed_by_image, struct unnamed_frame, image);

static int unnamed_read(struct maker *mk, unsigned int how, struct unnamed *u,
			struct err *err)
{
	struct stack_scan sc = { .n = 0 };
	int rc = -1;

	if (maker_exec(mk, store_sql("heat"), err) ||
	    (how & NAME_HOT_FIRST &&
	     maker_exec(mk, store_sql("measure_heat"), err)))
		goto out;
	/* Finds the frames that are callers in some stack. A join of the
	 * stacks with themselves in SQL takes three times as long. */
	int64_t n;

	if (maker_number(mk, "SELECT count(*) FROM frame", &n, err))
		goto out;
	sc.n_frame = (size_t)n + 1;
	sc.callees = mem_new(sc.n_frame, sizeof(*sc.callees));
	struct rows *r = rows_dense(maker_read(mk, err), "stacks", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, STACKS_ID);
		int64_t parent = rows_int(r, STACKS_PARENT);
		int64_t frame = rows_int(r, STACKS_FRAME);

		if (parent < 0 || parent >= id || frame < 0 ||
		    (uint64_t)frame >= sc.n_frame) {
			rows_unsound(r);
			continue;
		}
		*mem_at(sc.frame, sc.n, sc.cap, id) = (uint32_t)frame;
		if (parent)
			unnamed_add_callee(&sc, sc.frame[parent]);
	}
	if (rows_end(r, err))
		goto out;
	r = ROWS_BY(maker_read(mk, err), "unnamed", err, how & NAME_LINES,
		    how & NAME_KERNEL);

	while (rows_step(r)) {
		unnamed_add_frame(u, &sc, (uint32_t)rows_int(r, UNNAMED_IMAGE),
				  (uint64_t)rows_int(r, UNNAMED_OFF),
				  (uint64_t)rows_int(r, UNNAMED_ID));

		struct todo *t = &u->todo[u->n_todo - 1];

		t->doubted = rows_int(r, UNNAMED_DOUBTED);
		t->complete = rows_int(r, UNNAMED_COMPLETE);
	}
	rc = rows_end(r, err);
out:
	free_all(sc.callees, sc.frame);
	return rc;
}

/* Fills *u, which naming_end_walk() frees. how: see store_unnamed(). Returns 0,
 * or -1 and *err. */
static int unnamed_load(struct maker *mk, unsigned int how, struct unnamed *u,
			struct err *err)
{
	bool first = mk->is_new && mk->w->fr && !mk->w->asked;
	int rc = 0;

	if (flush_frames(mk, err))
		return -1;
	/* Lists the modules with the build-id of another one. */
	if (maker_exec(mk, store_sql("shared_id"), err))
		return -1;
	/* list the images without a build-id whose path also has another
	 * file */
	const struct sql_gap gap = { "several", store_sql("several_images") };
	char *sql = store_sql_fill("fill_several", &gap, 1);
	int ret = maker_exec(mk, store_sql("several"), err)
			  ?: maker_exec(mk, sql, err);

	free(sql);
	if (ret)
		return -1;
	if (PUT_BY(mk, store_sql("fill_shared_id"), err,
		   VALUE_OF(IMAGE_MODULE)))
		return -1;
	if (mapped_parts_load(mk, &u->parts, err))
		return -1;
	mk->w->asked = true;
	u->first = first && !(how & NAME_HOT_FIRST);
	if (u->first) {
		/* Makes the list of the query unnamed from memory, as long as
		 * the only named frames are those the capture has names for.
		 * Reading back what was just written took ten times as long. */
		const struct frames *fr = mk->w->fr;
		struct stack_scan sc = { .n = 0 };
		struct unnamed_frame *list =
			mem_new(fr->n_frame + (size_t)1, sizeof(*list));
		size_t n = 0;
		size_t k = 0;

		/* as unnamed_read(), of stacks in memory */
		sc.n_frame = (size_t)fr->n_frame + 1;
		sc.callees = mem_new(sc.n_frame, sizeof(*sc.callees));
		for (uint32_t i = 1; i <= fr->n_stack; i++) {
			uint32_t parent = frames_get_stack(fr, i)->parent;

			if (parent)
				unnamed_add_callee(
					&sc,
					frames_get_stack(fr, parent)->frame);
		}
		for (uint32_t i = 1; i <= fr->n_frame; i++) {
			const struct frame *f = frames_get_frame(fr, i);

			if (k < mk->w->n_named && mk->w->named[k] == i)
				k++;
			else
				list[n++] = (struct unnamed_frame){
					f->image, f->off ^ PLACE_ZERO, i
				};
		}
		list = unnamed_by_image(unnamed_by_place(list, n), n);
		for (size_t i = 0; i < n; i++)
			unnamed_add_frame(u, &sc, (uint32_t)list[i].image,
					  list[i].place ^ PLACE_ZERO,
					  list[i].frame);
		free_all(list, sc.callees);
	} else
		rc = tables_link(mk, err) ?: unnamed_read(mk, how, u, err);
	/* now that the arrays do not move any more: which parts of them belong
	 * to each image */
	struct code_place *code = u->code;
	struct todo *todo = u->todo;

	for (size_t i = 0; i < u->n_image; i++) {
		u->image[i].code = code;
		u->image[i].todo = todo;
		code += u->image[i].n_code;
		todo += u->image[i].n_todo;
	}
	return rc;
}

/* Fills *img for the resolvers, without the code of jitted images. Its path is
 * in text, its parts belong to u. Returns 0, or -1 and *err. */
static int unnamed_describe(struct maker *mk, const struct unnamed *u,
			    uint32_t image, struct arena *text,
			    struct image *img, struct err *err)
{
	struct rows *r =
		ROWS_BY(maker_read(mk, err), "unnamed_image", err, image);

	bool found = rows_step(r);

	memset(img, 0, sizeof(*img));
	if (found) {
		rows_image(r, UNNAMED_IMAGE_KIND, text, img);
		img->several = rows_int(r, UNNAMED_IMAGE_SEVERAL) != 0;
		img->reused = rows_int(r, UNNAMED_IMAGE_SEVERAL) == 2;
		img->start = (uint64_t)rows_int(r, UNNAMED_IMAGE_START);
		img->len = (uint64_t)rows_int(r, UNNAMED_IMAGE_LEN);
		img->t0 = (uint64_t)rows_int(r, UNNAMED_IMAGE_T0);
		img->space = (uint32_t)rows_int(r, UNNAMED_IMAGE_PROCESS);
	}
	if (rows_end(r, err))
		return -1;
	if (!found)
		return db_error(mk->db, SQLITE_DONE, err);
	if (img->kind == IMAGE_FILE && !image_is_copy(img))
		img->part = mapped_parts_of(&u->parts, image, &img->n_part);
	for (size_t i = 0; i < img->n_part; i++)
		if (!i || img->part[i].t0 < img->mapped)
			img->mapped = img->part[i].t0;
	return 0;
}

struct answer {
	uint64_t symoff;
	const char *file; /* NULL: not known */
	uint32_t line;
	uint32_t symbol; /* 0: no name */
	uint32_t todo;	 /* first frame with this offset */
	bool told;
};

struct known_symbol { /* symbols of the current image */
	uint64_t start;
	const char *name;
	bool unverified;
	uint32_t id; /* of a database of sums: number in known[], from 1 on */
};

/* An inlined function, until the image is complete. */
struct held_inline {
	const struct answer *of;
	const char *name, *file;
	uint32_t depth, line;
};

struct naming {
	sqlite3_stmt *update, *replace;
	bool walking;
	struct unnamed todo;
	size_t next;		 /* in todo.image[] */
	struct unnamed_image at; /* current; image 0: none */
	struct answer *answer;	 /* one for each of at.code[] */
	size_t cap_answer;
	struct known_symbol *known;
	size_t n_known, cap_known;
	struct table by_name;
	struct code_place *shared; /* for store_shared_names() */
	size_t n_shared, cap_shared;
	struct held_inline *held; /* if frames have names already */
	size_t n_held, cap_held;
	bool again;	 /* they have */
	bool proved;	 /* the current image's file is the mapped one */
	uint32_t unused; /* the last image whose file gave no name; 0: none */
	struct symbol last; /* the last answer, not yet in answer[]; name
			     * NULL: none */
	struct segment *seg;
	size_t n_seg, cap_seg;
	struct jit_code jit;
	struct arena text; /* of the current image's strings */
};

static struct naming *naming_of(struct maker *mk)
{
	if (!mk->w->naming)
		mk->w->naming = mem_new(1, sizeof(*mk->w->naming));
	return mk->w->naming;
}

static void naming_end_walk(struct naming *nm)
{
	sqlite3_finalize(nm->update);
	sqlite3_finalize(nm->replace);
	nm->update = nm->replace = NULL;
	free_all(nm->todo.code, nm->todo.todo, nm->todo.image);
	mapped_parts_release(&nm->todo.parts);
	memset(&nm->todo, 0, sizeof(nm->todo));
	nm->next = 0;
	nm->walking = false;
}

void naming_free(struct naming *nm)
{
	if (!nm)
		return;
	naming_end_walk(nm);
	table_release(&nm->by_name);
	arena_release(&nm->text);
	free_all(nm->answer, nm->known, nm->shared, nm->held, nm->seg, nm);
}

SAME_FUNCTION(naming_same_symbol, struct naming, known[id], struct symbol,
	      x->start == y->start && x->unverified == y->unverified &&
		      !strcmp(x->name, y->name));

/* Stores the id of a symbol of the current image in *id, and writes the symbol
 * when it comes for the first time. */
static int naming_symbol_id(struct maker *mk, struct naming *nm,
			    const struct symbol *s, uint32_t *id,
			    struct err *err)
{
	uint64_t h = hash_bytes(s->name, strlen(s->name), s->start);
	uint32_t at = table_find(&nm->by_name, h, naming_same_symbol, nm, s);

	if (at == TABLE_NONE) {
		at = (uint32_t)nm->n_known;
		mem_grow(nm->known, nm->cap_known, nm->n_known + 1);
		struct known_symbol k = { .start = s->start,
					  .unverified = s->unverified,
					  .id = at + 1 };

		k.name = mk->db->sums ? sums_code_text(mk->db->sums, s->name)
				      : arena_strdup(&nm->text, s->name);
		if (!mk->db->sums &&
		    symbol_rows_put(mk, nm->at.image, s, &k.id, err))
			return -1;
		nm->known[nm->n_known++] = k;
		table_add(&nm->by_name, h, at);
	}
	*id = nm->known[at].id;
	return 0;
}

static struct answer *naming_answer_for(struct naming *nm, uint64_t off)
{
	size_t i = search_where(nm->at.n_code, k, nm->at.code[k].off >= off);

	return i < nm->at.n_code && nm->at.code[i].off == off ? &nm->answer[i]
							      : NULL;
}

/* Reads the symbols that the image has from an earlier naming, so that they are
 * not written twice. */
static int naming_load_known(struct maker *mk, struct naming *nm,
			     struct err *err)
{
	struct rows *r = ROWS_BY(maker_read(mk, err), "known_symbols", err,
				 nm->at.image);

	while (rows_step(r)) {
		struct known_symbol k = {
			.start = (uint64_t)rows_int(r, KNOWN_SYMBOLS_START),
			.name = arena_strdup(&nm->text,
					     rows_text(r, KNOWN_SYMBOLS_NAME)),
			.unverified = rows_int(r, KNOWN_SYMBOLS_UNVERIFIED),
			.id = (uint32_t)rows_int(r, KNOWN_SYMBOLS_ID),
		};

		table_add(&nm->by_name,
			  hash_bytes(k.name, strlen(k.name), k.start),
			  (uint32_t)nm->n_known);
		*mem_add(nm->known, nm->n_known, nm->cap_known) = k;
	}
	return rows_end(r, err);
}

/* Takes the last answer as the function itself, not one inlined into it. */
static int naming_end_last(struct maker *mk, struct naming *nm, struct err *err)
{
	struct symbol *s = &nm->last;
	struct answer *a = s->name ? naming_answer_for(nm, s->off) : NULL;
	int rc = 0;

	if (a) {
		rc = naming_symbol_id(mk, nm, s, &a->symbol, err);
		a->symoff = s->off - s->start;
		a->file = s->file;
		a->line = s->line;
	}
	s->name = NULL;
	return rc;
}

/* Returns whether a frame keeps what an earlier naming found. */
static bool naming_keeps(const struct naming *nm, const struct todo *t)
{
	return t->complete && !(t->doubted && nm->proved);
}

/* Writes an inlined function of the frames with an answer. */
static int naming_write_inline(struct maker *mk, struct naming *nm,
			       const struct held_inline *in, struct err *err)
{
	for (size_t i = in->of->todo; i < nm->at.n_todo; i++) {
		const struct todo *t = &nm->at.todo[i];

		if (t->at != (uint32_t)(in->of - nm->answer))
			break;
		if (naming_keeps(nm, t))
			continue;
		if (PUT_ROW(mk, T_INLINE, err, VALUE_OF(t->frame),
			    VALUE_OF(in->depth), value_text(in->name),
			    value_text(in->file), VALUE_ID(in->line)))
			return -1;
		mk->w->renamed = true;
		frame_names_inlined(mk, t->frame, in->depth, in->name);
	}
	return 0;
}

/* Takes the last answer as a function that was inlined. */
static int naming_put_inline(struct maker *mk, struct naming *nm,
			     const struct symbol *s, struct err *err)
{
	const struct held_inline in = { naming_answer_for(nm, s->off), s->name,
					s->file, s->depth, s->line };

	if (!in.of || mk->db->sums)
		return 0;
	if (!nm->again)
		return naming_write_inline(mk, nm, &in, err);
	*mem_add(nm->held, nm->n_held, nm->cap_held) = in;
	return 0;
}

int store_symbol(struct maker *mk, uint32_t image, const struct symbol *sym,
		 struct err *err)
{
	struct naming *nm = naming_of(mk);

	if (image != nm->at.image)
		return err_set(err, ERR_DB,
			       "%s: names for image %u, which "
			       "did not ask",
			       mk->db->path, image);
	if (!sym->name)
		return 0;
	struct answer *a = naming_answer_for(nm, sym->off);

	if (!a)
		return 0;
	if (nm->last.name && nm->last.off == sym->off &&
	    sym->depth == nm->last.depth + 1) {
		/* the last function was inlined into this one */
		if (naming_put_inline(mk, nm, &nm->last, err))
			return -1;
	} else if (naming_end_last(mk, nm, err)) {
		return -1;
	} else if (a->told) {
		return 0;
	}
	a->told = true;
	const char *how = nm->last.how;

	/* mostly the same as before */
	if (!how || strcmp(how, sym->how) != 0)
		how = arena_strdup(&nm->text, sym->how);
	nm->last = *sym;
	nm->last.how = how;
	nm->last.name = arena_strdup(&nm->text, sym->name);
	nm->last.raw_name = NULL;
	nm->last.file = NULL;
	if (sym->raw_name && strcmp(sym->raw_name, sym->name) != 0)
		nm->last.raw_name = arena_strdup(&nm->text, sym->raw_name);
	if (sym->file)
		nm->last.file = arena_strdup(&nm->text, sym->file);
	return 0;
}

/* Returns true and *vaddr if an offset in the file is in a segment. */
static bool naming_vaddr(const struct naming *nm, uint64_t off, int64_t *vaddr)
{
	for (size_t i = 0; i < nm->n_seg; i++) {
		const struct segment *s = &nm->seg[i];

		if (off < s->off || off - s->off >= s->filesz)
			continue;
		*vaddr = (int64_t)(off - s->off + s->vaddr);
		return true;
	}
	return false;
}

/* Updates the row of a frame. vaddr NULL: unknown. */
static int naming_update(struct maker *mk, struct naming *nm,
			 const struct todo *t, const struct answer *a,
			 const int64_t *vaddr, struct err *err)
{
	if (naming_keeps(nm, t))
		return 0;
	if (PUT_VALUES(mk, t->doubted && nm->proved ? nm->replace : nm->update,
		       err, VALUE_OF(t->frame), VALUE_ID(a->symbol),
		       value_known(a->symbol, (int64_t)a->symoff),
		       value_known(vaddr, vaddr ? *vaddr : 0),
		       value_text(a->file), VALUE_ID(a->line)))
		return -1;
	mk->w->renamed |= sqlite3_changes(mk->db->db) > 0;
	return 0;
}

/* Keeps the name for the row of a frame, or writes the row again: in a first
 * naming that takes two thirds of the time of UPDATE, and the writer does
 * it. */
static int naming_replace(struct maker *mk, uint32_t frame,
			  const struct answer *a, const int64_t *vaddr,
			  struct err *err)
{
	const struct frame *f = frames_get_frame(mk->w->fr, frame);

	if (mk->w->frame_names) {
		const struct frame_name name = {
			.symoff = a->symoff,
			.vaddr = vaddr ? *vaddr : 0,
			.symbol = a->symbol,
			.line = a->line,
			.file = a->file,
			.has_vaddr = vaddr != NULL,
		};

		frame_names_put(mk, frame, &name);
		return 0;
	}
	mk->w->renamed = true;
	return PUT_ROW(mk, T_NAMED, err, VALUE_OF(frame), VALUE_OF(f->image),
		       VALUE_OF(f->off), VALUE_OF(f->flags),
		       value_known(vaddr, vaddr ? *vaddr : 0),
		       VALUE_ID(a->symbol),
		       value_known(a->symbol, (int64_t)a->symoff),
		       value_text(a->file), VALUE_ID(a->line));
}

/* Writes the answers for the current image; afterwards there is none. */
static int naming_end_image(struct maker *mk, struct naming *nm,
			    struct err *err)
{
	if (!nm->at.image)
		return 0;
	/* the statement is an old one */
	if (naming_end_last(mk, nm, err) ||
	    (!nm->todo.first && !maker_read(mk, err)))
		return -1;
	bool replaces = nm->proved &&
			any_where(nm->at.n_todo, i, nm->at.todo[i].doubted);

	if (replaces && (PUT_BY(mk, store_sql("drop_inlined"), err,
				VALUE_OF(nm->at.image)) ||
			 PUT_BY(mk, store_sql("drop_sections"), err,
				VALUE_OF(nm->at.image))))
		return -1;
	for (size_t i = 0; i < nm->at.n_todo; i++) {
		const struct todo *t = &nm->at.todo[i];
		const struct answer *a = &nm->answer[t->at];

		if (!a->symbol && !nm->n_seg && !replaces)
			continue;
		int64_t at;
		const int64_t *vaddr =
			naming_vaddr(nm, nm->at.code[t->at].off, &at) ? &at
								      : NULL;
		int rc = 0;

		if (!mk->db->sums)
			rc = nm->todo.first
				     ? naming_replace(mk, t->frame, a, vaddr,
						      err)
				     : naming_update(mk, nm, t, a, vaddr, err);
		else if (a->symbol)
			sums_code_put(mk->db->sums, t->frame,
				      nm->known[a->symbol - 1].name, a->symoff,
				      a->file);
		if (rc)
			return -1;
	}
	for (size_t i = 0; i < nm->n_held; i++)
		if (naming_write_inline(mk, nm, &nm->held[i], err))
			return -1;
	nm->at.image = 0;
	nm->proved = false;
	nm->n_held = 0;
	nm->n_seg = 0;
	nm->n_known = 0;
	table_release(&nm->by_name);
	memset(&nm->by_name, 0, sizeof(nm->by_name));
	return 0;
}

/* Reads the lines of jitted code; their strings are in text. */
static int jitted_lines(struct maker *mk, uint32_t image, struct arena *text,
			struct jit_code *out, struct err *err)
{
	struct rows *r = ROWS_BY(maker_read(mk, err), "jit_lines", err, image);
	struct jit_line *line = NULL;
	size_t cap = 0;

	*out = (struct jit_code){ 0 };
	while (rows_step(r))
		*mem_add(line, out->n_line, cap) = (struct jit_line){
			.off = (uint64_t)rows_int(r, JIT_LINES_OFF),
			.file = arena_strdup(text,
					     rows_text(r, JIT_LINES_FILE)),
			.line = (uint32_t)rows_int(r, JIT_LINES_LINE),
		};
	if (out->n_line) {
		struct jit_line *own =
			arena_take(text, out->n_line * sizeof(*own));

		memcpy(own, line, out->n_line * sizeof(*own));
		out->line = own;
	}
	free(line);
	return rows_end(r, err);
}

int store_unnamed(struct maker *mk, unsigned int how, uint32_t *id,
		  struct image *img, const struct code_place **code, size_t *n,
		  struct err *err)
{
	struct naming *nm = naming_of(mk);

	if (naming_end_image(mk, nm, err))
		return -1;
	arena_release(&nm->text);
	nm->last = (struct symbol){ .name = NULL };
	if (!nm->walking) {
		if (unnamed_load(mk, how, &nm->todo, err))
			return -1;
		nm->update = maker_prepare(mk, store_sql("name_frame"), err);
		nm->replace = maker_prepare(mk, store_sql("rename_frame"), err);
		if (!nm->update || !nm->replace)
			return -1;
		nm->walking = true;
		mk->w->naming_ended = false;
	}
	if (nm->next == nm->todo.n_image) {
		naming_end_walk(nm);
		mk->w->naming_ended = true;
		return 0;
	}
	nm->at = nm->todo.image[nm->next++];
	if (unnamed_describe(mk, &nm->todo, nm->at.image, &nm->text, img, err))
		return -1;
	if (img->kind == IMAGE_JIT) {
		if (jitted_lines(mk, nm->at.image, &nm->text, &nm->jit, err))
			return -1;
		img->code = &nm->jit;
	}
	const struct unnamed_image *at = &nm->at;

	mem_grow(nm->answer, nm->cap_answer, at->n_code);
	memset(nm->answer, 0, at->n_code * sizeof(*nm->answer));
	for (size_t i = at->n_todo; i-- > 0;)
		nm->answer[at->todo[i].at].todo = (uint32_t)i;
	nm->again = how & NAME_LINES && !mk->is_new;
	if (nm->again && naming_load_known(mk, nm, err))
		return -1;
	*id = nm->at.image;
	*code = nm->at.code;
	*n = nm->at.n_code;
	return 1;
}

int store_shared_names(struct maker *mk, const struct code_place **code,
		       size_t *n, struct err *err)
{
	struct naming *nm = naming_of(mk);

	*n = nm->n_shared = 0;
	if (!mk->db->sums || !nm->at.image)
		return 0;
	if (naming_end_last(mk, nm, err))
		return -1;
	bool *shared = mem_new(nm->n_known, sizeof(*shared));

	/* Stores for each symbol of the current image of a database of sums
	 * whether another one has the same name. */
	uint32_t *first = mem_new(nm->n_known, sizeof(*first));
	struct intern names = { 0 };
	bool any = false;

	for (uint32_t i = 0; i < nm->n_known; i++) {
		size_t seen = names.n;
		uint32_t id = intern_add(&names, nm->known[i].name);

		if (id == seen)
			first[id] = i;
		else
			any = shared[i] = shared[first[id]] = true;
	}
	intern_release(&names);
	free(first);
	size_t n_code = any ? nm->at.n_code : 0;

	for (size_t i = 0; i < n_code; i++) {
		struct answer *a = &nm->answer[i];

		if (!a->symbol || !shared[a->symbol - 1])
			continue;
		a->told = false;
		*mem_add(nm->shared, nm->n_shared, nm->cap_shared) =
			nm->at.code[i];
	}
	free(shared);
	*code = nm->shared;
	*n = nm->n_shared;
	return 0;
}

int store_unnamed_at(struct maker *mk, size_t i, struct image *img,
		     const struct code_place **code, size_t *n, struct err *err)
{
	struct naming *nm = naming_of(mk);

	if (!nm->walking || i >= nm->todo.n_image)
		return 0;

	const struct unnamed_image *u = &nm->todo.image[i];

	*code = u->code;
	*n = u->n_code;
	return unnamed_describe(mk, &nm->todo, u->image, &nm->text, img, err)
		       ? -1
		       : 1;
}

/* Returns 1 if the image has these segments, 0, or -1 and *err. */
static int naming_has_segments(struct maker *mk, uint32_t image,
			       const struct segment *seg, size_t n,
			       struct err *err)
{
	bool same = true;
	size_t i = 0;

	if (mk->is_new)
		return 0;
	struct rows *r =
		ROWS_BY(maker_read(mk, err), "old_segments", err, image);

	for (; same && rows_step(r); i++)
		same = i < n &&
		       (uint64_t)rows_int(r, OLD_SEGMENTS_OFF) == seg[i].off &&
		       (uint64_t)rows_int(r, OLD_SEGMENTS_VADDR) ==
			       seg[i].vaddr &&
		       (uint64_t)rows_int(r, OLD_SEGMENTS_FILESZ) ==
			       seg[i].filesz &&
		       rows_int(r, OLD_SEGMENTS_FLAGS) == seg[i].flags;
	return rows_end(r, err) ? -1 : same && i == n;
}

/* Returns whether an answer for the current image becomes the name of a frame;
 * true if no frame has a name of an earlier file. */
static bool naming_takes(const struct naming *nm)
{
	bool earlier = false;

	for (size_t i = 0; i < nm->at.n_todo; i++) {
		const struct todo *t = &nm->at.todo[i];
		const struct answer *a = &nm->answer[t->at];

		earlier |= t->doubted;
		if (!naming_keeps(nm, t) && a->symbol &&
		    (!t->doubted || nm->proved || a->line))
			return true;
	}
	return !earlier;
}

int store_image(struct maker *mk, uint32_t image, const char *file,
		const char *status, const char *identity,
		const struct segment *seg, size_t n, struct err *err)
{
	struct naming *nm = naming_of(mk);

	bool current = image == nm->at.image;

	nm->unused = 0;
	nm->proved = current && image_status_of(status) == IMAGE_NAMED;
	if (current && naming_end_last(mk, nm, err))
		return -1;
	if (current && nm->again && !naming_takes(nm)) {
		nm->unused = image;
		return naming_end_image(mk, nm, err);
	}

	int has = n ? naming_has_segments(mk, image, seg, n, err) : 1;

	if (has < 0 ||
	    (!has &&
	     PUT_BY(mk, store_sql("drop_segments"), err, VALUE_OF(image))) ||
	    PUT_BY(mk, store_sql("image_status"), err, VALUE_OF(image),
		   value_text(file && *file ? file : NULL), value_text(status),
		   value_text(identity)))
		return -1;
	if (!has) {
		for (size_t i = 0; i < n; i++)
			if (PUT_ROW(mk, T_SEGMENT, err, VALUE_OF(image),
				    VALUE_OF(seg[i].off),
				    VALUE_OF(seg[i].vaddr),
				    VALUE_OF(seg[i].filesz),
				    VALUE_OF(seg[i].flags)))
				return -1;
	}
	/* only answers for the current image wait: no frame of another one may
	 * be written */
	if (!current)
		return 0;
	mem_grow(nm->seg, nm->cap_seg, n);
	if (n)
		memcpy(nm->seg, seg, n * sizeof(*seg));
	nm->n_seg = n;
	return naming_end_image(mk, nm, err);
}

/* Rows of the sections that names were read from. */
int store_sections(struct maker *mk, uint32_t image,
		   const struct section_used *used, size_t n, struct err *err)
{
	if (!n || image == naming_of(mk)->unused)
		return 0;
	return PUT_EACH(mk, store_sql("put_section"), err, n, i,
			VALUE_OF(image), value_text(used[i].file),
			value_text(used[i].name), VALUE_OF(used[i].hash));
}

int naming_end(struct maker *mk, struct err *err)
{
	struct naming *nm = mk->w->naming;

	if (!nm)
		return 0;
	int rc = naming_end_image(mk, nm, err);

	naming_end_walk(nm);
	return rc;
}
