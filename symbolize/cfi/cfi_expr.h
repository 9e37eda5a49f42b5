/* cfi_expr.h - evaluates DWARF expressions in call frame information. */
#pragma once
#include <stdint.h>

struct abi_values;
struct bytes;

struct cfi_memory {
	/* Reads 1 to 8 bytes of the stack dump. Returns 0, or -1. */
	int (*read)(void *arg, uint64_t addr, uint8_t size, uint64_t *out);
	void *arg;
	uint8_t word; /* bytes of an address */
};

/* Evaluates an expression, with *first on the stack unless first is NULL.
 * Returns 0, or -1 if it needs an unknown register or memory, or is damaged. */
int cfi_value(struct bytes *code, const struct abi_values *v,
	      const struct cfi_memory *mem, const uint64_t *first,
	      uint64_t *out);
