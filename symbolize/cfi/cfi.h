/* cfi.h - call frame information of a file: which function an address is in,
 * and by which rules its caller's registers are found.
 *
 * Our own reader of .eh_frame and .debug_frame, in memory of a fixed size:
 * libdw's dwarf_cfi_addrframe() was made to take 2.3 GB by 40 bytes of a
 * hostile file. The section is copied, so the file may be closed. */
#ifndef SYMBOLIZE_CFI_CFI_H
#define SYMBOLIZE_CFI_CFI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/cfi/abi.h"

struct bytes;
struct cfi;
struct elf_file;
struct unwind_rows;

enum rule_kind {
	RULE_UNSET, /* nothing was said: the ABI's default */
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_OFFSET,	 /* in memory at CFA + v */
	RULE_VAL_OFFSET, /* it is CFA + v */
	RULE_REG,	 /* in register v */
	RULE_EXPR,	 /* in memory where the expression v says */
	RULE_VAL_EXPR,	 /* it is what the expression v says */
};

/* v of an expression is a place for cfi_expr(). */
struct cfi_rule {
	int64_t v : 56;
	uint64_t kind : 8; /* enum rule_kind */
};

struct cfi_rules {
	struct cfi_rule cfa; /* RULE_REG: cfa_reg + v; RULE_EXPR: it is what
			      * the expression says */
	uint8_t cfa_reg;
	uint8_t ra;	  /* the return address's column */
	bool interrupted; /* a signal frame: the caller did not call */
	bool is_signed;	  /* AArch64: authentication bits are in it */
	struct cfi_rule reg[ABI_REGS];
};

/* Reads what `section` covers; NULL when the file has no such one, or is of a
 * machine that we do not unwind. */
struct cfi *cfi_open(const struct elf_file *ef, const char *section);
/* The bytes of an .eh_frame of that machine at ELF address addr; swap: in the
 * other byte order than ours. */
struct cfi *cfi_memory(uint16_t machine, const void *data, size_t len,
		       uint64_t addr, bool swap);
/* .eh_frame, or else .debug_frame. */
struct cfi *cfi_open_either(const struct elf_file *ef);
void cfi_close(struct cfi *c);
const struct abi *cfi_abi(const struct cfi *c);
/* The function that covers an ELF address: [*start, *end). c may be NULL.
 * O(log n). */
bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end);
/* 1 and the rules at an ELF address, or 0: not covered, or damaged before
 * it. O(log of the functions + instructions of its one). */
int cfi_rules(const struct cfi *c, uint64_t vaddr, struct cfi_rules *out);
/* The window on an expression's code; -1: there is none there. */
int cfi_expr(const struct cfi *c, int64_t v, struct bytes *out);

/* Hands out the rules of all functions, from which address they hold; used
 * by cfi_rows.c. */
struct cfi_visit {
	void (*begin)(void *arg, uint64_t start, uint64_t end);
	void (*rules)(void *arg, uint64_t addr, const struct cfi_rules *r);
	/* lost: the rest of the function could not be read. */
	void (*end)(void *arg, uint64_t addr, bool lost);
	void *arg;
};
void cfi_each(const struct cfi *c, const struct cfi_visit *v);

/* Numbers of the format: 0, or -1. */
int cfi_uleb(struct bytes *b, uint64_t *out);
int cfi_sleb(struct bytes *b, int64_t *out);
#endif
