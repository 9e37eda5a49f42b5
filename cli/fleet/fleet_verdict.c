/* fleet_verdict.c - the rows of table verdict: requests and chains by verdict
 * and confidence. */

#include "cli/fleet/fleet_input.h"
#include "cli/samples/filter.h"
#include "schema/db/int_rows.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define PAIRS ((size_t)FLEET_VERDICTS * FLEET_CONFIDENCES)

struct fleet_verdicts {
	struct fleet_counts of[2]; /* requests, chains */
	size_t at;
};

/* The columns of the queries. */
enum {
	COUNTED_ID,
	COUNTED_VERDICT,
	COUNTED_CONFIDENCE,
	COUNTED_CAPTURE
};

static int fleet_verdict_count(struct fleet_rows *r, const char *query,
			       struct fleet_counts *c, struct err *err)
{
	struct int_rows *q = int_rows_open(r->f->db, store_sql(query), err);
	struct int_row row;

	while (int_rows_step(q, &row))
		if (row.v[COUNTED_CAPTURE] == r->capture->id)
			fleet_count(c, row.v[COUNTED_VERDICT],
				    row.v[COUNTED_CONFIDENCE]);
	return int_rows_end(q, err);
}

static int fleet_verdict_step(struct fleet_rows *r, struct err *err UNUSED)
{
	struct fleet_verdicts *v = r->of;

	for (; v->at < 2 * PAIRS; v->at++) {
		size_t chain = v->at / PAIRS;
		unsigned int verdict = v->at % PAIRS / FLEET_CONFIDENCES;
		unsigned int confidence = v->at % FLEET_CONFIDENCES;
		uint64_t n = v->of[chain].n[verdict][confidence];

		/* no number of a verdict: the row is no request */
		if (!n || (!chain && !verdict))
			continue;
		fleet_put_text(r, chain ? "chain" : "request");
		fleet_put_text(r, chain ? chain_verdict_name(verdict)
					: request_verdict_name(verdict));
		fleet_put_text(r, confidence_name(confidence));
		fleet_fill_int(&r->fill, (int64_t)n);
		v->at++;
		return 1;
	}
	return 0;
}

static void fleet_verdict_close(struct fleet_rows *r)
{
	free(r->of);
}

int fleet_verdict_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_verdicts *v = mem_new(1, sizeof(*v));

	r->of = v;
	r->step = fleet_verdict_step;
	r->close = fleet_verdict_close;
	/* all samples may have been read before, which counted the requests */
	if (r->capture->counted && !filter_given(r->f->filter))
		v->of[0] = r->capture->requests;
	else if (fleet_verdict_count(r, "fleet_requests", &v->of[0], err))
		return -1;
	return fleet_verdict_count(r, "fleet_chains", &v->of[1], err) ? -1 : 0;
}
