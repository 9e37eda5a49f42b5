/* frame_code.c - tests of prologues and epilogues as compilers make them. */
#include "symbolize/disasm/frame_code.h"

#include <check.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/run.h"

/* One function; the numbers are where its instructions are. */
struct function {
	const char *what;
	const char *code;
	size_t len;
	size_t set;  /* from here on FP is that of the function; 0: never */
	size_t back; /* from here on it is the caller's again; 0: no epilogue */
};

#define CODE(s) s, sizeof(s) - 1

static const struct function x86[] = {
	{ "Go 1.15: stack check by TLS; an offset of one byte",
	  CODE("\x64\x48\x8b\x0c\x25\xf8\xff\xff\xff" /* mov %fs:-8,%rcx */
	       "\x48\x3b\x61\x10\x76\x20" /* cmp 16(%rcx),%rsp; jbe */
	       "\x48\x83\xec\x38\x48\x89\x6c\x24\x30"	    /* at 15 */
	       "\x48\x8d\x6c\x24\x30\x90"		    /* at 24 */
	       "\x48\x8b\x6c\x24\x30\x48\x83\xc4\x38\xc3"), /* at 30 */
	  29, 35 },
	{ "Go 1.19: an offset of four bytes",
	  CODE("\x4c\x8d\xa4\x24\x78\xff\xff\xff"
	       "\x4d\x3b\x66\x10\x0f\x86\xc6\x02\0\0"
	       "\x48\x81\xec\x08\x01\0\0" /* at 18 */
	       "\x48\x89\xac\x24\0\x01\0\0\x48\x8d\xac\x24\0\x01\0\0\x90"
	       "\x48\x8b\xac\x24\0\x01\0\0\x48\x81\xc4\x08\x01\0\0\xc3"),
	  41, 50 },
	{ "Go 1.19: a generated wrapper, no offset",
	  CODE("\x48\x83\xec\x08\x48\x89\x2c\x24\x48\x8d\x2c\x24\x90"
	       "\x48\x8b\x2c\x24\x48\x83\xc4\x08\xc3"),
	  12, 17 },
	{ "Go 1.19: 128 is added as -128 is subtracted",
	  CODE("\x48\x83\xc4\x80\x48\x89\x6c\x24\x78\x48\x8d\x6c\x24\x78\x90"
	       "\x48\x8b\x6c\x24\x78\x48\x83\xec\x80\xc3"),
	  14, 20 },
	{ "Go 1.21: rbp is pushed",
	  CODE("\x49\x3b\x66\x10\x76\x40\x55\x48\x89\xe5\x48\x83\xec\x10\x90"
	       "\x48\x83\xc4\x10\x5d\xc3"),
	  10, 20 },
	{ "Go 1.21: no locals", CODE("\x55\x48\x89\xe5\x90\x5d\xc3"), 4, 6 },
	{ "a tail call",
	  CODE("\x55\x48\x89\xe5\x48\x83\xec\x10\x90\x48\x8b\x6c\x24\x10"
	       "\x48\x83\xc4\x18\xe9\0\x01\0\0"),
	  4, 14 },
	{ "gcc -O0 -fcf-protection: endbr64, the other mov",
	  CODE("\xf3\x0f\x1e\xfa\x55\x48\x8b\xec\x48\x83\xec\x20\xc9\xc3"), 8,
	  13 },
	{ "enter", CODE("\xc8\x20\0\0\x90\xc9\xc3"), 4, 6 },
	{ "rbp behind another register is no link of the chain",
	  CODE("\x41\x57\x55\x48\x89\xe5\x90\x5d\x41\x5f\xc3"), 0, 8 },
	{ "rbp saved, and other data in it",
	  CODE("\x55\x48\x89\xfd\x90\x5d\xc3"), 0, 6 },
	{ "saved at one place, the address of another",
	  CODE("\x48\x83\xec\x38\x48\x89\x6c\x24\x30\x48\x8d\x6c\x24\x28\x90"),
	  0, 0 },
	{ "a frame without rbp",
	  CODE("\x48\x83\xec\x18\x90\x48\x83\xc4\x18\xc3"), 0, 5 },
	{ "bytes that only look like it: mov $0xe5894855,%eax",
	  CODE("\xb8\x55\x48\x89\xe5\x90\x90"), 0, 0 },
	{ "two of two bytes in front, with an operand and without one",
	  CODE("\x0f\xb6\xd0\x0f\xc8\x55\x48\x89\xe5\x90\x5d\xc3"), 9, 11 },
	{ "behind a call it is no prologue",
	  CODE("\xe8\0\0\0\0\x55\x48\x89\xe5\x90"), 0, 0 },
};

/* The same in instructions. */
static const struct words {
	const char *what;
	uint32_t code[12];
	size_t n, set, back;
} a64[] = {
	{ "Go 1.15",
	  { 0xf9400b81, 0x910003e2, 0xeb01005f, 0x54000489, 0xf81c0ffe,
	    0xf81f83fd, 0xd10023fd, 0xd2800000, 0xf85f83fd, 0xf84407fe,
	    0xd65f03c0 },
	  11,
	  7,
	  9 },
	{ "Go 1.19: ldp",
	  { 0xf81e0ffe, 0xf81f83fd, 0xd10023fd, 0xf100081f, 0xa97ffbfd,
	    0x910083ff, 0xd65f03c0 },
	  7,
	  3,
	  5 },
	{ "Go 1.19: a large frame, SP by x20 and x27",
	  { 0xd290041b, 0xcb3b63f4, 0xa93ffa9d, 0x9100029f, 0xd10023fd,
	    0x910063f0, 0xa97ffbfd, 0xd290041b, 0x8b3b63ff, 0xd65f03c0 },
	  10,
	  5,
	  7 },
	{ "gcc: paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp",
	  { 0xd503233f, 0xa9be7bfd, 0x910003fd, 0xd503201f, 0xa8c27bfd,
	    0xd50323bf, 0xd65f03c0 },
	  7,
	  3,
	  5 },
	{ "clang: stp x29, x30, [sp, #16]; add x29, sp, #16",
	  { 0xd10083ff, 0xa9017bfd, 0x910043fd, 0xd503201f, 0xa9417bfd,
	    0x910083ff, 0xd65f03c0 },
	  7,
	  3,
	  5 },
	{ "gcc -fomit-frame-pointer: str x30, [sp, #-16]!",
	  { 0xf81f0ffe, 0xd503201f, 0xf84107fe, 0xd65f03c0 },
	  4,
	  0,
	  1 },
};

/* Asks at each byte: addresses of samples are those of instructions, of which
 * the answer must not change within one. */
static void function_check(uint16_t machine, const struct function *f)
{
	const unsigned char *code = (const unsigned char *)f->code;
	unsigned char exact[FRAME_CODE_PROLOGUE];

	for (size_t at = 0; at <= f->len; at++) {
		/* no byte behind those that may be read */
		memcpy(exact, code, at);
		ck_assert_msg(frame_code_sets(machine, exact, at) ==
				      (f->set && at >= f->set),
			      "%s: set at %zu", f->what, at);
	}
	if (!f->back)
		return;
	ck_assert_msg(
		frame_code_leaves(machine, code + f->back, f->len - f->back),
		"%s: back", f->what);
	if (f->set)
		ck_assert_msg(!frame_code_leaves(machine, code + f->set,
						 f->len - f->set),
			      "%s: not yet back", f->what);
}

START_TEST(where_code_of_x86_has_set_the_frame_pointer)
{
	function_check(EM_X86_64, &x86[_i]);
}
END_TEST

START_TEST(where_code_of_aarch64_has_set_the_frame_pointer)
{
	const struct words *w = &a64[_i];
	unsigned char code[sizeof(w->code)];
	const struct function f = { w->what, (const char *)code, w->n * 4,
				    w->set * 4, w->back * 4 };

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (unsigned char)(w->code[i / 4] >> i % 4 * 8);
	function_check(EM_AARCH64, &f);
}
END_TEST

START_TEST(a_loop_is_not_the_way_out)
{
	/* mov %rax,(%rbx); jmp back */
	ck_assert(!frame_code_leaves(
		EM_X86_64, (const unsigned char *)"\x48\x89\x03\xeb\xfb", 5));
	/* sub $0x78,%rsp; xor %edx,%edx; jmp to the condition */
	ck_assert(!frame_code_leaves(
		EM_X86_64,
		(const unsigned char *)"\x48\x83\xec\x78\x31\xd2\xeb\x3b", 8));
	ck_assert(!frame_code_leaves(EM_X86_64, (const unsigned char *)"", 0));
}
END_TEST

/* Functions of crtstuff and crti.o, as gcc 12 makes them for Debian 12: from
 * where on which answer holds. cfa 0: none, AWAY: another stack. */
#define AWAY -1
static const struct ends {
	const char *what;
	const char *code;
	size_t len;
	struct {
		size_t at;
		int64_t cfa, fp;
	} from[6];
} ends[] = {
	{ "__do_global_dtors_aux",
	  CODE("\xf3\x0f\x1e\xfa\x80\x3d\xcd\xad\x01\0\0\x75\x2b"
	       "\x55\x48\x83\x3d\x12\xac\x01\0\0\x48\x89\xe5\x74\x0c"
	       "\x48\x8b\x3d\xae\xad\x01\0\xe8\x59\xff\xff\xff"
	       "\xe8\x64\xff\xff\xff\xc6\x05\xa5\xad\x01\0\x01\x5d\xc3"
	       "\x0f\x1f\0\xc3"),
	  { { 0, 8, FRAME_CODE_KEPT },
	    { 4, 8, FRAME_CODE_KEPT },
	    { 14, 16, 0 },
	    { 34 + 5, 16, 0 },
	    { 52, 8, FRAME_CODE_KEPT } } },
	{ "deregister_tm_clones",
	  CODE("\x48\x8d\x3d\x41\xae\x01\0\x48\x8d\x05\x3a\xae\x01\0"
	       "\x48\x39\xf8\x74\x15\x48\x8b\x05\x66\xac\x01\0"
	       "\x48\x85\xc0\x74\x09\xff\xe0\x0f\x1f\x80\0\0\0\0\xc3"),
	  { { 0, 8, FRAME_CODE_KEPT }, { 31, 8, FRAME_CODE_KEPT } } },
	{ "frame_dummy",
	  CODE("\xf3\x0f\x1e\xfa\xe9\x77\xff\xff\xff"),
	  { { 0, 8, FRAME_CODE_KEPT } } },
	{ "_init",
	  CODE("\x48\x83\xec\x08\x48\x8b\x05\xbd\xaf\x01\0\x48\x85\xc0"
	       "\x74\x02\xff\xd0\x48\x83\xc4\x08\xc3"),
	  { { 0, 8, FRAME_CODE_KEPT },
	    { 4, 16, FRAME_CODE_KEPT },
	    { 18, 16, FRAME_CODE_KEPT },
	    { 22, 8, FRAME_CODE_KEPT } } },
	{ "Go: mov 48(%rsp),%rbp",
	  CODE("\x48\x8b\x6c\x24\x30\x48\x83\xc4\x38\xc3"),
	  { { 0, 64, 48 }, { 5, 64, FRAME_CODE_KEPT } } },
	{ "a jump with something on the stack: a loop, or a stub of a plt",
	  CODE("\x68\x01\0\0\0\xe9\xe0\xff\xff\xff"),
	  { { 0, 0, 0 } } },
	{ "_start: hlt", CODE("\xff\x15\0\0\0\0\xf4"), { { 0, 0, 0 } } },
	{ "leave", CODE("\xc9\xc3"), { { 0, 0, 0 } } },
	{ "mov %rcx,%rsp", CODE("\x48\x89\xcc\xc3"), { { 0, AWAY, 0 } } },
	{ "Go: runtime.systemstack()",
	  CODE("\xff\xd7\x64\x48\x8b\x04\x25\xf8\xff\xff\xff\x48\x8b\x58\x30"
	       "\x48\x8b\x60\x38\x48\xc7\x40\x38\0\0\0\0\xc3"),
	  { { 0, AWAY, 0 }, { 2, AWAY, 0 }, { 19, 8, FRAME_CODE_KEPT } } },
	{ "pop %rsp", CODE("\x5c\xc3"), { { 0, AWAY, 0 } } },
	{ "pop %r12", CODE("\x41\x5c\xc3"), { { 0, 16, FRAME_CODE_KEPT } } },
	{ "xchg %rax,%rsp", CODE("\x48\x94\xc3"), { { 0, AWAY, 0 } } },
	{ "xchg %rdx,%rsp", CODE("\x48\x87\xd4\xc3"), { { 0, AWAY, 0 } } },
	{ "sub %rax,%rsp", CODE("\x48\x29\xc4\xc3"), { { 0, 0, 0 } } },
	{ "add 8(%rdi),%rsp", CODE("\x48\x03\x67\x08\xc3"), { { 0, 0, 0 } } },
	{ "cmp %rax,%rsp",
	  CODE("\x48\x39\xc4\xc3"),
	  { { 0, 8, FRAME_CODE_KEPT } } },
	{ "ud2, and the next function",
	  CODE("\x0f\x0b\x55\x5d\xc3"),
	  { { 0, 0, 0 } } },
	{ "iretq, and the next function",
	  CODE("\x48\xcf\x55\x5d\xc3"),
	  { { 0, 0, 0 } } },
	{ "no end", CODE("\x48\x85\xc0"), { { 0, 0, 0 } } },
};

START_TEST(where_code_returns_to)
{
	const struct ends *e = &ends[_i];

	for (size_t i = 0; i < 6 && (!i || e->from[i].at); i++) {
		unsigned char exact[FRAME_CODE_WHOLE];
		size_t n = e->len - e->from[i].at;
		int64_t cfa = -1, fp = -1;
		int64_t want = e->from[i].cfa;
		enum frame_code_end end;

		/* no byte behind those that may be read */
		memcpy(exact, e->code + e->from[i].at, n);
		end = frame_code_ends(EM_X86_64, exact, n, &cfa, &fp);
		ck_assert_msg(end == (want == AWAY ? FRAME_CODE_SWITCHES
				      : want	   ? FRAME_CODE_RETURNS
						   : FRAME_CODE_UNKNOWN),
			      "%s: %zu: %d", e->what, e->from[i].at, (int)end);
		ck_assert_msg(end != FRAME_CODE_RETURNS ||
				      (cfa == want && fp == e->from[i].fp),
			      "%s: %zu: %lld, %lld", e->what, e->from[i].at,
			      (long long)cfa, (long long)fp);
		ck_assert_int_eq(
			frame_code_ends(EM_AARCH64, exact, n & ~3ul, &cfa, &fp),
			FRAME_CODE_UNKNOWN);
	}
}
END_TEST

static const struct exits {
	const char *what;
	const char *code;
	size_t len;
	uint16_t machine;
	bool exits;
} exits[] = {
	{ "Go 1.19, runtime.clone()",
	  CODE("\xbf\x6f\0\0\0\xb8\x3c\0\0\0\x0f\x05"), EM_X86_64, true },
	{ "musl 1.2, clone()", CODE("\x89\xc7\x31\xc0\xb0\x3c\x0f\x05\xf4"),
	  EM_X86_64, true },
	{ "mov $60,%rax; xor %rdi,%rdi",
	  CODE("\x48\xc7\xc0\x3c\0\0\0\x48\x31\xff\x0f\x05"), EM_X86_64, true },
	{ "exit_group", CODE("\x31\xff\xb8\xe7\0\0\0\x0f\x05"), EM_X86_64,
	  true },
	{ "push $60; pop %rax", CODE("\x6a\x3c\x58\x0f\x05"), EM_X86_64, true },
	{ "write", CODE("\xbf\1\0\0\0\xb8\1\0\0\0\x0f\x05"), EM_X86_64, false },
	{ "a number from before", CODE("\x31\xff\x0f\x05"), EM_X86_64, false },
	{ "it is in a function that is called",
	  CODE("\xb8\x3c\0\0\0\xe8\0\0\0\0\x0f\x05"), EM_X86_64, false },
	{ "the number is cut", CODE("\xb8\x3c\0"), EM_X86_64, false },
	{ "nothing", CODE(""), EM_X86_64, false },
	{ "Go 1.19: mov x0, #111; mov x8, #93; svc",
	  CODE("\xe0\x0d\x80\xd2\xa8\x0b\x80\xd2\x01\0\0\xd4"), EM_AARCH64,
	  true },
	{ "mov w8, #94; svc", CODE("\xc8\x0b\x80\x52\x01\0\0\xd4"), EM_AARCH64,
	  true },
	{ "mov x8, #64; svc", CODE("\x08\x08\x80\xd2\x01\0\0\xd4"), EM_AARCH64,
	  false },
	{ "svc", CODE("\x01\0\0\xd4"), EM_AARCH64, false },
};

START_TEST(where_code_ends_its_thread)
{
	const struct exits *e = &exits[_i];
	unsigned char exact[FRAME_CODE_EXIT];

	memcpy(exact, e->code, e->len);
	ck_assert_msg(frame_code_exits(e->machine, exact, e->len) == e->exits,
		      "%s", e->what);
	ck_assert(!frame_code_exits(EM_386, exact, e->len));
	for (size_t n = 0; e->exits && n + 4 < e->len; n++)
		ck_assert_msg(!frame_code_exits(e->machine, exact, n),
			      "%s: %zu", e->what, n);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(where_code_ends_its_thread, exits),
	RUN_TABLE(where_code_returns_to, ends),
	RUN_TABLE(where_code_of_x86_has_set_the_frame_pointer, x86),
	RUN_TABLE(where_code_of_aarch64_has_set_the_frame_pointer, a64),
};

RUN_TABLES("frame_code", tables, a_loop_is_not_the_way_out)
