/* cfi_rows.c - converts call frame information to a table of rows. */
#include "symbolize/cfi/cfi_rows.h"

#include <dwarf.h>
#include <elf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_run.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/cfi/unwind_rows.h"

#define X86_64_R10 10

/* Matches expressions that are register + off, or the memory there (*deref). */
static bool cfi_rows_simple_expr(const struct cfi *c, int64_t v, uint8_t *reg,
				 int64_t *off, bool *deref)
{
	struct bytes b;
	uint8_t op;

	*deref = false;
	if (cfi_expr(c, v, &b) || bytes_u8(&b, &op, NULL) || op < DW_OP_breg0 ||
	    op > DW_OP_breg31 || leb128_signed(&b, off) || *off > INT32_MAX ||
	    *off < INT32_MIN)
		return false;
	*reg = (uint8_t)(op - DW_OP_breg0);
	if (!bytes_left(&b))
		return true;
	*deref = true;
	return !bytes_u8(&b, &op, NULL) && op == DW_OP_deref && !bytes_left(&b);
}

/* Matches the expression ld writes for lazy PLTs, whose entries are 16 bytes:
 * SP + word + ((pc & 15) >= N ? word : 0). */
static bool cfi_rows_plt_expr(const struct cfi *c, int64_t v, int64_t *n)
{
	const uint8_t wide = c->abi->word == 8;
	const uint8_t want[] = {
		(uint8_t)(DW_OP_breg0 + c->abi->sp),
		c->abi->word,
		(uint8_t)(DW_OP_breg0 + c->abi->ra),
		0,
		DW_OP_lit15,
		DW_OP_and,
		DW_OP_lit0, /* N */
		DW_OP_ge,
		(uint8_t)(wide ? DW_OP_lit3 : DW_OP_lit2),
		DW_OP_shl,
		DW_OP_plus,
	};
	struct bytes b;

	if (cfi_expr(c, v, &b) || bytes_left(&b) != sizeof(want))
		return false;
	*n = b.pos[6] - DW_OP_lit0;
	return *n >= 0 && *n < 16 && !memcmp(b.pos, want, 6) &&
	       !memcmp(b.pos + 7, want + 7, 4);
}

static bool cfi_rows_saved_at_sp(const struct cfi *c, const struct cfi_rule *r,
				 int64_t off)
{
	uint8_t reg;
	int64_t v;
	bool deref;

	return r->kind == RULE_EXPR &&
	       cfi_rows_simple_expr(c, r->v, &reg, &v, &deref) &&
	       reg == c->abi->sp && v == off && !deref;
}

static enum row_kind cfi_rows_cfa_kind(const struct cfi *c,
				       const struct cfi_rules *r, int64_t *cfa)
{
	uint8_t reg;
	bool deref = false;

	*cfa = r->cfa.v;
	if (r->cfa.kind == RULE_REG) {
		reg = r->cfa_reg;
	} else if (r->cfa.kind != RULE_EXPR) {
		return ROW_COMPLEX;
	} else if (!cfi_rows_simple_expr(c, r->cfa.v, &reg, cfa, &deref)) {
		return cfi_rows_plt_expr(c, r->cfa.v, cfa) ? ROW_PLT
							   : ROW_COMPLEX;
	}
	if (reg == c->abi->sp)
		return deref ? ROW_SP_DEREF : ROW_SP;
	if (reg == c->abi->fp)
		return deref ? ROW_FP_DEREF : ROW_FP;
	if (reg == X86_64_R10 && c->abi->machine == EM_X86_64 && !deref)
		return ROW_DRAP;
	return ROW_COMPLEX;
}

/* Returns false if a row cannot express the rule. */
static bool cfi_rows_place(const struct cfi *c, const struct cfi_rule *r,
			   struct place_rule *out)
{
	int64_t off = r->v;
	uint8_t reg;
	bool deref;

	switch ((enum rule_kind)r->kind) {
	case RULE_UNSET:
	case RULE_SAME:
		out->kind = PLACE_SAME;
		return true;
	case RULE_UNDEFINED:
		out->kind = PLACE_UNDEFINED;
		return true;
	case RULE_OFFSET:
		out->kind = PLACE_CFA;
		break;
	case RULE_REG:
		out->kind = PLACE_REG;
		break;
	case RULE_EXPR:
		if (!cfi_rows_simple_expr(c, r->v, &reg, &off, &deref) ||
		    deref || (reg != c->abi->fp && reg != c->abi->sp))
			return false;
		out->kind = reg == c->abi->fp ? PLACE_FP : PLACE_SP;
		break;
	default:
		return false;
	}
	out->off = (int32_t)off;
	return off >= INT32_MIN && off <= INT32_MAX;
}

/* Returns true if SP after the step is the CFA. On s390x SP may be saved in the
 * frame, where the same value is found. */
static bool cfi_rows_sp_is_cfa(const struct cfi *c, const struct cfi_rules *r)
{
	const struct cfi_rule *sp = &r->reg[c->abi->sp];

	if (c->abi->sp_below)
		return sp->kind != RULE_EXPR && sp->kind != RULE_VAL_EXPR &&
		       sp->kind != RULE_UNDEFINED;
	return sp->kind == RULE_UNSET ||
	       (sp->kind == RULE_VAL_OFFSET && !sp->v);
}

static void cfi_rows_convert(const struct cfi *c, const struct cfi_rules *r,
			     struct unwind_rule *out)
{
	const struct cfi_rule *ra = &r->reg[r->ra];

	*out = (struct unwind_rule){ .kind = ROW_COMPLEX };
	if (r->interrupted)
		out->flags |= ROW_INTERRUPTED;
	if (r->is_signed)
		out->flags |= ROW_SIGNED;
	if (ra->kind == RULE_UNDEFINED) {
		out->kind = ROW_OUTERMOST;
		return;
	}
	/* Matches glibc's __restore_rt: all registers are where the kernel
	 * saved them. */
	const struct abi_signal *s = &c->abi->signal[0];
	uint8_t reg;
	int64_t off;
	bool deref;
	if (c->abi->machine == EM_X86_64 && r->interrupted &&
	    r->cfa.kind == RULE_EXPR &&
	    cfi_rows_simple_expr(c, r->cfa.v, &reg, &off, &deref) && deref &&
	    reg == c->abi->sp && off == s->sp &&
	    cfi_rows_saved_at_sp(c, &r->reg[c->abi->fp], s->fp) &&
	    cfi_rows_saved_at_sp(c, &r->reg[c->abi->ra], s->pc)) {
		out->kind = ROW_SIGNAL;
		return;
	}
	if (r->ra != c->abi->ra || !cfi_rows_sp_is_cfa(c, r) ||
	    (c->abi->sp_below && r->interrupted) ||
	    !cfi_rows_place(c, &r->reg[c->abi->fp], &out->fp) ||
	    !cfi_rows_place(c, ra, &out->ra))
		return;
	if (c->abi->link < 0 && ra->kind == RULE_UNSET)
		out->ra = (struct place_rule){ PLACE_CFA, -c->abi->word };
	else if (c->abi->link < 0 && out->ra.kind == PLACE_SAME)
		return;
	out->kind = cfi_rows_cfa_kind(c, r, &out->cfa);
}

/* Adds the rows of a function. A gap begins where the rest of it is damaged. */
static void cfi_rows_add(const struct cfi *c, const struct cfi_fde *f,
			 struct unwind_rows *rows)
{
	const struct unwind_rule gap = { .kind = ROW_GAP };
	struct unwind_rule rule;
	struct cfi_run r;
	struct bytes b;
	int ret = 1;

	if (cfi_begin(c, f, &r, &b))
		return;
	r.changed = true;
	unwind_rows_begin(rows, f->start, f->end);
	while (ret > 0 && r.loc < f->end) {
		uint64_t from = r.loc;

		ret = cfi_run(&r, &b);
		if (ret < 0) {
			unwind_rows_add(rows, from, &gap);
		} else if (r.changed) {
			cfi_rows_convert(c, &r.now, &rule);
			unwind_rows_add(rows, from, &rule);
		}
		r.changed = r.loc <= from;
	}
	unwind_rows_end(rows);
}

struct unwind_rows *cfi_rows(const struct cfi *c, size_t first, size_t step)
{
	struct unwind_rows *rows = unwind_rows_new(c->abi->word);

	for (size_t i = first; i < c->n; i += step)
		cfi_rows_add(c, &c->fde[i], rows);
	unwind_rows_finish(rows);
	return rows;
}

struct function_rows *function_rows_new(const struct cfi *c)
{
	struct function_rows *t = mem_new(1, sizeof(*t));

	t->c = c;
	t->n = cfi_functions(c);
	if (t->n)
		t->of = mem_new(t->n, sizeof(*t->of));
	return t;
}

void function_rows_free(struct function_rows *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		unwind_rows_free(t->of[i]);
	free_all(t->of, t);
}

const struct unwind_row *function_rows_find(struct function_rows *t,
					    uint64_t addr)
{
	const struct cfi_fde *f = cfi_find_fde(t->c, addr);

	if (!f)
		return NULL;
	size_t i = (size_t)(f - t->c->fde);

	if (!t->of[i]) {
		t->of[i] = cfi_rows(t->c, i, t->n);
		t->rows += unwind_rows_count(t->of[i]);
	}
	return unwind_rows_find(t->of[i], addr);
}
