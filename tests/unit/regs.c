/* regs.c - tests of stitch/tasks/regs.c. */
#include "stitch/tasks/regs.h"

#include <stddef.h>

#include "stitch/record.h"
#include "tests/unit/run.h"

static const uint64_t values[] = { 10, 11, 12, 13 };

START_TEST(program_counter_stands_behind_the_lower_registers)
{
	struct regs r = { values, 1 << 0 | 1 << 7 | 1 << 8, 3, 2 };
	uint64_t pc = 0;

	ck_assert(regs_pc(&r, "x86_64", &pc));
	ck_assert_uint_eq(pc, 12);
	/* whether it is there can be asked without reading it */
	r.v = (const uint64_t[]){ 0 };
	ck_assert(regs_pc(&r, "x86_64", NULL));
}
END_TEST

START_TEST(registers_without_it_say_nothing)
{
	struct regs r = { values, 1 << 0 | 1 << 7, 2, 2 };
	uint64_t pc = 0;

	ck_assert(!regs_pc(&r, "x86_64", &pc));
	ck_assert(!regs_pc(&r, "vax", &pc));
	ck_assert(!regs_pc(&r, NULL, &pc));
}
END_TEST

START_TEST(kernel_threads_have_no_user_registers)
{
	struct regs r = { NULL, 0, 0, 0 };
	uint64_t pc = 0;

	ck_assert(!regs_pc(&r, "aarch64", &pc));
}
END_TEST

START_TEST(fewer_values_than_the_mask_says_are_not_read_past)
{
	struct regs r = { values, UINT64_MAX, 4, 2 };
	uint64_t pc = 0;

	ck_assert(!regs_pc(&r, "s390x", &pc));
}
END_TEST

RUN("regs", program_counter_stands_behind_the_lower_registers,
    registers_without_it_say_nothing, kernel_threads_have_no_user_registers,
    fewer_values_than_the_mask_says_are_not_read_past)
