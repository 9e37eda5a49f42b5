/* input.c - tests of formats/input.h: pages that were read are given back. */
#include "formats/input.h"

#include <fcntl.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "tests/unit/scratch.h"

#define INPUT_PART ((uint64_t)64 << 20)

START_TEST(what_was_passed_is_given_back_but_for_the_last_part)
{
	const uint64_t size = 4 * INPUT_PART;
	char dir[64];
	char path[80];
	struct input in;
	struct err err;

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/holes", dir);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	close(fd);
	ck_assert_int_eq(input_open(&in, path, NULL, &err), 0);
	input_pass(&in, 2 * INPUT_PART - 1);
	ck_assert_uint_eq(in.passed, 0);
	input_pass(&in, 2 * INPUT_PART);
	ck_assert_uint_eq(in.passed, INPUT_PART);
	input_pass(&in, INPUT_PART - 1);
	input_pass(&in, size + 1);
	ck_assert_uint_eq(in.passed, INPUT_PART);
	input_pass(&in, size);
	ck_assert_uint_eq(in.passed, 2 * INPUT_PART);
	input_close(&in);
	scratch_remove(dir);
}
END_TEST

RUN("input", what_was_passed_is_given_back_but_for_the_last_part)
