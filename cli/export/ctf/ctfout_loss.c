/* ctfout_loss.c - losses as ranges of time on each CPU. */

#include "cli/export/ctf/ctfout_bt.h"
#include "analyze/samples/loss_rows.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

COMPARE_BY(ctfout_loss_by_cpu, struct ctfout_edge, cpu, time, to);

/* Two edges of one CPU at one time: the end of the earlier loss comes before
 * the start of the later one, but not the end of a loss before its start. */
COMPARE_BY(ctfout_loss_by_time, struct ctfout_edge, time, cpu, to, end);

static size_t ctfout_loss_merge(struct ctfout_edge *e, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		struct ctfout_edge *last = out ? &e[out - 1] : NULL;

		if (last && last->cpu == e[i].cpu &&
		    (e[i].time < last->to || e[i].to == last->to)) {
			last->n += e[i].n;
			raise_to(last->to, e[i].to);
			continue;
		}
		e[out++] = e[i];
	}
	return out;
}

struct ctfout_edge *ctfout_loss_edges(const struct loss_rows *l, int64_t start,
				      bool timed, size_t *n)
{
	struct ctfout_edge *e = mem_new(2 * l->n + 1, sizeof(*e));
	size_t used = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct loss_row *r = &l->row[i];
		bool from_known = timed && r->has_from;
		int64_t to = timed && r->has_to ? r->to
			     : from_known	? r->from
						: start;
		int64_t from = from_known && r->from < to ? r->from : to;

		if (r->counts && r->n)
			e[used++] = (struct ctfout_edge){
				.cpu = r->cpu < CTFOUT_CPUS ? r->cpu : -1,
				.time = from,
				.to = to,
				.n = r->n > 0 ? (uint64_t)r->n : 0,
			};
	}
	sort_items(e, used, ctfout_loss_by_cpu);
	used = ctfout_loss_merge(e, used);
	for (size_t i = 0; i < used; i++) {
		e[used + i] = e[i];
		e[used + i].time = e[i].to;
		e[used + i].end = true;
	}
	*n = 2 * used;
	sort_items(e, *n, ctfout_loss_by_time);
	return e;
}
