/* packed_times.c - tests of analyze/causes/packed_times.c. */
#include "analyze/causes/packed_times.h"

#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define ITEMS 5000

static void same(const struct packed_time *x, const struct packed_time *y)
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
	static const uint64_t number[] = { 0,
					   1,
					   UINT32_MAX - 1,
					   UINT32_MAX,
					   ((uint64_t)1 << 44) - 1,
					   (uint64_t)1 << 44,
					   UINT64_MAX };
	struct packed_time in[ITEMS];
	struct packed_times m = { 0 };
	uint64_t r = 1;

	for (size_t i = 0; i < ITEMS; i++) {
		bool odd = !rnd_below(&r, 4);

		in[i] = (struct packed_time){
			.time = odd ? far[rnd_below(&r, ARRAY_SIZE(far))]
				    : (int64_t)i * 1000000000,
			.event = odd ? far[rnd_below(&r, ARRAY_SIZE(far))]
				     : (int64_t)i * 20,
			.a = number[rnd_below(&r, ARRAY_SIZE(number))],
			.b = number[rnd_below(&r, ARRAY_SIZE(number))],
		};
		packed_times_put(&m, i, &in[i]);
	}
	for (size_t i = 0; i < ITEMS; i++) {
		const struct packed_time x = packed_times_get(&m, i);

		same(&x, &in[i]);
	}
	/* also in the place of another one, and behind some that went */
	packed_times_cut(&m, ITEMS / 2);
	for (size_t i = 0; i < ITEMS; i++)
		packed_times_put(&m, i, &in[ITEMS - 1 - i]);
	ck_assert_uint_eq(m.n, ITEMS);
	for (size_t i = 0; i < ITEMS; i++) {
		const struct packed_time x = packed_times_get(&m, i);

		same(&x, &in[ITEMS - 1 - i]);
	}
	packed_times_release(&m);
}
END_TEST

static size_t bits_in_row(const struct packed_times *m, size_t row)
{
	size_t bits = 0;

	for (int k = 0; k < PACKED_TIMES_FIELDS; k++)
		bits += m->row[row].bits[k];
	return bits;
}

/* 10 us and 3 events apart, with numbers of 20 bits. */
START_TEST(what_is_near_needs_few_bytes)
{
	struct packed_times m = { 0 };
	uint64_t r = 1;

	for (size_t i = 0; i < ITEMS; i++)
		packed_times_put(
			&m, i,
			&(struct packed_time){ .time = INT64_MAX / 2 +
						       (int64_t)i * 10000,
					       .event = (int64_t)i * 3,
					       .a = rnd_below(&r, 1 << 20),
					       .b = 7 });
	packed_times_close(&m);
	ck_assert_uint_eq(m.n_row,
			  (ITEMS + PACKED_TIMES_ROW - 1) / PACKED_TIMES_ROW);
	for (size_t i = 0; i + 1 < m.n_row; i++)
		ck_assert_uint_le(bits_in_row(&m, i), 22 + 10 + 20);
	ck_assert_int_eq(packed_times_get(&m, 100).event, 300);
	ck_assert_uint_eq(packed_times_find(&m, 300), 100);
	ck_assert_uint_eq(packed_times_find(&m, 301), 101);
	ck_assert_uint_eq(packed_times_find(&m, INT64_MAX), m.n);
	packed_times_release(&m);
}
END_TEST

/* A number of 20 bits above 20 that are 0, as of a wake-up without its second
 * record. */
START_TEST(low_bits_that_are_0_are_not_kept)
{
	struct packed_times m = { 0 };
	uint64_t r = 1;
	uint64_t in[ITEMS];

	for (size_t i = 0; i < ITEMS; i++) {
		in[i] = 5 + (rnd_below(&r, 1 << 20) << 20);
		packed_times_put(&m, i, &(struct packed_time){ .a = in[i] });
	}
	packed_times_close(&m);
	for (size_t i = 0; i < m.n_row; i++)
		ck_assert_uint_le(bits_in_row(&m, i), 20);
	for (size_t i = 0; i < ITEMS; i++)
		ck_assert_uint_eq(packed_times_get(&m, i).a, in[i]);
	packed_times_release(&m);
}
END_TEST

START_TEST(what_was_cut_is_added_anew)
{
	struct packed_times m = { 0 };

	for (size_t n = 0; n <= 3 * PACKED_TIMES_ROW;
	     n += PACKED_TIMES_ROW / 2) {
		for (size_t i = m.n; i < ITEMS; i++)
			packed_times_put(&m, i,
					 &(struct packed_time){ .a = n + i });
		packed_times_cut(&m, n);
		ck_assert_uint_eq(m.n, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_le(packed_times_get(&m, i).a, n + i);
	}
	for (size_t i = m.n; i < ITEMS; i++)
		packed_times_put(&m, i, &(struct packed_time){ .a = i });
	for (size_t i = 3 * PACKED_TIMES_ROW; i < ITEMS; i++)
		ck_assert_uint_eq(packed_times_get(&m, i).a, i);
	packed_times_release(&m);
}
END_TEST

START_TEST(equal_kinds_have_one_number)
{
	struct intern k = { 0 };

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 1000; i++)
			ck_assert_uint_eq(
				kinds_add(&k,
					  &(struct kind){ { i % 10, i / 10 } }),
				i);
	ck_assert_uint_eq(kinds_get(&k, 123).word[0], 3);
	ck_assert_uint_eq(kinds_get(&k, 123).word[1], 12);
	intern_release(&k);
}
END_TEST

RUN("moments", what_was_written_is_read, what_is_near_needs_few_bytes,
    low_bits_that_are_0_are_not_kept, what_was_cut_is_added_anew,
    equal_kinds_have_one_number)
