/* cfi_expr.c - tests of symbolize/cfi/cfi_expr.c: expressions with the value
 * that DWARF 5, section 2.5, gives them. */
#include "symbolize/cfi/cfi_expr.h"

#include <stdbool.h>
#include <string.h>

#include "stitch/base/bytes.h"
#include "symbolize/cfi/abi.h"
#include "tests/unit/run.h"

/* Codes of operations. */
#define ADDR "\x03"
#define DEREF "\x06"
#define CONST1U "\x08"
#define CONST1S "\x09"
#define CONST2U "\x0a"
#define CONST2S "\x0b"
#define CONST4U "\x0c"
#define CONST4S "\x0d"
#define CONST8U "\x0e"
#define CONSTU "\x10"
#define CONSTS "\x11"
#define DUP "\x12"
#define DROP "\x13"
#define OVER "\x14"
#define PICK "\x15"
#define SWAP "\x16"
#define ROT "\x17"
#define ABS "\x19"
#define AND "\x1a"
#define DIV "\x1b"
#define MINUS "\x1c"
#define MOD "\x1d"
#define MUL "\x1e"
#define NEG "\x1f"
#define NOT "\x20"
#define OR "\x21"
#define PLUS "\x22"
#define PLUS_UCONST "\x23"
#define SHL "\x24"
#define SHR "\x25"
#define SHRA "\x26"
#define XOR "\x27"
#define BRA "\x28"
#define EQ "\x29"
#define GE "\x2a"
#define GT "\x2b"
#define LE "\x2c"
#define LT "\x2d"
#define NE "\x2e"
#define SKIP "\x2f"
#define LIT0 "\x30"
#define LIT1 "\x31"
#define LIT2 "\x32"
#define LIT3 "\x33"
#define LIT7 "\x37"
#define REG3 "\x53"
#define BREG7 "\x77"
#define BREGX "\x92"
#define DEREF_SIZE "\x94"
#define NOP "\x96"
#define FRAME_BASE "\x9c"
#define MINUS_SEVEN CONST1S "\xf9"

#define REG7 0x1000
#define ONES UINT64_MAX
#define S(text) text, sizeof(text) - 1
#define NONE .fails = true

/* In words of 8 bytes, or else .word. */
static const struct expr_case {
	const char *name, *code;
	size_t len;
	uint64_t want;
	bool fails;
	uint8_t word;
} cases[] = {
	{ "const1u", S(CONST1U "\xf9"), .want = 0xf9 },
	{ "const1s", S(MINUS_SEVEN), .want = -7ull },
	{ "const2u", S(CONST2U "\x34\x92"), .want = 0x9234 },
	{ "const2s", S(CONST2S "\x34\xf2"), .want = 0xfffffffffffff234 },
	{ "const4u", S(CONST4U "\4\3\2\xf1"), .want = 0xf1020304 },
	{ "const4s", S(CONST4S "\4\3\2\xf1"), .want = 0xfffffffff1020304 },
	{ "const8u", S(CONST8U "\x8\7\6\5\4\3\2\1"),
	  .want = 0x102030405060708 },
	{ "constu", S(CONSTU "\xe5\x8e\x26"), .want = 624485 },
	{ "consts", S(CONSTS "\x40"), .want = -64ull },
	{ "addr", S(ADDR "\x8\7\6\5\4\3\2\1"), .want = 0x102030405060708 },
	{ "addr_of_4", S(ADDR "\x8\7\6\5"), .want = 0x5060708, .word = 4 },
	{ "const_of_4", S(MINUS_SEVEN), .want = 0xfffffff9, .word = 4 },
	{ "breg", S(BREG7 "\x78"), .want = REG7 - 8 },
	{ "bregx", S(BREGX "\7\x10"), .want = REG7 + 16 },
	{ "deref", S(BREG7 "\0" DEREF), .want = REG7 + 8000 },
	{ "deref_of_4", S(BREG7 "\0" DEREF), .want = REG7 + 4000, .word = 4 },
	{ "deref_size", S(BREG7 "\1" DEREF_SIZE "\2"), .want = REG7 + 2001 },
	{ "nop", S(LIT7 NOP), .want = 7 },
	{ "dup", S(LIT7 DUP PLUS), .want = 14 },
	{ "drop", S(LIT7 LIT3 DROP), .want = 7 },
	{ "over", S(LIT7 LIT3 OVER), .want = 7 },
	{ "pick", S(LIT7 LIT3 LIT1 PICK "\2"), .want = 7 },
	{ "swap", S(LIT7 LIT3 SWAP MINUS), .want = -4ull },
	{ "rot_puts_the_top_third", S(LIT7 LIT3 LIT1 ROT MINUS), .want = 4 },
	{ "rot_keeps_the_top", S(LIT7 LIT3 LIT1 ROT DROP DROP), .want = 1 },
	{ "abs", S(MINUS_SEVEN ABS LIT7 ABS MUL), .want = 49 },
	{ "neg", S(LIT7 NEG), .want = -7ull },
	{ "not", S(LIT7 NOT), .want = ~7ull },
	{ "and", S(LIT7 CONST1U "\x0c" AND), .want = 4 },
	{ "or", S(LIT3 CONST1U "\x0c" OR), .want = 15 },
	{ "xor", S(LIT7 CONST1U "\x0c" XOR), .want = 11 },
	{ "minus", S(LIT3 LIT7 MINUS), .want = -4ull },
	{ "mul", S(MINUS_SEVEN LIT3 MUL), .want = -21ull },
	{ "div_has_signs", S(MINUS_SEVEN LIT2 DIV), .want = -3ull },
	{ "mod_has_none", S(MINUS_SEVEN LIT7 MOD), .want = (ONES - 6) % 7 },
	{ "plus_uconst", S(LIT7 PLUS_UCONST "\x80\1"), .want = 135 },
	{ "plus_uconst_of_4", S(MINUS_SEVEN PLUS_UCONST "\x8"), .want = 1,
	  .word = 4 },
	{ "plus_of_4", S(MINUS_SEVEN LIT7 LIT1 PLUS PLUS), .want = 1,
	  .word = 4 },
	{ "shl", S(LIT7 LIT3 SHL), .want = 56 },
	{ "shl_by_64", S(LIT7 CONST1U "\x40" SHL), .want = 0 },
	{ "shr", S(MINUS_SEVEN LIT1 SHR), .want = (ONES - 6) / 2 },
	{ "shra", S(MINUS_SEVEN LIT1 SHRA), .want = -4ull },
	{ "shra_by_200", S(MINUS_SEVEN CONST1U "\xc8" SHRA), .want = ONES },
	{ "shra_of_4", S(MINUS_SEVEN LIT1 SHRA), .want = 0xfffffffc,
	  .word = 4 },
	{ "equal", S(LIT7 LIT7 EQ LIT7 LIT7 NE MINUS), .want = 1 },
	{ "not_equal", S(LIT7 LIT3 NE LIT7 LIT3 EQ MINUS), .want = 1 },
	{ "greater_has_signs", S(LIT3 MINUS_SEVEN GT), .want = 1 },
	{ "greater_or_equal", S(LIT3 LIT3 GE LIT3 LIT7 GE MINUS), .want = 1 },
	{ "less_has_signs", S(MINUS_SEVEN LIT3 LT), .want = 1 },
	{ "less_or_equal", S(LIT3 LIT3 LE LIT7 LIT3 LE MINUS), .want = 1 },
	{ "less_of_4", S(CONST4U "\xf9\xff\xff\xff" LIT3 LT), .want = 1,
	  .word = 4 },
	{ "skip", S(LIT7 SKIP "\1\0" LIT3), .want = 7 },
	{ "skip_to_the_end", S(LIT7 SKIP "\0\0"), .want = 7 },
	{ "branch_taken", S(LIT7 LIT1 BRA "\1\0" LIT3), .want = 7 },
	{ "branch_not_taken", S(LIT7 LIT0 BRA "\1\0" LIT3), .want = 3 },
	{ "back_three_times", S(LIT3 LIT1 MINUS DUP BRA "\xfa\xff" LIT7),
	  .want = 7 },

	{ "nothing", "", NONE },
	{ "endless", S(SKIP "\xfd\xff"), NONE },
	{ "jump_before_the_begin", S(SKIP "\xfc\xff"), NONE },
	{ "jump_behind_the_end", S(SKIP "\1\0"), NONE },
	{ "jump_cut_short", S(SKIP "\1"), NONE },
	{ "branch_on_nothing", S(BRA "\0\0"), NONE },
	{ "branch_cut_short", S(LIT0 BRA "\0"), NONE },
	{ "swap_of_one", S(LIT7 SWAP), NONE },
	{ "rot_of_two", S(LIT7 LIT3 ROT), NONE },
	{ "over_of_one", S(LIT7 OVER), NONE },
	{ "pick_of_what_is_not_there", S(LIT7 PICK "\1"), NONE },
	{ "pick_cut_short", S(LIT7 PICK), NONE },
	{ "not_of_nothing", S(NOT), NONE },
	{ "plus_of_one", S(LIT7 PLUS), NONE },
	{ "plus_uconst_of_nothing", S(PLUS_UCONST "\1"), NONE },
	{ "drop_of_nothing", S(DROP), NONE },
	{ "div_by_0", S(LIT7 LIT0 DIV), NONE },
	{ "mod_by_0", S(LIT7 LIT0 MOD), NONE },
	{ "div_that_overflows", S(LIT1 CONST1U "\x3f" SHL LIT0 NOT DIV), NONE },
	{ "const_cut_short", S(CONST4U "\1\2\3"), NONE },
	{ "constu_cut_short", S(CONSTU "\x80"), NONE },
	{ "consts_cut_short", S(CONSTS "\x80"), NONE },
	{ "register_not_known", S(BREGX "\6\0"), NONE },
	{ "register_that_is_none", S(BREGX "\xff\x7f\0"), NONE },
	{ "deref_of_nothing", S(DEREF), NONE },
	{ "deref_of_no_memory", S(LIT7 DEREF), NONE },
	{ "deref_of_9_bytes", S(BREG7 "\0" DEREF_SIZE "\x9"), NONE },
	{ "deref_of_0_bytes", S(BREG7 "\0" DEREF_SIZE "\0"), NONE },
	{ "a_register_is_no_value", S(LIT7 REG3), NONE },
	{ "frame_base_is_not_known", S(LIT7 FRAME_BASE), NONE },
};

/* Memory says where it is and how much was read. */
static int read_some(void *arg, uint64_t addr, uint8_t size, uint64_t *out)
{
	(void)arg;
	*out = addr + 1000ull * size;
	return addr < REG7 ? -1 : 0;
}

static int evaluate(const char *code, size_t len, uint8_t word,
		    const uint64_t *first, uint64_t *out)
{
	struct abi_values v = { .have = 1 << 7, .reg[7] = REG7 };
	struct cfi_memory mem = { .read = read_some, .word = word };
	struct bytes b;

	bytes_init(&b, code, len, "expression", 0, bytes_must_swap(false));
	return cfi_value(&b, &v, &mem, first, out);
}

START_TEST(value)
{
	const struct expr_case *c = &cases[_i];
	uint64_t got = 0;
	int ret = evaluate(c->code, c->len, c->word ? c->word : 8, NULL, &got);

	ck_assert_int_eq(ret, c->fails ? -1 : 0);
	ck_assert_uint_eq(got, c->want);
}
END_TEST

START_TEST(the_first_value_is_below_the_others)
{
	const uint64_t first = 50;
	uint64_t got = 0;

	ck_assert_int_eq(evaluate(S(LIT7 MINUS), 8, &first, &got), 0);
	ck_assert_uint_eq(got, 43);
}
END_TEST

START_TEST(sixty_four_values_fit_on_the_stack)
{
	char code[65];
	uint64_t got = 0;

	memset(code, LIT7[0], sizeof(code));
	ck_assert_int_eq(evaluate(code, 64, 8, NULL, &got), 0);
	ck_assert_uint_eq(got, 7);
	ck_assert_int_eq(evaluate(code, 65, 8, NULL, &got), -1);
	ck_assert_int_eq(evaluate(code, 64, 8, &got, &got), -1);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(value, cases) };

RUN_TABLES("cfi_expr", tables, the_first_value_is_below_the_others,
	   sixty_four_values_fit_on_the_stack)
