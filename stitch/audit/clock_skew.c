/* clock_skew.c - finds CPUs whose clocks differ, by the counters in cookies. */
#include "stitch/audit/clock_skew.h"

#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/fact.h"

/* Most pairs of CPUs that are kept. */
#define BOUNDS_MAX 4096
/* Most CPUs among which bounds are added up; the time for it grows with the
 * third power. */
#define CLOSE_MAX 64

void clock_bounds_release(struct clock_bounds *cb)
{
	free(cb->at);
	table_release(&cb->by_cpus);
	*cb = (struct clock_bounds){ 0 };
}

static void clock_bounds_add(struct clock_bounds *cb, int32_t ahead,
			     int32_t behind, int64_t most)
{
	uint64_t key = hash_u32s((uint32_t)ahead, (uint32_t)behind);
	uint32_t i = table_find_hash(&cb->by_cpus, key);

	if (i != TABLE_NONE) {
		lower_to(cb->at[i].most, most);
		return;
	}
	if (cb->n == BOUNDS_MAX)
		return;
	table_add(&cb->by_cpus, key, (uint32_t)cb->n);
	*mem_add(cb->at, cb->n, cb->cap) =
		(struct clock_bound){ ahead, behind, most };
}

void clock_bounds_note(struct clock_bounds *cb, int32_t first, int64_t since,
		       int32_t second, int64_t time)
{
	if (first != second && first >= 0 && second >= 0)
		clock_bounds_add(cb, second, first,
				 saturating_apart(time, since));
}

void clock_bounds_join(struct clock_bounds *cb,
		       const struct clock_bounds *other)
{
	for (size_t i = 0; i < other->n; i++)
		clock_bounds_add(cb, other->at[i].ahead, other->at[i].behind,
				 other->at[i].most);
}

int64_t clock_bounds_most(const struct clock_bounds *cb, int32_t ahead,
			  int32_t behind)
{
	uint32_t i = table_find_hash(
		&cb->by_cpus, hash_u32s((uint32_t)ahead, (uint32_t)behind));

	return i == TABLE_NONE ? INT64_MAX : cb->at[i].most;
}

/* Returns the CPU's index in cpu[], and adds it if it is new; CLOSE_MAX if
 * there are too many. */
static size_t clock_bounds_place(int32_t *cpu, size_t *n, int32_t want)
{
	size_t i = 0;

	while (i < *n && cpu[i] != want)
		i++;
	if (i == *n && i < CLOSE_MAX)
		cpu[(*n)++] = want;
	return i;
}

void clock_bounds_close(struct clock_bounds *cb)
{
	int32_t cpu[CLOSE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < 2 * cb->n; i++) {
		const struct clock_bound *b = &cb->at[i / 2];

		if (clock_bounds_place(cpu, &n, i % 2 ? b->ahead : b->behind) ==
		    CLOSE_MAX)
			return;
	}
	for (size_t i = 0; i < n * n * n; i++) {
		int32_t by = cpu[i / n / n];
		int32_t ahead = cpu[i / n % n];
		int32_t behind = cpu[i % n];
		int64_t a = clock_bounds_most(cb, ahead, by);
		int64_t b = clock_bounds_most(cb, by, behind);
		int64_t most;

		if (ahead != behind && a != INT64_MAX && b != INT64_MAX &&
		    !__builtin_add_overflow(a, b, &most))
			clock_bounds_add(cb, ahead, behind, most);
	}
}

/* Clocks of CPUs are not more exact than this. */
#define EXACT_NS 1000
/* Clocks do not differ by more than this; beyond it the cookie is wrong. */
#define SKEW_MAX_NS 1000000000
/* Most pairs of CPUs that are kept. */
#define PAIRS_MAX 4096

void clock_skew_release(struct clock_skew *cs)
{
	free(cs->pair);
	table_release(&cs->by_cpus);
	*cs = (struct clock_skew){ 0 };
}

void clock_skew_add(struct clock_skew *cs, int32_t ahead, int64_t time,
		    const struct clock_far *far)
{
	int64_t since = far->time;

	if (ahead == far->cpu || saturating_apart(time, since) <= EXACT_NS ||
	    saturating_apart(time, since) > SKEW_MAX_NS)
		return;
	uint64_t key = hash_u32s((uint32_t)ahead, (uint32_t)far->cpu);
	uint32_t i = table_find_hash(&cs->by_cpus, key);

	if (i == TABLE_NONE) {
		if (cs->n == PAIRS_MAX)
			return;
		i = (uint32_t)cs->n;
		table_add(&cs->by_cpus, key, i);
		*mem_add(cs->pair, cs->n, cs->cap) = (struct clock_pair){
			.ahead = ahead,
			.behind = far->cpu,
		};
	}
	struct clock_pair *p = &cs->pair[i];

	p->records += p->last != far->count;
	p->last = far->count;
	if (!p->n++ || saturating_apart(time, since) >
			       saturating_apart(p->time, p->since)) {
		p->time = time;
		p->since = since;
	}
}

int clock_skew_take(struct clock_skew *cs, struct fact_finding *f)
{
	int32_t cpu = -1;
	bool ahead = true;
	uint64_t n = 0;
	/* By the first index of each CPU and side: the number of records that
	 * are explained if that CPU is ahead of, or behind, others. */
	uint64_t *sum OWNED = mem_new(2 * cs->n + 1, sizeof(*sum));
	struct table at = { 0 }; /* that index, by CPU and side */

	for (size_t i = 0; i < 2 * cs->n; i++) {
		const struct clock_pair *p = &cs->pair[i / 2];
		bool is_ahead = i % 2 == 0;
		uint64_t key = hash_u32s(
			(uint32_t)(is_ahead ? p->ahead : p->behind), is_ahead);

		sum[table_find_or_add(&at, key, i)] += p->records;
	}
	for (size_t i = 0; i < 2 * cs->n; i++) {
		if (sum[i] <= n)
			continue;
		n = sum[i];
		ahead = i % 2 == 0;
		cpu = ahead ? cs->pair[i / 2].ahead : cs->pair[i / 2].behind;
	}
	table_release(&at);
	if (n < 2)
		return 0;
	/* Remove the pairs that the CPU explains. */
	struct clock_pair most = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < cs->n; i++) {
		const struct clock_pair *p = &cs->pair[i];

		if ((ahead ? p->ahead : p->behind) != cpu)
			cs->pair[left++] = *p;
		else if (saturating_apart(p->time, p->since) >
			 saturating_apart(most.time, most.since))
			most = *p;
	}
	cs->n = left;

	*f = (struct fact_finding){
		.rule = RULE_CLOCK_SKEW,
		.time = most.time,
		.since = most.since,
		.cpu = cpu,
		.n = n,
	};
	return 1;
}
