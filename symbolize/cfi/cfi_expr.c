/* cfi_expr.c - evaluates DWARF expressions in call frame information. */
#include "symbolize/cfi/cfi_expr.h"

#include <dwarf.h>

#include "stitch/base/bytes.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/elf/dwarf_number.h"

#define DEPTH 64
/* The most steps of an expression: backward jumps can loop. */
#define STEPS_MAX 1000

struct cfi_expr_machine {
	struct bytes *code;
	const unsigned char *begin;
	const struct abi_values *v;
	const struct cfi_memory *mem;
	uint64_t stack[DEPTH];
	unsigned int n;
};

static int cfi_expr_push(struct cfi_expr_machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		return -1;
	m->stack[m->n++] = m->mem->word == 4 ? (uint32_t)v : v;
	return 0;
}

static int cfi_expr_pop(struct cfi_expr_machine *m, uint64_t *out)
{
	if (!m->n)
		return -1;
	*out = m->stack[--m->n];
	return 0;
}

static int64_t cfi_expr_signed(const struct cfi_expr_machine *m, uint64_t v)
{
	return m->mem->word == 4 ? (int32_t)v : (int64_t)v;
}

static int cfi_expr_push_reg(struct cfi_expr_machine *m, uint64_t reg)
{
	int64_t off;

	if (leb128_signed(m->code, &off) || reg >= ABI_REGS ||
	    !(m->v->have & 1ull << reg))
		return -1;
	return cfi_expr_push(m, m->v->reg[reg] + (uint64_t)off);
}

/* Executes DW_OP_const1u, const1s, const2u, ... */
static int cfi_expr_push_const(struct cfi_expr_machine *m, uint8_t op)
{
	unsigned int i = op - DW_OP_const1u;
	uint64_t v;

	return dwarf_number_fixed(m->code, 1u << i / 2, i & 1, &v)
		       ? -1
		       : cfi_expr_push(m, v);
}

static int cfi_expr_deref(struct cfi_expr_machine *m, uint8_t size)
{
	uint64_t addr;
	uint64_t v;

	if (size == 0 || size > 8 || cfi_expr_pop(m, &addr) ||
	    m->mem->read(m->mem->arg, addr, size, &v))
		return -1;
	return cfi_expr_push(m, v);
}

static int cfi_expr_jump(struct cfi_expr_machine *m)
{
	uint16_t raw;

	if (bytes_u16(m->code, &raw, NULL))
		return -1;
	int64_t to = (m->code->pos - m->begin) + (int16_t)raw;

	if (to < 0 || to > m->code->end - m->begin)
		return -1;
	m->code->pos = m->begin + to;
	return 0;
}

static int cfi_expr_binary(struct cfi_expr_machine *m, uint8_t op)
{
	uint64_t a, b;

	if (cfi_expr_pop(m, &b) || cfi_expr_pop(m, &a))
		return -1;
	int64_t x = cfi_expr_signed(m, a);
	int64_t y = cfi_expr_signed(m, b);

#define RESULT(of, value)                                                      \
	case of:                                                               \
		return cfi_expr_push(m, (uint64_t)(value))

	switch (op) {
		RESULT(DW_OP_and, a & b);
		RESULT(DW_OP_or, a | b);
		RESULT(DW_OP_xor, a ^ b);
		RESULT(DW_OP_plus, a + b);
		RESULT(DW_OP_minus, a - b);
		RESULT(DW_OP_mul, a * b);
		RESULT(DW_OP_eq, x == y);
		RESULT(DW_OP_ne, x != y);
		RESULT(DW_OP_ge, x >= y);
		RESULT(DW_OP_gt, x > y);
		RESULT(DW_OP_le, x <= y);
		RESULT(DW_OP_lt, x < y);
		RESULT(DW_OP_shl, b > 63 ? 0 : a << b);
		RESULT(DW_OP_shr, b > 63 ? 0 : a >> b);
		RESULT(DW_OP_shra, x >> (b < 63 ? b : 63));
	case DW_OP_div:
		return !y || (x == INT64_MIN && y == -1)
			       ? -1
			       : cfi_expr_push(m, (uint64_t)(x / y));
	case DW_OP_mod:
		return b ? cfi_expr_push(m, a % b) : -1;
	default:
		return -1;
	}
#undef RESULT
}

/* Executes one operation. Returns 0, or -1 if it fails or is not supported. */
static int cfi_expr_step(struct cfi_expr_machine *m, uint8_t op)
{
	uint64_t v, plus;
	int64_t s;
	uint8_t size;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return cfi_expr_push(m, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return cfi_expr_push_reg(m, op - DW_OP_breg0);
	if (op >= DW_OP_const1u && op <= DW_OP_const8s)
		return cfi_expr_push_const(m, op);
	if (op >= DW_OP_dup && op <= DW_OP_rot && op != DW_OP_drop) {
		uint64_t *st = m->stack;
		unsigned int n = m->n;
		uint8_t at = op == DW_OP_over;

		if (op == DW_OP_swap) {
			if (n < 2)
				return -1;
			uint64_t top = st[n - 1];

			st[n - 1] = st[n - 2];
			st[n - 2] = top;
			return 0;
		}
		if (op == DW_OP_rot) {
			if (n < 3)
				return -1;
			uint64_t top = st[n - 1];

			st[n - 1] = st[n - 2];
			st[n - 2] = st[n - 3];
			st[n - 3] = top;
			return 0;
		}
		if (op == DW_OP_pick && bytes_u8(m->code, &at, NULL))
			return -1;
		return at < n ? cfi_expr_push(m, st[n - 1 - at]) : -1;
	}
	if (op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not) {
		if (cfi_expr_pop(m, &v))
			return -1;
		if (op == DW_OP_abs)
			return cfi_expr_push(
				m, cfi_expr_signed(m, v) < 0 ? 0 - v : v);
		return cfi_expr_push(m, op == DW_OP_neg ? 0 - v : ~v);
	}
	if (op == DW_OP_and || op == DW_OP_div || op == DW_OP_minus ||
	    op == DW_OP_mod || op == DW_OP_mul || op == DW_OP_or ||
	    op == DW_OP_plus || (op >= DW_OP_shl && op <= DW_OP_xor) ||
	    (op >= DW_OP_eq && op <= DW_OP_ne))
		return cfi_expr_binary(m, op);
	switch (op) {
	case DW_OP_nop:
		return 0;
	case DW_OP_addr:
		return cfi_expr_push_const(
			m, m->mem->word == 4 ? DW_OP_const4u : DW_OP_const8u);
	case DW_OP_constu:
		return leb128_unsigned(m->code, &v) ? -1 : cfi_expr_push(m, v);
	case DW_OP_consts:
		return leb128_signed(m->code, &s)
			       ? -1
			       : cfi_expr_push(m, (uint64_t)s);
	case DW_OP_drop:
		return cfi_expr_pop(m, &v);
	case DW_OP_deref:
		return cfi_expr_deref(m, m->mem->word);
	case DW_OP_deref_size:
		return bytes_u8(m->code, &size, NULL) ? -1
						      : cfi_expr_deref(m, size);
	case DW_OP_plus_uconst:
		return leb128_unsigned(m->code, &plus) || cfi_expr_pop(m, &v)
			       ? -1
			       : cfi_expr_push(m, v + plus);
	case DW_OP_skip:
		return cfi_expr_jump(m);
	case DW_OP_bra:
		if (cfi_expr_pop(m, &v))
			return -1;
		return v ? cfi_expr_jump(m) : bytes_skip(m->code, 2, NULL);
	case DW_OP_bregx:
		return leb128_unsigned(m->code, &v) ? -1
						    : cfi_expr_push_reg(m, v);
	default:
		return -1;
	}
}

int cfi_value(struct bytes *code, const struct abi_values *v,
	      const struct cfi_memory *mem, const uint64_t *first,
	      uint64_t *out)
{
	struct cfi_expr_machine m = {
		.code = code, .begin = code->pos, .v = v, .mem = mem
	};
	uint8_t op;

	if (first && cfi_expr_push(&m, *first))
		return -1;
	for (int i = 0; i < STEPS_MAX; i++) {
		if (bytes_u8(code, &op, NULL))
			return cfi_expr_pop(&m, out);
		if (cfi_expr_step(&m, op))
			return -1;
	}
	return -1;
}
