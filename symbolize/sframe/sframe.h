/* sframe.h - reads an SFrame section (versions 1, 2, 3), every byte of which
 * may be hostile.
 *
 * sframe_init() checks the header; then sframe_func() for each function, and
 * for its rows sframe_rows(), sframe_row() until 0, sframe_rule() of each.
 * Nothing is allocated, all offsets are checked, and no call takes longer
 * than its row is long. Who walks over all rows of all functions has to add up
 * their bytes: functions of a hostile section may all name the same rows
 * (sframe_table.c does so).
 *
 * The format: https://sourceware.org/binutils/docs/sframe-spec.html; what
 * that leaves open is as binutils 2.47 writes it. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_H
#define SYMBOLIZE_SFRAME_SFRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/bytes.h"

struct err;

enum sframe_abi {
	SFRAME_AARCH64_BE = 1,
	SFRAME_AARCH64_LE = 2,
	SFRAME_AMD64 = 3,
	SFRAME_S390X = 4,
};

enum sframe_flag {
	SFRAME_SORTED = 1,
	SFRAME_FRAME_POINTER = 2, /* versions 1 and 2 */
	SFRAME_PCREL = 4, /* starts count from their own field, not from the
			   * section; versions 2 and 3 */
};

struct sframe_head {
	uint8_t version, flags, abi;
	int8_t fixed_fp, fixed_ra; /* from the CFA; 0: not fixed */
	uint8_t aux_len;
	uint32_t funcs, rows;	    /* how many the header says there are */
	uint32_t rows_len;	    /* bytes */
	uint32_t func_off, row_off; /* from the end of the header */
};

struct sframe {
	struct sframe_head head;
	uint64_t addr;	   /* of the section, in ELF addresses */
	struct bytes func; /* sub-section of functions, whole entries only */
	struct bytes row;  /* and of rows */
	uint64_t func_at;  /* offset of the functions in the section */
	unsigned int func_len; /* bytes of an entry */
};

/* data: the section, borrowed; path and off (its place in the file) are for
 * messages. -1 and *err when it is no SFrame section that we can read. */
int sframe_init(struct sframe *sf, const void *data, size_t len,
		const char *path, uint64_t off, uint64_t addr, struct err *err);

struct sframe_func {
	uint64_t start; /* ELF address */
	uint32_t size;	/* start + size does not wrap */
	uint32_t n;	/* rows it says it has */
	uint32_t at;	/* of its rows, in the sub-section */
	uint8_t width;	/* bytes of a row's address: 1, 2, 4 */
	uint8_t rep;	/* bytes after which the rows begin anew (PLT); 0: never
			 */
	bool key_b;	/* AArch64: signed with key B */
	bool signal;	/* a signal frame */
	bool flex;	/* rows name their registers */
};

/* Function i of head.funcs, or -1 and *err. */
int sframe_func(const struct sframe *sf, uint32_t i, struct sframe_func *out,
		struct err *err);
/* The ELF address of the field that says where function i starts, for
 * relocations. */
uint64_t sframe_func_field(const struct sframe *sf, uint32_t i);

#define SFRAME_WORDS 15

struct sframe_row {
	uint32_t pc; /* from the function's start; from that of the repeated
		      * block where it repeats */
	uint8_t info;
	uint8_t n;    /* words */
	uint8_t size; /* bytes of each */
	uint32_t word[SFRAME_WORDS];
};

/* Before the first row of a function. */
struct sframe_cursor {
	const struct sframe *sf;
	struct sframe_func func;
	struct bytes b;
	uint32_t i;
	uint64_t next; /* a lower address than this is out of order */
};

void sframe_rows(const struct sframe *sf, const struct sframe_func *f,
		 struct sframe_cursor *c);
/* 1, 0 at the end, -1 and *err: what follows is not readable. Their addresses
 * grow and are inside of the function. */
int sframe_row(struct sframe_cursor *c, struct sframe_row *out,
	       struct err *err);
/* Bytes of rows that were read. */
uint64_t sframe_row_bytes(const struct sframe_cursor *c);

enum sframe_kind {
	SFRAME_NONE,   /* no rule: FP has the value it had; RA is in the link
			* register */
	SFRAME_PADDED, /* the same, said by a word that is 0 */
	SFRAME_FIXED,  /* as the header says: memory at CFA + off */
	SFRAME_VALUE,  /* reg + off */
	SFRAME_MEMORY, /* what is at reg + off */
	SFRAME_REG,    /* s390x, version 2: what is in reg */
};

/* In place of a register's number. */
#define SFRAME_CFA UINT32_MAX

struct sframe_place {
	enum sframe_kind kind;
	uint32_t reg; /* DWARF number, or SFRAME_CFA */
	int64_t off;
};

struct sframe_rule {
	bool outermost; /* no caller: nothing below is set */
	bool is_signed; /* AArch64: the return address is */
	struct sframe_place cfa, fp, ra;
};

/* What a row means; -1 and *err: nothing that can be. */
int sframe_rule(const struct sframe *sf, const struct sframe_func *f,
		const struct sframe_row *row, struct sframe_rule *out,
		struct err *err);

/* DWARF numbers of the machine's stack and frame pointer. */
uint32_t sframe_sp(const struct sframe *sf);
uint32_t sframe_fp(const struct sframe *sf);
/* "amd64", ... */
const char *sframe_abi_name(const struct sframe *sf);
#endif
