/* stack_walk.c - steps from one frame of a stack dump to its caller. */
#include "symbolize/unwind/stack_walk.h"

#include <elf.h>
#include <string.h>

#include "stitch/audit/callsite.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_expr.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/cfi/unwind_rows.h"

#define X86_64_R10 10
/* Addresses farther away belong to another stack. */
#define STACK_MAX ((uint64_t)1 << 30)

static bool stack_walk_has(const struct stack_walk *w, unsigned int reg)
{
	return w->v.have >> reg & 1;
}

void stack_walk_start(struct stack_walk *w, const struct abi *abi,
		      const struct unwind_in *in)
{
	w->abi = abi;
	abi_values(abi, in->regs, &w->v);
	if (!w->v.pc)
		w->v.pc = in->pc;
	w->low = w->v.reg[abi->sp];
	bytes_init(&w->dump, in->stack,
		   in->stack && stack_walk_has(w, abi->sp) ? in->len : 0, "", 0,
		   in->swap);
	w->user_mask = abi->word == 4 ? UINT32_MAX : in->user_mask;
	w->exact = true;
	w->top = true;
	w->end = UNWIND_BAD;
}

static int stack_walk_fail(struct stack_walk *w, enum unwind_end end)
{
	w->end = end;
	return -1;
}

/* Returns the reason why the memory at addr could not be read. */
static enum unwind_end stack_walk_why_unread(const struct stack_walk *w,
					     uint64_t addr)
{
	uint64_t end = w->low + bytes_left(&w->dump);

	if (end == w->low)
		return UNWIND_EMPTY;
	if (addr + w->abi->word <= end || addr - w->low >= STACK_MAX)
		return UNWIND_FOREIGN;
	return addr + w->abi->word - w->low > DUMP_LARGEST ? UNWIND_UNREAD
							   : UNWIND_TRUNCATED;
}

static int stack_walk_need_word(struct stack_walk *w, uint64_t addr,
				uint64_t *out)
{
	return stack_walk_read_word(w, addr, out)
		       ? stack_walk_fail(w, stack_walk_why_unread(w, addr))
		       : 0;
}

static uint64_t stack_walk_address(const struct stack_walk *w, uint64_t v)
{
	return w->abi->word == 4 ? (uint32_t)v : v;
}

/* Moves to the caller after the other registers were set. Its SP must be above
 * the current one; they may be equal only for a function without a frame. */
static int stack_walk_to_caller(struct stack_walk *w, uint64_t pc, uint64_t sp,
				bool interrupted)
{
	uint64_t was = w->v.reg[w->abi->sp];

	pc &= w->user_mask;
	if (!pc)
		return stack_walk_fail(w, UNWIND_OUTERMOST);
	if (w->top ? sp < was : sp <= was)
		return stack_walk_fail(w, UNWIND_LOOP);
	w->v.pc = pc;
	w->v.reg[w->abi->sp] = sp;
	w->exact = interrupted;
	w->top = interrupted;
	return 0;
}

/* Computes the CFA by a row. Returns 0, or -1 with w->end. */
static int stack_walk_row_cfa(struct stack_walk *w,
			      const struct unwind_row *row, uint64_t *cfa)
{
	uint64_t sp = w->v.reg[w->abi->sp];
	uint64_t fp = w->v.reg[w->abi->fp];
	uint64_t off = (uint64_t)(int64_t)row->cfa;
	enum row_kind kind = unwind_row_kind(row);

	if ((kind == ROW_FP || kind == ROW_FP_DEREF) &&
	    !stack_walk_has(w, w->abi->fp))
		return stack_walk_fail(w, UNWIND_COMPLEX);
	switch (kind) {
	case ROW_SP:
		*cfa = stack_walk_address(w, sp + off);
		return 0;
	case ROW_FP:
		*cfa = stack_walk_address(w, fp + off);
		return 0;
	case ROW_SP_DEREF:
		return stack_walk_need_word(w, stack_walk_address(w, sp + off),
					    cfa);
	case ROW_FP_DEREF:
		return stack_walk_need_word(w, stack_walk_address(w, fp + off),
					    cfa);
	case ROW_DRAP:
		if (!w->top || !stack_walk_has(w, X86_64_R10))
			return stack_walk_fail(w, UNWIND_COMPLEX);
		*cfa = w->v.reg[X86_64_R10] + off;
		return 0;
	case ROW_PLT:
		*cfa = stack_walk_address(w, sp + w->abi->word);
		if ((int64_t)(w->v.pc & 15) >= row->cfa)
			*cfa += w->abi->word;
		return 0;
	default:
		return stack_walk_fail(w, UNWIND_COMPLEX);
	}
}

/* Returns the memory address of a PLACE_CFA, PLACE_FP or PLACE_SP. */
static uint64_t stack_walk_place_addr(const struct stack_walk *w,
				      const struct place_rule *p, uint64_t cfa)
{
	uint64_t from = cfa;

	if (p->kind == PLACE_FP)
		from = w->v.reg[w->abi->fp];
	else if (p->kind == PLACE_SP)
		from = w->v.reg[w->abi->sp];
	return stack_walk_address(w, from + (uint64_t)(int64_t)p->off);
}

/* Finds the return address by a row. Returns 0, or -1 with w->end. */
static int stack_walk_row_ra(struct stack_walk *w, const struct unwind_row *row,
			     uint64_t cfa, uint64_t *pc)
{
	/* the usual case */
	if (__builtin_expect(row->ra <= ROW_CFA_MAX, 1)) {
		w->ra_at = stack_walk_address(
			w, cfa + (uint64_t)(row->ra * w->abi->word));
		return stack_walk_need_word(w, w->ra_at, pc);
	}
	struct place_rule p = unwind_row_place(row->ra, w->abi->word);
	unsigned int reg = (unsigned int)p.off;

	if (p.kind == PLACE_UNDEFINED)
		return stack_walk_fail(w, UNWIND_OUTERMOST);
	if (p.kind != PLACE_SAME && p.kind != PLACE_REG)
		return stack_walk_need_word(
			w, stack_walk_place_addr(w, &p, cfa), pc);
	if (p.kind == PLACE_SAME && w->abi->link < 0)
		return stack_walk_fail(w, UNWIND_BAD);
	if (p.kind == PLACE_SAME)
		reg = (unsigned int)w->abi->link;
	/* After a call the register holds a return address in this function. */
	if (!w->top)
		return stack_walk_fail(
			w, p.kind == PLACE_SAME ? UNWIND_BAD : UNWIND_COMPLEX);
	if (reg >= ABI_REGS || !stack_walk_has(w, reg))
		return stack_walk_fail(w, UNWIND_COMPLEX);
	*pc = w->v.reg[reg];
	return 0;
}

/* Restores the caller's FP, which becomes unknown if it cannot be read. After
 * the pop in an epilogue tables may still have it on the stack (GCC, SFrame).
 * That place is below SP, and the register is right; libdw stops there. */
static void stack_walk_row_fp(struct stack_walk *w,
			      const struct unwind_row *row, uint64_t cfa)
{
	if (row->fp == ROW_SAME)
		return;
	struct place_rule p = unwind_row_place(row->fp, w->abi->word);
	uint64_t bit = 1ull << w->abi->fp;
	unsigned int reg = (unsigned int)p.off;
	uint64_t addr;

	if (p.kind == PLACE_UNDEFINED) {
		w->v.have &= ~bit;
	} else if (p.kind == PLACE_REG) {
		if (w->top && reg < ABI_REGS && stack_walk_has(w, reg))
			w->v.reg[w->abi->fp] = w->v.reg[reg];
		else
			w->v.have &= ~bit;
	} else {
		addr = stack_walk_place_addr(w, &p, cfa);
		if (w->top && addr < w->v.reg[w->abi->sp])
			return;
		w->fp_at = addr;
		if (stack_walk_read_word(w, addr, &w->v.reg[w->abi->fp])) {
			w->v.have &= ~bit;
			w->ra_at = 0;
		} else {
			w->v.have |= bit;
		}
	}
}

int stack_walk_row(struct stack_walk *w, const struct unwind_row *row)
{
	uint64_t cfa, pc;

	w->ra_at = w->fp_at = 0;
	if (unwind_row_kind(row) == ROW_OUTERMOST)
		return stack_walk_fail(w, UNWIND_OUTERMOST);
	if (unwind_row_kind(row) == ROW_SIGNAL) {
		const struct abi_signal *s = &w->abi->signal[row->cfa == 1];
		uint64_t sp = w->v.reg[w->abi->sp];

		uint64_t link = 0;

		if (!s->pc)
			return stack_walk_fail(w, UNWIND_COMPLEX);
		if (stack_walk_need_word(w, sp + s->pc, &pc) ||
		    stack_walk_need_word(w, sp + s->fp,
					 &w->v.reg[w->abi->fp]) ||
		    (s->link && stack_walk_need_word(w, sp + s->link, &link)) ||
		    stack_walk_need_word(w, sp + s->sp, &w->v.reg[w->abi->sp]))
			return -1;
		w->v.have = 1ull << w->abi->sp | 1ull << w->abi->fp;
		if (s->link) {
			w->v.reg[w->abi->link] = link;
			w->v.have |= 1ull << w->abi->link;
		}
		/* A handler may run on another stack, above or below. */
		w->top = true;
		return stack_walk_to_caller(w, pc, w->v.reg[w->abi->sp], true);
	}
	if (stack_walk_row_cfa(w, row, &cfa) ||
	    stack_walk_row_ra(w, row, cfa, &pc))
		return -1;
	stack_walk_row_fp(w, row, cfa);
	/* the CFA was read from memory, so the step depends on more words */
	if (unwind_row_kind(row) > ROW_FP)
		w->ra_at = 0;
	w->v.have &= 1ull << w->abi->sp | 1ull << w->abi->fp;
	return stack_walk_to_caller(w, pc, cfa - w->abi->sp_below,
				    row->how & ROW_INTERRUPTED);
}

/* Callback for struct cfi_memory. */
static int stack_walk_read_sized(void *arg, uint64_t addr, uint8_t size,
				 uint64_t *out)
{
	struct stack_walk *w = arg;
	struct bytes b = w->dump;

	if (!bytes_skip(&b, addr - w->low, NULL) &&
	    !dwarf_number_fixed(&b, size, false, out))
		return 0;
	return stack_walk_fail(w, stack_walk_why_unread(w, addr));
}

/* Computes a register of the caller. Returns -1 if it is unknown. */
static int stack_walk_rule_value(struct stack_walk *w, const struct cfi *c,
				 const struct cfi_rule *r, unsigned int reg,
				 uint64_t cfa, uint64_t *out)
{
	const struct cfi_memory mem = { stack_walk_read_sized, w,
					w->abi->word };
	enum rule_kind kind = (enum rule_kind)r->kind;
	uint64_t addr = stack_walk_address(w, cfa + (uint64_t)(int64_t)r->v);
	struct bytes code;

	switch (kind) {
	case RULE_UNSET:
	case RULE_SAME:
		*out = w->v.reg[reg];
		return stack_walk_has(w, reg) ? 0 : -1;
	case RULE_VAL_OFFSET:
		*out = addr;
		return 0;
	case RULE_REG:
		reg = (unsigned int)r->v;
		if (r->v < 0 || r->v >= ABI_REGS || !stack_walk_has(w, reg))
			return -1;
		*out = w->v.reg[reg];
		return 0;
	case RULE_OFFSET:
		break;
	case RULE_EXPR:
	case RULE_VAL_EXPR:
		if (cfi_expr(c, r->v, &code) ||
		    cfi_value(&code, &w->v, &mem, &cfa, &addr))
			return -1;
		*out = addr;
		if (kind == RULE_VAL_EXPR)
			return 0;
		break;
	default:
		return -1;
	}
	/* see stack_walk_row_fp() */
	if (w->top && addr < w->v.reg[w->abi->sp] && stack_walk_has(w, reg)) {
		*out = w->v.reg[reg];
		return 0;
	}
	return stack_walk_need_word(w, addr, out);
}

int stack_walk_rules(struct stack_walk *w, const struct unwind_image *m,
		     uint64_t vaddr)
{
	const struct abi *abi = w->abi;
	const struct cfi_memory mem = { stack_walk_read_sized, w, abi->word };
	struct abi_values next = { .have = 0 };
	const struct cfi *c = NULL;
	struct cfi_rules r;
	struct bytes code;
	uint64_t cfa;

	for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES && !c; i++)
		if (m->cfi[i] && cfi_rules(m->cfi[i], vaddr, &r))
			c = m->cfi[i];
	if (!c)
		return stack_walk_fail(w, UNWIND_NO_TABLE);
	if (abi->link < 0)
		w->v.reg[abi->ra] = w->v.pc;
	w->v.have |= abi->link < 0 ? 1ull << abi->ra : 0;
	if (r.reg[r.ra].kind == RULE_UNDEFINED)
		return stack_walk_fail(w, UNWIND_OUTERMOST);
	if (r.cfa.kind == RULE_REG && stack_walk_has(w, r.cfa_reg)) {
		cfa = stack_walk_address(w, w->v.reg[r.cfa_reg] +
						    (uint64_t)(int64_t)r.cfa.v);
	} else {
		w->end = UNWIND_COMPLEX;
		if (r.cfa.kind != RULE_EXPR || cfi_expr(c, r.cfa.v, &code) ||
		    cfi_value(&code, &w->v, &mem, NULL, &cfa))
			return -1;
	}
	if (r.reg[abi->sp].kind == RULE_UNSET ||
	    (abi->sp_below && !r.interrupted))
		r.reg[abi->sp] = (struct cfi_rule){ .v = -abi->sp_below,
						    .kind = RULE_VAL_OFFSET };
	if (abi->link < 0 && r.reg[abi->ra].kind == RULE_UNSET)
		r.reg[abi->ra] = (struct cfi_rule){ .v = -abi->word,
						    .kind = RULE_OFFSET };
	for (unsigned int i = 0; i < abi->n_reg; i++)
		if (i != r.ra && !stack_walk_rule_value(w, c, &r.reg[i], i, cfa,
							&next.reg[i]))
			next.have |= 1ull << i;
	w->end = UNWIND_COMPLEX;
	if (!w->top && abi->link >= 0 && r.reg[r.ra].kind <= RULE_SAME)
		return stack_walk_fail(w, UNWIND_BAD);
	if (stack_walk_rule_value(w, c, &r.reg[r.ra], r.ra, cfa, &next.pc))
		return -1;
	if (!(next.have >> abi->sp & 1))
		return stack_walk_fail(w, UNWIND_COMPLEX);
	uint64_t sp = next.reg[abi->sp];

	next.reg[abi->sp] = w->v.reg[abi->sp];
	w->v = next;
	w->top |= r.interrupted;
	return stack_walk_to_caller(w, next.pc, sp, r.interrupted);
}

int stack_walk_link(struct stack_walk *w)
{
	unsigned int link = (unsigned int)w->abi->link;

	if (w->abi->link < 0 || !w->top || !stack_walk_has(w, link))
		return stack_walk_fail(w, UNWIND_NO_TABLE);
	w->v.have &= ~(1ull << link);
	return stack_walk_to_caller(w, w->v.reg[link], w->v.reg[w->abi->sp],
				    false);
}

int stack_walk_pointer(struct stack_walk *w)
{
	uint64_t fp = w->v.reg[w->abi->fp];
	uint64_t word = w->abi->word;
	uint64_t pc, up;

	/* s390x has a back chain instead, and only with -mbackchain. */
	if (w->abi->machine == EM_S390 || !stack_walk_has(w, w->abi->fp) ||
	    fp % word || fp < w->v.reg[w->abi->sp] ||
	    stack_walk_read_word(w, fp, &up) ||
	    stack_walk_read_word(w, fp + word, &pc))
		return stack_walk_fail(w, UNWIND_NO_TABLE);
	/* Frame pointers increase towards the outermost frame, where FP is
	 * 0. */
	if (up && up <= fp)
		return stack_walk_fail(w, UNWIND_NO_TABLE);
	w->v.reg[w->abi->fp] = up;
	w->v.have &= 1ull << w->abi->sp | 1ull << w->abi->fp;
	return stack_walk_to_caller(w, pc, fp + 2 * word, false);
}

/* fetching all return addresses at once halves the time of a walk: each is in
 * another cache line of a dump that has not been touched yet */
void stack_trail_begin(struct stack_trail *t, const struct stack_walk *w,
		       uint64_t epoch)
{
	for (uint32_t i = 0; i < t->n[t->own]; i++)
		bytes_prefetch(&w->dump,
			       t->frame[t->own][i].sp - w->abi->word - w->low);
	t->at = epoch && t->epoch == epoch && t->abi == w->abi ? 0
							       : t->n[t->own];
	t->epoch = epoch;
	t->abi = w->abi;
	t->own ^= 1;
	t->n[t->own] = 0;
}

/* Returns whether the words that led from a frame to the next one are
 * unchanged. */
static bool stack_trail_leads(const struct stack_walk *w,
			      const struct stack_trail_frame *from,
			      const struct stack_trail_frame *to)
{
	uint64_t pc, fp;

	return from->ra_at && !stack_walk_read_word(w, from->ra_at, &pc) &&
	       (pc & w->user_mask) == to->pc &&
	       (!from->fp_at ||
		(!stack_walk_read_word(w, from->fp_at, &fp) && fp == to->fp));
}

void stack_trail_follow(struct stack_trail *t, struct stack_walk *w,
			struct unwind_out *out)
{
	const struct stack_trail_frame *f = t->frame[!t->own];
	uint32_t n = t->n[!t->own];
	uint32_t *n_own = &t->n[t->own];
	uint32_t room = STACK_TRAIL_MAX - 1 - *n_own;
	uint64_t sp = w->v.reg[w->abi->sp];
	uint32_t from = t->at;

	while (from < n && f[from].sp < sp)
		from++;
	t->at = from;
	if (from == n || f[from].pc != w->v.pc ||
	    f[from].sp != w->v.reg[w->abi->sp] ||
	    f[from].fp != w->v.reg[w->abi->fp] ||
	    f[from].has_fp != (w->v.have >> w->abi->fp & 1))
		return;
	room = room < out->max - out->n ? room : out->max - out->n;
	n = n - 1 - from < room ? n - 1 : from + room;
	uint32_t to = from;

	for (; to < n && stack_trail_leads(w, &f[to], &f[to + 1]); to++)
		/* return addresses are given as inside the call */
		out->ip[out->n++] = f[to].pc - 1;
	if (to == from)
		return;
	memcpy(&t->frame[t->own][*n_own], &f[from], (to - from) * sizeof(*f));
	*n_own += to - from;
	t->at = to;
	w->v.pc = f[to].pc;
	w->v.reg[w->abi->sp] = f[to].sp;
	w->v.reg[w->abi->fp] = f[to].fp;
	w->v.have &= ~(1ull << w->abi->fp);
	w->v.have |= (uint64_t)f[to].has_fp << w->abi->fp;
}
