/* rowbinary.c - tests of replies in RowBinary: in pieces, cut, and hostile. */
#include "cli/clickhouse/clickhouse.h"

#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "stitch/base/err.h"
#include "tests/rnd.h"

#define TYPES "hash u8 string [u64] i32 [string] f64"

static unsigned char bytes[1 << 16];
static size_t n_bytes;
static uint64_t state = 1;

static void reply_put(const void *p, size_t n)
{
	memcpy(bytes + n_bytes, p, n);
	n_bytes += n;
}

static void reply_put_length(uint64_t n)
{
	for (; n > 127; n >>= 7)
		reply_put(&(unsigned char){ (unsigned char)(n | 128) }, 1);
	reply_put(&(unsigned char){ (unsigned char)n }, 1);
}

static void reply_put_row(unsigned int i)
{
	char hash[16] = { (char)i };
	char text[400];
	uint64_t n = i % 5;

	double half = i / 2.0;
	uint64_t bits;

	memcpy(&bits, &half, sizeof(bits));
	memset(text, 'a' + (int)(i % 26), sizeof(text));
	reply_put(hash, 16);
	reply_put(&(uint8_t){ (uint8_t)i }, 1);
	reply_put_length(i % 400);
	reply_put(text, i % 400);
	reply_put_length(n);
	for (uint64_t k = 0; k < n; k++)
		reply_put(&(uint64_t){ htole64(i + k) }, 8);
	reply_put(&(uint32_t){ htole32(-i) }, 4);
	reply_put_length(n);
	for (uint64_t k = 0; k < n; k++) {
		reply_put_length(k);
		reply_put(text, k);
	}
	reply_put(&(uint64_t){ htole64(bits) }, 8);
}

static unsigned int seen, from; /* from: the number of the first row */

static int take(void *arg, const struct rowbinary_value *v, struct err *err)
{
	unsigned int i = from + seen++;

	(void)arg;
	(void)err;
	ck_assert_uint_eq(v[0].len, 16);
	ck_assert_int_eq((unsigned char)v[0].text[0], i & 255);
	ck_assert_uint_eq(v[1].u, i & 255);
	ck_assert_uint_eq(v[2].len, i % 400);
	ck_assert_uint_eq(v[3].n, i % 5);
	for (size_t k = 0; k < v[3].n; k++)
		ck_assert_uint_eq(v[3].item[k].u, i + k);
	ck_assert_int_eq(v[4].i, -(int64_t)i);
	ck_assert_uint_eq(v[5].n, i % 5);
	for (size_t k = 0; k < v[5].n; k++)
		ck_assert_uint_eq(v[5].item[k].len, k);
	ck_assert(v[6].f == i / 2.0);
	return 0;
}

/* Feeds n bytes in pieces of random sizes. Returns 0, or -1 and *err. */
static int feed(const char *types, rowbinary_fn *fn, size_t n, size_t piece,
		struct err *err)
{
	struct rowbinary *r = rowbinary_new(types, fn, NULL);
	int rc = 0;

	seen = 0;
	for (size_t at = 0; !rc && at < n;) {
		size_t len = 1 + rnd(&state) % piece;

		len = len < n - at ? len : n - at;
		/* a copy, so that a sanitizer sees reads behind it */
		void *copy = malloc(len);
		memcpy(copy, bytes + at, len);
		rc = rowbinary_add(r, copy, len, err);
		free(copy);
		at += len;
	}
	if (!rc)
		rc = rowbinary_finish(r, err);
	rowbinary_free(r);
	return rc;
}

START_TEST(rows_come_out_of_pieces_of_any_size)
{
	struct err err = { 0 };

	n_bytes = 0;
	from = 0;
	for (unsigned int i = 0; i < 150; i++)
		reply_put_row(i);
	for (size_t piece = 1; piece < sizeof(bytes); piece *= 3) {
		ck_assert_msg(!feed(TYPES, take, n_bytes, piece, &err), "%s",
			      err.msg);
		ck_assert_uint_eq(seen, 150);
	}
}
END_TEST

START_TEST(a_reply_that_is_cut_within_a_row_is_an_error)
{
	struct err err = { 0 };
	size_t end;

	n_bytes = 0;
	from = 7;
	reply_put_row(7);
	end = n_bytes;
	reply_put_row(8);
	for (size_t n = 1; n < n_bytes; n++) {
		int rc = feed(TYPES, take, n, 64, &err);

		ck_assert_int_eq(rc, n == end ? 0 : -1);
		ck_assert_uint_eq(seen, n >= end);
		if (rc)
			ck_assert(strstr(err.msg, "the reply ends within row"));
	}
}
END_TEST

static int count_only(void *arg, const struct rowbinary_value *v,
		      struct err *err)
{
	(void)arg;
	(void)v;
	(void)err;
	seen++;
	return 0;
}

START_TEST(huge_counts_are_refused_at_once)
{
	static const struct {
		const char *types;
		uint64_t n;
		const char *message;
	} bad[] = {
		{ "string", (uint64_t)1 << 40, "a length of 1099511627776" },
		{ "string", UINT64_MAX >> 1, "a length of " },
		{ "[u8]", ROWBINARY_ITEMS + 1, "lists with more than" },
		{ "[string]", (uint64_t)1 << 62, "a length of " },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };

		n_bytes = 0;
		reply_put_length(bad[i].n);
		ck_assert(feed(bad[i].types, count_only, n_bytes, 3, &err));
		ck_assert_msg(strstr(err.msg, bad[i].message) != NULL, "%s",
			      err.msg);
		ck_assert(strstr(err.msg, "row 1 of the reply") != NULL);
	}
}
END_TEST

START_TEST(a_length_without_end_is_refused)
{
	struct err err = { 0 };

	n_bytes = 0;
	for (unsigned int i = 0; i < 20; i++)
		reply_put("\xff", 1);
	ck_assert(feed("string", count_only, n_bytes, 5, &err));
	ck_assert(strstr(err.msg, "more than 63 bits") != NULL);
}
END_TEST

START_TEST(a_row_of_lists_that_add_up_is_refused)
{
	struct err err = { 0 };
	struct rowbinary *r = rowbinary_new("[u8] [u8] [u8]", count_only, NULL);
	char *zeros = calloc(1, ROWBINARY_ITEMS);
	int rc = 0;

	for (unsigned int i = 0; !rc && i < 3; i++) {
		n_bytes = 0;
		reply_put_length(ROWBINARY_ITEMS / 2 + 1);
		rc = rowbinary_add(r, bytes, n_bytes, &err) ||
		     rowbinary_add(r, zeros, ROWBINARY_ITEMS / 2 + 1, &err);
	}
	if (!rc)
		rc = rowbinary_finish(r, &err);
	ck_assert(rc);
	ck_assert(strstr(err.msg, "lists with more than") != NULL);
	rowbinary_free(r);
	free(zeros);
}
END_TEST

START_TEST(garbage_ends_with_rows_or_a_message)
{
	static const char *const types[] = { TYPES,	     "string",
					     "[string] u64", "hash hash",
					     "[hash]",	     "u8" };

	for (unsigned int i = 0; i < 20000; i++) {
		struct err err = { 0 };

		n_bytes = rnd(&state) % 300;
		for (size_t k = 0; k < n_bytes; k++)
			bytes[k] = (unsigned char)(rnd(&state) >>
						   (rnd(&state) % 8));
		if (feed(types[rnd(&state) % 6], count_only, n_bytes, 100,
			 &err))
			ck_assert(err.msg[0]);
		/* a row has a byte at least */
		ck_assert_uint_le(seen, n_bytes);
	}
}
END_TEST

RUN("rowbinary", rows_come_out_of_pieces_of_any_size,
    a_reply_that_is_cut_within_a_row_is_an_error,
    huge_counts_are_refused_at_once, a_length_without_end_is_refused,
    a_row_of_lists_that_add_up_is_refused, garbage_ends_with_rows_or_a_message)
