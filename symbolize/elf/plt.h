/* plt.h - finds the names of PLT stubs, through which one file calls
 * another. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct elf_file;
struct symtab;

/* Adds a symbol NAME@plt for each stub whose target is known, and ".plt" for
 * the header stub. Call symtab_finish(t) before and after. The names are
 * allocated in names. */
void plt_add(const struct elf_file *ef, struct symtab *t, struct arena *names);
/* A word that the loader sets to the address of a function in another file. */
struct plt_slot {
	uint64_t addr;
	size_t name; /* index of its name */
};
/* Finds the slots for functions with one of n names, up to max of them. Returns
 * their number. */
size_t plt_slots(const struct elf_file *ef, const char *const name[], size_t n,
		 struct plt_slot slot[], size_t max);
