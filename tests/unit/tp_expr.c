/* tp_expr.c - print formats of tracepoints are interpreted, not trusted. */
#include "tests/unit/perf_build.h"

#include "formats/tracepoint/expr.h"
#include "tests/unit/run.h"

static struct tp_field places[] = { { .elem = 1 },
				    { .elem = 1 },
				    { .elem = 8 } };
static struct field_def defs[] = { { .name = "n" },
				   { .name = "name" },
				   { .name = "args" } };
static const uint64_t numbers[] = { 5, 6, 7 };

static struct expr *tp_expr_start(const char *text)
{
	static struct field values[3];
	static struct tp_format fmt = { .field = places, .def = defs, .n = 3 };
	static struct expr e;

	values[0] = (struct field){ .present = true, .num = -3 };
	values[1] = (struct field){ .present = true, .text = "bash", .len = 4 };
	values[2] = (struct field){ .present = true,
				    .blob = numbers,
				    .len = sizeof(numbers) };
	memset(&e, 0, sizeof(e));
	e.s = text;
	e.fmt = &fmt;
	e.field = values;
	return &e;
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
	struct expr *e = tp_expr_start(sums[_i].text);

	ck_assert_int_eq((int64_t)expr_take(e).num, sums[_i].num);
	ck_assert_msg(!e->failed && !*e->s, "%s", sums[_i].text);
}
END_TEST

START_TEST(brackets_without_a_field_are_added_up_once)
{
	const char *text = "((1 | (2 + 4)) + (REC->n + 1))";
	struct expr *e = tp_expr_start(text);
	struct field other[3];
	size_t known = 0;

	memcpy(other, e->field, sizeof(other));
	ck_assert_int_eq((int64_t)expr_take(e).num, 5);
	other[0].num = 10;
	e->field = other;
	e->s = text;
	ck_assert_int_eq((int64_t)expr_take(e).num, 18);
	ck_assert(!e->failed && !*e->s);
	for (size_t i = 0; i < EXPR_KNOWN; i++)
		known += e->known[i].begin != NULL;
	ck_assert_uint_eq(known, 2);
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
	{ "\"a\" \"b\\n\"", "ab\n" },
};

START_TEST(texts_are_right)
{
	struct expr *e = tp_expr_start(texts[_i].text);
	struct expr_value v = expr_take(e);

	ck_assert_msg(!e->failed, "%s", texts[_i].text);
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
	struct expr *e = tp_expr_start(refused[_i]);

	expr_take(e);
	ck_assert_msg(e->failed, "%s", refused[_i]);
}
END_TEST

START_TEST(depth_is_limited)
{
	static char text[20001];
	static const char *const openers[] = { "(", "!", "-(", "1?", "1+" };
	size_t n = strlen(openers[_i]);

	for (size_t i = 0; i + n < sizeof(text); i += n)
		memcpy(text + i, openers[_i], n);
	struct expr *e = tp_expr_start(text);

	expr_take(e);
	ck_assert(e->failed);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof(*(a)))

static const struct run_table loops[] = {
	RUN_TIMES(sums_are_right, COUNT(sums)),
	RUN_TIMES(texts_are_right, COUNT(texts)),
	RUN_TIMES(what_leads_outside_is_given_up, COUNT(refused)),
	RUN_TIMES(depth_is_limited, 5)
};

RUN_TABLES("tp_expr", loops, brackets_without_a_field_are_added_up_once)
