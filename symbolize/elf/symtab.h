/* symtab.h - a sorted table of symbols, in which the symbol that covers an
 * address is found.
 *
 * Call symtab_add() in any order, then symtab_finish(), then symtab_find()
 * (about 40 ns with 20,000 symbols). More symbols may be added later and
 * finished again. Names are borrowed and must outlive the table. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags, added up. Of several symbols at one address the one with the highest
 * sum is kept. */
enum sym_rank {
	SYM_GLOBAL = 1,
	SYM_STRONG = 2, /* not weak */
	SYM_TYPED = 4,	/* function or object, not a bare label */
	SYM_SIZED = 8,
	SYM_REAL = 16, /* not a region marker such as _stext */
};

struct sym {
	uint64_t start;
	uint64_t end; /* exclusive; an upper limit if open */
	const char *name;
	uint32_t outer; /* used by symtab.c */
	uint16_t mod;	/* kallsyms: module number; 0: the kernel */
	uint8_t rank;	/* enum sym_rank */
	bool open;	/* has no size: extends to the next symbol */
	bool folds; /* another such symbol at its address is another function */
	const char *how; /* a constant string, as in struct symbol */
};

struct symtab {
	struct sym *sym;
	size_t n, cap;
	struct sym *twin; /* symbols that fold and are not the best, by start */
	size_t n_twin, cap_twin;
	/* of symbols with equal rank at one address keep the last added, not
	 * the one with fewer leading underscores or the longer name */
	bool last_wins;
};

void symtab_add(struct symtab *t, const struct sym *s);
/* Sorts, keeps the best symbol of each address, and ends the open ones. */
void symtab_finish(struct symtab *t);
/* Returns the symbols other than s that fold with it: *n of them in a row, with
 * its address and size. */
const struct sym *symtab_twins(const struct symtab *t, const struct sym *s,
			       size_t *n);
/* Returns the innermost symbol that covers addr, or NULL. */
const struct sym *symtab_find(const struct symtab *t, uint64_t addr);
void symtab_release(struct symtab *t);
