/* flame_nodes.c - stacks become a tree of names, whatever their order. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "schema/functions/flame_nodes.h"
#include "tests/unit/run.h"

static struct flame_nodes *t; /* each test is a process of its own */

static uint32_t flame_nodes_test_text(const char *s)
{
	return intern_add(&t->names, s);
}

static uint32_t flame_nodes_comm(const char *s)
{
	return flame_nodes_child(t, FLAME_ROOT, flame_nodes_test_text(s),
				 FLAME_ROOT);
}

/* Frames 1: main, 2: f and g inlined into it, 3: main of another file; stacks
 * 1: main, 2: main > f > g, 3: main > f > g > main, 4: the other main. */
static void flame_nodes_fill(void)
{
	flame_nodes_frame(t, "main", "a");
	flame_nodes_frame(t, "f;g_[i]", "a");
	flame_nodes_frame(t, "main", "b");
	ck_assert_int_eq(flame_nodes_stack(t, 0, 1, false), 0);
	ck_assert_int_eq(flame_nodes_stack(t, 1, 2, false), 0);
	ck_assert_int_eq(flame_nodes_stack(t, 2, 1, false), 0);
	ck_assert_int_eq(flame_nodes_stack(t, 0, 3, false), 0);
}

static void flame_nodes_test_add(uint32_t at, uint64_t weight)
{
	t->item[at].self += weight;
	t->item[at].samples++;
}

/* "depth name image weight self samples" of a node */
static void flame_nodes_expect(size_t i, uint32_t depth, const char *name,
			       const char *image, uint64_t weight,
			       uint64_t self, uint64_t samples)
{
	const struct flame_item *x = &t->item[i];

	ck_assert_uint_lt(i, t->n_item);
	ck_assert_uint_eq(x->depth, depth);
	ck_assert_str_eq(intern_get(&t->names, x->name), name);
	if (image)
		ck_assert_str_eq(intern_get(&t->names, x->image), image);
	else
		ck_assert_uint_eq(x->image, FLAME_ROOT);
	ck_assert_uint_eq(x->weight, weight);
	ck_assert_uint_eq(x->self, self);
	ck_assert_uint_eq(x->samples, samples);
}

START_TEST(stacks_share_what_they_have_in_common)
{
	t = flame_nodes_new();
	flame_nodes_fill();
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("app"), 3),
			     5);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("app"), 2),
			     20);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("app"), 2),
			     1);
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 5);
	flame_nodes_expect(0, 0, "app", NULL, 26, 0, 3);
	flame_nodes_expect(1, 1, "main", "a", 26, 0, 3);
	flame_nodes_expect(2, 2, "f", "a", 26, 0, 3);
	flame_nodes_expect(3, 3, "g_[i]", "a", 26, 21, 3);
	flame_nodes_expect(4, 4, "main", "a", 5, 5, 1);
	ck_assert_uint_eq(t->item[0].parent, FLAME_ROOT);
	for (uint32_t i = 1; i < 5; i++)
		ck_assert_uint_eq(t->item[i].parent, i - 1);
	flame_nodes_free(t);
}
END_TEST

START_TEST(the_heaviest_child_comes_first_and_its_own_behind_it)
{
	t = flame_nodes_new();
	flame_nodes_fill();
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("light"), 1),
			     1);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("heavy"), 4),
			     30);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("heavy"), 2),
			     40);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("even"), 1),
			     1);
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 9);
	flame_nodes_expect(0, 0, "heavy", NULL, 70, 0, 2);
	flame_nodes_expect(1, 1, "main", "a", 40, 0, 1);
	flame_nodes_expect(2, 2, "f", "a", 40, 0, 1);
	flame_nodes_expect(3, 3, "g_[i]", "a", 40, 40, 1);
	flame_nodes_expect(4, 1, "main", "b", 30, 30, 1);
	flame_nodes_expect(5, 0, "even", NULL, 1, 0, 1);
	flame_nodes_expect(7, 0, "light", NULL, 1, 0, 1);
	ck_assert_uint_eq(t->item[4].parent, 0);
	ck_assert_uint_eq(t->item[8].parent, 7);
	flame_nodes_free(t);
}
END_TEST

START_TEST(a_stack_goes_on_where_another_ended)
{
	t = flame_nodes_new();
	flame_nodes_fill();
	uint32_t user = flame_nodes_place(t, flame_nodes_comm("app"), 1);

	flame_nodes_test_add(flame_nodes_place(t, user, 4), 7);
	ck_assert_uint_eq(flame_nodes_place(t, user, 0), user);
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 3);
	flame_nodes_expect(2, 2, "main", "b", 7, 7, 1);
	flame_nodes_free(t);
}
END_TEST

START_TEST(what_cannot_be_a_stack_is_refused)
{
	t = flame_nodes_new();
	flame_nodes_frame(t, "main", NULL);
	ck_assert_int_eq(flame_nodes_stack(t, 1, 1, false),
			 -1); /* its own parent */
	ck_assert_int_eq(flame_nodes_stack(t, -1, 1, false), -1);
	ck_assert_int_eq(flame_nodes_stack(t, 0, 0, false), -1);
	ck_assert_int_eq(flame_nodes_stack(t, 0, 2, false), -1);
	ck_assert_int_eq(flame_nodes_stack(t, 0, INT64_MIN, false), -1);
	ck_assert_int_eq(flame_nodes_stack(t, INT64_MAX, 1, false), -1);
	ck_assert_int_eq(flame_nodes_stack(t, 0, 1, false), 0);
	flame_nodes_free(t);
}
END_TEST

START_TEST(weights_that_do_not_fit_are_said)
{
	t = flame_nodes_new();
	flame_nodes_fill();
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("a"), 1),
			     INT64_MAX);
	flame_nodes_test_add(flame_nodes_place(t, flame_nodes_comm("b"), 1), 1);
	ck_assert_int_eq(flame_nodes_finish(t), -1);
	flame_nodes_free(t);
}
END_TEST

START_TEST(nothing_is_nothing)
{
	t = flame_nodes_new();
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 0);
	flame_nodes_free(t);
}
END_TEST

/* Many stacks of many frames: ids and parents hold up when arrays grow. */
START_TEST(a_deep_stack_is_placed_step_by_step)
{
	char name[16];

	t = flame_nodes_new();
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		flame_nodes_frame(t, name, NULL);
		ck_assert_int_eq(flame_nodes_stack(t, i, i + 1, false), 0);
	}
	for (uint32_t i = 1; i <= 5000; i += 7)
		flame_nodes_test_add(
			flame_nodes_place(t, flame_nodes_comm("app"), i), 1);
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 5000);
	flame_nodes_expect(0, 0, "app", NULL, 715, 0, 715);
	flame_nodes_expect(4999, 4999, "f4998", NULL, 1, 1, 1);
	ck_assert_uint_eq(t->item[4999].parent, 4998);
	flame_nodes_free(t);
}
END_TEST

START_TEST(a_missing_caller_is_a_node_of_its_innermost_frame_only)
{
	t = flame_nodes_new();
	flame_nodes_frame(t, "main", "a");
	flame_nodes_frame(t, "f", "a");
	flame_nodes_stack(t, 0, 1, true); /* nothing is outside of it */
	flame_nodes_stack(t, 1, 2, true);
	flame_nodes_stack(t, 2, 1, false);
	for (uint32_t i = 1; i <= 3; i++)
		flame_nodes_test_add(
			flame_nodes_place_marked(t, flame_nodes_comm("app"), i),
			1);
	ck_assert_int_eq(flame_nodes_finish(t), 0);
	ck_assert_uint_eq(t->n_item, 6);
	flame_nodes_expect(1, 1, "main", "a", 3, 1, 3);
	/* main;[caller missing];f and main;f;main */
	flame_nodes_expect(2, 2, "[caller missing]", NULL, 1, 0, 1);
	flame_nodes_expect(3, 3, "f", "a", 1, 1, 1);
	flame_nodes_expect(4, 2, "f", "a", 1, 0, 1);
	flame_nodes_free(t);
}
END_TEST

RUN("flame_nodes", stacks_share_what_they_have_in_common,
    the_heaviest_child_comes_first_and_its_own_behind_it,
    a_stack_goes_on_where_another_ended, what_cannot_be_a_stack_is_refused,
    weights_that_do_not_fit_are_said, nothing_is_nothing,
    a_deep_stack_is_placed_step_by_step,
    a_missing_caller_is_a_node_of_its_innermost_frame_only)
