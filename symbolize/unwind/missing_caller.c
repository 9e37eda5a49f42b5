/* missing_caller.c - infers the caller that a frame-pointer chain skips. */
#include "symbolize/unwind/missing_caller.h"

#include <elf.h>
#include <string.h>

#include "symbolize/disasm/call_insn.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/cfi/unwind_rows.h"

/* The largest function of cc1 has 250 KiB. */
#define FUNCTION_MAX (1u << 20)
/* Functions that follow each other in tail position. */
#define JUMPS 3
#define CHUNK 4096
#define FUNCTIONS_READ 512
#define FUNCTIONS_ROWS 4096
#define PLT_ENTRY 16 /* of .plt and .plt.sec */

struct function_range {
	uint64_t start, end;
};

static bool missing_caller_function(const struct unwind_image *m,
				    uint64_t vaddr, struct function_range *out)
{
	return any_where(UNWIND_IMAGE_TABLES, i,
			 m->cfi[i] && cfi_function(m->cfi[i], vaddr,
						   &out->start, &out->end));
}

/* Returns whether the code from f->start up to f->end sets FP. */
static bool missing_caller_sets_in(struct unwind_image *m,
				   const struct function_range *f)
{
	unsigned char code[FRAME_CODE_PROLOGUE];
	size_t n = f->end - f->start < sizeof(code)
			   ? (size_t)(f->end - f->start)
			   : sizeof(code);

	return frame_code_sets(m->machine, code,
			       unwind_images_read_code(m, f->start, code, n));
}

/* Returns whether FP is that of the function, by its instructions. If the table
 * of AArch64 has FP as saved, only the rest of the prologue is read. */
static bool missing_caller_read_fp(struct unwind_image *m, uint64_t vaddr,
				   bool saved)
{
	unsigned char code[FRAME_CODE_PROLOGUE];
	struct function_range f;

	if (m->machine != EM_X86_64 && m->machine != EM_AARCH64)
		return false;
	if (!saved) {
		if (!missing_caller_function(m, vaddr, &f))
			return false;
		f.end = vaddr;
		if (!missing_caller_sets_in(m, &f))
			return false;
	}
	size_t n = unwind_images_read_code(m, vaddr, code, FRAME_CODE_EPILOGUE);
	return saved ? !frame_code_sets(m->machine, code, n)
		     : !frame_code_leaves(m->machine, code, n);
}

bool missing_caller_sets_fp(struct unwind_image *m, uint64_t vaddr,
			    const struct unwind_row *row)
{
	enum row_kind kind = unwind_row_kind(row);

	if (kind == ROW_FP || kind == ROW_FP_DEREF)
		return true;
	if (kind != ROW_SP)
		return false;
	if (m->machine == EM_AARCH64)
		return row->ra <= ROW_CFA_MAX &&
		       missing_caller_read_fp(m, vaddr, row->fp <= ROW_CFA_MAX);
	return row->cfa > 8 && missing_caller_read_fp(m, vaddr, false);
}

static enum call_kind missing_caller_decode(struct unwind_image *m,
					    uint64_t vaddr, uint64_t *target)
{
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	size_t n = sizeof(code);

	*target = 0;
	if (vaddr < CALL_BEFORE)
		return CALL_NONE;
	n = unwind_images_read_code(m, vaddr - CALL_BEFORE, code, n);
	if (n < CALL_BEFORE)
		return CALL_NONE;
	return call_insn_before(m->machine, m->big, code, CALL_BEFORE,
				n - CALL_BEFORE, vaddr, target);
}

/* Finds the call before an address, and its target. */
static enum call_kind missing_caller_call_at(struct unwind_image *m,
					     uint64_t vaddr, uint64_t *target)
{
	if (m->code) /* the process may write other code there */
		return missing_caller_decode(m, vaddr, target);
	struct known_call *c = &m->set->call[unwind_images_place(m, vaddr)];

	if (c->m != m || c->vaddr != vaddr) {
		*c = (struct known_call){ .m = m, .vaddr = vaddr };
		c->kind = (int)missing_caller_decode(m, vaddr, &c->target);
	}
	*target = c->target;
	return (enum call_kind)c->kind;
}

bool missing_caller_after_call(struct unwind_image *m, uint64_t vaddr)
{
	uint64_t target;
	enum call_kind kind = missing_caller_call_at(m, vaddr, &target);

	return kind == CALL_DIRECT || kind == CALL_INDIRECT ||
	       kind == CALL_START;
}

bool missing_caller_starts(struct unwind_image *m, uint64_t vaddr)
{
	uint64_t target;

	return missing_caller_call_at(m, vaddr, &target) == CALL_START;
}

/* Returns true if the instruction that precedes `calls` direct calls before an
 * ELF address moves FP below SP. */
static bool missing_caller_moves_fp(struct unwind_image *m, uint64_t vaddr,
				    unsigned int calls)
{
	/* lea -16(%rsp),%rbp; sub x29, sp, #24 */
	static const unsigned char x86[] = { 0x48, 0x8d, 0x6c, 0x24, 0xf0 };
	static const unsigned char a64[] = { 0xfd, 0x63, 0x00, 0xd1 };
	bool is_x86 = m->machine == EM_X86_64;
	size_t n = is_x86 ? sizeof(x86) : sizeof(a64); /* and of a call */
	unsigned char code[sizeof(x86)];

	if (!is_x86 && m->machine != EM_AARCH64)
		return false;
	return vaddr >= n * (calls + 1) &&
	       unwind_images_read_code(m, vaddr - n * (calls + 1), code, n) ==
		       n &&
	       !memcmp(code, is_x86 ? x86 : a64, n);
}

bool missing_caller_framed_by_call(struct unwind_image *m, uint64_t ret,
				   uint64_t in)
{
	struct function_range f;
	uint64_t target;

	return missing_caller_call_at(m, ret, &target) == CALL_DIRECT &&
	       missing_caller_function(m, in, &f) && target >= f.start &&
	       target < f.end && missing_caller_moves_fp(m, ret, 1);
}

bool missing_caller_fp_is_low(struct unwind_image *m, uint64_t vaddr)
{
	uint64_t target;

	return missing_caller_moves_fp(m, vaddr, 0) ||
	       (missing_caller_moves_fp(m, vaddr, 1) &&
		missing_caller_call_at(m, vaddr, &target) == CALL_DIRECT);
}

/* Returns true if FP is that of the function, by the row. Tables of AArch64
 * count from SP even then, so both FP and RA must be saved. */
static bool missing_caller_has_frame(const struct unwind_image *m,
				     const struct unwind_row *row)
{
	enum row_kind kind = unwind_row_kind(row);

	if (m->machine == EM_AARCH64)
		return row->fp <= ROW_CFA_MAX && row->ra <= ROW_CFA_MAX;
	return kind == ROW_FP || kind == ROW_FP_DEREF;
}

/* Bytes of code with a frame, and of code that has something on the stack and
 * no frame. Code with nothing there, such as stubs and functions that call
 * none, is the same in any build, and most of a small program. */
struct frame_bytes {
	uint64_t with, without;
};

/* Adds the code that a table describes to *b. */
static void missing_caller_add_bytes(const struct unwind_image *m,
				     const struct unwind_rows *t,
				     struct frame_bytes *b)
{
	const struct abi *abi = abi_of(m->machine);
	const int32_t entry = abi && abi->link < 0 ? abi->word : 0;

	for (size_t k = 1; k < unwind_rows_count(t); k++) {
		uint64_t from, to;
		const struct unwind_row *row = unwind_rows_at(t, k - 1, &from);

		unwind_rows_at(t, k, &to);
		const enum row_kind kind = unwind_row_kind(row);

		if (missing_caller_has_frame(m, row))
			b->with += to - from;
		else if (kind == ROW_SP
				 ? row->cfa > entry
				 : kind != ROW_GAP && kind != ROW_OUTERMOST &&
					   kind != ROW_PLT)
			b->without += to - from;
	}
}

/* Adds code to *b where tables count from SP everywhere, as those of Go: by the
 * code of functions, in a large file by a part of them. */
static void missing_caller_add_code(struct unwind_image *m, const struct cfi *c,
				    struct frame_bytes *b)
{
	size_t step = cfi_functions(c) / FUNCTIONS_READ + 1;

	for (size_t i = 0; i < cfi_functions(c); i += step) {
		struct function_range f;

		cfi_range(c, i, &f.start, &f.end);
		if (f.end <= f.start)
			continue;
		*(missing_caller_sets_in(m, &f) ? &b->with : &b->without) +=
			f.end - f.start;
	}
}

/* Returns true if most of the code has a frame. Otherwise FP holds arbitrary
 * values, and chains are wrong. In a large file only every so-many-th function
 * is looked at: all rows of cc1 took 2 % of the time of a compile's ingest. */
static bool missing_caller_built_with_frames(struct unwind_image *m)
{
	struct frame_bytes b = { 0, 0 };

	if (m->frames != FRAMES_ASK)
		return m->frames == FRAMES_KEPT;
	for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES; i++) {
		const struct cfi *c = m->cfi[i];

		if (!c)
			continue;
		struct unwind_rows *t =
			cfi_rows(c, 0, cfi_functions(c) / FUNCTIONS_ROWS + 1);

		missing_caller_add_bytes(m, t, &b);
		unwind_rows_free(t);
	}
	if (m->sframe)
		missing_caller_add_bytes(m, m->sframe, &b);
	if (!b.with && (m->machine == EM_X86_64 || m->machine == EM_AARCH64)) {
		b.without = 0;
		for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES; i++)
			if (m->cfi[i])
				missing_caller_add_code(m, m->cfi[i], &b);
	}
	m->frames = b.with > b.without ? FRAMES_KEPT : FRAMES_NOT;
	return m->frames == FRAMES_KEPT;
}

/* The direct calls and jumps of a function. Every byte is tried: a match inside
 * another instruction would need the exact distance. */
struct direct_walk {
	struct unwind_image *m;
	struct function_range of;
	uint64_t at; /* address of the code after code[CALL_BEFORE] */
	size_t i, n; /* bytes of code: tried so far, and available */
	unsigned char code[CALL_BEFORE + CHUNK];
};

/* Returns the kind of the instruction that ends before address `addr`, `end` in
 * code. */
static enum call_kind direct_walk_decode(const struct unwind_image *m,
					 const unsigned char *end,
					 uint64_t addr, uint64_t *target,
					 bool *jump)
{
	unsigned char as_call[CALL_BEFORE];

	/* jmp, and conditional ones */
	*jump = m->machine == EM_X86_64 ? end[-5] == 0xe9 || (end[-6] == 0x0f &&
							      end[-5] >> 4 == 8)
		: m->machine == EM_AARCH64 ? end[-1] >> 2 == 5
					   : false;
	if (m->machine == EM_X86_64 && !*jump && end[-5] != 0xe8)
		return CALL_NONE;
	memcpy(as_call, end - CALL_BEFORE, CALL_BEFORE);
	if (*jump && m->machine == EM_X86_64)
		as_call[CALL_BEFORE - 5] = 0xe8;
	else if (*jump)
		as_call[CALL_BEFORE - 1] |= 0x80;
	return call_insn_before(m->machine, m->big, as_call, CALL_BEFORE, 0,
				addr, target);
}

/* Returns the target of a two-byte jump that ends before address `addr`; 0 if
 * it is none, or stays in the function. One byte in fifteen looks like one, so
 * only jumps to the start of another function count. */
static uint64_t direct_walk_short(const struct direct_walk *w,
				  const unsigned char *end, uint64_t addr)
{
	const uint64_t to = addr + (uint64_t)(int8_t)end[-1];
	struct function_range f;

	return w->m->machine == EM_X86_64 &&
			       (end[-2] == 0xeb || end[-2] >> 4 == 7) &&
			       (to < w->of.start || to >= w->of.end) &&
			       missing_caller_function(w->m, to, &f) &&
			       f.start == to
		       ? to
		       : 0;
}

/* Finds the next call or jump. Stores the address after it and its target.
 * Returns false at the end. */
static bool direct_walk_next(struct direct_walk *w, uint64_t *ret,
			     uint64_t *target, bool *jump)
{
	for (;;) {
		while (w->i < w->n) {
			const unsigned char *end =
				w->code + CALL_BEFORE + ++w->i;

			*ret = w->at + w->i;
			if (direct_walk_decode(w->m, end, *ret, target, jump) ==
			    CALL_DIRECT)
				return true;
			*target = direct_walk_short(w, end, *ret);
			*jump = true;
			if (*target)
				return true;
		}
		memmove(w->code, w->code + w->n, CALL_BEFORE);
		w->at += w->n;
		if (w->at >= w->of.end)
			return false;
		w->i = 0;
		w->n = w->of.end - w->at < CHUNK ? (size_t)(w->of.end - w->at)
						 : CHUNK;
		if (unwind_images_read_code(w->m, w->at, w->code + CALL_BEFORE,
					    w->n) != w->n)
			return false;
	}
}

static bool missing_caller_framed_at(struct unwind_image *m, uint64_t ret)
{
	const struct unwind_row *row = unwind_images_row(m, ret - 1);

	return row && missing_caller_sets_fp(m, ret, row);
}

/* Returns the size of the PLT stub around an address; 0 if there is none. Only
 * .plt has a separate row. GNU ld makes stubs of .plt.sec, and of .plt.got for
 * -z ibtplt, from endbr64 and a jump, before 2.40 with a prefix, and the others
 * of .plt.got from a jump and two bytes. */
static unsigned int missing_caller_stub(struct unwind_image *m, uint64_t vaddr)
{
	const struct unwind_row *row = unwind_images_row(m, vaddr);
	unsigned char code[PLT_ENTRY];
	const unsigned char *half = code + (vaddr & 8);

	if (row && unwind_row_kind(row) == ROW_PLT)
		return PLT_ENTRY;
	if (m->machine != EM_X86_64 ||
	    unwind_images_read_code(m, vaddr - vaddr % PLT_ENTRY, code,
				    sizeof(code)) != sizeof(code))
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4) &&
	    !memcmp(code + 4 + (code[4] == 0xf2), "\xff\x25", 2))
		return PLT_ENTRY;
	return !memcmp(half, "\xff\x25", 2) && !memcmp(half + 6, "\x66\x90", 2)
		       ? PLT_ENTRY / 2
		       : 0;
}

/* Returns the function that the PLT stub at an address of m leads to, in
 * another file or in the same one; 0 if there is no stub, or its target is
 * unknown. */
static uint64_t missing_caller_leads(struct unwind_image *m, uint64_t stub,
				     struct unwind_image *to)
{
	struct unwind_image *const both[] = { m, to };

	if (!missing_caller_stub(m, stub))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		if (both[i]->calls)
			continue;
		if (both[i]->code || !unwind_images_calls_of(both[i]))
			return 0;
		/* names are enough */
		callsite_settle(both[i]->calls);
	}
	return callsite_stub_leads(m->calls, stub, to->calls);
}

/* How a called function leads to another one without leaving a frame. */
enum missing_way {
	WAY_NONE,
	WAY_IS,	     /* it is that function, or its stub */
	WAY_JUMPS,   /* by jumps only, as stat() of glibc 2.33 to fstatat(): the
			return address stays the same */
	WAY_CALLS,   /* by a call too, so that a chain skips both:
			gcWriteBarrierCX of Go 1.19 calls gcWriteBarrier so */
	WAY_UNKNOWN, /* it is a stub with an unknown target */
};

/* Returns whether an address of `at` is the function f of the file `in`, or a
 * stub of it. */
static bool missing_caller_is(struct unwind_image *at, uint64_t addr,
			      struct unwind_image *in,
			      const struct function_range *f)
{
	return (at == in && addr == f->start) ||
	       missing_caller_leads(at, addr, in) == f->start;
}

/* Returns how a target in m leads to the function f of m or of another file. */
static enum missing_way missing_caller_way(struct unwind_image *m,
					   uint64_t target,
					   struct unwind_image *in,
					   const struct function_range *f)
{
	enum missing_way way = WAY_NONE;
	struct unwind_image *at = m;
	struct function_range via;
	uint64_t ret, to;
	bool jump;

	if (missing_caller_is(m, target, in, f))
		return WAY_IS;
	if (m != in && missing_caller_stub(m, target)) {
		target = missing_caller_leads(m, target, in);
		if (!target || (target > f->start && target < f->end))
			return WAY_UNKNOWN;
		at = in;
	}
	if (!missing_caller_function(at, target, &via) || via.start != target ||
	    via.end - via.start > FUNCTION_MAX ||
	    missing_caller_sets_in(at, &via))
		return WAY_NONE;
	struct direct_walk w = { .m = at, .of = via, .at = via.start };

	while (direct_walk_next(&w, &ret, &to, &jump)) {
		if ((!jump && missing_caller_framed_at(at, ret)) ||
		    !missing_caller_is(at, to, in, f))
			continue;
		if (!jump)
			return WAY_CALLS;
		way = WAY_JUMPS;
	}
	return way;
}

bool missing_caller_may_enter(struct unwind_image *m, uint64_t ret, uint64_t in)
{
	struct function_range f;
	uint64_t target;
	enum call_kind kind = missing_caller_call_at(m, ret, &target);

	if (kind != CALL_DIRECT)
		return kind == CALL_INDIRECT || kind == CALL_START;
	if (!missing_caller_function(m, target, &f) ||
	    (in >= f.start && in < f.end))
		return true;
	/* the called function may end with a jump to another one */
	if (!missing_caller_function(m, in, &f))
		return false;
	if (m->code)
		return missing_caller_way(m, target, m, &f) != WAY_NONE;
	struct known_call *c = &m->set->call[unwind_images_place(m, ret)];

	if (c->other != f.start) {
		c->other = f.start;
		c->goes_on = missing_caller_way(m, target, m, &f) != WAY_NONE;
	}
	return c->goes_on;
}

/* Returns whether a jump out of a function leads to code that calls f, or jumps
 * on, with at most `depth` more jumps followed. It may lead to another part of
 * the function, with its frame, as gcc separates code that runs seldom, such as
 * that of exceptions; or to a function in tail position, which begins without a
 * frame, like most of a function that gcc has split ('.part.0'). */
static bool missing_caller_in_part(struct unwind_image *m,
				   const struct function_range *g, uint64_t at,
				   struct unwind_image *in,
				   const struct function_range *f,
				   unsigned int depth)
{
	struct function_range part;
	uint64_t ret, target;
	bool jump;

	if ((at >= g->start && at < g->end) || (m == in && at == f->start) ||
	    !missing_caller_function(m, at, &part))
		return false;
	const bool framed = missing_caller_framed_at(m, at + 1);

	if (!framed && part.start != at)
		return false;
	if (!depth || part.end - part.start > FUNCTION_MAX)
		return framed;
	struct direct_walk w = { .m = m, .of = part, .at = part.start };

	while (direct_walk_next(&w, &ret, &target, &jump)) {
		const bool out = target < part.start || target >= part.end;

		if (jump && out &&
		    missing_caller_in_part(m, g, target, in, f,
					   framed ? 0 : depth - 1))
			return true;
		if (jump || (!framed && !missing_caller_framed_at(m, ret)))
			continue;
		const enum missing_way way =
			missing_caller_way(m, target, in, f);

		if (way != WAY_NONE && way != WAY_UNKNOWN)
			return true;
	}
	return false;
}

/* Counts the direct calls of f, a function of m or of another file, in the
 * function g of m where that has a frame; a call of a function that jumps to f
 * counts. *last is the return address of the last one. Returns 0 if g may have
 * called f through another function without a frame, or in another part of g;
 * for another file also if g jumps to a stub of f, or calls a stub with an
 * unknown target. */
static unsigned int missing_caller_count_calls(struct unwind_image *m,
					       const struct function_range *g,
					       struct unwind_image *in,
					       const struct function_range *f,
					       uint64_t *last)
{
	struct direct_walk w = { .m = m, .of = *g, .at = g->start };
	uint64_t ret, target;
	unsigned int n = 0;
	bool jump;

	while (direct_walk_next(&w, &ret, &target, &jump)) {
		const bool stub = m != in && missing_caller_stub(m, target);

		if (jump && !stub) {
			if (missing_caller_in_part(m, g, target, in, f, JUMPS))
				return 0;
			continue;
		}
		if (target == g->start)
			continue;
		const enum missing_way way =
			missing_caller_way(m, target, in, f);

		if (way == WAY_CALLS || way == WAY_UNKNOWN ||
		    (jump && way != WAY_NONE))
			return 0;
		if (way == WAY_NONE || !missing_caller_framed_at(m, ret))
			continue;
		*last = ret;
		n++;
	}
	return n;
}

/* missing_caller_count_calls() with a cache for each pair of functions:
 * counting again for each chain took about 3 % of a first look at a whole
 * system. A row may change when a table is added. */
static unsigned int missing_caller_known_calls(struct unwind_image *m,
					       const struct function_range *g,
					       struct unwind_image *in,
					       const struct function_range *f,
					       uint64_t *last)
{
	const uint64_t to = f->start;

	if (m->code) /* the process may write other code there */
		return missing_caller_count_calls(m, g, in, f, last);
	struct known_calls *c =
		&m->set->calls[hash_pair((uintptr_t)m ^ to, g->start) %
			       CALLS_KNOWN];
	uint32_t added = m->set->added;

	if (c->m != m || c->in != in || c->from != g->start || c->to != to ||
	    c->added != added) {
		*c = (struct known_calls){ m, in, g->start, to, 0, 0, added };
		c->n = missing_caller_count_calls(m, g, in, f, &c->last);
	}
	*last = c->last;
	return c->n;
}

unsigned int missing_caller_infer(struct unwind_image *m, uint64_t leaf,
				  struct unwind_image *at, uint64_t next,
				  const struct unwind_image **in,
				  uint64_t *caller)
{
	struct function_range f, g;
	uint64_t entered;

	if (!missing_caller_built_with_frames(m))
		return 0;
	/* Find what a call must enter to reach an address: in a PLT, which the
	 * table has as one function, it is the stub. */
	unsigned int stub = missing_caller_stub(m, leaf);

	if (!missing_caller_function(m, leaf, &f))
		return 0;
	if (stub) {
		f.start = leaf - leaf % stub;
		f.end = f.start + stub;
	}

	if (missing_caller_call_at(at, next, &entered) != CALL_DIRECT)
		return 0;
	const uint64_t leads = missing_caller_leads(at, entered, m);

	if (leads) {
		entered = leads;
		at = m;
	}
	if (!missing_caller_function(at, entered, &g) || g.start != entered ||
	    (at == m && g.start == f.start) || g.end - g.start > FUNCTION_MAX ||
	    !missing_caller_built_with_frames(at))
		return 0;
	unsigned int n = missing_caller_known_calls(at, &g, m, &f, caller);

	if (n > 1)
		*caller = g.start;
	*in = at;
	return n;
}
