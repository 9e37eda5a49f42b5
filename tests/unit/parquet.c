/* parquet.c - the encodings of Parquet pages, against bytes from the format's
 * documents, and what comes out of them again. */
#include <stdio.h>
#include <string.h>

#include "cli/export/parquet/pq_buf.h"
#include "tests/unit/run.h"

static void check_bytes(const struct blob *b, const char *want)
{
	char hex[256] = "";

	for (size_t i = 0; i < b->n && i < 80; i++)
		snprintf(hex + 3 * i, 4, "%02x ", b->at[i]);
	ck_assert_str_eq(hex, want);
}

static void check_hybrid(const uint32_t *v, size_t n, unsigned int width,
			 const char *want)
{
	struct blob b = { 0 };

	pq_put_hybrid(&b, v, n, width);
	check_bytes(&b, want);
	blob_release(&b);
}

START_TEST(runs_and_groups_are_those_of_the_documents)
{
	const uint32_t ones[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	const uint32_t count[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const uint32_t mixed[10] = { 1, 1, 1, 0, 0, 1, 1, 0, 1, 1 };
	const uint32_t zero = 0;

	check_hybrid(ones, 10, 1, "14 01 ");
	check_hybrid(count, 8, 3, "03 88 c6 fa ");
	check_hybrid(mixed, 10, 1, "05 67 03 ");
	/* a dictionary of one entry still needs the header of a run */
	check_hybrid(&zero, 1, 0, "02 ");
}
END_TEST

START_TEST(deltas_are_those_of_the_documents)
{
	const uint64_t v[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
	const uint64_t wide[] = { 0, UINT64_MAX / 2 + 1, 0 };
	struct blob b = { 0 };

	pq_put_delta(&b, v, 8);
	check_bytes(&b, "80 01 04 08 0e 03 02 00 00 00 c0 3f 00 00 00 00 00 "
			"00 ");
	b.n = 0;
	pq_put_delta(&b, v, 0);
	check_bytes(&b, "80 01 04 00 00 ");
	/* differences wrap */
	b.n = 0;
	pq_put_delta(&b, wide, 3);
	ck_assert_uint_eq(b.at[3], 3);
	blob_release(&b);
}
END_TEST

START_TEST(structs_of_thrift_are_those_of_the_documents)
{
	struct blob b = { 0 };
	struct pq_thrift t;

	pq_begin(&t, &b);
	pq_i32(&t, 1, -1);
	pq_bool(&t, 2, 1);
	pq_struct(&t, 7);
	pq_i64(&t, 15, 300);
	pq_end(&t);
	pq_list(&t, 8, PQ_BINARY, 2);
	pq_item_text(&t, "a");
	pq_item_text(&t, "");
	pq_i8(&t, 9, -2);
	pq_end(&t);
	check_bytes(&b, "15 01 11 5c f6 d8 04 00 19 28 01 61 00 13 fe 00 ");
	blob_release(&b);
}
END_TEST

START_TEST(a_width_holds_its_number)
{
	ck_assert_uint_eq(pq_width(0), 0);
	ck_assert_uint_eq(pq_width(1), 1);
	ck_assert_uint_eq(pq_width(255), 8);
	ck_assert_uint_eq(pq_width(UINT64_MAX), 64);
}
END_TEST

RUN("parquet", runs_and_groups_are_those_of_the_documents,
    deltas_are_those_of_the_documents,
    structs_of_thrift_are_those_of_the_documents, a_width_holds_its_number)
