/* split_dwarf.h - reads debug information that -gsplit-dwarf put into a .dwo
 * file, alone or in a package.
 *
 * libdw would find the file itself, open whatever is at a path that the program
 * names (opening a FIFO hangs), map it and keep it open. Here it is opened like
 * other files, proved by the id that both units have, and closed after its
 * unit; references into the program are resolved here. */
#pragma once
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct split_dwarf;
struct split_package;
struct symbolizer;

/* Opens the package (.dwp) of a program, which has its .dwo files. Returns NULL
 * if none can be read. */
struct split_package *split_package_open(struct symbolizer *sy,
					 const struct elf_file *ef);
void split_package_close(struct split_package *p);
/* Returns the name of the .dwo file of a skeleton, borrowed from libdw; NULL if
 * it has none. */
const char *split_dwarf_name(Dwarf_Die *skeleton);
/* Opens the unit of the skeleton in ef: from the package, which may be NULL and
 * must stay open, or from its .dwo file. Returns NULL if it is not found. */
struct split_dwarf *split_dwarf_open(struct symbolizer *sy,
				     const struct elf_file *ef,
				     struct split_package *package,
				     Dwarf_Die *skeleton);
void split_dwarf_close(struct split_dwarf *s);
/* Returns the DIE of the unit, with the functions below it. */
Dwarf_Die *split_dwarf_unit(struct split_dwarf *s);

/* State of an iteration over the ranges of a DIE; starts as all zero. */
struct split_dwarf_walk {
	uint64_t at, base;
	unsigned int state;
};
/* Like dwarf_ranges(): gets the next range. Returns false after the last. */
bool split_dwarf_range(const struct split_dwarf *s, Dwarf_Die *die,
		       struct split_dwarf_walk *w, Dwarf_Addr *start,
		       Dwarf_Addr *end);
