/* proto.c - tests of cli/export/proto.c, by the bytes that the encoding's
 * specification gives as examples. */
#include "cli/export/proto.h"

#include <string.h>

#include "tests/unit/run.h"

#define IS(p, bytes)                                                           \
	do {                                                                   \
		ck_assert_uint_eq((p)->n, sizeof(bytes) - 1);                  \
		ck_assert_mem_eq((p)->at, bytes, sizeof(bytes) - 1);           \
	} while (0)

START_TEST(a_number_is_a_varint)
{
	struct blob p = { 0 };

	proto_uint(&p, 1, 150);
	IS(&p, "\x08\x96\x01");
	p.n = 0;
	proto_uint(&p, 16, 1);
	IS(&p, "\x80\x01\x01");
	p.n = 0;
	proto_uint(&p, 1, UINT64_MAX);
	IS(&p, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	blob_release(&p);
}
END_TEST

START_TEST(zero_is_left_out_unless_it_says_something)
{
	struct blob p = { 0 };

	proto_uint(&p, 1, 0);
	ck_assert_uint_eq(p.n, 0);
	proto_item(&p, 1, 0);
	IS(&p, "\x08\x00");
	blob_release(&p);
}
END_TEST

START_TEST(text_and_bytes_have_their_length_in_front)
{
	struct blob p = { 0 };

	proto_bytes(&p, 2, "testing", 7);
	IS(&p, "\x12\x07testing");
	p.n = 0;
	proto_bytes(&p, 2, "", 0);
	IS(&p, "\x12\x00");
	blob_release(&p);
}
END_TEST

START_TEST(a_message_in_a_message_is_its_bytes)
{
	struct blob p = { 0 };
	struct blob in = { 0 };

	proto_uint(&in, 1, 150);
	proto_message(&p, 3, &in);
	IS(&p, "\x1a\x03\x08\x96\x01");
	blob_add(&p, in.at, in.n);
	IS(&p, "\x1a\x03\x08\x96\x01\x08\x96\x01");
	blob_release(&in);
	blob_release(&p);
}
END_TEST

START_TEST(repeated_numbers_are_packed)
{
	static const uint64_t v[] = { 3, 270, 86942 };
	struct blob p = { 0 };

	proto_packed(&p, 4, v, 3);
	IS(&p, "\x22\x06\x03\x8e\x02\x9e\xa7\x05");
	p.n = 0;
	proto_packed(&p, 4, v, 0);
	ck_assert_uint_eq(p.n, 0);
	blob_release(&p);
}
END_TEST

RUN("proto", a_number_is_a_varint, zero_is_left_out_unless_it_says_something,
    text_and_bytes_have_their_length_in_front,
    a_message_in_a_message_is_its_bytes, repeated_numbers_are_packed)
