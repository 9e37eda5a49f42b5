/* plain.c - where plain records have their time and id. */
#include "formats/perf/plain.h"

#include <string.h>

#include "stitch/base/table.h"

bool perf_layout_find(struct perf_layout *l, uint64_t id)
{
	if (table_find_hash(l->ids, hash_u64(id)) == TABLE_NONE)
		return false;
	l->recent[id % RECENT_IDS] = id;
	return true;
}

struct perf_layout *perf_layout_of(struct perf *p)
{
	const struct perf_attr *first = p->attr;
	struct perf_layout *l = &p->layout;

	if (l->known)
		return l;
	memset(l, 0, sizeof(*l));
	l->known = true;
	if (!p->n_attr || !p->src.info.has_time || p->src.info.overwrite)
		return l;
	l->samples = p->same_sample_time;
	l->others = p->same_time;
	l->asks = !p->same_time && p->n_id && first->s_id;
	l->s_time = first->s_time;
	l->s_id = first->s_id;
	l->t_time = first->t_time;
	l->t_size = first->t_size;
	l->ids = &p->by_id;
	return l;
}
