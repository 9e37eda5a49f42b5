/* symtab.h - a sorted table of symbols: which one covers this address?
 *
 * Calls: symtab_add() in any order, symtab_finish(), symtab_find() as often
 * as wanted (about 40 ns in 20,000 symbols); more may be added after that and
 * finished again. Names are borrowed: the
 * owner of their bytes must outlive the table. */
#ifndef SYMBOLIZE_ELF_SYMTAB_H
#define SYMBOLIZE_ELF_SYMTAB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of several symbols at one address the highest rank names it; the sum of
 * these, so the first one that differs decides. */
enum sym_rank {
	SYM_GLOBAL = 1,
	SYM_STRONG = 2, /* not weak */
	SYM_TYPED = 4,	/* a function or an object, not a bare label */
	SYM_SIZED = 8,
	SYM_REAL = 16, /* not a marker of a region, such as _stext */
};

struct sym {
	uint64_t start;
	uint64_t end; /* exclusive; of an open one: at most up to here */
	const char *name;
	uint32_t outer;	 /* used by symtab.c */
	uint16_t mod;	 /* kallsyms: number of its module; 0: the kernel */
	uint8_t rank;	 /* enum sym_rank */
	bool open;	 /* no size: up to the next symbol */
	const char *how; /* fixed word, as in struct symbol */
};

struct symtab {
	struct sym *sym;
	size_t n, cap;
	bool last_wins; /* of equal rank at one address: the one added last;
			 * else fewer leading underscores, then length */
};

/* Room for n more: spares the copying while the table grows. */
void symtab_reserve(struct symtab *t, size_t n);
void symtab_add(struct symtab *t, const struct sym *s);
/* Sorts, leaves one symbol for each address, ends the open ones. */
void symtab_finish(struct symtab *t);
/* The innermost symbol that covers addr, or NULL. */
const struct sym *symtab_find(const struct symtab *t, uint64_t addr);
void symtab_release(struct symtab *t);
#endif
