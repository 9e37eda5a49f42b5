/* cfi_rule.h - rules of call frame information: where registers are saved. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/cfi/abi.h"

enum rule_kind {
	RULE_UNSET, /* not mentioned: the default of the ABI */
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_OFFSET,	 /* saved in memory at CFA + v */
	RULE_VAL_OFFSET, /* value is CFA + v */
	RULE_REG,	 /* in register v */
	RULE_EXPR, /* saved in memory at the address that expression v gives */
	RULE_VAL_EXPR, /* value is that of expression v */
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
