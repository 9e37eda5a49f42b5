/* call_insn.c - decodes the call instruction before a return address. */
#include "symbolize/disasm/call_insn.h"

#include <elf.h>
#include <string.h>

#include "stitch/base/bytes.h"

/* The code around the return address, which is at code[ret]. */
struct call_insn_site {
	const unsigned char *code;
	size_t ret, len;
	uint64_t addr;
	bool swap;
};

/* Reads the word that starts `back` bytes before the return address. */
static bool call_insn_word(const struct call_insn_site *s, size_t back,
			   uint32_t *out)
{
	struct bytes b;

	if (back > s->ret)
		return false;
	bytes_init(&b, s->code + s->ret - back, s->len - (s->ret - back), "", 0,
		   s->swap);
	return !bytes_u32(&b, out, NULL);
}

static bool call_insn_next_is(const struct call_insn_site *s, const void *bytes,
			      size_t n)
{
	return s->len - s->ret >= n && !memcmp(s->code + s->ret, bytes, n);
}

/* ---- x86 */

/* Returns whether c is a prefix: segment (notrack is one), size, bnd or, on
 * x86-64, REX. */
static bool call_insn_x86_prefix(unsigned char c, bool wide)
{
	return (c & 0xe7) == 0x26 || (c & 0xfc) == 0x64 || (c & 0xfe) == 0xf2 ||
	       (wide && (c & 0xf0) == 0x40);
}

/* Returns true if p[0..n) is exactly one "call r/m", ff /2. */
static bool call_insn_x86_indirect(const unsigned char *p, size_t n, bool wide)
{
	size_t need = 2;

	while (n > 2 && call_insn_x86_prefix(*p, wide)) {
		p++;
		n--;
	}
	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return false;

	unsigned int mod = p[1] >> 6;
	unsigned int rm = p[1] & 7;

	if (mod != 3 && rm == 4) { /* followed by a SIB byte */
		need = 3;
		if (n < 3)
			return false;
		if (!mod && (p[2] & 7) == 5)
			need += 4;
	}
	if (mod == 1)
		need += 1;
	else if (mod == 2 || (!mod && rm == 5))
		need += 4;
	return need == n;
}

/* The sa_restorer functions of the C libraries. */
static bool call_insn_x86_signal(const struct call_insn_site *s, bool wide)
{
	static const unsigned char rt64[] = { 0x48, 0xc7, 0xc0, 15,  0,
					      0,    0,	  0x0f, 0x05 };
	static const unsigned char rt32[] = { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 };
	static const unsigned char old32[] = { 0x58, 0xb8, 119,	 0,
					       0,    0,	   0xcd, 0x80 };

	if (wide)
		return call_insn_next_is(s, rt64, sizeof(rt64));
	return call_insn_next_is(s, rt32, sizeof(rt32)) ||
	       call_insn_next_is(s, old32, sizeof(old32));
}

/* glibc's __start_context: mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi. */
static bool call_insn_x86_start(const struct call_insn_site *s)
{
	static const unsigned char start[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b,
					       0x3c, 0x24, 0x48, 0x85, 0xff };

	return call_insn_next_is(s, start, sizeof(start));
}

/* Matches the return address of the first function of a context of Boost 1.74,
 * in make_fcontext: push %rbp; jmp *%rbx; here: xor %rdi,%rdi; call _exit;
 * hlt. */
static bool call_insn_x86_fcontext(const struct call_insn_site *s)
{
	static const unsigned char jump[] = { 0x55, 0xff, 0xe3 };
	static const unsigned char end[] = { 0x48, 0x31, 0xff, 0xe8 };
	const unsigned char *at = s->code + s->ret;

	return s->ret >= sizeof(jump) && s->len - s->ret >= 9 &&
	       !memcmp(at - sizeof(jump), jump, sizeof(jump)) &&
	       !memcmp(at, end, sizeof(end)) && at[8] == 0xf4;
}

static enum call_kind call_insn_x86(const struct call_insn_site *s, bool wide,
				    uint64_t *target)
{
	const unsigned char *end = s->code + s->ret;
	uint32_t rel;

	/* ff 94 e8 and four bytes are a call through a table, though its last
	 * five bytes look like a direct call. */
	if (s->ret >= 5 && end[-5] == 0xe8 &&
	    !(s->ret >= 7 &&
	      call_insn_x86_indirect(s->code + s->ret - 7, 7, wide)) &&
	    call_insn_word(s, 4, &rel)) {
		*target = s->addr + (uint64_t)(int64_t)(int32_t)rel;
		if (!wide)
			*target = (uint32_t)*target;
		return CALL_DIRECT;
	}
	for (size_t n = 2; n <= CALL_BEFORE && n <= s->ret; n++)
		if (call_insn_x86_indirect(end - n, n, wide))
			return CALL_INDIRECT;
	if (call_insn_x86_signal(s, wide))
		return CALL_SIGNAL;
	if (wide && (call_insn_x86_start(s) || call_insn_x86_fcontext(s)))
		return CALL_START;
	/* The return address of a goroutine's first function: after the first
	 * instruction of runtime.goexit, which is aligned: nop; call goexit1;
	 * nop. Seen in Go 1.19, for all machines here. */
	const unsigned char *at = s->code + s->ret;
	return (s->addr % 16 == 1 && s->ret && at[-1] == 0x90 &&
		s->len - s->ret >= 6 && at[0] == 0xe8 && at[5] == 0x90)
		       ? CALL_START
		       : CALL_NONE;
}

/* ---- machines with instructions of one word */

static enum call_kind call_insn_aarch64(const struct call_insn_site *s,
					uint64_t *target)
{
	uint32_t w;
	uint32_t next;

	if (call_insn_word(s, 4, &w)) {
		if (w >> 26 == 0x25) { /* bl */
			*target =
				s->addr - 4 +
				(uint64_t)((int64_t)((uint64_t)w << 38) >> 36);
			return CALL_DIRECT;
		}
		/* blr; blraa and blrab, also with zero modifier */
		if ((w & 0xfffffc1f) == 0xd63f0000 ||
		    (w & 0xfefff800) == 0xd63f0800)
			return CALL_INDIRECT;
	}
	struct call_insn_site behind = *s;

	behind.ret += 4;
	if (s->len - s->ret >= 8 && call_insn_word(s, 0, &w) &&
	    call_insn_word(&behind, 0, &next)) {
		/* mov x8, #__NR_rt_sigreturn; svc #0 */
		if (w == 0xd2801168 && next == 0xd4000001)
			return CALL_SIGNAL;
		/* glibc's __startcontext: mov x0, x19; cbnz x0, __setcontext */
		if (w == 0xaa1303e0 && (next & 0xff00001f) == 0xb5000000)
			return CALL_START;
	}
	/* Go: mov x0, x0; bl goexit1. */
	uint32_t nop, call;
	return (s->addr % 16 == 4 && call_insn_word(s, 4, &nop) &&
		nop == 0xaa0003e0 && call_insn_word(s, 0, &call) &&
		call >> 26 == 0x25)
		       ? CALL_START
		       : CALL_NONE;
}

static enum call_kind call_insn_ppc64(const struct call_insn_site *s,
				      uint64_t *target)
{
	static const uint32_t sigreturn = 0x38000000 | 172; /* li r0,172 */
	uint32_t w;

	if (call_insn_word(s, 4, &w)) {
		if ((w & 0xfc000003) == 0x48000001) { /* bl */
			*target = s->addr - 4 +
				  (uint64_t)((int64_t)((uint64_t)(w & ~3u)
						       << 38) >>
					     38);
			return CALL_DIRECT;
		}
		/* bctrl and blrl, also conditional; bla and bcl, except the bcl
		 * 20,31,.+4 that reads the program counter */
		if ((w & 0xfc0007ff) == 0x4c000421 ||
		    (w & 0xfc0007ff) == 0x4c000021 ||
		    (w & 0xfc000003) == 0x48000003 ||
		    ((w & 0xfc000001) == 0x40000001 && w != 0x429f0005))
			return CALL_INDIRECT;
	}
	return call_insn_word(s, 0, &w) && w == sigreturn ? CALL_SIGNAL
							  : CALL_NONE;
}

/* Decodes s390x code: C functions have their return address in %r14. */
static enum call_kind call_insn_s390(const struct call_insn_site *s,
				     uint64_t *target)
{
	const unsigned char *end = s->code + s->ret;
	uint32_t rel;

	if (s->ret >= 6 && end[-6] == 0xc0 && end[-5] == 0xe5 &&
	    call_insn_word(s, 4, &rel)) { /* brasl %r14 */
		*target = s->addr - 6 + (uint64_t)(int64_t)(int32_t)rel * 2;
		return CALL_DIRECT;
	}
	if (s->ret >= 4 && end[-4] == 0xa7 && end[-3] == 0xe5 &&
	    call_insn_word(s, 4, &rel)) { /* bras %r14 */
		*target = s->addr - 4 +
			  (uint64_t)(int64_t)(int16_t)(uint16_t)rel * 2;
		return CALL_DIRECT;
	}
	/* basr %r14,%rN; with %r0 it does not branch. bas %r14,D(X,B). */
	if (s->ret >= 2 && end[-2] == 0x0d && end[-1] >> 4 == 14 &&
	    (end[-1] & 15))
		return CALL_INDIRECT;
	if (s->ret >= 4 && end[-4] == 0x4d && end[-3] >> 4 == 14)
		return CALL_INDIRECT;
	/* Go: nopr; brasl %r14, goexit1; nopr */
	if (s->addr % 16 == 2 && s->ret >= 2 && s->len - s->ret >= 8 &&
	    !memcmp(end - 2, "\x07\0\xc0\xe5", 4) &&
	    !memcmp(end + 6, "\x07\0", 2))
		return CALL_START;
	/* svc rt_sigreturn, svc sigreturn */
	if (s->len - s->ret >= 2 && end[0] == 0x0a &&
	    (end[1] == 173 || end[1] == 119))
		return CALL_SIGNAL;
	return CALL_NONE;
}

enum call_kind call_insn_before(uint16_t machine, bool big,
				const unsigned char *code, size_t before,
				size_t after, uint64_t addr, uint64_t *target)
{
	const struct call_insn_site s = {
		.code = code,
		.ret = before,
		.len = before + after,
		.addr = addr,
		.swap = bytes_must_swap(big),
	};

	switch (machine) {
	case EM_X86_64:
		return call_insn_x86(&s, true, target);
	case EM_386:
		return call_insn_x86(&s, false, target);
	case EM_AARCH64:
		/* code is always little-endian */
		return big ? CALL_UNKNOWN : call_insn_aarch64(&s, target);
	case EM_PPC64:
		return call_insn_ppc64(&s, target);
	case EM_S390:
		return call_insn_s390(&s, target);
	default:
		return CALL_UNKNOWN;
	}
}
