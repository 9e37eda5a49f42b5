/* annotate.h - what the parts of the annotate command share: the functions
 * that samples hit, and the code of one of them. */
#ifndef CLI_TABLES_ANNOTATE_H
#define CLI_TABLES_ANNOTATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stitch/base/mem.h"
#include "symbolize/disasm/disasm.h"

struct err;
struct stacks;
struct store;
struct symbolizer;

/* A place that samples were taken at. */
struct hot_spot {
	uint64_t off, vaddr; /* vaddr 0: not known */
	uint64_t weight, samples;
	uint32_t image;
	uint32_t func; /* place in hot.func */
};

/* A function that samples were taken in; or all code of an image that has no
 * names. Strings are the hot's. */
struct hot_func {
	const char *name; /* NULL: no name */
	const char *raw;  /* as in the file; "" the same */
	uint32_t image;
	uint64_t start, size; /* offsets in the image; size 0: not known */
	uint64_t weight, samples;
	uint64_t peak_off, peak; /* the place with most of the weight */
};

struct hot {
	struct hot_spot *spot; /* by frame id, then those hit only */
	size_t n_spot, cap_spot;
	struct hot_func *func; /* most weight first */
	size_t n_func, cap_func;
	const char **path; /* by image id */
	size_t n_path, cap_path;
	const char *event, *unit;
	uint64_t weight, samples; /* of all samples of the event */
	struct arena text;
};

/* annotate_find.c: the innermost frames of the samples that the filters leave.
 * event: of stacks_event(), -1 all. */
int hot_load(struct hot *h, struct store *db, struct stacks *s, int event,
	     struct err *err);
void hot_release(struct hot *h);
/* The file's name without its folders. */
const char *hot_base(const struct hot *h, uint32_t image);

/* What to show: one function, or the code around an address. */
struct hot_choice {
	const struct hot_func *func; /* NULL: by its address only */
	uint32_t image;
	uint64_t off;
	size_t others; /* functions of the same name in other images */
};
/* A name, IMAGE+0xOFFSET, or 0xADDRESS as objdump shows it. dso: only in this
 * image (NULL: any). */
int hot_choose(const struct hot *h, const char *what, const char *dso,
	       struct hot_choice *out, struct err *err);

/* ---- code */

struct annot_insn {
	struct insn insn;
	uint64_t off; /* in the image */
	unsigned char bytes[16];
	uint64_t weight, samples;
	const char *target; /* name of where it goes; NULL: here, or unknown */
	uint64_t beyond;    /* behind the start of that */
	long to;	    /* the instruction it jumps to; -1: none here */
	bool label;	    /* something here jumps to it */
	const char *file;   /* source; NULL: not known */
	uint32_t line;
	const char *inlined; /* the function that was inlined here, or NULL */
};

struct annot {
	const char *name, *image, *file; /* file: where the code was read */
	const char *event, *unit, *syntax;
	uint64_t start, end; /* offsets */
	uint64_t weight, samples, peak;
	uint64_t all_weight, all_samples;
	struct annot_insn *insn;
	size_t n, cap;
	size_t left_out; /* bytes behind the limit */
	struct arena text;
};

struct annot_opts {
	bool intel, lines;
	long limit; /* instructions; 0: all */
};

/* annotate_code.c: the instructions of the choice. */
int annot_load(struct annot *a, struct store *db, struct symbolizer *sy,
	       const struct hot *h, const struct hot_choice *c,
	       const struct annot_opts *o, struct err *err);
void annot_release(struct annot *a);

/* Percent. */
double annot_share(uint64_t part, uint64_t whole);
/* As perf annotate colors: 5 % of the function are much, half a percent
 * counts. */
enum annot_heat {
	ANNOT_COLD,
	ANNOT_WARM,
	ANNOT_HOT
};
enum annot_heat annot_heat(const struct annot *a, const struct annot_insn *in);

/* annotate_text.c; around: instructions to show around those with samples,
 * -1: all. */
void annot_text(FILE *out, const struct annot *a, long around);
void annot_json(const struct annot *a);
/* Prints the hottest functions, at most max (0: all), and how to see one; path
 * is the database. */
void annot_list(const struct hot *h, const char *path, size_t max, bool json);
/* annotate_html.c: one page that needs nothing else. */
void annot_html(FILE *out, const struct annot *a, const char *capture);
#endif
