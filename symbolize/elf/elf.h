/* elf.h - opens untrusted ELF files: build-id, code segments, sections.
 *
 * Files are read, not mapped: if another process truncated a mapped file, an
 * access would end the program. Only the sections that are needed are read. */
#pragma once
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

/* The smallest page size of the machines that are supported. */
#define ELF_PAGE 4096u

static inline uint64_t elf_page_floor(uint64_t v)
{
	return v & ~(uint64_t)(ELF_PAGE - 1);
}

struct elf_file {
	Elf *elf;
	int fd;	   /* -1: read from memory */
	void *mem; /* the bytes of a file in memory, owned; else NULL */
	char *path;
	uint8_t id[20], id_len; /* build-id; id_len 0: none */
	uint16_t machine, type; /* EM_*, ET_* */
	struct segment *seg;	/* executable PT_LOADs */
	size_t n_seg;
	struct segment
		*data; /* other PT_LOADs; filesz is their size in memory */
	size_t n_data;
	bool big, swap; /* big-endian; not in host byte order */
	bool no_code;	/* a debug file, whose segments are empty */
};

/* A section header of either ELF class. */
struct elf_section {
	Elf_Scn *scn;
	const char *name; /* "" if it has no readable name */
	uint64_t addr, off, size, flags, entsize;
	uint32_t type, link, info;
};

/* Opens a regular file. Returns NULL and *err if it cannot be opened or is not
 * an ELF file. elf_file_close() closes it. */
struct elf_file *elf_file_open(const char *path, struct err *err);
/* Opens the memory of the running kernel. Returns NULL if it cannot be read. */
struct elf_file *elf_file_open_kcore(void);
/* elf_file_open() for len bytes allocated with malloc(), which the elf_file
 * owns, also on error. */
struct elf_file *elf_file_memory(void *mem, size_t len, const char *name,
				 struct err *err);
/* Opens such bytes through an anonymous file, so that section contents can be
 * modified: sections that are read from a file do not share memory. */
struct elf_file *elf_file_unpacked(void *mem, size_t len, const char *name);
void elf_file_close(struct elf_file *ef);

/* Returns the number of section headers, limited to those that are read; 0 if
 * the file is damaged. */
size_t elf_sections(const struct elf_file *ef);
/* Reads section header i (0..n-1). Returns false if there is none or it is
 * damaged. */
bool elf_section_get(const struct elf_file *ef, size_t i,
		     struct elf_section *out);
bool elf_section_find(const struct elf_file *ef, const char *name,
		      struct elf_section *out);
/* Returns the contents, borrowed from ef, or NULL if the section has none in
 * the file, is compressed or damaged. Symbol and relocation tables are
 * converted to host byte order. */
Elf_Data *elf_section_data(const struct elf_section *s);
/* Applies a table of relocations to the len bytes of the section that it
 * belongs to, whose address is addr: whole addresses in 4 or 8 bytes, absolute
 * or relative to their place. sec: the sections with their addresses; NULL: all
 * are 0, and an absolute address is an error (.sframe has none). Returns how
 * many relocations are of another type, of no symbol with a place, or outside;
 * -1 if the table is damaged. */
int64_t elf_relocate(const struct elf_file *ef, const struct elf_section *sec,
		     const struct elf_section *table, uint64_t addr, void *buf,
		     size_t len);
/* Returns true if relocations of this machine are supported. */
bool elf_can_relocate(uint16_t machine);

/* Converts a file offset in code to an ELF address. Returns 1, or 0 if the
 * offset is in none of the n segments. */
int elf_vaddr(const struct segment *seg, size_t n, uint64_t off,
	      uint64_t *vaddr);
/* Returns the segment of n whose bytes have an ELF address, or NULL. */
const struct segment *elf_segment_at(const struct segment *seg, size_t n,
				     uint64_t vaddr);
/* Reads up to n bytes at a file offset. Returns the number of bytes read. */
size_t elf_read(const struct elf_file *ef, uint64_t off, void *buf, size_t n);
/* Reads up to n bytes at an ELF address, up to the end of its segment. Returns
 * the number of bytes read. */
size_t elf_read_code(const struct elf_file *ef, uint64_t vaddr, void *buf,
		     size_t n);
/* Returns true if two build-ids are equal. Recorded ones may be truncated, or
 * padded with zeros to 20 bytes. */
bool elf_same_id(const uint8_t *a, size_t a_len, const uint8_t *b,
		 size_t b_len);
/* Writes a build-id in hexadecimal; out has room for 2 * len + 1 characters. */
void elf_id_hex(const uint8_t *id, size_t len, char *out);
/* Copies the first GNU build-id in a block of ELF notes to id, 20 bytes of a
 * longer one. Returns its length, or 0 if there is none. swap: the notes are in
 * the other byte order. */
size_t elf_note_id(const void *notes, size_t len, bool swap, uint8_t id[20]);
/* Returns whether the file names the loader that starts it, as programs do. */
bool elf_has_loader(const struct elf_file *ef);
/* Sets *value to that of a tag (DT_*) in the dynamic section. Returns false if
 * it has none. */
bool elf_dynamic(const struct elf_file *ef, int64_t tag, uint64_t *value);
/* Returns whether the file is a program. One that is linked statically to run
 * at any address cannot be distinguished from a library: false. */
bool elf_is_program(const struct elf_file *ef);
/* Returns a copy of this process's 64-bit vdso, or NULL if it has none. */
struct elf_file *vdso_own(void);

/* An iteration over a symbol table. */
struct elf_symbols {
	struct elf_section strings; /* the string table's header */
	Elf_Data *data;
	const char *text;
	size_t i, n, len;
};

/* Starts at symbol 1 of a table (SHT_SYMTAB or SHT_DYNSYM). Returns false if
 * the table or its strings cannot be read. */
bool elf_symbols_open(const struct elf_file *ef,
		      const struct elf_section *table, struct elf_symbols *out);
/* elf_symbols_open() for the first readable table of a type. */
bool elf_symbols_find(const struct elf_file *ef, uint32_t type,
		      struct elf_symbols *out);
/* Gets the next symbol and its name, borrowed from the file; "" if the name is
 * damaged. Returns false at the end. */
bool elf_symbols_next(struct elf_symbols *it, GElf_Sym *sym, const char **name);
