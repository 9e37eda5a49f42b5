/* scratch.h - a folder for the files of a test, which goes with the test. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/run.h"

/* Makes the folder and puts its path into dir. */
static inline void scratch_make(char *dir, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(dir, size, "%s/unit.XXXXXX", tmp ? tmp : "/tmp");

	ck_assert(n > 0 && (size_t)n < size);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* Removes it with all that is in it. */
static inline void scratch_remove(const char *dir)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -r '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}
