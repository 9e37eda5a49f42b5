/* stack_names.c - makes labels for all stacks of a database. */
#include "analyze/stacks/stack_names.h"

#include "analyze/samples/code.h"
#include "analyze/names/homonyms.h"
#include "analyze/stacks/interpreter.h"
#include "analyze/stacks/label.h"
#include "analyze/names/library.h"
#include "analyze/names/matching.h"
#include "analyze/names/suffix.h"
#include "schema/columns.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* A function of a frame: its label, and whether it is an interpreter's own. */
struct named_function {
	uint32_t label;
	struct interpreter_frame interp;
	bool left_out; /* inlined, and of a library that is folded */
	bool inlines;  /* others are inlined into it */
};

struct named_image {
	const char *path;
	char *short_name;	   /* "[libc.so.6]" */
	struct matched_image same; /* in a comparison */
	uint32_t interpreters;
};

struct stack_names {
	const struct known_code *code;
	struct labels *labels;
	struct stack_names_opts o;
	enum interpreter_mode mode;
	/* by the indexes of code */
	struct named_image *image;
	struct named_function *frame;
	struct named_function *inline_at;
	struct interpreter_frame *what; /* by frame of the current stack */
	size_t cap_what;
	struct arena text;
};

#define NAME_SIZE 4096

/* Adds the label of a function, marked if it is an interpreter's own and the
 * user asked for marks. */
static uint32_t add_function_label(struct stack_names *sn,
				   struct interpreter_frame in,
				   const struct label *want)
{
	struct label l = *want;
	char name[NAME_SIZE];
	char *folded = NULL;
	uint32_t id;

	if (sn->o.names.fold_suffixes) {
		folded = mem_strdup(want->name);
		suffix_remove(folded, OF_BUILD);
		l.name = folded;
		/* parts of one function are in several places */
		l.off = 0;
		l.has_off = false;
	} else if (sn->o.match) {
		folded = mem_strdup(want->name);
		suffix_remove(folded, OF_RUN);
		l.name = folded;
	}
	if (sn->mode == INTERPRETER_MARK && in.kind == INTERPRETER_OWN) {
		snprintf(name, sizeof(name), "%s %s",
			 interpreter_label(in.language), l.name);
		l.name = name;
	}
	id = labels_add(sn->labels, &l);
	free(folded);
	return id;
}

/* Returns a name with what distinguishes the function from others of that name;
 * the caller frees it. */
static char *stack_names_distinct(const struct stack_names *sn,
				  const char *name, const char *apart)
{
	char *base = mem_strdup(name);
	char *told;

	if (sn->o.names.fold_suffixes) {
		suffix_remove(base, OF_BUILD);
		/* parts of one function are in several places */
		if (apart[0] == '+')
			return base;
	} else if (sn->o.match) {
		suffix_remove(base, OF_RUN);
	}
	told = homonyms_name(base, apart);
	free(base);
	return told;
}

/* Makes the label of a frame's function, not of inlined ones. */
static void name_frame(struct stack_names *sn, size_t id)
{
	const struct code_frame *f = &sn->code->frame[id];
	const struct named_image *img = &sn->image[f->image];
	enum image_kind kind = sn->code->image[f->image].img.kind;
	bool kernel = kind != IMAGE_GUEST && image_is_kernel(kind);
	const struct homonym *at = homonyms_of_frame(sn->o.homonyms, id);
	struct label l = {
		.kind = kernel		    ? LABEL_KERNEL
			: kind == IMAGE_JIT ? LABEL_JIT
					    : LABEL_USER,
		.name = f->at.name,
		.kernel = kernel,
		.image = img->path,
		.off = f->off - f->symoff,
		.has_off = kind != IMAGE_JIT,
	};
	char *name = NULL;

	if (!f->at.name || !f->at.name[0]) {
		l.kind = LABEL_UNNAMED;
		l.name = img->short_name;
		l.off = 0;
		l.has_off = false;
	}
	if (sn->o.match) {
		/* the label that equal code of both sides has */
		l.off = 0;
		l.has_off = false;
		if (l.kind != LABEL_UNNAMED)
			l.name = matching_function(sn->o.match, &img->same,
						   l.name, at);
		else if (strcmp(l.name, "[unknown]") != 0)
			l.name = name = matching_unnamed(&img->same, f->off);
	} else if (at && at->apart) {
		l.name = name = stack_names_distinct(sn, l.name, at->apart);
	}
	if (sn->o.by_name) {
		l.image = "";
		l.off = 0;
		l.has_off = false;
	}
	if (f->at.name)
		sn->frame[id].interp =
			interpreter_frame(img->interpreters, kind == IMAGE_JIT,
					  at ? f->at.name : l.name);
	sn->frame[id].label = add_function_label(sn, sn->frame[id].interp, &l);
	sn->frame[id].inlines = sn->o.inlined && f->n_inlined;
	free(name);
}

/* Makes the label of the k-th inlined function, which is inside that frame. */
static void name_inlined(struct stack_names *sn, size_t frame, uint32_t k)
{
	const struct code_where *at = &sn->code->inlined[k];
	uint32_t id = sn->code->frame[frame].image;
	const struct named_image *img = &sn->image[id];
	struct named_function *in = &sn->inline_at[k];
	struct label l = *labels_get(sn->labels, sn->frame[frame].label);
	const char *base = "[inlined]";
	const char *apart = NULL;
	char *name = NULL;

	l.inlined = !(sn->o.match && sn->o.inlined_same);
	l.kind = l.inlined  ? LABEL_INLINED
		 : l.kernel ? LABEL_KERNEL
			    : LABEL_USER;
	if (at->name && at->name[0]) {
		base = at->name;
		apart = homonyms_of_inlined(sn->o.homonyms, id, at->name,
					    at->file);
	}
	l.name = base;
	if (base == at->name && sn->o.match)
		l.name = base = matching_function(
			sn->o.match, &img->same, at->name,
			&(struct homonym){ .start = HOMONYM_INLINED,
					   .file = at->file });
	else if (apart)
		l.name = name = stack_names_distinct(sn, base, apart);
	in->interp = interpreter_frame(img->interpreters, false, base);
	in->label = add_function_label(sn, in->interp, &l);
	free(name);
}

/* Returns 0, or -1 and *err if the user's expression is malformed. */
static int name_all_inlined(struct stack_names *sn, struct err *err)
{
	const struct known_code *c = sn->code;
	bool folds = library_folds(&sn->o.names);
	struct library *lib = folds ? library_new(&sn->o.names, err) : NULL;

	if (folds && !lib)
		return -1;
	for (size_t i = 1; i < c->n_frame; i++) {
		const struct code_frame *f = &c->frame[i];

		for (uint32_t k = f->inlined; k < f->inlined + f->n_inlined;
		     k++) {
			const char *name = c->inlined[k].name;

			name_inlined(sn, i, k);
			sn->inline_at[k].left_out =
				lib && name && library_has(lib, name);
		}
	}
	library_free(lib);
	return 0;
}

struct stack_names *stack_names_new(const struct known_code *c,
				    struct labels *labels,
				    const struct stack_names_opts *o,
				    struct err *err)
{
	struct stack_names *sn = mem_new(1, sizeof(*sn));

	sn->code = c;
	sn->labels = labels;
	sn->o = *o;
	sn->mode = interpreter_mode(o->names.interpreter);
	sn->image = mem_new(c->n_image, sizeof(*sn->image));
	sn->frame = mem_new(c->n_frame, sizeof(*sn->frame));
	for (size_t i = 0; i < c->n_image; i++) {
		const struct image *img = &sn->code->image[i].img;
		struct named_image *named = &sn->image[i];
		const char *base;
		size_t len;

		named->path = img->path;
		if (img->kind == IMAGE_UNKNOWN_KERNEL)
			named->path = "[unknown kernel code]";
		else if (img->kind == IMAGE_JIT)
			/* in no file: its image has the name of its function */
			named->path = "[jit]";
		/* "/usr/lib/libc.so.6" -> "[libc.so.6]", "//anon" -> "[anon]"
		 */
		base = path_base(named->path);
		len = strlen(base);
		if (img->kind == IMAGE_UNKNOWN_USER ||
		    img->kind == IMAGE_UNKNOWN_KERNEL || !len) {
			named->short_name =
				arena_strdup(&sn->text, "[unknown]");
		} else if (base[0] == '[') {
			named->short_name = arena_strdup(&sn->text, base);
		} else {
			named->short_name = arena_take(&sn->text, len + 3);
			snprintf(named->short_name, len + 3, "[%s]", base);
		}
		if (sn->mode != INTERPRETER_KEEP)
			named->interpreters = interpreters_of(
				named->path, img->kind == IMAGE_JIT);
		if (!sn->o.match)
			continue;
		named->same = matching_image(sn->o.match, sn->o.side, img);
		named->path = named->same.name;
	}
	for (size_t i = 1; i < c->n_frame; i++)
		name_frame(sn, i);
	sn->inline_at = mem_new(c->n_inlined, sizeof(*sn->inline_at));
	if (!o->inlined || !name_all_inlined(sn, err))
		return sn;
	stack_names_free(sn);
	return NULL;
}

void stack_names_free(struct stack_names *sn)
{
	if (!sn)
		return;
	free_all(sn->image, sn->frame, sn->inline_at, sn->what);
	arena_release(&sn->text);
	free(sn);
}

static void label_list_add_from(struct label_list *l, uint32_t label,
				struct label_from from)
{
	mem_grow(l->label, l->cap, l->n + 1);
	l->label[l->n] = label;
	if (l->want_from) {
		mem_grow(l->from, l->cap_from, l->n + 1);
		l->from[l->n] = from;
	}
	l->n++;
}

void label_list_add(struct label_list *l, uint32_t label)
{
	label_list_add_from(l, label, (struct label_from){ 0 });
}

void label_list_move(struct label_list *l, size_t n, size_t i)
{
	l->label[n] = l->label[i];
	if (l->want_from)
		l->from[n] = l->from[i];
}

void label_list_reverse(struct label_list *l, size_t from)
{
	for (size_t i = from, j = l->n; i + 1 < j; i++) {
		uint32_t label = l->label[i];

		l->label[i] = l->label[--j];
		l->label[j] = label;
		if (l->want_from) {
			struct label_from at = l->from[i];

			l->from[i] = l->from[j];
			l->from[j] = at;
		}
	}
}

/* Returns the id of the same label with another kind. */
static uint32_t label_as_kind(struct stack_names *sn, uint32_t id,
			      enum label_kind kind, const char *bogus)
{
	struct label l = *labels_get(sn->labels, id);

	l.was = l.kind;
	l.kind = kind;
	l.bogus = bogus;
	return labels_add(sn->labels, &l);
}

const char *stack_names_ended(const struct stack_names *sn, uint32_t raw)
{
	uint8_t ended = code_chain_at(sn->code, raw)->ended;

	return ended == UNWIND_OUTERMOST ? NULL : unwind_end_name(ended);
}

/* Returns the position of the innermost bogus frame of a chain; 0: none. A
 * chain that was unwound by tables has no return addresses to check, though it
 * may share a stack with one that has. */
static uint32_t first_bogus_frame(const struct stack_names *sn, uint32_t raw)
{
	const struct code_chain *c = code_chain_at(sn->code, raw);

	return sn->o.bogus && !c->ended ? sn->code->wrong[c->stack] : 0;
}

bool stack_names_bogus(const struct stack_names *sn, uint32_t raw)
{
	return first_bogus_frame(sn, raw) != 0;
}

bool stack_names_plain(const struct stack_names *sn, uint32_t raw)
{
	return !sn->o.inlined && !sn->o.gaps &&
	       sn->mode != INTERPRETER_COLLAPSE && !stack_names_bogus(sn, raw);
}

bool stack_names_inferred(const struct stack_names *sn,
			  const struct label_from *from)
{
	return !from->inlined &&
	       sn->code->frame[from->frame].flags & FRAME_INFERRED;
}

bool stack_names_label(const struct stack_names *sn, int64_t frame,
		       uint32_t *label)
{
	if (frame < 1 || (uint64_t)frame >= sn->code->n_frame)
		return false;
	*label = sn->frame[frame].label;
	return true;
}

/* Returns the label of a function of f, as a bogus one if bogus and no call
 * returns to f. */
static uint32_t bogus_or_not(struct stack_names *sn, uint32_t label,
			     const struct code_frame *f, bool bogus)
{
	const char *no_code = callsite_kind_name(CALLSITE_NO_CODE);

	if (!bogus || !f->bogus)
		return label;
	return label_as_kind(sn, label, LABEL_BOGUS,
			     strcmp(f->bogus, no_code)
				     ? callsite_kind_name(CALLSITE_NO_CALL)
				     : no_code);
}

static void label_list_add_function(struct stack_names *sn,
				    struct label_list *out, size_t from,
				    uint32_t label, struct label_from at,
				    struct interpreter_frame interp)
{
	label_list_add_from(out, label, at);
	if (sn->mode != INTERPRETER_COLLAPSE)
		return;
	mem_grow(sn->what, sn->cap_what, out->n - from);
	sn->what[out->n - from - 1] = interp;
}

void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out)
{
	const struct code_chain *chain = code_chain_at(sn->code, raw);
	uint32_t first = first_bogus_frame(sn, raw);
	struct label_from from = { 0 };
	size_t start = out->n;
	uint32_t pos = 0;

	for (uint32_t at = chain->stack; at; pos++) {
		const struct code_stack *l = &sn->code->stack[at];
		const struct code_frame *f = &sn->code->frame[l->frame];
		const struct named_function *own = &sn->frame[l->frame];
		bool bogus = first && pos >= first;

		from.frame = l->frame;
		/* own->inlines saves a look at f, far away in memory */
		for (uint32_t i = 0; own->inlines && i < f->n_inlined; i++) {
			const struct named_function *in =
				&sn->inline_at[f->inlined + i];

			if (in->left_out)
				continue;
			from.inlined = i + 1;
			label_list_add_function(
				sn, out, start,
				bogus_or_not(sn, in->label, f, bogus), from,
				in->interp);
		}
		from.inlined = 0;
		label_list_add_function(sn, out, start,
					bogus_or_not(sn, own->label, f, bogus),
					from, own->interp);
		/* the frames of a chain that was unwound by tables are inside
		 * the call, not after it */
		from.called = !chain->ended;
		at = l->parent;
		if (sn->o.gaps && !pos && at && l->callerless &&
		    chain->ended <= UNWIND_OUTERMOST)
			label_list_add_function(
				sn, out, start,
				labels_add_name(sn->labels, LABEL_MISSING,
						STACK_NAMES_GAP),
				(struct label_from){ 0 },
				(struct interpreter_frame){ 0 });
	}
	/* outermost first */
	label_list_reverse(out, start);
	if (sn->mode == INTERPRETER_COLLAPSE) {
		for (size_t i = 0, j = out->n - start; i + 1 < j; i++) {
			struct interpreter_frame in = sn->what[i];

			sn->what[i] = sn->what[--j];
			sn->what[j] = in;
		}
		/* Removes an interpreter's own frames where a frame of its
		 * language's code is nearer to the root, and merges other
		 * runs of them into one frame each. The frames of out from
		 * `from` on are outermost first; sn->what[] describes each. */
		/* the languages with code in the stack so far */
		uint32_t seen = 0;
		uint8_t last = 0; /* language of the current run */
		size_t n = start;

		for (size_t i = start; i < out->n; i++) {
			struct interpreter_frame in = sn->what[i - start];
			uint8_t run =
				in.kind == INTERPRETER_OWN ? in.language : 0;

			if (in.kind == INTERPRETER_CODE)
				seen |= 1u << in.language;
			if (!run) {
				label_list_move(out, n++, i);
			} else if (run != last && !(seen >> run & 1)) {
				out->label[n] =
					labels_add_name(sn->labels, LABEL_USER,
							interpreter_label(run));
				if (out->want_from)
					out->from[n] = (struct label_from){ 0 };
				n++;
			}
			last = run;
		}
		out->n = n;
	}
	for (size_t i = start; exec && i < out->n; i++)
		out->label[i] =
			label_as_kind(sn, out->label[i], LABEL_EXEC, NULL);
}
