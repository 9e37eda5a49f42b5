/* cfi_run.h - executes the instructions of call frame information; for
 * cfi.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/cfi/cfi_rule.h"

struct bytes;

/* Compilers nest DW_CFA_remember_state one deep. */
#define CFI_REMEMBER_MAX 32

struct cfi_run {
	const struct abi *abi;
	uint64_t code_align;
	int64_t data_align;
	/* Reads the operand of DW_CFA_set_loc. */
	int (*address)(void *arg, struct bytes *b, uint64_t *out);
	void *arg;
	struct cfi_rules now, initial;
	uint64_t loc;
	bool changed; /* set by each change; cleared by the caller */
	unsigned int depth;
	struct cfi_rules saved[CFI_REMEMBER_MAX];
};

/* Executes until the location advances: 1; to the end: 0; -1 if damaged. */
int cfi_run(struct cfi_run *r, struct bytes *b);
