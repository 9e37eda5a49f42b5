/* fleet_verdict.c - the rows of table verdict: requests and chains by verdict
 * and confidence. */
#include <stdlib.h>
#include <string.h>

#include "cli/fleet/fleet_inner.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define VERDICTS 32
#define CONFIDENCES 8

/* Numbers beyond these, which only a damaged database has, count as 0. */
struct fleet_counts {
	uint64_t n[2][VERDICTS][CONFIDENCES]; /* of requests, of chains */
	size_t at;
};

static size_t fleet_verdict_number(const struct rows *r, size_t i, size_t max)
{
	int64_t v = rows_int(r, i);

	return v >= 0 && (uint64_t)v < max ? (size_t)v : 0;
}

static int fleet_verdict_count(struct fleet_rows *r, const char *query,
			       uint64_t n[VERDICTS][CONFIDENCES],
			       struct err *err)
{
	struct value id = { .kind = VALUE_INT, .num = r->capture->id };
	struct rows *q = rows_open(r->f->db, store_sql(query), &id, 1, err);
	int ret = q ? 1 : -1;

	while (ret > 0 && (ret = rows_next(q, err)) > 0)
		n[fleet_verdict_number(q, FLEET_REQUESTS_VERDICT, VERDICTS)]
		 [fleet_verdict_number(q, FLEET_REQUESTS_CONFIDENCE,
				       CONFIDENCES)]++;
	rows_close(q);
	return ret;
}

static void fleet_verdict_put_text(struct fleet_rows *r, const char *s)
{
	fleet_fill_id(&r->fill,
		      s ? fleet_word(r->f, s, strlen(s)) : FLEET_NO_WORD);
}

static int fleet_verdict_step(struct fleet_rows *r, struct err *err)
{
	struct fleet_counts *c = r->of;

	(void)err;
	for (; c->at < sizeof(c->n) / sizeof(c->n[0][0][0]); c->at++) {
		size_t chain = c->at / (VERDICTS * CONFIDENCES);
		unsigned int verdict = c->at / CONFIDENCES % VERDICTS;
		unsigned int confidence = c->at % CONFIDENCES;
		uint64_t n = c->n[chain][verdict][confidence];

		if (!n)
			continue;
		fleet_verdict_put_text(r, chain ? "chain" : "request");
		fleet_verdict_put_text(r,
				       chain ? chain_verdict_name(verdict)
					     : request_verdict_name(verdict));
		fleet_verdict_put_text(r, confidence_name(confidence));
		fleet_fill_int(&r->fill, (int64_t)n);
		c->at++;
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
	struct fleet_counts *c = mem_new(1, sizeof(*c));

	r->of = c;
	r->step = fleet_verdict_step;
	r->close = fleet_verdict_close;
	return fleet_verdict_count(r, "fleet_requests", c->n[0], err) ||
			       fleet_verdict_count(r, "fleet_chains", c->n[1],
						   err)
		       ? -1
		       : 0;
}
