/* group_reads.c - what the members of event groups counted from one sample to
 * the next. */
#include "stitch/tasks/group_reads.h"

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/record.h"

/* Most values, one for each member, CPU and thread. */
#define READS_MAX (1u << 20)

struct group_read {
	uint64_t id, value;
	uint32_t thread;
	uint16_t source;
};

struct group_reads {
	struct group_read *read;
	size_t n, cap;
	struct table by_key;
	uint64_t refused;
};

struct group_reads *group_reads_new(void)
{
	return mem_new(1, sizeof(struct group_reads));
}

void group_reads_free(struct group_reads *g)
{
	if (!g)
		return;
	free(g->read);
	table_release(&g->by_key);
	free(g);
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

uint64_t group_reads_refused(const struct group_reads *g)
{
	return g->refused;
}
