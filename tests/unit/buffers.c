/* buffers.c - what advice of larger buffers takes from perf's command line. */
#include <check.h>
#include <string.h>

#include "analyze/samples/loss_marks.h"
#include "tests/unit/run.h"

static const struct {
	const char *what, *cmdline;
	unsigned int mb;
} buffer_cases[] = {
	{ "none", "/usr/bin/perf record -a -g -- sleep 1", 0 },
	{ "megabytes", "perf record -m 16M -a", 16 },
	{ "without_a_blank", "perf record -m16M -a", 16 },
	{ "the_last_counts", "perf record -m 1M -m 8M -a", 8 },
	{ "pages", "perf record -m 1024 -a", 4 },
	{ "few_pages_are_rounded_up", "perf record -m 128 -a", 1 },
	{ "kilobytes", "perf record -m 2048K -a", 2 },
	{ "gigabytes", "perf record -m 1G -a", 1024 },
	{ "with_aux", "perf record -m 8M,64M -a", 8 },
	{ "aux_alone", "perf record -m ,64M -a", 0 },
	{ "long", "perf record --mmap-pages 32M -a", 32 },
	{ "long_with_a_sign", "perf record --mmap-pages=32M -a", 32 },
	{ "of_the_program", "perf record -a -- prog -m 64M", 0 },
	{ "before_the_program", "perf record -m 2M -- prog -m 64M", 2 },
	{ "another_option", "perf record --max-size 64M -a", 0 },
	{ "too_large", "perf record -m 999999999G", UINT32_MAX },
	{ "nonsense", "perf record -m 99999999999999999999 -a", 0 },
	{ "empty", "", 0 },
};

START_TEST(megabytes_of_a_command_line)
{
	ck_assert_uint_eq(loss_buffer_megabytes(buffer_cases[_i].cmdline),
			  buffer_cases[_i].mb);
}
END_TEST

START_TEST(advice_is_more_than_there_was)
{
	static const unsigned int had[] = { 0, 1, 2, 4, 8, 16, 31 };

	for (size_t i = 0; i < sizeof(had) / sizeof(had[0]); i++) {
		const char *said = loss_larger_buffers("perf", had[i], false);

		must(strstr(said, " -m "));
		must(loss_buffer_megabytes(said) > had[i]);
	}
	must(!strstr(loss_larger_buffers("perf", 64, false), " -m "));
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(megabytes_of_a_command_line, buffer_cases),
};

RUN_TABLES("buffers", tables, advice_is_more_than_there_was)
