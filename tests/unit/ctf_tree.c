/* ctf_tree.c - tests of formats/ctf/meta: metadata in, the printed tree out.
 *
 * The metadata are the seeds of the fuzzer; ctf_tree.expect has the trees. */
#include <stdio.h>
#include <string.h>

#include "formats/ctf/meta/tree.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "tests/ctf_dump.h"
#include "tests/slurp.h"
#include "tests/unit/run.h"

#define SEEDS "tests/fuzz/ctf_meta.seeds/"
#define HEAD                                                                   \
	"typealias integer { size = 8; } := u8;"                               \
	"trace { major = 1; minor = 8; byte_order = le; };"

/* Prints the tree of these bytes, or the message. */
static void print_bytes(FILE *f, const void *data, size_t n)
{
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;
	struct err err = { 0 };

	bytes_init(&b, data, n, "metadata", 0, false);
	if (ctf_tree_read(&arena, &b, &tree, &err))
		fprintf(f, "%s\n", err.msg);
	else
		ctf_dump(f, &tree);
	arena_release(&arena);
}

/* Returns what is printed of a seed. */
static char *print_seed(const char *name)
{
	char path[200];
	char *out = NULL;
	size_t len = 0;
	size_t n;
	FILE *f = open_memstream(&out, &len);

	ck_assert_ptr_nonnull(f);
	snprintf(path, sizeof(path), SEEDS "%s", name);
	unsigned char *data = slurp_slurp(path, &n);

	print_bytes(f, data, n);
	free(data);
	fclose(f);
	return out;
}

/* ctf_tree.expect has for each seed a line "== NAME" and what is printed. */
START_TEST(each_seed_gives_the_tree_or_message_that_is_expected)
{
	size_t n;
	unsigned char *data = slurp_slurp("tests/unit/ctf_tree.expect", &n);
	char *text = mem_dup(data, n);
	size_t seeds = 0;

	for (char *p = text; p;) {
		char *name = p + strlen("== ");
		char *want = strchr(name, '\n') + 1;
		char *next = strstr(want, "\n== ");

		want[-1] = '\0';
		if (next)
			*++next = '\0';
		char *got = print_seed(name);

		ck_assert_msg(!strcmp(got, want), "%s gives\n%s", name, got);
		free(got);
		if (next)
			*next = '=';
		p = next;
		seeds++;
	}
	ck_assert_uint_gt(seeds, 100);
	free(text);
	free(data);
}
END_TEST

/* Metadata of n repeated pieces: head, n times piece with the number, tail. A
 * piece may use its number twice. */
static const struct hostile {
	const char *name, *head, *piece, *tail;
	int n;
	const char *want; /* part of the message */
} hostile[] = {
	{ "aliases_that_double", HEAD "struct s0 { u8 a; };",
	  "struct s%d { struct s%d a, b; };",
	  "event { fields := struct { struct s25 x; }; };", 25,
	  "more than 262144 fields" },
	{ "aliases_that_nest",
	  "\x1e{\"type\":\"preamble\",\"version\":2}\x1e"
	  "{\"type\":\"field-class-alias\",\"name\":\"s0\",\"field-class\":"
	  "{\"type\":\"null-terminated-string\"}}",
	  "\x1e{\"type\":\"field-class-alias\",\"name\":\"s%d\","
	  "\"field-class\":{\"type\":\"static-length-array\",\"length\":"
	  "18446744073709551615,\"element-field-class\":\"s%d\"}}",
	  "\x1e{\"type\":\"data-stream-class\",\"packet-context-field-class\":"
	  "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"a\","
	  "\"field-class\":\"s99\"}]}}",
	  99, "nested deeper than 32" },
	{ "structures_that_nest", HEAD "event { fields := struct {",
	  "struct { u8 a%d; u8 b%d; ", "", 100000, "nested deeper than 32" },
	{ "arrays_that_nest", HEAD "event { fields := struct { u8 a", "[%d]",
	  "; }; };", 100, "more than 32 dimensions" },
	{ "lengths_without_number", HEAD "event { fields := struct {",
	  "u8 n%1$d; u8 a%1$d[n%1$d]; ", "}; };", 5000,
	  "more than 512 lengths" },
	{ "clocks_without_number", HEAD, "clock { name = c%d; };", "", 300,
	  "more than 256 clocks" },
	{ "streams_without_number", HEAD, "stream { id = %d; };", "", 5000,
	  "more than 4096 stream classes" },
	{ "a_length_far_away", HEAD "event { fields := struct { u8 n;",
	  "u8 a%d[n];", "}; };", 100000, "takes too long to find" },
	{ "values_without_number", "\x1e[", "{}, ", "{}]", 100000,
	  "too large" },
	{ "a_string_without_end", HEAD "env { a = \"", "%d", "\"; };", 400000,
	  "more than 1048576 bytes" },
};

START_TEST(hostile_metadata_is_refused)
{
	const struct hostile *h = &hostile[_i];
	char *text = NULL;
	char *got = NULL;
	size_t n = 0;
	size_t len = 0;

	if (RUN_ELSEWHERE && strstr(h->want, "too long"))
		return;
	FILE *in = open_memstream(&text, &n);
	FILE *out = open_memstream(&got, &len);

	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(out);
	fputs(h->head, in);
	for (int i = 0; i < h->n; i++)
		fprintf(in, h->piece, i + 1, i);
	fputs(h->tail, in);
	fclose(in);
	print_bytes(out, text, n);
	fclose(out);
	ck_assert_msg(strstr(got, h->want), "%.300s", got);
	free(text);
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

static const struct run_table tables[] = { RUN_TABLE(
	hostile_metadata_is_refused, hostile) };

RUN_TABLES("ctf_tree", tables,
	   each_seed_gives_the_tree_or_message_that_is_expected,
	   the_id_finds_a_class)
