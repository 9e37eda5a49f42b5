/* compare_code.c - functions whose code is the same on both sides. */
#include "cli/diffs/compare_code.h"

#include <inttypes.h>
#include <math.h>

#include "cli/diffs/compared.h"
#include "cli/names/suffix.h"
#include "cli/samples/code.h"
#include "cli/stacks/interpreter.h"
#include "cli/stacks/label.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/disasm.h"

/* Larger functions are not read. */
#define FUNCTION_MAX (256 << 10)
/* How much more of a function in optimized code is another tier. */
#define OTHER_TIER 0.2
/* In coded_label.what: it is on that side, its code could be read there, and
 * there are several. */
#define ON(side) (1 << (side))
#define READ(side) (4 << (side))
#define SEVERAL 16

struct coded_label {
	uint64_t hash[2]; /* of its code */
	uint8_t what;
};

/* A file that ran; all runs of one build share it. */
struct coded_file {
	struct code_bytes *bytes; /* NULL: it is not here */
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
	struct intern images, functions; /* those that were looked at */
	struct coded_file *file;
	uint64_t *hash; /* of each function; 0: it cannot be read */
	size_t n_file, cap_file, n_hash, cap_hash;
};

/* Returns the file of an image. */
static uint32_t coded_file(struct coded *o, size_t run, const struct image *img)
{
	struct coded_file f = { .bytes = NULL };
	struct err err;
	char *key;
	size_t len;
	FILE *out = mem_stream(&key, &len);
	uint32_t id;

	fprintf(out, "%" PRIu64 " %" PRIu64 " %s%c", img->ino, img->ino_gen,
		img->path ? img->path : "", 0);
	fwrite(img->id, 1, img->id_len, out);
	mem_stream_end(out);
	id = intern_add_bytes(&o->images, key, len);
	free(key);
	if (id < o->n_file)
		return id;
	f.bytes = code_bytes_open(o->c->run[run].files, img, &err);
	if (f.bytes)
		f.disasm = disasm_open(code_bytes_machine(f.bytes),
				       code_bytes_big(f.bytes), false, &err);
	*mem_add(o->file, o->n_file, o->cap_file) = f;
	return id;
}

/* Returns the hash of an instruction, without the addresses in it. */
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

/* Returns the hash of a function's code; 0: it cannot be read. */
static uint64_t coded_read(const struct coded_file *f, uint64_t off,
			   size_t size)
{
	unsigned char *code = mem_new(size, 1);
	const unsigned char *p = code;
	size_t left = size;
	uint64_t addr, start, hash = 0;
	struct insn in;

	if (f->disasm && code_bytes_addr(f->bytes, off, &addr) &&
	    code_bytes_read(f->bytes, off, code, size) == size)
		for (start = addr;
		     disasm_next(f->disasm, &p, &left, &addr, &in);)
			hash = coded_insn(&in, start, size, hash);
	free(code);
	return hash;
}

/* Looks at the function of a frame. */
static void coded_add(struct coded *o, size_t run, const struct code_frame *f,
		      const struct image *img, uint32_t label)
{
	int side = compare_side(o->c, run);
	struct coded_label *l = &o->label[label];
	struct coded_function key = { f->off - f->symoff,
				      coded_file(o, run, img), label };
	uint32_t id = intern_add_bytes(&o->functions, &key, sizeof(key));

	if (id == o->n_hash)
		*mem_add(o->hash, o->n_hash, o->cap_hash) =
			coded_read(&o->file[key.file], key.start, f->symsize);
	if (!o->hash[id])
		return;
	if (l->what & READ(side) && l->hash[side] != o->hash[id])
		l->what |= SEVERAL;
	l->what |= READ(side);
	l->hash[side] = o->hash[id];
}

/* Calls coded_add() for what is on both sides, or only notes where it is. */
static void coded_each(struct coded *o, const int8_t *build, bool read)
{
	for (size_t run = 0; run < o->c->n; run++) {
		const struct stacks *st = o->c->run[run].stacks;

		for (uint32_t i = 1; st && i < stacks_code(st)->n_frame; i++) {
			const struct known_code *code = stacks_code(st);
			const struct code_frame *f = &code->frame[i];
			const struct image *img = &code->image[f->image].img;
			uint32_t label;

			if (img->kind != IMAGE_FILE ||
			    !stack_names_label(stacks_names(st), i, &label) ||
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

/* Returns each label's own samples in each run, all and in V8's optimized code;
 * NULL if there is none. */
static struct diff_tier *coded_add_tiers(const struct compare *c)
{
	struct diff_tier *tier = NULL;

	for (size_t run = 0; run < c->n; run++) {
		const struct stacks *st = c->run[run].stacks;

		for (size_t i = 0; st && i < stacks_count(st); i++) {
			const struct known_code *code = stacks_code(st);
			const struct stacks_group *g = stacks_group(st, i);
			uint32_t stack = code_chain_at(code, g->uraw)->stack;
			uint32_t frame = code->stack[stack].frame, label;
			const char *name = code->frame[frame].at.name;
			const char *in = name ? suffix_tier(name) : NULL;
			struct diff_tier *t;

			if (!in ||
			    (c->run[run].event >= 0 &&
			     g->event != (uint32_t)c->run[run].event) ||
			    !stack_names_label(stacks_names(st), frame, &label))
				continue;
			if (!tier)
				tier = mem_new(labels_count(c->labels) * c->n,
					       sizeof(*tier));
			t = &tier[label * c->n + run];
			t->samples += (double)g->samples;
			if (!strcmp(in, "TurboFan"))
				t->optimized += (double)g->samples;
		}
	}
	return tier;
}

/* Marks functions of V8's of which one of two runs has much more, itself, in
 * optimized code: a run may optimize late, or not at all. Of several runs,
 * those are marked that are not as most are. */
static void coded_tiers(const struct compare *c, int8_t *build,
			struct diff_tier *tier)
{
	double *part = mem_new(c->n, sizeof(*part));

	for (uint32_t i = 0; i < labels_count(c->labels); i++) {
		const struct label *l = labels_get(c->labels, i);
		struct diff_tier *t = tier ? &tier[i * c->n] : NULL;
		size_t n = 0;

		if (c->n == 2 && l->kind == LABEL_JIT &&
		    interpreter_frame(interpreters_of("", true), true, l->name)
				    .kind == INTERPRETER_OWN)
			build[i] = DIFF_INTERPRETED;
		for (size_t k = 0; t && k < c->n; k++)
			if (t[k].samples > 0)
				part[n++] = t[k].optimized / t[k].samples;
		if (n < 2)
			continue;
		sort_items(part, n, compare_double);
		if (c->n == 2 && part[1] - part[0] >= OTHER_TIER)
			build[i] = DIFF_OTHER_TIER;
		for (size_t k = 0; k < c->n; k++)
			t[k].other = t[k].samples > 0 &&
				     fabs(t[k].optimized / t[k].samples -
					  part[n / 2]) >= OTHER_TIER;
	}
	free(part);
}

struct diff_tier *compare_code(const struct compare *c, int8_t *build)
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
	struct diff_tier *tier = coded_add_tiers(c);

	coded_tiers(c, build, tier);
	for (size_t i = 0; i < o.n_file; i++) {
		disasm_close(o.file[i].disasm);
		code_bytes_close(o.file[i].bytes);
	}
	intern_release(&o.images);
	intern_release(&o.functions);
	free(o.hash);
	free(o.file);
	free(o.label);
	return tier;
}
