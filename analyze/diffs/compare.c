/* compare.c - reads and matches the recordings of a comparison: programs that
 * have another file name on the other side, by their functions, and functions
 * that may be the same under two names. */
#include "analyze/diffs/compare.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/diffs/diff_cause.h"
#include "analyze/diffs/diff_chance.h"
#include "analyze/diffs/sides.h"
#include "analyze/names/short_name.h"
#include "analyze/names/suffix.h"
#include "analyze/samples/code.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/interpreter.h"
#include "analyze/stacks/label.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/names/symbol_names.h"
#include "symbolize/symbolize.h"

/* Images with a smaller share of the user code are not renamed. */
#define WEIGHT_MIN 0.05

/* An image of one side, in all its runs. */
struct side_program {
	uint32_t id; /* matched_image.id */
	const char *name;
	struct intern functions; /* short names: first n_own functions on
				  * stacks, then those looked up */
	int64_t n_own;
	double *self; /* by function: weight of its own samples */
	size_t n, cap;
	double weight; /* of all of its code, named or not */
	size_t like;   /* how many images of the other side may be this one */
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

/* Returns the id of a function's short name: the suffix of a clone, and
 * parameters, make no other function. */
static uint32_t short_name_id(struct intern *names, const char *name)
{
	char *brief = mem_new(strlen(name) + 1, 1);

	short_name(name, 0, brief);
	uint32_t id = intern_add(names, brief);
	free(brief);
	return id;
}

/* Returns the id of a function in a program, or -1 for a name that proves
 * nothing: each program has "main", and names that begin with "_" belong to its
 * start. */
static int64_t side_program_function(struct side_program *p, const char *name)
{
	if (!name || !name[0] || name[0] == '_' || !strcmp(name, "main"))
		return -1;
	uint32_t id = short_name_id(&p->functions, name);

	mem_reach(p->self, p->n, p->cap, (size_t)id + 1);
	return id;
}

/* Adds the functions of a run, and the weights of its samples to their
 * innermost user functions. */
static void programs_add(struct programs *p, const struct compare *c,
			 size_t run)
{
	const struct compare_run *r = &c->run[run];
	const struct known_code *code = r->stacks->code;
	int side = compare_side(c, run);
	/* by frame; program: index + 1, 0: none */
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

/* Returns how much of the weight of a is in functions that b has, 0 to 1. */
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

/* Returns whether an image of A and one of B may be the same: more than half of
 * the weight of each is in common functions. Stores the smaller part. */
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

/* The functions of an image in all runs of a side, which may have several
 * builds of it. */
struct side_image {
	uint32_t id;	     /* matched_image.id */
	bool all;	     /* all of its functions are known */
	struct intern names; /* n_own that it has, then those looked up */
	size_t n_own;
};

struct symbol_sides {
	struct compare *c;
	struct side_image *image[2];
	size_t n[2], cap[2];
	uint8_t *seen; /* by label: 1 << side for each side with code of it */
};

static void side_image_add(void *arg, const char *name)
{
	short_name_id(&((struct side_image *)arg)->names, name);
}

/* Returns the functions of an image, read from its files on first use. */
static struct side_image *side_image_get(struct symbol_sides *s, int side,
					 uint32_t id)
{
	for (size_t i = 0; i < s->n[side]; i++)
		if (s->image[side][i].id == id)
			return &s->image[side][i];

	struct side_image *made =
		mem_add(s->image[side], s->n[side], s->cap[side]);

	*made = (struct side_image){ .id = id };
	/* reads each build of the image once */
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

/* Finds out whether the program of the other side has the functions that only
 * the side of this run was seen to have. */
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

/* Of each side, only the heaviest functions are compared, if they have at least
 * this much of it, in percent, and this many samples. */
#define LONELY_MAX 32
#define LONELY_PERCENT 0.5
#define LONELY_SAMPLES 10
/* Weights are alike if the smaller one is at least this part of the larger one,
 * and callers if this part of the weight is by the same ones: far less than the
 * noise of a recording, far more than two functions that have nothing in
 * common. */
#define ALIKE 0.7
#define CALLERS_ALIKE 0.5

/* A function that is on one side only. */
struct lonely {
	uint32_t row;
	double total; /* share of its side, in percent */
	double *by; /* weight by the row of its caller; d->n: of another lonely
		     * one, or none */
	double called; /* their sum */
	bool paired;
};

struct lonely_list {
	struct lonely item[LONELY_MAX];
	size_t n;
};

static double lonely_share(const struct compare *c, uint32_t row, bool total)
{
	const struct diff_row *r = &c->d->row[row];
	int side = !r->weight[0][1];

	return 100 * (double)r->weight[side][total] /
	       (double)c->d->side[side].weight;
}

COMPARE_LARGEST_BY(lonely_compare, struct lonely, total, row);

/* Adds up the callers of the listed functions in one run. which: by row, index
 * + 1 in the list; 0: not listed. */
static void lonely_add_callers(const struct compare *c, size_t run,
			       const uint32_t *which, struct lonely_list *l)
{
	const struct report_rows *rows = c->rows[run].rows;
	const struct report_stack *st = rows->stack;
	const struct report_hit *hit = rows->hit;
	size_t k = 0;

	for (size_t i = 0; i < rows->n_stack; i++) {
		uint32_t caller = (uint32_t)c->d->n;

		for (; k < st[i].end; k++) {
			uint32_t row = c->d->of_row[run][hit[k].row];

			if (hit[k].self)
				continue;
			if (which[row]) {
				struct lonely *of = &l->item[which[row] - 1];

				of->by[caller] += (double)st[i].weight;
				of->called += (double)st[i].weight;
			}
			caller = which[row] ? (uint32_t)c->d->n : row;
		}
	}
}

static bool lonely_alike(double a, double b)
{
	return fmin(a, b) >= ALIKE * fmax(a, b) || fmax(a, b) < LONELY_PERCENT;
}

/* Returns which part of the calls of two functions is by the same callers, 0 to
 * 1; 0 if their weights or images differ. */
static double lonely_same(const struct compare *c, const struct lonely *a,
			  const struct lonely *b)
{
	const struct label *of[2] = { diff_rows_label(c->d, a->row),
				      diff_rows_label(c->d, b->row) };
	double same = 0;

	if (of[0]->kind != of[1]->kind || strcmp(of[0]->image, of[1]->image))
		return 0;
	for (int total = 0; total < 2; total++)
		if (!lonely_alike(lonely_share(c, a->row, total),
				  lonely_share(c, b->row, total)))
			return 0;
	for (size_t i = 0; i <= c->d->n; i++)
		same += fmin(a->by[i] / a->called, b->by[i] / b->called);
	return same;
}

void compare_find_renamed(struct compare *c)
{
	struct lonely_list list[2];
	bool *in_both = mem_new(c->d->n, sizeof(*in_both));

	c->renamed = mem_new(c->d->n, sizeof(*c->renamed));
	for (size_t i = 0; i < c->d->n; i++)
		c->renamed[i] = REPORT_NONE;
	for (uint32_t i = 0; i < c->n_only; i++) {
		uint32_t row = c->only[i] == IN_BOTH
				       ? diff_rows_of_label(c->d, i)
				       : REPORT_NONE;

		if (row != REPORT_NONE)
			in_both[row] = true;
	}
	for (int side = 0; side < 2; side++) {
		/* the heaviest functions with samples on this side only */
		struct lonely_list *out = &list[side];
		struct lonely *all = mem_new(c->d->n + 1, sizeof(*all));
		size_t n = 0;

		for (uint32_t i = 0; i < c->d->n; i++) {
			const struct diff_place *p = &c->d->place[1][i];
			enum label_kind kind = diff_rows_label(c->d, i)->kind;

			if (!(side ? p->a : p->b) && !p->skip && !in_both[i] &&
			    (side ? p->b : p->a) >= LONELY_SAMPLES &&
			    (kind == LABEL_USER || kind == LABEL_KERNEL) &&
			    lonely_share(c, i, true) >= LONELY_PERCENT)
				all[n++] = (struct lonely){
					.row = i,
					.total = lonely_share(c, i, true)
				};
		}
		sort_items(all, n, lonely_compare);
		for (out->n = 0; out->n < n && out->n < LONELY_MAX; out->n++) {
			out->item[out->n] = all[out->n];
			out->item[out->n].by =
				mem_new(c->d->n + 1, sizeof(*all->by));
		}
		free(all);
	}
	for (int side = 0; list[0].n && list[1].n && side < 2; side++) {
		struct lonely_list *l = &list[side];
		uint32_t *which = mem_new(c->d->n, sizeof(*which));

		for (size_t i = 0; i < l->n; i++)
			which[l->item[i].row] = (uint32_t)i + 1;
		for (size_t i = 0; i < c->n; i++)
			if (compare_side(c, i) == side)
				lonely_add_callers(c, i, which, l);
		free(which);
	}
	for (size_t i = 0; list[1].n && i < list[0].n; i++) {
		const struct lonely *a = &list[0].item[i];
		struct lonely *best = NULL;
		double most = CALLERS_ALIKE;

		for (size_t k = 0; k < list[1].n; k++) {
			struct lonely *b = &list[1].item[k];
			double same = b->paired ? 0 : lonely_same(c, a, b);

			if (same > most) {
				most = same;
				best = b;
			}
		}
		if (!best)
			continue;
		best->paired = true;
		c->renamed[a->row] = best->row;
		c->renamed[best->row] = a->row;
		for (int by = 0; by < 2; by++) {
			c->by[by]->row[a->row].renamed = true;
			c->by[by]->row[best->row].renamed = true;
		}
	}
	for (int by = 0; by < 2; by++)
		diff_cause_find(c->by[by]);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < list[side].n; i++)
			free(list[side].item[i].by);
	free(in_both);
}

/* ---- functions whose code is the same on both sides */

/* Larger functions are not read; in bytes. */
#define FUNCTION_MAX (256 << 10)
/* A function is in another tier if the optimized part differs by so much. */
#define OTHER_TIER 0.2
/* In coded_label.what: the function is on that side, its code could be read
 * there, and there are several versions of its code. */
#define ON(side) (1 << (side))
#define READ(side) (4 << (side))
#define SEVERAL 16

struct coded_label {
	uint64_t hash[2]; /* of its code, by side */
	uint8_t what;
};

/* A file that ran, shared by all runs of one build. */
struct coded_file {
	struct code_bytes *bytes; /* NULL: the file is not at hand */
	struct disasm *disasm;
};

/* A function of such a file, as a key. */
struct coded_function {
	uint64_t start;
	uint32_t file, label;
};

struct coded {
	const struct compare *c;
	struct coded_label *label;
	struct intern images, functions; /* keys of those read so far */
	struct coded_file *file;
	uint64_t *hash; /* by function; 0: it cannot be read */
	size_t n_file, cap_file, n_hash, cap_hash;
};

/* Returns the index of a file, which is opened on first use. */
static uint32_t coded_file(struct coded *o, size_t run, const struct image *img)
{
	struct coded_file f = { .bytes = NULL };
	struct err err;
	char *key;
	size_t len;
	FILE *out = mem_stream(&key, &len);

	fprintf(out, "%" PRIu64 " %" PRIu64 " %s%c", img->ino, img->ino_gen,
		img->path ? img->path : "", 0);
	fwrite(img->id, 1, img->id_len, out);
	mem_stream_end(out);
	uint32_t id = intern_add_bytes(&o->images, key, len);
	free(key);
	if (id < o->n_file)
		return id;
	f.bytes = code_bytes_open(o->c->run[run].files, img, &err);
	if (f.bytes)
		f.disasm = disasm_open(f.bytes->machine, f.bytes->big, false,
				       &err);
	*mem_add(o->file, o->n_file, o->cap_file) = f;
	return id;
}

/* Adds an instruction to a hash, without the addresses in it. Returns the hash.
 */
static uint64_t coded_insn(struct insn *in, uint64_t start, uint64_t size,
			   uint64_t hash)
{
	char *rip = strstr(in->operands, "(%rip)");

	if (in->has_target)
		snprintf(in->operands, sizeof(in->operands), "%" PRIu64,
			 in->target - start < size ? in->target - start : size);
	else if (rip)
		for (; rip > in->operands && rip[-1] != ',' && rip[-1] != ' ';
		     rip--)
			rip[-1] = ' ';
	hash = hash_bytes(in->mnemonic, strlen(in->mnemonic), hash);
	return hash_bytes(in->operands, strlen(in->operands), hash);
}

/* Hashes the code of the function of a frame, once for each function. */
static void coded_add(struct coded *o, size_t run, const struct code_frame *f,
		      const struct image *img, uint32_t label)
{
	int side = compare_side(o->c, run);
	struct coded_label *l = &o->label[label];
	struct coded_function key = { f->off - f->symoff,
				      coded_file(o, run, img), label };
	uint32_t id = intern_add_bytes(&o->functions, &key, sizeof(key));

	if (id == o->n_hash) {
		unsigned char *code = mem_new(f->symsize, 1);
		const unsigned char *p = code;
		size_t left = f->symsize;
		uint64_t addr, start, hash = 0;
		struct insn in;

		if (o->file[key.file].disasm &&
		    code_bytes_addr(o->file[key.file].bytes, key.start,
				    &addr) &&
		    code_bytes_read(o->file[key.file].bytes, key.start, code,
				    f->symsize) == f->symsize)
			for (start = addr; disasm_next(o->file[key.file].disasm,
						       &p, &left, &addr, &in);)
				hash = coded_insn(&in, start, f->symsize, hash);
		free(code);
		*mem_add(o->hash, o->n_hash, o->cap_hash) = hash;
	}
	if (!o->hash[id])
		return;
	if (l->what & READ(side) && l->hash[side] != o->hash[id])
		l->what |= SEVERAL;
	l->what |= READ(side);
	l->hash[side] = o->hash[id];
}

/* If `read`, calls coded_add() for functions on both sides; else notes their
 * sides. */
static void coded_each(struct coded *o, const int8_t *build, bool read)
{
	for (size_t run = 0; run < o->c->n; run++) {
		const struct stacks *st = o->c->run[run].stacks;

		for (uint32_t i = 1; st && i < st->code->n_frame; i++) {
			const struct known_code *code = st->code;
			const struct code_frame *f = &code->frame[i];
			const struct image *img = &code->image[f->image].img;
			uint32_t label;

			if (img->kind != IMAGE_FILE ||
			    !stack_names_label(st->names, i, &label) ||
			    build[label] == DIFF_SAME_BUILD || !f->symsize ||
			    f->symsize > FUNCTION_MAX || f->symoff > f->off)
				continue;
			if (!read)
				o->label[label].what |=
					ON(compare_side(o->c, run));
			else if (!(~o->label[label].what & (ON(0) | ON(1))) &&
				 o->c->run[run].files)
				coded_add(o, run, f, img, label);
		}
	}
}

/* Sets build[] of each label whose code is in the files of both sides to
 * DIFF_SAME_CODE or DIFF_OTHER_CODE, and of those that a runtime ran otherwise
 * to DIFF_OTHER_TIER or DIFF_INTERPRETED. Others keep their value. Returns the
 * tiers by label and run, which the caller frees; NULL if no runtime has any.
 */
static struct diff_tier *compare_code(const struct compare *c, int8_t *build)
{
	uint32_t n = labels_count(c->labels);
	struct coded o = { .c = c, .label = mem_new(n, sizeof(*o.label)) };

	coded_each(&o, build, false);
	coded_each(&o, build, true);
	for (uint32_t i = 0; i < n; i++) {
		const struct coded_label *l = &o.label[i];

		if (!(~l->what & (READ(0) | READ(1))) && !(l->what & SEVERAL))
			build[i] = l->hash[0] == l->hash[1] ? DIFF_SAME_CODE
							    : DIFF_OTHER_CODE;
	}
	struct diff_tier *tier = NULL;

	for (size_t run = 0; run < c->n; run++) {
		const struct stacks *st = c->run[run].stacks;

		for (size_t i = 0; st && i < st->n_group; i++) {
			const struct known_code *code = st->code;
			const struct stacks_group *g = &st->group[i];
			uint32_t stack = code_chain_at(code, g->uraw)->stack;
			uint32_t frame = code->stack[stack].frame, label;
			const char *name = code->frame[frame].at.name;
			const char *in = name ? suffix_tier(name) : NULL;

			if (!in ||
			    (c->run[run].event >= 0 &&
			     g->event != (uint32_t)c->run[run].event) ||
			    !stack_names_label(st->names, frame, &label))
				continue;
			if (!tier)
				tier = mem_new(labels_count(c->labels) * c->n,
					       sizeof(*tier));
			struct diff_tier *t = &tier[label * c->n + run];
			t->samples += (double)g->samples;
			if (!strcmp(in, "TurboFan"))
				t->optimized += (double)g->samples;
		}
	}

	/* Marks functions of V8 whose own samples are in optimized code to a
	 * much larger part in one of two runs: a run may optimize late, or not
	 * at all. Of several runs, those that differ from the middle one are
	 * marked. */
	double *part = mem_new(c->n, sizeof(*part));

	for (uint32_t m = 0; m < labels_count(c->labels); m++) {
		const struct label *label = labels_get(c->labels, m);
		struct diff_tier *runs = tier ? &tier[m * c->n] : NULL;
		size_t count = 0;

		if (c->n == 2 && label->kind == LABEL_JIT &&
		    interpreter_frame(interpreters_of("", true), true,
				      label->name)
				    .kind == INTERPRETER_OWN)
			build[m] = DIFF_INTERPRETED;
		for (size_t k = 0; runs && k < c->n; k++)
			if (runs[k].samples > 0)
				part[count++] =
					runs[k].optimized / runs[k].samples;
		if (count < 2)
			continue;
		sort_items(part, count, compare_double);
		if (c->n == 2 && part[1] - part[0] >= OTHER_TIER)
			build[m] = DIFF_OTHER_TIER;
		for (size_t k = 0; k < c->n; k++)
			runs[k].other =
				runs[k].samples > 0 &&
				fabs(runs[k].optimized / runs[k].samples -
				     part[count / 2]) >= OTHER_TIER;
	}
	free(part);
	for (size_t i = 0; i < o.n_file; i++) {
		disasm_close(o.file[i].disasm);
		code_bytes_close(o.file[i].bytes);
	}
	intern_release(&o.images);
	intern_release(&o.functions);
	free_all(o.hash, o.file, o.label);
	return tier;
}

/* Reads the capture's name, and how long the recording of a run took. */
static int compare_read_capture(struct compare_run *run, struct store *db,
				struct err *err)
{
	struct rows *r = rows_of(db, "compare_captures", err);
	bool several = false;

	while (rows_step(r)) {
		const char *host = rows_text(r, COMPARE_CAPTURES_HOST);
		int64_t took = rows_int(r, COMPARE_CAPTURES_TOOK);

		run->took = !several && took > 0 ? took : 0;
		several = true;
		if (!run->capture[0])
			snprintf(run->capture, sizeof(run->capture),
				 "%.100s%s%.60s",
				 rows_text(r, COMPARE_CAPTURES_PATH),
				 *host ? " of " : "", host);
	}
	return rows_end(r, err);
}

int compare_program_add(struct compare_program *p, struct store *db,
			int64_t pid, struct err *err)
{
	struct rows *r = ROWS_BY(db, "compare_program", err, pid);

	while (rows_step(r))
		*mem_add(p->pid, p->n, p->cap) =
			rows_int(r, COMPARE_PROGRAM_PID);
	sort_items(p->pid, p->n, compare_i64);
	return rows_end(r, err);
}

bool compare_program_has(const struct compare_program *p, int64_t pid)
{
	size_t at = search_where(p->n, k, p->pid[k] >= pid);

	return at < p->n && p->pid[at] == pid;
}

/* Adds up how much of the event the program with which a run began used, and
 * how much other programs used. */
static int compare_read_program(struct compare_run *run, struct store *db,
				struct err *err)
{
	const struct stacks *st = run->stacks;
	struct rows *r = rows_of(db, "path_program", err);
	int64_t first = rows_step(r) ? rows_int(r, PATH_PROGRAM_PID) : -1;
	struct compare_program of = { 0 };

	if (first >= 0)
		snprintf(run->program, sizeof(run->program), "%s",
			 rows_text(r, PATH_PROGRAM_NAME));
	if (rows_end(r, err) || first < 0)
		return first < 0 ? 0 : -1;
	int rc = compare_program_add(&of, db, first, err);

	for (size_t i = 0; i < st->n_group; i++) {
		const struct stacks_group *g = &st->group[i];
		int64_t pid = stacks_comm(st, g->comm)->pid;
		bool other = !compare_program_has(&of, pid);

		/* pid 0 is idle */
		if (g->event != (uint32_t)run->event || pid <= 0)
			continue;
		run->used[other] += (double)g->weight;
		run->others += other ? (double)g->samples : 0;
	}
	free(of.pid);
	return rc;
}

/* Chooses the event called `want` or, if that is NULL, the event that
 * stacks_choose() takes. Returns 0, or -1 and *err if there is no sample to
 * compare. */
static int compare_choose_event(struct compare *c, struct compare_run *run,
				const char *want, const struct stacks_opts *so,
				struct err *err)
{
	if (!want && stacks_heaviest(run->stacks) >= 0) {
		run->event = stacks_choose(run->stacks, "comparing", &c->note);
		return 0;
	}
	for (size_t i = 0; want && i < run->stacks->n_event; i++) {
		const struct stacks_event *e = &run->stacks->event[i];

		if (!e->samples || strcmp(e->name, want) != 0)
			continue;
		run->event = (int)i;
		return 0;
	}
	run->event = -2;
	if (stacks_unweighed(run->stacks, -1))
		return err_set(err, ERR_FORMAT,
			       "%s: no sample has a weight by '%s'", run->path,
			       so->weight);
	return err_set(err, ERR_FORMAT, "%s: no samples%s%s%s%s%s", run->path,
		       want ? " of '" : "", want ? want : "", want ? "'" : "",
		       want && !filter_given(so->filter)
			       ? ""
			       : filter_that_passed(so->filter),
		       want ? "; choose with --event" : "");
}

const char *compare_event(const struct compare *c)
{
	return c->run[0].stacks && c->run[0].event >= 0
		       ? c->run[0].stacks->event[(size_t)c->run[0].event].name
		       : NULL;
}

static void compare_take_sample(void *arg, const struct stacks_sample *s)
{
	struct diff_times *t = arg;

	t->untimed |= !s->timed;
	packed_times_put(
		&t->at, t->at.n,
		&(struct packed_time){ .time = s->time, .event = s->group });
}

/* Reads a run. Its event is that of the first run. */
static int compare_read(struct compare *c, size_t i,
			const struct compare_opts *o, int *status,
			struct err *err)
{
	struct compare_run *run = &c->run[i];
	struct stacks_opts so = o->stacks;
	const char *want = i ? compare_event(c) : NULL;
	struct store *db = NULL;

	if (o->open(o->open_arg, run->path, &db, &run->files, status, err))
		return -1;
	if (sides_hold(&c->held[compare_side(c, i)], db, run->path, err)) {
		store_close(db);
		return -1;
	}
	if (o->each)
		o->each(o->each_arg, compare_side(c, i), db, run->path);

	so.labels = c->labels;
	so.unnamed = true;
	if (c->sides->side[0].n == 1 && c->sides->side[1].n == 1 &&
	    !stacks_served(db, err)) {
		so.each = compare_take_sample;
		so.arg = &run->times;
		c->rows[i].times = &run->times;
	}
	if (!loss_rows_sum(db, &c->rows[i].lost, &c->rows[i].lost_unknown,
			   err) &&
	    !compare_read_capture(run, db, err))
		run->stacks = stacks_load(db, &so, err);
	packed_times_close(&run->times.at);

	int rc = run->stacks ? 0 : -1;

	if (!rc && o->times) {
		run->event = o->times(o->times_arg, db, run->path, so.filter,
				      run->stacks, run->took, &c->rows[i], err);
		rc = run->event < 0 ? -1 : 0;
		c->between = o->between;
	} else if (!rc) {
		rc = o->more ? o->more(db, run->path, so.filter, run->stacks,
				       err)
			     : 0;
		rc = rc ?: compare_choose_event(c, run, want, &so, err)
			 ?: compare_read_program(run, db, err);
	}
	struct trust *trust =
		rc ? NULL : trust_of(db, run->stacks, run->event, err);

	rc = trust ? 0 : -1;
	if (trust)
		trust_say(trust, run->trust);
	trust_free(trust);
	store_close(db);
	return rc;
}

int compare_load(struct compare *c, const struct sides *s,
		 const struct compare_opts *o, int *status, struct err *err)
{
	size_t n = s->side[0].n + s->side[1].n;

	c->sides = s;
	c->labels = labels_new();
	c->run = mem_new(n, sizeof(*c->run));
	c->rows = mem_new(n, sizeof(*c->rows));
	c->runs_a = s->side[0].n;
	c->match = matching_new(&o->match, err);
	if (!c->match)
		return -1;
	for (; c->n < n; c->n++) {
		int side = compare_side(c, c->n);

		c->run[c->n].path =
			s->side[side].path[c->n - (side ? c->runs_a : 0)];
		if (!o->folded && compare_read(c, c->n, o, status, err))
			return -1;
	}
	if (o->folded)
		return 0;
	/* Matches images with another name on the other side, by the weights
	 * of their functions: matching_add() needs them. */
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
	/* after all images were compared */
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
	for (size_t i = 0; i < n; i++)
		matching_add(c->match, compare_side(c, i),
			     c->run[i].stacks->code, c->run[i].stacks->homonyms,
			     o->stacks.inlined_same);
	if (matching_check(c->match, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (stacks_match(c->run[i].stacks, c->match, compare_side(c, i),
				 err))
			return -1;
	return 0;
}

void compare_judge(struct compare *c, unsigned int keys, bool absolute)
{
	uint32_t n = labels_count(c->labels);
	struct intern names = { 0 };
	const struct image **first = NULL;
	size_t n_first = 0, cap = 0;
	/* by name: 1 << side, 4: builds differ, 8: one is not known */
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
	struct diff_known known = { .build = build,
				    .n = labels_count(c->labels),
				    .between = c->between };
	struct diff_tier *tier = NULL;

	if (keys & KEY_SYM)
		known.tier = tier = compare_code(c, build);
	if (keys == (KEY_SYM | KEY_DSO)) {
		/* Fills in c->only from the symbols of programs. A program that
		 * is not at hand, or has no symbols, proves nothing. */
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
						(uint8_t)(1 << compare_side(c,
									    i));
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
		known.only = c->only;
		known.n = c->n_only;
	}
	for (int i = 0; i < 2; i++) {
		c->by[i] =
			diff_rows_new(c->rows, c->n, c->runs_a, keys, i, known);
		c->by[i]->ns = c->unit && !strcmp(c->unit, "ns");
		diff_cause_judge(c->by[i]);
	}
	c->d = c->by[absolute];
	free_all(build, tier);
}

void compare_release(struct compare *c)
{
	size_t n = c->sides ? c->sides->side[0].n + c->sides->side[1].n : 0;

	for (int i = 0; i < 2; i++)
		diff_rows_free(c->by[i]);
	for (size_t i = 0; i < n; i++) {
		report_rows_free(c->rows[i].rows);
		stacks_free(c->run[i].stacks);
		packed_times_release(&c->run[i].times.at);
		symbolize_free(c->run[i].files);
	}
	free_all(c->renames, c->only, c->renamed, c->note);
	matching_free(c->match);
	labels_free(c->labels);
	intern_release(&c->held[0]);
	intern_release(&c->held[1]);
	free_all(c->run, c->rows);
}

/* ---- whether runs of one side take more than those of the other */

/* Runs differ if their weights do by so many standard deviations, or with a
 * p-value below that. */
#define MOVED_Z 2.0
#define MOVED_P 0.05

/* Returns the mean weight of the runs of a side. *variance: that of the mean,
 * as its runs differ; NaN for one run. */
static double moved_mean(const struct compare *c, int side, double *variance)
{
	double n = (double)c->d->side[side].runs;
	double mean = (double)c->d->side[side].weight / n;
	double sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		double off = (double)c->rows[i].rows->weight - mean;

		sum += compare_side(c, i) == side ? off * off : 0;
	}
	*variance = n > 1 ? sum / (n - 1) / n : NAN;
	return mean;
}

/* Sides are about the same if the whole interval of their ratio, or the ratio
 * of one run a side, is this near to 1. */
#define MOVED_SAME 0.05

/* Returns whether the sides differ by more than counting and the difference
 * between any two runs make likely. */
static bool moved_apart(const struct compare *c, double a, double b)
{
	return fabs(b - a) / a >
	       MOVED_Z * sqrt(2 * DIFF_BETWEEN * DIFF_BETWEEN +
			      1 / (double)c->d->side[0].samples +
			      1 / (double)c->d->side[1].samples);
}

static double moved_freedom(const struct compare *c, double va, double vb)
{
	double df[2] = { (double)c->d->side[0].runs - 1,
			 (double)c->d->side[1].runs - 1 };

	return diff_freedom(df, !(df[0] > 0) || !(df[1] > 0), va, vb);
}

const struct diff_rows *compare_cause(const struct compare *c)
{
	const struct diff_rows *other = c->by[!c->d->absolute];

	return c->d->cause.row != REPORT_NONE		  ? c->d
	       : other && other->cause.row != REPORT_NONE ? other
							  : NULL;
}

bool compare_is_cpu(const struct compare *c)
{
	const char *event = compare_event(c);

	return !strcmp(c->unit, "ns") && event &&
	       (!strncmp(event, "cpu-clock", strlen("cpu-clock")) ||
		!strncmp(event, "task-clock", strlen("task-clock")));
}

int64_t compare_wall(const struct compare *c, int side)
{
	int64_t sum = 0, n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (compare_side(c, i) != side)
			continue;
		if (!c->run[i].took ||
		    __builtin_add_overflow(sum, c->run[i].took, &sum))
			return 0;
		n++;
	}
	return n ? sum / n : 0;
}

bool compare_others_moved(const struct compare *c, double had[2])
{
	double wall[2] = { (double)compare_wall(c, 0),
			   (double)compare_wall(c, 1) };
	const struct compare_run *a = &c->run[0], *b = &c->run[1];

	/* a process whose begin is lost may belong to the program */
	if (c->n != 2 || !compare_is_cpu(c) || !*a->program || !*b->program ||
	    !(wall[0] > 0) || !(wall[1] > 0) ||
	    any_where(2, i, c->rows[i].lost || c->rows[i].lost_unknown))
		return false;
	double others = b->used[1] - a->used[1];
	had[0] = a->used[1] / wall[0];
	had[1] = b->used[1] / wall[1];
	double by = MOVED_Z * sqrt(had[0] * had[0] / (a->others + 1) +
				   had[1] * had[1] / (b->others + 1));

	return fabs(had[1] - had[0]) > diff_larger(by, MOVED_SAME) &&
	       others * (had[1] - had[0]) > 0 &&
	       fabs(others) > fabs(b->used[0] - a->used[0]);
}

bool compare_has_none(const struct compare *c)
{
	for (int i = 0; i < 4; i++) {
		const struct diff_rows *d = c->by[i / 2];

		if (!d)
			continue;
		struct diff_counts n = diff_rows_changed(d, i % 2);

		if (n.more || n.less)
			return false;
	}
	return true;
}

void compare_find_moved(const struct compare *c, struct compare_moved *m)
{
	double va, vb;
	double a = m->mean[0] = moved_mean(c, 0, &va);
	double b = m->mean[1] = moved_mean(c, 1, &vb);

	/* a side with one run is taken to vary as the other one does */
	if (isnan(va))
		va = vb * (double)c->d->side[1].runs /
		     (double)c->d->side[0].runs;
	if (isnan(vb))
		vb = va * (double)c->d->side[0].runs /
		     (double)c->d->side[1].runs;
	m->proved = c->n == 2 ? moved_apart(c, a, b)
		    : va + vb > 0
			    ? diff_p_student((b - a) / sqrt(va + vb),
					     moved_freedom(c, va, vb)) < MOVED_P
			    : a != b;
	m->apart = m->proved || moved_apart(c, a, b) ||
		   fabs(b - a) > MOVED_SAME * a;
	m->factor = NAN;
	if (c->n == 2 || !(a > 0) || !(b > 0))
		return;
	/* equal runs do not make the ratio exact: counting remains */
	va = diff_larger(va / a / a, 1 / (double)c->d->side[0].samples);
	vb = diff_larger(vb / b / b, 1 / (double)c->d->side[1].samples);
	m->factor = diff_factor(va + vb, moved_freedom(c, va, vb));
	m->apart |= b * m->factor > (1 + MOVED_SAME) * a ||
		    b < (1 - MOVED_SAME) * a * m->factor;
}
