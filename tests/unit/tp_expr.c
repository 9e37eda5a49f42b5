/* tp_expr.c - print formats of tracepoints are interpreted, not trusted. */
#include "tests/unit/perf_build.h"

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/expr_parse.h"
#include "tests/unit/run.h"

static struct tp_field places[] = { { .elem = 1 },
				    { .elem = 1 },
				    { .elem = 8 } };
static struct field_def defs[] = { { .name = "n" },
				   { .name = "name" },
				   { .name = "args" } };
static const uint64_t numbers[] = { 5, 6, 7 };

static struct field values[3];
static struct expr_tree tree;

/* Parses and evaluates; *e says whether that failed, and owns texts. */
static struct expr_value tp_expr(struct expr *e, const char *text)
{
	struct tp_format fmt = { .field = places, .def = defs, .n = 3 };
	struct expr_source in = { .s = text, .fmt = &fmt, .tree = &tree };

	values[0] = (struct field){ .present = true, .num = -3 };
	values[1] = (struct field){ .present = true, .text = "bash", .len = 4 };
	values[2] = (struct field){ .present = true,
				    .blob = numbers,
				    .len = sizeof(numbers) };
	*e = (struct expr){ .tree = &tree, .field = values };
	uint32_t node = expr_parse(&in);

	e->failed = !node || *in.s;
	return expr_evaluate(e, node);
}

static const struct {
	const char *text;
	int64_t num;
} sums[] = {
	{ "1 + 2 * 3", 7 },
	{ "(1 + 2) * 3", 9 },
	{ "10 - 4 - 3", 3 },
	{ "1 << 4 | 1", 17 },
	{ "7 & 3 == 3", 1 },
	{ "REC->n", -3 },
	{ "REC->n < 0 ? 11 : 12", 11 },
	{ "((REC->n >= 0) ? 1 : 2)", 2 },
	{ "(unsigned int)REC->n", 0xfffffffd },
	{ "(unsigned long long)(REC->n)", -3 },
	{ "(u8)0x1ff", 0xff },
	{ "(signed char)0xff", -1 },
	{ "REC->args[2]", 7 },
	{ "!0 && ~0", 1 },
	{ "'a'", 'a' },
	{ "010 + 0x10UL", 24 },
	{ "__get_dynamic_array_len(name)", 4 },
	{ "-REC->n % 2", 1 },
};

START_TEST(sums_are_right)
{
	struct expr e;

	ck_assert_int_eq((int64_t)tp_expr(&e, sums[_i].text).num, sums[_i].num);
	ck_assert_msg(!e.failed, "%s", sums[_i].text);
}
END_TEST

START_TEST(what_names_no_field_is_added_up_once)
{
	struct expr e;
	struct expr_value v = tp_expr(&e, "((1 | (2 + 4)) + (REC->n + 1))");
	uint32_t node = (uint32_t)tree.n - 1;

	ck_assert_int_eq((int64_t)v.num, 5);
	ck_assert_int_eq(tree.node[node].op, EXPR_PLUS);
	ck_assert_int_eq(tree.node[tree.node[node].a].op, EXPR_NUMBER);
	ck_assert_uint_eq(tree.node[tree.node[node].a].num, 7);
	values[0].num = 10;
	ck_assert_int_eq((int64_t)expr_evaluate(&e, node).num, 18);
	ck_assert(!e.failed);
}
END_TEST

static const struct {
	const char *text, *want;
} texts[] = {
	{ "REC->name", "bash" },
	{ "__get_str(name)", "bash" },
	{ "__print_symbolic(2, { 1, \"one\" }, { 2, \"two\" })", "two" },
	{ "__print_symbolic(9, { 1, \"one\" })", "0x9" },
	{ "__print_flags(5, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" })",
	  "A|C" },
	{ "__print_flags(9, \"|\", { 1, \"A\" })", "A|0x8" },
	{ "__print_flags(0, \"\", { 0, \"R\" }, { 1, \"S\" })", "R" },
	{ "__print_hex(REC->name, 2)", "62 61" },
	{ "__print_array(REC->args, 2, 8)", "{0x5,0x6}" },
	{ "1 ? \"yes\" : \"no\"", "yes" },
	{ "REC->n < 0 ? \"none\" : __print_hex(REC->name, REC->n)", "none" },
	{ "(char *)REC->name", "bash" },
	{ "\"a\" \"b\\n\"", "ab\n" },
};

START_TEST(texts_are_right)
{
	struct expr e;
	struct expr_value v = tp_expr(&e, texts[_i].text);

	ck_assert_msg(!e.failed, "%s", texts[_i].text);
	ck_assert_int_eq(v.kind, EXPR_TEXT);
	ck_assert_str_eq(v.text, texts[_i].want);
}
END_TEST

static const char *const refused[] = {
	"",
	"REC->absent",
	"REC->args[3]",
	"REC->args[0 - 1]",
	"__print_hex(REC->name, 5)",
	"__print_array(REC->args, 4, 8)",
	"__print_array(REC->args, 1, 9)",
	"system(\"true\")",
	"1 / 0",
	"1 % (REC->n + 3)",
	"(1",
	"\"open",
	"__print_flags(1",
	"jiffies",
};

START_TEST(what_leads_outside_is_given_up)
{
	struct expr e;

	tp_expr(&e, refused[_i]);
	ck_assert_msg(e.failed, "%s", refused[_i]);
}
END_TEST

START_TEST(depth_is_limited)
{
	static char text[20002];
	static const char *const openers[] = { "(", "!", "-(", "1?",
					       "REC->n+" };
	size_t n = strlen(openers[_i]);

	size_t i = 0;

	for (; i + n + 1 < sizeof(text); i += n)
		memcpy(text + i, openers[_i], n);
	memcpy(text + i, "1", sizeof("1"));
	struct expr e;

	tp_expr(&e, text);
	ck_assert(e.failed);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof(*(a)))

static const struct run_table loops[] = {
	RUN_TIMES(sums_are_right, COUNT(sums)),
	RUN_TIMES(texts_are_right, COUNT(texts)),
	RUN_TIMES(what_leads_outside_is_given_up, COUNT(refused)),
	RUN_TIMES(depth_is_limited, 5)
};

RUN_TABLES("tp_expr", loops, what_names_no_field_is_added_up_once)
