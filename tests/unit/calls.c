/* calls.c - tests of the tree of calls that grows where somebody looks. */
#include <check.h>
#include <stdlib.h>

#include "analyze/stacks/sums.h"
#include "tests/unit/run.h"

/* Stacks, outermost first. */
static const uint32_t abc[] = { 1, 2, 3 }, abd[] = { 1, 2, 4 }, ab[] = { 1, 2 },
		      x[] = { 5 };

static struct calls *calls_of_all(void)
{
	struct calls *c = calls_new(9, 10, 1);

	calls_add(c, &(struct calls_stack){ abc, 3, 10, 1 });
	calls_add(c, &(struct calls_stack){ x, 1, 7, 1 });
	calls_add(c, &(struct calls_stack){ abd, 3, 20, 2 });
	calls_add(c, &(struct calls_stack){ ab, 2, 5, 1 });
	calls_add(c, &(struct calls_stack){ NULL, 0, 1, 1 });
	return c;
}

START_TEST(children_are_heaviest_first_and_add_up)
{
	struct calls *c = calls_of_all();
	const struct calls_node *root = calls_split(c, 0);
	uint32_t a = root->child;
	uint32_t b;

	ck_assert_uint_eq(root->weight, 43);
	ck_assert_uint_eq(root->self, 1);
	ck_assert_uint_eq(root->n_child, 2);
	ck_assert_uint_eq(c->node[a].label, 1);
	ck_assert_uint_eq(c->node[a].weight, 35);
	ck_assert_uint_eq(c->node[a + 1].label, 5);
	ck_assert_uint_eq(c->node[a + 1].weight, 7);
	b = calls_split(c, a)->child;
	ck_assert_uint_eq(c->node[a].self, 0);
	ck_assert_uint_eq(calls_split(c, b)->self, 5);
	ck_assert(c->node[b].goes_on);
	ck_assert_uint_eq(c->node[b].n_child, 2);
	ck_assert_uint_eq(c->node[c->node[b].child].label, 4);
	ck_assert_uint_eq(c->node[c->node[b].child].depth, 3);
	ck_assert_uint_eq(c->node[c->node[b].child].samples, 2);
	ck_assert(!calls_split(c, a + 1)->goes_on);
	ck_assert_uint_eq(c->node[a + 1].self, 7);
	calls_free(c);
}
END_TEST

START_TEST(a_node_is_split_once)
{
	struct calls *c = calls_of_all();
	uint32_t n;

	calls_split(c, 0);
	n = c->n_node;
	calls_split(c, 0);
	ck_assert_uint_eq(c->n_node, n);
	calls_free(c);
}
END_TEST

START_TEST(stacks_may_go_from_callee_to_caller)
{
	struct calls *c = calls_new(9, 10, -1);
	uint32_t id;

	calls_add(c, &(struct calls_stack){ abc + 1, 2, 10, 1 });
	calls_add(c, &(struct calls_stack){ abd + 1, 2, 20, 2 });
	id = calls_split(c, 0)->child;
	ck_assert_uint_eq(c->node[id].label, 2);
	ck_assert_uint_eq(c->node[id].weight, 30);
	id = calls_split(c, id)->child;
	ck_assert_uint_eq(c->node[id].label, 1);
	ck_assert_uint_eq(calls_split(c, id)->self, 30);
	calls_free(c);
}
END_TEST

START_TEST(a_tree_without_stacks_has_a_root)
{
	struct calls *c = calls_new(9, 10, 1);

	ck_assert_uint_eq(calls_split(c, 0)->n_child, 0);
	ck_assert_uint_eq(c->node[0].label, 9);
	calls_free(c);
}
END_TEST

RUN("calls", children_are_heaviest_first_and_add_up, a_node_is_split_once,
    stacks_may_go_from_callee_to_caller, a_tree_without_stacks_has_a_root)
