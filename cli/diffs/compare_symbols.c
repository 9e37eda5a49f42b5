/* compare_symbols.c - functions that only one side of a comparison has, by the
 * symbols of the programs that ran. */
#include "cli/diffs/compare_symbols.h"

#include "cli/samples/code.h"
#include "cli/stacks/label.h"
#include "cli/names/matching.h"
#include "cli/names/short_name.h"
#include "cli/diffs/compared.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "symbolize/names/function_names.h"

/* The functions of an image in all runs of a side, which may be of several
 * builds. */
struct side_image {
	uint32_t id;	     /* matched_image.id */
	bool all;	     /* they are all known */
	struct intern names; /* theirs, then those that were asked for */
	size_t n_own;
};

struct symbol_sides {
	struct compare *c;
	struct side_image *image[2];
	size_t n[2], cap[2];
	uint8_t *seen; /* of each label: 1 << side that has code of it */
};

/* Returns the id of a function's short name: what a compiler adds to the name
 * of a clone, and parameters, are no other function. */
static uint32_t side_image_id(struct side_image *s, const char *name)
{
	char *brief = mem_new(strlen(name) + 1, 1);
	uint32_t id;

	short_name(name, 0, brief);
	id = intern_add(&s->names, brief);
	free(brief);
	return id;
}

static void side_image_add(void *arg, const char *name)
{
	side_image_id(arg, name);
}

/* Reads the programs of one image of a side. */
static void side_image_read(struct symbol_sides *s, int side,
			    struct side_image *to)
{
	struct intern done = { 0 }; /* build-ids */
	struct compare *c = s->c;
	bool any = false;

	to->all = true;
	for (size_t i = 0; i < c->n && to->all; i++) {
		const struct known_code *code = stacks_code(c->run[i].stacks);

		if (compare_side(c, i) != side)
			continue;
		for (size_t k = 1; k < code->n_image; k++) {
			const struct image *img = &code->image[k].img;
			size_t known = done.n;

			if (matching_image(c->match, side, img).id != to->id ||
			    intern_add_bytes(&done, img->id, img->id_len) <
				    known)
				continue;
			any = true;
			to->all &= c->run[i].files &&
				   function_names_each(c->run[i].files, img,
						       side_image_add, to);
		}
	}
	to->all &= any;
	to->n_own = to->names.n;
	intern_release(&done);
}

static struct side_image *side_image_get(struct symbol_sides *s, int side,
					 uint32_t id)
{
	for (size_t i = 0; i < s->n[side]; i++)
		if (s->image[side][i].id == id)
			return &s->image[side][i];

	struct side_image *made =
		mem_add(s->image[side], s->n[side], s->cap[side]);

	*made = (struct side_image){ .id = id };
	side_image_read(s, side, made);
	return made;
}

/* Judges the functions of one run. */
static void symbol_sides_prove(struct symbol_sides *s, size_t run)
{
	struct compare *c = s->c;
	const struct known_code *code = stacks_code(c->run[run].stacks);
	int side = compare_side(c, run);

	for (uint32_t i = 1; i < code->n_frame; i++) {
		const struct code_frame *f = &code->frame[i];
		const struct image *img = &code->image[f->image].img;
		struct matched_image same;
		struct side_image *other;
		uint32_t label;

		/* no symbol has the name of a stub, "f@plt" */
		if (img->kind != IMAGE_FILE || !f->at.name || !f->at.name[0] ||
		    strchr(f->at.name, '@') ||
		    !stack_names_label(stacks_names(c->run[run].stacks), i,
				       &label) ||
		    s->seen[label] != 1 << side || c->only[label])
			continue;
		same = matching_image(c->match, side, img);
		if (same.exact)
			continue;
		other = side_image_get(s, !side, same.id);
		if (other->all)
			c->only[label] =
				side_image_id(other, f->at.name) < other->n_own
					? IN_BOTH
				: side ? 1
				       : -1;
	}
}

void compare_prove_only(struct compare *c)
{
	struct symbol_sides s = { .c = c };

	c->n_only = labels_count(c->labels);
	c->only = mem_new(c->n_only, sizeof(*c->only));
	s.seen = mem_new(c->n_only, sizeof(*s.seen));
	for (size_t i = 0; i < c->n; i++) {
		const struct stacks *st = c->run[i].stacks;
		uint32_t label;

		for (uint32_t k = 1; st && k < stacks_code(st)->n_frame; k++)
			if (stack_names_label(stacks_names(st), k, &label))
				s.seen[label] |=
					(uint8_t)(1 << compare_side(c, i));
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->run[i].stacks)
			symbol_sides_prove(&s, i);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < s.n[side]; i++)
			intern_release(&s.image[side][i].names);
		free(s.image[side]);
	}
	free(s.seen);
}
