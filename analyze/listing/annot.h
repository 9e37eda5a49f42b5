/* annot.h - the functions and addresses with samples, and the code of one
 * function: its instructions with theirs, targets and source lines. */
#pragma once
#include <stdbool.h>

#include "analyze/names/name_opts.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "symbolize/disasm/disasm.h"

struct source_file;

/* An address with samples. */
struct hot_spot {
	uint64_t off, vaddr; /* vaddr 0: unknown */
	uint64_t weight, samples;
	uint32_t image;
	uint32_t func;	/* index in hot.func */
	uint32_t frame; /* its id */
};

/* A function with samples, or all code of an image that has no symbols. Strings
 * belong to struct hot. */
struct hot_func {
	const char *name;  /* as report shows it; NULL: no symbol */
	const char *base;  /* without what tells it from others, homonyms.h */
	const char *shown; /* the name for people */
	const char *raw;   /* the name in the file; "": the same as name */
	uint32_t image;
	uint64_t start, size; /* offsets in the image; size 0: unknown */
	uint64_t weight, samples;
	uint64_t peak_off,
		peak; /* the offset with most weight, and its weight */
};

struct hot {
	struct name_opts names; /* the options of the stacks */
	struct hot_spot *spot;	/* by frame id while loading, then only those
				 * with samples */
	size_t n_spot, cap_spot;
	struct hot_func *func; /* sorted by weight, largest first */
	size_t n_func, cap_func;
	const char **path; /* by image id */
	size_t n_path, cap_path;
	uint32_t *leaf; /* id of the innermost frame, by raw chain; 0: none */
	size_t n_leaf, cap_leaf;
	const char *event, *unit;
	uint64_t weight, samples; /* of all samples of the event */
	char trust[TRUST_SENTENCE];
	struct arena text;
};

/* Loads the functions and addresses of the samples in s, by their innermost
 * frames, into *h, which is all zeros; event is an index for stacks.event, or
 * -1 for all. Returns 0, or -1 and *err; hot_release() in both cases. */
int hot_load(struct hot *h, struct store *db, struct stacks *s, int event,
	     struct err *err);
void hot_release(struct hot *h);
/* Returns the id of the innermost frame of a group, 0 if it has no stack. */
uint32_t hot_leaf(const struct hot *h, const struct stacks_group *g);
/* Returns the base name of an image; "[unknown]": it has none. */
const char *hot_base(const struct hot *h, uint32_t image);

/* Returns whether `what` is the name of a function, in full, without its
 * parameters, or in its short form. */
bool hot_is_called(const char *name, const char *what);
/* Returns whether a function with samples, in dso or any, is called `what`. */
bool hot_has(const struct hot *h, const char *what, const char *dso);
/* Returns whether an image has that name or path; dso NULL: any. */
bool hot_in_dso(const struct hot *h, uint32_t image, const char *dso);

/* What to show: one function, or the code around an address. */
struct hot_choice {
	const struct hot_func *func; /* NULL: by its address only */
	uint32_t image;
	uint64_t off;
	size_t others; /* functions that the user may mean as well */
	bool told;     /* the user's name tells it from some of them, as by the
			* tier of V8's compilers */
	size_t nth;    /* which one it is of all of them, by weight, from 1 */
};
/* Finds what the user means: a name, IMAGE+0xOFFSET, or 0xADDRESS as objdump
 * shows it; dso limits it to an image (NULL: any); nth: of several functions of
 * that name the nth by weight, from 1. Returns 0, or -1 and *err. */
int hot_choose(const struct hot *h, const char *what, const char *dso,
	       size_t nth, struct hot_choice *out, struct err *err);

/* A source line with samples. file "": not known. */
struct hot_line {
	const char *file;
	uint32_t line;
	uint64_t weight, samples;
	const struct source_file *source; /* its text; NULL: not known */
};

/* Source lines. All zeros: none. */
struct hot_lines {
	struct hot_line *line;
	size_t n, cap;
	struct intern index;
	struct arena text;
};

/* Adds samples to a line. Returns the line; valid until the next call. */
struct hot_line *hot_lines_add(struct hot_lines *l, const char *file,
			       uint32_t line, uint64_t weight,
			       uint64_t samples);
/* Sorts by weight, largest first. hot_lines_add() must not follow. */
void hot_lines_sort(struct hot_lines *l);
void hot_lines_release(struct hot_lines *l);

struct inlined_copies;
struct sources;
struct symbolizer;

struct annot_insn {
	struct insn insn;
	uint64_t off; /* offset in the image */
	unsigned char bytes[16];
	uint64_t weight, samples;
	const char *target; /* function that a call or jump leads to; NULL: this
			     * one, or unknown */
	uint64_t beyond;    /* offset from the start of the target */
	long to;	    /* index of the instruction that it jumps to; -1:
			     * not in this function */
	bool label;	    /* an instruction of this function jumps to it */
	const char *file;   /* source; NULL: unknown */
	uint32_t line;
	const struct source_file *source; /* its text; NULL: not read */
	const char *inlined; /* the function that is inlined here, or NULL */
	const char *target_shown, *inlined_shown; /* these names for people */
};

struct annot {
	const char *name, *shown; /* NULL: by its address only */
	const char *image, *file; /* file: the file that the code was
				   * read from */
	const char *event, *unit, *syntax;
	const char *trust;		  /* the sentence of struct hot */
	uint64_t start, end;		  /* offsets in the image */
	uint64_t weight, samples, peak;	  /* of this code */
	uint64_t all_weight, all_samples; /* of the event */
	struct annot_insn *insn;
	size_t n, cap;
	size_t left_out;		      /* bytes beyond the limit */
	const struct inlined_copies *inlined; /* copies in other functions;
					       * NULL: none */
	struct hot_lines lines;		      /* by weight */
	const struct source_file **source;    /* the files of its lines */
	size_t n_source, cap_source;
	struct arena text;
};

struct annot_opts {
	bool intel, lines;
	long limit;		 /* in instructions; 0: all */
	struct sources *sources; /* borrowed for the annot's life; NULL: no
				  * source text is read */
	/* called if a section of the file has changed since ingest; NULL: this
	 * is not checked */
	void (*changed)(const char *file, const char *section);
};

/* Disassembles the chosen code, with samples, names and lines. Returns 0, or -1
 * and *err; annot_release() in both cases. */
int annot_load(struct annot *a, struct store *db, struct symbolizer *sy,
	       const struct hot *h, const struct hot_choice *c,
	       const struct annot_opts *o, struct err *err);
void annot_release(struct annot *a);
/* Returns the instruction that has the byte at an offset; NULL: none. */
struct annot_insn *annot_insn_at(const struct annot *a, uint64_t off);

/* The source lines to show before an instruction: as objdump does, those since
 * the last line shown, if they are few. */
struct annot_lines {
	const struct annot_insn *shown; /* the last with lines; NULL: none */
	uint32_t next, last;		/* lines to show; next > last: none */
	bool place; /* print file and line first: another file or function */
};
/* Finds the lines of the next instruction. *l is all zeros for the first. */
void annot_lines_go(struct annot_lines *l, const struct annot_insn *in);
