/* kernel_map.c - tests of the kernel's symbols in formats/code/maps.c. */
#include "formats/code/maps.h"

#include <string.h>

#include "tests/unit/run.h"

#define KERNEL                                                                 \
	"ffffffff81000000 T _text\n"                                           \
	"ffffffff81001000 t helper\n"                                          \
	"ffffffff81900000 T _etext\n"

/* Lines that say nothing of the kernel's code. */
static const struct {
	const char *name, *line;
} others[] = {
	{ "data", "ffffffff82000000 D jiffies\n" },
	{ "an_address_that_is_hidden", "0000000000000000 T start\n" },
	{ "an_address_of_more_than_64_bits", "ffffffff8a1b2c3d4 T high\n" },
	{ "an_address_that_is_none", "ffffffff8200000g T high\n" },
	{ "a_negative_number", "-1 T high\n" },
	{ "no_type", "ffffffff82000000 \n" },
	{ "no_name", "ffffffff82000000 T" },
	{ "no_blank", "ffffffff82000000\n" },
	{ "nothing", "\n\n" },
};

START_TEST(a_line_of_nothing_that_is_code_is_left_out)
{
	/* the highest address counts, as no line tells the end */
	const char *plain = "ffffffff81000000 T _text\n"
			    "ffffffff81001000 t helper\n";
	struct kernel_map km;
	char text[256];

	for (int before = 0; before < 2; before++) {
		snprintf(text, sizeof(text), "%s%s",
			 before ? others[_i].line : plain,
			 before ? plain : others[_i].line);
		/* a line without an end takes the next one's place */
		if (before && !strchr(others[_i].line, '\n'))
			continue;
		kernel_map_read(&km, text, strlen(text));
		ck_assert_uint_eq(km.n, 1);
		ck_assert_uint_eq(km.at[0].start, 0xffffffff81000000);
		ck_assert_uint_lt(km.at[0].len, 0x10000);
		kernel_map_release(&km);
	}
}
END_TEST

START_TEST(the_kernel_and_modules_and_programs_are_told_apart)
{
	static const char text[] =
		KERNEL "ffffffffa0000010 t mod_start\t[mod]\n"
		       "FFFFFFFFA0001010 T mod_end\t[mod]\n"
		       "0xffffffffc0000000 t bpf_prog_1\t[bpf]\n"
		       "ffffffffc0000040 W bpf_prog_2\t[bpf]";
	struct kernel_map km;

	kernel_map_read(&km, text, strlen(text));
	ck_assert_uint_eq(km.n, 4);
	ck_assert_str_eq(km.at[0].name, "[mod]");
	ck_assert_uint_eq(km.at[0].start, 0xffffffffa0000000);
	ck_assert_uint_eq(km.at[0].len, 0x2000);
	ck_assert(km.at[1].is_symbol && km.at[2].is_symbol);
	ck_assert_str_eq(km.at[1].name, "bpf_prog_1");
	ck_assert_uint_eq(km.at[1].len, 0x40);
	ck_assert_uint_eq(km.at[2].start, 0xffffffffc0000040);
	ck_assert_uint_eq(km.at[3].start, 0xffffffff81000000);
	ck_assert_uint_eq(km.at[3].len, 0x900000);
	ck_assert_uint_eq(km.text, 0xffffffff81000000);
	ck_assert_uint_eq(km.etext, 0xffffffff81900000);
	kernel_map_release(&km);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(
	a_line_of_nothing_that_is_code_is_left_out, others) };

RUN_TABLES("kernel_map", tables,
	   the_kernel_and_modules_and_programs_are_told_apart)
