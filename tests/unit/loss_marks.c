/* loss_marks.c - the page gets every loss and every missing stack that has a
 * time, once. */
#include "analyze/samples/loss_marks.h"

#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

#define MS 1000000
#define T0 5000000000 /* of the small run: half a second from here */

/* ---- a small run */

static uint64_t missing; /* cookies in all gaps */

static void loss_marks_start(void)
{
	missing = 0;
	mkstore_set_up();
	run.src.path = (char *)"perf.data";
	run.src.info.cpus_online = 2;
	open_store(true, true);
	people("app");
}

static void loss_marks_at(int64_t time, int32_t cpu, enum request_verdict v)
{
	struct fact f = { .kind = FACT_EVENT };

	f.event = (struct fact_event){ .id = ++run.events,
				       .time = time,
				       .cpu = cpu,
				       .thread = 1,
				       .comm = 1,
				       .weight = 1 };
	ok(store_fact(run.mk, &f, &err));
	if (v)
		mkstore_request(run.events, v, 0, 0, 0);
}

static void loss_marks_lost(const char *what, bool counts, int32_t cpu,
			    int64_t t0, int64_t t1, uint64_t n)
{
	struct ledger_entry e = { .kind = LEDGER_LOSS,
				  .what = what,
				  .counts = counts,
				  .cpu = cpu,
				  .event = -1,
				  .t0 = (uint64_t)t0,
				  .t1 = (uint64_t)t1,
				  .n = n };

	ledger_add(run.lg, &e);
}

static void loss_marks_chain(uint32_t id, int64_t time, int32_t cpu,
			     enum chain_verdict v)
{
	struct fact f = { .kind = FACT_CHAIN };

	f.chain = (struct fact_chain){ .id = id,
				       .time = time,
				       .cpu = cpu,
				       .thread = 1,
				       .cookie = 9,
				       .verdict = v,
				       .confidence = CONF_EXPLAINED,
				       .quality = QUALITY_EMPTY,
				       .from = TIME_NONE,
				       .loss = v == CHAIN_SAMPLE_LOST };
	ok(store_fact(run.mk, &f, &err));
}

static void loss_marks_gap(int32_t cpu, int64_t t0, int64_t t1, uint64_t n,
			   enum gap_verdict v)
{
	struct fact f = { .kind = FACT_GAP };

	f.gap = (struct fact_gap){
		.cpu = cpu, .first = 1, .n = n, .t0 = t0, .t1 = t1, .verdict = v
	};
	ok(store_fact(run.mk, &f, &err));
	f.kind = FACT_COUNTER;
	f.counter = (struct fact_counter){ .cpu = cpu, .missing = n };
	ok(store_fact(run.mk, &f, &err));
	missing += n;
}

static void loss_marks_end(void)
{
	struct fact f = { .kind = FACT_SESSION };

	f.session =
		(struct fact_session){ .layout = "kernel", .missing = missing };
	ok(store_fact(run.mk, &f, &err));
	mkstore_finish();
}

static void finding(int64_t time, int32_t cpu)
{
	struct fact f = { .kind = FACT_FINDING };

	f.finding = (struct fact_finding){
		.time = time, .since = TIME_NONE, .cpu = cpu, .n = 1
	};
	ok(store_fact(run.mk, &f, &err));
}

/* From T0 on, half a second: a column is half a millisecond. */
static void loss_marks_small(void)
{
	loss_marks_start();
	loss_marks_at(T0, 0, 0);
	loss_marks_at(T0 + 100 * MS, 0, REQ_CHAIN_LOST);
	loss_marks_at(T0 + 100 * MS + 10, 0,
		      REQ_CHAIN_LOST); /* the same column */
	loss_marks_at(T0 + 200 * MS, 1, REQ_PENDING_END);
	loss_marks_at(T0 + 300 * MS, 1, REQ_UNEXPLAINED);
	loss_marks_at(T0 + 400 * MS, -1, REQ_STRIPPED);
	loss_marks_at(T0 + 500 * MS, 1, REQ_REFUSED); /* no mark */
	loss_marks_at(TIME_NONE, 0, REQ_UNJOINABLE);  /* no place */
	loss_marks_chain(1, T0 + 250 * MS, 0, CHAIN_SAMPLE_LOST);
	loss_marks_chain(2, T0 + 260 * MS, 0, CHAIN_DUPLICATE);
	loss_marks_lost("lost", true, 0, T0 + 90 * MS, T0 + 110 * MS, 1000);
	loss_marks_lost("lost", true, 0, T0 + 110 * MS, T0 + 120 * MS, 234);
	loss_marks_lost("lost_end", true, 1, T0 + 450 * MS, 0, 5);
	loss_marks_lost("overwritten", false, 1, 0, T0 + 50 * MS, 0);
	loss_marks_lost("throttled", false, 1, T0 + 10 * MS, T0 + 20 * MS, 0);
	loss_marks_lost("damage", false, -1, T0 + 5 * MS, T0 + 6 * MS, 7);
	loss_marks_lost("lost_total", false, 0, 0, 0, 1300); /* no place */
	loss_marks_gap(0, T0 + 91 * MS, T0 + 92 * MS, 3, GAP_LOST);
	loss_marks_gap(1, T0 + 210 * MS, T0 + 220 * MS, 1, GAP_UNCOUNTED);
	finding(T0 + 350 * MS, 1);
	loss_marks_end();
}

START_TEST(every_loss_is_a_band_with_its_place_and_number)
{
	static const struct loss_band want[] = {
		{ { 1, -1, BAND_DAMAGE }, 5 * MS, 6 * MS, 7, 1 },
		{ { 1, 0, BAND_LOST }, 90 * MS, 110 * MS, 1000, 1 },
		{ { 1, 0, BAND_LOST }, 110 * MS, 120 * MS, 234, 1 },
		{ { 1, 0, BAND_GAP_LOST }, 91 * MS, 92 * MS, 3, 1 },
		{ { 1, 1, BAND_LOST }, 450 * MS, 500 * MS, 5, 1 },
		{ { 1, 1, BAND_OVERWRITTEN }, 0, 50 * MS, 0, 1 },
		{ { 1, 1, BAND_THROTTLED }, 10 * MS, 20 * MS, 0, 1 },
		{ { 1, 1, BAND_GAP_UNCOUNTED }, 210 * MS, 220 * MS, 1, 1 },
	};
	struct loss_marks tl = { 0 };
	bool timed = false;

	loss_marks_small();
	ok(loss_marks_load(&tl, &timed, run.db, &err));
	ck_assert(timed);
	ck_assert_int_eq(tl.t0, T0);
	ck_assert_int_eq(tl.t1, T0 + 500 * MS);
	ck_assert_uint_eq(tl.n_band, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < tl.n_band; i++) {
		const struct loss_band *b = &tl.band[i];

		ck_assert_int_eq(b->at.capture, want[i].at.capture);
		ck_assert_int_eq(b->at.cpu, want[i].at.cpu);
		ck_assert_int_eq(b->at.kind, want[i].at.kind);
		ck_assert_int_eq(b->t0 - T0, want[i].t0);
		ck_assert_int_eq(b->t1 - T0, want[i].t1);
		ck_assert_uint_eq(b->n, want[i].n);
		ck_assert_uint_eq(b->rows, want[i].rows);
	}
	loss_marks_release(&tl);
	tear_down();
}
END_TEST

START_TEST(every_missing_stack_and_finding_is_a_mark_of_its_kind)
{
	static const struct loss_mark want[] = {
		{ { 1, -1, MARK_STRIPPED }, 800, 1, 400 * MS, 400 * MS },
		{ { 1, 0, MARK_CHAIN_LOST }, 200, 2, 100 * MS, 100 * MS + 10 },
		{ { 1, 0, MARK_NO_SAMPLE }, 500, 1, 250 * MS, 250 * MS },
		{ { 1, 0, MARK_DUPLICATE }, 520, 1, 260 * MS, 260 * MS },
		{ { 1, 1, MARK_FINDING }, 700, 1, 350 * MS, 350 * MS },
		{ { 1, 1, MARK_UNEXPLAINED }, 600, 1, 300 * MS, 300 * MS },
		{ { 1, 1, MARK_PENDING_END }, 400, 1, 200 * MS, 200 * MS },
	};
	struct loss_marks tl = { 0 };
	bool timed = false;

	loss_marks_small();
	ok(loss_marks_load(&tl, &timed, run.db, &err));
	ck_assert_uint_eq(tl.n_mark, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < tl.n_mark; i++) {
		const struct loss_mark *m = &tl.mark[i];

		ck_assert_int_eq(m->at.capture, want[i].at.capture);
		ck_assert_int_eq(m->at.cpu, want[i].at.cpu);
		ck_assert_int_eq(m->at.kind, want[i].at.kind);
		ck_assert_uint_eq(m->column, want[i].column);
		ck_assert_uint_eq(m->n, want[i].n);
		ck_assert_int_eq(m->t0 - T0, want[i].t0);
		ck_assert_int_eq(m->t1 - T0, want[i].t1);
	}
	loss_marks_release(&tl);
	tear_down();
}
END_TEST

START_TEST(a_capture_without_times_has_no_timeline)
{
	struct loss_marks tl = { 0 };
	bool timed = true;

	loss_marks_start();
	loss_marks_at(TIME_NONE, 0, REQ_CHAIN_LOST);
	loss_marks_end();
	ok(loss_marks_load(&tl, &timed, run.db, &err));
	ck_assert(!timed);
	ck_assert_uint_eq(tl.n_mark + tl.n_band, 0);
	loss_marks_release(&tl);
	tear_down();
}
END_TEST

/* ---- merging alone, at its limits */

static uint64_t seed;

static uint64_t any(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

struct sums {
	uint64_t mark[MARK_KINDS], band[BAND_KINDS], rows[BAND_KINDS];
};

static void fill_any(struct loss_marks *tl, uint64_t cpus, uint64_t n,
		     struct sums *added)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t t = (int64_t)any(1000000);
		struct loss_mark m = { .at = { 1, (int32_t)any(cpus),
					       (int)any(MARK_KINDS) },
				       .n = 1 + any(3),
				       .t0 = t,
				       .t1 = t };
		struct loss_band b = {
			.at = { 1, (int32_t)any(cpus), (int)any(BAND_KINDS) },
			.t0 = t,
			.t1 = t + (int64_t)(any(50) * any(50) * any(50)),
			.n = any(9),
		};

		loss_mark(tl, &m);
		added->mark[m.at.kind] += m.n;
		if (i % 8)
			continue;
		loss_band(tl, &b);
		added->band[b.at.kind] += b.n;
		added->rows[b.at.kind]++;
	}
}

static bool same_place(const struct loss_place *a, const struct loss_place *b)
{
	return a->capture == b->capture && a->cpu == b->cpu &&
	       a->kind == b->kind;
}

/* Sums stay what they were, places are sorted, inside, and apart. */
static void expect_whole(const struct loss_marks *tl, const struct sums *want)
{
	struct sums got = { 0 };

	for (size_t i = 0; i < tl->n_mark; i++) {
		const struct loss_mark *m = &tl->mark[i];

		got.mark[m->at.kind] += m->n;
		must(m->column < LOSS_COLUMNS && m->t0 <= m->t1);
		if (i && same_place(&m[-1].at, &m->at))
			must(m[-1].column < m->column);
	}
	for (size_t i = 0; i < tl->n_band; i++) {
		const struct loss_band *b = &tl->band[i];

		got.band[b->at.kind] += b->n;
		got.rows[b->at.kind] += b->rows;
		must(tl->t0 <= b->t0 && b->t0 <= b->t1 && b->t1 <= tl->t1);
		if (i && same_place(&b[-1].at, &b->at))
			must(b[-1].t1 <= b->t0);
	}
	must(!memcmp(&got, want, sizeof(got)));
}

START_TEST(nothing_gets_lost_by_merging)
{
	for (seed = 1; seed < 200;) {
		uint64_t next = seed + 1;
		struct loss_marks tl = { .t1 = 999999 };
		struct sums added = { 0 };

		fill_any(&tl, 1 + seed % 7, 20 * seed, &added);
		loss_marks_finish(&tl);
		expect_whole(&tl, &added);
		loss_marks_release(&tl);
		seed = next;
	}
}
END_TEST

START_TEST(a_large_capture_has_as_many_marks_as_columns)
{
	struct loss_marks tl = { .t1 = 999999 };
	struct sums added = { 0 };

	seed = 1;
	fill_any(&tl, 2, 300000, &added);
	loss_marks_finish(&tl);
	expect_whole(&tl, &added);
	ck_assert_uint_gt(tl.n_mark, 20000);
	ck_assert_uint_le(tl.n_mark, 2 * MARK_KINDS * LOSS_COLUMNS);
	ck_assert_uint_le(tl.n_band, 2 * BAND_KINDS * LOSS_COLUMNS);
	loss_marks_release(&tl);
}
END_TEST

START_TEST(times_and_numbers_may_be_at_the_ends_of_64_bits)
{
	static const int64_t t[] = { INT64_MIN, -1, 0, 1, INT64_MAX };

	for (size_t i = 0; i < 4; i++) {
		struct loss_marks tl = { .t0 = t[i], .t1 = t[i + 1] };

		for (size_t k = 0; k < 25; k++) {
			struct loss_mark m = { .at = { t[k / 5], 0, 0 },
					       .n = UINT64_MAX,
					       .t0 = t[k % 5],
					       .t1 = t[k % 5] };
			struct loss_band b = { .at = { t[k / 5], 0, 0 },
					       .n = UINT64_MAX,
					       .t0 = t[k % 5],
					       .t1 = t[k / 5] };

			loss_mark(&tl, &m);
			loss_band(&tl, &b);
		}
		loss_marks_finish(&tl);
		for (size_t k = 0; k < tl.n_mark; k++)
			ck_assert_uint_eq(tl.mark[k].n, UINT64_MAX);
		for (size_t k = 0; k < tl.n_band; k++)
			must(tl.t0 <= tl.band[k].t0 &&
			     tl.band[k].t0 <= tl.band[k].t1 &&
			     tl.band[k].t1 <= tl.t1);
		loss_marks_release(&tl);
	}
}
END_TEST

RUN("loss_marks", every_loss_is_a_band_with_its_place_and_number,
    every_missing_stack_and_finding_is_a_mark_of_its_kind,
    a_capture_without_times_has_no_timeline, nothing_gets_lost_by_merging,
    a_large_capture_has_as_many_marks_as_columns,
    times_and_numbers_may_be_at_the_ends_of_64_bits)
