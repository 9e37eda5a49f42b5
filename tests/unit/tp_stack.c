/* tp_stack.c - fields of tracepoints that are stacks of the kernel. */
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"
#include "tests/unit/run.h"

#define LOC(at, len) ((uint32_t)(len) << 16 | (at))

static const char text[] =
	"name: blocked\nID: 7\nformat:\n"
	"\tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc unsigned long[] stack;\toffset:4;\tsize:4;"
	"\tsigned:1;\n"
	"\tfield:__data_loc unsigned long[] more;\toffset:8;\tsize:4;"
	"\tsigned:1;\n"
	"\tfield:__data_loc unsigned long[] words;\toffset:12;\tsize:4;"
	"\tsigned:1;\n"
	"\nprint fmt: \"stack=%s more=%s\", __get_stacktrace(stack), "
	"__get_stacktrace(more)\n";

static struct arena arena;
static struct tp_format fmt;
static struct tp tp;

static void tp_stack_begin(void)
{
	struct bytes b;

	bytes_init(&b, text, strlen(text), "format", 0, false);
	memset(&tp, 0, sizeof(tp));
	ck_assert(tp_format_parse(&arena, "synthetic", &b, &fmt));
}

static void tp_stack_end(void)
{
	tp_release(&tp);
	tp_format_release(&fmt);
	arena_release(&arena);
}

/* "10 20 | 30": the addresses of each stack. */
static const char *stacks(const void *raw, size_t len, bool long32)
{
	static char out[256];
	struct rec_sample s = { .event = 0 };
	struct bytes b;
	size_t n = 0;

	bytes_init(&b, raw, len, "payload", 0, tp.swap);
	tp_stacks_take(&tp, &fmt, &b, long32, &s);
	out[0] = '\0';
	for (uint32_t i = 0; i < s.n_held; i++) {
		n += (size_t)snprintf(out + n, sizeof(out) - n, i ? " |" : "");
		for (uint32_t k = 0; k < s.held[i].n; k++)
			n += (size_t)snprintf(
				out + n, sizeof(out) - n, " %llx",
				(unsigned long long)s.held[i].ip[k]);
	}
	return out;
}

struct wide {
	uint32_t pid, stack, more, words;
	uint64_t addr[6];
};

static const struct wide wide = {
	1, LOC(16, 24), LOC(40, 24), LOC(16, 8), { 2, 0xf10, 0xf20, 0xf30 },
};

START_TEST(stacks_are_told_from_other_arrays)
{
	tp_stack_begin();
	ck_assert_uint_eq(fmt.n_stack, 2);
	ck_assert(!fmt.def[0].is_stack);
	ck_assert(fmt.def[1].is_stack && fmt.def[2].is_stack);
	ck_assert(!fmt.def[3].is_stack);
	tp_stack_end();
}
END_TEST

START_TEST(their_number_may_stand_in_front)
{
	tp_stack_begin();
	/* the second has none, and ends with a 0 */
	ck_assert_str_eq(stacks(&wide, sizeof(wide), false), " f10 f20 | f30");
	tp_stack_end();
}
END_TEST

START_TEST(addresses_may_have_4_bytes_in_the_other_order)
{
	const uint32_t raw[] = { 1, LOC(16, 12), LOC(28, 4), 0,
				 2, 0xf10,	 0xf20,	     0xf30 };
	uint32_t swapped[8];

	for (int i = 0; i < 8; i++)
		swapped[i] = __builtin_bswap32(raw[i]);
	tp_stack_begin();
	ck_assert_str_eq(stacks(raw, sizeof(raw), true), " f10 f20 | f30");
	tp.swap = true;
	ck_assert_str_eq(stacks(swapped, sizeof(swapped), true),
			 " f10 f20 | f30");
	tp_stack_end();
}
END_TEST

START_TEST(a_payload_that_is_cut_off_has_fewer)
{
	tp_stack_begin();
	for (size_t len = 0; len < sizeof(wide); len++) {
		/* a copy of its own size: tools see a byte too many */
		void *copy = malloc(len ? len : 1);

		memcpy(copy, &wide, len);
		const char *got = stacks(copy, len, false);

		ck_assert_str_eq(got, len < 40	 ? " |"
				      : len < 64 ? " f10 f20 |"
						 : " f10 f20 | f30");
		free(copy);
	}
	tp_stack_end();
}
END_TEST

START_TEST(a_stack_has_its_addresses_as_text)
{
	char buf[128];

	tp_stack_begin();
	tp_print(&tp, &fmt, &wide, sizeof(wide), buf, sizeof(buf));
	ck_assert_str_eq(buf, "stack= => f10 => f20 more= => f30");
	tp_stack_end();
}
END_TEST

RUN("tp_stack", stacks_are_told_from_other_arrays,
    their_number_may_stand_in_front,
    addresses_may_have_4_bytes_in_the_other_order,
    a_payload_that_is_cut_off_has_fewer, a_stack_has_its_addresses_as_text)
