/* hot.h - the functions and addresses with samples, and source lines with
 * theirs. */
#pragma once
#include <stdbool.h>

#include "analyze/names/name_opts.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

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
	const char *name;  /* as report has it; NULL: no symbol */
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
	struct name_opts names; /* as those of the stacks */
	struct hot_spot *spot;	/* by frame id while loading, then those with
				 * samples only */
	size_t n_spot, cap_spot;
	struct hot_func *func; /* sorted by weight, largest first */
	size_t n_func, cap_func;
	const char **path; /* by image id */
	size_t n_path, cap_path;
	uint32_t *leaf; /* innermost frame, by raw chain */
	size_t n_leaf, cap_leaf;
	const char *event, *unit;
	uint64_t weight, samples; /* of all samples of the event */
	char trust[TRUST_SENTENCE];
	struct arena text;
};

/* Loads the innermost frames of the samples that the filters
 * select; event is an index for stacks.event, or -1 for all. Returns 0, or -1
 * and *err. */
int hot_load(struct hot *h, struct store *db, struct stacks *s, int event,
	     struct err *err);
void hot_release(struct hot *h);
/* Returns the id of the innermost frame of a group, 0 if it has no stack. */
uint32_t hot_leaf(const struct hot *h, const struct stacks_group *g);
/* Returns the base name of an image. */
const char *hot_base(const struct hot *h, uint32_t image);

/* Returns whether a function has that name, without its parameters or in its
 * short form too. */
bool hot_is_called(const char *name, const char *what);
/* Returns whether a function with samples has it. */
bool hot_has(const struct hot *h, const char *what, const char *dso);
/* Returns whether an image has that name or path; dso NULL: any. */
bool hot_in_dso(const struct hot *h, uint32_t image, const char *dso);

/* What to show: one function, or the code around an address. */
struct hot_choice {
	const struct hot_func *func; /* NULL: by its address only */
	uint32_t image;
	uint64_t off;
	size_t others; /* functions that the user may mean as well */
	bool told;     /* the user gave what tells it from some of them, as the
			* tier of V8's compilers */
	size_t nth;    /* of all of them, by weight, from 1 */
};
/* Finds what the user means: a name, IMAGE+0xOFFSET, or 0xADDRESS as objdump
 * shows it; dso limits it to an image (NULL: any); nth: of several functions of
 * that name the nth by weight, from 1. Returns 0, or -1 and *err. */
int hot_choose(const struct hot *h, const char *what, const char *dso,
	       size_t nth, struct hot_choice *out, struct err *err);

/* ---- source lines */

/* file "": not known. */
struct hot_line {
	const char *file;
	uint32_t line;
	uint64_t weight, samples;
	const struct source_file *source; /* its text; NULL: not known */
};

/* Zero-initialised, it has no line. */
struct hot_lines {
	struct hot_line *line;
	size_t n, cap;
	struct intern index;
	struct arena text;
};

/* Adds samples to a line, which is returned;
 * valid until the next call. */
struct hot_line *hot_lines_add(struct hot_lines *l, const char *file,
			       uint32_t line, uint64_t weight,
			       uint64_t samples);
/* Sorts by weight, largest first. No hot_lines_add() after it. */
void hot_lines_sort(struct hot_lines *l);
void hot_lines_release(struct hot_lines *l);
