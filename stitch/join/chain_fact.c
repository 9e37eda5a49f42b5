/* chain_fact.c - makes the fact of a deferred user stack. */
#include "stitch/join/chain_fact.h"

#include "stitch/join/join_data.h"

/* kernel/unwind/deferred.c (7.2) limits a chain to one page of addresses. */
#define CHAIN_LIMIT 508

static enum quality chain_quality(const struct join_chain *c)
{
	if (!c->n)
		return QUALITY_EMPTY;
	if (c->n == 1)
		return QUALITY_ONE;
	return c->n >= CHAIN_LIMIT ? QUALITY_CUT : QUALITY_OPEN;
}

void chain_fill_fact(struct fact *f, const struct join_chain *c)
{
	*f = (struct fact){
		.kind = FACT_CHAIN,
		.chain = {
			.id = c->id,
			.time = c->time,
			.cpu = c->cpu,
			.thread = c->thread,
			.source = c->source,
			.cookie = c->cookie,
			.uraw = c->uraw,
			.verdict = CHAIN_USED,
			.confidence = CONF_PROVED,
			.quality = chain_quality(c),
			.flags = c->flags | (c->nonce ? VERDICT_NONCE : 0),
			.from = TIME_NONE,
		},
	};
}
