/* bytes.c - tests of stitch/base/bytes.c. */
#include <string.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static const unsigned char data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

START_TEST(numbers_are_read_in_the_order_of_the_file)
{
	struct bytes b;
	uint8_t c;
	uint16_t s;
	uint32_t i;

	bytes_init(&b, data, sizeof(data), "f", 0, true);
	ck_assert_int_eq(bytes_u8(&b, &c, NULL), 0);
	ck_assert_int_eq(bytes_u16(&b, &s, NULL), 0);
	ck_assert_int_eq(bytes_u32(&b, &i, NULL), 0);
	ck_assert_uint_eq(c, 1);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	ck_assert_uint_eq(s, 0x0203);
	ck_assert_uint_eq(i, 0x04050607);
#endif
	ck_assert_uint_eq(bytes_left(&b), 4);
}
END_TEST

START_TEST(unaligned_words_are_read)
{
	struct bytes b;
	uint64_t v, want;
	uint8_t c;

	memcpy(&want, data + 1, sizeof(want));
	bytes_init(&b, data, sizeof(data), "f", 0, false);
	ck_assert_int_eq(bytes_u8(&b, &c, NULL), 0);
	ck_assert_int_eq(bytes_u64(&b, &v, NULL), 0);
	ck_assert(v == want);
}
END_TEST

START_TEST(short_reads_fail_without_moving)
{
	struct bytes b;
	struct err err;
	uint64_t v;
	uint32_t i;
	uint16_t s;

	bytes_init(&b, data, 1, "f", 0x100, false);
	ck_assert_int_eq(bytes_u64(&b, &v, &err), -1);
	ck_assert_str_eq(err.msg, "f+0x100: needs 8 bytes, has 1");
	ck_assert_int_eq(bytes_u32(&b, &i, &err), -1);
	ck_assert_int_eq(bytes_u16(&b, &s, &err), -1);
	ck_assert_uint_eq(bytes_left(&b), 1);
}
END_TEST

START_TEST(a_count_that_overflows_in_bytes_is_refused)
{
	struct bytes b;
	struct err err;
	uint64_t v[2];

	bytes_init(&b, data, sizeof(data), "f", 0, false);
	ck_assert_int_eq(bytes_u64s(&b, v, UINT64_MAX / 8 + 2, &err), -1);
	ck_assert_int_eq(bytes_u64s(&b, v, 2, &err), -1);
	ck_assert_int_eq(bytes_peek_u64s(&b, 0, v, UINT64_MAX / 8 + 2), -1);
	ck_assert_int_eq(bytes_peek_u64s(&b, 4, v, 1), -1);
	ck_assert_int_eq(bytes_peek_u64s(&b, 3, v, 1), 0);
	ck_assert_int_eq(bytes_u64s(&b, v, 1, &err), 0);
	ck_assert_uint_eq(bytes_left(&b), 3);
}
END_TEST

START_TEST(numbers_are_used_where_they_lie_if_they_can_be)
{
	const uint64_t word[3] = { 1, 2, 3 };
	struct bytes b;

	bytes_init(&b, word, sizeof(word), "f", 0, false);
	ck_assert_ptr_null(bytes_u64s_there(&b, 4));
	ck_assert_ptr_null(bytes_u64s_there(&b, UINT64_MAX / 4));
	ck_assert_ptr_eq(bytes_u64s_there(&b, 2), word);
	ck_assert_ptr_eq(bytes_u64s_there(&b, 1), word + 2);
	ck_assert_uint_eq(bytes_left(&b), 0);
	/* not aligned; of the other byte order */
	bytes_init(&b, (const char *)word + 1, 16, "f", 0, false);
	ck_assert_ptr_null(bytes_u64s_there(&b, 1));
	bytes_init(&b, word, sizeof(word), "f", 0, true);
	ck_assert_ptr_null(bytes_u64s_there(&b, 1));
	ck_assert_uint_eq(bytes_left(&b), sizeof(word));
}
END_TEST

START_TEST(skip_and_take_refuse_more_than_there_is)
{
	struct bytes b, part;

	bytes_init(&b, data, sizeof(data), "f", 0, false);
	ck_assert_int_eq(bytes_skip(&b, UINT64_MAX, NULL), -1);
	ck_assert_int_eq(bytes_take(&b, UINT64_MAX, &part, NULL), -1);
	ck_assert_int_eq(bytes_skip(&b, 11, NULL), 0);
	ck_assert_int_eq(bytes_skip(&b, 1, NULL), -1);
}
END_TEST

START_TEST(a_part_knows_its_place_in_the_file)
{
	struct bytes b, part;
	struct err err;
	uint32_t v;

	bytes_init(&b, data, sizeof(data), "f", 0x40, false);
	ck_assert_int_eq(bytes_skip(&b, 3, NULL), 0);
	ck_assert_int_eq(bytes_take(&b, 2, &part, NULL), 0);
	ck_assert_uint_eq(bytes_off(&part), 0x43);
	ck_assert_uint_eq(bytes_left(&part), 2);
	ck_assert_uint_eq(bytes_off(&b), 0x45);
	ck_assert_int_eq(bytes_u32(&part, &v, &err), -1);
	ck_assert_str_eq(err.msg, "f+0x43: needs 4 bytes, has 2");
}
END_TEST

START_TEST(a_string_must_end_inside)
{
	static const char text[] = { 'a', 'b', 0, 'c' };
	struct bytes b;
	const char *s;

	bytes_init(&b, text, sizeof(text), "f", 0, false);
	ck_assert_int_eq(bytes_str(&b, &s, NULL), 0);
	ck_assert_str_eq(s, "ab");
	ck_assert_int_eq(bytes_str(&b, &s, NULL), -1);
	ck_assert_uint_eq(bytes_left(&b), 1);
}
END_TEST

START_TEST(an_empty_window_needs_no_memory)
{
	struct bytes b, part;
	const char *s;
	uint64_t v;

	bytes_init(&b, NULL, 0, NULL, 0, false);
	ck_assert_int_eq(bytes_str(&b, &s, NULL), -1);
	ck_assert_int_eq(bytes_u64s(&b, &v, 0, NULL), 0);
	ck_assert_int_eq(bytes_u64s(&b, NULL, 0, NULL), 0);
	ck_assert_int_eq(bytes_take(&b, 0, &part, NULL), 0);
	ck_assert_int_eq(bytes_u64(&b, &v, NULL), -1);
}
END_TEST

RUN("bytes", numbers_are_read_in_the_order_of_the_file,
    unaligned_words_are_read, short_reads_fail_without_moving,
    a_count_that_overflows_in_bytes_is_refused,
    numbers_are_used_where_they_lie_if_they_can_be,
    skip_and_take_refuse_more_than_there_is, a_part_knows_its_place_in_the_file,
    a_string_must_end_inside, an_empty_window_needs_no_memory)
