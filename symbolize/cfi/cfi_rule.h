/* cfi_rule.h - how call frame information says where registers are saved. */
#ifndef SYMBOLIZE_CFI_CFI_RULE_H
#define SYMBOLIZE_CFI_CFI_RULE_H
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/cfi/abi.h"

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
#endif
