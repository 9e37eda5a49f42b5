/* gopclntab.h - reads the function table of Go's runtime, which stripped
 * programs have too: names, and the stack depth at each address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/bytes.h"

struct elf_file;
struct elf_section;
struct symtab;

/* The table of a file. Borrows its bytes from the file. */
struct gopclntab {
	const unsigned char *data;
	size_t len;
	bool swap;
	uint8_t word;	  /* bytes of a pointer */
	uint8_t quantum;  /* addresses are counted in units of so many bytes */
	uint8_t flags_at; /* offset of the flags in a record */
	/* number of functions; address that entries count from; offsets of the
	 * names, of the values by address, and of the entries */
	uint64_t n, text, names, values, entries;
};

struct gopclntab_function {
	uint64_t start, end; /* ELF addresses; end is exclusive */
	uint32_t record;     /* offset of its record, from the entries on */
};

/* The stack depths of a function, by rising address: how many bytes the stack
 * pointer is below the return address (on machines with a link register: below
 * the caller's stack). */
struct gopclntab_depths {
	struct bytes b;
	uint64_t pc; /* ELF address up to which depths were read */
	uint64_t end;
	uint32_t depth;
	uint8_t quantum;
	bool first;
	bool top; /* the function has no caller: a stack begins with it */
};

/* Finds the table, and sets *from to its section. Returns false if there is
 * none, or its version is unknown: before Go 1.18. */
bool gopclntab_open(const struct elf_file *ef, struct gopclntab *g,
		    struct elf_section *from);
/* Sets *out to function i, in the order of addresses. Returns false if it is
 * damaged. */
bool gopclntab_function(const struct gopclntab *g, uint64_t i,
			struct gopclntab_function *out);
/* Starts to read the depths of a function. Returns false if it has none. */
bool gopclntab_depths(const struct gopclntab *g,
		      const struct gopclntab_function *f,
		      struct gopclntab_depths *d);
/* Reads the next depth, which holds from *start to d->pc. Returns 1; 0 at the
 * end of the function; -1 if the rest is damaged. */
int gopclntab_next_depth(struct gopclntab_depths *d, uint64_t *start);
/* Starts to read the depths of the function around an ELF address. Returns
 * false if the table has none. O(log functions). */
bool gopclntab_around(const struct gopclntab *g, uint64_t vaddr,
		      struct gopclntab_depths *d);
/* Adds a symbol for each function of the table, and sets *from as
 * gopclntab_open() does. Names are borrowed from ef. Returns false if there is
 * no table. */
bool gopclntab_add(const struct elf_file *ef, struct symtab *t,
		   struct elf_section *from);
