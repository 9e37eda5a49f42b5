/* elf.h - an ELF file, opened with care: build-id, code segments, sections.
 *
 * The file is read, never mapped: somebody else may cut it while we look,
 * and a mapping would then end the program. Only the sections that are asked
 * for are read. */
#ifndef SYMBOLIZE_ELF_ELF_H
#define SYMBOLIZE_ELF_ELF_H
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct err;

struct elf_file {
	Elf *elf;
	int fd;	   /* -1: made from memory */
	void *mem; /* the bytes when made from memory; owned */
	char *path;
	uint8_t id[20], id_len; /* build-id; len 0: has none */
	uint16_t machine, type; /* EM_*, ET_* */
	struct segment *seg;	/* executable PT_LOADs */
	size_t n_seg;
	bool no_code; /* a debug file: its segments have no bytes */
};

/* A section header in the form that everybody here needs. */
struct elf_section {
	Elf_Scn *scn;
	const char *name; /* "" when it has no readable one */
	uint64_t addr, off, size, flags, entsize;
	uint32_t type, link, info;
};

/* Only regular files; NULL and *err otherwise, or when it is no ELF file. */
struct elf_file *elf_file_open(const char *path, struct err *err);
/* From bytes made with malloc(), which belong to it from now on. */
struct elf_file *elf_file_memory(void *mem, size_t len, const char *name,
				 struct err *err);
/* The same through a file of its own without a name, so that the bytes of
 * sections may be changed: none lies over others. */
struct elf_file *elf_file_unpacked(void *mem, size_t len, const char *name,
				   struct err *err);
void elf_file_close(struct elf_file *ef);

size_t elf_sections(const struct elf_file *ef);
/* Section i (0..n-1): false when there is no such one or it is broken. */
bool elf_section_get(const struct elf_file *ef, size_t i,
		     struct elf_section *out);
bool elf_section_find(const struct elf_file *ef, const char *name,
		      struct elf_section *out);
/* Its bytes, or NULL: none in the file, damaged. Borrowed from ef. For
 * symbol and relocation tables they are in our own byte order. */
Elf_Data *elf_section_data(const struct elf_section *s);

/* The ELF address of a file offset in code: 1, or 0 and no address. *seg:
 * the segment it is in. */
int elf_vaddr(const struct segment *seg, size_t n, uint64_t off,
	      uint64_t *vaddr);
/* Is it the build-id of the image? Recorded ones may be cut or padded with
 * zeros to 20 bytes. */
bool elf_same_id(const uint8_t *a, size_t a_len, const uint8_t *b,
		 size_t b_len);
/* The first GNU build-id in a block of ELF notes: its length, or 0. */
size_t elf_note_id(const void *notes, size_t len, bool swap, uint8_t id[20]);
#endif
