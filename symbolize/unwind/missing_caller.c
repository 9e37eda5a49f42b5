/* missing_caller.c - infers the caller that a frame-pointer chain skips. */
#include "symbolize/unwind/missing_caller.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "symbolize/disasm/call_insn.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/cfi/unwind_rows.h"

/* The largest function of cc1 has 250 KiB. */
#define FUNCTION_MAX (1u << 20)
#define CHUNK 4096
/* Go compares SP with the end of its stack first. */
#define PROLOGUE 96

struct function_range {
	uint64_t start, end;
};

static bool missing_caller_function(const struct unwind_image *m,
				    uint64_t vaddr, struct function_range *out)
{
	for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES; i++)
		if (m->cfi[i] &&
		    cfi_function(m->cfi[i], vaddr, &out->start, &out->end))
			return true;
	return false;
}

/* Returns whether p[0..n) begins with an instruction of 48 OP that takes %rbp
 * and N(%rsp), and how long that is; *at: N. */
static size_t missing_caller_rbp_insn(const unsigned char *p, size_t n,
				      unsigned char op, int32_t *at)
{
	if (n >= 5 && p[0] == 0x48 && p[1] == op && p[2] == 0x6c &&
	    p[3] == 0x24) {
		*at = (signed char)p[4];
		return 5;
	}
	if (n >= 8 && p[0] == 0x48 && p[1] == op && p[2] == 0xac &&
	    p[3] == 0x24) {
		*at = (int32_t)((uint32_t)p[4] | (uint32_t)p[5] << 8 |
				(uint32_t)p[6] << 16 | (uint32_t)p[7] << 24);
		return 8;
	}
	return 0;
}

/* The first instructions save and set it, and the one in front of vaddr does
 * not restore it: mov %rbp,N(%rsp); lea N(%rsp),%rbp; mov N(%rsp),%rbp. */
static bool missing_caller_read_fp(struct unwind_image *m, uint64_t vaddr)
{
	unsigned char code[PROLOGUE];
	struct function_range f;
	int32_t saved, set;
	size_t n, k;

	if (m->machine != EM_X86_64 || vaddr < 8 ||
	    !missing_caller_function(m, vaddr, &f) ||
	    unwind_images_read_code(m, vaddr - 8, code, 8) != 8 ||
	    missing_caller_rbp_insn(code + 3, 5, 0x8b, &set) ||
	    missing_caller_rbp_insn(code, 8, 0x8b, &set) == 8)
		return false;
	n = vaddr - f.start < PROLOGUE ? (size_t)(vaddr - f.start) : PROLOGUE;
	n = unwind_images_read_code(m, f.start, code, n);
	for (size_t i = 0; i < n; i++) {
		k = missing_caller_rbp_insn(code + i, n - i, 0x89, &saved);
		if (k && missing_caller_rbp_insn(code + i + k, n - i - k, 0x8d,
						 &set))
			return saved == set;
	}
	return false;
}

bool missing_caller_sets_fp(struct unwind_image *m, uint64_t vaddr)
{
	if (m->code) /* the process may write other code there */
		return missing_caller_read_fp(m, vaddr);
	struct known_fp *k = unwind_images_fp(m, vaddr);
	uint32_t added = unwind_images_added(m->set);

	if (k->m != m || k->vaddr != vaddr || k->added != added)
		*k = (struct known_fp){ m, vaddr,
					missing_caller_read_fp(m, vaddr),
					added };
	return k->set;
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
	struct known_call *c = unwind_images_call(m, vaddr);

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

	return kind == CALL_DIRECT || kind == CALL_INDIRECT;
}

bool missing_caller_may_enter(struct unwind_image *m, uint64_t ret, uint64_t in)
{
	struct function_range f;
	uint64_t target;
	enum call_kind kind = missing_caller_call_at(m, ret, &target);

	if (kind != CALL_DIRECT)
		return kind == CALL_INDIRECT;
	return !missing_caller_function(m, target, &f) ||
	       (in >= f.start && in < f.end);
}

/* Returns true if the row says that FP is that of the function. On AArch64
 * tables count from SP even then, so check that both FP and RA are saved. */
static bool missing_caller_has_frame(const struct unwind_image *m,
				     const struct unwind_row *row)
{
	enum row_kind kind = unwind_row_kind(row);

	if (m->machine == EM_AARCH64)
		return row->fp <= ROW_CFA_MAX && row->ra <= ROW_CFA_MAX;
	return kind == ROW_FP || kind == ROW_FP_DEREF;
}

/* Bytes of code, and those with a frame. */
struct frame_bytes {
	uint64_t all, with;
};

static void missing_caller_add_bytes(const struct unwind_image *m,
				     const struct unwind_rows *t,
				     struct frame_bytes *b)
{
	for (size_t k = 1; k < unwind_rows_count(t); k++) {
		uint64_t from, to;
		const struct unwind_row *row = unwind_rows_at(t, k - 1, &from);

		unwind_rows_at(t, k, &to);
		if (unwind_row_kind(row) != ROW_GAP)
			b->all += to - from;
		if (missing_caller_has_frame(m, row))
			b->with += to - from;
	}
}

/* Returns true if most of the code has a frame. Otherwise FP holds arbitrary
 * values, and chains are wrong. */
static bool missing_caller_built_with_frames(struct unwind_image *m)
{
	struct frame_bytes b = { 0, 0 };

	if (m->frames != FRAMES_ASK)
		return m->frames == FRAMES_KEPT;
	for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES; i++) {
		struct unwind_rows *t = m->cfi[i] ? cfi_rows(m->cfi[i]) : NULL;

		if (t)
			missing_caller_add_bytes(m, t, &b);
		unwind_rows_free(t);
	}
	if (m->sframe)
		missing_caller_add_bytes(m, m->sframe, &b);
	m->frames = b.with * 2 > b.all ? FRAMES_KEPT : FRAMES_NOT;
	return m->frames == FRAMES_KEPT;
}

/* Counts the direct calls of `to` in the function where it has a frame. *last
 * is the return address of the last one. Tries every byte: a match inside
 * another instruction would need the exact distance. */
static unsigned int missing_caller_count_calls(struct unwind_image *m,
					       const struct function_range *g,
					       uint64_t to, uint64_t *last)
{
	unsigned char code[CALL_BEFORE + CHUNK];
	unsigned int n = 0;

	memset(code, 0, CALL_BEFORE);
	for (uint64_t at = g->start; at < g->end; at += CHUNK) {
		size_t want =
			g->end - at < CHUNK ? (size_t)(g->end - at) : CHUNK;

		if (unwind_images_read_code(m, at, code + CALL_BEFORE, want) !=
		    want)
			return n;
		for (size_t i = 1; i <= want; i++) {
			uint64_t target;

			if (call_insn_before(m->machine, m->big, code + i,
					     CALL_BEFORE, 0, at + i,
					     &target) != CALL_DIRECT ||
			    target != to)
				continue;
			const struct unwind_row *row =
				unwind_images_row(m, at + i - 1);

			if (!row || !missing_caller_has_frame(m, row))
				continue;
			*last = at + i;
			n++;
		}
		memcpy(code, code + want, CALL_BEFORE);
	}
	return n;
}

/* The same, counted once for each pair of functions of a file: counting anew
 * for each chain took about 3 % of a first look at a whole system. What a row
 * says may change with a table that is added. */
static unsigned int missing_caller_known_calls(struct unwind_image *m,
					       const struct function_range *g,
					       uint64_t to, uint64_t *last)
{
	if (m->code) /* the process may write other code there */
		return missing_caller_count_calls(m, g, to, last);
	struct known_calls *c = unwind_images_calls(m, g->start, to);
	uint32_t added = unwind_images_added(m->set);

	if (c->m != m || c->from != g->start || c->to != to ||
	    c->added != added) {
		*c = (struct known_calls){ m, g->start, to, 0, 0, added };
		c->n = missing_caller_count_calls(m, g, to, &c->last);
	}
	*last = c->last;
	return c->n;
}

unsigned int missing_caller_infer(struct unwind_image *m, uint64_t leaf,
				  uint64_t next, uint64_t *caller)
{
	struct function_range f, g;
	uint64_t entered;

	if (!missing_caller_built_with_frames(m) ||
	    !missing_caller_function(m, leaf, &f) ||
	    missing_caller_call_at(m, next, &entered) != CALL_DIRECT)
		return 0;
	if (!missing_caller_function(m, entered, &g) || g.start != entered ||
	    g.start == f.start || g.end - g.start > FUNCTION_MAX)
		return 0;
	unsigned int n = missing_caller_known_calls(m, &g, f.start, caller);

	if (n > 1)
		*caller = g.start;
	return n;
}
