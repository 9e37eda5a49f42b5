/* unwind_bare.c - the code at an address, and steps out of code that has no
 * unwind table. */
#include <elf.h>

#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"
#include "symbolize/unwind/missing_caller.h"
#include "symbolize/unwind/stack_walk.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/unwind/unwind_state.h"

/* Nothing is mapped below (vm.mmap_min_addr), so that numbers are not code. */
#define NO_CODE_BELOW 65536
/* Where a system call of x86-64 leaves its result: rax. */
#define REG_RESULT 0

struct unwind_code unwind_code_at(struct table_unwinder *u,
				  const struct unwind_in *in, uint64_t pc)
{
	struct unwind_code c = { .m = NULL };
	struct unwind_map map;

	c.mapped = in->find(in->arg, pc, &map) && pc >= map.start && map.exec;
	c.dated = !c.mapped || map.dated;
	u->dated |= c.dated;
	c.named = c.mapped && map.code;
	if (c.named) {
		c.m = unwind_images_of_code(u->modules, map.code);
		if (c.m && in->machine && c.m->machine != in->machine)
			c.m = NULL;
		c.vaddr = pc;
		c.dated = true;
		c.proved = true;
		return c;
	}
	if (!c.mapped || !map.image)
		return c;
	if (u->ahead && !unwind_images_known(u->modules, map.image)) {
		u->stuck = c.dated = true;
		return c;
	}
	c.m = unwind_images_of(u->modules, map.image);
	c.file = unwind_images_is_file(u->modules, map.image);
	if (c.m && ((in->machine && c.m->machine != in->machine) ||
		    !elf_vaddr(c.m->seg, c.m->n_seg, pc - map.start + map.pgoff,
			       &c.vaddr)))
		c.m = NULL;
	c.proved = c.m && unwind_images_is_proved(c.m, &map);
	return c;
}

/* Returns true if an address that was found on the stack follows a call.
 * Without its bytes this cannot be checked for JIT code, which is then accepted
 * as a caller of JIT code only, or if the runtime named a function there: V8's
 * builtins are in its file, without tables, and set frame pointers. */
static bool unwind_is_called(struct table_unwinder *u,
			     const struct unwind_in *in, bool from_file,
			     uint64_t pc)
{
	struct unwind_code to = unwind_code_at(u, in, pc - 1);

	if (!to.mapped)
		return false;
	if (!to.m)
		return !from_file || to.named;
	return missing_caller_after_call(to.m, to.vaddr + 1);
}

/* Whether this is a system call after which glibc's table ends, in clone() and
 * clone3(): the child goes on there on another stack. *row: what holds up to
 * there, and for the parent after it. */
static bool unwind_at_clone(const struct unwind_code *c,
			    const struct stack_walk *w, struct unwind_row *row,
			    bool *behind)
{
	unsigned char insn[2];

	if (!w->top || !unwind_is_file(c) || c->m->machine != EM_X86_64)
		return false;
	for (unsigned int back = 0; back <= sizeof(insn);
	     back += sizeof(insn)) {
		uint64_t call = c->vaddr - back;
		const struct unwind_row *r = unwind_images_row(c->m, call - 1);

		if (!r || unwind_row_kind(r) != ROW_SP ||
		    unwind_images_read_code(c->m, call, insn, sizeof(insn)) !=
			    sizeof(insn) ||
		    insn[0] != 0x0f || insn[1] != 0x05)
			continue;
		*row = *r;
		*behind = back != 0;
		return true;
	}
	return false;
}

enum frame_code_end unwind_bare_ends(const struct unwind_code *c,
				     const struct stack_walk *w, int64_t *cfa,
				     int64_t *fp)
{
	unsigned char code[FRAME_CODE_WHOLE];

	if (!unwind_is_file(c))
		return FRAME_CODE_UNKNOWN;
	size_t n = unwind_images_read_code(c->m, c->vaddr + !w->exact, code,
					   sizeof(code));
	return frame_code_ends(c->m->machine, code, n, cfa, fp);
}

bool unwind_bare_exits(const struct unwind_code *c)
{
	unsigned char code[FRAME_CODE_EXIT];
	size_t n;

	if (!unwind_is_file(c))
		return false;
	/* c->vaddr is in the call */
	n = unwind_images_read_code(c->m, c->vaddr + 1, code, sizeof(code));
	return frame_code_exits(c->m->machine, code, n);
}

bool unwind_bare_is_top(struct table_unwinder *u, const struct unwind_in *in,
			const struct unwind_code *c, const struct stack_walk *w)
{
	struct gopclntab_depths d;
	struct elf_section from;
	struct gopclntab g;
	uint64_t pc;

	if (!unwind_is_file(c) ||
	    stack_walk_read_word(w, w->v.reg[w->abi->sp], &pc) ||
	    unwind_is_called(u, in, true, pc))
		return false;
	const struct elf_file *ef = unwind_images_file(c->m);

	return ef && gopclntab_open(ef, &g, &from) &&
	       gopclntab_around(&g, c->vaddr, &d) && d.top;
}

/* Steps out of a function without a table by its code, which says the same as a
 * table would: those of gcc's crtstuff and libc's crti.o are in each file, and
 * run when a program ends. */
static int unwind_by_code(const struct unwind_code *c, struct stack_walk *w)
{
	const int64_t word = (int64_t)w->abi->word;
	struct unwind_row row = { .how = ROW_SP, .fp = ROW_SAME, .ra = -1 };
	int64_t cfa, fp;

	if (unwind_bare_ends(c, w, &cfa, &fp) != FRAME_CODE_RETURNS ||
	    cfa > FRAME_CODE_MAX || (fp != FRAME_CODE_KEPT && fp > cfa))
		return -1;
	/* A call with nothing on the stack: it does not return, and the code
	 * after it is of the next function. */
	if (!w->exact && cfa == word)
		return -1;
	row.cfa = (int32_t)cfa;
	if (fp != FRAME_CODE_KEPT)
		row.fp = (int16_t)((fp - cfa) / word);
	return stack_walk_row(w, &row);
}

/* Steps out of the innermost function as where it has not set FP yet, or has
 * set it back: the return address is on top of the stack, or after FP, which
 * it has just saved. Returns -1 if nothing there follows a call, or one of
 * another function. */
static int unwind_from_top(struct table_unwinder *u, const struct unwind_in *in,
			   const struct unwind_code *from, struct stack_walk *w)
{
	const int64_t word = (int64_t)w->abi->word;
	struct unwind_row row = { .how = ROW_SP, .fp = ROW_SAME, .ra = -1 };
	uint64_t sp = w->v.reg[w->abi->sp];
	bool is_file = unwind_is_file(from);
	uint64_t top;

	if (!w->top || w->abi->link >= 0 || stack_walk_read_word(w, sp, &top))
		return -1;
	row.cfa = (int32_t)word;
	if (top == w->v.reg[w->abi->fp])
		row.cfa += (int32_t)word;
	if (stack_walk_row(w, &row) ||
	    !unwind_is_called(u, in, is_file, w->v.pc))
		return -1;
	struct unwind_code to = unwind_code_at(u, in, w->v.pc - 1);

	return is_file && to.m == from->m &&
			       !missing_caller_may_enter(to.m, to.vaddr + 1,
							 from->vaddr)
		       ? -1
		       : 0;
}

/* Returns whether a step along FP may have skipped a caller: the call of the
 * function that set no FP has left a return address in between. Data may look
 * like one. */
static bool unwind_may_skip(struct table_unwinder *u,
			    const struct unwind_in *in,
			    const struct stack_walk *w)
{
	uint64_t to = w->v.reg[w->abi->fp];
	uint64_t at = w->v.reg[w->abi->sp];
	uint64_t pc;

	if (w->top && w->abi->link >= 0)
		return true;
	for (; at < to && !stack_walk_read_word(w, at, &pc);
	     at += w->abi->word) {
		if (pc - w->low >= bytes_left(&w->dump) &&
		    pc >= NO_CODE_BELOW && unwind_is_called(u, in, false, pc))
			return true;
	}
	return false;
}

int unwind_bare_step(struct table_unwinder *u, const struct unwind_in *in,
		     const struct unwind_step_at *p, struct stack_walk *w,
		     struct unwind_out *out)
{
	struct stack_walk next = *w;
	struct unwind_code from = unwind_code_at(u, in, p->pc);
	struct unwind_row row;
	bool behind;

	if (unwind_at_clone(&from, w, &row, &behind)) {
		bool known = w->v.have >> REG_RESULT & 1;

		if (!behind || (known && w->v.reg[REG_RESULT]))
			return stack_walk_row(w, &row);
		/* The result is 0 in the child, which nothing has called. */
		w->end = known ? UNWIND_OUTERMOST : UNWIND_NO_TABLE;
		return -1;
	}
	/* glibc's table of __start_context begins there, after the address. */
	/* The kernel clears all registers, and this code does not use FP. */
	if ((unwind_is_file(&from) && from.m->entry &&
	     from.vaddr >= from.m->entry &&
	     from.vaddr - from.m->entry < UNWIND_ENTRY_MAX &&
	     !unwind_images_row(from.m, from.m->entry) &&
	     w->v.have >> w->abi->fp & 1 && !w->v.reg[w->abi->fp]) ||
	    (!w->top && (unwind_bare_exits(&from) ||
			 (unwind_is_file(&from) && !w->exact &&
			  missing_caller_starts(from.m, from.vaddr + 1))))) {
		w->end = UNWIND_OUTERMOST;
		return -1;
	}
	w->end = unwind_row_kind(&p->row) == ROW_NO_FILE ? UNWIND_NO_FILE
							 : UNWIND_NO_TABLE;
	if (!unwind_by_code(&from, &next) &&
	    unwind_is_called(u, in, true, next.v.pc)) {
		*w = next;
		return 0;
	}
	next = *w;
	if (!unwind_from_top(u, in, &from, &next)) {
		out->unproved = true;
	} else {
		next = *w;
		if (stack_walk_pointer(&next)) {
			/* Zeros mark the end only after other frame-pointer
			 * steps; otherwise they are arbitrary data. */
			if (next.end == UNWIND_OUTERMOST &&
			    out->guessed != UINT32_MAX)
				w->end = next.end;
			return -1;
		}
		if (!unwind_is_called(u, in, unwind_is_file(&from), next.v.pc))
			return -1;
		out->unproved |= unwind_may_skip(u, in, w);
	}
	*w = next;
	if (out->guessed == UINT32_MAX)
		out->guessed = out->n;
	return 0;
}
