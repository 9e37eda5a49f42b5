/* gopclntab.h - names of Go functions, which stripped programs have, too. */
#ifndef SYMBOLIZE_ELF_GOPCLNTAB_H
#define SYMBOLIZE_ELF_GOPCLNTAB_H
#include <stdbool.h>

struct elf_file;
struct elf_section;
struct symtab;

/* Adds a symbol for each function of the table of Go's runtime, and sets *from
 * to the section. Names are borrowed from ef. Returns false if there is none,
 * or it is of a version that is not known: before Go 1.18. */
bool gopclntab_add(const struct elf_file *ef, struct symtab *t,
		   struct elf_section *from);
#endif
