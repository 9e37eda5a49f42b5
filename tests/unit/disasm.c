/* disasm.c - tests of instructions: what they do to the stack pointer, where
 * they call, and what is none.
 * Needs: libcapstone */
#include "symbolize/disasm/disasm.h"

#include <check.h>
#include <elf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "symbolize/disasm/call_insn.h"
#include "symbolize/elf/elf.h"
#include "tests/unit/run.h"

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

/* ---- capstone judges what is told from bytes alone: every boundary of
 * instructions in real code */

struct tally {
	size_t insns, calls, missed, beside, wrong_target;
};

/* capstone calls every "branch and save" a call; a C function's return
 * address is in %r14 only. */
static bool other_register(uint16_t machine, const struct insn *in)
{
	return machine == EM_S390 && strncmp(in->operands, "%r14,", 5) != 0;
}

static void call_judge(struct tally *t, const struct elf_file *ef,
		       const unsigned char *code, size_t len, uint64_t addr)
{
	bool big = elf_getident(ef->elf, NULL)[EI_DATA] == ELFDATA2MSB;
	struct disasm *d = disasm_open(ef->machine, big, false, NULL);
	const unsigned char *p = code;
	size_t all = len;
	struct insn in;

	ck_assert_ptr_nonnull(d);
	while (disasm_next(d, &p, &len, &addr, &in)) {
		size_t ret = (size_t)(p - code);
		size_t before = ret < CALL_BEFORE ? ret : CALL_BEFORE;
		size_t after = all - ret < CALL_AFTER ? all - ret : CALL_AFTER;
		uint64_t to = 0;
		enum call_kind k = call_insn_before(
			ef->machine, big, p - before, before, after, addr, &to);
		bool call = k == CALL_DIRECT || k == CALL_INDIRECT;

		t->insns++;
		if (in.flow != FLOW_CALL || other_register(ef->machine, &in)) {
			t->beside += call;
			continue;
		}
		t->calls++;
		t->missed += !call;
		t->wrong_target += in.has_target && to != in.target;
		t->wrong_target += in.has_target != (k == CALL_DIRECT);
	}
	disasm_close(d);
}

static void judge_file(struct tally *t, const char *path)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	struct elf_section s;

	*t = (struct tally){ 0 };
	ck_assert_ptr_nonnull(ef);
	for (size_t i = 1; i < elf_sections(ef); i++) {
		if (!elf_section_get(ef, i, &s) || !(s.flags & SHF_EXECINSTR))
			continue;
		Elf_Data *d = elf_section_data(&s);

		if (d)
			call_judge(t, ef, d->d_buf, d->d_size, s.addr);
	}
	elf_file_close(ef);
}

/* No call is missed, and every fixed target is right. Beside the calls only
 * the bytes of an x86 instruction may look like one: less than one in a
 * hundred; words cannot, and pairs of s390x hardly. */
static void call_check_file(const char *path)
{
	struct tally t;
	struct elf_file *ef = elf_file_open(path, NULL);
	size_t most;

	ck_assert_ptr_nonnull(ef);
	judge_file(&t, path);
	printf("%s: %zu instructions, %zu calls, beside them %zu\n", path,
	       t.insns, t.calls, t.beside);
	most = ef->machine == EM_AARCH64 ? 0 : t.insns / 100 + 3;
	if (ef->machine == EM_S390)
		most = t.insns / 10000 + 1;
	elf_file_close(ef);
	ck_assert_uint_eq(t.missed, 0);
	ck_assert_uint_eq(t.wrong_target, 0);
	ck_assert_uint_le(t.beside, most);
	ck_assert_uint_gt(t.calls, 0);
}

START_TEST(capstone_finds_the_same_calls_in_this_program)
{
	call_check_file("/proc/self/exe");
}
END_TEST

START_TEST(capstone_finds_the_same_calls_in_the_captures_programs)
{
	const char *shared = getenv("BACKSTITCH_SHARED");
	glob_t g = { 0 };
	char pattern[512];

	call_check_file("tests/captures/symfs-arm64/wl/small_def");
	for (int i = 0; shared && i < 2; i++) {
		snprintf(pattern, sizeof(pattern),
			 "%s/captures/%s/symfs/usr/lib/*/libc.so.6", shared,
			 i ? "s390x" : "arm64");
		if (!glob(pattern, 0, NULL, &g))
			for (size_t k = 0; k < g.gl_pathc; k++)
				call_check_file(g.gl_pathv[k]);
		globfree(&g);
	}
}
END_TEST

START_TEST(what_is_no_instruction_is_stepped_over)
{
	static const struct {
		uint16_t machine;
		bool big;
		unsigned int step;
		const char *bad;
	} all[] = { { EM_X86_64, false, 1, "\6\6\6\6\6\6\6" },
		    { EM_AARCH64, false, 4, "\377\377\377\377\377\377\377" },
		    { EM_S390, true, 2, "\0\0\0\0\0\0\0" },
		    { EM_PPC64, true, 4, "\0\0\0\0\0\0\0" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct disasm *d =
			disasm_open(all[i].machine, all[i].big, false, NULL);
		const unsigned char *p = (const unsigned char *)all[i].bad;
		size_t len = 7;
		uint64_t addr = 0;
		struct insn in;

		ck_assert_ptr_nonnull(d);
		ck_assert(disasm_next(d, &p, &len, &addr, &in));
		ck_assert_int_eq(in.flow, FLOW_BAD);
		ck_assert_uint_eq(in.len, all[i].step);
		while (disasm_next(d, &p, &len, &addr, &in))
			ck_assert_uint_gt(in.len, 0);
		ck_assert_uint_eq(addr, 7);
		disasm_close(d);
	}
	ck_assert_ptr_null(disasm_open(EM_68K, true, false, NULL));
}
END_TEST

START_TEST(both_syntaxes_of_x86_are_written)
{
	static const unsigned char mov[] = "\x48\x89\xd8";

	for (int intel = 0; intel < 2; intel++) {
		struct disasm *d = disasm_open(EM_X86_64, false, intel, NULL);
		const unsigned char *p = mov;
		size_t len = 3;
		uint64_t addr = 0;
		struct insn in;

		ck_assert(disasm_next(d, &p, &len, &addr, &in));
		ck_assert_str_eq(in.operands,
				 intel ? "rax, rbx" : "%rbx, %rax");
		disasm_close(d);
	}
}
END_TEST

RUN("disasm", of_x86, of_aarch64, of_s390x,
    capstone_finds_the_same_calls_in_this_program,
    capstone_finds_the_same_calls_in_the_captures_programs,
    what_is_no_instruction_is_stepped_over, both_syntaxes_of_x86_are_written)
