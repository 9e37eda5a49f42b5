/* snapshots.c - saved lists of mappings: when each holds. */
#include "stitch/tasks/late_maps.h"

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/facts.h"

static const struct rec_map first[] = {
	{ .start = 0x1000, .len = 0x1000, .path = "/bin/a" },
	{ .start = 0x4000,
	  .len = 0x1000,
	  .pgoff = 0x3000,
	  .path = "/lib/l",
	  .derived = true },
};
static const struct rec_map second[] = {
	{ .start = 0x1000, .len = 0x1000, .path = "/bin/a" },
	{ .start = 0x8000, .len = 0x1000, .path = "/lib/m" },
};

static void snapshots_sample(struct fake *f, uint64_t time, int32_t tid,
			     uint64_t ip)
{
	struct fake_rec *fr = fake_sample(f, time, tid, 0);

	fr->rec.sample.event = 1;
	fr->rec.sample.user.n = 1;
	fr->ip[0] = ip;
}

/* "path+off" of the innermost user frame of event i, with a ? when derived */
static const char *snapshots_place(const struct all_facts *all, size_t i)
{
	static char text[128];
	const struct fact *f = fact_at(all, FACT_EVENT, i);
	const struct raw_chain *raw =
		frames_get_raw(all->frames, f->event.uraw);
	const struct frame *fr = frames_get_frame(
		all->frames, frames_get_stack(all->frames, raw->stack)->frame);

	snprintf(text, sizeof(text), "%s+%x%s",
		 frames_get_image(all->frames, fr->image)->path, (int)fr->off,
		 fr->flags & FRAME_DERIVED ? "?" : "");
	return text;
}

START_TEST(a_list_without_a_time_holds_from_the_start)
{
	const struct snapshot s = { 1, TIME_NONE, first, 2 };
	struct fake *f = fake_new();

	f->src.info.maps = &s;
	f->src.info.n_maps = 1;
	snapshots_sample(f, 10, 1, 0x1010);
	snapshots_sample(f, 11, 1, 0x4010);
	snapshots_sample(f, 12, 1, 0x5010);
	snapshots_sample(f, 13, 2, 0x1010); /* another process */
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "/bin/a+10");
	ck_assert_str_eq(snapshots_place(&all, 1), "/lib/l+3010?");
	ck_assert_str_eq(snapshots_place(&all, 2), "[unknown]+0");
	ck_assert_str_eq(snapshots_place(&all, 3), "[unknown]+0");
	facts_done(&all);
}
END_TEST

START_TEST(a_list_without_a_time_holds_again_after_exec)
{
	const struct snapshot s = { 1, TIME_NONE, first, 2 };
	struct fake *f = fake_new();

	f->src.info.maps = &s;
	f->src.info.n_maps = 1;
	fake_map(f, 5, 1, 0x4000, 0x1000, "/lib/other");
	snapshots_sample(f, 10, 1, 0x4010);
	fake_comm(f, 20, 1, "b", true);
	snapshots_sample(f, 30, 1, 0x4010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "/lib/other+10");
	ck_assert_str_eq(snapshots_place(&all, 1), "/lib/l+3010?");
	facts_done(&all);
}
END_TEST

START_TEST(a_list_with_a_time_replaces_all_from_then_on)
{
	const struct snapshot s[] = { { 1, 20, first, 2 },
				      { 1, 40, second, 2 } };
	struct fake *f = fake_new();

	f->src.info.maps = s;
	f->src.info.n_maps = 2;
	snapshots_sample(f, 10, 1, 0x1010);
	snapshots_sample(f, 21, 1, 0x1010);
	snapshots_sample(f, 30, 1, 0x4010);
	snapshots_sample(f, 50, 1, 0x4010);
	snapshots_sample(f, 51, 1, 0x8010);
	snapshots_sample(f, 52, 1, 0x1010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "[unknown]+0");
	ck_assert_str_eq(snapshots_place(&all, 1), "/bin/a+10");
	ck_assert_str_eq(snapshots_place(&all, 2), "/lib/l+3010?");
	ck_assert_str_eq(snapshots_place(&all, 3), "[unknown]+0");
	ck_assert_str_eq(snapshots_place(&all, 4), "/lib/m+10");
	ck_assert_str_eq(snapshots_place(&all, 5), "/bin/a+10");
	/* what is in both is one mapping */
	ck_assert_uint_eq(fact_count(&all, FACT_MAPPING), 3);
	facts_done(&all);
}
END_TEST

START_TEST(a_list_dated_at_an_exec_is_of_the_new_program)
{
	const struct snapshot s = { 1, 20, first, 2 };
	struct fake *f = fake_new();

	f->src.info.maps = &s;
	f->src.info.n_maps = 1;
	snapshots_sample(f, 10, 1, 0x1010);
	fake_comm(f, 20, 1, "b", true);
	snapshots_sample(f, 30, 1, 0x1010);
	fake_comm(f, 40, 1, "c", true);
	snapshots_sample(f, 50, 1, 0x1010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "[unknown]+0");
	ck_assert_str_eq(snapshots_place(&all, 1), "/bin/a+10");
	/* not in its registers any more: the third program's */
	ck_assert_uint_eq(fact_count(&all, FACT_MAPPING), 2);
	facts_done(&all);
}
END_TEST

START_TEST(a_newer_mapping_cuts_what_a_list_says)
{
	const struct snapshot s = { 1, TIME_NONE, first, 2 };
	struct fake *f = fake_new();

	f->src.info.maps = &s;
	f->src.info.n_maps = 1;
	snapshots_sample(f, 10, 1, 0x4010);
	fake_map(f, 20, 1, 0x4000, 0x1000, "/lib/new");
	snapshots_sample(f, 30, 1, 0x4010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "/lib/l+3010?");
	ck_assert_str_eq(snapshots_place(&all, 1), "/lib/new+10");
	facts_done(&all);
}
END_TEST

START_TEST(a_list_of_an_id_makes_a_thread_of_no_process_that_process)
{
	const struct snapshot s = { 7, TIME_NONE, first, 2 };
	struct fake *f = fake_new();

	f->src.info.maps = &s;
	f->src.info.n_maps = 1;
	snapshots_sample(f, 10, 7, 0x1010);
	f->rec[0].rec.pid = -1;
	snapshots_sample(f, 11, 8, 0x1010);
	f->rec[1].rec.pid = -1;
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(snapshots_place(&all, 0), "/bin/a+10");
	ck_assert_str_eq(snapshots_place(&all, 1), "[unknown]+0");
	facts_done(&all);
}
END_TEST

START_TEST(only_lists_of_the_lowest_rank_count)
{
	const struct snapshot a = { 1, 10, first, 2 };
	const struct snapshot b = { 1, TIME_NONE, second, 2 };
	struct snapshots *sn = snapshots_new();
	int64_t next;

	snapshots_add(sn, &b, 2);
	snapshots_add(sn, &a, 1);
	ck_assert_ptr_null(snapshots_find(sn, 1, 5, &next));
	ck_assert_int_eq(next, 11);
	ck_assert_ptr_eq(snapshots_find(sn, 1, 15, &next)->map, first);
	ck_assert_int_eq(next, INT64_MAX);
	ck_assert(snapshots_has(sn, 1));
	ck_assert(!snapshots_has(sn, 2));
	ck_assert_ptr_null(snapshots_exec(sn, 1, 15));
	snapshots_free(sn);
}
END_TEST

RUN("snapshots", a_list_without_a_time_holds_from_the_start,
    a_list_without_a_time_holds_again_after_exec,
    a_list_with_a_time_replaces_all_from_then_on,
    a_list_dated_at_an_exec_is_of_the_new_program,
    a_newer_mapping_cuts_what_a_list_says,
    a_list_of_an_id_makes_a_thread_of_no_process_that_process,
    only_lists_of_the_lowest_rank_count)
