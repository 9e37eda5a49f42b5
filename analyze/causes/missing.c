/* missing.c - finds which records may be missing in a time. */
#include "analyze/causes/missing.h"

bool missing_counts(const struct timeline *t)
{
	return !t->n_silent && !t->contradictions;
}

int missing_runs(const struct timeline *t, const struct timeline_loss *l,
		 int32_t tid[2])
{
	int n = 0;

	if (l->only_wakes)
		return 0;
	/* a thread that came after a silent task and left would have records,
	 * unless records of other tasks are missing too */
	if (l->of_task && !t->contradictions) {
		if (l->after > 0)
			tid[n++] = l->after;
		return n;
	}
	/* one missing record is at most one switch: only the threads current
	 * before and after it were there */
	if (!missing_counts(t) || l->n < 0 || l->n >= 2 || l->before < 0 ||
	    l->after < 0)
		return -1;
	tid[n++] = l->before;
	if (l->after != l->before)
		tid[n++] = l->after;
	return n;
}

bool missing_holds(const struct timeline *t, const struct timeline_loss *l)
{
	if (l->only_wakes || (l->of_task && !t->contradictions))
		return false;
	return l->n < 0 || l->n >= UNSEEN_RUN;
}

unsigned int missing_premise(const struct timeline *t)
{
	unsigned int premise = 0;

	if (timeline_is_blind(t))
		return MISSING_ANYWHERE;
	if (t->n_silent)
		premise |= MISSING_IF_TASKS;
	if (t->contradictions)
		premise |= MISSING_IF_SHOWS;
	else if (t->rules.pauses)
		premise |= MISSING_IF_ON;
	if (t->rules.cpus_seen)
		premise |= MISSING_IF_CPUS;
	return premise;
}

bool missing_in(const struct timeline *t, int32_t cpu, int64_t from, int64_t to,
		bool tasks)
{
	const struct timeline_loss *l = NULL;

	while ((l = cpu < 0 ? timeline_next_loss(t, from, to, l)
			    : timeline_next_loss_on(t, cpu, from, to, l)))
		if (l->from < to && l->to > from && (tasks || !l->of_task))
			return true;
	return false;
}
