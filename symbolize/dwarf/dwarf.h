/* dwarf.h - source lines and inlined functions of addresses, from DWARF.
 *
 * All addresses of a file are asked for at once: each unit that has any of
 * them is walked once, however many they are, and everything found is copied,
 * so that what libdw holds is given back before anybody looks at the answer.
 * A file without .debug_info costs nothing. */
#ifndef SYMBOLIZE_DWARF_DWARF_H
#define SYMBOLIZE_DWARF_DWARF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;
struct elf_file;
struct symbolizer;

/* A function and where in it: innermost first, each inlined into the next.
 * The last one is the function that has the code. */
struct dwarf_frame {
	const char *name; /* as in the file; NULL for the last one */
	const char *file; /* NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/* Does the file have debug information that can be read here? */
bool dwarf_has(const struct elf_file *ef);
/* Looks n ELF addresses up, in any order. alt: the file that dwz made, whose
 * pieces ef uses; NULL: none. NULL when there is no debug information, or a
 * part of it is in a file that is not here. sy says where units' files may
 * be that were made with -gsplit-dwarf. */
struct dwarf *dwarf_look(struct symbolizer *sy, const struct elf_file *ef,
			 const struct elf_file *alt, const uint64_t *vaddr,
			 size_t n);
/* The frames at address i: how many, 0 nothing is known. Borrowed from d. */
size_t dwarf_frames(const struct dwarf *d, size_t i,
		    const struct dwarf_frame **out);
/* Units that are in files which are not here: how many of those looked into,
 * and the name of one. */
size_t dwarf_missing(const struct dwarf *d, const char **name);
/* Did it take too long, so that some addresses were not looked up? */
bool dwarf_gave_up(const struct dwarf *d);
void dwarf_free(struct dwarf *d);
#endif
