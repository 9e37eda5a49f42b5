/* clock_skew.c - finds CPUs whose clocks differ, by the counters in cookies. */
#include "stitch/audit/clock_skew.h"

#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/fact.h"

/* Clocks of CPUs are not more exact. */
#define EXACT_NS 1000
/* Clocks do not differ by more; then the cookie is wrong. */
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
	/* How much is explained if a CPU is ahead of, or behind, others: the
	 * number of records, at the first place of the CPU and side. */
	uint64_t *sum = mem_new(2 * cs->n + 1, sizeof(*sum));
	struct table at = { 0 }; /* that place, by both */

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
	free(sum);
	table_release(&at);
	if (n < 2)
		return 0;
	/* Remove what the CPU explains. */
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
