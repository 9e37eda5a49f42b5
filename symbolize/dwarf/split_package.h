/* split_package.h - .dwp packages: the .dwo files of a program in one file.
 *
 * dwp and llvm-dwp write the sections of all units one after the other; the
 * index in .debug_cu_index tells which part of each section is a unit's (DWARF
 * 5, 7.3.5, and the GNU extension of DWARF 4). libdw 0.188 does not read it. */
#pragma once
#include <stdint.h>

struct elf_file;
struct split_package;
struct symbolizer;

/* Opens the package of a program. Returns NULL if there is none that can be
 * read. */
struct split_package *split_package_open(struct symbolizer *sy,
					 const struct elf_file *ef);
void split_package_close(struct split_package *p);
/* Returns the file with each section cut to the part of the unit with this id:
 * as if it were the unit's .dwo file; NULL if the unit is not in it. It is
 * borrowed, until the next call. */
const struct elf_file *split_package_cut(struct split_package *p, uint64_t id);
