/* symbol.h - the name of one code offset. */
#ifndef STITCH_SYMBOL_H
#define STITCH_SYMBOL_H
#include <stdbool.h>
#include <stdint.h>

struct err;

/* depth 0 is the code at the offset; 1.. are the callers it was inlined into
 * (then depth 0 is the innermost inlined function). */
struct symbol {
	uint64_t off; /* the offset that was asked for */
	uint32_t depth;
	uint64_t start;	  /* first offset of the symbol, same space as off */
	uint64_t size;	  /* 0: not known */
	const char *name; /* demangled; NULL: no symbol covers off. All
			   * strings are valid during the call only */
	const char *raw_name; /* as in the file; equal to name when plain */
	const char *file;     /* source file; NULL unknown */
	uint32_t line;	      /* 0 unknown */
	const char *how; /* fixed word: "symtab", "dynsym", "kallsyms", ... */
	bool unverified; /* the file was not proved to be the one recorded */
};

/* An offset in an image, and whether it is behind a call: then the call is
 * what has a line, and what is inlined there, not the code behind it. */
struct code_place {
	uint64_t off;
	bool after_call;
};

/* A program header that holds code: file offsets to ELF addresses. */
struct segment {
	uint64_t off, vaddr, filesz;
	uint32_t flags; /* PF_* */
};

/* A section of a file that names were read from. A build-id proves how the
 * file is called, not what is in it. */
struct section_used {
	const char *file, *name;
	uint64_t hash; /* of its bytes in the file */
};

typedef int symbol_fn(void *arg, const struct symbol *sym, struct err *err);
#endif
