/* ftrace_cut.c - what is seen in a page of a live ring, whole or hostile. */
#include "formats/ftrace/cut.h"

#include "tests/unit/ftrace_build.h"

#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define HARDIRQ 8

static const char layout[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:496;\tsigned:1;\n";

/* What the callback was told. */
struct seen {
	uint32_t n;
	uint16_t event;
	int32_t tid;
};

static struct ftrace_cut *cutter;
static struct fb_ring ring;

static void begin(void)
{
	cutter = ftrace_cut_new(layout, sizeof(layout) - 1, NULL);
	ck_assert_ptr_nonnull(cutter);
	ftrace_cut_stack(cutter, FB_KSTACK);
	ftrace_cut_stack(cutter, FB_USTACK);
	fb_ring(&ring, 0, BIG);
	fb_page(&ring, 1000);
}

static void end(void)
{
	free(ring.p.d);
	ftrace_cut_free(cutter);
}

static void note(void *arg, uint16_t event, int32_t tid)
{
	struct seen *s = arg;

	s->n++;
	s->event = event;
	s->tid = tid;
}

static struct ftrace_cut_page look(struct seen *s)
{
	struct ftrace_cut_page got;

	*s = (struct seen){ 0 };
	ftrace_cut_look(cutter, ring.p.d, note, s, &got);
	return got;
}

START_TEST(the_header_page_tells_the_size_of_a_page)
{
	struct err err = { 0 };

	ck_assert_uint_eq(ftrace_cut_size(cutter), FB_PAGE);
	ck_assert_ptr_null(ftrace_cut_new("nothing", 7, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
}
END_TEST

START_TEST(the_id_of_an_event_is_in_its_format)
{
	const char *text = fb_mine[0];

	ck_assert_int_eq(ftrace_cut_id(text, strlen(text)), FB_PLAIN);
	ck_assert_int_eq(ftrace_cut_id("name: x\nID: 65536\n", 18), -1);
	ck_assert_int_eq(ftrace_cut_id("name: x\n", 8), -1);
	ck_assert_int_eq(ftrace_cut_id("", 0), -1);
}
END_TEST

START_TEST(entries_and_their_threads_are_seen)
{
	struct seen s;

	fb_plain(&ring, 1, 7, 1);
	fb_plain(&ring, 1, 8, 2);
	fb_page_end(&ring, 0, 0);
	struct ftrace_cut_page got = look(&s);

	ck_assert_uint_eq(got.events, 2);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_int_eq(s.event, FB_PLAIN);
	ck_assert_int_eq(s.tid, 8);
	ck_assert(!got.damaged);
	ck_assert_uint_eq(got.n_lost, 0);
}
END_TEST

START_TEST(the_number_of_lost_events_is_seen)
{
	struct seen s;

	fb_plain(&ring, 1, 7, 1);
	fb_page_end(&ring, FB_LOST | FB_STORED, 41);
	ck_assert_uint_eq(look(&s).n_lost, 41);
}
END_TEST

START_TEST(a_stack_at_the_begin_belongs_to_the_page_before)
{
	fb_stack(&ring, FB_KSTACK, 0, 7, 2, 0x1000, 2);
	fb_plain(&ring, 1, 7, 1);
	fb_page_end(&ring, 0, 0);
	ck_assert(ftrace_cut_is_late(cutter, ring.p.d));
}
END_TEST

START_TEST(a_stack_behind_its_event_does_not)
{
	fb_plain(&ring, 1, 7, 1);
	fb_stack(&ring, FB_KSTACK, 0, 7, 2, 0x1000, 2);
	fb_stack(&ring, FB_USTACK, 0, 7, 7, 0x1000, 2);
	fb_page_end(&ring, 0, 0);
	ck_assert(!ftrace_cut_is_late(cutter, ring.p.d));
}
END_TEST

START_TEST(a_stack_behind_an_interrupt_is_of_the_task_before_it)
{
	size_t at = fb_begin(&ring, 1, FB_PLAIN, HARDIRQ, 7);

	pb_u64(&ring.p, 1);
	fb_end(&ring, at);
	fb_stack(&ring, FB_KSTACK, 0, 7, 2, 0x1000, 2);
	fb_page_end(&ring, 0, 0);
	ck_assert(ftrace_cut_is_late(cutter, ring.p.d));
}
END_TEST

START_TEST(a_stack_behind_lost_events_belongs_to_nothing)
{
	fb_stack(&ring, FB_KSTACK, 0, 7, 2, 0x1000, 2);
	fb_page_end(&ring, FB_LOST, 0);
	ck_assert(!ftrace_cut_is_late(cutter, ring.p.d));
}
END_TEST

START_TEST(a_page_with_a_wrong_length_is_damaged)
{
	struct seen s;

	fb_plain(&ring, 1, 7, 1);
	fb_page_end(&ring, 0, 0);
	pb_patch(&ring.p, 8, 497, 8);
	ck_assert(look(&s).damaged);
	ck_assert(!ftrace_cut_is_late(cutter, ring.p.d));
	pb_patch(&ring.p, 8, 10, 8);
	ck_assert(look(&s).damaged);
}
END_TEST

/* Under sanitizers: nothing behind the page is read. */
START_TEST(any_bytes_are_walked_to_an_end)
{
	uint64_t r = 1;
	struct seen s;

	for (int i = 0; i < 20000; i++) {
		unsigned char *page = mem_new(FB_PAGE, 1);

		for (size_t j = 0; j < FB_PAGE; j++)
			page[j] =
				(unsigned char)rnd_below(&r, i % 2 ? 256 : 32);
		if (i % 3)
			memset(page + 9, 0, 7);
		struct ftrace_cut_page got;

		s = (struct seen){ 0 };
		ftrace_cut_look(cutter, page, note, &s, &got);
		must(got.events == s.n && got.events <= FB_PAGE / 4 &&
		     got.len <= FB_PAGE - 16);
		ftrace_cut_is_late(cutter, page);
		free(page);
	}
}
END_TEST

RUN_WITH("ftrace_cut", begin, end, the_header_page_tells_the_size_of_a_page,
	 the_id_of_an_event_is_in_its_format,
	 entries_and_their_threads_are_seen, the_number_of_lost_events_is_seen,
	 a_stack_at_the_begin_belongs_to_the_page_before,
	 a_stack_behind_its_event_does_not,
	 a_stack_behind_an_interrupt_is_of_the_task_before_it,
	 a_stack_behind_lost_events_belongs_to_nothing,
	 a_page_with_a_wrong_length_is_damaged, any_bytes_are_walked_to_an_end)
