/* symbol.h - the name of a code offset. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;

/* Separates the names of functions with the same code, such as those that a
 * linker folds: it is not known which of them ran. */
#define FOLDED_NAMES " = "

/* depth 0 is the code at the offset. If it was inlined, depth 0 is the
 * innermost inlined function and depth 1, 2, ... are its callers. */
struct symbol {
	uint64_t off; /* the requested offset */
	uint32_t depth;
	uint64_t start;	  /* first offset of the symbol, in the same space as
			   * off */
	uint64_t size;	  /* 0: unknown */
	const char *name; /* demangled; NULL: no symbol covers off. All strings
			   * are valid only during the call */
	const char *raw_name; /* as in the file; equal to name if it is not
			       * mangled */
	const char *file;     /* source file; NULL: unknown */
	uint32_t line;	      /* 0: unknown */
	const char *how; /* fixed word: "symtab", "dynsym", "kallsyms", ... */
	/* the file may differ from the recorded one, or the symbol has no size,
	 * so that it may not cover off */
	bool unverified;
};

/* An offset in an image. after_call: it follows a call, so function, line and
 * inlined functions are those of the call, not of the code at the offset. */
struct code_place {
	uint64_t off;
	bool after_call;
	uint8_t callees; /* number of distinct stacks with a callee here, 255:
			  * or more */
};

/* A program header with code: maps file offsets to ELF addresses. */
struct segment {
	uint64_t off, vaddr, filesz;
	uint32_t flags; /* PF_* */
};

/* A section from which names were read. Its hash is stored because a build-id
 * identifies a file, but not its contents. */
struct section_used {
	const char *file, *name;
	uint64_t hash; /* hash of its bytes in the file */
};

typedef int symbol_fn(void *arg, const struct symbol *sym, struct err *err);
