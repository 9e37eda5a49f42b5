/* cfi.h - call frame information of a file: the function around an address, and
 * the rules that restore its caller's registers.
 *
 * A reader of .eh_frame and .debug_frame that uses bounded memory. (libdw's
 * dwarf_cfi_addrframe() could be made to allocate 2.3 GB by a hostile file of
 * 40 bytes.) The section is copied, so the file may be closed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/cfi/abi.h"

enum rule_kind {
	RULE_UNSET, /* no rule: the default of the ABI */
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_OFFSET,	 /* saved in memory at CFA + v */
	RULE_VAL_OFFSET, /* value is CFA + v */
	RULE_REG,	 /* in register v */
	RULE_EXPR, /* saved in memory at the address computed by expression v */
	RULE_VAL_EXPR, /* value is the result of expression v */
};

/* For an expression v is an argument of cfi_expr(). */
struct cfi_rule {
	int64_t v : 56;
	uint64_t kind : 8; /* enum rule_kind */
};

struct cfi_rules {
	/* RULE_REG: cfa_reg + v; RULE_EXPR: the value of the expression */
	struct cfi_rule cfa;
	uint8_t cfa_reg;
	uint8_t ra;	  /* column of the return address */
	bool interrupted; /* signal frame: the caller was interrupted */
	bool is_signed;	  /* AArch64: the return address is signed */
	struct cfi_rule reg[ABI_REGS];
};

struct bytes;
struct cfi;
struct elf_file;

/* Reads a section. Returns NULL if the file does not have it, or is for a
 * machine that cannot be unwound. For a Go program without .debug_frame, that
 * is made from the tables of its runtime. cfi_close() frees the result. */
struct cfi *cfi_open(const struct elf_file *ef, const char *section);
/* cfi_open() for the bytes of an .eh_frame at ELF address addr. swap: they have
 * the other byte order. */
struct cfi *cfi_memory(uint16_t machine, const void *data, size_t len,
		       uint64_t addr, bool swap);
/* Reads both sections: .debug_frame is used where .eh_frame has no function, as
 * for the Go part of a program that gcc has linked. The result is for functions
 * and rules of addresses only, not for cfi_expr() and cfi_rows(). */
struct cfi *cfi_open_both(const struct elf_file *ef);
void cfi_close(struct cfi *c);
/* Finds the function [*start, *end) around an ELF address. Returns false if
 * there is none or c is NULL. O(log n). */
bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end);
/* Returns the first address after vaddr at which a function begins; UINT64_MAX
 * if there is none or c is NULL. */
uint64_t cfi_next(const struct cfi *c, uint64_t vaddr);
/* Returns the number of functions. */
size_t cfi_functions(const struct cfi *c);
/* Sets the range of function i. */
void cfi_range(const struct cfi *c, size_t i, uint64_t *start, uint64_t *end);
/* Computes the rules at an ELF address. Returns 1, or 0 if no FDE covers it or
 * the instructions before it are damaged. O(log functions + instructions of the
 * function). */
int cfi_rules(const struct cfi *c, uint64_t vaddr, struct cfi_rules *out);
/* Sets *out to the bytes of the expression that a rule's v refers to. Returns
 * -1 if there is none. */
int cfi_expr(const struct cfi *c, int64_t v, struct bytes *out);

struct unwind_row;
struct unwind_rows;

/* Returns a table of every step-th function from number `first` on, for
 * unwind_rows_free(). O(bytes of their entries). */
struct unwind_rows *cfi_rows(const struct cfi *c, size_t first, size_t step);

/* The rows of a file's functions, which are made when they are needed.
 *
 * A capture uses a small part of a program's functions: of the 60,000 of a
 * compiler some thousands, of libc's a hundred. Making the rows of all
 * functions was a third of the time for a small capture. */

struct function_rows {
	const struct cfi *c;
	struct unwind_rows **of; /* of each function; NULL: not made yet */
	size_t n;
	size_t rows; /* made so far */
};

/* Creates a table of the functions of c, which is borrowed. */
struct function_rows *function_rows_new(const struct cfi *c);
void function_rows_free(struct function_rows *t);
/* Returns the row of an ELF address, borrowed from the table; it may be
 * ROW_GAP. NULL if no function covers the address. O(log functions + log rows
 * of the function). */
const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr);
