/* unwinders.c - when processes that unwind themselves logged stacks. */
#include "stitch/join/unwinders.h"

#include "stitch/base/mem.h"
#include "stitch/join/cookies.h"
#include "stitch/tasks/join_task.h"

/* As many ticks of 1 kHz as a quarter of a second, in which a table of
 * unwinding is read. The walk has an end, so that a capture in which every
 * stack comes late is not read in quadratic time. */
#define INSIDE_MAX 256

void unwinders_release(struct unwinders *us)
{
	free(us->thread.life);
	free(us->process.life);
}

static void note_logged(struct unwinder_lives *ls, uint32_t id, uint64_t now)
{
	mem_reach(ls->life, ls->n, ls->cap, id + (size_t)1);
	if (!ls->life[id].first)
		ls->life[id].first = now;
	ls->life[id].last = now;
}

void unwinders_logged(struct unwinders *us, uint32_t thread, uint32_t process)
{
	note_logged(&us->thread, thread, us->now);
	if (process)
		note_logged(&us->process, process, us->now);
}

static struct unwinder_life unwinder_life_at(const struct unwinder_lives *ls,
					     uint32_t id)
{
	const struct unwinder_life none = { 0, 0 };

	return id < ls->n ? ls->life[id] : none;
}

struct unwinder_life unwinders_life(const struct unwinders *us, uint32_t thread,
				    uint32_t process)
{
	struct unwinder_life t = unwinder_life_at(&us->thread, thread);
	const struct unwinder_life p = unwinder_life_at(&us->process, process);

	if (p.first && (!t.first || p.first < t.first))
		t.first = p.first;
	raise_to(t.last, p.last);
	return t;
}

void unwinders_mark_inside(struct cookies *cs, const uint32_t *recent,
			   uint32_t queued, uint32_t i)
{
	const struct cookie_entry *it = &cs->entry[i];
	struct cookie_entry *e = NULL;

	if (!it->asked)
		return;
	for (size_t k = 0; k < JOIN_RECENT; k++) {
		if (!recent[k])
			return;
		e = &cs->entry[recent[k]];
		if (e->asked > it->asked && !e->has_chain)
			e->in_unwinder = true;
	}
	/* more came than the thread's list holds, if its oldest is later */
	if (e->asked && e->asked <= it->asked)
		return;
	for (size_t k = 0; queued && k < INSIDE_MAX; k++) {
		e = &cs->entry[queued];
		queued = e->before_it;
		if (e->tid != it->tid || e->line != it->line || !e->asked)
			continue;
		if (e->asked <= it->asked)
			return;
		e->in_unwinder |= !e->has_chain;
	}
}
