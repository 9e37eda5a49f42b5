/* relocate.h - debug information of a file that was not linked: addresses are
 * put into it. */
#ifndef SYMBOLIZE_DWARF_RELOCATE_H
#define SYMBOLIZE_DWARF_RELOCATE_H
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Are the relocations of this machine known? */
bool relocate_knows(uint16_t machine);
/* Puts addresses into the sections that dwarf_look() reads, in memory only: as
 * kernel_module_layout() places code; what it does not place is far behind it,
 * each section for itself. False: they are not those of ef. */
bool relocate_debug(const struct elf_file *ef);
#endif
