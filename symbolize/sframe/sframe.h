/* sframe.h - finds the SFrame section of an ELF file, and reads untrusted
 * sections, versions 1 to 3.
 *
 * Call sframe_init() to check the header; then for each function sframe_func(),
 * sframe_rows(), sframe_row() until it returns 0, and sframe_rule() for each
 * row. Nothing is allocated, all offsets are checked, and the time of a call is
 * bounded by the length of its row. A caller that reads all rows of all
 * functions must limit their sum, since the functions of a hostile section may
 * share rows (sframe_file_open() does so).
 *
 * The format: https://sourceware.org/binutils/docs/sframe-spec.html. Where that
 * is ambiguous, as binutils 2.47 writes it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/bytes.h"

enum sframe_abi {
	SFRAME_AARCH64_BE = 1,
	SFRAME_AARCH64_LE = 2,
	SFRAME_AMD64 = 3,
	SFRAME_S390X = 4,
};

enum sframe_flag {
	SFRAME_SORTED = 1,
	SFRAME_FRAME_POINTER = 2, /* versions 1 and 2 */
	SFRAME_PCREL = 4,	  /* versions 1 and 2 */
};

struct sframe_head {
	uint8_t version, flags, abi;
	/* start addresses are relative to their field, not to the section;
	 * versions 2 and 3 */
	int8_t fixed_fp, fixed_ra;
	uint8_t aux_len;
	uint32_t funcs, rows;	    /* counts, as the header claims */
	uint32_t rows_len;	    /* bytes */
	uint32_t func_off, row_off; /* relative to the end of the header */
};

struct sframe_machine {
	const char *name; /* "amd64", "aarch64", ... */
	uint16_t elf;	  /* EM_... */
	uint8_t sp, fp;	  /* DWARF numbers of the stack and frame pointer */
	bool big;
	/* The rule that holds right after a call, and at the return. */
	uint8_t call_cfa;
	bool link; /* the return address is in the link register */
};

struct sframe {
	struct sframe_head head;
	const struct sframe_machine *machine;
	uint64_t addr;	       /* ELF address of the section */
	struct bytes func;     /* function index, whole entries only */
	struct bytes row;      /* row data */
	uint64_t func_at;      /* offset of the index in the section */
	unsigned int func_len; /* bytes of an index entry */
};

/* Checks the header of the section data, which is borrowed. path and off, its
 * file offset, are used in messages. Returns -1 and *err if the section cannot
 * be read. */
int sframe_init(struct sframe *sf, const void *data, size_t len,
		const char *path, uint64_t off, uint64_t addr, struct err *err);

struct sframe_func {
	uint64_t start; /* ELF address */
	uint32_t size;	/* start + size does not overflow */
	uint32_t n;	/* number of rows claimed */
	uint32_t at;	/* offset of its rows in the row data */
	uint8_t width;	/* bytes of a row's address: 1, 2 or 4 */
	/* rows repeat for each block of this size (PLT); 0: they do not */
	uint8_t rep;
	bool key_b;  /* AArch64: signed with key B */
	bool signal; /* is a signal frame */
	bool flex;   /* rows contain register numbers */
};

/* Reads function i of head.funcs. Returns -1 and *err if it is damaged. */
int sframe_func(const struct sframe *sf, uint32_t i, struct sframe_func *out,
		struct err *err);
/* Returns the ELF address of the start address field of function i, for
 * relocations. */
uint64_t sframe_func_field(const struct sframe *sf, uint32_t i);

#define SFRAME_WORDS 15

struct sframe_row {
	/* offset from the start of the function, or of the repeated block */
	uint32_t pc;
	uint8_t info;
	uint8_t n;    /* number of words */
	uint8_t size; /* bytes of a word */
	uint32_t word[SFRAME_WORDS];
};

/* Position before the next row of a function. */
struct sframe_cursor {
	const struct sframe *sf;
	struct sframe_func func;
	struct bytes b;
	uint32_t i;
	uint64_t next; /* lowest valid address of the next row */
};

/* Starts at the first row of a function. */
void sframe_rows(const struct sframe *sf, const struct sframe_func *f,
		 struct sframe_cursor *c);
/* Reads the next row. Returns 1; 0 at the end; -1 and *err if the rest is
 * damaged. Addresses increase and are inside the function. */
int sframe_row(struct sframe_cursor *c, struct sframe_row *out,
	       struct err *err);
/* Returns the bytes of rows read so far. */
uint64_t sframe_row_bytes(const struct sframe_cursor *c);

enum sframe_kind {
	/* not in the row: FP is unchanged, RA is in the link register */
	SFRAME_NONE,
	SFRAME_PADDED, /* the same, as a padding word */
	SFRAME_FIXED,  /* fixed by the header: in memory at CFA + off */
	SFRAME_VALUE,  /* reg + off */
	SFRAME_MEMORY, /* memory at reg + off */
	SFRAME_REG,    /* in register reg; s390x, version 2 */
};

/* Stands for the CFA in place of a register number. */
#define SFRAME_CFA UINT32_MAX

struct sframe_place {
	enum sframe_kind kind;
	uint32_t reg; /* DWARF number, or SFRAME_CFA */
	int64_t off;
};

struct sframe_rule {
	bool outermost; /* no caller; the places below are not set */
	bool is_signed; /* AArch64: the return address is signed */
	struct sframe_place cfa, fp, ra;
};

/* Decodes a row. Returns -1 and *err if it is invalid. */
int sframe_rule(const struct sframe *sf, const struct sframe_func *f,
		const struct sframe_row *row, struct sframe_rule *out,
		struct err *err);

struct elf_file;

struct sframe_file {
	struct sframe sf;
	size_t len;   /* bytes of the section */
	uint64_t off; /* file offset */
	/* an object file: addresses are relative to their own section */
	bool object;
	void *copy; /* relocated section; owned */
};

/* Finds the section by program header, else by name: its own section type is
 * more recent. Returns 1 and *out, which borrows from ef, for
 * sframe_file_release(); 0 if there is none; -1 and *err. Refuses object files
 * of binutils before 2.45, which lack the flag for what addresses are relative
 * to. */
int sframe_file_open(const struct elf_file *ef, struct sframe_file *out,
		     struct err *err);
void sframe_file_release(struct sframe_file *f);

/* Callbacks, each of which may be NULL. For each function: func, row for each
 * row, end. If a function is damaged, bad replaces the remaining calls (all of
 * them if its index entry is damaged). */
struct sframe_visitor {
	void (*func)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*row)(void *arg, const struct sframe_func *f,
		    const struct sframe_row *row,
		    const struct sframe_rule *rule);
	void (*end)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*bad)(void *arg, uint32_t i, const struct err *err);
};

/* Visits all functions. The time is proportional to the section: once functions
 * that share rows have used four times the bytes of the rows, they count as
 * bad. Returns the number of bad functions. */
uint32_t sframe_visit(const struct sframe *sf, const struct sframe_visitor *v,
		      void *arg);

/* Converts the section to a table, for unwind_rows_free(). Sets *bad to the
 * number of functions left out because they could not be read. */
struct unwind_rows *sframe_table(const struct sframe *sf, uint32_t *bad);
