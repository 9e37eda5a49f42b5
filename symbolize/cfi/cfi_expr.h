/* cfi_expr.h - works out DWARF expressions of call frame information. */
#ifndef SYMBOLIZE_CFI_CFI_EXPR_H
#define SYMBOLIZE_CFI_CFI_EXPR_H
#include <stdint.h>

struct abi_values;
struct bytes;

struct cfi_memory {
	/* A word (of 1 to 8 bytes) of the dumped stack: 0, or -1. */
	int (*read)(void *arg, uint64_t addr, uint8_t size, uint64_t *out);
	void *arg;
	uint8_t word; /* bytes of an address */
};

/* The value of an expression, whose stack begins with *first unless that is
 * NULL. pc: what a rule means by the return address's column. 0, or -1: it
 * asks for what is not known, or is damaged. */
int cfi_value(struct bytes *code, const struct abi_values *v,
	      const struct cfi_memory *mem, const uint64_t *first,
	      uint64_t *out);
#endif
