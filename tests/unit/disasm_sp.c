/* disasm_sp.c - tests of what instructions do to the stack pointer. */
#include <elf.h>
#include <string.h>

#include "run.h"
#include "stitch/base/err.h"
#include "symbolize/disasm/disasm.h"

struct one {
	const char *code;
	unsigned int len;
	enum disasm_sp sp;
	int64_t by;
};

static void disasm_sp_check_all(uint16_t machine, bool big, const struct one *o,
				size_t n)
{
	struct err err;
	struct disasm *d = disasm_open(machine, big, true, &err);

	ck_assert_ptr_nonnull(d);
	for (size_t i = 0; i < n; i++) {
		const unsigned char *code = (const unsigned char *)o[i].code;
		size_t len = o[i].len;
		uint64_t addr = 0x1000;
		struct insn in;
		int64_t by = 1;

		ck_assert(disasm_next(d, &code, &len, &addr, &in));
		ck_assert_msg(in.flow != FLOW_BAD && !len, "%zu: %s %s", i,
			      in.mnemonic, in.operands);
		ck_assert_msg(disasm_sp(d, &by) == o[i].sp &&
				      by == (o[i].sp == SP_MOVED ? o[i].by : 0),
			      "%zu: %s %s: %d", i, in.mnemonic, in.operands,
			      (int)by);
	}
	disasm_close(d);
}

START_TEST(of_x86)
{
	static const struct one o[] = {
		{ "\x55", 1, SP_MOVED, -8 },		       /* push rbp */
		{ "\x41\x54", 2, SP_MOVED, -8 },	       /* push r12 */
		{ "\x68\1\0\0\0", 5, SP_MOVED, -8 },	       /* push 1 */
		{ "\x6a\1", 2, SP_MOVED, -8 },		       /* push 1 */
		{ "\xff\x35\1\0\0\0", 6, SP_MOVED, -8 },       /* push [] */
		{ "\x9c", 1, SP_MOVED, -8 },		       /* pushfq */
		{ "\x5d", 1, SP_MOVED, 8 },		       /* pop rbp */
		{ "\x5c", 1, SP_SET, 0 },		       /* pop rsp */
		{ "\x48\x83\xec\x18", 4, SP_MOVED, -24 },      /* sub */
		{ "\x48\x81\xec\0\1\0\0", 7, SP_MOVED, -256 }, /* sub */
		{ "\x48\x83\xc4\x18", 4, SP_MOVED, 24 },       /* add */
		{ "\x48\x83\xc4\x80", 4, SP_MOVED, -128 },     /* add -128 */
		{ "\x48\x8d\x64\x24\xf8", 5, SP_MOVED, -8 },   /* lea */
		{ "\x48\x8d\x65\xf0", 4, SP_SET, 0 },  /* lea rsp, [rbp-16] */
		{ "\x48\x83\xe4\xf0", 4, SP_SET, 0 },  /* and rsp, -16 */
		{ "\x48\x89\xec", 3, SP_SET, 0 },      /* mov rsp, rbp */
		{ "\xc9", 1, SP_SET, 0 },	       /* leave */
		{ "\xc3", 1, SP_KEPT, 0 },	       /* ret */
		{ "\xe8\0\0\0\0", 5, SP_KEPT, 0 },     /* call */
		{ "\x48\x89\xe5", 3, SP_KEPT, 0 },     /* mov rbp, rsp */
		{ "\x48\x8b\x04\x24", 4, SP_KEPT, 0 }, /* mov rax, [rsp] */
	};

	disasm_sp_check_all(EM_X86_64, false, o, sizeof(o) / sizeof(o[0]));
}
END_TEST

START_TEST(of_aarch64)
{
	static const struct one o[] = {
		{ "\xfd\x7b\xbe\xa9", 4, SP_MOVED, -32 },   /* stp [sp, -32]! */
		{ "\xfd\x7b\xc2\xa8", 4, SP_MOVED, 32 },    /* ldp [sp], 32 */
		{ "\xfe\x0f\x1f\xf8", 4, SP_MOVED, -16 },   /* str [sp, -16]! */
		{ "\xfe\x07\x41\xf8", 4, SP_MOVED, 16 },    /* ldr [sp], 16 */
		{ "\xff\x83\x00\xd1", 4, SP_MOVED, -32 },   /* sub sp, sp, 32 */
		{ "\xff\x83\x00\x91", 4, SP_MOVED, 32 },    /* add sp, sp, 32 */
		{ "\xff\x07\x40\xd1", 4, SP_MOVED, -4096 }, /* 1, lsl 12 */
		{ "\xbf\x03\x00\x91", 4, SP_SET, 0 },	    /* mov sp, x29 */
		{ "\xfd\x03\x00\x91", 4, SP_KEPT, 0 },	    /* mov x29, sp */
		{ "\xfd\x7b\x01\xa9", 4, SP_KEPT, 0 },	    /* stp [sp, 16] */
		{ "\x01\x84\x40\xf8", 4, SP_KEPT, 0 },	    /* ldr [x0], 8 */
		{ "\xc0\x03\x5f\xd6", 4, SP_KEPT, 0 },	    /* ret */
	};

	disasm_sp_check_all(EM_AARCH64, false, o, sizeof(o) / sizeof(o[0]));
}
END_TEST

START_TEST(of_s390x)
{
	static const struct one o[] = {
		{ "\xa7\xfb\xff\x60", 4, SP_MOVED, -160 },	   /* aghi */
		{ "\xe3\xf0\xff\x60\xff\x71", 6, SP_MOVED, -160 }, /* lay */
		{ "\xeb\xbf\xf0\xf8\x00\x04", 6, SP_SET, 0 },  /* lmg to 15 */
		{ "\xeb\xbe\xf0\xf8\x00\x04", 6, SP_KEPT, 0 }, /* lmg to 14 */
		{ "\xeb\xbf\xf0\x58\x00\x24", 6, SP_KEPT, 0 }, /* stmg */
		{ "\xb9\x04\x00\xfb", 4, SP_SET, 0 },	       /* lgr 15, 11 */
		{ "\xb9\x04\x00\xbf", 4, SP_KEPT, 0 },	       /* lgr 11, 15 */
		{ "\x07\xfe", 2, SP_KEPT, 0 },		       /* br 14 */
	};

	disasm_sp_check_all(EM_S390, true, o, sizeof(o) / sizeof(o[0]));
}
END_TEST

RUN("disasm_sp", of_x86, of_aarch64, of_s390x)
