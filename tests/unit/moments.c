/* moments.c - tests of cli/causes/moments.c. */
#include "cli/causes/moments.h"

#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define ITEMS 5000

static void same(const struct moment *x, const struct moment *y)
{
	ck_assert_int_eq(x->time, y->time);
	ck_assert_int_eq(x->event, y->event);
	ck_assert_uint_eq(x->a, y->a);
	ck_assert_uint_eq(x->b, y->b);
}

/* Each one is read as it was written, however far it is from those before it.
 */
START_TEST(what_was_written_is_read)
{
	static const int64_t far[] = { INT64_MIN, INT64_MIN + 1,    -1,	      0,
				       1,	  (int64_t)1 << 40, INT64_MAX };
	static const uint64_t number[] = { 0, 1, UINT32_MAX, (uint64_t)1 << 32,
					   UINT64_MAX };
	struct moment in[ITEMS];
	struct moments m = { 0 };
	uint64_t r = 1;

	for (size_t i = 0; i < ITEMS; i++) {
		bool odd = !rnd_below(&r, 4);

		in[i] = (struct moment){
			.time = odd ? far[rnd_below(&r, ARRAY_SIZE(far))]
				    : (int64_t)i * 1000000000,
			.event = odd ? far[rnd_below(&r, ARRAY_SIZE(far))]
				     : (int64_t)i * 20,
			.a = number[rnd_below(&r, ARRAY_SIZE(number))],
			.b = (uint32_t)rnd_below(&r, UINT32_MAX),
		};
		moments_put(&m, i, &in[i]);
	}
	for (size_t i = 0; i < ITEMS; i++) {
		const struct moment x = moments_get(&m, i);

		same(&x, &in[i]);
	}
	/* also in the place of another one, and behind some that went */
	m.n = ITEMS / 2;
	for (size_t i = 0; i < ITEMS; i++)
		moments_put(&m, i, &in[ITEMS - 1 - i]);
	ck_assert_uint_eq(m.n, ITEMS);
	for (size_t i = 0; i < ITEMS; i++) {
		const struct moment x = moments_get(&m, i);

		same(&x, &in[ITEMS - 1 - i]);
	}
	moments_release(&m);
}
END_TEST

START_TEST(what_is_near_needs_sixteen_bytes)
{
	struct moments m = { 0 };

	for (size_t i = 0; i < ITEMS; i++)
		moments_put(&m, i,
			    &(struct moment){ .time = (int64_t)i * 1000000000,
					      .event = (int64_t)i * 1000,
					      .a = UINT32_MAX });
	ck_assert_uint_eq(m.n_odd, 0);
	ck_assert_uint_eq(m.n_base, (ITEMS + 255) / 256);
	ck_assert_uint_eq(moments_find(&m, 7000), 7);
	ck_assert_uint_eq(moments_find(&m, 7001), m.n);
	ck_assert_uint_eq(moments_find(&m, INT64_MAX), m.n);
	moments_release(&m);
}
END_TEST

START_TEST(equal_kinds_have_one_number)
{
	struct kinds k = { 0 };

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 1000; i++)
			ck_assert_uint_eq(
				kinds_add(&k,
					  &(struct kind){ { i % 10, i / 10 } }),
				i);
	ck_assert_uint_eq(k.n, 1000);
	ck_assert_uint_eq(k.at[123].word[0], 3);
	ck_assert_uint_eq(k.at[123].word[1], 12);
	kinds_release(&k);
}
END_TEST

RUN("moments", what_was_written_is_read, what_is_near_needs_sixteen_bytes,
    equal_kinds_have_one_number)
