/* jit.c - code that a runtime made: what stood where, and when. */
#include "stitch/tasks/jit.h"

#include <stdio.h>
#include <string.h>

#include "stitch/record.h"
#include "tests/unit/run.h"

static void jit_test_add(struct jit *j, const char *name, uint64_t start,
			 uint64_t len, int64_t t)
{
	const struct jit_code c = {
		.start = start,
		.len = len,
		.name = name,
		.number = start,
	};

	ck_assert(jit_add(j, &c, t));
}

static const char *jit_test_at(struct jit *j, uint64_t addr, int64_t t)
{
	struct jit_hit h = jit_find(j, addr, t);

	switch (h.found) {
	case JIT_ONE:
		ck_assert_uint_eq(h.n, 1);
		return h.code[0]->name;
	case JIT_EARLY:
		return "early";
	case JIT_SEVERAL:
		return "several";
	case JIT_NONE:
		break;
	}
	return "none";
}

START_TEST(an_address_has_the_name_of_its_time)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "a", 0x1000, 16, 10000000);
	jit_test_add(j, "b", 0x1000, 16, 20000000);
	ck_assert_uint_eq(jit_finish(j), 0);
	ck_assert_str_eq(jit_test_at(j, 0x1000, 1), "none");
	ck_assert_str_eq(jit_test_at(j, 0x1000, 10000000), "a");
	ck_assert_str_eq(jit_test_at(j, 0x100f, 18000000), "a");
	ck_assert_str_eq(jit_test_at(j, 0x1000, 20000000), "b");
	ck_assert_str_eq(jit_test_at(j, 0x1010, 20000000), "none");
	ck_assert_str_eq(jit_test_at(j, 0xfff, 20000000), "none");
	ck_assert_int_eq(jit_first(j), 10000000);
	jit_free(j);
}
END_TEST

START_TEST(newer_code_covers_a_part_of_older_code)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "old", 0x1000, 0x100, 5);
	jit_test_add(j, "new", 0x1040, 0x40, 9);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x103f, 10), "old");
	ck_assert_str_eq(jit_test_at(j, 0x1040, 10), "new");
	ck_assert_str_eq(jit_test_at(j, 0x107f, 10), "new");
	ck_assert_str_eq(jit_test_at(j, 0x1080, 10), "old");
	ck_assert_str_eq(jit_test_at(j, 0x1050, 8), "old");
	jit_free(j);
}
END_TEST

START_TEST(code_that_moved_is_where_it_went_and_nothing_where_it_was)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "under", 0x1000, 0x10, 1000000);
	jit_test_add(j, "f", 0x1000, 0x10, 2000000);
	ck_assert(jit_move(j, 0x1000, 0x1000, 0x5000, 9000000));
	ck_assert(!jit_move(j, 0x1000, 0x1000, 0x6000, 9500000));
	ck_assert(!jit_move(j, 7, 0x5000, 0x6000, 9500000));
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1004, 8999999), "f");
	ck_assert_str_eq(jit_test_at(j, 0x1004, 9000000), "none");
	ck_assert_str_eq(jit_test_at(j, 0x5004, 9000000), "f");
	ck_assert_uint_eq(jit_count(j), 3);
	jit_free(j);
}
END_TEST

START_TEST(code_may_run_a_moment_before_it_was_logged)
{
	struct jit *j = jit_new(true);
	const int64_t t = 50000000;

	jit_test_add(j, "f", 0x1000, 0x10, t);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1004, t - JIT_GRACE_NS), "early");
	ck_assert_str_eq(jit_test_at(j, 0x1004, t - JIT_GRACE_NS - 1), "none");
	ck_assert_str_eq(jit_test_at(j, 0x1004, t), "f");
	jit_free(j);
}
END_TEST

START_TEST(records_that_are_out_of_order_are_sorted)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "second", 0x1000, 16, 20);
	jit_test_add(j, "first", 0x1000, 16, 10);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1000, 15), "first");
	ck_assert_str_eq(jit_test_at(j, 0x1000, 25), "second");
	jit_free(j);
}
END_TEST

START_TEST(of_equal_times_the_later_record_counts)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "one", 0x1000, 16, 20);
	jit_test_add(j, "two", 0x1000, 16, 20);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1000, 20), "two");
	jit_free(j);
}
END_TEST

START_TEST(without_times_all_that_were_there_are_the_answer)
{
	struct jit *j = jit_new(false);

	jit_test_add(j, "a", 0x1000, 0x20, 0);
	jit_test_add(j, "b", 0x1010, 0x20, 0);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1008, 5), "a");
	ck_assert_str_eq(jit_test_at(j, 0x1018, 5), "several");
	ck_assert_str_eq(jit_test_at(j, 0x1028, TIME_NONE), "b");
	struct jit_hit h = jit_find(j, 0x1018, 5);

	ck_assert_uint_eq(h.n, 2);
	ck_assert_str_eq(h.code[0]->name, "a");
	ck_assert_str_eq(h.code[1]->name, "b");
	ck_assert_uint_eq(h.start, 0x1000);
	ck_assert_int_eq(jit_first(j), TIME_NONE);
	jit_free(j);
}
END_TEST

START_TEST(a_record_without_time_does_not_choose)
{
	struct jit *j = jit_new(true);

	jit_test_add(j, "a", 0x1000, 0x20, 1);
	jit_test_add(j, "b", 0x1000, 0x20, 2);
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, 0x1008, TIME_NONE), "several");
	jit_free(j);
}
END_TEST

START_TEST(answers_change_only_where_the_number_of_changes_does)
{
	struct jit *j = jit_new(true);

	for (int i = 0; i < 50; i++)
		jit_test_add(j, "f", 0x1000, 16,
			     3000000 + 700001 * (int64_t)i % 999983);
	jit_finish(j);
	int64_t last = 0;

	for (int64_t t = 1900000; t < 4100000; t += 97) {
		struct jit_hit a = jit_find(j, 0x1000, last);
		struct jit_hit b = jit_find(j, 0x1000, t);
		bool same = a.found == b.found && a.code == b.code;

		ck_assert_uint_le(jit_changes(j, last), jit_changes(j, t));
		if (jit_changes(j, last) == jit_changes(j, t))
			ck_assert(same);
		last = t;
	}
	jit_free(j);
}
END_TEST

START_TEST(ranges_that_are_none_are_refused)
{
	struct jit *j = jit_new(true);
	struct jit_code c = { .start = UINT64_MAX, .len = 2, .name = "x" };

	ck_assert(!jit_add(j, &c, 1));
	c.len = 0;
	ck_assert(!jit_add(j, &c, 1));
	jit_finish(j);
	ck_assert_str_eq(jit_test_at(j, UINT64_MAX, 1), "none");
	jit_free(j);
}
END_TEST

START_TEST(code_made_to_be_slow_is_left_out_and_counted)
{
	struct jit *j = jit_new(true);
	const size_t n = 5000;

	/* each one is around all that came before it */
	for (size_t i = 1; i <= n; i++)
		jit_test_add(j, "nested", 0x10000000 - i, 2 * i, (int64_t)i);
	ck_assert_uint_gt(jit_finish(j), 0);
	ck_assert_uint_eq(jit_count(j), n);
	ck_assert_str_eq(jit_test_at(j, 0x10000000 - 1, 1), "nested");
	jit_free(j);
}
END_TEST

START_TEST(a_child_has_what_its_parent_had_when_it_forked)
{
	struct jit *j = jit_new(true);
	struct jit_view parent = { .own = j };
	struct jit_view child, grandchild;

	jit_finish(j);
	jit_view_fork(&child, &parent, 100);
	ck_assert_ptr_eq(child.parents, j);
	ck_assert_ptr_null(child.own);
	ck_assert_int_eq(child.forked, 100);
	jit_view_fork(&grandchild, &child, 300);
	ck_assert_ptr_eq(grandchild.parents, j);
	ck_assert_int_eq(grandchild.forked, 100);
	jit_view_start(&child, 500);
	ck_assert_ptr_null(child.parents);
	ck_assert_int_eq(child.since, 500);
	jit_free(j);
}
END_TEST

START_TEST(the_marker_is_known_by_its_name)
{
	static const struct {
		const char *path;
		bool is;
	} t[] = {
		{ "/tmp/jit-12.dump", true },
		{ "jit-12.dump", true },
		{ "/tmp/jit-12.dump.old", false },
		{ "/tmp/jit-.dump", false },
		{ "/tmp/jit-99999999999.dump", false },
		{ "/tmp/xjit-12.dump", false },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		const struct rec_map m = { .path = t[i].path };

		ck_assert_msg(jit_is_marker(&m) == t[i].is, "%s", t[i].path);
	}
}
END_TEST

RUN("jit", an_address_has_the_name_of_its_time,
    newer_code_covers_a_part_of_older_code,
    code_that_moved_is_where_it_went_and_nothing_where_it_was,
    code_may_run_a_moment_before_it_was_logged,
    records_that_are_out_of_order_are_sorted,
    of_equal_times_the_later_record_counts,
    without_times_all_that_were_there_are_the_answer,
    a_record_without_time_does_not_choose,
    answers_change_only_where_the_number_of_changes_does,
    ranges_that_are_none_are_refused,
    code_made_to_be_slow_is_left_out_and_counted,
    a_child_has_what_its_parent_had_when_it_forked,
    the_marker_is_known_by_its_name)
