/* pack.c - tests of formats/pack.c: what it writes,
 * formats/unpack.c and gunzip_add() read. */
#include "formats/pack.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

#define MUCH ((size_t)3 << 20)

struct packed {
	unsigned char *buf;
	size_t n;
	int calls, fail_at;
};

static int pack_put(void *arg, const void *data, size_t n, struct err *err)
{
	struct packed *p = arg;

	if (++p->calls == p->fail_at)
		return err_set(err, ERR_IO, "no more room");
	p->buf = realloc(p->buf, p->n + n + 1);
	memcpy(p->buf + p->n, data, n);
	p->n += n;
	return 0;
}

/* Of bytes that do not pack well, or do. */
static unsigned char *many(size_t n, bool random)
{
	unsigned char *b = malloc(n);
	uint64_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		b[i] = random ? (unsigned char)(x >> 56)
			      : (unsigned char)(i / 100);
	}
	return b;
}

static struct packed pack_pack(const void *data, size_t n, size_t step)
{
	struct packed out = { 0 };
	struct pack *p = pack_new(pack_put, &out);
	struct err err = { 0 };

	for (size_t at = 0; at < n; at += step)
		ck_assert_int_eq(pack_add(p, (const char *)data + at,
					  n - at < step ? n - at : step, &err),
				 0);
	ck_assert_int_eq(pack_finish(p, &err), 0);
	pack_free(p);
	return out;
}

static void check_back(const struct packed *out, const void *data, size_t n)
{
	FILE *f = tmpfile();
	unsigned char *back;
	size_t len = 0;

	ck_assert_uint_eq(fwrite(out->buf, 1, out->n, f), out->n);
	rewind(f);
	back = unpack_all(fileno(f), "test", MUCH + 1, &len);
	ck_assert_ptr_nonnull(back);
	ck_assert_uint_eq(len, n);
	ck_assert(!n || !memcmp(back, data, n));
	free(back);
	fclose(f);
}

START_TEST(bytes_come_back)
{
	for (int random = 0; random < 2; random++) {
		unsigned char *data = many(MUCH, random);
		struct packed out = pack_pack(data, MUCH, 100003);

		check_back(&out, data, MUCH);
		free(out.buf);
		free(data);
	}
}
END_TEST

START_TEST(nothing_is_a_stream_too)
{
	struct packed out = pack_pack("", 0, 1);

	ck_assert_uint_gt(out.n, 17);
	check_back(&out, "", 0);
	free(out.buf);
}
END_TEST

START_TEST(the_stream_says_no_time_and_does_not_depend_on_the_steps)
{
	unsigned char *data = many(100000, false);
	struct packed a = pack_pack(data, 100000, 100000);
	struct packed b = pack_pack(data, 100000, 7);

	ck_assert_mem_eq(a.buf, "\x1f\x8b\x08\0\0\0\0\0", 8);
	ck_assert_uint_eq(a.n, b.n);
	ck_assert_mem_eq(a.buf, b.buf, a.n);
	free(a.buf);
	free(b.buf);
	free(data);
}
END_TEST

START_TEST(an_error_of_who_takes_it_is_ours)
{
	unsigned char *data = many(MUCH, true);
	struct packed out = { .fail_at = 2 };
	struct pack *p = pack_new(pack_put, &out);
	struct err err = { 0 };

	ck_assert_int_eq(pack_add(p, data, MUCH, &err), -1);
	ck_assert_str_eq(err.msg, "no more room");
	pack_free(p);
	free(out.buf);
	free(data);
}
END_TEST

START_TEST(blocks_of_zstd_stand_alone_and_are_the_same_again)
{
	static const size_t sizes[] = { 0, 1, 100, 100000, MUCH };
	unsigned char *data = many(MUCH, false);
	struct err err = { 0 };
	struct pack_zstd *p = pack_zstd_new(&err);

	ck_assert_ptr_nonnull(p);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t room = pack_zstd_room(sizes[i]);
		struct packed a = { .buf = malloc(room) };
		struct packed b = { .buf = malloc(room) };

		ck_assert_int_eq(
			pack_zstd_put(p, data, sizes[i], a.buf, &a.n, &err), 0);
		ck_assert_int_eq(
			pack_zstd_put(p, data, sizes[i], b.buf, &b.n, &err), 0);
		ck_assert_uint_le(a.n, room);
		ck_assert_uint_eq(a.n, b.n);
		ck_assert_mem_eq(a.buf, b.buf, a.n);
		check_back(&a, data, sizes[i]);
		free(a.buf);
		free(b.buf);
	}
	pack_zstd_free(p);
	pack_zstd_free(NULL);
	free(data);
}
END_TEST

/* Unpacks in steps. Returns 0 if the stream is whole. */
static int gunzip_steps(const void *data, size_t n, size_t step,
			struct packed *out, struct err *err)
{
	struct gunzip *g = gunzip_new(pack_put, out);
	int rc = 0;

	for (size_t at = 0; !rc && at < n; at += step)
		rc = gunzip_add(g, (const char *)data + at,
				n - at < step ? n - at : step, err);
	if (!rc)
		rc = gunzip_finish(g, err);
	gunzip_free(g);
	return rc;
}

START_TEST(a_stream_in_pieces_comes_back_and_its_end_is_proved)
{
	unsigned char *data = many(MUCH / 8, false);
	struct packed packed = pack_pack(data, MUCH / 8, 1000);

	for (size_t step = 1; step < packed.n; step = 7 * step + 1) {
		struct packed out = { 0 };
		struct err err = { 0 };

		ck_assert(
			!gunzip_steps(packed.buf, packed.n, step, &out, &err));
		ck_assert_uint_eq(out.n, MUCH / 8);
		ck_assert_mem_eq(out.buf, data, out.n);
		free(out.buf);
	}
	for (size_t cut = 1; cut <= 12; cut++) {
		struct packed out = { 0 };
		struct err err = { 0 };

		ck_assert(gunzip_steps(packed.buf, packed.n - cut, 500, &out,
				       &err));
		ck_assert(strstr(err.msg, "cut short") != NULL);
		free(out.buf);
	}
	free(packed.buf);
	free(data);
}
END_TEST

START_TEST(a_changed_stream_is_no_stream)
{
	unsigned char *data = many(5000, true);
	struct packed packed = pack_pack(data, 5000, 5000);
	uint64_t state = 3;

	for (unsigned int i = 0; i < 500; i++) {
		size_t at = 10 + rnd_below(&state, packed.n - 10);
		unsigned char bit = (unsigned char)(1 << rnd_below(&state, 8));
		struct packed out = { 0 };
		struct err err = { 0 };

		packed.buf[at] ^= bit;
		ck_assert(gunzip_steps(packed.buf, packed.n, 700, &out, &err));
		ck_assert(err.msg[0]);
		packed.buf[at] ^= bit;
		free(out.buf);
	}
	packed.buf[packed.n] = 'x';
	struct packed out = { 0 };
	struct err err = { 0 };
	ck_assert(gunzip_steps(packed.buf, packed.n + 1, 700, &out, &err));
	ck_assert(strstr(err.msg, "after the end") != NULL);
	free(out.buf);
	free(packed.buf);
	free(data);
}
END_TEST

RUN("pack", bytes_come_back, nothing_is_a_stream_too,
    the_stream_says_no_time_and_does_not_depend_on_the_steps,
    an_error_of_who_takes_it_is_ours,
    blocks_of_zstd_stand_alone_and_are_the_same_again,
    a_stream_in_pieces_comes_back_and_its_end_is_proved,
    a_changed_stream_is_no_stream)
