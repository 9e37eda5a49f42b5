/* proof_held.c - whether a runnable thread could have run.
 *
 * State R is not "ready": what holds a thread back leaves it runnable. These
 * are quotas and freezing (limits.h), and what no reading tells: core
 * scheduling, a virtual CPU that the host does not run. That real-time
 * throttling did not hold a real-time thread is a premise.
 *
 * A thread is not ready while a CPU that it may use is idle for longer than the
 * balance of an idle CPU takes: at most 2 ms for each CPU of the domain
 * (sd_init(): max_interval, kernel/sched/topology.c, and
 * get_sd_balance_interval(), kernel/sched/fair.c), and a tick of 10 ms or less,
 * at which a busy CPU asks for it (nohz_balancer_kick()). The CPUs that it may
 * use are the one that it left, the one that it comes to, and those that were
 * read; if they were not, that it is ready while another one is idle has a
 * premise. Nor is it if it left its CPU runnable, and the CPU went idle:
 * __schedule() chooses the idle task only where no thread is queued. */
#include "analyze/causes/proof_inner.h"

#include "stitch/base/search.h"

#define BALANCE_NS 2000000 /* for each CPU */
#define TICK_NS 10000000

struct idle_time {
	int32_t cpu;
	int64_t from, to;
};

COMPARE_BY(held_compare_idle, struct idle_time, cpu, from);

static int32_t held_cpus(const struct timeline *t)
{
	return t->rules.cpus > (int32_t)t->n_ring ? t->rules.cpus
						  : (int32_t)t->n_ring;
}

static int64_t held_least(const struct timeline *t)
{
	return held_cpus(t) * (int64_t)BALANCE_NS + TICK_NS;
}

void held_init(struct proofs *p)
{
	for (size_t i = 0; i < p->t->stay.n; i++) {
		const struct timeline_stay s = timeline_stay(p->t, (uint32_t)i);

		if (s.thread == TIMELINE_NONE &&
		    s.to - s.from > held_least(p->t))
			*mem_add(p->idle, p->n_idle, p->cap_idle) =
				(struct idle_time){ s.cpu, s.from, s.to };
	}
	sort_items(p->idle, p->n_idle, held_compare_idle);
}

/* Whether a CPU was idle for long within a time. */
static bool held_was_idle(const struct proofs *p, int32_t cpu, int64_t from,
			  int64_t to)
{
	size_t i =
		search_where(p->n_idle, k,
			     p->idle[k].cpu > cpu || (p->idle[k].cpu == cpu &&
						      p->idle[k].to > from));

	for (; i < p->n_idle && p->idle[i].cpu == cpu && p->idle[i].from < to;
	     i++) {
		int64_t a = p->idle[i].from > from ? p->idle[i].from : from;
		int64_t b = p->idle[i].to < to ? p->idle[i].to : to;

		if (b - a > held_least(p->t))
			return true;
	}
	return false;
}

struct limits_told proofs_held(const struct proofs *p, uint32_t thread,
			       const struct proof_piece *pc)
{
	const struct numbers id = lists_get(&p->t->stays, thread);
	struct limits_ask ask = { .tid = timeline_tid(p->t, thread),
				  .from = pc->from,
				  .to = pc->to,
				  .first = TIMELINE_END,
				  .last = TIMELINE_START };

	if (pc->from == TIMELINE_START || pc->to == TIMELINE_END)
		return (struct limits_told){ .idle = -1 };
	if (id.n) {
		ask.first = timeline_stay(p->t, numbers_get(&id, 0)).from;
		ask.last = timeline_stay(p->t, numbers_get(&id, id.n - 1)).to;
	}
	struct limits_told out = limits_tell(p->t->limits, &ask);
	bool is_long = pc->to - pc->from > held_least(p->t);

	for (int32_t i = 0; is_long && !out.cpus && i < held_cpus(p->t); i++)
		if (out.idle < 0 && held_was_idle(p, i, pc->from, pc->to))
			out.idle = i;
	return out;
}

void held_judge(const struct proofs *p, uint32_t thread, struct piece *pc,
		int64_t to)
{
	const struct proof_piece of = { .from = pc->from, .to = to };
	const struct limits_told told = proofs_held(p, thread, &of);
	struct timeline_stay out = { .cpu = 0 }, in;
	bool left = pc->stay != TIMELINE_NONE;
	bool idle = held_was_idle(p, (int32_t)pc->cpu - 1, pc->from, to);

	if (left) {
		out = timeline_stay(p->t, pc->stay);
		idle |= held_was_idle(p, out.cpu, pc->from, to) ||
			(out.exact_to && is_ready(out.state) &&
			 timeline_on(p->t, out.cpu, pc->from, &in) &&
			 in.thread == TIMELINE_NONE && in.from == pc->from &&
			 in.to > in.from);
	}
	for (int32_t i = 0;
	     told.cpus && !idle && to - pc->from > held_least(p->t) &&
	     i < held_cpus(p->t);
	     i++)
		idle = limits_has_cpu(told.cpus, i) &&
		       held_was_idle(p, i, pc->from, to);
	/* a short time is rather one for which another thread ran */
	if (told.cgroup && !told.frozen && (idle || to - pc->from > TICK_NS))
		pc->state = PIECE_THROTTLED;
	else if (idle || (told.cgroup && told.frozen))
		pc->state = PIECE_HELD;
	/* it may have been ready, for a part of the time or all of it */
	if (told.cgroup && !idle && pc->proof == PROOF_PROVED)
		pc->proof = PROOF_LIKELY;
}
