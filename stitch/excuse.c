/* excuse.c - why a sample has no chain, or a chain no sample, and the
 * evidence. */
#include "stitch/excuse.h"

#include "stitch/cookies.h"
#include "stitch/losses.h"
#include "stitch/stitch.h"
#include "stitch/unwinders.h"

/* From EXIT to the chain; up to 0.4 ms was seen (formats.md C.3). */
#define AFTER_EXIT_NS 2000000

/* A loss in (from, to) of a ring of that CPU, -1: any. */
static uint32_t loss_between(struct losses *ls, const struct excuse_session *se,
			     uint16_t source, int32_t cpu, int64_t from,
			     int64_t to)
{
	if (!se->has_time)
		return losses_any(ls, source);
	return losses_find(ls, source, cpu, from, to);
}

/* When the chain should have been written at the latest; TIME_NONE: not
 * known. That of a thread that ended comes after its EXIT. */
static int64_t due(const struct excuse_session *se,
		   const struct cookie_entry *e)
{
	if (!e->end)
		return se->last && se->has_time ? se->last : TIME_NONE;
	if (e->end == END_EXIT && e->closed_at != TIME_NONE &&
	    e->closed_at < INT64_MAX - AFTER_EXIT_NS)
		return e->closed_at + AFTER_EXIT_NS;
	return e->closed_at;
}

/* The loss that may have taken the chain away. */
static uint32_t loss_of_chain(struct losses *ls,
			      const struct excuse_session *se,
			      const struct cookie_entry *e, int64_t to)
{
	/* A task may return to user mode on any CPU. Few samples are later than
	 * their chain: a loss after the last one is the likely one. */
	uint32_t loss = loss_between(ls, se, e->source, -1, e->last_time, to);

	if (!loss)
		loss = loss_between(ls, se, e->source, -1, e->sample_time, to);
	if (!loss && se->overwrite)
		loss = losses_any(ls, e->source);
	return loss;
}

static enum request_verdict no_chain(struct losses *ls,
				     const struct excuse_session *se,
				     const struct cookie_entry *e,
				     struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;
	bool perf = se->cookies == COOKIES_PERF;

	/* perf inject (7.2) drops every chain and says nothing of it. */
	if (perf && !se->n_chains && !losses_any(ls, e->source) &&
	    (se->injected || se->n_closed))
		return REQ_STRIPPED;
	if (perf && e->end == END_EXIT && se->system_wide != TRI_YES)
		return REQ_EXIT_PER_TASK;
	if (!e->end)
		return REQ_PENDING_END;
	r->loss = loss_of_chain(ls, se, e, to);
	if (r->loss || se->overwrite)
		return REQ_CHAIN_LOST;
	/* The capture ended between the EXIT and the chain. */
	if (e->end == END_EXIT && se->last && to >= se->last)
		return REQ_PENDING_END;
	return REQ_UNEXPLAINED;
}

/* The process was to log it: what it logged before and after tells more. A
 * stack that was lost may have been its first. */
static enum request_verdict no_answer(struct losses *ls,
				      const struct excuse_session *se,
				      const struct cookie_entry *e,
				      const struct unwinder_life *life,
				      struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;

	if (!e->end)
		return REQ_PENDING_END;
	if ((!life->first || e->asked < life->first) && !e->in_unwinder &&
	    !loss_between(ls, se, e->source, -1, INT64_MIN, e->sample_time))
		return REQ_BEFORE_OPT_IN;
	r->loss = loss_of_chain(ls, se, e, to);
	if (r->loss || se->overwrite)
		return REQ_CHAIN_LOST;
	if (e->in_unwinder)
		return REQ_IN_UNWINDER;
	return life->last && e->asked > life->last ? REQ_UNWINDER_DIED
						   : REQ_UNEXPLAINED;
}

void excuse_request(struct losses *ls, const struct excuse_session *se,
		    const struct cookie_entry *e,
		    const struct unwinder_life *life, struct fact_request *r)
{
	r->loss = 0;
	r->end = e->end ? e->end : END_CAPTURE;
	r->until = due(se, e);
	r->verdict = e->nonce ? no_answer(ls, se, e, life, r)
			      : no_chain(ls, se, e, r);
	r->confidence = r->verdict == REQ_UNEXPLAINED ? CONF_UNEXPLAINED
						      : CONF_EXPLAINED;
}

static enum chain_verdict no_sample(struct losses *ls,
				    const struct excuse_session *se,
				    const struct cookie_entry *e,
				    struct fact_chain *c)
{
	if (e->has_mark)
		return CHAIN_UNJOINABLE;
	/* The sample that made the cookie was on the cookie's CPU. */
	c->loss = loss_between(ls, se, e->source, e->chain.asked_cpu, e->before,
			       e->chain.time);
	if (!se->overwrite)
		return c->loss ? CHAIN_SAMPLE_LOST : CHAIN_FOREIGN;
	/* Such a ring drops its oldest and never the newest. */
	if (!c->loss)
		c->loss = losses_any(ls, e->source);
	return CHAIN_OVERWRITTEN;
}

void excuse_chain(struct losses *ls, const struct excuse_session *se,
		  const struct cookie_entry *e, struct fact_chain *c)
{
	c->loss = 0;
	c->from = e->before;
	c->confidence = CONF_EXPLAINED;
	c->verdict = no_sample(ls, se, e, c);
}
