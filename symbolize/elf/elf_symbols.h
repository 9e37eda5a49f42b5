/* elf_symbols.h - iterates over a symbol table of an untrusted ELF file. */
#pragma once
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf/elf.h"

struct elf_symbols {
	struct elf_section strings; /* the string table's header */
	Elf_Data *data;
	const char *text;
	size_t i, n, len;
};

/* Starts at symbol 1 of a table (SHT_SYMTAB or SHT_DYNSYM). Returns false if
 * the table or its strings cannot be read. */
bool elf_symbols_open(const struct elf_file *ef,
		      const struct elf_section *table, struct elf_symbols *out);
/* As elf_symbols_open(), of the first table of a type that can be read. */
bool elf_symbols_find(const struct elf_file *ef, uint32_t type,
		      struct elf_symbols *out);
/* Gets the next symbol and its name, borrowed from the file; "" if the name is
 * damaged. Returns false at the end. */
bool elf_symbols_next(struct elf_symbols *it, GElf_Sym *sym, const char **name);
