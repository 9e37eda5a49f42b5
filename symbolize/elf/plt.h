/* plt.h - names of PLT stubs, through which one file calls another. */
#ifndef SYMBOLIZE_ELF_PLT_H
#define SYMBOLIZE_ELF_PLT_H

struct arena;
struct elf_file;
struct symtab;

/* Adds a symbol NAME@plt for each stub whose target is known, and ".plt" for
 * the header stub. Call symtab_finish(t) before and after. The names are
 * allocated in names. */
void plt_add(const struct elf_file *ef, struct symtab *t, struct arena *names);
#endif
