/* deferral.c - adds up how long requests waited for their user stack, for the
 * percentiles of info and check: sorting a million requests for them takes
 * three seconds. */

#include "schema/columns.h"
#include "schema/db/rows.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/record.h"

/* Times below 2^6 ns are exact, larger ones keep 6 bits. */
#define BITS 6

/* Requests of an event on a CPU that waited about equally long. */
struct deferral_sum {
	uint32_t type;
	int32_t cpu; /* -1: not recorded */
	int64_t ns;  /* at most */
	int64_t max; /* the largest of them */
	int64_t n;
};

struct deferral_sums {
	struct deferral_sum *sum;
	size_t n, cap;
	struct table index;
};

/* Returns the largest time that counts as the same. */
static int64_t deferral_round(int64_t ns)
{
	if (ns <= 0)
		return 0;
	if (ns < 1 << BITS)
		return ns;
	int shift = 64 - BITS - __builtin_clzll((unsigned long long)ns);
	return (int64_t)(((uint64_t)ns >> shift << shift) +
			 ((uint64_t)1 << shift) - 1);
}

SAME_BY(deferral_is_same, struct deferral_sums, sum[id], struct deferral_sum,
	type, cpu, ns);

void deferral_free(struct deferral_sums *d)
{
	if (!d)
		return;
	table_release(&d->index);
	free_all(d->sum, d);
}

static void deferral_add(struct deferral_sums *d, uint32_t type, int32_t cpu,
			 int64_t ns)
{
	const struct deferral_sum s = {
		.type = type,
		.cpu = cpu < 0 ? -1 : cpu,
		.ns = deferral_round(ns),
	};
	uint64_t h = hash_pair((uint64_t)s.type << 32 | (uint32_t)s.cpu,
			       (uint64_t)s.ns);
	uint32_t at = table_find(&d->index, h, deferral_is_same, d, &s);

	if (at == TABLE_NONE) {
		at = (uint32_t)d->n;
		table_add(&d->index, h, at);
		*mem_add(d->sum, d->n, d->cap) = s;
	}
	d->sum[at].n++;
	if (ns > d->sum[at].max)
		d->sum[at].max = ns;
}

void deferral_request(struct writing *w, const struct fact_request *q,
		      uint32_t type, int32_t cpu)
{
	if (q->latency == TIME_NONE)
		return;
	if (!w->deferral)
		w->deferral = mem_new(1, sizeof(*w->deferral));
	deferral_add(w->deferral, type, cpu, q->latency);
}

COMPARE_BY(deferral_compare, struct deferral_sum, type, cpu, ns);

int deferral_end(struct maker *mk, struct err *err)
{
	struct deferral_sums *d = mk->w->deferral;

	if (mk->w->merged && mk->w->requests) {
		struct rows *r =
			rows_of(maker_read(mk, err), "deferral_latencies", err);

		if (!d)
			d = mk->w->deferral = mem_new(1, sizeof(*d));
		while (rows_step(r)) {
			int32_t cpu = (int32_t)rows_int_or(
				r, DEFERRAL_LATENCIES_CPU, -1);

			deferral_add(
				d,
				(uint32_t)rows_int(r, DEFERRAL_LATENCIES_TYPE),
				cpu, rows_int(r, DEFERRAL_LATENCIES_NS));
		}
		if (rows_end(r, err))
			return -1;
	}
	if (!d)
		return 0;
	sort_items(d->sum, d->n, deferral_compare);
	for (size_t i = 0; i < d->n; i++) {
		const struct deferral_sum *s = &d->sum[i];
		/* the longest time of an event and CPU is exact */
		bool last = i + 1 == d->n || s[1].type != s->type ||
			    s[1].cpu != s->cpu;

		if (PUT_ROW(mk, T_DEFERRAL, err, VALUE_OF(s->type),
			    VALUE_CPU(s->cpu), VALUE_OF(last ? s->max : s->ns),
			    VALUE_OF(s->n)))
			return -1;
	}
	return 0;
}
