/* sessions.c - keeps the captures, and which of them are of one kernel. */
#include "stitch/join/sessions.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

void sessions_release(struct sessions *ss)
{
	for (size_t i = 0; i < ss->n; i++) {
		if (ss->at[i])
			free(ss->at[i]->foreign_cpu);
		free(ss->at[i]);
	}
	free(ss->at);
	*ss = (struct sessions){ 0 };
}

struct session *sessions_at(struct sessions *ss, uint16_t source)
{
	struct session **at = mem_at(ss->at, ss->n, ss->cap, source);
	struct session *se = *at;

	if (se)
		return se;
	se = *at = mem_new(1, sizeof(*se));
	se->source = se->line = source;
	se->members = 1;
	se->bit = 1;
	se->next = se;
	return se;
}

void session_add_foreign(struct session *se, int32_t cpu)
{
	se->totals.foreign++;
	if (cpu < 0 || cpu >= CPUS_MAX)
		return;
	*mem_at(se->foreign_cpu, se->n_foreign_cpu, se->cap_foreign_cpu, cpu) =
		true;
	se->totals.foreign_cpu = se->foreign_cpu;
	se->totals.n_foreign_cpu = se->n_foreign_cpu;
}

void sessions_together(struct sessions *ss, uint16_t source, uint16_t first)
{
	struct session *se = sessions_at(ss, source);
	struct session *head = sessions_at(ss, first);

	if (se == head || !session_is_alone(se) || head->line != first ||
	    head->members == LINE_MAX)
		return;
	se->line = first;
	se->bit = (uint64_t)1 << head->members++;
	se->next = head->next;
	head->next = se;
}

void shared_threads_release(struct shared_threads *ps)
{
	free_all(ps->at, ps->free);
	table_release(&ps->by_row);
}

struct join_task *shared_threads_task(struct shared_threads *ps, uint32_t row,
				      struct join_task *view)
{
	if (!view->shared) {
		const uint64_t h = hash_u64(row);
		uint32_t i = table_find_hash(&ps->by_row, h);

		/* no capture saw it before */
		if (i == TABLE_NONE) {
			i = mem_reuse(ps->at, ps->n, ps->cap, ps->free,
				      ps->n_free);
			ps->at[i] = (struct shared_thread){ .row = row,
							    .end = TIME_NONE };
			table_add(&ps->by_row, h, i);
		}
		ps->at[i].views++;
		view->shared = i + 1;
	}
	struct join_task *task = &ps->at[view->shared - 1].task;

	/* an exec record changes only the view of its capture */
	if (view->has_exec && (!task->has_exec || view->exec > task->exec)) {
		task->has_exec = true;
		task->exec = view->exec;
	}
	raise_to(task->execs, view->execs);
	return task;
}

bool shared_threads_retire(struct shared_threads *ps,
			   const struct join_task *view, enum join_reason *why,
			   int64_t *end, struct join_task *out)
{
	uint32_t i = view->shared - 1;
	struct shared_thread *p = &ps->at[i];

	if (*why > p->why) {
		p->why = *why;
		p->end = *end;
	}
	if (--p->views)
		return false;
	*why = p->why;
	*end = p->end;
	*out = p->task;
	table_remove(&ps->by_row, hash_u64(p->row), i);
	*mem_add(ps->free, ps->n_free, ps->cap_free) = i;
	return true;
}
