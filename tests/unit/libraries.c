/* libraries.c - the libraries of programs at hand are those that ldd(1) has.
 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/libraries.h"
#include "stitch/base/intern.h"
#include "tests/unit/run.h"

static void take_library(void *arg, const char *path)
{
	char real[PATH_MAX];

	must(realpath(path, real));
	intern_add(arg, real);
}

static const char *const programs[] = {
	"/bin/sh",	    "/bin/ls",	     "/usr/bin/gcc",
	"/usr/bin/make",    "/usr/bin/perl", "/usr/bin/python3",
	"/usr/bin/sqlite3",
};

START_TEST(libraries_are_those_of_ldd)
{
	char line[PATH_MAX + 64], real[PATH_MAX], *path;
	struct intern ours = { 0 };
	size_t n = 0;
	FILE *f;

	if (access(programs[_i], X_OK))
		return;
	libraries_of(programs[_i], take_library, &ours);
	snprintf(line, sizeof(line), "ldd %s 2>/dev/null", programs[_i]);
	f = popen(line, "r");
	while (fgets(line, sizeof(line), f)) {
		if (!(path = strstr(line, " => /")))
			continue;
		path[strcspn(path, "(") - 1] = '\0';
		must(realpath(path + 4, real));
		ck_assert_msg(intern_find(&ours, real) != TABLE_NONE,
			      "%s is not found", real);
		n++;
	}
	pclose(f);
	ck_assert_uint_eq(ours.n, n);
	intern_release(&ours);
}
END_TEST

START_TEST(a_file_that_is_no_program_has_none)
{
	struct intern ours = { 0 };

	libraries_of("/dev/null", take_library, &ours);
	libraries_of("/etc/passwd", take_library, &ours);
	must(!ours.n);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TIMES(libraries_are_those_of_ldd,
		  sizeof(programs) / sizeof(programs[0])),
};

RUN_TABLES("libraries", tables, a_file_that_is_no_program_has_none)
