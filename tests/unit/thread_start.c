/* thread_start.c - tests of where threads begin, in code as glibc 2.36 for
 * AArch64 has it: a static program without symbols. */
#include "symbolize/unwind/thread_start.h"

#include <check.h>
#include <stdio.h>

#include "mkelf.h"
#include "run.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/unwind/callsite_file.h"
#include "tests/unit/scratch.h"

/* Functions, every 0x100 bytes. */
enum {
	START,	      /* _start */
	MAIN,	      /* its address is in START */
	FIRST,	      /* __libc_start_main() */
	CALLS_MAIN,   /* __libc_start_call_main() */
	ROUTINE,      /* start_thread() */
	CREATE,	      /* create_thread() */
	CLONE_CALLER, /* __clone_internal(), which ends in a jump */
	CLONE,
	OTHER, /* is called, and calls */
	FUNCS
};

#define AT(f) (MKELF_TEXT + (f)*0x100u)
/* Of clone(): where its table ends, and what the child does. */
#define CLONE_END 0x4c
#define CHILD (AT(CLONE) + 0x50)

#define FP_PAIR 0xa9bd7bfd /* stp x29, x30, [sp, #-48]! */
#define FP_SET 0x910003fd  /* mov x29, sp */
#define FP_NONE 0xd280001d /* mov x29, #0x0 */
#define BLR(x) (0xd63f0000 | (x) << 5)

/* A word of code; `to` is what it goes to, or takes the address of: bl, b, and
 * the add behind an adrp. */
struct code_word {
	uint32_t addr, word, to;
};

static const struct code_word code_words[] = {
	{ AT(START), 0xd503201f, 0 }, /* nop */
	{ AT(START) + 4, FP_NONE, 0 },
	{ AT(START) + 8, 0xd280001e, 0 },	    /* mov x30, #0x0 */
	{ AT(START) + 0x1c, 0x90000000, 0 },	    /* adrp x0 */
	{ AT(START) + 0x20, 0x91000000, AT(MAIN) }, /* add x0, x0 */
	{ AT(START) + 0x2c, 0x94000000, AT(FIRST) },
	{ AT(MAIN), FP_PAIR, 0 },
	{ AT(MAIN) + 4, FP_SET, 0 },
	{ AT(MAIN) + 0x10, 0x94000000, AT(OTHER) },
	{ AT(FIRST), FP_PAIR, 0 },
	{ AT(FIRST) + 4, FP_SET, 0 },
	{ AT(FIRST) + 0x20, 0x94000000, AT(CALLS_MAIN) },
	{ AT(CALLS_MAIN), 0xa9af7bfd, 0 }, /* stp x29, x30, [sp, #-272]! */
	{ AT(CALLS_MAIN) + 4, FP_SET, 0 },
	{ AT(CALLS_MAIN) + 0x18, 0x94000000, AT(OTHER) },
	{ AT(CALLS_MAIN) + 0x54, BLR(3), 0 },
	{ AT(CALLS_MAIN) + 0x58, 0x94000000, AT(OTHER) }, /* exit() */
	{ AT(ROUTINE), 0xa9ae7bfd, 0 }, /* stp x29, x30, [sp, #-288]! */
	{ AT(ROUTINE) + 8, FP_SET, 0 },
	{ AT(ROUTINE) + 0x80, BLR(1), 0 },
	{ AT(CREATE), FP_PAIR, 0 },
	{ AT(CREATE) + 4, FP_SET, 0 },
	{ AT(CREATE) + 0x10, 0x90000001, 0 },		/* adrp x1 */
	{ AT(CREATE) + 0x20, 0x91000021, AT(ROUTINE) }, /* add x1, x1 */
	{ AT(CREATE) + 0x40, 0x94000000, AT(CLONE_CALLER) },
	{ AT(CLONE_CALLER), 0xaa0003e5, 0 }, /* mov x5, x0 */
	{ AT(CLONE_CALLER) + 0x24, 0x14000000, AT(CLONE) },
	{ AT(CLONE) + 0x34, 0xd4000001, 0 }, /* svc #0x0 */
	{ CHILD, FP_NONE, 0 },
	{ CHILD + 8, BLR(10), 0 },
	{ AT(OTHER), FP_PAIR, 0 },
	{ AT(OTHER) + 4, FP_SET, 0 },
	{ AT(OTHER) + 0x10, BLR(2), 0 },
};

/* Adds a function to the table; none: its return address is nowhere. */
static size_t add_function(unsigned char *p, size_t n, uint64_t start,
			   uint64_t end, bool frame, bool none)
{
	/* advance by 4; CFA = SP + 48, x29 at CFA - 48, x30 at CFA - 40 */
	static const unsigned char saves[] = {
		0x41, 0x0e, 48, 0x9d, 6, 0x9e, 5
	};
	static const unsigned char undefined[] = { 0x07, 30 };

	n = mkelf_put32(p, n, 4 + 16 + 8);
	n = mkelf_put32(p, n, (uint32_t)n);
	n = mkelf_put64(p, n, start);
	n = mkelf_put64(p, n, end - start);
	memset(p + n, 0, 8);
	if (frame)
		memcpy(p + n, saves, sizeof(saves));
	if (none)
		memcpy(p + n, undefined, sizeof(undefined));
	return n + 8;
}

static size_t make_table(unsigned char *p)
{
	/* CFA = SP; code in words, return address in x30 */
	static const unsigned char cie[16] = { 1, 0, 4, 0x78, 30, 0x0c, 31 };
	size_t n = mkelf_put32(p, 0, 4 + 16);

	n = mkelf_put32(p, n, 0);
	memcpy(p + n, cie, sizeof(cie));
	n += sizeof(cie);
	for (unsigned int i = 0; i < FUNCS; i++) {
		n = add_function(p, n, AT(i),
				 AT(i) + (i == CLONE ? CLONE_END : 0xf0),
				 i != START && i != CLONE && i != CLONE_CALLER,
				 i == START);
		if (i == CLONE)
			n = add_function(p, n, CHILD, CHILD + 0x14, false,
					 true);
	}
	return n;
}

static uint32_t code_word_of(const struct code_word *c)
{
	if (!c->to)
		return c->word;
	if (c->word >> 24 == 0x91)
		return c->word | (c->to & 0xfff) << 10;
	return c->word | ((c->to - c->addr) / 4 & 0x3ffffff);
}

static void make_program(const char *path)
{
	static unsigned char eh[2048];
	const struct mkelf m = { .extra = eh,
				 .extra_len = make_table(eh),
				 .extra_name = ".eh_frame",
				 .entry = AT(START) };

	mkelf(path, &m);
	int fd = open(path, O_WRONLY);

	/* e_type and e_machine */
	ck_assert_int_eq(pwrite(fd, "\x02\0\xb7\0", 4, EI_NIDENT), 4);
	for (size_t i = 0; i < ARRAY_SIZE(code_words); i++) {
		unsigned char code[4];

		mkelf_put32(code, 0, code_word_of(&code_words[i]));
		ck_assert_int_eq(
			pwrite(fd, code, 4,
			       code_words[i].addr - MKELF_TEXT + MKELF_OFF),
			4);
	}
	close(fd);
}

/* Of a return address, as the outermost frame. */
static const struct outermost {
	const char *what;
	uint32_t ret;
	enum thread_start start;
} outermost[] = {
	{ "_start, by its table", AT(START) + 0x30, START_TABLE },
	{ "main, whose address _start has", AT(MAIN) + 0x14, START_ENTRY },
	{ "__libc_start_main, which _start calls", AT(FIRST) + 0x24,
	  START_LIBRARY },
	{ "what calls main and exits with its result", AT(CALLS_MAIN) + 0x58,
	  START_LIBRARY },
	{ "not another call in it", AT(CALLS_MAIN) + 0x1c, ENDS_FRAME },
	{ "start_thread, handed to what jumps to clone", AT(ROUTINE) + 0x84,
	  START_ROUTINE },
	{ "the child of clone, by its table", CHILD + 0xc, START_TABLE },
	{ "any other function", AT(OTHER) + 0x14, ENDS_FRAME },
	{ "what starts threads", AT(CREATE) + 0x44, ENDS_FRAME },
};

static char dir[64];
static struct symbolizer *sy;
static struct callsite_file *file;

static void thread_start_setup(void)
{
	const struct image img = { .kind = IMAGE_FILE, .path = "/prog" };
	char path[128];
	struct identity_answer said;

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/prog", dir);
	make_program(path);
	sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	file = callsite_open(sy, &img, &said);
	ck_assert_ptr_nonnull(file);
}

static void thread_start_teardown(void)
{
	callsite_close(file);
	symbolize_free(sy);
	scratch_remove(dir);
}

START_TEST(where_threads_of_aarch64_begin)
{
	const struct outermost *o = &outermost[_i];
	uint64_t off = o->ret - MKELF_TEXT + MKELF_OFF;
	struct callsite site;

	callsite_at(file, off, &site);
	ck_assert_int_eq(thread_start_at(file, off, &site), o->start);
}
END_TEST

static enum thread_start behind(uint32_t ret)
{
	uint64_t off = ret - MKELF_TEXT + MKELF_OFF;
	struct callsite site;
	bool used;

	callsite_at(file, off, &site);
	return thread_start_midway(file, off, &site, &used);
}

START_TEST(only_behind_functions_without_a_frame_one_is_missing)
{
	ck_assert_int_eq(behind(AT(START) + 0x30), ENDS_FUNCTION);
	ck_assert_int_eq(behind(AT(OTHER) + 0x14), START_UNKNOWN);
}
END_TEST

/* Start routines are known only by all of the code, and main() has a caller. */
START_TEST(where_the_first_thread_begins_is_known_at_once)
{
	const struct outermost *o = &outermost[_i];
	uint64_t off = o->ret - MKELF_TEXT + MKELF_OFF;
	bool first = o->start == START_TABLE || o->start == START_LIBRARY;

	ck_assert_int_eq(thread_start_first(file, off, false),
			 first ? o->start : START_UNKNOWN);
	ck_assert(!file->starts.read);
	if (o->start == START_ROUTINE)
		ck_assert_int_eq(thread_start_first(file, off, true), o->start);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(where_threads_of_aarch64_begin, outermost),
	RUN_TABLE(where_the_first_thread_begins_is_known_at_once, outermost),
};

RUN_TABLES_WITH("thread_start", thread_start_setup, thread_start_teardown,
		tables, only_behind_functions_without_a_frame_one_is_missing)
