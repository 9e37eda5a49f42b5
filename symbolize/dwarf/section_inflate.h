/* section_inflate.h - the contents of a compressed section, as far as they are
 * needed.
 *
 * To inflate the debug information of a C library takes longer than all else
 * that is done for a small capture, and is done for a few addresses. libelf and
 * libdw see a section of the bytes that were shown to them. When more are shown
 * these stay where they are. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct elf_section;
struct section_inflate;

/* Takes a section over from libelf: it looks like one without compression, of
 * which nothing is shown. If it is not read in its order, its size is shown
 * from the start, as libdw compares offsets with it; then nothing may be read
 * before section_inflate_part() or section_inflate_all(). Returns NULL, and
 * does nothing, if the section is not compressed by zlib. Memory for its stated
 * size is reserved: the caller has compared that with the size in the file. ef
 * is borrowed. */
struct section_inflate *section_inflate_open(const struct elf_file *ef,
					     const struct elf_section *s,
					     bool in_order);
/* The section has no bytes any more. NULL is fine. */
void section_inflate_close(struct section_inflate *si);
/* Shows the bytes up to the end of the part that begins at byte off with its
 * length, as units and line tables do. Stores that end. Returns false if there
 * is no whole part: the section ends, or is damaged. The checksum is over all
 * bytes, and so is tested only when the last one is there. */
bool section_inflate_part(struct section_inflate *si, uint64_t off,
			  uint64_t *end);
/* Shows all bytes. Returns false if the section is damaged: the data, the
 * checksum or the stated size is wrong. Then nothing of it is shown any
 * more. */
bool section_inflate_all(struct section_inflate *si);
