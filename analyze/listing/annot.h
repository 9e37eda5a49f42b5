/* annot.h - the code of one function: its instructions with their samples,
 * targets and source lines. */
#pragma once
#include "analyze/listing/hot.h"
#include "symbolize/disasm/disasm.h"

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
	const struct source_file *source; /* its text; NULL: not asked for */
	const char *inlined; /* the function that is inlined here, or NULL */
	const char *target_shown, *inlined_shown; /* these names for people */
};

struct annot {
	const char *name, *shown; /* NULL: by its address only */
	const char *image, *file; /* file: the file that the code was
				   * read from */
	const char *event, *unit, *syntax;
	const char *trust;   /* the sentence; of struct hot */
	uint64_t start, end; /* offsets in the image */
	uint64_t weight, samples, peak;
	uint64_t all_weight, all_samples;
	struct annot_insn *insn;
	size_t n, cap;
	size_t left_out; /* bytes beyond the limit */
	const struct inlined_copies
		*inlined;		   /* copies in other functions; NULL */
	struct hot_lines lines;		   /* by weight */
	const struct source_file **source; /* the files of its lines */
	size_t n_source, cap_source;
	struct arena text;
};

struct annot_opts {
	bool intel, lines;
	long limit;		 /* in instructions; 0: all */
	struct sources *sources; /* borrowed for the annot's life; NULL: no
				  * source text is read */
	/* called if a section of its file has changed since ingest; NULL:
	 * not asked for */
	void (*changed)(const char *file, const char *section);
};

/* Disassembles what was chosen. Returns 0, or -1 and *err;
 * annot_release() in both cases. */
int annot_load(struct annot *a, struct store *db, struct symbolizer *sy,
	       const struct hot *h, const struct hot_choice *c,
	       const struct annot_opts *o, struct err *err);
void annot_release(struct annot *a);
/* Returns the instruction at the offset, NULL if there is none. */
struct annot_insn *annot_insn_at(const struct annot *a, uint64_t off);

/* Walks over the source lines to show before an instruction: as objdump does,
 * those since the line before, if they are not many. */
struct annot_lines {
	const struct annot_insn *shown; /* the instruction before, or NULL */
	uint32_t next, last;		/* lines to show; next > last: none */
	bool place; /* say file and line first: another file or function */
};
/* Zero-initialised, a walk begins. */
void annot_lines_go(struct annot_lines *l, const struct annot_insn *in);
