/* losses.c - tests of stitch/base/losses.c. */
#include "stitch/base/losses.h"

#include "stitch/fact.h"
#include "tests/unit/run.h"

static void losses_test_add(struct losses *ls, uint32_t id, int32_t cpu,
			    int64_t t0, int64_t t1)
{
	const struct loss l = { id, cpu, t0, t1 };

	losses_add(ls, 0, &l);
}

START_TEST(nothing_overlaps_nothing)
{
	struct losses *ls = losses_new();

	ck_assert_uint_eq(losses_find(ls, 0, -1, INT64_MIN, INT64_MAX), 0);
	ck_assert_uint_eq(losses_any(ls, 0), 0);
	losses_test_add(ls, 1, 0, 5, 5);
	losses_test_add(ls, 2, 0, 9, 3);
	ck_assert_uint_eq(losses_find(ls, 0, -1, INT64_MIN, INT64_MAX), 0);
	ck_assert_uint_eq(losses_any(ls, 0), 1);
	losses_free(ls);
}
END_TEST

START_TEST(bounds_are_not_inside)
{
	struct losses *ls = losses_new();

	losses_test_add(ls, 7, 0, 10, 20);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 20, 30), 0);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 0, 10), 0);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 19, 20), 7);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 10, 11), 7);
	ck_assert_uint_eq(losses_find(ls, 1, -1, 10, 11), 0);
	losses_free(ls);
}
END_TEST

START_TEST(first_that_fits_is_named)
{
	struct losses *ls = losses_new();

	losses_test_add(ls, 3, 1, 40, 50);
	losses_test_add(ls, 2, 0, 10, 30);
	losses_test_add(ls, 1, 0, 12, 14);
	losses_test_add(ls, 4, 0, 60, 70);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 0, 100), 1);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 15, 100), 2);
	ck_assert_uint_eq(losses_find(ls, 0, -1, 30, 100), 3);
	ck_assert_uint_eq(losses_find(ls, 0, 0, 30, 100), 4);
	ck_assert_uint_eq(losses_find(ls, 0, 1, 55, 100), 0);
	losses_free(ls);
}
END_TEST

START_TEST(loss_of_an_unknown_cpu_or_time_may_be_any)
{
	struct losses *ls = losses_new();

	losses_test_add(ls, 1, -1, 10, 20);
	ck_assert_uint_eq(losses_find(ls, 0, 3, 5, 15), 1);
	ck_assert_uint_eq(losses_find(ls, 0, 3, 25, 30), 0);
	losses_test_add(ls, 2, 3, 0, TIME_NONE);
	ck_assert_uint_eq(losses_find(ls, 0, 3, 25, 30), 2);
	ck_assert_uint_eq(losses_find(ls, 0, 4, 25, 30), 0);
	losses_free(ls);
}
END_TEST

START_TEST(newest_is_the_one_that_ends_last)
{
	struct losses *ls = losses_new();

	ck_assert_int_eq(losses_newest(ls, 0, 0), INT64_MIN);
	losses_test_add(ls, 1, 0, 10, 20);
	losses_test_add(ls, 2, 0, 5, 7);
	losses_test_add(ls, 3, 1, 30, 40);
	ck_assert_int_eq(losses_newest(ls, 0, 0), 20);
	ck_assert_int_eq(losses_newest(ls, 0, 1), 40);
	ck_assert_int_eq(losses_newest(ls, 0, 2), INT64_MIN);
	ck_assert_int_eq(losses_newest(ls, 0, -1), 40);
	losses_test_add(ls, 4, -1, 22, 25);
	ck_assert_int_eq(losses_newest(ls, 0, 0), 25);
	ck_assert_int_eq(losses_newest(ls, 0, 1), 40);
	losses_free(ls);
}
END_TEST

/* Slow and sure: looks at all of them. */
static bool slow(const struct loss *l, size_t n, int32_t cpu, int64_t from,
		 int64_t to)
{
	for (size_t i = 0; i < n; i++)
		if ((cpu < 0 || l[i].cpu == cpu) && l[i].t1 > from &&
		    l[i].t0 < to)
			return true;
	return false;
}

START_TEST(answers_are_those_of_looking_at_all)
{
	static struct loss l[400];
	struct losses *ls = losses_new();
	uint32_t x = 1;

	for (uint32_t i = 0; i < 400; i++) {
		x = x * 1103515245 + 12345;
		l[i] = (struct loss){ i + 1, (int32_t)(x >> 16) % 4,
				      x >> 8 & 4095, 0 };
		x = x * 1103515245 + 12345;
		l[i].t1 = l[i].t0 + 1 + (x >> 24 & 15);
		losses_add(ls, 0, &l[i]);
		for (int64_t from = 0; from < 4100; from += 37) {
			int32_t cpu = (int32_t)(from % 5) - 1;
			uint32_t id = losses_find(ls, 0, cpu, from, from + 9);

			ck_assert(!!id == slow(l, i + 1, cpu, from, from + 9));
			if (id)
				ck_assert(slow(&l[id - 1], 1, cpu, from,
					       from + 9));
		}
	}
	losses_free(ls);
}
END_TEST

START_TEST(too_many_are_kept_as_fewer_wider_ones)
{
	struct losses *ls = losses_new();

	for (int64_t i = 0; i < 300000; i++)
		losses_test_add(ls, (uint32_t)i + 1, 0, i * 10, i * 10 + 2);
	for (int64_t i = 0; i < 300000; i += 997)
		ck_assert(losses_find(ls, 0, 0, i * 10 - 1, i * 10 + 1));
	ck_assert(!losses_find(ls, 0, 0, 3000000, 3000100));
	losses_free(ls);
}
END_TEST

/* Sorting for each question would take minutes; moving what is behind a new one
 * would be slow downwards. */
START_TEST(a_question_after_each_loss_is_cheap_in_any_order)
{
	for (int64_t step = -1; step <= 7919; step += step < 1 ? 2 : 7918) {
		struct losses *ls = losses_new();

		for (int64_t i = 0; i < 60000; i++) {
			int64_t t = (60000 + i * step) % 60000 * 10;

			losses_test_add(ls, (uint32_t)i + 1, 0, t, t + 2);
			ck_assert(losses_find(ls, 0, 0, t + 1, t + 3));
			ck_assert(!losses_find(ls, 0, 0, t + 2, t + 10));
		}
		losses_free(ls);
	}
}
END_TEST

/* Each begins before all that end before it. */
START_TEST(nested_losses_are_found_from_any_side)
{
	struct losses *ls = losses_new();

	for (int64_t i = 1; i <= 60000; i++) {
		losses_test_add(ls, (uint32_t)i, 0, -i * 10, i * 10);
		ck_assert(losses_find(ls, 0, 0, i * 10 - 1, i * 10 + 1) == i);
		ck_assert(losses_find(ls, 0, 0, -i * 10, 1 - i * 10) == i);
	}
	losses_free(ls);
}
END_TEST

RUN("losses", nothing_overlaps_nothing, bounds_are_not_inside,
    first_that_fits_is_named, loss_of_an_unknown_cpu_or_time_may_be_any,
    newest_is_the_one_that_ends_last, answers_are_those_of_looking_at_all,
    too_many_are_kept_as_fewer_wider_ones,
    a_question_after_each_loss_is_cheap_in_any_order,
    nested_losses_are_found_from_any_side)
