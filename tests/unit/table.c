/* table.c - tests of stitch/base/table.c. */
#include <string.h>

#include "stitch/base/table.h"
#include "tests/unit/run.h"

#define IDS 3000

/* Few hashes for many ids: long probe chains that wrap around the end. */
static uint64_t crowded(uint64_t id)
{
	return id % 7 == 0 ? UINT64_MAX - id % 3 : id % 97 * 64 + 62;
}

static bool table_same(const void *owner, uint32_t id, const void *key)
{
	(void)owner;
	return id == *(const uint32_t *)key;
}

static void table_check_all(const struct table *t, const bool *in,
			    uint64_t (*hash)(uint64_t))
{
	for (uint32_t id = 0; id < IDS; id++) {
		uint32_t got = table_find(t, hash(id), table_same, NULL, &id);

		must(got == (in[id] ? id : TABLE_NONE));
	}
}

static void compare_with_model(uint64_t (*hash)(uint64_t), uint64_t seed)
{
	struct table t = { 0 };
	bool in[IDS] = { false };
	size_t n = 0;

	for (int step = 0; step < 20000; step++) {
		uint32_t id = (uint32_t)rnd_below(&seed, IDS);

		if (!in[id]) {
			table_add(&t, hash(id), id);
			n++;
		} else {
			must(table_remove(&t, hash(id), id));
			must(!table_remove(&t, hash(id), id));
			n--;
		}
		in[id] = !in[id];
		must(t.n == n);
		if (step % 1000 == 0)
			table_check_all(&t, in, hash);
	}
	table_check_all(&t, in, hash);
	table_release(&t);
}

START_TEST(adds_and_removals_agree_with_a_plain_array)
{
	compare_with_model(hash_u64, 1);
}
END_TEST

START_TEST(colliding_hashes_agree_with_a_plain_array)
{
	compare_with_model(crowded, 2);
}
END_TEST

START_TEST(an_empty_table_finds_and_removes_nothing)
{
	struct table t = { 0 };

	ck_assert_uint_eq(table_find(&t, 0, NULL, NULL, NULL), TABLE_NONE);
	ck_assert(!table_remove(&t, 0, 0));
	table_release(&t);
}
END_TEST

START_TEST(integer_hash_gives_no_two_equal_results)
{
	struct table t = { 0 };

	for (uint32_t i = 1; i <= 100000; i++) {
		uint64_t low = hash_u64(i);
		uint64_t high = hash_u64((uint64_t)i << 40);

		must(table_find(&t, low, NULL, NULL, NULL) == TABLE_NONE);
		table_add(&t, low, i);
		must(table_find(&t, high, NULL, NULL, NULL) == TABLE_NONE);
		table_add(&t, high, i);
	}
	table_release(&t);
}
END_TEST

START_TEST(word_hash_depends_on_order_length_and_seed)
{
	const uint64_t a[] = { 1, 2, 3, 0 };
	const uint64_t b[] = { 3, 2, 1, 0 };

	ck_assert(hash_u64s(a, 3, 0) != hash_u64s(b, 3, 0));
	ck_assert(hash_u64s(a, 3, 0) != hash_u64s(a, 4, 0));
	ck_assert(hash_u64s(a, 3, 0) != hash_u64s(a, 3, 1));
	ck_assert(hash_u64s(a, 3, 9) == hash_u64s(a, 3, 9));
	ck_assert(hash_bytes("ab", 2, 0) != hash_bytes("ba", 2, 0));
	ck_assert(hash_bytes("", 0, 0) != hash_bytes("\0", 1, 0));
	ck_assert(hash_bytes("0123456789abcdef", 16, 0) !=
		  hash_bytes("0123456789abcdef", 17, 0));
	ck_assert(hash_pair(1, 2) != hash_pair(2, 1));
}
END_TEST

/* Stored in databases: another value makes stacks of two runs differ. */
START_TEST(content_hash_is_the_same_for_ever)
{
	ck_assert_uint_eq(hash_content("/usr/bin/ls", 11, 1),
			  UINT64_C(0x35ab90e0c971754b));
	/* whole words, and no byte behind them */
	ck_assert_uint_eq(hash_content("0123456789abcdef", 16, 1),
			  UINT64_C(0xf2cacb290446b463));
}
END_TEST

/* Equal low bits of the hash must not mean equal places, and words that were
 * chosen to cancel each other must not give equal hashes. */
START_TEST(chosen_hashes_do_not_crowd)
{
	struct table t = { 0 };
	uint64_t a[] = { 1, 2, 3, 4 };
	uint64_t b[] = { 1 ^ 1ull << 63, 2, 3 ^ 1ull << 63 ^ 1ull << 34, 4 };

	ck_assert(hash_u64s(a, 4, 0) != hash_u64s(b, 4, 0));
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t h = (uint64_t)i << 40;

		must(table_find(&t, h, NULL, NULL, NULL) == TABLE_NONE);
		table_add(&t, h, i);
	}
	table_release(&t);
}
END_TEST

RUN("table", adds_and_removals_agree_with_a_plain_array,
    colliding_hashes_agree_with_a_plain_array,
    an_empty_table_finds_and_removes_nothing,
    integer_hash_gives_no_two_equal_results,
    word_hash_depends_on_order_length_and_seed,
    content_hash_is_the_same_for_ever, chosen_hashes_do_not_crowd)
