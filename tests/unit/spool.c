/* spool.c - tests of cli/export/spool.c. */
#include "cli/export/spool.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "tests/unit/run.h"

struct item {
	uint64_t a, b, c;
};

#define MANY 300000u /* 7 MB: it grows three times */

START_TEST(items_stay_where_they_are)
{
	struct err err = { 0 };
	struct spool *s = spool_new(sizeof(struct item), &err);

	ck_assert_ptr_nonnull(s);
	for (uint64_t i = 0; i < MANY; i++) {
		struct item *x = spool_add(s, &err);

		ck_assert_ptr_nonnull(x);
		ck_assert(!x->a && !x->b && !x->c);
		*x = (struct item){ i, ~i, i * i };
		if (i)
			((struct item *)spool_at(s, i - 1))->b = i;
	}
	ck_assert_uint_eq(spool_count(s), MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct item *x = spool_at(s, i);

		ck_assert_uint_eq(x->a, i);
		ck_assert_uint_eq(x->b, i + 1 < MANY ? i + 1 : ~i);
		ck_assert_uint_eq(x->c, i * i);
	}
	spool_free(s);
}
END_TEST

START_TEST(an_empty_one_goes_away)
{
	struct err err = { 0 };
	struct spool *s = spool_new(1, &err);

	ck_assert_uint_eq(spool_count(s), 0);
	spool_free(s);
	spool_free(NULL);
}
END_TEST

START_TEST(no_folder_for_it_is_an_error)
{
	char *old = getenv("TMPDIR");
	char keep[4096] = "";
	struct err err = { 0 };

	if (old)
		strncat(keep, old, sizeof(keep) - 1);
	setenv("TMPDIR", "/nowhere/at/all", 1);
	ck_assert_ptr_null(spool_new(8, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "temporary file"));
	if (old)
		setenv("TMPDIR", keep, 1);
	else
		unsetenv("TMPDIR");
}
END_TEST

RUN("spool", items_stay_where_they_are, an_empty_one_goes_away,
    no_folder_for_it_is_an_error)
