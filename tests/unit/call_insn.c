/* call_insn.c - tests of calls by their bytes alone; disasm.c has capstone as
 * their judge. */
#include "symbolize/disasm/call_insn.h"

#include <check.h>
#include <elf.h>
#include <string.h>

#include "tests/unit/run.h"

#define ADDR 0x401000u

static enum call_kind call_test_kind(uint16_t machine, bool big,
				     const char *before, size_t n,
				     const char *after, size_t m, uint64_t *to)
{
	unsigned char code[64];

	memcpy(code, before, n);
	memcpy(code + n, after, m);
	*to = 0;
	return call_insn_before(machine, big, code, n, m, ADDR, to);
}

#define KIND(machine, big, before, after)                                      \
	call_test_kind(machine, big, before, sizeof(before) - 1, after,        \
		       sizeof(after) - 1, &to)

START_TEST(calls_of_x86_are_known_by_their_bytes)
{
	uint64_t to;

	ck_assert_int_eq(KIND(EM_X86_64, false, "\xe8\x10\0\0\0", ""),
			 CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR + 0x10);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xe8\xf0\xff\xff\xff", ""),
			 CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR - 0x10);
	/* call *%rax; *%r12; *8(%rax); *(%rsp); *0x11223344(,%rax,8);
	 * *foo(%rip); notrack call *%rax; *%gs:0x10 */
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xff\xd0", ""), CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x41\xff\xd4", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xff\x50\x08", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xff\x14\x24", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(
		KIND(EM_X86_64, false, "\xff\x14\xc5\x44\x33\x22\x11", ""),
		CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xff\x15\x44\x33\x22\x11", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x3e\xff\xd0", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_386, false, "\x65\xff\x15\x10\0\0\0", ""),
			 CALL_INDIRECT);
	/* call *16(%rax,%rbp,8), whose end looks like a direct call */
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xff\x94\xe8\x10\0\0\0", ""),
			 CALL_INDIRECT);
}
END_TEST

START_TEST(what_is_no_call_of_x86_is_none)
{
	uint64_t to;

	/* push %rbp; jmp *%rax; call *m16:32(%rax); ff d0 cut; nothing */
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x90\x90\x55", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x90\xff\xe0", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x90\xff\x18", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xd0", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_X86_64, false, "", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\xe8\0\0\0", ""), CALL_NONE);
	/* a REX prefix is an instruction in 32-bit code */
	ck_assert_int_eq(KIND(EM_386, false, "\xff\xd0", ""), CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_RISCV, false, "\xe8\0\0\0\0", ""),
			 CALL_UNKNOWN);
}
END_TEST

START_TEST(signal_handlers_and_contexts_return_where_no_call_is)
{
	uint64_t to;

	ck_assert_int_eq(KIND(EM_X86_64, false, "\x90",
			      "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"),
			 CALL_SIGNAL);
	ck_assert_int_eq(KIND(EM_386, false, "\x90", "\xb8\xad\0\0\0\xcd\x80"),
			 CALL_SIGNAL);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x90",
			      "\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff"),
			 CALL_START);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x55\xff\xe3",
			      "\x48\x31\xff\xe8\x49\xfe\xff\xff\xf4"),
			 CALL_START);
	ck_assert_int_eq(KIND(EM_X86_64, false, "\x55\xff\xe3",
			      "\x48\x31\xff\xe8\x49\xfe\xff\xff\x90"),
			 CALL_NONE);
	ck_assert_int_eq(KIND(EM_AARCH64, false, "\x1f\x20\x03\xd5",
			      "\x68\x11\x80\xd2\x01\0\0\xd4"),
			 CALL_SIGNAL);
	ck_assert_int_eq(KIND(EM_S390, true, "\x07\x07", "\x0a\xad"),
			 CALL_SIGNAL);
	ck_assert_int_eq(KIND(EM_PPC64, true, "\x60\0\0\0", "\x38\0\0\xac"),
			 CALL_SIGNAL);
}
END_TEST

/* Go stores the address of the second instruction of runtime.goexit. */
START_TEST(goroutines_return_to_the_second_instruction_of_goexit)
{
	static const struct {
		uint16_t machine;
		bool big;
		size_t nop;  /* bytes of the first instruction */
		size_t call; /* byte that makes the second one a call */
		const char code[17];
	} cases[] = {
		{ EM_X86_64, false, 1, 1, "\x90\xe8\x7a\x24\0\0\x90\xcc\xcc" },
		{ EM_386, false, 1, 1, "\x90\xe8\xfa\x10\xfe\xff\x90\xcc\xcc" },
		{ EM_AARCH64, false, 4, 7,
		  "\xe0\x03\0\xaa\x13\x06\0\x94\0\0\0\0" },
		{ EM_S390, true, 2, 2,
		  "\x07\0\xc0\xe5\xff\xfe\xed\xdf\x07\0\0\0" },
	};
	uint64_t to;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned char *code =
			(const unsigned char *)cases[i].code;
		size_t n = cases[i].nop;
		unsigned char other[16];

		for (uint64_t at = 0; at < 16; at++)
			ck_assert_int_eq(
				call_insn_before(cases[i].machine, cases[i].big,
						 code, n, 12 - n,
						 0x45ca40 + at + n, &to),
				at ? CALL_NONE : CALL_START);
		/* another instruction in front, no call, or no code behind */
		for (size_t k = 0; k < 2; k++) {
			memcpy(other, code, sizeof(other));
			other[k ? cases[i].call : 0] ^= 0x55;
			ck_assert_int_eq(call_insn_before(cases[i].machine,
							  cases[i].big, other,
							  n, 12 - n,
							  0x45ca40 + n, &to),
					 CALL_NONE);
		}
		ck_assert_int_eq(call_insn_before(cases[i].machine,
						  cases[i].big, code, n, 3,
						  0x45ca40 + n, &to),
				 CALL_NONE);
	}
}
END_TEST

START_TEST(calls_of_machines_with_words_are_known)
{
	uint64_t to;

	ck_assert_int_eq(KIND(EM_AARCH64, false, "\x04\0\0\x94", ""),
			 CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR - 4 + 16);
	ck_assert_int_eq(KIND(EM_AARCH64, false, "\xff\xff\xff\x97", ""),
			 CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR - 8);
	/* blr x1; blraaz x8; br x1 */
	ck_assert_int_eq(KIND(EM_AARCH64, false, "\x20\0\x3f\xd6", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_AARCH64, false, "\x1f\x09\x3f\xd6", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_AARCH64, false, "\x20\0\x1f\xd6", ""),
			 CALL_NONE);
	/* brasl %r14; basr %r14,%r1; basr %r14,%r0; basr %r1,%r2 */
	ck_assert_int_eq(KIND(EM_S390, true, "\xc0\xe5\xff\xff\xff\xfd", ""),
			 CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR - 12);
	ck_assert_int_eq(KIND(EM_S390, true, "\x0d\xe1", ""), CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_S390, true, "\x0d\xe0", ""), CALL_NONE);
	ck_assert_int_eq(KIND(EM_S390, true, "\x0d\x12", ""), CALL_NONE);
	/* bl; bctrl; bcl 20,31,.+4 */
	ck_assert_int_eq(KIND(EM_PPC64, true, "\x48\0\0\x11", ""), CALL_DIRECT);
	ck_assert_uint_eq(to, ADDR - 4 + 16);
	ck_assert_int_eq(KIND(EM_PPC64, false, "\x21\x04\x80\x4e", ""),
			 CALL_INDIRECT);
	ck_assert_int_eq(KIND(EM_PPC64, true, "\x42\x9f\0\x05", ""), CALL_NONE);
}
END_TEST

RUN("call", calls_of_x86_are_known_by_their_bytes,
    what_is_no_call_of_x86_is_none,
    signal_handlers_and_contexts_return_where_no_call_is,
    goroutines_return_to_the_second_instruction_of_goexit,
    calls_of_machines_with_words_are_known)
