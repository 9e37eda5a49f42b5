/* symbolize_unwind.c - stacks of dumps, by tables made for each case. */
#include "symbolize/unwind/unwind.h"

#include <stdio.h>

#include "mkelf.h"
#include "run.h"
#include "stitch/base/bytes.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/symbolize.h"
#include "tests/unit/scratch.h"

/* Functions of 0x100 bytes, in the order of struct prog. */
enum {
	LEAF,	/* nothing pushed; from 0x80 .plt.sec, from 0xc0 .plt.got */
	BIG,	/* CFA = SP + 32 */
	FRAME,	/* CFA = FP + 16, FP at CFA - 16 */
	START,	/* no caller */
	RBX,	/* CFA = rbx + 8: no row can say it */
	SAVES,	/* CFA = SP + 16, rbx at CFA - 16 */
	POPPED, /* CFA = SP + 8, FP at CFA - 16, which is below SP */
	DRAP,	/* CFA is at FP - 8, FP at FP */
	PLT,	/* as ld has it */
	SIGNAL, /* glibc's __restore_rt */
	ONCE,	/* as FRAME; calls LEAF at one place */
	TWICE,	/* the same at two */
	NEVER,	/* at none */
	PASSES, /* at one, BIG, that calls it without a frame, and stubs */
	CLONE,	/* as LEAF; goes on with a system call, the start of BARE */
	BARE,	/* no table */
	FUNCS
};

#define MAPPED 0x7f0000000000u
#define SP 0x7ffe00001000u
/* An address in the function behind whose calls it returns to. */
#define IN(f) (MAPPED + MKELF_OFF + (f)*0x100u + 0x40u)
/* The same in a file that was built with frame pointers: but for LEAF, BIG and
 * START all functions are like FRAME. BARE is where it is started. */
#define KEPT 0x7f1000000000u
#define IN_KEPT(f) (IN(f) - MAPPED + KEPT)
/* The same, but the table counts from SP everywhere, and only the code of these
 * functions says that they set FP. */
#define CODE 0x7f2000000000u
#define IN_CODE(f) (IN(f) - MAPPED + CODE)

enum made_with {
	FRAMES_FEW,
	FRAMES_IN_TABLE,
	FRAMES_IN_CODE
};

static const struct {
	unsigned char code[16];
	size_t len;
} prog[FUNCS] = {
	[BIG] = { { 0x0e, 32 }, 2 },
	[FRAME] = { { 0x0c, 6, 16, 0x86, 2 }, 5 },
	[START] = { { 0x07, 16 }, 2 },
	[RBX] = { { 0x0c, 3, 8 }, 3 },
	[SAVES] = { { 0x0e, 16, 0x83, 2 }, 4 },
	[POPPED] = { { 0x86, 2 }, 2 },
	[DRAP] = { { 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0 }, 10 },
	[PLT] = { { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
		    0x24, 0x22 },
		  13 },
	[SIGNAL] = { { 0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, 6, 3, 0x77, 0xf8, 0,
		       0x10, 16, 3, 0x77 },
		     16 }, /* and 0xa8 1: see table() */
	[ONCE] = { { 0x0c, 6, 16, 0x86, 2 }, 5 },
	[TWICE] = { { 0x0c, 6, 16, 0x86, 2 }, 5 },
	[NEVER] = { { 0x0c, 6, 16, 0x86, 2 }, 5 },
	[PASSES] = { { 0x0c, 6, 16, 0x86, 2 }, 5 },
};

static char dir[64];
static struct symbolizer *sy;
static struct frames *fr;
static struct unwinder *uw;
static uint32_t image, image_kept, image_code;

/* CIEs: CFA = SP + 8, return address at CFA - 8; the second of a signal. */
static size_t table(unsigned char *p, enum made_with kept)
{
	static const unsigned char cie[2][16] = {
		{ 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 },
		{ 1, 'z', 'S', 0, 1, 0x78, 16, 0 },
	};
	size_t cie_at[2];
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		cie_at[i] = n;
		n = mkelf_put32(p, n, 20);
		n = mkelf_put32(p, n, 0);
		memcpy(p + n, cie[i], 16);
		n += 16;
	}
	for (size_t i = 0; i < BARE; i++) {
		size_t c = i == SIGNAL && !kept;
		/* few have a frame; most that have something on the stack do
		 * not */
		size_t like = !kept && i >= NEVER && i <= PASSES ? SAVES
			      : !kept || i <= BIG || i == START || i == PLT ? i
			      : kept == FRAMES_IN_TABLE ? FRAME
							: SAVES;

		n = mkelf_put32(p, n, 4 + 16 + 1 + 24);
		n = mkelf_put32(p, n, (uint32_t)(n - cie_at[c]));
		n = mkelf_put64(p, n, MKELF_TEXT + i * 0x100);
		n = mkelf_put64(p, n, 0x100);
		/* the length of no augmentation data, or a nop */
		memset(p + n, 0, 25);
		memcpy(p + n + 1, prog[like].code, prog[like].len);
		if (like == SIGNAL)
			memcpy(p + n + 1 + prog[i].len, "\xa8\x01", 2);
		n += 25;
	}
	return n;
}

static void put_code(int fd, uint64_t at, const void *code, size_t n)
{
	ck_assert_int_eq(pwrite(fd, code, n, (off_t)(at - MAPPED)), (int)n);
}

/* A direct call that returns to `ret`. */
static void put_call(int fd, uint64_t ret, uint64_t target)
{
	unsigned char code[5] = { 0xe8 };

	mkelf_put32(code, 1, (uint32_t)(target - ret));
	put_code(fd, ret - 5, code, 5);
}

static uint32_t unwind_make_file(const char *name, enum made_with kept)
{
	static unsigned char eh[4096];
	const struct mkelf m = { .extra = eh,
				 .extra_len = table(eh, kept),
				 .extra_name = ".eh_frame",
				 .entry =
					 kept ? MKELF_TEXT + BARE * 0x100 : 0 };
	const struct image img = { .kind = IMAGE_FILE, .path = name };
	char path[128];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	mkelf(path, &m);
	/* call *%rax before the address that a frame of BARE returns to */
	int fd = open(path, O_WRONLY);
	ck_assert_int_eq(
		pwrite(fd, "\xff\xd0", 2, MKELF_OFF + BARE * 0x100 + 0x40 - 2),
		2);
	ck_assert_int_eq(pwrite(fd, "\x0f\x05", 2, MKELF_OFF + BARE * 0x100),
			 2);
	/* push %rbp; mov %rsp,%rbp: as Go's, whose table counts from SP */
	for (int i = START + 1; i < CLONE; i++)
		if (i == SAVES || kept == FRAMES_IN_CODE)
			ck_assert_int_eq(pwrite(fd, "\x55\x48\x89\xe5", 4,
						MKELF_OFF + i * 0x100),
					 4);
	/* Where it is kept, BIG has no frame, ONCE and TWICE have; all of
	 * these call LEAF, NEVER calls nobody. */
	put_call(fd, IN(FRAME), IN(BIG) - 0x40);
	put_call(fd, IN(BIG), IN(LEAF) - 0x40);
	put_call(fd, IN(DRAP), IN(ONCE) - 0x40);
	put_call(fd, IN(ONCE), IN(LEAF) - 0x40);
	put_call(fd, IN(SAVES), IN(TWICE) - 0x40);
	put_call(fd, IN(TWICE), IN(LEAF) - 0x40);
	put_call(fd, IN(TWICE) + 0x40, IN(LEAF) - 0x40);
	put_call(fd, IN(RBX), IN(NEVER) - 0x40);
	put_call(fd, IN(CLONE), IN(PASSES) - 0x40);
	put_call(fd, IN(CLONE) + 0x40, IN(LEAF) + 0x20);
	put_code(fd, IN(CLONE) + 0x40 - 10, "\x48\x8d\x6c\x24\xf0", 5);
	put_call(fd, IN(PASSES), IN(LEAF) - 0x40);
	put_call(fd, IN(PASSES) + 0x40, IN(BIG) - 0x40);
	put_call(fd, IN(PASSES) + 0x60, IN(PLT));
	put_call(fd, IN(PASSES) + 0x70, IN(LEAF) + 0x50);
	put_call(fd, IN(PASSES) + 0x80, IN(LEAF) + 0x88);
	put_code(fd, IN(LEAF) + 0x50, "\xf3\x0f\x1e\xfa\xff\x25", 6);
	put_code(fd, IN(LEAF) + 0x60, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7);
	for (uint64_t at = IN(LEAF) + 0x88; at < IN(LEAF) + 0x98; at += 8)
		put_code(fd, at, "\xff\x25\0\0\0\0\x66\x90", 8);
	/* movb $1,0(%rip); pop %rbp; ret: as crtstuff ends */
	put_call(fd, IN(BARE) + 0x80, IN(LEAF) - 0x40);
	put_code(fd, IN(BARE) + 0x80, "\xc6\x05\0\0\0\0\x01\x5d\xc3", 9);
	/* a call that does not return, and the next function: push %rbp;
	 * pop %rbp; ret */
	put_call(fd, IN(BARE) + 0x98, IN(LEAF) - 0x40);
	put_code(fd, IN(BARE) + 0x98, "\x55\x5d\xc3", 3);
	/* mov 0x38(%rax),%rsp; ret: as Go's systemstack, whose table is that of
	 * a function with nothing on the stack */
	put_call(fd, IN(LEAF) + 0x20, IN(BIG) - 0x40);
	put_code(fd, IN(LEAF) + 0x20, "\x48\x8b\x60\x38\xc3", 5);
	/* mov 0x38(%r14),%rsp; push %rax; mov (%rdx),%r12; call *%r12;
	 * pop %rax; jmp: as Go's mcall; and without the first */
	put_code(fd, IN(SAVES) + 0x20 - 11,
		 "\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4\x58\xe9", 13);
	put_code(fd, IN(SAVES) + 0x60 - 3, "\x41\xff\xd4\x58\xe9", 5);
	/* mov 0x38(%rbx),%rsp; call: as its morestack */
	put_call(fd, IN(LEAF) + 0xb0, IN(BIG) - 0x40);
	put_code(fd, IN(LEAF) + 0xb0 - 9, "\x48\x8b\x63\x38", 4);
	/* call *%r12; mov $111,%edi; mov $60,%eax; syscall: as its clone */
	put_code(fd, IN(LEAF) + 0x30 - 3,
		 "\x41\xff\xd4\xbf\x6f\0\0\0\xb8\x3c\0\0\0\x0f\x05", 15);
	put_code(fd, IN(LEAF) - 0x10, "\xc3\xc3", 2);
	/* the same with FP, which these push since Go 1.21: mov 0x38(%rsi),%rsp
	 * as far before as in asmcgocall; call *%rdi; mov 0x38(%rax),%rsp;
	 * pop %rbp; ret. mcall has a nop behind its call since 1.23 */
	put_code(fd, IN(SAVES) + 0x90 - 36, "\x48\x8b\x66\x38", 4);
	put_code(fd, IN(SAVES) + 0x90 - 2, "\xff\xd7\x48\x8b\x60\x38\x5d\xc3",
		 8);
	put_code(fd, IN(SAVES) + 0xb0 - 11,
		 "\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4\x90\x58\xe9",
		 14);
	/* mov 0x38(%rbx),%rsp; mov 0x68(%rbx),%rbp; call: its morestack */
	put_call(fd, IN(LEAF) + 0x14, IN(BIG) - 0x40);
	put_code(fd, IN(LEAF) + 0x14 - 13, "\x48\x8b\x63\x38\x48\x8b\x6b\x68",
		 8);
	/* mov $15,%rax; syscall: musl's way back from a signal, and Go's behind
	 * a function with a table */
	put_code(fd, IN(BARE) + 0x20, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	put_code(fd, IN(BIG) - 0x40, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	/* mov %eax,%edi; mov $60,%eax; syscall: as a _start() in C, whose
	 * table has a caller */
	put_code(fd, IN(BIG) + 0x30, "\x89\xc7\xb8\x3c\0\0\0\x0f\x05", 9);
	/* glibc's __start_context, whose table begins there, too: nop;
	 * mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi */
	put_code(fd, IN(BARE) + 0xa8 - 1,
		 "\x90\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff", 11);
	close(fd);
	return frames_image(fr, &img);
}

static void unwind_setup(void)
{
	scratch_make(dir, sizeof(dir));
	sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	fr = frames_new();
	uw = unwind_new(sy, fr);
	image = unwind_make_file("/prog", FRAMES_FEW);
	image_kept = unwind_make_file("/kept", FRAMES_IN_TABLE);
	image_code = unwind_make_file("/code", FRAMES_IN_CODE);
}

static void unwind_teardown(void)
{
	uw->ops->free(uw);
	frames_free(fr);
	symbolize_free(sy);
	scratch_remove(dir);
}

/* call *%rax, and what is behind it; CFA = SP + 24. */
#define MADE 0x30000u
#define MADE_RETURN (MADE + 4)

static const unsigned char made_bytes[8] = { 0x90, 0x90, 0xff, 0xd0,
					     0x90, 0x90, 0x90, 0xc3 };
static unsigned char made_frame[48] = {
	[0] = 16, [8] = 1, 0, 1, 0x78, 16, 0x0c, 7, 24, 0x90, 1,
};
static struct jit_code made = { .start = MADE,
				.len = sizeof(made_bytes),
				.machine = EM_X86_64,
				.frame_off = sizeof(made_bytes) };

static int unwind_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	(void)arg;
	*map = (struct unwind_map){ .start = MAPPED,
				    .end = MAPPED + 0x10000,
				    .image = image,
				    .exec = true };
	if (addr >= map->start && addr < map->end)
		return 1;
	map->start = KEPT;
	map->end = KEPT + 0x10000;
	map->image = image_kept;
	if (addr >= map->start && addr < map->end)
		return 1;
	map->start = CODE;
	map->end = CODE + 0x10000;
	map->image = image_code;
	if (addr >= map->start && addr < map->end)
		return 1;
	if (addr >= made.start && addr - made.start < made.len) {
		map->start = made.start;
		map->end = made.start + made.len;
		map->image = 0;
		map->code = &made;
		map->dated = true;
		return 1;
	}
	/* memory that is no file's: code made at run time */
	*map = (struct unwind_map){ .start = 0x10000,
				    .end = 0x20000,
				    .exec = true };
	return addr >= map->start && addr < map->end;
}

#define REG_AX 0
#define REG_BP 6
#define REG_SP 7
#define REG_IP 8
#define REG_BX 1

static uint64_t ip[64];
static struct unwind_out out;
static uint64_t result; /* in rax */

/* Unwinds from pc; stack: what is dumped from SP on. */
static void unwind_unwind(uint64_t pc, uint64_t bp, uint64_t bx,
			  const uint64_t *stack, size_t n)
{
	uint64_t v[9] = { 0 };
	const struct regs regs = { v, 0x1ff, 9, 2 };
	struct unwind_in in = { .regs = &regs,
				.user_mask = UINT64_MAX,
				.stack = stack,
				.len = (uint32_t)(n * 8),
				.dumped = true,
				.machine = EM_X86_64,
				.find = unwind_find,
				.epoch = 1 };

	v[REG_AX] = result;
	v[REG_BP] = bp;
	v[REG_SP] = SP;
	v[REG_IP] = pc;
	v[REG_BX] = bx;
	out = (struct unwind_out){ .ip = ip, .max = 64 };
	uw->ops->unwind(uw, &in, &out);
	/* the second time from the cache */
	struct unwind_out first = out;

	uw->ops->unwind(uw, &in, &out);
	ck_assert_uint_eq(first.n, out.n);
	ck_assert_int_eq(first.end, out.end);
	ck_assert_uint_eq(first.guessed, out.guessed);
	ck_assert_int_eq(first.unproved, out.unproved);
}

static void got(enum unwind_end end, uint32_t n, const uint64_t *want)
{
	ck_assert_int_eq(out.end, end);
	ck_assert_uint_eq(out.n, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(ip[i], want[i]);
}

#define UNWIND(pc, bp, bx, ...)                                                \
	unwind_unwind(pc, bp, bx, (const uint64_t[]){ __VA_ARGS__ },           \
		      sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)
#define GOT(end, ...)                                                          \
	got(end, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8,                \
	    (const uint64_t[]){ __VA_ARGS__ })

START_TEST(by_the_stack_pointer_to_the_outermost)
{
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BIG) - 1, IN(START) - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	/* a return address of 0 is the end as well */
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0, 0);
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BIG) - 1);
}
END_TEST

START_TEST(by_the_frame_pointer)
{
	UNWIND(IN(LEAF), SP + 24, 0, IN(FRAME), 7, 7, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(FRAME) - 1, IN(START) - 1);
	/* the first frame's own caller's is restored */
	UNWIND(IN(FRAME), SP, 0, SP + 24, IN(FRAME), 7, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(FRAME), IN(FRAME) - 1, IN(START) - 1);
}
END_TEST

START_TEST(a_dump_that_ends_too_early)
{
	UNWIND(IN(BIG), 0, 0, 0, 0, 0);
	GOT(UNWIND_TRUNCATED, IN(BIG));
	/* in the middle of a word */
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0);
	GOT(UNWIND_TRUNCATED, IN(LEAF), IN(BIG) - 1);
}
END_TEST

START_TEST(inside_execve_there_is_no_stack)
{
	unwind_unwind(IN(LEAF), 0, 0, NULL, 0);
	GOT(UNWIND_EMPTY, IN(LEAF));
}
END_TEST

START_TEST(another_stack_is_not_read)
{
	UNWIND(IN(FRAME), 0x1000, 0, IN(BIG), 0, 0, 0, IN(START));
	GOT(UNWIND_FOREIGN, IN(FRAME));
	/* a frame pointer below the stack pointer: the frame is gone */
	UNWIND(IN(LEAF), SP - 16, 0, IN(FRAME), 0, 0);
	GOT(UNWIND_FOREIGN, IN(LEAF), IN(FRAME) - 1);
}
END_TEST

START_TEST(what_is_no_code_is_left_out)
{
	UNWIND(IN(LEAF), 0, 0, 0x123456789, 0, 0);
	GOT(UNWIND_NO_MAP, IN(LEAF));
	/* but for the sampled address */
	UNWIND(0x123456789, 0, 0, IN(START));
	GOT(UNWIND_NO_MAP, 0x123456789);
}
END_TEST

START_TEST(frames_that_do_not_go_up)
{
	/* FP says that the caller's frame is this one */
	UNWIND(IN(LEAF), SP - 8, 0, IN(FRAME), IN(FRAME), 0);
	ck_assert_int_ne(out.end, UNWIND_OUTERMOST);
	UNWIND(IN(LEAF), SP, 0, IN(FRAME), SP, IN(FRAME), 0, 0);
	ck_assert_uint_le(out.n, 4);
	ck_assert_int_ne(out.end, UNWIND_OUTERMOST);
	ck_assert_int_ne(out.end, UNWIND_LIMIT);
}
END_TEST

/* Two stacks that differ in one word only, which the outer frames depend on. */
START_TEST(frames_of_the_stack_before)
{
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0, IN(BIG), 0, 0, 0, IN(BIG), 0,
	       0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BIG) - 1, IN(BIG) - 1, IN(BIG) - 1,
	    IN(START) - 1);
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0, IN(BIG), 0, 0, 0, IN(START), 0,
	       0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BIG) - 1, IN(BIG) - 1,
	    IN(START) - 1);
	/* the dump ends where the other had a return address */
	UNWIND(IN(LEAF), 0, 0, IN(BIG), 0, 0, 0, IN(BIG), 0, 0, 0);
	GOT(UNWIND_TRUNCATED, IN(LEAF), IN(BIG) - 1, IN(BIG) - 1);
	/* FP is restored from that word */
	UNWIND(IN(LEAF), SP + 24, 0, IN(FRAME), 0, 0, SP + 48, IN(FRAME), 0, 0,
	       IN(START), 0, IN(BIG), 0, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(FRAME) - 1, IN(FRAME) - 1,
	    IN(START) - 1);
	UNWIND(IN(LEAF), SP + 24, 0, IN(FRAME), 0, 0, SP + 64, IN(FRAME), 0, 0,
	       IN(START), 0, IN(BIG), 0, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(FRAME) - 1, IN(FRAME) - 1,
	    IN(BIG) - 1, IN(START) - 1);
}
END_TEST

START_TEST(more_frames_than_room)
{
	uint64_t stack[100];

	for (size_t i = 0; i < 100; i++)
		stack[i] = IN(LEAF);
	unwind_unwind(IN(LEAF), 0, 0, stack, 100);
	ck_assert_int_eq(out.end, UNWIND_LIMIT);
	ck_assert_uint_eq(out.n, 64);
}
END_TEST

/* In an epilogue the tables still say where FP was saved, when it is already
 * restored: that place is below SP. */
START_TEST(in_an_epilogue_the_register_is_right)
{
	UNWIND(IN(POPPED), SP + 24, 0, IN(FRAME), 0, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(POPPED), IN(FRAME) - 1, IN(START) - 1);
}
END_TEST

START_TEST(rows_that_do_not_suffice)
{
	/* rbx from the registers */
	UNWIND(IN(RBX), 0, SP + 8, 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(RBX), IN(START) - 1);
	UNWIND(IN(RBX), 0, SP, IN(START));
	GOT(UNWIND_OUTERMOST, IN(RBX), IN(START) - 1);
	/* rbx was saved by a function further in */
	UNWIND(IN(SAVES), 0, 0, SP + 24, IN(RBX), 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(SAVES), IN(RBX) - 1, IN(START) - 1);
	/* and not changed by one that does not save it */
	UNWIND(IN(BIG), 0, SP + 48, 7, 7, 7, IN(RBX), 7, 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(BIG), IN(RBX) - 1, IN(START) - 1);
}
END_TEST

START_TEST(a_realigned_stack)
{
	/* FP at SP + 8; at FP - 8: the CFA */
	UNWIND(IN(DRAP), SP + 8, 0, SP + 40, 0, 7, 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(DRAP), IN(START) - 1);
}
END_TEST

START_TEST(stubs_of_a_plt)
{
	/* bytes 0 to 10 of 16: one word; from 11 on two */
	UNWIND(IN(PLT) + 10, 0, 0, IN(START), 7);
	GOT(UNWIND_OUTERMOST, IN(PLT) + 10, IN(START) - 1);
	UNWIND(IN(PLT) + 11, 0, 0, 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(PLT) + 11, IN(START) - 1);
}
END_TEST

START_TEST(a_signal_interrupts_anything)
{
	uint64_t stack[30] = { IN(SIGNAL) };

	/* behind the handler's return address: the kernel's frame, in which
	 * FP is at 120, SP at 160, pc at 168 */
	stack[1 + 120 / 8] = 0;
	stack[1 + 160 / 8] = SP + 25 * 8;
	stack[1 + 168 / 8] = IN(LEAF) - 0x40;
	stack[25] = IN(START);
	unwind_unwind(IN(LEAF), 0, 0, stack, 30);
	/* nobody has called the way back from a signal; the interrupted one
	 * is at its very first instruction */
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(SIGNAL), IN(LEAF) - 0x40,
	    IN(START) - 1);
	/* without a table there, behind another function */
	for (uint64_t to = IN(BARE) + 0x20;; to = IN(BIG) - 0x40) {
		stack[0] = to;
		unwind_unwind(IN(LEAF), 0, 0, stack, 30);
		GOT(UNWIND_OUTERMOST, IN(LEAF), to, IN(LEAF) - 0x40,
		    IN(START) - 1);
		if (to == IN(BIG) - 0x40)
			break;
	}
}
END_TEST

START_TEST(without_a_table_by_frame_pointer_and_marked)
{
	UNWIND(IN(LEAF), SP + 16, 0, IN(BARE), 7, SP + 32, IN(BARE), 0, 0);
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BARE) - 1, IN(BARE) - 1);
	ck_assert_uint_eq(out.guessed, 2);
	/* an address that is behind no call */
	UNWIND(IN(LEAF), SP + 16, 0, IN(BARE), 7, SP + 32, IN(BARE) + 4, 0, 0);
	GOT(UNWIND_NO_TABLE, IN(LEAF), IN(BARE) - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	/* zeros where a frame pointer would point to: it need not be one */
	UNWIND(IN(LEAF), SP + 16, 0, IN(BARE), 7, 0, 0);
	GOT(UNWIND_NO_TABLE, IN(LEAF), IN(BARE) - 1);
	/* FP is anything but a frame pointer */
	UNWIND(IN(BARE), 12345, 0, IN(START), 0);
	GOT(UNWIND_NO_TABLE, IN(BARE));
	UNWIND(IN(BARE), SP, 0, SP - 8, IN(BARE));
	GOT(UNWIND_NO_TABLE, IN(BARE));
}
END_TEST

START_TEST(without_a_table_by_code_that_goes_on_to_a_return)
{
	const uint64_t crt = IN(BARE) + 0x80;

	/* FP is of a function that is built without frame pointers */
	UNWIND(IN(LEAF), 12345, 0, crt, 8, IN(BIG), 1, 2, 3, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), crt - 1, IN(BIG) - 1, IN(START) - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	/* it is restored */
	UNWIND(IN(LEAF), 12345, 0, crt, SP + 32, IN(FRAME), 1, 0, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), crt - 1, IN(FRAME) - 1, IN(START) - 1);
	/* at the last instruction but one */
	UNWIND(crt + 7, 12345, 0, 8, IN(BIG), 1, 2, 3, IN(START));
	GOT(UNWIND_OUTERMOST, crt + 7, IN(BIG) - 1, IN(START) - 1);
	/* behind no call */
	UNWIND(IN(LEAF), 12345, 0, crt, 8, IN(BIG) + 4, 1, 2, 3, IN(START));
	GOT(UNWIND_NO_TABLE, IN(LEAF), crt - 1);
	/* behind a call is another function, with nothing on the stack */
	UNWIND(IN(LEAF), 12345, 0, crt + 0x18, IN(BIG), 1, 2, 3, IN(START));
	GOT(UNWIND_NO_TABLE, IN(LEAF), crt + 0x17);
	UNWIND(crt + 0x18, 12345, 0, IN(BIG), 1, 2, 3, IN(START));
	GOT(UNWIND_OUTERMOST, crt + 0x18, IN(BIG) - 1, IN(START) - 1);
}
END_TEST

START_TEST(a_function_that_called_on_another_stack)
{
	const uint64_t sys = IN(LEAF) + 0x20;

	UNWIND(IN(SAVES), 0, 0, 1, sys, IN(START), 0);
	GOT(UNWIND_FOREIGN, IN(SAVES), sys - 1);
	UNWIND(IN(SAVES), 0, 0, 1, IN(LEAF) + 0xb0, IN(START), 0);
	GOT(UNWIND_FOREIGN, IN(SAVES), IN(LEAF) + 0xaf);
	/* since Go 1.21 and 1.23 */
	UNWIND(IN(SAVES), 0, 0, 1, IN(SAVES) + 0x90, 2, IN(START), 0);
	GOT(UNWIND_FOREIGN, IN(SAVES), IN(SAVES) + 0x8f);
	UNWIND(IN(SAVES), 0, 0, 1, IN(LEAF) + 0x14, IN(START), 0);
	GOT(UNWIND_FOREIGN, IN(SAVES), IN(LEAF) + 0x13);
	/* one that goes back on its stack, and what was not called */
	UNWIND(IN(SAVES), 0, 0, 1, sys + 4, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), sys + 3, IN(START) - 1);
	UNWIND(sys, 0, 0, IN(START), 0);
	GOT(UNWIND_OUTERMOST, sys, IN(START) - 1);
}
END_TEST

/* What is on the stack where the caller would be was there before. */
START_TEST(a_function_to_which_nothing_returns_is_the_outermost)
{
	const uint64_t mcall = IN(SAVES) + 0x20, clone = IN(LEAF) + 0x30;

	UNWIND(IN(SAVES), 0, 0, 1, mcall, 2, IN(BIG), 3, 4, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), mcall - 1);
	UNWIND(IN(SAVES), 0, 0, 1, mcall + 0x40, 2, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), mcall + 0x3f, IN(START) - 1);
	UNWIND(IN(SAVES), 0, 0, 1, clone, IN(BIG), 3, 4, 5, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), clone - 1);
	UNWIND(IN(SAVES), 0, 0, 1, IN(SAVES) + 0xb0, 2, IN(BIG), 3, IN(START),
	       0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), IN(SAVES) + 0xaf);
	/* argc is where the caller of a _start() in C would be */
	UNWIND(IN(LEAF), 0, 0, IN(BIG) + 0x30, 0, 0, 0, 1, 2);
	GOT(UNWIND_OUTERMOST, IN(LEAF), IN(BIG) + 0x2f);
	/* it is there itself */
	UNWIND(clone, 0, 0, IN(START), 0);
	GOT(UNWIND_OUTERMOST, clone, IN(START) - 1);
}
END_TEST

/* As of Go's runtime.systemstack_switch(): what is before it has no table. */
START_TEST(a_return_address_may_be_the_start_of_a_function)
{
	const uint64_t first = IN(LEAF) - 0x40;

	UNWIND(IN(SAVES), 0, 0, 1, first, IN(BIG), 0, 0, 0, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(SAVES), first, IN(BIG) - 1, IN(START) - 1);
}
END_TEST

START_TEST(the_first_function_of_a_context_is_the_outermost)
{
	const uint64_t start = IN(BARE) + 0xa8;

	UNWIND(IN(LEAF), SP + 16, 0, start, IN(BIG), 0, IN(START), 0);
	GOT(UNWIND_OUTERMOST, IN(LEAF), start - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	/* one byte further it is no such address */
	UNWIND(IN(LEAF), 0, 0, start + 1, IN(BIG), 0, IN(START), 0);
	GOT(UNWIND_NO_TABLE, IN(LEAF), start);
}
END_TEST

START_TEST(behind_the_call_that_makes_a_thread)
{
	const uint64_t call = IN(BARE) - 0x40;

	/* the parent, or an error */
	result = (uint64_t)-38;
	UNWIND(call + 2, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, call + 2, IN(START) - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	UNWIND(call + 4, 0, 0, IN(START));
	GOT(UNWIND_NO_TABLE, call + 4);
	/* the child, which nobody has called; not yet, at the call itself */
	result = 0;
	UNWIND(call + 2, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, call + 2);
	UNWIND(call, 0, 0, IN(START));
	GOT(UNWIND_OUTERMOST, call, IN(START) - 1);
	/* one that was called is at no system call */
	UNWIND(IN(LEAF), 0, 0, call + 3, IN(START));
	GOT(UNWIND_NO_TABLE, IN(LEAF), call + 2);
	/* the function before it has another frame */
	UNWIND(IN_KEPT(BARE) - 0x3e, 8, 0, IN_KEPT(START));
	GOT(UNWIND_NO_TABLE, IN_KEPT(BARE) - 0x3e);
}
END_TEST

START_TEST(code_made_at_run_time_that_has_a_table)
{
	size_t n = mkelf_put32(made_frame, 20, 20);

	n = mkelf_put32(made_frame, n, (uint32_t)n);
	n = mkelf_put64(made_frame, n, MADE);
	n = mkelf_put64(made_frame, n, sizeof(made_bytes));
	made.frame = made_frame;
	made.n_frame = n;
	made.swapped = bytes_must_swap(false);
	UNWIND(IN(LEAF), 12345, 0, MADE_RETURN, 1, 2, IN(START));
	GOT(UNWIND_OUTERMOST, IN(LEAF), MADE_RETURN - 1, IN(START) - 1);
	ck_assert_uint_eq(out.guessed, UINT32_MAX);
	made.n_frame = 0;
}
END_TEST

START_TEST(code_made_at_run_time_whose_bytes_are_known)
{
	/* by frame pointer into what the runtime named, without its bytes */
	UNWIND(IN(BARE), SP, 0, SP + 16, MADE_RETURN, SP + 32, IN(START));
	GOT(UNWIND_NO_TABLE, IN(BARE), MADE_RETURN - 1);
	UNWIND(IN(BARE), SP, 0, SP + 16, 0x10200, SP + 32, IN(START));
	GOT(UNWIND_NO_TABLE, IN(BARE));
	made.bytes = made_bytes;
	made.n_bytes = sizeof(made_bytes);
	UNWIND(IN(BARE), SP, 0, SP + 16, MADE_RETURN, SP + 32, IN(BARE));
	GOT(UNWIND_NO_TABLE, IN(BARE), MADE_RETURN - 1, IN(BARE) - 1);
	/* behind no call */
	UNWIND(IN(BARE), SP, 0, SP + 16, MADE_RETURN + 1, SP + 32, IN(BARE));
	GOT(UNWIND_NO_TABLE, IN(BARE));
	made.n_bytes = 0;
}
END_TEST

START_TEST(where_a_file_without_a_table_there_is_started)
{
	UNWIND(IN_KEPT(LEAF), 0, 0, IN_KEPT(BARE), 1, 2, 3);
	GOT(UNWIND_OUTERMOST, IN_KEPT(LEAF), IN_KEPT(BARE) - 1);
	/* FP is none of the kernel's zeros */
	UNWIND(IN_KEPT(LEAF), 8, 0, IN_KEPT(BARE), 1, 2, 3);
	GOT(UNWIND_NO_TABLE, IN_KEPT(LEAF), IN_KEPT(BARE) - 1);
	/* it is started elsewhere */
	UNWIND(IN(LEAF), 0, 0, IN(BARE), 1, 2, 3);
	GOT(UNWIND_NO_TABLE, IN(LEAF), IN(BARE) - 1);
}
END_TEST

START_TEST(code_made_at_run_time)
{
	UNWIND(0x10100, SP, 0, SP + 16, 0x10200, SP + 32, IN(BARE), 0, 0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x101ff, IN(BARE) - 1);
	ck_assert_uint_eq(out.guessed, 1);
	UNWIND(0x10100, 0, 0, IN(START));
	GOT(UNWIND_NO_TABLE, 0x10100);
	UNWIND(0x10100, 0, 0, IN(BARE));
	GOT(UNWIND_NO_TABLE, 0x10100, IN(BARE) - 1);
}
END_TEST

/* Interpreters and compilers at run time have no tables: a function that has
 * not set its frame pointer yet shows by its return address. */
START_TEST(code_made_at_run_time_that_has_not_set_its_frame)
{
	/* it has: what is between is no code */
	UNWIND(0x10100, SP + 16, 0, 5, 0x7fff12345678, SP + 32, 0x10300, 0, 0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x102ff);
	ck_assert(!out.unproved);
	/* not yet */
	UNWIND(0x10100, SP + 16, 0, 0x10210, 5, SP + 32, 0x10300, 0, 0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x1020f, 0x102ff);
	ck_assert_uint_eq(out.guessed, 1);
	ck_assert(out.unproved);
	/* it has saved that of its caller */
	UNWIND(0x10100, SP + 24, 0, SP + 24, 0x10210, 5, SP + 40, 0x10300, 0,
	       0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x1020f, 0x102ff);
	ck_assert(out.unproved);
	/* one further out may have none */
	UNWIND(0x10100, SP, 0, SP + 32, 0x10200, 5, 0x10280, SP + 48, 0x10300,
	       0, 0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x101ff, 0x102ff);
	ck_assert(out.unproved);
	/* of a file, only what is behind a call is a return address */
	UNWIND(0x10100, SP + 16, 0, IN(START), 5, SP + 32, 0x10300, 0, 0);
	GOT(UNWIND_OUTERMOST, 0x10100, 0x102ff);
	ck_assert(!out.unproved);
}
END_TEST

START_TEST(a_file_is_read_once_for_all_who_map_it)
{
	struct unwind_images_count c;

	for (uint32_t i = 0; i < 1000; i++) {
		const uint64_t stack[] = { IN(START) };
		uint64_t v[9] = { [REG_SP] = SP, [REG_IP] = IN(LEAF) };
		const struct regs regs = { v, 0x1ff, 9, 2 };
		const struct unwind_in in = { .regs = &regs,
					      .user_mask = UINT64_MAX,
					      .stack = stack,
					      .len = 8,
					      .dumped = true,
					      .machine = EM_X86_64,
					      .find = unwind_find,
					      .epoch = (i + 1ull) << 32 };

		out = (struct unwind_out){ .ip = ip, .max = 64 };
		uw->ops->unwind(uw, &in, &out);
		GOT(UNWIND_OUTERMOST, IN(LEAF), IN(START) - 1);
	}
	c = unwind_images_count(unwind_get_images(uw));
	ck_assert_uint_eq(c.built, 1);
	ck_assert_uint_eq(c.asked, 1);
}
END_TEST

/* Of a chain of up to three addresses; 0: none. */
static enum unwind_caller caller_in(uint64_t leaf, uint64_t next, uint64_t more,
				    bool infer, uint64_t *caller)
{
	static const struct regs none;
	const struct unwind_in in = { .regs = &none,
				      .user_mask = UINT64_MAX,
				      .machine = EM_X86_64,
				      .find = unwind_find,
				      .epoch = 1 };
	const uint64_t chain[] = { leaf, next, more };
	uint32_t n = !next ? 1 : !more ? 2 : 3;

	*caller = 0;
	return uw->ops->caller(uw, &in, chain, n, infer, caller);
}

static enum unwind_caller caller_of(uint64_t leaf, uint64_t next)
{
	uint64_t c;

	return caller_in(leaf, next, 0, true, &c);
}

static void one_is_missing(uint64_t leaf, uint64_t next)
{
	ck_assert_int_eq(caller_of(leaf, next), CALLER_MISSING);
}

START_TEST(frame_pointers_do_not_show_every_caller)
{
	uint64_t c;

	ck_assert_int_eq(caller_of(IN(FRAME), IN(BARE)), CALLER_FRAMED);
	ck_assert_int_eq(caller_of(IN(DRAP), IN(BARE)), CALLER_FRAMED);
	ck_assert_int_eq(caller_of(IN(START), 0), CALLER_KNOWN);
	ck_assert_int_eq(caller_of(IN(BARE), IN(FRAME)), CALLER_KNOWN);
	one_is_missing(IN(LEAF), 0);
	one_is_missing(IN(BIG), IN(BARE));
	/* in its prologue, and behind it */
	one_is_missing(IN(SAVES) - 0x3f, IN(BARE));
	ck_assert_int_eq(caller_of(IN(SAVES), IN(BARE)), CALLER_FRAMED);
	ck_assert_int_eq(caller_in(IN_KEPT(LEAF), IN_KEPT(DRAP), 0, false, &c),
			 CALLER_MISSING);
	/* on the way back from a signal: the interrupted function */
	one_is_missing(IN(SIGNAL), IN(FRAME));
}
END_TEST

static void inferred_is(uint64_t leaf, uint64_t next, uint64_t caller)
{
	uint64_t c;

	ck_assert_int_eq(caller_in(leaf, next, 0, true, &c), CALLER_INFERRED);
	ck_assert_uint_eq(c, caller);
}

START_TEST(a_caller_is_inferred_only_when_it_is_proved)
{
	const uint64_t next = IN_KEPT(CLONE), passes = IN_KEPT(PASSES);
	uint64_t c;

	/* the one place */
	inferred_is(IN_KEPT(LEAF), IN_KEPT(DRAP), IN_KEPT(ONCE));
	/* one of two: the function */
	ck_assert_int_eq(caller_in(IN_KEPT(LEAF), IN_KEPT(SAVES), 0, true, &c),
			 CALLER_FUNCTION);
	ck_assert_uint_eq(c, IN_KEPT(TWICE) - 0x40);
	/* what is called does not call the leaf */
	one_is_missing(IN_KEPT(LEAF), IN_KEPT(RBX));
	/* it does, and so does another that it calls, without a frame */
	one_is_missing(IN_KEPT(LEAF), next);
	/* a stub that it calls, and the one behind */
	inferred_is(IN_KEPT(PLT) + 6, next, passes + 0x60);
	one_is_missing(IN_KEPT(PLT) + 0x16, next);
	inferred_is(IN_KEPT(LEAF) + 0x54, next, passes + 0x70);
	one_is_missing(IN_KEPT(LEAF) + 0x64, next);
	inferred_is(IN_KEPT(LEAF) + 0x88, next, passes + 0x80);
	one_is_missing(IN_KEPT(LEAF) + 0x90, next);
	/* it has no frame of its own where it calls the leaf */
	one_is_missing(IN_KEPT(LEAF), IN_KEPT(FRAME));
	/* as Go, whose table does not tell who has a frame */
	inferred_is(IN_CODE(LEAF), IN_CODE(DRAP), IN_CODE(ONCE));
	one_is_missing(IN_CODE(LEAF), IN_CODE(FRAME));
	/* an indirect call, and none */
	one_is_missing(IN_KEPT(LEAF), IN_KEPT(BARE));
	one_is_missing(IN_KEPT(LEAF), IN_KEPT(START));
	/* the leaf itself is what was called */
	one_is_missing(IN_KEPT(BIG), IN_KEPT(FRAME));
	ck_assert_int_eq(caller_of(IN_CODE(LEAF), IN_CODE(CLONE) + 0x40),
			 CALLER_FRAMED);
	one_is_missing(IN_CODE(BIG), IN_CODE(CLONE) + 0x40);
}
END_TEST

START_TEST(below_sp_is_what_an_earlier_call_has_left)
{
	const uint64_t ret = IN_CODE(CLONE) + 0x40, call = ret - 5;

	/* it may be of this call, or of another one */
	ck_assert_int_eq(caller_of(call, IN_CODE(ONCE)), CALLER_STALE);
	ck_assert_int_eq(caller_of(call, ret), CALLER_STALE);
	ck_assert_int_eq(caller_of(ret, ret), CALLER_STALE);
	/* before FP is moved, behind the call's end, at another call */
	ck_assert_int_ne(caller_of(call - 5, IN_CODE(ONCE)), CALLER_STALE);
	ck_assert_int_ne(caller_of(ret + 1, IN_CODE(ONCE)), CALLER_STALE);
	ck_assert_int_eq(caller_of(IN_CODE(ONCE), IN_CODE(TWICE)),
			 CALLER_FRAMED);
}
END_TEST

/* Writes code into a file that is mapped, as it is before the next chain. */
static void unwind_change(const char *name, uint64_t at, const void *code,
			  size_t n)
{
	char path[128];

	unwind_teardown();
	unwind_setup();
	snprintf(path, sizeof(path), "%s%s", dir, name);
	int fd = open(path, O_WRONLY);
	put_code(fd, at, code, n);
	close(fd);
}

START_TEST(a_function_in_tail_position_may_be_the_caller)
{
	unsigned char jump[5] = { 0xe9 };

	inferred_is(IN_CODE(LEAF), IN_CODE(DRAP), IN_CODE(ONCE));
	/* from ONCE to the first instruction of TWICE, which calls LEAF, too */
	mkelf_put32(jump, 1, (uint32_t)(IN(TWICE) - IN(ONCE) - 0x65));
	unwind_change("/code", IN(ONCE) + 0x20, jump, 5);
	one_is_missing(IN_CODE(LEAF), IN_CODE(DRAP));
}
END_TEST

START_TEST(so_may_one_behind_a_short_jump)
{
	inferred_is(IN_CODE(LEAF), IN_CODE(DRAP), IN_CODE(ONCE));
	/* from the end of ONCE to TWICE, which follows it */
	unwind_change("/code", IN(ONCE) + 0xb0, "\xeb\x0e", 2);
	one_is_missing(IN_CODE(LEAF), IN_CODE(DRAP));
	/* into TWICE: it is part of another instruction */
	unwind_change("/code", IN(ONCE) + 0xb0, "\xeb\x0f", 2);
	inferred_is(IN_CODE(LEAF), IN_CODE(DRAP), IN_CODE(ONCE));
}
END_TEST

START_TEST(who_calls_what_jumps_on_is_the_caller)
{
	unsigned char jump[5] = { 0xe9 };
	char path[128];

	/* ONCE calls NEVER in place of LEAF, and NEVER jumps there */
	mkelf_put32(jump, 1, (uint32_t)(IN(LEAF) - IN(NEVER) - 0x65));
	unwind_change("/kept", IN(NEVER) + 0x20, jump, 5);
	snprintf(path, sizeof(path), "%s/kept", dir);
	int fd = open(path, O_WRONLY);
	put_call(fd, IN(ONCE), IN(NEVER) - 0x40);
	inferred_is(IN_KEPT(LEAF), IN_KEPT(DRAP), IN_KEPT(ONCE));
	close(fd);
}
END_TEST

START_TEST(a_function_in_tail_position_is_no_break_of_a_chain)
{
	const uint64_t leaf = IN_KEPT(LEAF), next = IN_KEPT(DRAP);
	unsigned char jump[5] = { 0xe9 };
	uint64_t c;

	/* RBX calls NEVER, which goes on to DRAP */
	mkelf_put32(jump, 1, (uint32_t)(IN(DRAP) - IN(NEVER) - 0x65));
	unwind_change("/kept", IN(NEVER) + 0x20, jump, 5);
	ck_assert_int_eq(caller_in(leaf, next, IN_KEPT(RBX), true, &c),
			 CALLER_INFERRED);
	/* or to another one */
	mkelf_put32(jump, 1, (uint32_t)(IN(SAVES) - IN(NEVER) - 0x65));
	unwind_change("/kept", IN(NEVER) + 0x20, jump, 5);
	ck_assert_int_eq(caller_in(leaf, next, IN_KEPT(RBX), true, &c),
			 CALLER_MISSING);
}
END_TEST

START_TEST(where_chains_are_made_up_nothing_is_inferred)
{
	const uint64_t leaf = IN_KEPT(LEAF), next = IN_KEPT(DRAP);
	uint64_t c;

	/* further out behind no call, or behind that of another function */
	ck_assert_int_eq(caller_in(leaf, next, IN_KEPT(START), true, &c),
			 CALLER_MISSING);
	ck_assert_int_eq(caller_in(leaf, next, IN_KEPT(RBX), true, &c),
			 CALLER_MISSING);
	/* behind an indirect one */
	ck_assert_int_eq(caller_in(leaf, next, IN_KEPT(BARE), true, &c),
			 CALLER_INFERRED);
	/* in a file whose functions mostly have none */
	one_is_missing(IN(LEAF), IN(DRAP));
}
END_TEST

/* Whatever came before: the file says it all. */
START_TEST(the_order_of_samples_does_not_matter)
{
	for (int i = 0; i < 100; i++)
		one_is_missing(IN_KEPT(LEAF), IN_KEPT(START));
	ck_assert_int_eq(caller_of(IN_KEPT(LEAF), IN_KEPT(DRAP)),
			 CALLER_INFERRED);
}
END_TEST

/* The mappings before the file was mapped. */
static int unwind_find_nothing(void *arg, uint64_t addr, struct unwind_map *map)
{
	(void)arg;
	(void)addr;
	(void)map;
	return 0;
}

/* Another thread has looked the address up in the same epoch, with a mapping
 * that came later. What is made of it is not used (struct unwind_ahead), but it
 * has to end. */
START_TEST(a_known_address_may_be_in_no_mapping)
{
	const uint64_t stack[] = { 7, IN(START) };
	uint64_t v[9] = { [REG_SP] = SP, [REG_BX] = SP + 8 };
	const struct regs regs = { v, 0x1ff, 9, 2 };
	const struct unwind_in in = { .regs = &regs,
				      .user_mask = UINT64_MAX,
				      .stack = stack,
				      .len = sizeof(stack),
				      .dumped = true,
				      .machine = EM_X86_64,
				      .find = unwind_find_nothing,
				      .epoch = 1 };

	UNWIND(IN(RBX), 0, SP + 8, 7, IN(START));
	GOT(UNWIND_OUTERMOST, IN(RBX), IN(START) - 1);
	v[REG_IP] = IN(RBX);
	out = (struct unwind_out){ .ip = ip, .max = 64 };
	uw->ops->unwind(uw, &in, &out);
	GOT(UNWIND_NO_MAP, IN(RBX));
}
END_TEST

START_TEST(another_machine_has_its_address_only)
{
	const struct regs regs = { NULL, 0, 0, 1 };
	const struct unwind_in in = { .regs = &regs,
				      .pc = IN(LEAF),
				      .user_mask = UINT64_MAX,
				      .dumped = true,
				      .machine = EM_ARM,
				      .find = unwind_find };

	out = (struct unwind_out){ .ip = ip, .max = 64 };
	uw->ops->unwind(uw, &in, &out);
	GOT(UNWIND_NO_TABLE, IN(LEAF));
}
END_TEST

RUN_WITH("unwind", unwind_setup, unwind_teardown,
	 by_the_stack_pointer_to_the_outermost, by_the_frame_pointer,
	 a_dump_that_ends_too_early, inside_execve_there_is_no_stack,
	 another_stack_is_not_read, what_is_no_code_is_left_out,
	 frames_that_do_not_go_up, frames_of_the_stack_before,
	 more_frames_than_room, in_an_epilogue_the_register_is_right,
	 rows_that_do_not_suffice, a_realigned_stack, stubs_of_a_plt,
	 a_signal_interrupts_anything,
	 without_a_table_by_frame_pointer_and_marked,
	 without_a_table_by_code_that_goes_on_to_a_return,
	 a_function_to_which_nothing_returns_is_the_outermost,
	 the_first_function_of_a_context_is_the_outermost,
	 a_return_address_may_be_the_start_of_a_function,
	 a_function_that_called_on_another_stack,
	 behind_the_call_that_makes_a_thread,
	 where_a_file_without_a_table_there_is_started, code_made_at_run_time,
	 code_made_at_run_time_that_has_not_set_its_frame,
	 code_made_at_run_time_that_has_a_table,
	 code_made_at_run_time_whose_bytes_are_known,
	 a_file_is_read_once_for_all_who_map_it,
	 a_known_address_may_be_in_no_mapping,
	 another_machine_has_its_address_only,
	 frame_pointers_do_not_show_every_caller,
	 a_caller_is_inferred_only_when_it_is_proved,
	 below_sp_is_what_an_earlier_call_has_left,
	 a_function_in_tail_position_may_be_the_caller,
	 so_may_one_behind_a_short_jump, who_calls_what_jumps_on_is_the_caller,
	 a_function_in_tail_position_is_no_break_of_a_chain,
	 where_chains_are_made_up_nothing_is_inferred,
	 the_order_of_samples_does_not_matter)
