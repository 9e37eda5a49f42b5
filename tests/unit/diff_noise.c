/* diff_noise.c - samples that depend on each other make no change, and a
 * change is found in spite of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diffs/diff_rows.h"
#include "analyze/diffs/diff_runs.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stack_names.h"
#include "tests/unit/run.h"

#define PLACES 12
#define SAMPLES 1000

struct drawn_run {
	struct diff_times times;
	struct report_rows *rows;
	uint32_t seen[PLACES];
};

static struct labels *drawn_labels;
static uint64_t drawn_state;

static uint32_t diff_noise_draw(uint32_t n)
{
	drawn_state = drawn_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(drawn_state >> 33) % n;
}

static uint32_t label_of_place(uint32_t place)
{
	char name[16];
	struct label l = { .kind = LABEL_USER, .name = name, .image = "x" };

	snprintf(name, sizeof(name), "f%u", place);
	return labels_add(drawn_labels, &l);
}

static void drawn_add(struct drawn_run *r, uint32_t place, int64_t time)
{
	packed_times_put(&r->times.at, r->times.at.n,
			 &(struct packed_time){ .time = time, .event = place });
	r->seen[place]++;
}

/* Counts the samples; the group of a sample is its place. */
static void count_rows(struct drawn_run *r)
{
	r->rows = report_rows_empty(drawn_labels, KEY_SYM | KEY_DSO | KEY_HITS);
	for (uint32_t i = 0; i < PLACES; i++) {
		uint32_t label = label_of_place(i);
		struct label_list l = { .label = &label, .n = 1 };

		if (r->seen[i])
			report_rows_add(r->rows, i, &l, r->seen[i], r->seen[i]);
	}
}

static void drawn_release(struct drawn_run *r)
{
	packed_times_release(&r->times.at);
	report_rows_free(r->rows);
}

/* The program stays `stay` samples at a place, as seen by the timer. Place 0 is
 * `often` times as frequent as others. */
static void draw_run(struct drawn_run *r, uint32_t stay, uint32_t often)
{
	uint32_t place = 0;

	*r = (struct drawn_run){ .rows = NULL };
	for (int i = 0; i < SAMPLES; i++) {
		if (!i || !diff_noise_draw(stay)) {
			place = diff_noise_draw(PLACES - 1 + often);
			place = place < PLACES ? place : 0;
		}
		drawn_add(r, place, i * 1000000);
	}
	count_rows(r);
}

static double noise_of_first(struct drawn_run *r)
{
	struct diff_noises *n = diff_noises_new(r->rows, &r->times);
	struct diff_noise got;

	ck_assert_ptr_nonnull(n);
	got = diff_noise_of(n, 0, false, false);
	ck_assert(got.df > 5);
	diff_noises_free(n);
	return got.times;
}

static void drawn_begin(void)
{
	drawn_labels = labels_new();
	drawn_state = 11;
}

static void drawn_end(void)
{
	labels_free(drawn_labels);
}

START_TEST(samples_that_are_independent_vary_by_chance)
{
	double sum = 0;

	for (int i = 0; i < 100; i++) {
		struct drawn_run r;

		draw_run(&r, 1, 3);
		sum += noise_of_first(&r);
		drawn_release(&r);
	}
	/* the largest of three sizes of blocks is a little above 1 */
	ck_assert_msg(sum > 95 && sum < 140, "%f of 100", sum);
}
END_TEST

/* Under sanitizers: it is in no block. */
START_TEST(a_sample_of_no_row_before_all_others_does_not_count)
{
	struct drawn_run r;

	draw_run(&r, 1, 3);
	double times = noise_of_first(&r);
	packed_times_put(&r.times.at, r.times.at.n,
			 &(struct packed_time){ .time = -SAMPLES * 1000000LL,
						.event = PLACES });
	ck_assert_double_eq(noise_of_first(&r), times);
	drawn_release(&r);
}
END_TEST

START_TEST(samples_that_come_together_vary_by_how_many_do)
{
	double sum = 0;

	for (int i = 0; i < 100; i++) {
		struct drawn_run r;

		draw_run(&r, 5, 3);
		sum += noise_of_first(&r);
		drawn_release(&r);
	}
	/* stays of 5 samples on average: (2 * 5 - 1) times */
	ck_assert_msg(sum > 600 && sum < 1100, "%f of 100", sum);
}
END_TEST

START_TEST(a_phase_of_the_program_is_no_noise)
{
	struct drawn_run r = { .rows = NULL };

	for (int i = 0; i < 20000; i++)
		drawn_add(&r, i < 8000 ? 0 : 1, i * 1000);
	count_rows(&r);
	/* it ends in one block of 400, or 100; from their mean the blocks
	 * differ by 50 times as much */
	ck_assert(noise_of_first(&r) < 5);
	drawn_release(&r);
}
END_TEST

START_TEST(without_times_or_with_few_samples_nothing_is_known)
{
	struct drawn_run r = { .rows = NULL };

	for (int i = 0; i < 99; i++)
		drawn_add(&r, 0, i);
	count_rows(&r);
	ck_assert_ptr_null(diff_noises_new(r.rows, &r.times));
	drawn_release(&r);
	draw_run(&r, 1, 1);
	r.times.untimed = true;
	ck_assert_ptr_null(diff_noises_new(r.rows, &r.times));
	r.times.untimed = false;
	for (size_t i = 0; i < r.times.at.n; i++) {
		struct packed_time x = packed_times_get(&r.times.at, i);

		x.time = 5;
		packed_times_put(&r.times.at, i, &x);
	}
	ck_assert_ptr_null(diff_noises_new(r.rows, &r.times));
	drawn_release(&r);
}
END_TEST

/* Returns the change of place 0 (of each other one: 2) between two runs. */
static int judge_pair(uint32_t stay, uint32_t often_b, bool blocks)
{
	struct drawn_run r[2];
	struct diff_rows_run run[2] = { { .lost = 0 }, { .lost = 0 } };
	struct diff_rows *d;
	int change = 0;

	for (int i = 0; i < 2; i++) {
		draw_run(&r[i], stay, i ? often_b : 1);
		run[i].rows = r[i].rows;
		run[i].times = blocks ? &r[i].times : NULL;
	}
	d = diff_rows_new(run, 2, 1, KEY_SYM | KEY_DSO, false,
			  (struct diff_known){ .n = 0 });
	for (size_t i = 0; i < d->n; i++) {
		bool first = !strcmp(diff_rows_label(d, i)->name, "f0");

		if (d->place[0][i].change)
			change = first ? d->place[0][i].change : 2;
	}
	diff_rows_free(d);
	for (int i = 0; i < 2; i++)
		drawn_release(&r[i]);
	return change;
}

START_TEST(pairs_of_one_program_hardly_ever_differ)
{
	int wrong = 0;
	int by_chance_alone = 0;
	const int n = RUN_ELSEWHERE ? 100 : 1000;

	for (int i = 0; i < n; i++) {
		wrong += judge_pair(4, 1, true) != 0;
		by_chance_alone += judge_pair(4, 1, false) != 0;
	}
	ck_assert_msg(wrong <= n / 200, "%d of %d", wrong, n);
	/* which the test for independent samples does not see */
	ck_assert_msg(by_chance_alone > n / 5, "%d of %d", by_chance_alone, n);
}
END_TEST

START_TEST(a_real_change_is_found_in_spite_of_noise)
{
	int found = 0;
	int other = 0;

	for (int i = 0; i < 200; i++) {
		int change = judge_pair(3, 6, true);

		found += change == 1;
		other += change == 2;
	}
	ck_assert_msg(found >= 190 && other <= 2, "%d of 200, %d others", found,
		      other);
}
END_TEST

RUN_WITH("diff_noise", drawn_begin, drawn_end,
	 samples_that_are_independent_vary_by_chance,
	 a_sample_of_no_row_before_all_others_does_not_count,
	 samples_that_come_together_vary_by_how_many_do,
	 a_phase_of_the_program_is_no_noise,
	 without_times_or_with_few_samples_nothing_is_known,
	 pairs_of_one_program_hardly_ever_differ,
	 a_real_change_is_found_in_spite_of_noise)
