/* symbolize_symtab.c - the sorted table of symbols. */
#include "symbolize/elf/symtab.h"
#include "tests/unit/run.h"

#include <stdlib.h>

#define PLAIN (SYM_REAL | SYM_TYPED | SYM_STRONG)

static void symtab_test_add(struct symtab *t, uint64_t start, uint64_t end,
			    const char *name, unsigned int rank)
{
	symtab_add(t, &(struct sym){ .start = start,
				     .end = end,
				     .name = name,
				     .rank = (uint8_t)rank,
				     .open = end == UINT64_MAX });
}

static const char *symtab_at(const struct symtab *t, uint64_t addr)
{
	const struct sym *s = symtab_find(t, addr);

	return s ? s->name : "-";
}

START_TEST(a_symbol_covers_its_size_and_not_more)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x30, 0x38, "b", PLAIN);
	symtab_test_add(&t, 0x10, 0x20, "a", PLAIN);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0xf), "-");
	ck_assert_str_eq(symtab_at(&t, 0x10), "a");
	ck_assert_str_eq(symtab_at(&t, 0x1f), "a");
	ck_assert_str_eq(symtab_at(&t, 0x20), "-");
	ck_assert_str_eq(symtab_at(&t, 0x37), "b");
	ck_assert_str_eq(symtab_at(&t, 0x38), "-");
	symtab_release(&t);
}
END_TEST

START_TEST(a_symbol_without_size_ends_at_the_next)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x10, UINT64_MAX, "a", PLAIN);
	symtab_test_add(&t, 0x20, UINT64_MAX, "b", PLAIN);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0x1f), "a");
	ck_assert_str_eq(symtab_at(&t, 0x20), "b");
	ck_assert_str_eq(symtab_at(&t, 0xffffffffffff), "b");
	symtab_release(&t);
}
END_TEST

START_TEST(behind_an_inner_symbol_the_outer_one_goes_on)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x10, 0x90, "outer", PLAIN);
	symtab_test_add(&t, 0x20, 0x28, "one", PLAIN);
	symtab_test_add(&t, 0x30, 0x60, "two", PLAIN);
	symtab_test_add(&t, 0x38, 0x40, "three", PLAIN);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0x24), "one");
	ck_assert_str_eq(symtab_at(&t, 0x2c), "outer");
	ck_assert_str_eq(symtab_at(&t, 0x39), "three");
	ck_assert_str_eq(symtab_at(&t, 0x50), "two");
	ck_assert_str_eq(symtab_at(&t, 0x8f), "outer");
	ck_assert_str_eq(symtab_at(&t, 0x90), "-");
	symtab_release(&t);
}
END_TEST

START_TEST(a_label_inside_a_function_does_not_end_it)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x10, 0x90, "f", PLAIN | SYM_SIZED);
	symtab_test_add(&t, 0x20, UINT64_MAX, "label", SYM_REAL | SYM_STRONG);
	symtab_test_add(&t, 0x90, UINT64_MAX, "alone", SYM_REAL | SYM_STRONG);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0x24), "f");
	ck_assert_str_eq(symtab_at(&t, 0x95), "alone");
	symtab_release(&t);
}
END_TEST

START_TEST(at_one_address_rank_then_underscores_then_length_decide)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x10, 0x20, "weak",
			SYM_REAL | SYM_SIZED | SYM_TYPED);
	symtab_test_add(&t, 0x10, 0x20, "__strong", PLAIN | SYM_SIZED);
	symtab_test_add(&t, 0x30, 0x40, "__long_name", PLAIN);
	symtab_test_add(&t, 0x30, 0x40, "short", PLAIN);
	symtab_test_add(&t, 0x50, 0x60, "ab", PLAIN);
	symtab_test_add(&t, 0x50, 0x60, "abc", PLAIN);
	symtab_test_add(&t, 0x50, 0x60, "abd", PLAIN);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0x10), "__strong");
	ck_assert_str_eq(symtab_at(&t, 0x30), "short");
	ck_assert_str_eq(symtab_at(&t, 0x50), "abc");
	symtab_release(&t);
}
END_TEST

START_TEST(more_symbols_may_come_after_a_finish)
{
	struct symtab t = { .n = 0 };

	symtab_test_add(&t, 0x30, 0x40, "b", PLAIN);
	symtab_test_add(&t, 0x10, 0x20, "a", PLAIN);
	symtab_finish(&t);
	symtab_test_add(&t, 0x50, 0x60, "d", PLAIN);
	symtab_test_add(&t, 0x20, 0x30, "c", PLAIN);
	symtab_finish(&t);
	ck_assert_str_eq(symtab_at(&t, 0x10), "a");
	ck_assert_str_eq(symtab_at(&t, 0x20), "c");
	ck_assert_str_eq(symtab_at(&t, 0x30), "b");
	ck_assert_str_eq(symtab_at(&t, 0x50), "d");
	symtab_release(&t);
}
END_TEST

/* Against a search that looks at every symbol. */
START_TEST(a_thousand_random_symbols_are_found_as_by_looking_at_all)
{
	static struct sym all[1000];
	struct symtab t = { .n = 0 };
	unsigned int seed = 7;

	for (size_t i = 0; i < 1000; i++) {
		/* Starts differ: i in the low part. */
		uint64_t start =
			(uint64_t)(rand_r(&seed) % 64) * 0x100000 + i * 16;

		all[i] =
			(struct sym){ .start = start,
				      .name = "x",
				      .rank = PLAIN | SYM_SIZED,
				      .end = start + 1 +
					     (uint64_t)(rand_r(&seed) % 4000) };
		symtab_add(&t, &all[i]);
	}
	symtab_finish(&t);
	for (size_t i = 0; i < 20000; i++) {
		uint64_t addr = (uint64_t)(rand_r(&seed) % 64) * 0x100000 +
				(uint64_t)(rand_r(&seed) % 20000);
		const struct sym *want = NULL;
		const struct sym *got = symtab_find(&t, addr);

		for (size_t k = 0; k < 1000; k++)
			if (all[k].start <= addr && addr < all[k].end &&
			    (!want || all[k].start > want->start))
				want = &all[k];
		ck_assert_uint_eq(got ? got->start : 0, want ? want->start : 0);
	}
	symtab_release(&t);
}
END_TEST

RUN("symtab", a_symbol_covers_its_size_and_not_more,
    a_symbol_without_size_ends_at_the_next,
    behind_an_inner_symbol_the_outer_one_goes_on,
    a_label_inside_a_function_does_not_end_it,
    at_one_address_rank_then_underscores_then_length_decide,
    more_symbols_may_come_after_a_finish,
    a_thousand_random_symbols_are_found_as_by_looking_at_all)
