/* bare_code.c - images, places of frames and stacks of a database, unnamed. */
#include "analyze/names/bare_code.h"

#include "schema/store.h"
#include "stitch/base/mem.h"

/* Appends the rows of table frame. Returns 0, or -1 and *err. */
static int bare_code_read_frames(struct bare_code *c, struct store *db,
				 struct err *err)
{
	enum {
		ID,
		IMAGE,
		OFF,
		FLAGS,
		COLUMNS
	};
	static const char *const column[COLUMNS] = { "id", "image", "off",
						     "flags" };
	struct rows *r = rows_ints_dense(db, "frame", column, COLUMNS, err);
	struct int_row row;

	while (rows_step_ints(r, &row)) {
		int64_t image = row.v[IMAGE];
		size_t n = c->n_frame - 1;

		if (image < 1 || (uint64_t)image >= c->n_image) {
			rows_unsound(r);
			continue;
		}
		*mem_add(c->frame, n, c->cap_frame) = (struct frame){
			.image = (uint32_t)image,
			.flags = (uint32_t)row.v[FLAGS],
			.off = (uint64_t)row.v[OFF],
		};
		c->n_frame++;
	}
	return rows_end(r, err);
}

static int bare_code_read_stacks(struct bare_code *c, struct store *db,
				 struct err *err)
{
	struct rows *r = code_open_stacks(db, err);
	struct code_stack s;

	while (code_next_stack(r, c->n_frame, &s)) {
		size_t n = c->n_stack - 1;

		*mem_add(c->stack, n, c->cap_stack) = (struct stack){
			.parent = s.parent,
			.frame = s.frame,
			.depth =
				s.parent ? c->stack[s.parent - 1].depth + 1 : 1,
		};
		c->n_stack++;
	}
	return rows_end(r, err);
}

struct bare_code *bare_code_load(struct store *db, const struct frames *fr,
				 struct err *err)
{
	struct bare_code *c = mem_new(1, sizeof(*c));

	c->fr = fr;
	c->n_frame = (fr ? fr->n_frame : 0) + (size_t)1;
	c->n_stack = (fr ? fr->n_stack : 0) + (size_t)1;
	c->code = code_load(db, CODE_BARE, err);
	if (c->code) {
		c->image = c->code->image;
		c->n_image = c->code->n_image;
	}
	if (!c->code || (!fr && (bare_code_read_frames(c, db, err) ||
				 bare_code_read_stacks(c, db, err)))) {
		bare_code_free(c);
		return NULL;
	}
	return c;
}

void bare_code_free(struct bare_code *c)
{
	if (!c)
		return;
	code_free(c->code);
	free_all(c->frame, c->stack, c);
}
