/* callsite.c - tests of what precedes a return address in a file. */
#include "symbolize/unwind/callsite.h"

#include <check.h>
#include <stdio.h>

#include "mkelf.h"
#include "run.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "tests/unit/scratch.h"

/* The bytes of a call by 0x10, and what is at the address behind it. */
static enum callsite_kind callsite_with_call_at(uint64_t off)
{
	const struct image img = { .kind = IMAGE_FILE, .path = "/prog" };
	const struct mkelf m = { .entry = MKELF_TEXT };
	struct identity_answer said;
	struct callsite site;
	char dir[64];
	char path[128];

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/prog", dir);
	mkelf(path, &m);
	int fd = open(path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, "\xe8\x10\0\0\0", 5, (off_t)off), 5);
	close(fd);
	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	struct callsite_file *f = callsite_open(sy, &img, &said);

	ck_assert_ptr_nonnull(f);
	callsite_at(f, off + 5, &site);
	callsite_close(f);
	symbolize_free(sy);
	scratch_remove(dir);
	return site.kind;
}

START_TEST(bytes_in_front_of_the_code_are_no_call)
{
	ck_assert_int_eq(callsite_with_call_at(MKELF_OFF), CALLSITE_DIRECT);
	ck_assert_int_eq(callsite_with_call_at(MKELF_OFF - 1),
			 CALLSITE_NO_CALL);
}
END_TEST

RUN("callsite", bytes_in_front_of_the_code_are_no_call)
