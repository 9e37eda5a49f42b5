/* plt.h - names for the stubs through which one file calls another. */
#ifndef SYMBOLIZE_ELF_PLT_H
#define SYMBOLIZE_ELF_PLT_H

struct arena;
struct elf_file;
struct symtab;

/* Adds name@plt for every stub whose target a relocation names, and ".plt"
 * for the common head. t must be finished before, and once more after. The
 * new names live in names. */
void plt_add(const struct elf_file *ef, struct symtab *t, struct arena *names);
#endif
