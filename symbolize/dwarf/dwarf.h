/* dwarf.h - finds source lines and inlined functions of addresses in DWARF.
 *
 * All addresses of a file should be looked up in one call: each unit is walked
 * at most once then. Results are copied, so that dwarf_close() can free libdw's
 * memory early. A file without .debug_info costs nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;
struct dwarf_file;
struct elf_file;
struct symbolizer;

/* A function and a place in it. The innermost comes first, each is inlined into
 * the next; the last one is the function that contains the address. */
struct dwarf_frame {
	const char *name; /* as in the file; NULL for the last frame */
	const char *file; /* NULL: unknown */
	uint32_t line;	  /* 0: unknown */
};

/* Returns true if the file has debug information that can be read. */
bool dwarf_has(const struct elf_file *ef);
/* Opens the debug information of a file. alt is the dwz file that ef refers to,
 * or NULL. Borrows both until dwarf_close(). Returns NULL if there is none, or
 * ef needs an alt file that is missing. */
struct dwarf_file *dwarf_open(const struct elf_file *ef,
			      const struct elf_file *alt);
void dwarf_close(struct dwarf_file *df); /* NULL is allowed */
/* Looks up n ELF addresses in any order. sy has the places to look for .dwo
 * files. The result, for dwarf_free(), does not need df. */
struct dwarf *dwarf_lookup(struct symbolizer *sy, struct dwarf_file *df,
			   const uint64_t *vaddr, size_t n);
/* Returns the number of frames at address i, 0 if there are none. *out is
 * borrowed from d. */
size_t dwarf_frames(const struct dwarf *d, size_t i,
		    const struct dwarf_frame **out);
/* Receives a function and where the debug information declares it. */
typedef void dwarf_declared_fn(void *arg, const char *file, uint32_t line,
			       const char *name);
/* Calls fn for the functions of the unit around an ELF address; for none if it
 * is in another file, or its line table is too large. df may be NULL. */
void dwarf_declared(struct dwarf_file *df, uint64_t vaddr,
		    dwarf_declared_fn *fn, void *arg);
/* Returns the number of units whose .dwo file is missing, and the name of
 * one. */
size_t dwarf_missing(const struct dwarf *d, const char **name);
/* Returns the number of units whose line table would take too much memory, or
 * is damaged. */
size_t dwarf_unread(const struct dwarf *d);
/* Returns true if the time limit was reached, so some addresses were not looked
 * up. */
bool dwarf_gave_up(const struct dwarf *d);
void dwarf_free(struct dwarf *d);
