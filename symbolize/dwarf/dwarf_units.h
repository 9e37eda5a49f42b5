/* dwarf_units.h - reads the units of a file with debug information and their
 * ranges, as far as they are needed, and once. */
#pragma once
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_units;
struct elf_file;

struct dwarf_range {
	uint64_t start, end;
};

struct dwarf_unit {
	Dwarf_Die die;
	uint64_t off;	 /* of the DIE in its section */
	bool skeleton;	 /* its functions are in another file */
	bool unlisted;	 /* too many ranges: dwarf_ranges() has them */
	size_t first, n; /* its ranges, as they are in the file */
};

/* Takes over the sections that need not be inflated as a whole. Call it before
 * dwarf_begin_elf(). lazy: there may be some. ef is borrowed. */
struct dwarf_units *dwarf_units_new(const struct elf_file *ef, bool lazy);
/* Call it after dwarf_end(). NULL is allowed. */
void dwarf_units_free(struct dwarf_units *us);
/* Call it with the result of dwarf_begin_elf() before the functions below; and
 * once more with another result for the same file: DIEs are of that one
 * then. */
void dwarf_units_begin(struct dwarf_units *us, Dwarf *dw);
/* Returns unit i in the order of the file, borrowed until the next call; NULL
 * if there are no more. */
const struct dwarf_unit *dwarf_units_get(struct dwarf_units *us, size_t i);
/* Returns the u->n ranges of a unit; NULL if it has none. */
const struct dwarf_range *dwarf_units_ranges(const struct dwarf_units *us,
					     const struct dwarf_unit *u);
/* Call it before the lines or files of a unit are read. */
void dwarf_units_need_lines(struct dwarf_units *us, Dwarf_Die *unit);
/* Returns true if the name of a DIE may be in a unit that was not read. */
bool dwarf_units_reach_out(const struct dwarf_units *us, const Dwarf_Die *die);
/* Makes all units readable. Names for which dwarf_units_reach_out() returned
 * true must be looked up again. */
void dwarf_units_need_all(struct dwarf_units *us);
/* Returns true if a section turned out to be damaged: then all results for the
 * file may be wrong. */
bool dwarf_units_damaged(const struct dwarf_units *us);
