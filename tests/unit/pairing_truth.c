/* pairing_truth.c - tests of analyze/latency: for each kind sequences as the
 * kernel makes them, from which records are removed; nothing that is proved
 * then may be false. */
#include "analyze/latency/pairing.h"

#include <string.h>

#include "analyze/latency/lost_times.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "tests/unit/run.h"

#define TRUTH_CPUS 3
#define TRUTH_THREADS 4
#define TRUTH_OBJECTS 3 /* locks, sectors, timers: few, so that they meet */
#define TRUTH_SECTORS 16
#define TRUTH_MAX 1200

/* A record, and when what it ends began, or what it begins ended. */
struct truth_record {
	int64_t time, other;
	struct pairing_record r;
	bool gone;
};

struct truth {
	const struct pair_kind *kind;
	struct truth_record r[TRUTH_MAX];
	size_t n;
	uint64_t seed, proved, falsely, ambiguous, bounds;
	uint64_t unseen;       /* false by the premise: one of two is missing */
	int64_t claimed, real; /* sums of the ambiguous ones */
};

static uint64_t truth_rnd(struct truth *t, uint64_t n)
{
	return rnd_below(&t->seed, n);
}

/* Adds a record; what is at one time is moved by a few ns later on. */
static size_t truth_add(struct truth *t, enum pairing_role role, int64_t time,
			uint32_t thread, int64_t object)
{
	struct truth_record *r = &t->r[t->n];

	ck_assert_uint_lt(t->n, TRUTH_MAX);
	*r = (struct truth_record){
		.time = time,
		.other = INTERVAL_NEVER,
		.r = { .kind = t->kind,
		       .role = (uint8_t)role,
		       .thread = thread,
		       .born = INT64_MIN,
		       .key = { t->kind->calls ? 0 : object },
		       .tag = t->kind->calls ? object : 0,
		       .cpu = (int32_t)truth_rnd(t, TRUTH_CPUS) },
	};
	return t->n++;
}

static void truth_pair(struct truth *t, size_t begin, size_t end)
{
	t->r[begin].other = (int64_t)end;
	t->r[end].other = (int64_t)begin;
}

/* One of each thread at a time: calls, works, exits of guests. */
static void truth_make_calls(struct truth *t)
{
	for (uint32_t thread = 1; thread <= TRUTH_THREADS; thread++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);

		for (int i = 0; i < 50; i++) {
			int64_t what = 1 + (int64_t)truth_rnd(t, TRUTH_OBJECTS);
			size_t b =
				truth_add(t, PAIRING_BEGIN, at, thread, what);

			at += 1 + (int64_t)truth_rnd(t, 800);
			truth_pair(t, b,
				   truth_add(t, PAIRING_END, at, thread, what));
			at += 1 + (int64_t)truth_rnd(t, 300);
		}
	}
}

/* The same of processors. */
static void truth_make_cpus(struct truth *t)
{
	truth_make_calls(t);
	for (size_t i = 0; i < t->n; i++) {
		t->r[i].r.cpu = (int32_t)t->r[i].r.thread % TRUTH_CPUS;
		t->r[i].r.key[0] += t->r[i].r.thread / TRUTH_CPUS * 10;
	}
}

/* __mutex_lock_common(), and locks that begin once. */
static void truth_make_locks(struct truth *t)
{
	for (uint32_t thread = 1; thread <= TRUTH_THREADS; thread++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);

		for (int i = 0; i < 30; i++) {
			int64_t lock = 1 + (int64_t)truth_rnd(t, TRUTH_OBJECTS);
			bool mutex = lock > 1;
			size_t b =
				truth_add(t, PAIRING_BEGIN, at, thread, lock);
			size_t k = mutex ? truth_rnd(t, 6) : 0;

			t->r[b].r.begins =
				mutex ? PAIRING_EITHER : PAIRING_FIRST;
			for (size_t p = 1; p <= k; p++) {
				size_t part;

				at += 1 + (int64_t)truth_rnd(t, 200);
				part = truth_add(t, PAIRING_BEGIN, at, thread,
						 lock);
				t->r[part].r.begins =
					p % 2 ? PAIRING_PART : PAIRING_EITHER;
			}
			at += 1 + (int64_t)truth_rnd(t, 400);
			truth_pair(t, b,
				   truth_add(t, PAIRING_END, at, thread, lock));
			at += 1 + (int64_t)truth_rnd(t, 300);
		}
	}
}

/* A softirq of each processor, which is raised once or several times. */
static void truth_make_raises(struct truth *t)
{
	for (int32_t cpu = 0; cpu < TRUTH_CPUS; cpu++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);

		for (int i = 0; i < 60; i++) {
			size_t b = truth_add(t, PAIRING_BEGIN, at, 1, 3);
			size_t first = b;

			for (size_t k = truth_rnd(t, 3); k; k--) {
				at += 1 + (int64_t)truth_rnd(t, 100);
				truth_add(t, PAIRING_BEGIN, at, 1, 3);
			}
			at += 1 + (int64_t)truth_rnd(t, 300);
			truth_pair(t, b, truth_add(t, PAIRING_END, at, 1, 3));
			at += 1 + (int64_t)truth_rnd(t, 300);
			for (; first < t->n; first++)
				t->r[first].r.cpu = cpu;
		}
	}
}

/* Requests of any thread, of which several are at the same sectors at a time;
 * some are done in two parts, or queued again. */
static void truth_make_requests(struct truth *t)
{
	int64_t at = 0;
	/* how many at a time */
	int64_t gap = 50 + (int64_t)truth_rnd(t, 2000);

	for (int i = 0; i < 220; i++) {
		int64_t sector = (int64_t)truth_rnd(t, TRUTH_OBJECTS) * 100;
		int64_t took = 1 + (int64_t)truth_rnd(t, 1000);
		bool parts = !truth_rnd(t, 20);
		size_t b, e;

		at += (int64_t)truth_rnd(t, (uint64_t)gap);
		b = truth_add(t, PAIRING_BEGIN, at, 1, 8);
		t->r[b].r.key[1] = sector;
		t->r[b].r.length = TRUTH_SECTORS;
		if (!truth_rnd(t, 20)) {
			e = truth_add(t, PAIRING_CANCEL, at + took, 1, 8);
			t->r[e].r.key[1] = sector;
			b = truth_add(t, PAIRING_BEGIN, at + took + 50, 1, 8);
			t->r[b].r.key[1] = sector;
			t->r[b].r.length = TRUTH_SECTORS;
			took += 100;
		}
		if (parts) {
			e = truth_add(t, PAIRING_END, at + took, 1, 8);
			t->r[e].r.key[1] = sector;
			t->r[e].r.length = TRUTH_SECTORS / 2;
			sector += TRUTH_SECTORS / 2;
		}
		took += (int64_t)truth_rnd(t, 1000);
		e = truth_add(t, PAIRING_END, at + took + 60, 1, 8);
		t->r[e].r.key[1] = sector;
		t->r[e].r.length = parts ? TRUTH_SECTORS / 2 : TRUTH_SECTORS;
		truth_pair(t, b, e);
	}
}

/* What is started, and started again or cancelled or ends after a cancel. */
static void truth_make_timers(struct truth *t)
{
	for (int64_t timer = 1; timer <= TRUTH_OBJECTS; timer++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);

		for (int i = 0; i < 60; i++) {
			size_t b = truth_add(t, PAIRING_BEGIN, at, 1, timer);

			at += 1 + (int64_t)truth_rnd(t, 500);
			if (truth_rnd(t, 2))
				truth_add(t, PAIRING_CANCEL, at, 1, timer);
			if (!truth_rnd(t, 3))
				continue;
			at += 5;
			truth_pair(t, b,
				   truth_add(t, PAIRING_END, at, 1, timer));
			at += 1 + (int64_t)truth_rnd(t, 500);
		}
	}
}

/* Works that are queued while they start, or cancelled without a record. */
static void truth_make_works(struct truth *t)
{
	for (int64_t work = 1; work <= TRUTH_OBJECTS; work++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);
		size_t b = truth_add(t, PAIRING_BEGIN, at, 1, work);

		for (int i = 0; i < 60; i++) {
			size_t next = SIZE_MAX;

			at += 1 + (int64_t)truth_rnd(t, 500);
			if (!truth_rnd(t, 60)) {
				b = truth_add(t, PAIRING_BEGIN, at, 1, work);
				continue;
			}
			if (!truth_rnd(t, 60))
				next = truth_add(t, PAIRING_BEGIN, at - 1, 1,
						 work);
			truth_pair(t, b,
				   truth_add(t, PAIRING_END, at, 1, work));
			at += 1 + (int64_t)truth_rnd(t, 500);
			b = next < SIZE_MAX
				    ? next
				    : truth_add(t, PAIRING_BEGIN, at, 1, work);
		}
	}
}

/* Functions that call themselves. */
static void truth_make_nested(struct truth *t)
{
	for (uint32_t thread = 1; thread <= TRUTH_THREADS; thread++) {
		int64_t at = (int64_t)truth_rnd(t, 1000);
		size_t open[8];
		size_t n = 0;

		for (int i = 0; i < 120; i++) {
			at += 1 + (int64_t)truth_rnd(t, 300);
			if (n < 8 && (!n || truth_rnd(t, 2)))
				open[n++] = truth_add(t, PAIRING_BEGIN, at,
						      thread, 0);
			else
				truth_pair(t, open[--n],
					   truth_add(t, PAIRING_END, at, thread,
						     0));
		}
	}
}

/* Sorts records by time, each at a time of its own. */
COMPARE_FUNCTION_OF(truth_compare, size_t, struct truth,
		    compare_numbers(of->r[*x].time, of->r[*y].time)
			    ?: compare_numbers(*x, *y));

static void truth_sort(struct truth *t)
{
	static struct truth_record by_time[TRUTH_MAX];
	static size_t order[TRUTH_MAX], place[TRUTH_MAX];

	for (size_t i = 0; i < t->n; i++)
		order[i] = i;
	sort_items_by(order, t->n, truth_compare, t);
	for (size_t i = 0; i < t->n; i++)
		place[order[i]] = i;
	for (size_t i = 0; i < t->n; i++) {
		struct truth_record *r = &by_time[place[i]];

		*r = t->r[i];
		r->time = ((int64_t)place[i] + 1) * 10;
		r->r.time = r->time;
		r->r.event = (int64_t)place[i] + 1;
		if (r->other != INTERVAL_NEVER)
			r->other = ((int64_t)place[r->other] + 1) * 10;
	}
	memcpy(t->r, by_time, t->n * sizeof(*t->r));
}

/* Removes records of a ring: single ones, pairs or bursts. */
static void truth_cut(struct truth *t)
{
	size_t burst = (size_t)1 << truth_rnd(t, 4);

	for (size_t k = truth_rnd(t, 7); k; k--) {
		int32_t cpu = (int32_t)truth_rnd(t, TRUTH_CPUS);
		size_t n = burst;

		for (size_t i = truth_rnd(t, t->n); n && i < t->n; i++)
			if (t->r[i].r.cpu == cpu && n--)
				t->r[i].gone = true;
	}
}

/* What is missing between two neighbours of each ring. */
static void truth_cut_losses(const struct truth *t, struct lost_times *l)
{
	for (int32_t cpu = 0; cpu < TRUTH_CPUS; cpu++) {
		struct lost_time at = { .from = 0, .id = 1, .cpu = cpu };

		for (size_t i = 0; i < t->n; i++) {
			if (t->r[i].r.cpu != cpu)
				continue;
			if (t->r[i].gone) {
				at.n++;
				continue;
			}
			at.to = t->r[i].time;
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

static int64_t truth_real(const struct truth *t, int64_t begin)
{
	return t->r[begin / 10 - 1].other;
}

static void truth_judge(void *arg, const struct interval *i)
{
	struct truth *t = arg;
	bool both = i->begin != INTERVAL_NEVER && i->end != INTERVAL_NEVER;

	if (i->verdict == INTERVAL_PROVED) {
		bool same = truth_real(t, i->begin) == i->end;
		bool unseen = !same && i->end != INTERVAL_NEVER &&
			      (t->kind->again == PAIR_SET ||
			       t->kind->again == PAIR_EITHER) &&
			      t->r[truth_real(t, i->end) / 10 - 1].gone;

		t->proved++;
		t->falsely += !same && !unseen;
		t->unseen += unseen;
	}
	if (i->verdict == INTERVAL_AMBIGUOUS) {
		int64_t took = truth_real(t, i->begin) - i->begin;

		t->ambiguous++;
		t->bounds += took < i->least || took > i->most;
		t->claimed += i->end - i->begin;
		t->real += took;
	}
	/* of one at a time, what is not proved is no longer than it seems */
	if (i->verdict == INTERVAL_CONSISTENT && both &&
	    (t->kind->again == PAIR_ONE || t->kind->again == PAIR_PART) &&
	    truth_real(t, i->begin) != INTERVAL_NEVER)
		t->bounds += truth_real(t, i->begin) - i->begin > i->most;
}

struct truth_kind {
	const char *name, *begin;
	void (*make)(struct truth *t);
};

static const struct truth_kind truth_kinds[] = {
	{ "calls", "raw_syscalls:sys_enter", truth_make_calls },
	{ "works", "workqueue:workqueue_execute_start", truth_make_calls },
	{ "guests", "kvm:kvm_exit", truth_make_calls },
	{ "interrupts", "irq:irq_handler_entry", truth_make_cpus },
	{ "softirqs", "irq:softirq_entry", truth_make_cpus },
	{ "raises", "irq:softirq_raise", truth_make_raises },
	{ "locks", "lock:contention_begin", truth_make_locks },
	{ "requests", "block:block_rq_issue", truth_make_requests },
	{ "timers", "timer:timer_start", truth_make_timers },
	{ "queued_works", "workqueue:workqueue_queue_work", truth_make_works },
	{ "functions", NULL, truth_make_nested },
};

static const struct pair_kind truth_own = {
	.word = "own", .begin = "f", .end = "g", .again = PAIR_STACK
};

static const struct pair_kind *truth_kind(const char *begin)
{
	for (size_t i = 0; begin && i < pair_kinds_n; i++)
		if (!strcmp(pair_kinds[i].begin, begin))
			return &pair_kinds[i];
	return &truth_own;
}

START_TEST(no_proved_interval_of_a_kind_is_false_whatever_is_removed)
{
	const struct truth_kind *k = &truth_kinds[_i];
	struct truth *t = mem_new(1, sizeof(*t));

	t->seed = (uint64_t)_i + 1;
	t->kind = truth_kind(k->begin);
	const int rounds = run_long() ? 4000 : RUN_ELSEWHERE ? 100 : 400;

	for (int round = 0; round < rounds; round++) {
		struct lost_times *l = mem_new(1, sizeof(*l));
		struct pairing *p = pairing_new(l, truth_judge, NULL, t);

		t->n = 0;
		k->make(t);
		truth_sort(t);
		if (round)
			truth_cut(t);
		truth_cut_losses(t, l);
		for (size_t i = 0; i < t->n; i++)
			if (!t->r[i].gone)
				pairing_take(p, &t->r[i].r);
		pairing_end(p);
		pairing_free(p);
		lost_times_release(l);
		free(l);
		ck_assert_msg(!t->falsely, "%s, round %d: %d false of %d",
			      k->name, round, (int)t->falsely, (int)t->proved);
		ck_assert_msg(!t->bounds, "%s, round %d: wrong bounds", k->name,
			      round);
		ck_assert_int_eq(t->claimed, t->real);
	}
	ck_assert_uint_gt(t->proved, 1000);
	ck_assert_msg(t->unseen * 1000 < t->proved, "%s: %d of %d unseen",
		      k->name, (int)t->unseen, (int)t->proved);
	ck_assert(t->kind->again != PAIR_SET || t->ambiguous > 1000);
	free(t);
}
END_TEST

static const struct run_table truth_tables[] = {
	RUN_TABLE(no_proved_interval_of_a_kind_is_false_whatever_is_removed,
		  truth_kinds),
};

RUN_TABLES("pairing_truth", truth_tables, NULL)
