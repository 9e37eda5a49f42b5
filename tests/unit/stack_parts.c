/* stack_parts.c - stacks of several unwinders, put together. */
#include "stitch/join/unwinders.h"

#include "stitch/tasks/frame.h"
#include "stitch/record.h"
#include "stitch/verdict.h"
#include "stitch/base/table.h"
#include "stitch/tasks/tasks.h"
#include "tests/unit/run.h"

static struct frames *fr;
static struct stack_parts ps;

static void parts_start(void)
{
	fr = frames_new();
	ps = (struct stack_parts){ .n = 0 };
}

static void parts_stop(void)
{
	ck_assert_uint_eq(ps.n, 0);
	stack_parts_release(&ps);
	frames_free(fr);
}

/* A part with the addresses first, first + 1, ... */
static bool parts_part(uint32_t slot, uint16_t k, uint16_t n, uint64_t meet,
		       uint64_t first, uint32_t count, struct join_chain *jc)
{
	const struct rec_chain c = { .part = k, .parts = n, .meet = meet };
	uint64_t ip[16];
	uint32_t stack = 0;

	for (uint32_t i = 0; i < count; i++)
		ip[i] = first + i;
	for (uint32_t i = count; i-- > 0;) {
		const struct image img = { .kind = IMAGE_FILE, .path = "/a" };
		const struct frame f = { .image = frames_image(fr, &img),
					 .off = ip[i] };

		stack = frames_push(fr, stack, frames_frame(fr, &f));
	}
	const struct addrs a = { .ip = ip, .n = count };

	*jc = (struct join_chain){ .cookie = 1, .id = slot };
	if (count)
		jc->uraw = frames_raw(fr, stack, &a, hash_u64s(ip, count, 0));
	ck_assert(k < 2 || stack_parts_wants(&ps, slot, &c, jc));
	return stack_parts_add(&ps, fr, slot, &c, jc);
}

/* The frames of the stack say what the addresses say. */
static void parts_expect(const struct join_chain *jc, const uint64_t *want,
			 uint32_t n, bool unproved)
{
	ck_assert_uint_eq(jc->flags,
			  VERDICT_PARTS | (unproved ? VERDICT_UNPROVED : 0));
	ck_assert_uint_eq(jc->n, n);
	if (!n) {
		ck_assert_uint_eq(jc->uraw, 0);
		return;
	}
	const struct raw_chain *r = frames_get_raw(fr, jc->uraw);
	uint32_t stack = r->stack;

	ck_assert_uint_eq(r->n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct stack *s = frames_get_stack(fr, stack);

		ck_assert_uint_eq(r->inner[i], want[i]);
		ck_assert_uint_eq(frames_get_frame(fr, s->frame)->off, want[i]);
		stack = s->parent;
	}
	ck_assert_uint_eq(stack, 0);
}

START_TEST(a_part_goes_in_where_it_says)
{
	struct join_chain jc;

	parts_start();
	ck_assert(!parts_part(1, 1, 2, 0, 10, 3, &jc));
	ck_assert(parts_part(1, 2, 2, 11, 50, 2, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11, 50, 51, 12 }, 5, false);
	ck_assert_uint_eq(jc.id, 1);
	/* behind the last one is a place like any other */
	ck_assert(!parts_part(1, 1, 2, 0, 10, 2, &jc));
	ck_assert(parts_part(1, 2, 2, 11, 50, 1, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11, 50 }, 3, false);
	parts_stop();
}
END_TEST

START_TEST(a_seam_that_is_not_said_is_unproved)
{
	struct join_chain jc;

	parts_start();
	ck_assert(!parts_part(1, 1, 2, 0, 10, 2, &jc));
	ck_assert(parts_part(1, 2, 2, 0, 50, 1, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11, 50 }, 3, true);
	/* nor is one at an address that is in no part */
	ck_assert(!parts_part(1, 1, 2, 0, 10, 2, &jc));
	ck_assert(parts_part(1, 2, 2, 99, 50, 1, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11, 50 }, 3, true);
	parts_stop();
}
END_TEST

START_TEST(a_part_that_is_missing_leaves_it_unproved)
{
	struct join_chain jc;
	uint32_t slot = 2;

	parts_start();
	ck_assert(!parts_part(1, 1, 3, 0, 10, 2, &jc));
	ck_assert(!stack_parts_take(&ps, fr, &slot, &jc));
	slot = 1;
	ck_assert(stack_parts_take(&ps, fr, &slot, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11 }, 2, true);
	/* one in the middle */
	ck_assert(!parts_part(1, 1, 3, 0, 10, 2, &jc));
	ck_assert(parts_part(1, 3, 3, 10, 50, 1, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 50, 11 }, 3, true);
	parts_stop();
}
END_TEST

START_TEST(threads_have_parts_of_their_own)
{
	struct join_chain jc;
	uint32_t slot = TASKS_NONE;

	parts_start();
	ck_assert(!parts_part(1, 1, 2, 0, 10, 1, &jc));
	ck_assert(!parts_part(2, 1, 2, 0, 20, 1, &jc));
	ck_assert(parts_part(1, 2, 2, 10, 11, 1, &jc));
	parts_expect(&jc, (uint64_t[]){ 10, 11 }, 2, false);
	ck_assert(stack_parts_take(&ps, fr, &slot, &jc));
	ck_assert_uint_eq(slot, 2);
	parts_expect(&jc, (uint64_t[]){ 20 }, 1, true);
	parts_stop();
}
END_TEST

START_TEST(what_has_no_room_is_not_held)
{
	struct join_chain jc;
	uint32_t slot = TASKS_NONE;

	parts_start();
	for (uint32_t i = 0; i < STACK_PARTS_HELD; i++)
		ck_assert(!parts_part(i, 1, 2, 0, 10, 1, &jc));
	ck_assert(parts_part(STACK_PARTS_HELD, 1, 2, 0, 10, 0, &jc));
	ck_assert_uint_eq(jc.flags, VERDICT_PARTS | VERDICT_UNPROVED);
	while (stack_parts_take(&ps, fr, &slot, &jc))
		slot = TASKS_NONE;
	parts_stop();
}
END_TEST

RUN("stack_parts", a_part_goes_in_where_it_says,
    a_seam_that_is_not_said_is_unproved,
    a_part_that_is_missing_leaves_it_unproved, threads_have_parts_of_their_own,
    what_has_no_room_is_not_held)
