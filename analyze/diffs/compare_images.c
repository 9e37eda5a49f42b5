/* compare_images.c - programs that have another file name on the other side of
 * a comparison, known by their functions, and functions that only one side has,
 * by the symbols of the programs that ran. */
#include "analyze/diffs/compared.h"

#include <math.h>

#include "analyze/samples/code.h"
#include "analyze/stacks/label.h"
#include "analyze/names/matching.h"
#include "analyze/names/short_name.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "symbolize/names/symbol_names.h"

/* Images with less of the user code are left as they are. */
#define WEIGHT_MIN 0.05

/* An image of one side, in all its runs. */
struct side_program {
	uint32_t id; /* matched_image.id */
	const char *name;
	struct intern functions; /* short names of those that were on stacks;
				  * then those that were asked for */
	int64_t n_own;
	double *self; /* weight of each */
	size_t n, cap;
	double weight; /* of all of its code, named or not */
	size_t like;   /* images of the other side that may be this one */
};

struct programs {
	struct side_program *item;
	size_t n, cap;
	double weight; /* of all user code */
};

static struct side_program *programs_get(struct programs *p,
					 const struct matched_image *img)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].id == img->id)
			return &p->item[i];

	struct side_program *made = mem_add(p->item, p->n, p->cap);

	*made = (struct side_program){ .id = img->id, .name = img->name };
	return made;
}

/* Returns the id of a function's short name: what a compiler adds to the name
 * of a clone, and parameters, are no other function. */
static uint32_t short_name_id(struct intern *names, const char *name)
{
	char *brief = mem_new(strlen(name) + 1, 1);

	short_name(name, 0, brief);
	uint32_t id = intern_add(names, brief);
	free(brief);
	return id;
}

/* Returns the id of a function. Each program has "main", and names that begin
 * with "_" are of its start; these tell nothing. */
static int64_t side_program_function(struct side_program *p, const char *name)
{
	if (!name || !name[0] || name[0] == '_' || !strcmp(name, "main"))
		return -1;
	uint32_t id = short_name_id(&p->functions, name);

	mem_reach(p->self, p->n, p->cap, (size_t)id + 1);
	return id;
}

/* Adds the functions of a run, and where the user half of its stacks ends. */
static void programs_add(struct programs *p, const struct compare *c,
			 size_t run)
{
	const struct compare_run *r = &c->run[run];
	const struct known_code *code = r->stacks->code;
	int side = compare_side(c, run);
	/* of each frame */
	int64_t *function = mem_new(code->n_frame, sizeof(*function));
	uint32_t *program = mem_new(code->n_frame, sizeof(*program));

	for (uint32_t i = 1; i < code->n_frame; i++) {
		const struct code_frame *f = &code->frame[i];
		const struct image *img = &code->image[f->image].img;

		if (img->kind != IMAGE_FILE)
			continue;
		struct matched_image same = matching_image(c->match, side, img);
		struct side_program *of = programs_get(p, &same);
		program[i] = (uint32_t)(of - p->item) + 1;
		function[i] = side_program_function(of, f->at.name);
	}
	stacks_each (g, r->stacks, r->event) {
		uint32_t at = code_chain_at(code, g->uraw)->stack;
		uint32_t frame = at ? code->stack[at].frame : 0;

		p->weight += frame ? (double)g->weight : 0;
		if (!program[frame])
			continue;
		struct side_program *of = &p->item[program[frame] - 1];

		of->weight += (double)g->weight;
		if (function[frame] >= 0)
			of->self[function[frame]] += (double)g->weight;
	}
	free_all(function, program);
}

/* Returns how much of the weight of a is of functions that b has, 0 to 1. */
static double side_program_agrees(struct side_program *a,
				  struct side_program *b)
{
	double same = 0;

	for (uint32_t i = 0; i < a->functions.n; i++)
		if (a->self[i] > 0 &&
		    side_program_function(b, intern_get(&a->functions, i)) <
			    b->n_own)
			same += a->self[i];
	return a->weight > 0 ? same / a->weight : 0;
}

/* Returns whether two images of both sides may be one, and how much of the
 * weight agrees: more than half of each. */
static bool programs_are_like(struct programs side[2], size_t a, size_t b,
			      double *agrees)
{
	struct side_program *p[2] = { &side[0].item[a], &side[1].item[b] };

	for (int i = 0; i < 2; i++)
		if (p[i]->weight < WEIGHT_MIN * side[i].weight ||
		    !(p[i]->weight > 0) ||
		    any_where(side[!i].n, k, side[!i].item[k].id == p[i]->id))
			return false;
	*agrees = fmin(side_program_agrees(p[0], p[1]),
		       side_program_agrees(p[1], p[0]));
	return *agrees > 0.5;
}

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

static void side_image_add(void *arg, const char *name)
{
	short_name_id(&((struct side_image *)arg)->names, name);
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
	/* Read the programs of one image of a side. */
	struct intern done = { 0 }; /* build-ids */
	struct compare *c = s->c;
	bool any = false;

	made->all = true;
	for (size_t i = 0; i < c->n && made->all; i++) {
		const struct known_code *code = c->run[i].stacks->code;

		if (compare_side(c, i) != side)
			continue;
		for (size_t k = 1; k < code->n_image; k++) {
			const struct image *img = &code->image[k].img;
			size_t known = done.n;

			if (matching_image(c->match, side, img).id !=
				    made->id ||
			    intern_add_bytes(&done, img->id, img->id_len) <
				    known)
				continue;
			any = true;
			made->all &= c->run[i].files &&
				     function_names_each(c->run[i].files, img,
							 side_image_add, made);
		}
	}
	made->all &= any;
	made->n_own = made->names.n;
	intern_release(&done);
	return made;
}

/* Judges the functions of one run. */
static void symbol_sides_prove(struct symbol_sides *s, size_t run)
{
	struct compare *c = s->c;
	const struct known_code *code = c->run[run].stacks->code;
	int side = compare_side(c, run);

	for (uint32_t i = 1; i < code->n_frame; i++) {
		const struct code_frame *f = &code->frame[i];
		const struct image *img = &code->image[f->image].img;
		uint32_t label;

		/* no symbol has the name of a stub, "f@plt" */
		if (img->kind != IMAGE_FILE || !f->at.name || !f->at.name[0] ||
		    strchr(f->at.name, '@') ||
		    !stack_names_label(c->run[run].stacks->names, i, &label) ||
		    s->seen[label] != 1 << side || c->only[label])
			continue;
		struct matched_image same = matching_image(c->match, side, img);
		if (same.exact)
			continue;
		struct side_image *other = side_image_get(s, !side, same.id);
		if (other->all)
			c->only[label] =
				short_name_id(&other->names, f->at.name) <
						other->n_own
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

		for (uint32_t k = 1; st && k < st->code->n_frame; k++)
			if (stack_names_label(st->names, k, &label))
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

int8_t *compare_builds(const struct compare *c)
{
	uint32_t n = labels_count(c->labels);
	struct intern names = { 0 };
	const struct image **first = NULL;
	size_t n_first = 0, cap = 0;
	/* of each name: 1 << side, 4: builds differ, 8: one is not known */
	uint8_t *sides = NULL;
	size_t n_sides = 0, cap_sides = 0;
	int8_t *build = mem_new(n, sizeof(*build));

	for (size_t i = 0; i < c->n && c->run[i].stacks; i++) {
		const struct known_code *code = c->run[i].stacks->code;
		int side = compare_side(c, i);

		for (size_t k = 1; k < code->n_image; k++) {
			const struct image *img = &code->image[k].img;
			uint32_t id = intern_add(
				&names,
				matching_image(c->match, side, img).own);

			if (id == n_first)
				*mem_add(first, n_first, cap) = img;
			*mem_at(sides, n_sides, cap_sides, id) |= 1 << side;
			if (!img->id_len)
				sides[id] |= 8;
			else if (img->id_len != first[id]->id_len ||
				 memcmp(img->id, first[id]->id, img->id_len) !=
					 0)
				sides[id] |= 4;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id =
			intern_add(&names, labels_get(c->labels, i)->image);

		build[i] = id >= n_sides    ? 0
			   : sides[id] == 3 ? DIFF_SAME_BUILD
			   : sides[id] == 7 ? DIFF_OTHER_BUILD
					    : 0;
	}
	intern_release(&names);
	free_all(first, sides);
	return build;
}

void compare_match_images(struct compare *c)
{
	struct programs side[2] = { 0 };
	double agrees;

	for (size_t i = 0; i < c->n; i++)
		programs_add(&side[compare_side(c, i)], c, i);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < side[i].n; k++)
			side[i].item[k].n_own =
				(int64_t)side[i].item[k].functions.n;
	for (size_t a = 0; a < side[0].n; a++)
		for (size_t b = 0; b < side[1].n; b++)
			if (programs_are_like(side, a, b, &agrees)) {
				side[0].item[a].like++;
				side[1].item[b].like++;
			}
	for (size_t a = 0; a < side[0].n; a++)
		for (size_t b = 0; b < side[1].n; b++) {
			struct side_program *from = &side[0].item[a];
			struct side_program *to = &side[1].item[b];

			if (!from->like || !to->like ||
			    matching_is_reported(c->match, from->id, to->id) ||
			    !programs_are_like(side, a, b, &agrees))
				continue;
			*mem_add(c->renames, c->n_renames, c->cap_renames) =
				(struct compare_rename){
					from->name, to->name, agrees,
					from->like == 1 && to->like == 1
				};
		}
	/* after all of them were looked at */
	for (size_t i = 0; i < c->n_renames; i++)
		if (c->renames[i].taken)
			matching_rename(c->match, c->renames[i].from,
					c->renames[i].to);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < side[i].n; k++) {
			intern_release(&side[i].item[k].functions);
			free(side[i].item[k].self);
		}
		free(side[i].item);
	}
}

bool compare_lacks(const struct compare *c, double alone[2], double all[2])
{
	const struct diff_rows *d = c->d;

	for (int side = 0; side < 2; side++)
		alone[side] = all[side] = 0;
	for (size_t i = 0; d->keys == (KEY_SYM | KEY_DSO) && i < d->n; i++) {
		const struct label *l = diff_rows_label(d, i);

		for (int side = 0; side < 2; side++) {
			double self = (double)d->row[i].weight[side][0];

			if (l->kernel || l->kind == LABEL_GROUP ||
			    l->kind == LABEL_MISSING)
				continue;
			all[side] += self;
			if (!(side ? d->place[1][i].a : d->place[1][i].b))
				alone[side] += self;
		}
	}
	return alone[0] > all[0] / 2 || alone[1] > all[1] / 2;
}
