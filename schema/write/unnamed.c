/* unnamed.c - the frames that have no name, image by image, in the order in
 * which they are named.
 *
 * The list is made or read as a whole, because naming changes the frames, and
 * because several images are named at a time. It takes 16 bytes per place in
 * code. */
#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"
#include "schema/write/unnamed.h"

#include <stdbool.h>

#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/digits.h"
#include "stitch/base/mem.h"

/* Stacks being read, callers first. */
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

/* Finds the frames that are callers in some stack. A join of the stacks with
 * themselves in SQL takes three times as long. */
static int unnamed_find_returns(struct maker *mk, struct stack_scan *sc,
				struct err *err)
{
	int64_t n;

	if (maker_number(mk, "SELECT count(*) FROM frame", &n, err))
		return -1;
	sc->n_frame = (size_t)n + 1;
	sc->callees = mem_new(sc->n_frame, sizeof(*sc->callees));
	struct rows *r = rows_dense(maker_read(mk, err), "stacks", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, STACKS_ID);
		int64_t parent = rows_int(r, STACKS_PARENT);
		int64_t frame = rows_int(r, STACKS_FRAME);

		if (parent < 0 || parent >= id || frame < 0 ||
		    (uint64_t)frame >= sc->n_frame) {
			rows_unsound(r);
			continue;
		}
		*mem_at(sc->frame, sc->n, sc->cap, id) = (uint32_t)frame;
		if (parent)
			unnamed_add_callee(sc, sc->frame[parent]);
	}
	return rows_end(r, err);
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
	/* a place that is sampled and a return address too follows a call, and
	 * has the name of what calls, even if a function begins there */
	if (frame < sc->n_frame && sc->callees[frame]) {
		struct code_place *code = &u->code[u->n_code - 1];

		code->after_call = true;
		if (code->callees < sc->callees[frame])
			code->callees = sc->callees[frame];
	}
	*mem_add(u->todo, u->n_todo, u->cap_todo) =
		(struct todo){ (uint32_t)frame, (uint32_t)img->n_code - 1 };
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

/* Lists the modules with the build-id of another one. */
static int unnamed_find_shared(struct maker *mk, struct err *err)
{
	if (maker_exec(mk, store_sql("shared_id"), err))
		return -1;
	/* List the images without a build-id of whose path there is another
	 * file. */
	const struct sql_gap gap = { "several", store_sql("several_images") };
	char *sql = store_sql_fill("fill_several", &gap, 1);
	int rc = maker_exec(mk, store_sql("several"), err)
			 ?: maker_exec(mk, sql, err);

	free(sql);
	if (rc)
		return -1;
	return PUT_BY(mk, store_sql("fill_shared_id"), err,
		      VALUE_OF(IMAGE_MODULE));
}

/* Does what the query unnamed does, while only frames have names that the
 * capture has names for. Reading back what was just written took ten times as
 * long. */
static void unnamed_list(const struct maker *mk, struct unnamed *u)
{
	const struct frames *fr = mk->w->fr;
	struct stack_scan sc = { .n = 0 };
	struct unnamed_frame *list =
		mem_new(fr->n_frame + (size_t)1, sizeof(*list));
	size_t n = 0;
	size_t k = 0;

	/* as unnamed_find_returns(), of stacks in memory */
	sc.n_frame = (size_t)fr->n_frame + 1;
	sc.callees = mem_new(sc.n_frame, sizeof(*sc.callees));
	for (uint32_t i = 1; i <= fr->n_stack; i++) {
		uint32_t parent = frames_get_stack(fr, i)->parent;

		if (parent)
			unnamed_add_callee(&sc,
					   frames_get_stack(fr, parent)->frame);
	}
	for (uint32_t i = 1; i <= fr->n_frame; i++) {
		const struct frame *f = frames_get_frame(fr, i);

		if (k < mk->w->n_named && mk->w->named[k] == i)
			k++;
		else
			list[n++] = (struct unnamed_frame){ f->image,
							    f->off ^ PLACE_ZERO,
							    i };
	}
	list = unnamed_by_image(unnamed_by_place(list, n), n);
	for (size_t i = 0; i < n; i++)
		unnamed_add_frame(u, &sc, (uint32_t)list[i].image,
				  list[i].place ^ PLACE_ZERO, list[i].frame);
	free(list);
	free(sc.callees);
}

static int unnamed_read(struct maker *mk, unsigned int how, struct unnamed *u,
			struct err *err)
{
	struct stack_scan sc = { .n = 0 };
	int rc = -1;

	if (maker_exec(mk, store_sql("heat"), err) ||
	    (how & NAME_HOT_FIRST &&
	     maker_exec(mk, store_sql("measure_heat"), err)) ||
	    unnamed_find_returns(mk, &sc, err))
		goto out;
	struct rows *r = ROWS_BY(maker_read(mk, err), "unnamed", err,
				 how & NAME_LINES, how & NAME_KERNEL);

	while (rows_step(r))
		unnamed_add_frame(u, &sc, (uint32_t)rows_int(r, UNNAMED_IMAGE),
				  (uint64_t)rows_int(r, UNNAMED_OFF),
				  (uint64_t)rows_int(r, UNNAMED_ID));
	rc = rows_end(r, err);
out:
	free(sc.callees);
	free(sc.frame);
	return rc;
}

int unnamed_load(struct maker *mk, unsigned int how, struct unnamed *u,
		 struct err *err)
{
	bool first = mk->is_new && mk->w->fr && !mk->w->asked;
	int rc = 0;

	if (flush_frames(mk, err) || unnamed_find_shared(mk, err) ||
	    mapped_parts_load(mk, &u->parts, err))
		return -1;
	mk->w->asked = true;
	u->first = first && !(how & NAME_HOT_FIRST);
	if (u->first)
		unnamed_list(mk, u);
	else
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

void unnamed_release(struct unnamed *u)
{
	free(u->code);
	free(u->todo);
	free(u->image);
	mapped_parts_release(&u->parts);
	memset(u, 0, sizeof(*u));
}

int unnamed_describe(struct maker *mk, const struct unnamed *u, uint32_t image,
		     struct arena *text, struct image *img, struct err *err)
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
