/* partial_maps.c - mappings of which only the file and its lowest address are
 * known.
 */
#include "stitch/tasks/late_maps.h"

#include "stitch/tasks/frame.h"
#include "stitch/tasks/space.h"
#include "tests/unit/run.h"

static struct frames *fr;
static unsigned int asked;

static uint32_t whole_image(const char *path)
{
	const struct image img = { .kind = IMAGE_FILE, .path = path };

	return frames_image(fr, &img);
}

/* As a linker with its segments apart in memory and together in the file. */
static size_t parts(void *arg, const struct image *img, struct file_part *out,
		    size_t max)
{
	(void)arg;
	asked++;
	ck_assert_uint_ge(max, 2);
	if (strcmp(img->path, "/lld"))
		return 0;
	out[0] = (struct file_part){ 0, 0x1000, 0 };
	out[1] = (struct file_part){ 0x2000, 0x5000, 0x1000 };
	return 2;
}

START_TEST(each_segment_has_its_own_offset)
{
	fr = frames_new();
	struct partial_maps wh = { .fr = fr, .fn = parts };
	struct region r;
	const struct region all = {
		.start = 0x7000,
		.end = 0xa000,
		.image = whole_image("/lld"),
	};

	asked = 0;
	ck_assert_int_eq(partial_maps_get(&wh, &all, 0, &r), 1);
	ck_assert_uint_eq(r.start, 0x7000);
	ck_assert_uint_eq(r.end, 0x8000);
	ck_assert_uint_eq(r.pgoff, 0);
	ck_assert(!r.derived);
	ck_assert_int_eq(partial_maps_get(&wh, &all, 1, &r), 1);
	ck_assert_uint_eq(r.start, 0x9000);
	ck_assert_uint_eq(r.end, 0xa000); /* what was said to be mapped */
	ck_assert_uint_eq(r.pgoff, 0x1000);
	ck_assert_int_eq(partial_maps_get(&wh, &all, 2, &r), 0);
	ck_assert_uint_eq(asked, 1);
	partial_maps_release(&wh);
	frames_free(fr);
}
END_TEST

START_TEST(file_that_is_not_here_has_addresses_for_offsets)
{
	fr = frames_new();
	struct partial_maps none = { .fr = fr };
	struct partial_maps wh = { .fr = fr, .fn = parts };
	struct region r;
	const struct region all = {
		.start = 0x7000,
		.end = 0x9000,
		.image = whole_image("/gone"),
	};

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(partial_maps_get(i ? &wh : &none, &all, 0, &r),
				 1);
		ck_assert_uint_eq(r.start, 0x7000);
		ck_assert_uint_eq(r.end, 0x9000);
		ck_assert_uint_eq(r.pgoff, 0);
		ck_assert(r.derived);
		ck_assert_int_eq(partial_maps_get(i ? &wh : &none, &all, 1, &r),
				 0);
	}
	partial_maps_release(&wh);
	frames_free(fr);
}
END_TEST

RUN("partial_maps", each_segment_has_its_own_offset,
    file_that_is_not_here_has_addresses_for_offsets)
