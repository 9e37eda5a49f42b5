/* parallel.c - how many threads of a capture ran at a time.
 *
 * perf report --latency (since 6.15) begins with one thread, adds one for each
 * switch in and takes one for each switch out and each exit, within 1 and the
 * number of CPUs. Where nothing is lost of a program that perf started, that is
 * the number of runs at that time. */
#include "analyze/waits/parallel.h"

#include "analyze/samples/filter.h"
#include "analyze/waits/waits.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

COMPARE_BY(parallel_compare, struct parallel_step, time);

int parallel_load(struct store *db, const char *path, struct parallel *p,
		  struct err *err)
{
	const struct waits_ask ask = { .filter = &filter_none,
				       .runs = true,
				       .maybe = true };
	struct waits *w = waits_open(db, path, &ask, err);
	struct offcpu_sums sums;
	struct waits_item item;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0) {
		int32_t ran = item.kind == WAITS_RUN;
		int32_t maybe = item.kind == WAITS_MAYBE;

		if (!ran && !maybe)
			continue;
		*mem_add(p->step, p->n, p->cap) =
			(struct parallel_step){ item.run.from, ran, maybe };
		*mem_add(p->step, p->n, p->cap) =
			(struct parallel_step){ item.run.to, -ran, -maybe };
	}
	waits_close(w, &sums);
	p->cpus = sums.cpus;
	if (!rc && (sums.partial || offcpu_sampled(&sums)))
		rc = err_set(err, ERR_FORMAT,
			     "%s: not all switches of its threads were "
			     "recorded, so that it is not known how many ran; "
			     "record with --switch-events",
			     path);
	sort_items(p->step, p->n, parallel_compare);
	for (size_t i = 1; i < p->n; i++) {
		p->step[i].least += p->step[i - 1].least;
		p->step[i].maybe += p->step[i - 1].maybe;
	}
	return rc;
}

void parallel_release(struct parallel *p)
{
	free(p->step);
}

struct parallel_range parallel_at(const struct parallel *p, int64_t time)
{
	size_t at = search_where(p->n, i, p->step[i].time > time);
	struct parallel_range r = { 1, 1 };

	if (!at)
		return r;
	raise_to(r.least, p->step[at - 1].least);
	if (p->cpus > 0)
		lower_to(r.least, p->cpus);
	raise_to(r.most, p->step[at - 1].least + p->step[at - 1].maybe);
	if (p->cpus > 0)
		lower_to(r.most, p->cpus);
	raise_to(r.most, r.least);
	return r;
}
