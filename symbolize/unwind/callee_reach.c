/* callee_reach.c - finds the functions that may run in place of a called
 * one. */
#include "symbolize/unwind/callee_reach.h"

#include <elf.h>

#include "stitch/base/mem.h"
#include "symbolize/disasm/code_refs.h"
#include "symbolize/elf/elf.h"
#include "symbolize/unwind/callsite_file.h"

#define FUNCTION_MAX 65536
/* The most bytes of a jump after its first one. */
#define JUMP_MAX 6

/* The code of a function, followed by zeros. */
struct callee {
	const unsigned char *code;
	uint64_t start, end;
};

static uint64_t callee_relative(const struct callee *c, size_t end)
{
	return c->start + end +
	       (uint64_t)(int64_t)(int32_t)code_refs_word(c->code + end - 4);
}

static bool callee_is_short(const struct callee *c, size_t i)
{
	return c->code[i] == 0xeb || (c->code[i] & 0xf0) == 0x70;
}

/* Returns the target of a direct jump whose first byte is code[i]; 0 if it is
 * none. */
static uint64_t callee_jump(const struct callee *c, size_t i)
{
	const unsigned char *p = c->code + i;

	if (p[0] == 0xe9)
		return callee_relative(c, i + 5);
	if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		return callee_relative(c, i + 6);
	if (callee_is_short(c, i))
		return c->start + i + 2 + (uint64_t)(int64_t)(int8_t)p[1];
	return 0;
}

/* Returns whether p is mov %rsp,%rbp in either form, or lea N(%rsp),%rbp in any
 * of three. */
static bool callee_sets_frame(const unsigned char *p)
{
	if (p[0] != 0x48)
		return false;
	return !memcmp(p + 1, "\x89\xe5", 2) || !memcmp(p + 1, "\x8b\xec", 2) ||
	       (p[1] == 0x8d && (p[2] & 0x3f) == 0x2c && p[2] < 0xc0 &&
		p[3] == 0x24);
}

/* Adds the function at an ELF address. A short jump is only followed to the
 * start of a function: the cold part of a function, which is entered anywhere,
 * is far away. */
static void callee_reach_add(const struct callsite_file *f,
			     struct callee_reach *out, uint64_t at,
			     bool is_short)
{
	uint64_t start, end;

	for (size_t i = 0; i < f->n_plt; i++)
		out->open |= at - f->plt[i].vaddr < f->plt[i].filesz;
	if (!callsite_function_at(f, at, &start, &end)) {
		out->open |= !is_short;
		return;
	}
	if (is_short && at != start)
		return;
	for (size_t i = 0; i < out->n; i++)
		if (out->start[i] == start)
			return;
	if (out->n == CALLEE_REACH_MAX)
		out->open = true;
	else
		out->start[out->n++] = start;
}

/* Adds the targets of jumps in a function. Every byte is tried: bytes inside
 * another instruction add functions, which makes the result weaker, not
 * wrong. */
static void callee_reach_read(const struct callsite_file *f,
			      struct callee_reach *out, const struct callee *c)
{
	for (size_t i = 0; i < c->end - c->start; i++) {
		uint64_t to = callee_jump(c, i);

		/* after another 0xff it is the end of a negative distance, and
		 * so part of a call */
		const unsigned char *p = c->code + i;
		if (p[0] == 0xff && (p[1] & 0x38) == 0x20 &&
		    (p[1] >= 0xe0 || !i ||
		     (p[-1] != 0xff &&
		      (i < 4 || (p[-4] != 0xe8 && p[-4] != 0xe9) ||
		       !elf_segment_at(f->seg, f->n_seg,
				       callee_relative(c, i + 1))))))
			out->open = true;
		out->frame |= callee_sets_frame(c->code + i);
		if (to && (to < c->start || to >= c->end) &&
		    elf_segment_at(f->seg, f->n_seg, to))
			callee_reach_add(f, out, to, callee_is_short(c, i));
	}
}

void callee_reach_find(const struct callsite_file *f, uint64_t to,
		       struct callee_reach *out)
{
	struct callee c;

	*out = (struct callee_reach){ .open = f->machine != EM_X86_64 ||
					      !f->ef };
	callee_reach_add(f, out, to, false);
	for (size_t i = 0; i < out->n && !out->open; i++) {
		if (!callsite_function_at(f, out->start[i], &c.start, &c.end) ||
		    c.end - c.start > FUNCTION_MAX) {
			out->open = true;
			return;
		}
		size_t len = (size_t)(c.end - c.start);
		unsigned char *code = mem_new(len + JUMP_MAX, 1);

		c.code = code;
		out->open |= elf_read_code(f->ef, c.start, code, len) != len;
		callee_reach_read(f, out, &c);
		free(code);
	}
}

bool callee_reach_has(const struct callsite_file *f,
		      const struct callee_reach *r, uint64_t off)
{
	uint64_t vaddr, start, end;

	if (r->open || !elf_vaddr(f->seg, f->n_seg, off, &vaddr) ||
	    !callsite_function_at(f, vaddr, &start, &end))
		return true;
	return any_where(r->n, i, r->start[i] == start);
}
