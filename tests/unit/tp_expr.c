/* tp_expr.c - print formats of tracepoints are interpreted, not trusted. */
#include "tests/unit/perf_build.h"

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/expr_parse.h"
#include "tests/unit/run.h"

static struct tp_field places[] = {
	{ .kind = FMT_NUM, .size = 4, .elem = 1, .is_signed = true },
	{ .kind = FMT_TEXT, .elem = 1 },
	{ .kind = FMT_BLOB, .elem = 8 },
	{ .kind = FMT_NUM, .size = 4, .elem = 1 },
	{ .kind = FMT_NUM, .size = 8, .elem = 1 },
	{ .kind = FMT_BLOB, .elem = 2, .is_signed = true },
};
static struct field_def defs[] = { { .name = "n" },    { .name = "name" },
				   { .name = "args" }, { .name = "u32" },
				   { .name = "u64" },  { .name = "s16" } };
static const uint64_t numbers[] = { 5, 6, 7 };
static const int16_t small[] = { -2, 3 };

static struct field values[6];
static struct expr_tree tree;

/* Parses and evaluates; *e says whether that failed, and owns texts. */
static struct expr_value tp_expr(struct expr *e, const char *text)
{
	struct tp_format fmt = {
		.field = places,
		.def = defs,
		.n = 6,
	};
	struct expr_source in = { .s = text, .fmt = &fmt, .tree = &tree };

	values[0] = (struct field){ .present = true, .num = -3 };
	values[1] = (struct field){ .present = true, .text = "bash", .len = 4 };
	values[2] = (struct field){ .present = true,
				    .blob = numbers,
				    .len = sizeof(numbers) };
	values[3] = (struct field){ .present = true, .num = 0xfffffffe };
	values[4] = (struct field){ .present = true, .num = -2 };
	values[5] = (struct field){ .present = true,
				    .blob = small,
				    .len = sizeof(small) };
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
	/* the types of C */
	{ "REC->n < REC->u32", 1 },
	{ "REC->n > 1U", 1 },
	{ "REC->n > 1L", 0 },
	{ "REC->u64 > 1", 1 },
	{ "REC->u32 + 3", 1 },
	{ "REC->u32 + 3L", 0x100000001 },
	{ "(u8)REC->n + 1", 0xfe },
	{ "1 << 31", INT32_MIN },
	{ "1U << 31", 0x80000000 },
	{ "1ULL << 40", (int64_t)1 << 40 },
	{ "~0U", 0xffffffff },
	{ "~0", -1 },
	{ "0xffffffff", 0xffffffff },
	{ "(REC->u64 >> 60)", 15 },
	{ "REC->n >> 1", -2 },
	{ "REC->n / 2", -1 },
	{ "(unsigned)REC->n / 2", 0x7ffffffe },
	{ "REC->s16[0]", -2 },
	{ "*REC->s16 + 0", -2 },
	{ "((u16 *)REC->s16)[0]", 0xfffe },
	{ "((uint)((REC->u64)>>32))", 0xffffffff },
	{ "((u64) (REC)->n << 32)", (int64_t)-3 * ((int64_t)1 << 32) },
	/* what formats of the kernel have besides */
	{ "sizeof(u64) + sizeof(unsigned int)", 12 },
	{ "({ int x = (REC->n); int y = (128); "
	  "((x) < (y) ? (x) : (y)); })",
	  -3 },
	{ "__builtin_expect(!!(REC->n), 0) ? 4 : 5", 4 },
	{ "REC->n ?: 7", -3 },
	{ "__print_ns_to_secs(5123456789ULL)", 5 },
	{ "__print_ns_without_secs(5123456789ULL)", 123456789 },
	{ "((gfp_t)((((1UL))) << (___GFP_DMA32_BIT)))", 4 },
	{ "TCP_CLOSE", 7 },
	{ "NULL == ((void *)0)", 1 },
	{ "__get_str(name)[4]", 0 },
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

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FOUR "fffffffe"
#else
#define FOUR "feffffff"
#endif

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
	/* as the kernel; libtraceevent prints the name of 0 */
	{ "__print_flags(0, \"\", { 0, \"R\" }, { 1, \"S\" })", "" },
	{ "__print_flags(5, \"|\", { 4, \"C\" }, { 0, ((void *)0) } )",
	  "C|0x1" },
	{ "__print_symbolic(7, { 7, \"seven\" }, { -1, NULL })", "seven" },
	{ "__print_symbolic(7, { 7, \"seven\" }, { })", "seven" },
	/* of a name without a number nothing is needed */
	{ "__print_flags(4, \"|\", { NO_SUCH_BIT, \"A\" }, { 4, \"B\" })",
	  "B" },
	{ "__print_hex_str(&REC->u32, 4)", FOUR },
	{ "__print_array(REC->s16, 2, 2)", "{0xfffe,0x3}" },
	{ "__print_dynamic_array(args, sizeof(u64))", "{0x5,0x6,0x7}" },
	{ "__get_bitmask(args)", "00000000,00000007,00000000,00000006,"
				 "00000000,00000005" },
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
	"NO_SUCH_NAME",
	"__print_flags(1, \"|\", { NO_SUCH_BIT, \"A\" })",
	"__print_symbolic(1, { NO_SUCH_BIT, \"A\" }, { 1, \"B\" })",
	"({ int x; x; })",
	"({ static const char *a[] = { \"b\" }; a[0]; })",
	"sizeof(struct page)",
	"*REC->n",
	"&1",
};

START_TEST(what_leads_outside_is_given_up)
{
	struct expr e;

	tp_expr(&e, refused[_i]);
	ck_assert_msg(e.failed || e.unknown, "%s", refused[_i]);
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
