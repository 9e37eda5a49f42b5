/* frame.c - tests of stitch/tasks/frame.c. */
#include <string.h>

#include "stitch/tasks/frame.h"
#include "stitch/record.h"
#include "stitch/base/table.h"
#include "stitch/unwinder.h"
#include "tests/unit/run.h"

static uint32_t file_image(struct frames *fr, const char *path, uint8_t id)
{
	struct image img = { .kind = IMAGE_FILE, .path = path };

	if (id) {
		memset(img.id, id, sizeof(img.id));
		img.id_len = sizeof(img.id);
	}
	return frames_image(fr, &img);
}

static uint32_t frame_frame_at(struct frames *fr, uint32_t image, uint64_t off)
{
	struct frame f = { .image = image, .off = off };

	return frames_frame(fr, &f);
}

START_TEST(equal_things_have_equal_ids)
{
	struct frames *fr = frames_new();
	uint32_t img = file_image(fr, "/bin/a", 0);

	ck_assert_uint_eq(img, 1);
	ck_assert_uint_eq(file_image(fr, "/bin/a", 0), img);
	ck_assert_uint_eq(file_image(fr, "/bin/b", 0), 2);
	ck_assert_uint_eq(frame_frame_at(fr, img, 4),
			  frame_frame_at(fr, img, 4));
	ck_assert_uint_ne(frame_frame_at(fr, img, 4),
			  frame_frame_at(fr, img, 5));
	uint32_t s = frames_push(fr, 0, 1);
	ck_assert_uint_eq(frames_push(fr, 0, 1), s);
	ck_assert_uint_ne(frames_push(fr, s, 1), s);
	ck_assert_uint_eq(fr->n_stack, 2);
	frames_free(fr);
}
END_TEST

START_TEST(images_differ_by_every_field)
{
	struct frames *fr = frames_new();
	struct image a = { .kind = IMAGE_FILE, .path = "p" };
	struct image v[11];

	for (size_t i = 0; i < 11; i++)
		v[i] = a;
	v[0].kind = IMAGE_BPF;
	v[1].path = "q";
	v[2].id_len = 20;
	v[3].maj = 1;
	v[4].min = 1;
	v[5].ino = 1;
	v[6].ino_gen = 1;
	v[7].start = 1;
	v[8].len = 1;
	v[9].t0 = 1;
	v[10].space = 1;
	frames_image(fr, &a);
	for (size_t i = 0; i < 11; i++)
		ck_assert_uint_eq(frames_image(fr, &v[i]), i + 2);
	for (size_t i = 0; i < 11; i++)
		ck_assert_uint_eq(frames_image(fr, &v[i]), i + 2);
	frames_free(fr);
}
END_TEST

START_TEST(strings_are_copied)
{
	struct frames *fr = frames_new();
	char path[] = "/bin/a";

	file_image(fr, path, 0);
	memset(path, 'x', 6);
	ck_assert_str_eq(frames_get_image(fr, 1)->path, "/bin/a");
	frames_free(fr);
}
END_TEST

START_TEST(parents_come_before_and_depths_add_up)
{
	struct frames *fr = frames_new();
	uint64_t seed = 3;
	uint32_t img = file_image(fr, "a", 0);

	for (int i = 0; i < 5000; i++) {
		uint32_t s = 0;

		for (uint32_t d = 1; d <= 1 + rnd_below(&seed, 20); d++) {
			uint64_t off = rnd_below(&seed, 9);

			s = frames_push(fr, s, frame_frame_at(fr, img, off));
			must(frames_get_stack(fr, s)->depth == d);
		}
	}
	for (uint32_t s = 1; s <= fr->n_stack; s++)
		must(frames_get_stack(fr, s)->parent < s);
	frames_free(fr);
}
END_TEST

START_TEST(raw_chains_differ_by_stack_and_addresses)
{
	struct frames *fr = frames_new();
	const uint64_t ip[] = { 1, 2, 3 };
	struct addrs a = { .ip = ip, .n = 3 };
	struct addrs b = { .ip = ip, .n = 2 };
	uint64_t h = 7; /* the same for all: only comparing tells them apart */
	uint32_t f = frame_frame_at(fr, file_image(fr, "a", 0), 1);
	uint32_t s = frames_push(fr, 0, f), t = frames_push(fr, s, f);

	uint32_t r = frames_raw(fr, s, &a, h);
	ck_assert_uint_eq(frames_raw(fr, s, &a, h), r);
	ck_assert_uint_ne(frames_raw(fr, t, &a, h), r);
	ck_assert_uint_ne(frames_raw(fr, s, &b, h), r);
	ck_assert_uint_eq(fr->n_raw, 3);
	ck_assert_uint_eq(frames_get_raw(fr, r)->stack, s);
	ck_assert_uint_eq(frames_get_raw(fr, r)->n, 3);
	ck_assert_mem_eq(frames_get_raw(fr, r)->inner, ip, sizeof(ip));
	ck_assert_ptr_ne(frames_get_raw(fr, r)->inner, ip);
	frames_free(fr);
}
END_TEST

/* Chains of `n` addresses that end in the same `outer` ones. */
static uint32_t frame_add_unwound(struct frames *fr, uint64_t inner, uint32_t n,
				  uint32_t outer)
{
	const struct raw_note note = { .ended = UNWIND_OUTERMOST };
	uint64_t ip[100];
	struct addrs a = { .ip = ip, .n = n };

	for (uint32_t i = 0; i < n; i++)
		ip[i] = n - i <= outer ? 1000 - (n - i) : inner + i;
	return frames_noted(fr, 0, &a, hash_u64s(ip, n, 0), note);
}

START_TEST(unwound_stacks_share_their_outer_addresses)
{
	/* n, outer addresses that are equal, addresses that are kept */
	static const uint32_t row[][3] = {
		{ 10, 10, 10 }, { 10, 9, 1 }, { 12, 8, 4 },  { 4, 4, 1 },
		{ 1, 1, 1 },	{ 2, 2, 1 },  { 20, 3, 20 }, { 21, 3, 21 },
	};
	struct frames *fr = frames_new();
	uint64_t ip[100], want[100];

	for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t n = row[i][0];
		uint32_t id = frame_add_unwound(fr, i * 100, n, row[i][1]);
		const struct raw_chain *c = frames_get_raw(fr, id);

		ck_assert_uint_eq(id, i + 1);
		ck_assert_uint_eq(c->own ? c->own : c->n, row[i][2]);
		for (uint32_t k = 0; k < n; k++)
			want[k] = n - k <= row[i][1] ? 1000 - (n - k)
						     : i * 100 + k;
		frames_raw_copy(fr, c, ip);
		ck_assert_mem_eq(ip, want, n * sizeof(*ip));
		ck_assert_uint_eq(frame_add_unwound(fr, i * 100, n, row[i][1]),
				  id);
	}
	frames_free(fr);
}
END_TEST

static void frame_wait(void *arg)
{
	++*(int *)arg;
}

/* Adds three raw chains to fr: a;b;c, a;b;d like it, and e. Returns the first
 * one's id. */
static uint32_t frame_add_lists(struct frames *fr, uint64_t hash)
{
	const uint32_t img = file_image(fr, "/bin/a", 0);
	const uint64_t ip[] = { 3, 2, 1 };
	const struct addrs a = { .ip = ip, .n = 3 };
	struct frame at[] = { { img, 0, 1 }, { img, 0, 2 }, { img, 0, 3 } };
	struct frame_list l = { .at = at, .n = 3, .hash = hash };
	const struct raw_note none = { 0 };

	l.like = frames_list(fr, &l, &a, 1, none);
	const uint32_t first = l.like;

	/* the frames of a list are not needed after the call */
	at[2].off = 4;
	l.hash = hash + 1;
	l.n_like = 2;
	frames_list(fr, &l, &a, 1, none);
	at[0].off = 5;
	l = (struct frame_list){ .at = at, .n = 1, .hash = hash + 2 };
	frames_list(fr, &l, &a, 1, none);
	return first;
}

START_TEST(frames_that_are_interned_later_have_the_same_ids)
{
	struct frames *now = frames_new();
	struct frames *later = frames_new();
	struct frames_late late = { 0 };
	int waited = 0;

	frames_defer(later, frame_wait, &waited);
	ck_assert_uint_eq(frame_add_lists(now, 7), 1);
	ck_assert_uint_eq(frame_add_lists(later, 7), 1);
	ck_assert_uint_eq(later->n_raw, now->n_raw);
	ck_assert_uint_eq(later->n_frame, 0);
	ck_assert_uint_eq(frames_get_raw(later, 2)->stack, 0);
	frames_pass(later, &late);
	ck_assert_uint_eq(late.n, 3);
	ck_assert_uint_eq(late.n_frame, 3 + 1 + 1);
	/* these are added before and after the first ones are interned */
	frame_add_lists(now, 17);
	frame_add_lists(later, 17);
	frames_intern(later, &late);
	ck_assert_uint_eq(late.n, 0);
	frame_add_lists(now, 27);
	frame_add_lists(later, 27);
	frames_settle(later);
	ck_assert_int_eq(waited, 1);
	/* what is added after that is interned at once */
	frame_add_lists(now, 37);
	frame_add_lists(later, 37);
	frames_settle(later);
	ck_assert_int_eq(waited, 1);
	ck_assert_uint_eq(now->n_raw, 4 * 3);
	ck_assert_uint_eq(later->n_frame, now->n_frame);
	ck_assert_uint_eq(later->n_stack, now->n_stack);
	ck_assert_uint_eq(now->n_stack, 5);
	for (uint32_t i = 1; i <= now->n_raw; i++) {
		const uint32_t stack = frames_get_raw(now, i)->stack;
		uint8_t a[16], b[16];

		ck_assert_uint_eq(frames_get_raw(later, i)->stack, stack);
		ck_assert_uint_eq(frames_get_stack(now, stack)->depth,
				  i % 3 ? 3 : 1);
		frames_hash(now, stack, a);
		frames_hash(later, stack, b);
		ck_assert_mem_eq(a, b, 16);
	}
	frames_late_release(&late);
	frames_free(now);
	frames_free(later);
}
END_TEST

/* a;b;c of one file; the ids before it differ by `noise`. */
static void frame_hash_of(int noise, const char *path, uint8_t id,
			  uint8_t out[16])
{
	struct frames *fr = frames_new();

	for (int i = 0; i < noise; i++)
		frames_push(fr, 0,
			    frame_frame_at(fr, file_image(fr, "x", 0), 5));
	uint32_t img = file_image(fr, path, id);
	uint32_t s = frames_push(fr, 0, frame_frame_at(fr, img, 0x10));
	s = frames_push(fr, s, frame_frame_at(fr, img, 0x20));
	s = frames_push(fr, s, frame_frame_at(fr, img, 0x30));
	frames_hash(fr, s, out);
	frames_free(fr);
}

START_TEST(content_hash_does_not_depend_on_ids)
{
	uint8_t a[16], b[16];

	frame_hash_of(0, "/lib/a.so", 0, a);
	frame_hash_of(5, "/lib/a.so", 0, b);
	ck_assert_mem_eq(a, b, 16);
}
END_TEST

START_TEST(content_hash_takes_the_build_id_before_the_path)
{
	uint8_t a[16], b[16], c[16];

	frame_hash_of(0, "/lib/a.so", 9, a);
	frame_hash_of(0, "/other/a.so", 9, b);
	frame_hash_of(0, "/lib/a.so", 8, c);
	ck_assert_mem_eq(a, b, 16);
	ck_assert_mem_ne(a, c, 16);
}
END_TEST

START_TEST(content_hash_never_changes)
{
	/* Written into databases: another value breaks comparing old runs. */
	static const uint8_t want[16] = {
		0x58, 0x53, 0x52, 0x37, 0x26, 0x1f, 0x50, 0xc6,
		0x7b, 0x0c, 0x85, 0x1c, 0x33, 0x20, 0x24, 0x1d,
	};
	uint8_t got[16];

	frame_hash_of(0, "/lib/a.so", 0, got);
	ck_assert_mem_eq(got, want, 16);
}
END_TEST

START_TEST(content_hash_depends_on_order)
{
	struct frames *fr = frames_new();
	uint32_t img = file_image(fr, "a", 0);
	uint32_t f = frame_frame_at(fr, img, 1);
	uint32_t g = frame_frame_at(fr, img, 2);
	uint8_t a[16], b[16];

	frames_hash(fr, frames_push(fr, frames_push(fr, 0, f), g), a);
	frames_hash(fr, frames_push(fr, frames_push(fr, 0, g), f), b);
	ck_assert_mem_ne(a, b, 16);
	frames_free(fr);
}
END_TEST

START_TEST(symbols_keep_their_number_and_offset)
{
	struct frames *a = frames_new();
	struct frames *b = frames_new();
	uint64_t start, size;
	uint64_t at = frames_symbol(a, "do_exit", 0x90, 0x12);

	frames_symbol(b, "other", 0, 0);
	ck_assert_uint_eq(frames_symbol(b, "do_exit", 0x90, 0x12), at);
	/* another function of that name */
	ck_assert_uint_ne(frames_symbol(b, "do_exit", 0x80, 0x12), at);
	ck_assert_str_eq(frames_symbol_at(a, at, &start, &size), "do_exit");
	ck_assert_uint_eq(at - start, 0x12);
	ck_assert_uint_eq(size, 0x90);
	ck_assert_ptr_null(frames_symbol_at(a, 5, &start, &size));
	ck_assert(frames_symbol(a, "f", 0, 1u << 24) == NO_OFFSET);
	frames_free(a);
	frames_free(b);
}
END_TEST

RUN("frame", equal_things_have_equal_ids, images_differ_by_every_field,
    strings_are_copied, parents_come_before_and_depths_add_up,
    raw_chains_differ_by_stack_and_addresses,
    unwound_stacks_share_their_outer_addresses,
    frames_that_are_interned_later_have_the_same_ids,
    content_hash_does_not_depend_on_ids,
    content_hash_takes_the_build_id_before_the_path, content_hash_never_changes,
    content_hash_depends_on_order, symbols_keep_their_number_and_offset)
