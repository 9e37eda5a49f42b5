/* fleet_code.c - the rows of the tables stack and name, once for each content:
 * two stacks of a database can differ in a flag and have the same hash. */

#include "analyze/fleet/fleet_input.h"
#include "analyze/samples/code.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"

struct fleet_image {
	uint32_t build_id, path, kind; /* in words */
	uint64_t hash;		       /* of the build-id, or else the path */
};

struct fleet_walk {
	struct fleet_image *image; /* by image.id */
	struct table done;	   /* hashes and places that have rows */
	size_t next;		   /* stack.id or frame.id */
	/* of the frame's next function; of a stack, 1: with bogus frames */
	size_t level;
};

/* Returns the place of a frame: a hash of what names it on every host. */
static uint64_t fleet_walk_place(const struct fleet_walk *w,
				 const struct code_frame *fr)
{
	return hash_u64(w->image[fr->image].hash ^
			hash_u64(fr->off + 0x9e3779b97f4a7c15u));
}

static int fleet_walk_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_walk *w = mem_new(1, sizeof(*w));
	struct fleet *f = r->f;

	r->of = w;
	w->next = 1;
	if (fleet_load_code(f, err))
		return -1;
	w->image = mem_new(f->code->n_image, sizeof(*w->image));
	for (size_t i = 1; i < f->code->n_image; i++) {
		const struct image *img = &f->code->image[i].img;
		const char *path = img->path ? img->path : "";
		struct fleet_image *out = &w->image[i];
		char hex[2 * sizeof(img->id) + 1];

		for (size_t k = 0; k < img->id_len; k++)
			snprintf(hex + 2 * k, 3, "%02x", img->id[k]);
		hex[2 * (size_t)img->id_len] = 0;
		out->build_id = fleet_word_of(f, hex);
		out->path = fleet_word_of(f, path);
		out->kind = fleet_word_of(f, image_kind_name(img->kind));
		out->hash = img->id_len ? hash_content(img->id, img->id_len, 1)
					: hash_content(path, strlen(path), 2);
	}
	return 0;
}

static void fleet_walk_close(struct fleet_rows *r)
{
	struct fleet_walk *w = r->of;

	table_release(&w->done);
	free_all(w->image, w);
}

/* first: position of the first bogus frame; 0: none */
static void fleet_code_put_stack(struct fleet_rows *r, uint32_t hash,
				 size_t stack, uint32_t first)
{
	const struct fleet_walk *w = r->of;
	const struct known_code *c = r->f->code;
	struct fleet_fill *b = &r->fill;
	uint32_t pos = 0;

	fleet_fill_id(b, hash);
	for (unsigned int col = 0; col < 7; col++) {
		for (size_t s = stack; s; s = c->stack[s].parent) {
			const struct code_frame *fr =
				&c->frame[c->stack[s].frame];
			const struct fleet_image *img = &w->image[fr->image];

			switch (col) {
			case 0:
				fleet_fill_id(b, img->build_id);
				break;
			case 1:
				fleet_fill_id(b, img->path);
				break;
			case 2:
				fleet_fill_id(b, img->kind);
				break;
			case 3:
				fleet_fill_int(b, (int64_t)fr->off);
				break;
			case 4:
				fleet_fill_int(b, (int64_t)fr->vaddr);
				break;
			case 5:
				fleet_fill_int(b, fr->flags & UINT16_MAX);
				break;
			default:
				fleet_fill_int(
					b, (int64_t)fleet_walk_place(w, fr));
			}
		}
		fleet_fill_list(b);
	}
	for (size_t s = stack; s; s = c->stack[s].parent)
		fleet_fill_int(b,
			       fleet_bogus(c, c->stack[s].frame, pos++, first));
	fleet_fill_list(b);
}

static int fleet_code_step_stack(struct fleet_rows *r, struct err *err UNUSED)
{
	static const struct fleet_wrong right = { .sound = true };
	struct fleet_walk *w = r->of;
	const struct fleet *f = r->f;

	while (w->next < f->n_stack && w->next < f->code->n_stack) {
		size_t id = w->next;
		const struct fleet_wrong *wrong =
			id < f->n_wrong && f->wrong[id].first ? &f->wrong[id]
							      : &right;
		bool bogus = w->level != 0;
		uint32_t hash = bogus ? wrong->hash : f->stack[id];

		w->level = !bogus && wrong->first;
		w->next += !w->level;
		if ((!bogus && !wrong->sound) || hash == FLEET_NO_HASH ||
		    table_find_hash(&w->done, hash_u64(hash)) != TABLE_NONE)
			continue;
		table_add(&w->done, hash_u64(hash), hash);
		fleet_code_put_stack(r, hash, id, bogus ? wrong->first : 0);
		return 1;
	}
	return 0;
}

static int fleet_code_check_depth(const struct known_code *c, struct err *err)
{
	uint32_t *depth = mem_new(c->n_stack, sizeof(*depth));
	size_t i = 1;

	/* a parent has a smaller number, see code_load() */
	while (i < c->n_stack &&
	       (depth[i] = depth[c->stack[i].parent] + 1) <= FLEET_FRAMES_MAX)
		i++;
	free(depth);
	return i < c->n_stack
		       ? err_set(err, ERR_DB,
				 "the database is damaged: stack %zu has more "
				 "than %d frames",
				 i, FLEET_FRAMES_MAX)
		       : 0;
}

int fleet_stack_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_code_step_stack;
	r->close = fleet_walk_close;
	return fleet_walk_begin(r, err) ||
			       fleet_code_check_depth(r->f->code, err)
		       ? -1
		       : 0;
}

/* Puts the function of a level: 0 is the one that contains the others. */
static void fleet_code_put_name(struct fleet_rows *r,
				const struct code_frame *fr, size_t level)
{
	const struct fleet_walk *w = r->of;
	const struct fleet_image *img = &w->image[fr->image];
	const struct code_where *at =
		level ? &r->f->code
				 ->inlined[fr->inlined + fr->n_inlined - level]
		      : &fr->at;
	struct fleet_fill *b = &r->fill;

	fleet_fill_int(b, (int64_t)fleet_walk_place(w, fr));
	fleet_fill_int(b, (int64_t)level);
	fleet_fill_int(b, fr->n_inlined);
	fleet_fill_id(b, img->build_id);
	fleet_fill_id(b, img->path);
	fleet_fill_int(b, (int64_t)fr->off);
	fleet_put_text(r, at->name);
	fleet_put_text(r, at->file);
	fleet_fill_int(b, at->line);
	fleet_fill_int(b, !r->f->code->image[fr->image].proved);
	fleet_fill_int(b, level ? 0 : (int64_t)(fr->off - fr->symoff));
}

static int fleet_code_step_name(struct fleet_rows *r, struct err *err UNUSED)
{
	struct fleet_walk *w = r->of;
	const struct known_code *c = r->f->code;

	for (; w->next < c->n_frame; w->next++, w->level = 0) {
		const struct code_frame *fr = &c->frame[w->next];
		uint64_t place = fleet_walk_place(w, fr);

		if (w->level > fr->n_inlined)
			continue;
		if (!w->level) {
			if (!fr->at.name || fr->n_inlined > UINT8_MAX ||
			    table_find_hash(&w->done, place) != TABLE_NONE)
				continue;
			table_add(&w->done, place, 0);
		}
		fleet_code_put_name(r, fr, w->level++);
		return 1;
	}
	return 0;
}

int fleet_name_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_code_step_name;
	r->close = fleet_walk_close;
	return fleet_walk_begin(r, err);
}
