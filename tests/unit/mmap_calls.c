/* mmap_calls.c - system calls that change mappings. */
#include "stitch/tasks/mmap_calls.h"

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/facts.h"

#define FIXED_FILE 0x12 /* MAP_FIXED | MAP_PRIVATE */
#define ANON_MEM 0x22

#define OPEN 1000 /* files at once */

static struct call call_of[4 * OPEN + 16];
static size_t n_calls;

static void reset(void)
{
	n_calls = 0;
}

static struct call *calls_event(struct fake *f, uint64_t time,
				enum call_what what, bool exit)
{
	struct call *c = &call_of[n_calls++];
	struct fake_rec *fr = fake_sample(f, time, 1, 0);

	*c = (struct call){ .what = what, .exit = exit, .nr = -1 };
	fr->rec.sample.event = 1;
	fr->rec.sample.call = c;
	return c;
}

static struct call *calls_begin(struct fake *f, uint64_t time,
				enum call_what what, uint64_t a0, uint64_t a1)
{
	struct call *c = calls_event(f, time, what, false);

	c->arg[0] = a0;
	c->arg[1] = a1;
	return c;
}

static void calls_end(struct fake *f, uint64_t time, enum call_what what,
		      int64_t ret)
{
	calls_event(f, time, what, true)->ret = ret;
}

static void calls_do_mmap(struct fake *f, uint64_t time, uint64_t at,
			  uint64_t len, uint64_t flags, uint64_t fd,
			  uint64_t off)
{
	struct call *c = calls_begin(f, time, CALL_MMAP, 0, len);

	c->arg[2] = 5;
	c->arg[3] = flags;
	c->arg[4] = fd;
	c->arg[5] = off;
	calls_end(f, time + 1, CALL_MMAP, (int64_t)at);
}

static void calls_sample(struct fake *f, uint64_t time, uint64_t ip)
{
	struct fake_rec *fr = fake_sample(f, time, 1, 0);

	fr->rec.sample.event = 1;
	fr->rec.sample.user.n = 1;
	fr->ip[0] = ip;
}

/* "path+off" of the user frame of the i-th sample with one */
static const char *calls_place(const struct all_facts *all, size_t i)
{
	static char text[128];
	const struct frame *fr = NULL;

	for (size_t k = 0; k < all->n && !fr; k++) {
		const struct fact *f = &all->fact[k];

		if (f->kind != FACT_EVENT || !f->event.uraw || i--)
			continue;
		fr = frames_get_frame(
			all->frames,
			frames_get_stack(
				all->frames,
				frames_get_raw(all->frames, f->event.uraw)
					->stack)
				->frame);
	}
	ck_assert_ptr_nonnull(fr);
	snprintf(text, sizeof(text), "%s+%x",
		 frames_get_image(all->frames, fr->image)->path, (int)fr->off);
	return text;
}

/* Processes of that id. */
static int calls_count(const struct all_facts *all, int32_t pid)
{
	int n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->fact[i].kind == FACT_PROCESS &&
		     all->fact[i].process.pid == pid;
	return n;
}

START_TEST(a_mapping_of_a_file_without_a_name_cuts_older_ones)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_do_mmap(f, 10, 0x11000, 0x1800, FIXED_FILE, 3, 0x5000);
	calls_sample(f, 20, 0x10010);
	calls_sample(f, 21, 0x11010);
	calls_sample(f, 22, 0x12f10);
	calls_sample(f, 23, 0x13010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	ck_assert_str_eq(calls_place(&all, 1), "[unnamed file]+5010");
	ck_assert_str_eq(calls_place(&all, 2), "[unnamed file]+6f10");
	ck_assert_str_eq(calls_place(&all, 3), "/lib/a+3010");
	facts_done(&all);
}
END_TEST

START_TEST(what_is_unmapped_is_unknown_from_then_on)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_sample(f, 5, 0x11010);
	calls_begin(f, 10, CALL_MUNMAP, 0x11000, 0x1000);
	calls_end(f, 11, CALL_MUNMAP, 0);
	calls_sample(f, 20, 0x11010);
	calls_sample(f, 21, 0x12010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+1010");
	ck_assert_str_eq(calls_place(&all, 1), "[unknown]+0");
	ck_assert_str_eq(calls_place(&all, 2), "/lib/a+2010");
	facts_done(&all);
}
END_TEST

START_TEST(a_mapping_that_moves_stays_of_its_file)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_begin(f, 10, CALL_MREMAP, 0x11000, 0x1000)->arg[2] = 0x2000;
	calls_end(f, 11, CALL_MREMAP, 0x50000);
	calls_sample(f, 20, 0x11010);
	calls_sample(f, 21, 0x51010);
	calls_sample(f, 22, 0x10010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "[unknown]+0");
	ck_assert_str_eq(calls_place(&all, 1), "/lib/a+2010");
	ck_assert_str_eq(calls_place(&all, 2), "/lib/a+10");
	facts_done(&all);
}
END_TEST

START_TEST(calls_that_fail_change_nothing)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_begin(f, 10, CALL_MUNMAP, 0x10000, 0x4000);
	calls_end(f, 11, CALL_MUNMAP, -22);
	calls_do_mmap(f, 12, (uint64_t)-12, 0x4000, FIXED_FILE, 3, 0);
	/* a range that is none */
	calls_begin(f, 14, CALL_MUNMAP, 0x10000, UINT64_MAX);
	calls_end(f, 15, CALL_MUNMAP, 0);
	calls_begin(f, 16, CALL_MUNMAP, 0x10008, 0x4000);
	calls_end(f, 17, CALL_MUNMAP, 0);
	calls_sample(f, 20, 0x10010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	facts_done(&all);
}
END_TEST

START_TEST(no_call_has_two_ends_across_a_loss)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_begin(f, 10, CALL_MUNMAP, 0x10000, 0x4000);
	fake_lost(f, 12, 0, 5);
	calls_end(f, 13, CALL_MUNMAP, 0);
	calls_sample(f, 20, 0x10010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	facts_done(&all);
}
END_TEST

START_TEST(the_end_of_another_call_is_not_its_end)
{
	struct fake *f = fake_new();

	reset();
	f->src.info.arch = "x86_64";
	fake_map(f, 1, 1, 0x10000, 0x4000, "/lib/a");
	calls_begin(f, 10, CALL_RAW, 0x10000, 0x4000)->nr = 11;
	calls_event(f, 11, CALL_RAW, true)->nr = 0;
	calls_sample(f, 12, 0x10010);
	calls_begin(f, 20, CALL_RAW, 0x10000, 0x4000)->nr = 11;
	calls_event(f, 21, CALL_RAW, true)->nr = 11;
	calls_sample(f, 22, 0x10010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	ck_assert_str_eq(calls_place(&all, 1), "[unknown]+0");
	facts_done(&all);
}
END_TEST

START_TEST(a_mapping_record_of_the_same_call_says_more)
{
	struct fake *f = fake_new();

	reset();
	calls_begin(f, 10, CALL_MMAP, 0, 0x4000)->arg[4] = 3;
	fake_map(f, 11, 1, 0x10000, 0x4000, "/lib/a");
	calls_end(f, 12, CALL_MMAP, 0x10000);
	calls_sample(f, 20, 0x10010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	facts_done(&all);
}
END_TEST

/* As the dynamic linker does: all of it first, then parts over it. */
START_TEST(a_known_mapping_tells_which_file_is_open)
{
	struct fake *f = fake_new();

	reset();
	fake_map(f, 1, 1, 0x10000, 0x1000, "/lib/a");
	calls_do_mmap(f, 10, 0x10000, 0x4000, 2, 3, 0);
	calls_do_mmap(f, 12, 0x12000, 0x1000, FIXED_FILE, 3, 0x8000);
	calls_begin(f, 14, CALL_CLOSE, 3, 0);
	calls_end(f, 15, CALL_CLOSE, 0);
	calls_do_mmap(f, 16, 0x20000, 0x1000, 2, 3, 0);
	calls_sample(f, 20, 0x10010);
	calls_sample(f, 21, 0x11010);
	calls_sample(f, 22, 0x12010);
	calls_sample(f, 23, 0x20010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/a+10");
	ck_assert_str_eq(calls_place(&all, 1), "/lib/a+1010");
	ck_assert_str_eq(calls_place(&all, 2), "/lib/a+8010");
	ck_assert_str_eq(calls_place(&all, 3), "[unnamed file]+10");
	facts_done(&all);
}
END_TEST

START_TEST(an_open_that_says_its_path_names_the_mapping)
{
	struct fake *f = fake_new();

	reset();
	calls_begin(f, 10, CALL_OPENAT, 0, 0)->path = "/lib/b";
	calls_begin(f, 10, CALL_OPENAT, 0, 0)->arg[5] =
		9; /* of another buffer */
	calls_end(f, 11, CALL_OPENAT, 4);
	calls_do_mmap(f, 12, 0x10000, 0x4000, 2, 4, 0x1000);
	calls_do_mmap(f, 14, 0x20000, 0x4000, ANON_MEM, UINT32_MAX, 0);
	calls_sample(f, 20, 0x10010);
	calls_sample(f, 21, 0x20010);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/b+1010");
	ck_assert_str_eq(calls_place(&all, 1), "//anon+20010");
	facts_done(&all);
}
END_TEST

START_TEST(a_copy_of_a_descriptor_is_not_the_file_that_it_was)
{
	struct fake *f = fake_new();

	reset();
	f->src.info.arch = "x86_64";
	for (uint64_t fd = 3; fd < 6; fd++) {
		calls_begin(f, 10 + fd, CALL_OPENAT, 0, 0)->path =
			fd == 3 ? "/lib/3" : "/lib/4";
		calls_end(f, 10 + fd, CALL_OPENAT, (int64_t)fd);
	}
	calls_begin(f, 20, CALL_DUP, 3, 4);
	calls_end(f, 21, CALL_DUP, 4);
	/* a file that was open before the capture; dup2 by its number */
	calls_begin(f, 22, CALL_RAW, 9, 5)->nr = 33;
	calls_event(f, 23, CALL_RAW, true)->nr = 33;
	call_of[n_calls - 1].ret = 5;
	/* these change nothing */
	calls_begin(f, 24, CALL_DUP, 4, 4);
	calls_end(f, 25, CALL_DUP, 4);
	calls_begin(f, 26, CALL_DUP, 9, 3);
	calls_end(f, 27, CALL_DUP, -9);
	for (uint64_t fd = 3; fd < 6; fd++) {
		calls_do_mmap(f, 30 + 2 * fd, fd << 16, 0x4000, 2, fd, 0);
		calls_sample(f, 50 + fd, (fd << 16) + 0x10);
	}
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_str_eq(calls_place(&all, 0), "/lib/3+10");
	ck_assert_str_eq(calls_place(&all, 1), "/lib/3+10");
	ck_assert_str_eq(calls_place(&all, 2), "[unnamed file]+10");
	facts_done(&all);
}
END_TEST

/* Hashes differ in each run: which files are remembered must not. */
START_TEST(many_files_may_be_open_at_once)
{
	struct fake *f = fake_new();
	static char path[OPEN][16];

	reset();
	for (int i = 0; i < OPEN; i++) {
		snprintf(path[i], sizeof(path[i]), "/lib/%d", i);
		calls_begin(f, 10 + (uint64_t)i, CALL_OPENAT, 0, 0)->path =
			path[i];
		calls_end(f, 10 + (uint64_t)i, CALL_OPENAT, 3 + i);
	}
	for (uint64_t i = 0; i < OPEN; i++) {
		calls_do_mmap(f, 10000 + 2 * i, i << 16, 0x1000, 2, 3 + i, 0);
		calls_sample(f, 20000 + i, (i << 16) + 0x10);
	}
	struct all_facts all = stitch_all(&f, 1);

	for (size_t i = 1; i < OPEN; i++) {
		char want[32];

		snprintf(want, sizeof(want), "/lib/%zu+10", i);
		ck_assert_str_eq(calls_place(&all, i), want);
	}
	facts_done(&all);
}
END_TEST

/* 20 and 21 are threads of which nothing else is said. */
START_TEST(who_has_called_exec_is_the_first_of_its_process)
{
	struct fake *f = fake_new();

	reset();
	for (int32_t tid = 20; tid < 22; tid++) {
		struct call *c = &call_of[n_calls++];
		struct fake_rec *fr = fake_sample(f, 10, tid, 0);

		*c = (struct call){ .what = CALL_EXECVE,
				    .exit = true,
				    .ret = tid == 20 ? 0 : -2,
				    .nr = -1 };
		fr->rec.pid = -1;
		fr->rec.sample.event = 1;
		fr->rec.sample.call = c;
	}
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_int_eq(calls_count(&all, 20), 1);
	ck_assert_int_eq(calls_count(&all, 21), 0);
	facts_done(&all);
}
END_TEST

RUN("mmap_calls", a_mapping_of_a_file_without_a_name_cuts_older_ones,
    what_is_unmapped_is_unknown_from_then_on,
    a_mapping_that_moves_stays_of_its_file, calls_that_fail_change_nothing,
    no_call_has_two_ends_across_a_loss, the_end_of_another_call_is_not_its_end,
    a_mapping_record_of_the_same_call_says_more,
    a_known_mapping_tells_which_file_is_open,
    an_open_that_says_its_path_names_the_mapping,
    a_copy_of_a_descriptor_is_not_the_file_that_it_was,
    many_files_may_be_open_at_once,
    who_has_called_exec_is_the_first_of_its_process)
