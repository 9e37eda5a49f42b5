/* callsite.c - does an address lie behind a call instruction? */
#include "symbolize/callsite.h"

#include <elf.h>

#include "stitch/bytes.h"

/* Bytes of a ModRM operand behind its ModRM byte, SIB and displacement; -1:
 * the bytes end too early. */
static int operand_len(const unsigned char *modrm, size_t n)
{
	unsigned int mod = modrm[0] >> 6;
	unsigned int rm = modrm[0] & 7;
	int len = 0;

	if (mod == 3)
		return 0;
	if (rm == 4) {
		if (n < 2)
			return -1;
		len = 1;
		if (mod == 0 && (modrm[1] & 7) == 5)
			return 5;
	} else if (mod == 0 && rm == 5) {
		return 4;
	}
	return len + (mod == 1) + 4 * (mod == 2);
}

/* FF /2 with a REX, segment or notrack prefix before it, and nothing behind. */
static bool indirect(const unsigned char *code, size_t n)
{
	for (size_t len = 2; len <= n && len <= 7; len++) {
		const unsigned char *p = code + n - len;

		if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
			continue;
		if (operand_len(p + 1, len - 1) == (int)len - 2)
			return true;
	}
	return false;
}

static int32_t word_at(const unsigned char *p, bool big)
{
	struct bytes b;
	uint32_t v = 0;

	bytes_init(&b, p, 4, "", 0,
		   big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	bytes_u32(&b, &v, NULL);
	return (int32_t)v;
}

static bool x86(const unsigned char *code, size_t n, bool *direct,
		int64_t *target)
{
	*direct = n >= 5 && code[n - 5] == 0xe8;
	if (*direct)
		*target = word_at(code + n - 4, false);
	return *direct || indirect(code, n);
}

static bool aarch64(const unsigned char *code, size_t n, bool *direct,
		    int64_t *target)
{
	if (n < 4)
		return false;
	uint32_t insn = (uint32_t)word_at(code + n - 4, false);

	*direct = insn >> 26 == 0x25; /* bl */
	if (*direct)
		*target = ((int64_t)((uint64_t)insn << 38) >> 36) - 4;
	return *direct || (insn & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (insn & 0xfefff800) == 0xd63f0800; /* blraa, blrab, z */
}

static bool s390x(const unsigned char *code, size_t n, bool *direct,
		  int64_t *target)
{
	/* brasl: c0 r5; bras: a7 r5; basr: 0d; both with any link register. */
	*direct = n >= 6 && code[n - 6] == 0xc0 && (code[n - 5] & 15) == 5;
	if (*direct)
		*target = 2 * (int64_t)word_at(code + n - 4, true) - 6;
	return *direct || (n >= 2 && code[n - 2] == 0x0d) ||
	       (n >= 4 && code[n - 4] == 0xa7 && (code[n - 3] & 15) == 5);
}

bool callsite_before(uint16_t machine, const unsigned char *code, size_t n,
		     bool *direct, int64_t *target)
{
	int64_t unused;

	*direct = false;
	if (!target)
		target = &unused;
	switch (machine) {
	case EM_X86_64:
	case EM_386:
		return x86(code, n, direct, target);
	case EM_AARCH64:
		return aarch64(code, n, direct, target);
	case EM_S390:
		return s390x(code, n, direct, target);
	}
	return false;
}
