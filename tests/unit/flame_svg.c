/* flame_svg.c - pictures are well-formed, whole, and say what they leave out.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "stitch/text/safe_text.h"
#include "cli/pictures/svg.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static struct labels *labels;
static struct flame_tree *tree;
static struct svg_opts opts;

static void flame_svg_setup(void)
{
	labels = labels_new();
	tree = flame_tree_new(labels);
	opts = (struct svg_opts){
		.title = "T",
		.count_name = "ns",
		.colors = palette_find("kind"),
		.width = 1020,
		.minwidth = 100,
		.show_samples = true,
	};
}

static void flame_svg_teardown(void)
{
	flame_tree_free(tree);
	labels_free(labels);
}

static void flame_svg_add(const char *name, enum label_kind kind,
			  uint64_t weight)
{
	struct label l = { .kind = kind,
			   .name = name,
			   .image = "/lib/x<y>",
			   .off = 0x10,
			   .has_off = true };
	uint32_t id = labels_add(labels, &l);

	ck_assert_int_eq(flame_tree_add(tree, &id, 1, weight, 1, NULL), 0);
}

/* The picture; the caller frees it. */
static char *flame_svg_draw(void)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);
	struct err err;

	ck_assert_int_eq(svg_write(out, tree, &opts, &err), 0);
	fclose(out);
	return got;
}

static size_t flame_svg_frames(const char *svg)
{
	size_t n = 0;

	while ((svg = strstr(svg, " data-s=\""))) {
		svg++;
		n++;
	}
	return n;
}

static void flame_svg_expect(const char *svg, const char *part)
{
	ck_assert_msg(strstr(svg, part) != NULL, "no '%s' in the picture",
		      part);
}

static char *flame_svg_plain(void (*fn)(FILE *, const char *, size_t),
			     const char *s, size_t cells)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	fn(out, s, cells);
	fclose(out);
	return got;
}

static void flame_svg_expect_xml(const char *s, size_t cells, const char *want)
{
	char *got = flame_svg_plain(safe_text_xml, s, cells);

	ck_assert_str_eq(got, want);
	free(got);
}

START_TEST(frames_lie_side_by_side_and_fill_the_width)
{
	char *svg;

	flame_svg_add("a", LABEL_USER, 1);
	flame_svg_add("b", LABEL_KERNEL, 3);
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	flame_svg_expect(svg, "data-s=\"0\" data-w=\"4\"");
	flame_svg_expect(svg, "data-s=\"0\" data-w=\"1\"");
	flame_svg_expect(svg, "data-s=\"1\" data-w=\"3\"");
	flame_svg_expect(svg, "<rect x=\"10.00\" y=\"132\" width=\"250.00\"");
	flame_svg_expect(svg, "<rect x=\"260.00\" y=\"132\" width=\"750.00\"");
	flame_svg_expect(svg, "<rect x=\"10.00\" y=\"116\" width=\"1000.00\"");
	flame_svg_expect(
		svg, "/lib/x&lt;y&gt;+0x10\n1 sample, 3 ns, 75.00 % of all, "
		     "75.00 % of its parent");
	ck_assert_uint_eq(flame_svg_frames(svg), 3);
	ck_assert_ptr_null(strstr(svg, "not drawn"));
	free(svg);
}
END_TEST

START_TEST(narrow_frames_are_summed_and_said)
{
	char *svg;

	flame_svg_add("big", LABEL_USER, 999970);
	flame_svg_add("n1", LABEL_USER, 10);
	flame_svg_add("n2", LABEL_USER, 20);
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	ck_assert_uint_eq(flame_svg_frames(svg), 2);
	flame_svg_expect(
		svg, "2 frames narrower than 0.1 px are not drawn, &lt;0.01 %");
	free(svg);
	opts.minwidth = 1500;
	opts.min_percent = true;
	svg = flame_svg_draw();
	flame_svg_expect(svg, "2 frames narrower than 1.5 % are not drawn");
	free(svg);
	opts.minwidth = 0;
	svg = flame_svg_draw();
	ck_assert_uint_eq(flame_svg_frames(svg), 4);
	free(svg);
}
END_TEST

START_TEST(the_root_is_on_top_unless_asked_for_below)
{
	char *svg;

	flame_svg_add("a", LABEL_USER, 4);
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	flame_svg_expect(
		svg, "data-s=\"0\" data-w=\"4\"><title>all\n1 sample, 4 ns, "
		     "100.00 % of all</title><rect x=\"10.00\" y=\"116\"");
	free(svg);
	opts.upward = true;
	svg = flame_svg_draw();
	flame_svg_expect(
		svg, "data-s=\"0\" data-w=\"4\"><title>all\n1 sample, 4 ns, "
		     "100.00 % of all</title><rect x=\"10.00\" y=\"132\"");
	free(svg);
}
END_TEST

START_TEST(the_same_input_gives_the_same_bytes)
{
	char *one, *two;

	flame_svg_add("a", LABEL_JIT, 7);
	flame_svg_add("b", LABEL_MISSING, 7);
	flame_tree_finish(tree);
	one = flame_svg_draw();
	two = flame_svg_draw();
	ck_assert_str_eq(one, two);
	free(one);
	free(two);
}
END_TEST

START_TEST(weights_near_64_bits_do_not_overflow)
{
	char *svg;

	flame_svg_add("a", LABEL_USER, UINT64_MAX - 1);
	flame_svg_add("b", LABEL_USER, 1);
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	flame_svg_expect(svg, "width=\"999.99\"");
	flame_svg_expect(svg, "18,446,744,073,709,551,614 ns, 100.00 % of all");
	free(svg);
}
END_TEST

START_TEST(nothing_from_a_name_becomes_markup)
{
	char *svg;

	flame_svg_add("</title><script>alert(1)</script>", LABEL_USER, 1);
	flame_svg_add("]]>&\"'", LABEL_USER, 1);
	opts.title = "<x onload=\"y\">";
	opts.subtitle = "a & b";
	opts.count_name = "<u>";
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	ck_assert_ptr_null(strstr(svg, "<script>alert"));
	ck_assert_ptr_null(strstr(svg, "<x onload"));
	ck_assert_ptr_null(strstr(svg, "\" onload=\""));
	ck_assert_ptr_null(strstr(svg, "<u>"));
	flame_svg_expect(svg, "&lt;/title&gt;&lt;script&gt;alert(1)");
	/* the only CDATA section ends where ours ends */
	ck_assert_ptr_eq(strstr(svg, "]]>"), strstr(svg, "]]></script>"));
	free(svg);
}
END_TEST

START_TEST(missing_halves_are_hatched_and_explained)
{
	char *svg;

	flame_svg_add("[user: chain_lost]", LABEL_MISSING, 1);
	flame_svg_add("main", LABEL_EXEC, 1);
	flame_tree_finish(tree);
	opts.colors = palette_find("hot");
	svg = flame_svg_draw();
	flame_svg_expect(svg, "<g class=\"m\" data-s=\"0\"");
	flame_svg_expect(svg, "<g class=\"e\" data-s=\"1\"");
	flame_svg_expect(svg, ">stack or caller missing</text>");
	flame_svg_expect(svg, ">stack taken after exec</text>");
	flame_svg_expect(svg, "not its caller");
	free(svg);
}
END_TEST

START_TEST(bogus_frames_are_hatched_and_explained)
{
	struct label no_call = { .kind = LABEL_BOGUS,
				 .name = "lost",
				 .image = "/bin/x",
				 .bogus = "no_call" };
	struct label no_code = no_call;
	uint32_t id[2];
	char *svg;

	no_code.bogus = "no_code";
	id[0] = labels_add(labels, &no_call);
	id[1] = labels_add(labels, &no_code);
	ck_assert_uint_ne(id[0], id[1]);
	ck_assert_int_eq(flame_tree_add(tree, id, 2, 1, 1, NULL), 0);
	flame_tree_finish(tree);
	svg = flame_svg_draw();
	flame_svg_expect(svg, "<g class=\"b\" data-s=\"0\"");
	flame_svg_expect(
		svg,
		"fabricated: no call is in front of this return address\n");
	flame_svg_expect(
		svg, "fabricated: there is no code at this return address\n");
	flame_svg_expect(svg, ">fabricated: no call returns there</text>");
	free(svg);
}
END_TEST

START_TEST(a_seam_marks_where_the_kernel_begins)
{
	const struct label frame[] = {
		{ .kind = LABEL_GROUP, .name = "comm", .image = "" },
		{ .kind = LABEL_USER, .name = "main", .image = "" },
		{ .kind = LABEL_KERNEL,
		  .name = "entry",
		  .image = "",
		  .kernel = true },
		{ .kind = LABEL_KERNEL,
		  .name = "read",
		  .image = "",
		  .kernel = true },
	};
	uint32_t user[4], kernel[2];

	for (size_t i = 0; i < 4; i++)
		user[i] = labels_add(labels, &frame[i]);
	kernel[0] = user[0];
	kernel[1] = user[2];
	ck_assert_int_eq(flame_tree_add(tree, user, 4, 3, 1, NULL), 0);
	/* a thread of the kernel has no user half to part from */
	ck_assert_int_eq(flame_tree_add(tree, kernel, 2, 1, 1, NULL), 0);
	flame_tree_finish(tree);

	char *svg = flame_svg_draw();
	const char *seam = strstr(svg, "class=\"seam\"");

	ck_assert_ptr_nonnull(seam);
	ck_assert_ptr_null(strstr(seam + 1, "class=\"seam\""));
	/* the right three quarters, between the rows */
	flame_svg_expect(svg,
			 "<path class=\"seam\" d=\"M260.00 163.5h750.00\"/>");
	free(svg);
}
END_TEST

START_TEST(bytes_that_are_no_text_become_escapes)
{
	flame_svg_expect_xml("a\n\t\033[31m\x7f", 0,
			     "a\\x0a\\x09\\x1b[31m\\x7f");
	flame_svg_expect_xml("\xff\xc0\xaf\xe2\x82", 0,
			     "\\xff\\xc0\\xaf\\xe2\\x82");
	/* surrogates, too large, overlong, and what XML forbids */
	flame_svg_expect_xml("\xed\xa0\x80", 0, "\\xed\\xa0\\x80");
	flame_svg_expect_xml("\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80");
	flame_svg_expect_xml("\xe0\x80\x80", 0, "\\xe0\\x80\\x80");
	flame_svg_expect_xml("\xef\xbf\xbe\xef\xbf\xbf", 0, "\\ufffe\\uffff");
	/* direction marks and C1 controls */
	flame_svg_expect_xml("\xe2\x80\xaexyz\xc2\x9b", 0, "\\u202exyz\\u009b");
	flame_svg_expect_xml("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x94\xa5", 0,
			     "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x94\xa5");
}
END_TEST

START_TEST(clipping_never_cuts_a_character)
{
	flame_svg_expect_xml("abcdef", 6, "abcdef");
	flame_svg_expect_xml("abcdefg", 6, "abcd..");
	flame_svg_expect_xml("<<<<<<<", 5, "&lt;&lt;&lt;..");
	flame_svg_expect_xml("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5,
			     "\xe6\x97\xa5..");
	flame_svg_expect_xml("a\033bcd", 6, "a..");
	flame_svg_expect_xml("", 3, "");
}
END_TEST

START_TEST(every_palette_has_a_colour_for_every_kind)
{
	char css_class[3];

	ck_assert_ptr_null(palette_find("mauve"));
	for (size_t i = 0; palette_names[i]; i++) {
		const struct palette *p = palette_find(palette_names[i]);
		char *css = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&css, &len);

		ck_assert_ptr_nonnull(p);
		palette_css(p, out);
		fclose(out);
		for (int kind = 0; kind < LABEL_KINDS; kind++) {
			struct label l = { .kind = (enum label_kind)kind,
					   .name = "f",
					   .image = "" };
			char rule[16];

			palette_class(&l, css_class);
			if (palette_hatched(l.kind))
				continue;
			snprintf(rule, sizeof(rule), ".%s rect{", css_class);
			flame_svg_expect(css, rule);
		}
		/* black would mean a kind was forgotten */
		ck_assert_ptr_null(strstr(css, "#000000"));
		free(css);
	}
}
END_TEST

RUN_WITH("flame_svg", flame_svg_setup, flame_svg_teardown,
	 frames_lie_side_by_side_and_fill_the_width,
	 narrow_frames_are_summed_and_said,
	 the_root_is_on_top_unless_asked_for_below,
	 the_same_input_gives_the_same_bytes,
	 weights_near_64_bits_do_not_overflow,
	 nothing_from_a_name_becomes_markup,
	 missing_halves_are_hatched_and_explained,
	 bogus_frames_are_hatched_and_explained,
	 a_seam_marks_where_the_kernel_begins,
	 bytes_that_are_no_text_become_escapes, clipping_never_cuts_a_character,
	 every_palette_has_a_colour_for_every_kind)
