/* sessions.c - the captures, and which of them are of one kernel. */
#include "stitch/join/sessions.h"

#include "stitch/base/mem.h"

#define CPU_MAX 65536

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
	if (cpu < 0 || cpu >= CPU_MAX)
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
