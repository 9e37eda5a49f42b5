/* relocate.h - applies relocations to the debug information of a file that was
 * not linked. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Returns true if relocations of this machine are supported. */
bool relocate_knows(uint16_t machine);
/* Relocates the sections that dwarf_lookup() reads, in memory only. Code
 * sections get the addresses of kernel_module_layout(), all others a distinct
 * range far above. Returns false if the relocations are damaged or ef is in
 * memory. */
bool relocate_debug(const struct elf_file *ef);
