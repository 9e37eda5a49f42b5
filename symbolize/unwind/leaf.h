/* leaf.h - AArch64 code without tables: does the link register hold the
 * return address? */
#ifndef SYMBOLIZE_UNWIND_LEAF_H
#define SYMBOLIZE_UNWIND_LEAF_H
#include <stdbool.h>
#include <stdint.h>

struct module;
struct modules;

/* At an ELF address that no table covers; by what the code does, so that it
 * is never guessed. The vdso (Linux 7.2 gives it no tables) and stubs of a
 * PLT (ld gives them none). Reads up to a function: keep the answer. */
bool leaf_keeps_link(struct modules *ms, struct module *m, uint64_t vaddr);
#endif
