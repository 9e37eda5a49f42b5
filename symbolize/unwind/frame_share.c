/* frame_share.c - counts the functions of an ELF file that set a frame
 * pointer. */
#include "symbolize/unwind/frame_share.h"

#include "symbolize/cfi/cfi.h"
#include "symbolize/disasm/code_refs.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/symtab.h"

#define FUNCTIONS_MAX 256
/* How many bytes of a function are read: nearly all have a call within
 * these. */
#define HEAD 256
/* A file has no frame pointers if at most one function in this many sets one:
 * those with alloca or arrays of variable length do so in any build. */
#define NONE_OF 10

/* Counts a function by its first call: a walk from there needs the frame
 * pointer, which gcc's shrink-wrapping may set just before. The unwind table
 * shows it if it counts from FP at the call. If it counts from SP, as on
 * AArch64 and in Go, the first instructions show it. An FDE whose first row
 * does not have the caller's frame just above SP is not a function, but a part
 * that gcc has moved to .text.unlikely; one without a return address begins a
 * stack, like _start, and has no caller. */
static void frame_share_add(const struct elf_file *ef, const struct cfi *c,
			    uint64_t start, uint64_t end,
			    struct frame_share *out)
{
	unsigned char code[HEAD];
	struct code_refs refs;
	struct code_ref ref;
	struct cfi_rules r;
	const struct abi *abi = abi_of(ef->machine);

	if (end <= start || (c && cfi_rules(c, start, &r) == 1 &&
			     (r.cfa.kind != RULE_REG || r.cfa_reg != abi->sp ||
			      r.cfa.v != (abi->link < 0 ? abi->word : 0) ||
			      r.reg[r.ra].kind == RULE_UNDEFINED)))
		return;
	size_t n = end - start < sizeof(code) ? (size_t)(end - start)
					      : sizeof(code);

	n = elf_read_code(ef, start, code, n);
	if (!code_refs_init(&refs, ef->machine, code, n, start))
		return;
	while (code_refs_next_to(&refs, 1 << CODE_REF_CALL | 1 << CODE_REF_SLOT,
				 &ref)) {
		if (ref.kind == CODE_REF_CALL &&
		    !elf_segment_at(ef->seg, ef->n_seg, ref.to))
			continue;
		out->functions++;
		out->set += (c && cfi_rules(c, start + ref.off, &r) == 1 &&
			     r.cfa.kind == RULE_REG && r.cfa_reg == abi->fp) ||
			    frame_code_sets(ef->machine, code,
					    n < FRAME_CODE_PROLOGUE
						    ? n
						    : FRAME_CODE_PROLOGUE);
		return;
	}
}

void frame_share_count(const struct elf_file *ef, const struct cfi *c,
		       const struct symtab *funcs, struct frame_share *out)
{
	size_t n = c ? cfi_functions(c) : 0;
	bool tables = n;

	*out = (struct frame_share){ 0, 0 };
	if (!tables)
		n = funcs ? funcs->n : 0;
	size_t step = n / FUNCTIONS_MAX + 1;

	for (size_t i = 0; i < n; i += step) {
		uint64_t start, end;

		if (tables) {
			cfi_range(c, i, &start, &end);
		} else {
			start = funcs->sym[i].start;
			end = funcs->sym[i].end;
		}
		frame_share_add(ef, tables ? c : NULL, start, end, out);
	}
}

bool frame_share_is_none(const struct frame_share *s)
{
	return s->functions && s->set <= s->functions / NONE_OF;
}
