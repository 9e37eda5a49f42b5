/* contradictions.c - records whose cookies contradict each other. */
#include "stitch/join/contradictions.h"

#include "stitch/base/saturate.h"
#include "stitch/fact.h"
#include "stitch/join/cookies.h"
#include "stitch/join/sessions.h"
#include "stitch/tasks/join_task.h"

/* Time in which the counter of a CPU cannot wrap (2^31 cookies). */
#define WRAP_NS 600000000000ll

static const struct join_clocks no_clocks = { UINT64_MAX, { -1, -1 } };

/* Outputs a finding, if findings are wanted. */
static void contradiction_push(const struct contradictions *k,
			       enum rule_number rule,
			       const struct join_half *half, int64_t since,
			       const struct join_clocks *clocks)
{
	const struct fact_finding f = {
		.rule = rule,
		.source = half->source,
		.time = half->time,
		.since = since,
		.cpu = half->cpu,
		.thread = half->thread,
		.event = half->event,
		.n = 1,
	};

	if (k->fn)
		k->fn(k->arg, &f, clocks);
}

void contradiction_found(const struct contradictions *k, enum rule_number rule,
			 const struct join_half *half, int64_t since)
{
	contradiction_push(k, rule, half, since, &no_clocks);
}

/* Returns whether two records are so close in time that the counter did not
 * wrap between them. */
static bool is_same_round(int64_t from, int64_t to)
{
	return from != TIME_NONE && to != TIME_NONE &&
	       saturating_apart(to, from) < WRAP_NS;
}

/* Returns by how much clocks must differ to swap two records. */
static uint64_t clocks_between(int64_t from, int64_t to)
{
	return to > from ? (uint64_t)saturating_apart(to, from) : 0;
}

/* Returns whether the half can contradict anything: its order is known, and its
 * cookie is the kernel's. */
static bool is_in_order(const struct session *se, const struct cookie_entry *e,
			const struct join_half *half)
{
	return !e->nonce && !half->late && e->tid > 0 && se->has_time &&
	       half->time != TIME_NONE && se->cookies == COOKIES_PERF;
}

/* A record of a cookie that is over never happens in captures of the kernel,
 * even with losses. Clocks of CPUs may differ a little, unless all records are
 * from one CPU. */
bool contradiction_is_over(const struct contradictions *k,
			   const struct cookie_entry *e,
			   const struct session *se,
			   const struct join_half *half)
{
	bool one_clock = e->first_cpu >= 0 && half->cpu == e->first_cpu &&
			 e->closed_cpu == e->first_cpu;

	if (!is_in_order(se, e, half) || !session_is_alone(se))
		return false;
	/* A chain may come after its thread, but a sample may not. */
	if (half->event && e->has_chain && e->thread && half->thread &&
	    e->thread != half->thread && e->chain.time != TIME_NONE &&
	    saturating_apart(half->time, e->chain.time) > CLOCKS_NS &&
	    is_same_round(e->chain.time, half->time)) {
		const struct join_clocks swap = {
			clocks_between(e->chain.time, half->time),
			{ e->chain.cpu, -1 },
		};

		contradiction_push(k, RULE_COOKIE_REUSED, half, e->chain.time,
				   &swap);
		return true;
	}
	/* A cookie without a chain may get its chain at any time. */
	if (e->end != END_COOKIE || e->closed_at == TIME_NONE ||
	    half->time <= e->closed_at || (!half->event && !e->has_chain) ||
	    (!one_clock &&
	     saturating_apart(half->time, e->closed_at) <= CLOCKS_NS))
		return false;
	/* The record that closed the cookie may be older, if clocks differ. */
	if (!one_clock && !e->has_chain &&
	    saturating_apart(e->closed_at, e->last_time) <= CLOCKS_NS)
		return false;
	/* Clocks explain it if they moved the half after the record that closed
	 * the cookie, or the whole stay before that. */
	uint64_t by = clocks_between(e->closed_at, half->time);
	uint64_t stay = clocks_between(e->first_time, e->closed_at);
	const struct join_clocks swap = {
		stay < by ? stay : by,
		{ e->closed_cpu, e->first_cpu },
	};

	if (is_same_round(e->closed_at, half->time))
		contradiction_push(k, RULE_COOKIE_REUSED, half, e->closed_at,
				   one_clock ? &no_clocks : &swap);
	return true;
}

bool contradiction_is_early(const struct join_chain *c, int64_t asked,
			    int32_t cpu)
{
	return c->time < asked &&
	       (c->cpu == cpu || saturating_apart(asked, c->time) > CLOCKS_NS);
}

void contradiction_new_cookie(const struct contradictions *k,
			      const struct cookie_entry *e,
			      const struct cookie_entry *older,
			      const struct join_past *past,
			      const struct session *se,
			      const struct join_task *task,
			      const struct join_half *half)
{
	if (!is_in_order(se, e, half))
		return;
	if (!older) {
		/* The cookie comes back so long after it was seen that nothing
		 * is known about it. If it was the thread's own, all known
		 * cookies of the thread are newer, and clocks must have swapped
		 * it with all of them. */
		const struct cookie_entry *a = past->oldest;
		const struct cookie_entry *b = past->newest;
		struct join_clocks swap = no_clocks;

		if (!half->again || !session_is_alone(se))
			return;
		if (a &&
		    (a->first_cpu != half->cpu || b->first_cpu != half->cpu))
			swap = (struct join_clocks){
				clocks_between(a->first_time, b->first_time),
				{ a->first_cpu, b->first_cpu },
			};
		contradiction_push(k, RULE_COOKIE_REUSED, half, TIME_NONE,
				   &swap);
		return;
	}
	int64_t since = older->has_chain ? older->chain.time : older->last_time;

	if (older->tid > 0 && is_same_round(since, half->time) &&
	    !(task->has_exec && older->process == half->process))
		contradiction_found(k, RULE_COOKIE_SHARED, half, since);
}
