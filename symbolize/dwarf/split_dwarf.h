/* split_dwarf.h - the part of a unit's debug information that -gsplit-dwarf put
 * into a file of its own (.dwo).
 *
 * libdw would look for the file by itself, open what it finds at a path that
 * any file may name (a FIFO hangs it), map it and hold it open. So the two
 * halves are kept apart here: the file is opened like any other, proved by the
 * id that both have, and closed after its unit; what refers to addresses in
 * the program is read here. */
#ifndef SYMBOLIZE_DWARF_SPLIT_DWARF_H
#define SYMBOLIZE_DWARF_SPLIT_DWARF_H
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct split_dwarf;
struct symbolizer;

/* The other half of the unit that `skeleton` is in ef; NULL: it is not here.
 */
struct split_dwarf *split_dwarf_open(struct symbolizer *sy,
				     const struct elf_file *ef,
				     Dwarf_Die *skeleton);
void split_dwarf_close(struct split_dwarf *s);
/* The entry of the unit, with the functions below it. */
Dwarf_Die *split_dwarf_unit(struct split_dwarf *s);

/* One walk through the ranges of an entry; all zero in the beginning. */
struct split_dwarf_walk {
	uint64_t at, base;
	unsigned int state;
};
/* As dwarf_ranges() does for whole units: the next range; false behind the
 * last. */
bool split_dwarf_range(const struct split_dwarf *s, Dwarf_Die *die,
		       struct split_dwarf_walk *w, Dwarf_Addr *start,
		       Dwarf_Addr *end);
#endif
