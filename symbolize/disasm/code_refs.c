/* code_refs.c - finds the places in code that call or jump to other code, or
 * load its address. */
#include "symbolize/disasm/code_refs.h"

#include <elf.h>
#include <string.h>

bool code_refs_init(struct code_refs *r, uint16_t machine,
		    const unsigned char *code, size_t len, uint64_t addr)
{
	*r = (struct code_refs){
		.code = code, .len = len, .addr = addr, .machine = machine
	};
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

unsigned int code_refs_argument(uint16_t machine, unsigned int i)
{
	static const uint8_t x86[] = { 7, 6, 2, 1 }; /* rdi, rsi, rdx, rcx */

	return machine == EM_X86_64 ? x86[i & 3] : i & 3;
}

uint32_t code_refs_word(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* Returns the target of a 32-bit offset at the end of an instruction, which
 * counts from that end. */
static uint64_t code_refs_relative(const struct code_refs *r, size_t off)
{
	return r->addr + off + 4 +
	       (uint64_t)(int64_t)(int32_t)code_refs_word(r->code + off);
}

/* Decodes the reference that begins at code[i]; at least four more bytes must
 * follow. Returns false if none begins there. */
static bool code_refs_x86_at(const struct code_refs *r, size_t i,
			     struct code_ref *out)
{
	const unsigned char *p = r->code + i;
	bool wide = r->len - i >= 7;

	*out = (struct code_ref){ .off = i };
	if (p[0] == 0xe8 || p[0] == 0xe9) {
		out->kind = p[0] == 0xe8 ? CODE_REF_CALL : CODE_REF_JUMP;
		out->to = code_refs_relative(r, i + 1);
		return true;
	}
	if (p[0] == 0xff) {
		out->kind = CODE_REF_SLOT;
		if (p[1] != 0x15 || r->len - i < 6)
			return false;
		out->to = code_refs_relative(r, i + 2);
		return true;
	}
	out->kind = CODE_REF_ADDRESS;
	/* lea N(%rip),%reg */
	if (wide && (p[0] == 0x48 || p[0] == 0x4c) && p[1] == 0x8d &&
	    (p[2] & 0xc7) == 5) {
		out->to = code_refs_relative(r, i + 3);
		out->reg = (p[2] >> 3 & 7) + (p[0] == 0x4c ? 8 : 0);
		return true;
	}
	/* mov $N,%reg of 32 and of 64 bits: only code at a fixed address has
	 * it */
	if ((p[0] & 0xf8) == 0xb8) {
		out->to = code_refs_word(p + 1);
		out->reg = p[0] & 7;
		return true;
	}
	if (!wide || p[0] != 0x48 || p[1] != 0xc7 || (p[2] & 0xf8) != 0xc0)
		return false;
	out->to = code_refs_word(p + 3);
	out->reg = p[2] & 7;
	return true;
}

static bool code_refs_aarch64(struct code_refs *r, struct code_ref *out)
{
	for (; r->len - r->off >= 4; r->off += 4) {
		uint32_t w = code_refs_word(r->code + r->off);
		uint64_t at = r->addr + r->off;
		unsigned int reg = w & 31;

		*out = (struct code_ref){ .off = r->off, .reg = reg };
		if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
			out->kind = w >> 31 ? CODE_REF_CALL : CODE_REF_JUMP;
			out->to =
				at +
				(uint64_t)((int64_t)((uint64_t)w << 38) >> 36);
			r->off += 4;
			return true;
		}
		if ((w & 0x9f000000) == 0x90000000) { /* adrp */
			uint64_t page = (uint64_t)(w >> 5 & 0x7ffff) << 2 |
					(w >> 29 & 3);

			page = (uint64_t)((int64_t)(page << 43) >> 31);
			r->page[reg] = (at & ~(uint64_t)0xfff) + page;
			continue;
		}
		/* add xN, xM, #imm, where xM is from adrp */
		if ((w & 0xffc00000) == 0x91000000 && r->page[w >> 5 & 31]) {
			out->kind = CODE_REF_ADDRESS;
			out->to = r->page[w >> 5 & 31] + (w >> 10 & 0xfff);
			r->off += 4;
			return true;
		}
	}
	return false;
}

bool code_refs_next(struct code_refs *r, struct code_ref *out)
{
	if (r->machine != EM_X86_64)
		return code_refs_aarch64(r, out);
	while (r->len - r->off >= 5)
		if (code_refs_x86_at(r, r->off++, out))
			return true;
	return false;
}

/* Returns the offset of the next byte that one of these kinds can begin
 * with. */
static size_t code_refs_find(struct code_refs *r, unsigned int kinds)
{
	static const unsigned char first[] = { [CODE_REF_CALL] = 0xe8,
					       [CODE_REF_JUMP] = 0xe9,
					       [CODE_REF_SLOT] = 0xff };
	size_t best = r->len;

	for (unsigned int i = 0; i < sizeof(first); i++) {
		if (!(kinds >> i & 1))
			continue;
		if (r->behind[i] <= r->off) {
			const unsigned char *p = memchr(
				r->code + r->off, first[i], r->len - r->off);

			r->behind[i] = (p ? (size_t)(p - r->code) : r->len) + 1;
		}
		if (r->behind[i] <= best)
			best = r->behind[i] - 1;
	}
	return best;
}

bool code_refs_next_to(struct code_refs *r, unsigned int kinds,
		       struct code_ref *out)
{
	if (r->machine != EM_X86_64) {
		while (code_refs_next(r, out))
			if (kinds >> out->kind & 1)
				return true;
		return false;
	}
	for (;;) {
		r->off = code_refs_find(r, kinds);
		if (r->len - r->off < 5)
			return false;
		if (code_refs_x86_at(r, r->off++, out))
			return true;
	}
}
