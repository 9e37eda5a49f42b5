/* ctf_tree.c - tests of formats/ctf/meta: metadata in, the printed tree out. */
#include <stdio.h>
#include <string.h>

#include "formats/ctf/meta/tree.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "tests/ctf_dump.h"
#include "tests/unit/run.h"

#define HEAD                                                                   \
	"/* CTF 1.8 */ typealias integer { size = 8; } := u8;"                 \
	"typealias integer { size = 32; } := u32;"                             \
	"trace { major = 1; minor = 8; byte_order = le; };"
#define FIELDS(members) HEAD "event { fields := struct {" members "}; };"

struct ctf_tree_case {
	const char *name, *text, *want;
};

/* Returns the tree behind the line "trace", or the message. */
static char *read_text(const char *text, size_t n)
{
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;
	struct err err = { 0 };
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	ck_assert_ptr_nonnull(f);
	bytes_init(&b, text, n, "m", 0, false);
	if (ctf_tree_read(&arena, &b, &tree, &err))
		fputs(err.msg, f);
	else
		ctf_dump(f, &tree);
	fclose(f);
	arena_release(&arena);
	return out;
}

static const struct ctf_tree_case text_cases[] = {
	{ "a_length_and_its_sequence_share_a_slot",
	  FIELDS("u8 n; u32 a[n]; u32 b[2];"),
	  "trace 1 ''\n"
	  "stream 0 clock=-1 slots=2\n"
	  " event 0 ''\n"
	  "    payload: struct align=8\n"
	  "      n: uint8le align=8 =1\n"
	  "      a: sequence align=8 @1\n"
	  "        -: uint32le align=8\n"
	  "      b: array[2] align=8\n"
	  "        -: uint32le align=8\n" },
	{ "a_length_that_comes_later_is_refused", FIELDS("u32 a[n]; u8 n;"),
	  "m+0xac: line 1, column 173: 'n' is not decoded before this" },
};

START_TEST(text_is_read)
{
	const struct ctf_tree_case *c = &text_cases[_i];
	char *got = read_text(c->text, strlen(c->text));

	ck_assert_str_eq(got, c->want);
	free(got);
}
END_TEST

START_TEST(the_id_finds_a_class)
{
	const char *text = HEAD "stream { id = 3; }; stream { id = 7; };"
				"event { stream_id = 7; id = 5; };"
				"event { stream_id = 7; id = 2; };";
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;

	bytes_init(&b, text, strlen(text), "m", 0, false);
	ck_assert_int_eq(ctf_tree_read(&arena, &b, &tree, NULL), 0);
	ck_assert_ptr_eq(ctf_tree_stream(&tree, 7), &tree.stream[1]);
	ck_assert_ptr_null(ctf_tree_stream(&tree, 4));
	ck_assert_ptr_null(ctf_tree_stream(&tree, 8));
	ck_assert_uint_eq(ctf_tree_event(&tree.stream[1], 5)->id, 5);
	ck_assert_ptr_null(ctf_tree_event(&tree.stream[0], 5));
	arena_release(&arena);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(text_is_read,
						     text_cases) };

RUN_TABLES("ctf_tree", tables, the_id_finds_a_class)
