/* nest.c - tests of calls inside of calls: threads that call, and what is said
 * of them when records were removed. */
#include "analyze/latency/nest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/latency/lost_times.h"
#include "analyze/latency/interval.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define NEST_THREADS 4
#define NEST_CPUS 3
#define NEST_CALLS 4000
#define NEST_DEPTH 12
#define NEST_NAMES 5

static const struct pair_kind kind = { .word = "call",
				       .again = PAIR_NEST,
				       .counted = true };
static const struct pair_kind uncounted = { .word = "slice",
					    .again = PAIR_NEST };

/* A call as it was; times are those of its records, and of the recorder's
 * clock, which counts from elsewhere. */
struct nest_call {
	int64_t begin, end, from, to, self, self_records;
	uint32_t thread, depth, name;
	size_t parent; /* index + 1 */
};

struct nest_truth_record {
	struct pairing_record r;
	size_t call;
	bool gone;
};

struct nest_truth {
	struct nest_call call[NEST_CALLS];
	size_t n;
	struct nest_truth_record record[2 * NEST_CALLS];
	size_t n_record;
	size_t told[3 * NEST_CALLS]; /* by number: call + 1; 0: not known */
	bool seen[NEST_CALLS];
	size_t n_told;
	uint64_t proved, begins, parents, parents_of, selves, begun;
	uint64_t falsely;
};

static void nest_make(struct nest_truth *t, uint64_t *seed, int64_t shift)
{
	size_t open[NEST_THREADS][NEST_DEPTH];
	size_t n_open[NEST_THREADS] = { 0 };
	int64_t time = 1000;

	memset(t, 0, sizeof(*t));
	while (t->n < NEST_CALLS ||
	       n_open[0] + n_open[1] + n_open[2] + n_open[3]) {
		size_t th = rnd_below(seed, NEST_THREADS);
		size_t *n = &n_open[th];
		bool begins = t->n < NEST_CALLS && *n < NEST_DEPTH &&
			      (!*n || rnd_below(seed, 2));
		struct nest_truth_record *r = &t->record[t->n_record];
		struct nest_call *c;

		if (!begins && !*n)
			continue;
		time += 4 + (int64_t)rnd_below(seed, 30);
		if (begins) {
			c = &t->call[t->n];
			*c = (struct nest_call){
				.begin = time,
				.from = time + 1 + (int64_t)rnd_below(seed, 2) -
					shift,
				.thread = (uint32_t)th + 1,
				.depth = (uint32_t)*n,
				.name = 1 +
					(uint32_t)rnd_below(seed, NEST_NAMES),
				.parent = *n ? open[th][*n - 1] + 1 : 0,
			};
			open[th][(*n)++] = t->n++;
		} else {
			c = &t->call[open[th][--*n]];
			c->end = time;
			c->to = time - 1 - (int64_t)rnd_below(seed, 2) - shift;
			c->self += c->to - c->from;
			c->self_records += c->end - c->begin;
			if (c->parent)
				t->call[c->parent - 1].self_records -=
					c->end - c->begin;
			if (c->parent)
				t->call[c->parent - 1].self -= c->to - c->from;
		}
		*r = (struct nest_truth_record){
			.r = { .kind = &kind,
			       .time = time,
			       .event = (int64_t)t->n_record + 1,
			       .thread = c->thread,
			       .name = c->name,
			       .cpu = (int32_t)rnd_below(seed, NEST_CPUS),
			       .depth = c->depth,
			       .born = INT64_MIN,
			       .from = begins ? 0 : c->from,
			       .to = begins ? 0 : c->to,
			       .took = begins ? 0 : c->to - c->from,
			       .role = begins ? PAIRING_BEGIN : PAIRING_END },
			.call = (size_t)(c - t->call),
		};
		t->n_record++;
	}
}

/* Removes single records, and bursts as a full ring does. */
static size_t nest_remove(struct nest_truth *t, uint64_t *seed,
			  unsigned int percent)
{
	size_t want = t->n_record * percent / 100, gone = 0;

	while (gone < want) {
		int32_t cpu = (int32_t)rnd_below(seed, NEST_CPUS);
		size_t n = (size_t)1 << rnd_below(seed, 6);

		for (size_t i = rnd_below(seed, t->n_record);
		     n && i < t->n_record && gone < want; i++)
			if (t->record[i].r.cpu == cpu && !t->record[i].gone) {
				t->record[i].gone = true;
				gone++;
				n--;
			}
	}
	return gone;
}

/* Each ring counts what is missing between two of its records. */
static void nest_lose(const struct nest_truth *t, struct lost_times *l)
{
	for (int32_t cpu = 0; cpu < NEST_CPUS; cpu++) {
		struct lost_time at = { .from = 0, .id = 1, .cpu = cpu };

		for (size_t i = 0; i < t->n_record; i++) {
			if (t->record[i].r.cpu != cpu)
				continue;
			at.n += t->record[i].gone;
			if (t->record[i].gone)
				continue;
			at.to = t->record[i].r.time;
			if (at.n)
				lost_times_add(l, 0, &at);
			at.from = at.to;
			at.n = 0;
		}
		at.to = INT64_MAX;
		at.n = -1;
		at.id = 0;
		lost_times_add(l, 0, &at);
	}
	lost_times_seal(l);
}

/* The same of records that do not say how deep they are: an interval is proved
 * from the begin to the end of one call. */
static uint64_t nest_judge_uncounted(void *arg, const struct interval *i)
{
	struct nest_truth *t = arg;
	size_t of = t->record[(i->begin_event ?: i->end_event) - 1].call;
	const struct nest_call *c = &t->call[of];

	t->told[++t->n_told] = of + 1;
	t->falsely += i->begin_event && i->begin != c->begin;
	if (i->verdict == INTERVAL_PROVED) {
		t->proved++;
		t->falsely += i->end != c->end || i->begin != c->begin ||
			      i->most != c->end - c->begin ||
			      i->self != c->self_records;
	}
	t->parents_of += c->depth > 0;
	return t->n_told;
}

static uint64_t nest_judge(void *arg, const struct interval *i)
{
	struct nest_truth *t = arg;
	size_t of = t->record[(i->end_event ?: i->begin_event) - 1].call;
	const struct nest_call *c = &t->call[of];

	t->told[++t->n_told] = of + 1;
	t->seen[of] = true;
	t->falsely += i->depth != c->depth || i->name != c->name ||
		      i->thread != c->thread;
	t->falsely += i->begin_event && i->end_event && i->begin != c->begin;
	if (i->verdict == INTERVAL_PROVED) {
		t->proved++;
		t->begun += i->begin_event != 0;
		t->falsely += !i->end_event || i->end != c->end ||
			      i->most != c->to - c->from || i->least != i->most;
		t->falsely += i->whole && i->self != c->self;
		t->selves += i->whole;
	} else {
		t->begins++;
		t->falsely += i->end_event != 0 || i->whole;
	}
	t->parents_of += c->depth > 0;
	return t->n_told;
}

static void nest_judge_inside(void *arg, uint64_t call, uint64_t of)
{
	struct nest_truth *t = arg;

	ck_assert_uint_le(call, t->n_told);
	ck_assert_uint_le(of, t->n_told);
	t->parents++;
	t->falsely += t->call[t->told[call] - 1].parent != t->told[of];
}

static const struct nest_tell tell = { nest_judge, nest_judge_inside };

/* What is said to be proved is so, whatever is removed; each end that is left
 * is a call, and each begin is one or may be that of one. */
START_TEST(no_call_or_caller_is_falsely_proved_whatever_is_removed)
{
	static const unsigned int percents[] = { 0, 1, 5, 20, 50 };
	unsigned int percent = percents[(size_t)_i % ARRAY_SIZE(percents)];
	uint64_t seed = (uint64_t)_i + 1, ends = 0, calls = 0;
	struct nest *n;

	if (RUN_ELSEWHERE && _i % 3)
		return;
	struct nest_truth *t = mem_new(1, sizeof(*t));
	struct lost_times *l = mem_new(1, sizeof(*l));

	nest_make(t, &seed, _i % 2 ? 0 : 12345);
	nest_remove(t, &seed, percent);
	nest_lose(t, l);
	n = nest_new(l, &tell, t);
	for (size_t i = 0; i < t->n_record; i++)
		if (!t->record[i].gone) {
			nest_take(n, &t->record[i].r);
			ends += t->record[i].r.role == PAIRING_END;
		}
	nest_end(n);
	for (size_t i = 0; i < t->n; i++)
		calls += t->seen[i];
	ck_assert_uint_eq(t->falsely, 0);
	ck_assert_uint_eq(t->proved, ends);
	ck_assert_uint_eq(calls, t->n_told);
	ck_assert_uint_le(t->parents, t->parents_of);
	if (!percent) {
		ck_assert_uint_eq(t->proved, NEST_CALLS);
		ck_assert_uint_eq(t->parents, t->parents_of);
		/* behind the last record of a ring nothing is known */
		ck_assert_uint_ge(t->selves + 30, t->proved);
		ck_assert_uint_ge(t->begun + 30, t->proved);
	}
	if (getenv("NEST_SHARES"))
		printf("%u%% lost: %zu calls told, %.1f%% of all calls proved, "
		       "%.1f%% of parents, %.1f%% of self times, %.1f%% of "
		       "begins\n",
		       percent, t->n_told,
		       100.0 * (double)t->proved / NEST_CALLS,
		       100.0 * (double)t->parents / (double)t->parents_of,
		       100.0 * (double)t->selves / (double)t->proved,
		       100.0 * (double)t->begun / (double)t->proved);
	nest_free(n);
	lost_times_release(l);
	free_all(l, t);
}
END_TEST

START_TEST(no_slice_is_falsely_proved_whatever_is_removed)
{
	static const struct nest_tell of = { nest_judge_uncounted,
					     nest_judge_inside };
	static const unsigned int percents[] = { 0, 1, 5, 20, 50 };
	unsigned int percent = percents[(size_t)_i % ARRAY_SIZE(percents)];
	struct nest_truth *t = mem_new(1, sizeof(*t));
	struct lost_times *l = mem_new(1, sizeof(*l));
	uint64_t seed = (uint64_t)_i + 77;
	struct nest *n;

	nest_make(t, &seed, 0);
	nest_remove(t, &seed, percent);
	nest_lose(t, l);
	n = nest_new(l, &of, t);
	for (size_t i = 0; i < t->n_record; i++) {
		struct pairing_record r = t->record[i].r;

		r.kind = &uncounted;
		r.depth = 0;
		if (r.role == PAIRING_END)
			r.name = 0;
		if (!t->record[i].gone)
			nest_take(n, &r);
	}
	nest_end(n);
	ck_assert_uint_eq(t->falsely, 0);
	if (!percent) {
		ck_assert_uint_ge(t->proved + 30, NEST_CALLS);
		ck_assert_uint_ge(t->parents + 60, t->parents_of);
	}
	if (getenv("NEST_SHARES"))
		printf("%u%% lost: %.1f%% of all slices proved, %.1f%% of "
		       "parents\n",
		       percent, 100.0 * (double)t->proved / NEST_CALLS,
		       100.0 * (double)t->parents / (double)t->parents_of);
	nest_free(n);
	lost_times_release(l);
	free_all(l, t);
}
END_TEST

static const struct run_table nest_tables[] = {
	RUN_TIMES(no_call_or_caller_is_falsely_proved_whatever_is_removed, 200),
	RUN_TIMES(no_slice_is_falsely_proved_whatever_is_removed, 100),
};

RUN_TABLES("nest", nest_tables)
