/* model_state.c - names, lives and mappings, by looking back through all the
 * records. */
#include <stdio.h>
#include <string.h>

#include "tests/truth/truth.h"

/* The last item of the thread before item i. */
static size_t last_of(const struct list *l, size_t i, int32_t tid)
{
	while (i-- > 0)
		if (model_of_thread(l->at[i].rec) && l->at[i].rec->tid == tid)
			return i;
	return l->n;
}

/* NULL: nobody said. */
static const char *name_at(const struct list *l, const struct expect *ex,
			   size_t at)
{
	for (uint32_t i = (uint32_t)at; i != NOWHERE && i >= ex->life[at];
	     i = ex->prev[i]) {
		const struct record *r = l->at[i].rec;

		if (r->kind == REC_COMM)
			return r->comm.name;
		if (r->kind != REC_FORK || i != ex->life[at])
			continue;
		size_t p = last_of(l, i, r->fork.ptid);

		return p < l->n ? name_at(l, ex, p) : NULL;
	}
	return NULL;
}

void model_comm(const struct list *l, const struct expect *ex, size_t i,
		char *name, size_t size)
{
	const char *said = name_at(l, ex, i);
	int32_t tid = l->at[i].rec->tid;

	if (said)
		snprintf(name, size, "%s", said);
	else if (tid == 0)
		snprintf(name, size, "swapper");
	else
		snprintf(name, size, ":%d", (int)tid);
}

const struct record *model_map(const struct list *l, const struct expect *ex,
			       size_t i, int32_t pid, uint64_t addr)
{
	while (i-- > 0) {
		const struct record *r = l->at[i].rec;

		if (r->pid != pid)
			continue;
		if (r->kind == REC_MAP && !(r->flags & REC_F_KERNEL) &&
		    addr >= r->map.start && addr - r->map.start < r->map.len)
			return r;
		if (r->kind == REC_COMM && r->flags & REC_F_EXEC)
			return NULL;
		/* another life of the id, of which no FORK tells */
		if (ex && r->kind != REC_FORK && r->tid == pid &&
		    ex->life[i] == i && ex->prev[i] != NOWHERE)
			return NULL;
		if (r->kind != REC_FORK || r->fork.ppid == pid)
			continue;
		if (!is_timed(r) || r->flags & REC_F_SYNTH)
			return NULL;
		pid = r->fork.ppid;
	}
	return NULL;
}

bool model_life(const struct list *l, const struct expect *ex, size_t i,
		struct fact_thread *out)
{
	const struct record *r = l->at[i].rec;

	if (!model_of_thread(r) || ex->life[i] != i)
		return false;
	*out = (struct fact_thread){ .tid = r->tid,
				     .start = TIME_NONE,
				     .end = TIME_NONE };
	if (r->kind == REC_FORK && !(r->flags & REC_F_SYNTH))
		out->start = time_of(r);
	for (size_t k = i; k < l->n; k++) {
		const struct record *o = l->at[k].rec;

		if (!model_of_thread(o) || o->tid != r->tid)
			continue;
		if (ex->life[k] == i && o->kind != REC_EXIT)
			continue;
		if (o->kind == REC_EXIT || o->kind == REC_FORK)
			out->end = time_of(o);
		break;
	}
	return true;
}
