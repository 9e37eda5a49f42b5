/* flame_tree.c - stacks merge into a tree in which no weight gets lost. */
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/flame_tree.h"
#include "cli/export/folded.h"
#include "analyze/names/name_opts.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static struct labels *labels;
static struct flame_tree *tree;

static void flame_tree_setup(void)
{
	labels = labels_new();
	tree = flame_tree_new(labels);
}

static void flame_tree_teardown(void)
{
	flame_tree_free(tree);
	labels_free(labels);
}

static int flame_tree_add_line(void *arg, struct label_list *l, uint64_t count,
			       struct err *err)
{
	const bool *reverse = arg;

	for (size_t i = 0; *reverse && i < l->n / 2; i++) {
		uint32_t x = l->label[i];

		l->label[i] = l->label[l->n - 1 - i];
		l->label[l->n - 1 - i] = x;
	}
	return flame_tree_add(tree, l->label, l->n, count, count, err);
}

/* Adds folded lines and finishes; gives the number of bad lines. */
static uint64_t flame_tree_read_text(const char *text, bool reverse)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	uint64_t bad = 0;
	const struct name_opts none = { 0 };
	struct err err;

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(folded_read(in, &none, labels, flame_tree_add_line,
				     &reverse, &bad, &err),
			 0);
	fclose(in);
	flame_tree_finish(tree);
	return bad;
}

static void expect_folded(const char *want)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);
	struct err err;

	ck_assert_int_eq(folded_write(out, tree, &err), 0);
	fclose(out);
	ck_assert_str_eq(got, want);
	free(got);
}

static const struct flame_node *flame_tree_test_child(uint32_t id, uint32_t i)
{
	const struct flame_node *nd = &tree->node[id];

	ck_assert_uint_lt(i, nd->n_child);
	return &tree->node[tree->child[nd->child + i]];
}

START_TEST(children_are_sorted_and_sum_up_to_their_parent)
{
	flame_tree_read_text("b;x 2\na;y;z 3\na;y 4\na;b 1\na 5\n", false);
	ck_assert_uint_eq(tree->node[0].weight, 15);
	ck_assert_uint_eq(tree->node[0].n_child, 2);
	ck_assert_uint_eq(flame_tree_test_child(0, 0)->weight, 13);
	ck_assert_uint_eq(flame_tree_test_child(0, 0)->self, 5);
	ck_assert_uint_eq(flame_tree_test_child(0, 1)->weight, 2);
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct flame_node *nd = &tree->node[i];
		uint64_t sum = nd->self;

		for (uint32_t j = 0; j < nd->n_child; j++)
			sum += flame_tree_test_child(i, j)->weight;
		ck_assert_uint_eq(sum, nd->weight);
	}
	expect_folded("a 5\na;b 1\na;y 4\na;y;z 3\nb;x 2\n");
}
END_TEST

START_TEST(kinds_of_frames_survive_the_text_form)
{
	const char *text = "c;[libx.so];f;g_[i];j_[j];[user: lost];k_[k];"
			   "[vmlinux]_[k] 7\n";

	flame_tree_read_text(text, false);
	expect_folded(text);
	ck_assert_int_eq(
		labels_get(labels, flame_tree_test_child(0, 0)->label)->kind,
		LABEL_GROUP);
}
END_TEST

START_TEST(recursion_stays_a_tower)
{
	flame_tree_read_text("c;f;f;f 1\nc;f 2\n", false);
	expect_folded("c;f 2\nc;f;f;f 1\n");
}
END_TEST

START_TEST(reverse_puts_the_innermost_frame_at_the_root)
{
	flame_tree_read_text("c;main;read 1\nc;other;read 2\n", true);
	expect_folded("read;main;c 1\nread;other;c 2\n");
	ck_assert_uint_eq(flame_tree_test_child(0, 0)->weight, 3);
}
END_TEST

START_TEST(lines_without_a_count_are_counted)
{
	ck_assert_uint_eq(
		flame_tree_read_text("a;b\n# note\n\na;b 1.9\n 5\na -1\n"
				     "a 99999999999999999999\na;b 2x\n",
				     false),
		5);
	expect_folded("a;b 1\n");
}
END_TEST

START_TEST(empty_and_odd_names_are_kept)
{
	uint32_t label[2];
	struct label odd = { .kind = LABEL_USER,
			     .name = "a;b\n\033\xff",
			     .image = "" };
	struct label none = { .kind = LABEL_USER, .name = "", .image = "" };

	label[0] = labels_add(labels, &odd);
	label[1] = labels_add(labels, &none);
	ck_assert_int_eq(flame_tree_add(tree, label, 2, 1, 1, NULL), 0);
	flame_tree_finish(tree);
	expect_folded("a:b\\x0a\\x1b\\xff; 1\n");
}
END_TEST

START_TEST(weights_beyond_64_bits_are_refused_whole)
{
	struct label l = { .kind = LABEL_USER, .name = "f", .image = "" };
	uint32_t id = labels_add(labels, &l);
	struct err err = { 0 };

	ck_assert_int_eq(flame_tree_add(tree, &id, 1, UINT64_MAX, 1, &err), 0);
	ck_assert_int_eq(flame_tree_add(tree, &id, 1, 1, 1, &err), -1);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	flame_tree_finish(tree);
	ck_assert_uint_eq(tree->node[0].weight, UINT64_MAX);
}
END_TEST

START_TEST(a_stack_of_100000_frames_needs_no_recursion)
{
	size_t n = 100000;
	uint32_t *label = calloc(n, sizeof(*label));
	struct label l = { .kind = LABEL_USER, .name = "f", .image = "" };
	uint32_t count = 0;

	ck_assert_ptr_nonnull(label);
	for (size_t i = 0; i < n; i++)
		label[i] = labels_add(labels, &l);
	ck_assert_int_eq(flame_tree_add(tree, label, n, 1, 1, NULL), 0);
	flame_tree_finish(tree);
	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(tree, id, 0))
		count++;
	ck_assert_uint_eq(count, n + 1);
	free(label);
}
END_TEST

static uint32_t flame_tree_at(uint32_t id, uint32_t i)
{
	return tree->child[tree->node[id].child + i];
}

START_TEST(the_seam_is_where_the_kernel_begins)
{
	uint32_t main_, read_, vfs, missing;

	flame_tree_read_text(
		"c;[user: lost];vfs_[k] 1\nc;main;read;vfs_[k];ext4_[k] 1\n"
		"d;vfs_[k] 1\n",
		false);
	missing = flame_tree_at(flame_tree_at(0, 0), 0);
	main_ = flame_tree_at(flame_tree_at(0, 0), 1);
	read_ = flame_tree_at(main_, 0);
	vfs = flame_tree_at(read_, 0);
	ck_assert(!flame_tree_is_seam(tree, 0));
	ck_assert(!flame_tree_is_seam(tree, flame_tree_at(0, 0)));
	ck_assert(!flame_tree_is_seam(tree, main_));
	ck_assert(!flame_tree_is_seam(tree, read_));
	ck_assert(flame_tree_is_seam(tree, vfs));
	ck_assert(!flame_tree_is_seam(tree, flame_tree_at(vfs, 0)));
	ck_assert(flame_tree_is_seam(tree, flame_tree_at(missing, 0)));
	/* a kernel thread has none */
	ck_assert(!flame_tree_is_seam(tree,
				      flame_tree_at(flame_tree_at(0, 1), 0)));
	ck_assert_uint_eq(
		flame_tree_child_of(tree, read_, tree->node[vfs].label), vfs);
	ck_assert_uint_eq(flame_tree_child_of(tree, 0, tree->node[vfs].label),
			  FLAME_NONE);
}
END_TEST

START_TEST(equal_labels_have_equal_ids)
{
	struct label a = { .kind = LABEL_USER,
			   .name = "f",
			   .image = "x",
			   .off = 1,
			   .has_off = true };
	struct label b = a;
	uint32_t id = labels_add(labels, &a);

	ck_assert_uint_eq(labels_add(labels, &b), id);
	b.off = 2;
	ck_assert_uint_ne(labels_add(labels, &b), id);
	b = a;
	b.kind = LABEL_JIT;
	ck_assert_uint_ne(labels_add(labels, &b), id);
	b = a;
	b.image = "y";
	ck_assert_uint_ne(labels_add(labels, &b), id);
	for (int i = 0; i < 5000; i++) {
		b.off = (uint64_t)i + 10;
		labels_add(labels, &b);
	}
	ck_assert_uint_eq(labels_add(labels, &a), id);
}
END_TEST

RUN_WITH("flame_tree", flame_tree_setup, flame_tree_teardown,
	 children_are_sorted_and_sum_up_to_their_parent,
	 kinds_of_frames_survive_the_text_form, recursion_stays_a_tower,
	 reverse_puts_the_innermost_frame_at_the_root,
	 lines_without_a_count_are_counted, empty_and_odd_names_are_kept,
	 weights_beyond_64_bits_are_refused_whole,
	 a_stack_of_100000_frames_needs_no_recursion,
	 the_seam_is_where_the_kernel_begins, equal_labels_have_equal_ids)
