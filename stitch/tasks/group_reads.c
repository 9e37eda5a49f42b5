/* group_reads.c - computes what the members of event groups counted between
 * samples. */
#include "stitch/tasks/group_reads.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

/* Most values, one for each member, CPU and thread. */
#define READS_MAX (1u << 20)

void group_reads_release(struct group_reads *g)
{
	free(g->read);
	table_release(&g->by_key);
}

SAME_BY(group_reads_is_same, struct group_reads, read[id], struct group_read,
	id, thread, source);

bool group_reads_since(struct group_reads *g, uint16_t source, uint32_t thread,
		       const struct group_value *m, uint64_t *n)
{
	const struct group_read key = { m->id, m->value, thread, source };
	uint64_t h = hash_pair(m->id, (uint64_t)thread << 16 | source);
	uint32_t i = table_find(&g->by_key, h, group_reads_is_same, g, &key);

	if (i == TABLE_NONE && g->n >= READS_MAX) {
		g->refused++;
		return false;
	}
	if (i == TABLE_NONE) {
		table_add(&g->by_key, h, (uint32_t)g->n);
		*mem_add(g->read, g->n, g->cap) = key;
		*n = m->value;
		return true;
	}
	if (m->value < g->read[i].value) {
		g->refused++;
		return false;
	}
	*n = m->value - g->read[i].value;
	g->read[i].value = m->value;
	return true;
}
