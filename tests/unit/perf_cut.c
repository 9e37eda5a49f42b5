/* perf_cut.c - what a piece of a cut stream begins with. */
#include "formats/perf/cut.h"

#include <inttypes.h>
#include <time.h>

#include "formats/perf/cut_mark.h"
#include "formats/perf/cut_state.h"
#include "formats/reader/bounds.h"
#include "stitch/base/bytes.h"
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

#define UNREGISTER 1
#define EXEC (1 << 13)
#define KERNEL 1
#define USER 2

/* A stream, and what a piece behind it begins with. */
struct cutting {
	struct pb b;
	char *head;
	size_t len;
	uint64_t dropped, damaged;
	struct err why;
};

static void cutting_begin_of(struct cutting *t, uint64_t sample_type,
			     uint64_t flags)
{
	const struct pb_event e = { .attr_size = PB_ATTR,
				    .sample_type = sample_type,
				    .flags = flags };

	memset(t, 0, sizeof(*t));
	pb_begin_pipe(&t->b, false);
	pb_header_attr(&t->b, &e);
}

/* The records tell nothing beside their contents. */
static void cutting_begin(struct cutting *t)
{
	cutting_begin_of(t, 0, 0);
}

/* The records tell a thread and a time, and the samples `more`. */
static void cutting_begin_timed(struct cutting *t, uint64_t more)
{
	cutting_begin_of(t, PS_TID | PS_TIME | more, PA_SAMPLE_ID_ALL);
}

static void cutting_end(struct cutting *t)
{
	struct perf_cut *c = perf_cut_new("test");
	struct err err = { 0 };
	size_t at = 0;

	while (at < t->b.n) {
		uint64_t used;
		int ret =
			perf_cut_take(c, t->b.d + at, t->b.n - at, &used, &err);

		ck_assert_msg(ret == 1, "%s", err.msg);
		at += (size_t)used;
	}
	FILE *out = mem_stream(&t->head, &t->len);

	perf_cut_head(c, 0, out);
	mem_stream_end(out);
	t->dropped = perf_cut_dropped(c);
	t->damaged = perf_cut_damaged(c, &t->why);
	perf_cut_free(c);
	free(t->b.d);
}

/* The record at *at of what a piece begins with, which has the byte order of
 * the stream. Returns whether there is one, and moves *at behind it. */
static bool cutting_next(const struct cutting *t, size_t *at, uint32_t *type,
			 struct bytes *body)
{
	uint16_t misc, size;

	bytes_init(body, t->head + *at, t->len - *at, "head", *at,
		   bytes_must_swap(false));
	if (bytes_u32(body, type, NULL) || bytes_u16(body, &misc, NULL) ||
	    bytes_u16(body, &size, NULL))
		return false;
	*at += size;
	ck_assert_uint_le(*at, t->len);
	return true;
}

/* The u64 at an offset behind the header of the nth record of a type; 0 if
 * there is none. */
static uint64_t cutting_value(const struct cutting *t, uint32_t type, int nth,
			      size_t off)
{
	struct bytes body;
	size_t at = 16;
	uint32_t got;
	uint64_t v;

	while (cutting_next(t, &at, &got, &body)) {
		if (got != type || nth--)
			continue;
		ck_assert_int_eq(bytes_peek_u64(&body, off, &v), 0);
		return v;
	}
	return 0;
}

static int cutting_count(const struct cutting *t, uint32_t type)
{
	struct bytes body;
	size_t at = 16;
	uint32_t got;
	int n = 0;

	while (cutting_next(t, &at, &got, &body))
		n += got == type;
	return n;
}

static void put_map(struct cutting *t, uint16_t misc, uint32_t pid,
		    uint64_t start, uint64_t len)
{
	pb_rec(&t->b, PR_MMAP, misc);
	pb_u32(&t->b, pid);
	pb_u32(&t->b, pid);
	pb_u64(&t->b, start);
	pb_u64(&t->b, len);
	pb_u64(&t->b, 0);
	pb_str(&t->b, "/bin/x");
	pb_end(&t->b);
}

static void put_fork(struct cutting *t, uint16_t misc, uint32_t pid,
		     uint32_t ppid)
{
	pb_rec(&t->b, PR_FORK, misc);
	pb_u32(&t->b, pid);
	pb_u32(&t->b, ppid);
	pb_u32(&t->b, pid);
	pb_u32(&t->b, ppid);
	pb_u64(&t->b, 5);
	pb_end(&t->b);
}

static void put_ksymbol(struct cutting *t, uint64_t addr, uint16_t flags,
			const char *name)
{
	pb_rec(&t->b, PR_KSYMBOL, 0);
	pb_u64(&t->b, addr);
	pb_u32(&t->b, 64);
	pb_u16(&t->b, 1);
	pb_u16(&t->b, flags);
	pb_str(&t->b, name);
	pb_end(&t->b);
}

static void put_bpf(struct cutting *t, uint16_t type, uint32_t id)
{
	pb_rec(&t->b, PR_BPF_EVENT, 0);
	pb_u16(&t->b, type);
	pb_u16(&t->b, 0);
	pb_u32(&t->b, id);
	pb_u64(&t->b, 7);
	pb_end(&t->b);
}

static void put_cgroup(struct cutting *t, uint64_t id, const char *path)
{
	pb_rec(&t->b, PR_CGROUP, 0);
	pb_u64(&t->b, id);
	pb_str(&t->b, path);
	pb_end(&t->b);
}

START_TEST(forks_that_perf_made_up_inherit_no_mappings)
{
	struct cutting t;

	cutting_begin(&t);
	put_map(&t, USER, 10, 0x1000, 0x100);
	put_fork(&t, EXEC, 11, 10);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 1);
	free(t.head);

	cutting_begin(&t);
	put_map(&t, USER, 10, 0x1000, 0x100);
	put_fork(&t, 0, 11, 10);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 2);
	free(t.head);
}
END_TEST

START_TEST(kernel_code_that_was_unloaded_is_left_out)
{
	struct cutting t;

	cutting_begin(&t);
	put_ksymbol(&t, 0x100, 0, "first");
	put_ksymbol(&t, 0x200, 0, "second");
	put_ksymbol(&t, 0x100, UNREGISTER, "first");
	put_ksymbol(&t, 0x200, 0, "in its place");
	put_bpf(&t, 1, 3);
	put_bpf(&t, 1, 4);
	put_bpf(&t, 2, 3);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_KSYMBOL), 1);
	ck_assert_uint_eq(cutting_value(&t, PR_KSYMBOL, 0, 0), 0x200);
	ck_assert_int_eq(cutting_count(&t, PR_BPF_EVENT), 1);
	ck_assert_uint_eq(cutting_value(&t, PR_BPF_EVENT, 0, 0) >> 32, 4);
	free(t.head);
}
END_TEST

START_TEST(kernel_mappings_and_groups_are_replaced_by_the_same_place)
{
	struct cutting t;

	cutting_begin(&t);
	for (int i = 0; i < 5000; i++) {
		put_map(&t, KERNEL, UINT32_MAX, 0xffffffffc0000000, 0x1000);
		put_cgroup(&t, 9, "/a");
	}
	put_cgroup(&t, 10, "/b");
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 1);
	ck_assert_int_eq(cutting_count(&t, PR_CGROUP), 2);
	ck_assert_uint_eq(t.dropped, 0);
	free(t.head);
}
END_TEST

START_TEST(mappings_that_later_ones_cover_are_left_out)
{
	struct cutting t;

	cutting_begin(&t);
	put_map(&t, USER, 10, 0x10000, 0x100); /* partly covered by the next */
	put_map(&t, USER, 10, 0x10080, 0x100);
	/* covered by two together, and one of no bytes */
	put_map(&t, USER, 10, 0x20000, 0x200);
	put_map(&t, USER, 10, 0x20000, 0x100);
	put_map(&t, USER, 10, 0x20100, 0x100);
	put_map(&t, USER, 10, 0x30000, 0);
	/* the address space ends in it */
	put_map(&t, USER, 10, UINT64_MAX - 0xff, 0x100);
	for (uint64_t i = 0; i < 58; i++)
		put_map(&t, USER, 10, 0x40000, 0x100 + i);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 7);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 0, 8), 0x10000);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 1, 8), 0x10080);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 2, 8), 0x20000);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 2, 16), 0x100);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 5, 16), 0x100 + 56);
	free(t.head);
}
END_TEST

START_TEST(what_is_kept_is_bounded_and_what_is_dropped_is_counted)
{
	struct cutting t;
	int n = (int)CUT_STATE_MAX * 3;

	cutting_begin(&t);
	for (int i = 0; i < n; i++) {
		put_cgroup(&t, (uint64_t)i, "/a");
		put_map(&t, USER, 10, (uint64_t)(n - i) << 12, 0x1000);
	}
	cutting_end(&t);
	int groups = cutting_count(&t, PR_CGROUP);
	int maps = cutting_count(&t, PR_MMAP);

	ck_assert_int_le(groups, (int)CUT_STATE_MAX);
	ck_assert_int_le(maps, 2 * (int)CUT_STATE_MAX);
	ck_assert_uint_eq(t.dropped, (uint64_t)(2 * n - groups - maps));
	/* the newest are there */
	ck_assert_uint_eq(cutting_value(&t, PR_CGROUP, groups - 1, 0),
			  (uint64_t)(n - 1));
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, maps - 1, 8), 0x1000);
	free(t.head);
}
END_TEST

/* The trailer is thread and time. */
static void put_timed(struct cutting *t, uint32_t type, uint32_t pid,
		      uint64_t time)
{
	pb_rec(&t->b, type, 0);
	pb_u32(&t->b, pid);
	pb_u32(&t->b, type == PR_COMM ? pid : 1);
	if (type == PR_COMM) {
		pb_str(&t->b, "x");
	} else {
		pb_u32(&t->b, pid);
		pb_u32(&t->b, 1);
		pb_u64(&t->b, time);
	}
	pb_u64(&t->b, 0);
	pb_u64(&t->b, time);
	pb_end(&t->b);
}

static void put_round(struct cutting *t)
{
	pb_rec(&t->b, PR_FINISHED_ROUND, 0);
	pb_end(&t->b);
}

START_TEST(what_is_read_later_but_was_earlier_revives_no_thread)
{
	struct cutting t;

	cutting_begin_timed(&t, 0);
	for (uint32_t pid = 10; pid < 1000; pid++) {
		/* the ring of the CPU on which it ended is read first */
		put_timed(&t, PR_EXIT, pid, pid * 100 + 50);
		put_timed(&t, PR_COMM, pid, pid * 100 + 20);
		put_timed(&t, PR_FORK, pid, pid * 100 + 10);
		put_round(&t);
	}
	put_timed(&t, PR_COMM, 2000, 200000);
	put_round(&t);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_COMM), 1);
	ck_assert_int_eq(cutting_count(&t, PR_EXIT), 0);
	free(t.head);
}
END_TEST

START_TEST(large_records_that_wait_for_earlier_ones_are_bounded)
{
	static char name[60000];
	struct cutting t;

	memset(name, 'x', sizeof(name) - 1);
	cutting_begin_timed(&t, 0);
	/* 72 MB of one round: of names that are settled, the last one stays */
	for (uint64_t i = 1; i <= 1200; i++) {
		pb_rec(&t.b, PR_COMM, 0);
		pb_u32(&t.b, 10);
		pb_u32(&t.b, 10);
		pb_str(&t.b, name);
		pb_u64(&t.b, 0);
		pb_u64(&t.b, i);
		pb_end(&t.b);
	}
	cutting_end(&t);
	ck_assert_int_le(cutting_count(&t, PR_COMM), 700);
	ck_assert_uint_eq(t.dropped, 0);
	free(t.head);
}
END_TEST

/* Takes what was added to the stream behind *at. */
static void cutting_take(const struct cutting *t, struct perf_cut *c,
			 size_t *at)
{
	while (*at < t->b.n) {
		struct err err = { 0 };
		uint64_t used;

		ck_assert_int_eq(perf_cut_take(c, t->b.d + *at, t->b.n - *at,
					       &used, &err),
				 1);
		*at += (size_t)used;
	}
}

static void put_sample(struct cutting *t, uint64_t time)
{
	pb_rec(&t->b, PR_SAMPLE, 0);
	pb_u64(&t->b, 0x401000);
	pb_u32(&t->b, 10);
	pb_u32(&t->b, 10);
	pb_u64(&t->b, time);
	pb_end(&t->b);
}

START_TEST(what_a_ring_had_before_the_end_of_a_piece_is_of_that_piece)
{
	struct perf_cut *c = perf_cut_new("test");
	struct cutting t;
	size_t at = 0;

	cutting_begin_timed(&t, PS_IP);
	put_sample(&t, 2000);
	put_round(&t);
	cutting_take(&t, c, &at);
	ck_assert(!perf_cut_is_old(c));

	FILE *out = mem_stream(&t.head, &t.len);

	perf_cut_head(c, 0, out);
	mem_stream_end(out);
	put_sample(&t, 2000);
	cutting_take(&t, c, &at);
	ck_assert(perf_cut_is_old(c));
	put_sample(&t, 2001);
	cutting_take(&t, c, &at);
	ck_assert(!perf_cut_is_old(c));
	put_timed(&t, PR_EXIT, 10, 1999);
	cutting_take(&t, c, &at);
	ck_assert(perf_cut_is_old(c) && perf_cut_taken(c)->is_state);
	put_timed(&t, PR_EXIT, 11, 2002);
	cutting_take(&t, c, &at);
	ck_assert(!perf_cut_is_old(c) && perf_cut_taken(c)->is_state);
	put_timed(&t, PR_COMM, 12, 0);
	cutting_take(&t, c, &at);
	ck_assert(perf_cut_is_old(c));
	perf_cut_free(c);
	free(t.b.d);
	free(t.head);
}
END_TEST

START_TEST(records_that_the_reader_calls_damaged_are_not_kept)
{
	struct cutting t;

	cutting_begin_timed(&t, 0);
	put_timed(&t, PR_COMM, 10, 1000);
	/* too short; of no thread that there can be; years later */
	pb_rec(&t.b, PR_COMM, 0);
	pb_u64(&t.b, 11);
	pb_end(&t.b);
	put_timed(&t, PR_COMM, THREAD_ID_MAX + 1, 1010);
	put_timed(&t, PR_COMM, 12, UINT64_C(1) << 60);
	put_map(&t, USER, 10, UINT64_MAX - 10, 0x100);
	put_timed(&t, PR_COMM, 13, 1020);
	cutting_end(&t);
	ck_assert_uint_eq(t.damaged, 4);
	ck_assert_int_eq(cutting_count(&t, PR_COMM), 2);
	ck_assert_uint_eq(cutting_value(&t, PR_COMM, 0, 0), 10ul << 32 | 10);
	ck_assert_uint_eq(cutting_value(&t, PR_COMM, 1, 0), 13ul << 32 | 13);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 0);
	ck_assert_ptr_nonnull(strstr(t.why.msg, "test+0x"));
	free(t.head);
}
END_TEST

START_TEST(copies_of_records_of_another_event_keep_its_id)
{
	const struct pb_event with_cpu = { .attr_size = PB_ATTR,
					   .sample_type = PS_TID | PS_TIME |
							  PS_CPU |
							  PS_IDENTIFIER,
					   .flags = PA_SAMPLE_ID_ALL,
					   .ids = { 5 },
					   .n_ids = 1 };
	const struct pb_event first = { .attr_size = PB_ATTR,
					.sample_type = PS_TID | PS_TIME |
						       PS_IDENTIFIER,
					.flags = PA_SAMPLE_ID_ALL,
					.ids = { 4 },
					.n_ids = 1 };
	struct cutting t = { .head = NULL };
	size_t at, len;

	pb_begin_pipe(&t.b, false);
	pb_header_attr(&t.b, &first);
	pb_header_attr(&t.b, &with_cpu);
	pb_rec(&t.b, PR_COMM, EXEC);
	pb_u32(&t.b, 10);
	pb_u32(&t.b, 10);
	pb_str(&t.b, "x");
	pb_u64(&t.b, 0);
	pb_u64(&t.b, 1000);
	pb_u64(&t.b, 3);
	pb_u64(&t.b, 5);
	pb_end(&t.b);
	put_round(&t);
	put_round(&t);
	cutting_end(&t);

	/* what reads the piece finds its name */
	struct perf_cut *again = perf_cut_new("head");
	struct err err;
	uint64_t used;

	for (at = 0, len = t.len; at < len; at += (size_t)used)
		ck_assert_int_eq(perf_cut_take(again, t.head + at, len - at,
					       &used, &err),
				 1);
	ck_assert_uint_eq(perf_cut_damaged(again, &err), 0);
	ck_assert_int_eq(cutting_count(&t, PR_COMM), 1);
	ck_assert_uint_eq(cutting_value(&t, PR_COMM, 0, 24), 0);
	ck_assert_uint_eq(cutting_value(&t, PR_COMM, 0, 40), 5);
	perf_cut_free(again);
	free(t.head);
}
END_TEST

START_TEST(what_a_piece_lacks_its_own_pieces_lack)
{
	static const enum perf_cut_mark stays[] = { PERF_CUT_PACKED,
						    PERF_CUT_BROKEN };
	static const enum perf_cut_mark goes[] = { PERF_CUT_BEGAN,
						   PERF_CUT_ENDS, PERF_CUT_LAST,
						   PERF_CUT_BEGINS };

	for (size_t i = 0; i < 6; i++) {
		struct perf_cut *c = perf_cut_new("test");
		struct cutting t;
		size_t at = 0;

		cutting_begin(&t);
		pb_rec(&t.b, PR_CUT,
		       (uint16_t)(i < 2 ? stays[i] : goes[i - 2]));
		pb_u64(&t.b, 4711);
		pb_end(&t.b);
		cutting_take(&t, c, &at);
		ck_assert(!perf_cut_taken(c)->events);
		ck_assert_int_eq(perf_cut_taken(c)->stored != NULL, i < 2);
		perf_cut_free(c);
		free(t.b.d);
	}
}
END_TEST

START_TEST(a_size_that_is_no_size_ends_the_stream)
{
	struct perf_cut *c = perf_cut_new("test");
	struct err err = { 0 };
	struct cutting t;
	uint64_t used;
	size_t at = 0;

	cutting_begin(&t);
	put_round(&t);
	cutting_take(&t, c, &at);
	ck_assert(perf_cut_taken(c)->begun);
	ck_assert_int_eq(perf_cut_take(c, "\4\0\0\0\0\0\7\0", 8, &used, &err),
			 -1);
	ck_assert_uint_eq(perf_cut_off(c), at);
	perf_cut_free(c);
	free(t.b.d);
}
END_TEST

START_TEST(copies_for_many_processes_are_bounded)
{
	static char name[60000];
	struct cutting t;
	int maps;

	/* 60 MB for each of 20 */
	memset(name, 'x', sizeof(name) - 1);
	cutting_begin(&t);
	for (uint64_t i = 0; i < 1000; i++) {
		pb_rec(&t.b, PR_MMAP, USER);
		pb_u32(&t.b, 10);
		pb_u32(&t.b, 10);
		pb_u64(&t.b, i << 20);
		pb_u64(&t.b, 0x1000);
		pb_u64(&t.b, 0);
		pb_str(&t.b, name);
		pb_end(&t.b);
	}
	for (uint32_t pid = 11; pid < 30; pid++)
		put_fork(&t, 0, pid, 10);
	cutting_end(&t);
	maps = cutting_count(&t, PR_MMAP);
	ck_assert_int_gt(maps, 4000);
	ck_assert_uint_le(t.len, CUT_KEPT_MAX);
	ck_assert_uint_eq(t.dropped, (uint64_t)(20000 - maps));
	free(t.head);
}
END_TEST

static void put_end(struct cutting *t, uint32_t pid)
{
	pb_rec(&t->b, PR_EXIT, 0);
	for (int i = 0; i < 4; i++)
		pb_u32(&t->b, pid);
	pb_u64(&t->b, 0);
	pb_end(&t->b);
}

/* Returns how many mappings of a process the piece begins with. */
static int mappings_of(const struct cutting *t, uint32_t pid)
{
	struct bytes body;
	uint32_t got, owner;
	size_t at = 16;
	int n = 0;

	while (cutting_next(t, &at, &got, &body)) {
		if (got != PR_MMAP)
			continue;
		ck_assert_int_eq(bytes_peek_u32(&body, 0, &owner), 0);
		n += owner == pid;
	}
	return n;
}

START_TEST(what_one_of_two_maps_the_other_has_not)
{
	struct cutting t;

	cutting_begin(&t);
	for (uint64_t i = 0; i < 10; i++)
		put_map(&t, USER, 10, i << 20, 0x1000);
	for (uint32_t pid = 11; pid < 15; pid++)
		put_fork(&t, 0, pid, 10);
	put_map(&t, USER, 10, 100 << 20, 0x1000);
	put_map(&t, USER, 12, 200 << 20, 0x1000);
	put_map(&t, USER, 12, 201 << 20, 0x1000);
	put_end(&t, 10);
	put_end(&t, 13);
	put_fork(&t, 0, 20, 12);
	cutting_end(&t);
	ck_assert_int_eq(mappings_of(&t, 10), 0);
	ck_assert_int_eq(mappings_of(&t, 11), 10);
	ck_assert_int_eq(mappings_of(&t, 12), 12);
	ck_assert_int_eq(mappings_of(&t, 13), 0);
	ck_assert_int_eq(mappings_of(&t, 14), 10);
	ck_assert_int_eq(mappings_of(&t, 20), 12);
	ck_assert_uint_eq(t.dropped, 0);
	free(t.head);
}
END_TEST

/* With a copy for each it took 18 s. */
START_TEST(a_fork_of_many_mappings_costs_no_copy_of_them)
{
	clock_t begin = clock();
	struct cutting t;

	cutting_begin(&t);
	for (uint64_t i = 0; i < 30000; i++)
		put_map(&t, USER, 10, i << 20, 0x1000);
	for (uint32_t pid = 11; pid < 3011; pid++) {
		put_fork(&t, 0, pid, 10);
		put_end(&t, pid);
	}
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 30000);
	ck_assert_int_lt(clock() - begin, 2 * CLOCKS_PER_SEC);
	free(t.head);
}
END_TEST

START_TEST(what_has_ended_makes_room)
{
	struct perf_cut *c = perf_cut_new("test");
	static char name[2000];
	struct cutting t;
	size_t at = 0;

	if (RUN_ELSEWHERE) {
		perf_cut_free(c);
		return;
	}
	/* 400 MB of names */
	memset(name, 'x', sizeof(name) - 1);
	cutting_begin_timed(&t, 0);
	for (uint64_t i = 0; i < 200000; i++) {
		uint32_t pid = 10 + (uint32_t)(i % 4000);

		put_timed(&t, PR_FORK, pid, 1000 + 100 * i);
		pb_rec(&t.b, PR_COMM, 0);
		pb_u32(&t.b, pid);
		pb_u32(&t.b, pid);
		pb_str(&t.b, name);
		pb_u64(&t.b, 0);
		pb_u64(&t.b, 1010 + 100 * i);
		pb_end(&t.b);
		put_timed(&t, PR_EXIT, pid, 1020 + 100 * i);
		if (i % 1000 != 999)
			continue;
		put_round(&t);
		cutting_take(&t, c, &at);
		t.b.n = at = 0;
	}
	ck_assert_uint_eq(perf_cut_dropped(c), 0);
	perf_cut_free(c);
	free(t.b.d);
}
END_TEST

START_TEST(a_piece_ends_at_the_place_at_which_the_next_begins)
{
	struct perf_cut *c = perf_cut_new("test");
	uint64_t place[2];
	struct cutting t;
	size_t at = 0;

	cutting_begin(&t);
	put_round(&t);
	cutting_take(&t, c, &at);
	place[0] = perf_cut_place(c);
	put_round(&t);
	cutting_take(&t, c, &at);
	place[1] = perf_cut_place(c);
	ck_assert(place[0] && place[1] && place[0] != place[1]);
	FILE *out = mem_stream(&t.head, &t.len);

	perf_cut_head(c, place[0], out);
	perf_cut_mark(c, PERF_CUT_ENDS, place[1], out);
	mem_stream_end(out);
	ck_assert_uint_eq(cutting_value(&t, PR_CUT, 0, 0), place[0]);
	ck_assert_uint_eq(cutting_value(&t, PR_CUT, 1, 0), place[1]);
	free(t.head);
	out = mem_stream(&t.head, &t.len);
	/* nothing is before the first one */
	perf_cut_head(c, 0, out);
	mem_stream_end(out);
	ck_assert_uint_eq(cutting_value(&t, PR_CUT, 0, 0), 0);
	perf_cut_free(c);
	free(t.head);
	free(t.b.d);
}

/* A sample with the value of a counter. */
static void put_count(struct cutting *t, uint64_t time, uint64_t value)
{
	pb_rec(&t->b, PR_SAMPLE, 0);
	pb_u32(&t->b, 10);
	pb_u32(&t->b, 10);
	pb_u64(&t->b, time);
	pb_u64(&t->b, value);
	pb_u64(&t->b, 7); /* the id */
	pb_end(&t->b);
}

/* Returns the value in the sample that was taken last, as a piece has it. */
static uint64_t cutting_stored_count(const struct perf_cut *c)
{
	uint64_t v;

	memcpy(&v, (const char *)perf_cut_taken(c)->stored + 24, sizeof(v));
	return v;
}

START_TEST(counts_are_those_of_a_piece_though_a_time_lies)
{
	const struct pb_event e = { .attr_size = PB_ATTR,
				    .sample_type = PS_TID | PS_TIME | PS_READ,
				    .read_format = READ_ID,
				    .flags = PA_SAMPLE_ID_ALL };
	struct perf_cut *c = perf_cut_new("test");
	struct cutting t = { .head = NULL };
	size_t at = 0;

	pb_begin_pipe(&t.b, false);
	pb_header_attr(&t.b, &e);
	put_count(&t, 1000, 100);
	put_timed(&t, PR_EXIT, 9, 1000000000);
	put_count(&t, 1100, 150);
	put_round(&t);
	cutting_take(&t, c, &at);

	FILE *out = mem_stream(&t.head, &t.len);

	perf_cut_head(c, 5, out);
	mem_stream_end(out);
	/* of the piece before, as all is by that time */
	put_count(&t, 1200, 170);
	cutting_take(&t, c, &at);
	ck_assert(perf_cut_is_old(c));
	ck_assert_uint_eq(cutting_stored_count(c), 170);
	put_round(&t);
	/* but that piece has ended */
	put_count(&t, 1300, 200);
	cutting_take(&t, c, &at);
	ck_assert(!perf_cut_is_old(c));
	ck_assert_uint_eq(cutting_stored_count(c), 30);
	perf_cut_free(c);
	free(t.b.d);
	free(t.head);
}
END_TEST

START_TEST(mappings_of_which_only_some_are_known_keep_their_times)
{
	struct cutting t;

	cutting_begin_timed(&t, 0);
	for (uint32_t pid = 10; pid <= 11; pid++) {
		/* the recorder listed those of 11 when it began */
		for (uint64_t time = pid == 11 ? 0 : 50; time <= 50;
		     time += 50) {
			pb_rec(&t.b, PR_MMAP, USER);
			pb_u32(&t.b, pid);
			pb_u32(&t.b, pid);
			pb_u64(&t.b, 0x1000 * (time + 1));
			pb_u64(&t.b, 0x1000);
			pb_u64(&t.b, 0);
			pb_str(&t.b, "/bin/x");
			pb_u64(&t.b, 0);
			pb_u64(&t.b, time);
			pb_end(&t.b);
		}
	}
	put_round(&t);
	put_timed(&t, PR_COMM, 12, 60);
	put_round(&t);
	put_round(&t);
	cutting_end(&t);
	ck_assert_int_eq(cutting_count(&t, PR_MMAP), 3);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 2, 48), 50);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 1, 48), 0);
	ck_assert_uint_eq(cutting_value(&t, PR_MMAP, 0, 48), 0);
	free(t.head);
}
END_TEST

RUN("perf_cut", records_that_the_reader_calls_damaged_are_not_kept,
    copies_of_records_of_another_event_keep_its_id,
    what_a_piece_lacks_its_own_pieces_lack,
    a_size_that_is_no_size_ends_the_stream,
    copies_for_many_processes_are_bounded,
    what_one_of_two_maps_the_other_has_not,
    a_fork_of_many_mappings_costs_no_copy_of_them, what_has_ended_makes_room,
    counts_are_those_of_a_piece_though_a_time_lies,
    a_piece_ends_at_the_place_at_which_the_next_begins,
    mappings_of_which_only_some_are_known_keep_their_times,
    what_a_ring_had_before_the_end_of_a_piece_is_of_that_piece,
    large_records_that_wait_for_earlier_ones_are_bounded,
    what_is_read_later_but_was_earlier_revives_no_thread,
    forks_that_perf_made_up_inherit_no_mappings,
    kernel_code_that_was_unloaded_is_left_out,
    kernel_mappings_and_groups_are_replaced_by_the_same_place,
    mappings_that_later_ones_cover_are_left_out,
    what_is_kept_is_bounded_and_what_is_dropped_is_counted)
