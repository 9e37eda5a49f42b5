/* dwarf_sections.h - decides which debug sections of a file libdw may read. */
#pragma once
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Returns true if libdw can read the debug sections of ef safely and a section
 * named `info` is among them. Decompresses string sections. */
bool dwarf_sections_readable(const struct elf_file *ef, const char *info);
/* Returns true if the debug information is compressed by zstd, and was not
 * unpacked by libelf. */
bool dwarf_sections_are_zstd(const struct elf_file *ef);
/* Returns the string of an attribute of a readable file, or NULL; a: NULL, or
 * the result of dwarf_attr(). It belongs to libdw until that is ended. */
const char *dwarf_sections_string(Dwarf_Attribute *a);
/* dwarf_sections_text() returns that string for an attribute of a DIE;
 * dwarf_sections_number() the attribute's number, or that of attribute `gnu`
 * (0: none) if it has none, or 0. */
const char *dwarf_sections_text(Dwarf_Die *die, unsigned int name);
uint64_t dwarf_sections_number(Dwarf_Die *die, unsigned int name,
			       unsigned int gnu);
/* Returns true if dwarf_lookup() reads the section of this name. */
bool dwarf_sections_reads(const char *section);
/* Marks the debug sections that dwarf_lookup() does not read as empty, in
 * memory only. */
void dwarf_sections_drop_unread(const struct elf_file *ef);

/* Addresses in a kernel module's debug information are zeros with a relocation
 * such as ".text+0x40". Compilers use a few types for them: a whole address in
 * 4 or 8 bytes. Other types are for locations of variables and are ignored. */

/* Relocates the sections that dwarf_lookup() reads, in memory only. Code
 * sections get the addresses of kernel_module_layout(), all others a distinct
 * range far above. Returns false if the relocations are damaged or ef is in
 * memory. */
bool relocate_debug(const struct elf_file *ef);
