/* perf_order.c - what comes first: floors, rounds, records without a time. */
#include "tests/unit/perf_build.h"

#include "stitch/order/order.h"
#include "tests/unit/run.h"

static const struct pb_event timed = {
	.attr_size = PB_ATTR,
	.sample_type = PS_IP | PS_TID | PS_TIME,
	.flags = PA_SAMPLE_ID_ALL,
};

static void perf_order_sample(struct pb *b, uint64_t time, uint64_t ip)
{
	pb_rec(b, PR_SAMPLE, 2);
	pb_u64(b, ip);
	pb_u64(b, 0);
	pb_u64(b, time);
	pb_end(b);
}

static void perf_order_comm(struct pb *b, uint64_t time, const char *name)
{
	pb_rec(b, PR_COMM, 0);
	pb_u64(b, 0);
	pb_str(b, name);
	pb_u64(b, 0);
	pb_u64(b, time);
	pb_end(b);
}

static void perf_order_pad(struct pb *b, size_t bytes)
{
	static const char zeros[4096];

	for (; bytes >= 4096; bytes -= 4096) {
		pb_rec(b, PR_TIME_CONV, 0);
		pb_raw(b, zeros, 4088);
		pb_end(b);
	}
}

static void perf_order_round_end(struct pb *b)
{
	pb_rec(b, PR_FINISHED_ROUND, 0);
	pb_end(b);
}

START_TEST(nothing_comes_below_the_floor)
{
	uint64_t seed = 1;
	uint64_t floor = 0;
	struct record rec;
	struct ref ref;
	struct pb b;
	size_t n = 0;

	pb_begin(&b, _i, &timed, 1);
	for (uint64_t i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		perf_order_sample(&b, 1000 + i * 10 + (seed >> 51), i);
	}
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(src->info.exact);
	ck_assert_uint_gt(src->floor, 0);
	while (pb_next(src, &ref, &rec)) {
		ck_assert_uint_ge(ref.key, floor);
		ck_assert_uint_ge(src->floor, floor);
		floor = src->floor;
		n++;
	}
	ck_assert_uint_eq(n, 20000);
	/* it must have moved on while reading, not only at the end */
	ck_assert_uint_gt(floor, 100000);
	pb_close(src, &b);
}
END_TEST

START_TEST(a_record_that_breaks_its_round_is_said_and_still_in_order)
{
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct ledger_entry e;
	struct err err = { 0 };
	struct record *rec;
	uint64_t last = 0;
	struct pb b;
	int n = 0;

	pb_begin(&b, false, &timed, 1);
	perf_order_sample(&b, 100, 1);
	perf_order_sample(&b, 200, 2);
	perf_order_round_end(&b);
	perf_order_sample(&b, 300, 3);
	perf_order_round_end(&b); /* closes 200 */
	perf_order_sample(&b, 150, 4);
	perf_order_sample(&b, 250, 5);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	order_add(ord, src);
	for (; order_next(ord, &rec, &err) > 0; n++) {
		ck_assert_uint_ge(rec->time, last);
		ck_assert(!(rec->flags & REC_F_LATE));
		last = rec->time;
	}
	ck_assert_int_eq(n, 5);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 1);
	ck_assert_int_eq(ledger_take(lg, &e), 1);
	ck_assert_str_eq(e.what, "round");
	ck_assert_uint_eq(e.t0, 150);
	ck_assert_uint_eq(e.t1, 200);
	order_free(ord);
	ledger_free(lg);
	pb_release(&b);
}
END_TEST

START_TEST(state_without_a_time_comes_first_wherever_it_stands)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	perf_order_sample(&b, 100, 1);
	perf_order_pad(&b, 200000);
	perf_order_comm(&b, 50, "timed");
	perf_order_comm(&b, 0, "first");
	perf_order_comm(&b, UINT64_MAX, "second");
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert_uint_eq(src->floor, 0);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_str_eq(rec.comm.name, "first");
	ck_assert_uint_eq(rec.flags, REC_F_UNTIMED | REC_F_SYNTH);
	ck_assert_uint_eq(ref.key, 0);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_str_eq(rec.comm.name, "second");
	ck_assert_uint_eq(src->floor, 50);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_SAMPLE);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_str_eq(rec.comm.name, "timed");
	ck_assert_uint_eq(rec.flags, 0);
	ck_assert(!pb_next(src, &ref, &rec));
	pb_close(src, &b);
}
END_TEST

START_TEST(off_cpu_samples_are_untimed_and_last)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, false, &timed, 1);
	perf_order_sample(&b, 0xffffffff00000007, 9);
	perf_order_sample(&b, 100, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert(ref.untimed && rec.flags & REC_F_UNTIMED);
	ck_assert_uint_eq(ref.key, 0xffffffff00000007);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert(!ref.untimed);
	ck_assert_uint_eq(src->info.last_ns, 100);
	pb_close(src, &b);
}
END_TEST

START_TEST(a_capture_without_times_keeps_the_order_of_the_file)
{
	struct pb_event ev = { .attr_size = PB_ATTR,
			       .sample_type = PS_IP | PS_TID };
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, false, &ev, 1);
	for (uint64_t i = 1; i <= 5000; i++) {
		pb_rec(&b, PR_SAMPLE, 2);
		pb_u64(&b, i);
		pb_u64(&b, 0);
		pb_end(&b);
	}
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(!src->info.has_time);
	for (uint64_t i = 1; i <= 5000; i++) {
		ck_assert(pb_next(src, &ref, &rec));
		ck_assert_uint_eq(rec.sample.ip, i);
		ck_assert_uint_eq(ref.key, i - 1);
		ck_assert(ref.untimed);
		ck_assert_uint_eq(ref.kind, 0);
	}
	pb_close(src, &b);
}
END_TEST

START_TEST(an_overwritten_ring_is_read_backwards_at_equal_times)
{
	struct pb_event ev = timed;
	struct record rec;
	struct ref ref;
	uint64_t last = UINT64_MAX;
	struct pb b;

	ev.flags |= PA_WRITE_BACKWARD;
	pb_begin(&b, _i, &ev, 1);
	for (uint64_t i = 0; i < 10; i++)
		perf_order_sample(&b, 100, i);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(src->info.overwrite);
	while (pb_next(src, &ref, &rec)) {
		ck_assert_uint_lt(ref.seq, last);
		last = ref.seq;
	}
	pb_close(src, &b);
}
END_TEST

/* A writer that fills a pipe while the reader takes from it. */
static struct source *perf_order_open_pipe(struct pb *b,
					   const struct source_opts *o,
					   struct ledger *lg, pid_t *child)
{
	struct err err = { 0 };
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	*child = fork();
	if (!*child) {
		size_t at = 0;

		close(fd[0]);
		while (at < b->n) {
			ssize_t put = write(fd[1], b->d + at, b->n - at);

			if (put <= 0)
				break;
			at += (size_t)put;
		}
		_exit(0);
	}
	close(fd[1]);
	int was = dup(STDIN_FILENO);

	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	struct source *src = formats_open("-", o, lg, &err);

	dup2(was, STDIN_FILENO);
	close(was);
	ck_assert_msg(src != NULL, "%s", err.msg);
	ck_assert_msg(!src->ops->scan(src, &err), "%s", err.msg);
	return src;
}

static void begin_pipe(struct pb *b, bool big)
{
	pb_begin_pipe(b, big);
	pb_header_attr(b, &timed);
}

START_TEST(a_pipe_holds_back_two_rounds)
{
	struct source_opts o = { .slack_ns = (uint64_t)_i * 1000 };
	struct record rec;
	struct ref ref;
	struct pb b;
	pid_t child;

	begin_pipe(&b, false);
	for (uint64_t r = 1; r <= 6; r++) {
		perf_order_sample(&b, r * 100, r);
		perf_order_round_end(&b);
	}
	perf_order_sample(&b, 700, 7);
	struct source *src = perf_order_open_pipe(&b, &o, NULL, &child);

	ck_assert(src->info.pipe && !src->info.exact);
	for (uint64_t r = 1; r <= 6; r++)
		ck_assert(pb_next(src, &ref, &rec));
	/* five rounds have ended: the third's largest time is complete */
	ck_assert_uint_eq(src->floor, _i ? 0 : 300);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(src->floor, _i ? 0 : 400);
	ck_assert(!pb_next(src, &ref, &rec));
	ck_assert_uint_eq(src->floor, UINT64_MAX);
	ck_assert_uint_eq(src->info.first_ns, 100);
	ck_assert_uint_eq(src->info.last_ns, 700);
	pb_close(src, &b);
}
END_TEST

START_TEST(a_pipe_without_rounds_stays_under_its_limit_and_says_so)
{
	struct source_opts o = { .window_bytes = 1 << 20 };
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct err err = { 0 };
	struct record *rec;
	uint64_t n = 0;
	uint64_t most = 0;
	struct pb b;
	pid_t child;

	begin_pipe(&b, _i);
	for (uint64_t i = 0; i < 250000; i++)
		perf_order_sample(&b, 1000 + i, i);
	struct source *src = perf_order_open_pipe(&b, &o, lg, &child);

	order_add(ord, src);
	for (; order_next(ord, &rec, &err) > 0; n++) {
		ck_assert_uint_eq(rec->time, 1000 + n);
		if (perf_of(src)->chunk_bytes > most)
			most = perf_of(src)->chunk_bytes;
	}
	ck_assert_uint_eq(n, 250000);
	ck_assert_uint_gt(ledger_count(lg, LEDGER_ORDER), 0);
	ck_assert_uint_lt(most, 3 << 20);
	order_free(ord);
	ledger_free(lg);
	pb_release(&b);
}
END_TEST

START_TEST(a_file_read_as_a_pipe_gives_the_same_records)
{
	struct source_opts o = { .no_scan = true };
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	for (uint64_t i = 0; i < 100; i++)
		perf_order_sample(&b, 1000 + i, i);
	pb_finish(&b);
	struct source *src = pb_open_cut(&b, b.n, &o, NULL, &err);

	ck_assert_ptr_nonnull(src);
	ck_assert_int_eq(src->ops->scan(src, &err), 0);
	for (uint64_t i = 0; i < 100; i++) {
		ck_assert(pb_next(src, &ref, &rec));
		ck_assert_uint_eq(rec.sample.ip, i);
	}
	ck_assert(!pb_next(src, &ref, &rec));
	pb_close(src, &b);
}
END_TEST

static void perf_order_sample_of(struct pb *b, uint64_t id, uint64_t type,
				 uint64_t time)
{
	pb_rec(b, PR_SAMPLE, 2);
	pb_u64(b, id);
	if (type & PS_IP)
		pb_u64(b, 5000);
	pb_u64(b, time);
	if (type & PS_CPU)
		pb_u64(b, 1);
	pb_end(b);
}

/* What a plain record is changes where the event is described. */
START_TEST(an_event_described_later_has_its_times_elsewhere)
{
	const struct source_opts o = { 0 };
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.sample_type = PS_IDENTIFIER | PS_TIME,
		.flags = PA_SAMPLE_ID_ALL,
		.ids = { 7 },
		.n_ids = 1,
	};
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i % 2, &ev, 1);
	for (uint64_t i = 0; i < 40; i++)
		perf_order_sample_of(&b, 7, ev.sample_type, 1000 + i);
	/* the time in samples, or in other records only, is elsewhere */
	ev.sample_type |= _i / 2 ? PS_CPU : PS_IP;
	ev.ids[0] = 8;
	pb_header_attr(&b, &ev);
	for (uint64_t i = 0; i < 40; i++) {
		perf_order_round_end(&b);
		perf_order_sample_of(&b, 8, ev.sample_type, 2000 + i);
	}
	perf_order_sample_of(&b, 9, ev.sample_type, 2100);
	pb_finish(&b);
	struct source *src = pb_open_cut(&b, b.n, &o, lg, &err);

	ck_assert(src && !src->ops->scan(src, &err));
	ck_assert_uint_eq(src->info.records, 80);
	ck_assert_uint_eq(src->info.first_ns, 1000);
	ck_assert_uint_eq(src->info.last_ns, 2039);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 0);
	for (uint64_t i = 0; i < 80; i++) {
		ck_assert(pb_next(src, &ref, &rec));
		ck_assert_uint_eq(ref.key, i < 40 ? 1000 + i : 1960 + i);
	}
	ck_assert(!pb_next(src, &ref, &rec));
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(nothing_comes_below_the_floor, 2),
	RUN_TIMES(state_without_a_time_comes_first_wherever_it_stands, 2),
	RUN_TIMES(an_overwritten_ring_is_read_backwards_at_equal_times, 2),
	RUN_TIMES(a_pipe_holds_back_two_rounds, 2),
	RUN_TIMES(a_pipe_without_rounds_stays_under_its_limit_and_says_so, 2),
	RUN_TIMES(a_file_read_as_a_pipe_gives_the_same_records, 2),
	RUN_TIMES(an_event_described_later_has_its_times_elsewhere, 4)
};

RUN_TABLES("perf_order", loops,
	   a_record_that_breaks_its_round_is_said_and_still_in_order,
	   off_cpu_samples_are_untimed_and_last,
	   a_capture_without_times_keeps_the_order_of_the_file)
