/* section_hashes.h - hashes the sections that names were read from. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SECTION_HASHES_TEXT ".text"

struct elf_file;
struct elf_section;
struct image;
struct section_used;
struct symbolizer;

/* Adds the hash of section s of ef to the current report, unless the report
 * has it already. */
void section_hashes_add(const struct symbolizer *sy, const struct elf_file *ef,
			const struct elf_section *s);
/* section_hashes_add() for every section of ef that dwarf_lookup() reads. Call
 * dwarf_has() first: it decompresses some of them. */
void section_hashes_add_debug(const struct symbolizer *sy,
			      const struct elf_file *ef);
/* Returns whether ef has a section with that name and hash. Sets *size to its
 * size. */
bool section_hashes_same(const struct elf_file *ef, const char *section,
			 uint64_t hash, uint64_t *size);
/* Hashes .text of ef into *out, whose strings are borrowed from ef. Returns
 * false if there is no such section or it cannot be read. */
bool section_hashes_text(const struct elf_file *ef, struct section_used *out);
/* Hashes the named section of a file as it is now. Returns false if it is not
 * there, or the file has another build-id than the image. */
bool section_hashes_of_file(const char *file, const char *section,
			    const struct image *img, uint64_t *hash);
