/* readings.c - reads the numbers of lost records in samples
 * (PERF_FORMAT_LOST). */
#include "stitch/audit/readings.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/base/table.h"

/* Most ids, one for each event and CPU; others are ignored. */
#define IDS_MAX 65536

struct reading {
	uint64_t id, lost;
	int64_t time; /* time of the sample */
};

struct readings {
	struct reading *reading;
	size_t n, cap;
	struct table by_id;
};

struct readings *readings_new(void)
{
	return mem_new(1, sizeof(struct readings));
}

void readings_free(struct readings *rd)
{
	if (!rd)
		return;
	table_release(&rd->by_id);
	free(rd->reading);
	free(rd);
}

void readings_sample(struct readings *rd, const struct rec_sample *s,
		     int64_t time, readings_fn *fn, void *arg)
{
	uint64_t id = 0;

	for (uint32_t i = 0; i < s->n_extra; i++) {
		const struct extra *x = &s->extra[i];
		const char *last = strrchr(x->name, '.');

		if (!last || strncmp(x->name, "read.", 5) != 0)
			continue;
		if (!strcmp(last, ".id"))
			id = x->value;
		if (strcmp(last, ".lost") != 0)
			continue;
		uint64_t h = hash_u64(id);
		uint32_t at = table_find_hash(&rd->by_id, h);

		if (at == TABLE_NONE && rd->n < IDS_MAX) {
			table_add(&rd->by_id, h, (uint32_t)rd->n);
			*mem_add(rd->reading, rd->n, rd->cap) =
				(struct reading){ id, x->value, time };
		}
		if (at == TABLE_NONE)
			continue;
		struct reading *r = &rd->reading[at];

		if (x->value > r->lost)
			fn(arg, x->value - r->lost, r->time);
		r->lost = x->value;
		r->time = time;
	}
}
