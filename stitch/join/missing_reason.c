/* missing_reason.c - why a sample has no chain, or a chain no sample, and the
 * evidence. */
#include "stitch/join/missing_reason.h"

#include "stitch/join/cookies.h"
#include "stitch/base/losses.h"
#include "stitch/join/sessions.h"
#include "stitch/fact.h"
#include "stitch/join/unwinders.h"

/* From EXIT to the chain; up to 0.4 ms was seen (backstitch-formats(5),
 * "Deferred stacks: order of records"). */
#define AFTER_EXIT_NS 2000000

/* A loss in (from, to) of a ring of that CPU, -1: any. */
static uint32_t loss_between(struct losses *ls, const struct session *se,
			     int32_t cpu, int64_t from, int64_t to)
{
	if (!se->has_time)
		return losses_any(ls, se->source);
	return losses_find(ls, se->source, cpu, from, to);
}

/* What closed it, as far as this capture goes: another one may have gone on
 * for longer. 0: nothing. */
static enum request_end end_of(const struct session *se,
			       const struct cookie_entry *e)
{
	if (!session_is_alone(se) && se->has_time && se->last &&
	    e->closed_at > se->last)
		return 0;
	return e->end;
}

/* When the chain should have been written at the latest; TIME_NONE: not
 * known. That of a thread that ended comes after its EXIT. */
static int64_t due(const struct session *se, const struct cookie_entry *e)
{
	if (!end_of(se, e))
		return se->last && se->has_time ? se->last : TIME_NONE;
	if (e->end == END_EXIT && e->closed_at != TIME_NONE &&
	    e->closed_at < INT64_MAX - AFTER_EXIT_NS)
		return e->closed_at + AFTER_EXIT_NS;
	return e->closed_at;
}

/* The loss that may have taken the chain away. */
static uint32_t loss_of_chain(struct losses *ls, const struct session *se,
			      const struct cookie_entry *e, int64_t to)
{
	/* A task may return to user mode on any CPU. Few samples are later than
	 * their chain: a loss after the last one is the likely one. */
	uint32_t loss = loss_between(ls, se, -1, e->last_time, to);

	if (!loss)
		loss = loss_between(ls, se, -1, e->sample_time, to);
	if (!loss && se->overwrite)
		loss = losses_any(ls, se->source);
	return loss;
}

static enum request_verdict no_chain(struct losses *ls,
				     const struct session *se,
				     const struct cookie_entry *e,
				     struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;
	bool perf = se->cookies == COOKIES_PERF;

	/* perf inject (7.2) drops every chain and says nothing of it. */
	if (perf && !se->n_chains && !losses_any(ls, se->source) &&
	    (se->injected || se->n_closed))
		return REQ_STRIPPED;
	/* Of no known thread (LTTng without its contexts): nothing says that
	 * it still waits. */
	if (!end_of(se, e) && (perf || e->tid >= 0))
		return REQ_PENDING_END;
	if (perf && e->end == END_EXIT && se->system_wide != TRI_YES)
		return REQ_EXIT_PER_TASK;
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
				      const struct session *se,
				      const struct cookie_entry *e,
				      const struct unwinder_life *life,
				      struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;

	if (!end_of(se, e))
		return REQ_PENDING_END;
	if ((!life->first || e->asked < life->first) && !e->in_unwinder &&
	    !loss_between(ls, se, -1, INT64_MIN, e->sample_time))
		return REQ_BEFORE_OPT_IN;
	r->loss = loss_of_chain(ls, se, e, to);
	if (r->loss || se->overwrite)
		return REQ_CHAIN_LOST;
	if (e->in_unwinder)
		return REQ_IN_UNWINDER;
	return life->last && e->asked > life->last ? REQ_UNWINDER_DIED
						   : REQ_UNEXPLAINED;
}

/* Does it record chains at all? */
static bool records(const struct session *se, bool nonce)
{
	if (nonce)
		return se->n_logged != 0;
	return se->cookies == COOKIES_PERF || se->n_chains;
}

/* Why this capture has no chain for the entry. */
static void judge(struct losses *ls, const struct session *se,
		  const struct cookie_entry *e,
		  const struct unwinder_life *life, struct fact_request *r)
{
	enum request_end end = end_of(se, e);

	r->loss = 0;
	r->end = end ? end : END_CAPTURE;
	r->until = due(se, e);
	r->verdict = e->nonce ? no_answer(ls, se, e, life, r)
			      : no_chain(ls, se, e, r);
	r->confidence = r->verdict == REQ_UNEXPLAINED ? CONF_UNEXPLAINED
						      : CONF_EXPLAINED;
}

/* How much its word counts: one of all CPUs should have every chain. */
static int weight(const struct session *se, const struct fact_request *r)
{
	return 2 * (se->system_wide == TRI_YES) +
	       (r->verdict != REQ_UNEXPLAINED);
}

/* A capture that records no chains itself relies on the others. */
void excuse_request(struct losses *ls, const struct session *se,
		    const struct cookie_entry *e,
		    const struct unwinder_life *life, struct fact_request *r)
{
	int most = -1;

	judge(ls, se, e, life, r);
	if (records(se, e->nonce))
		return;
	for (const struct session *p = se->next; p != se; p = p->next) {
		struct fact_request other = *r;

		if (!records(p, e->nonce))
			continue;
		judge(ls, p, e, life, &other);
		if (weight(p, &other) <= most)
			continue;
		most = weight(p, &other);
		*r = other;
	}
}

/* The loss of any capture in which its sample may have been. The sample that
 * made the cookie was on the cookie's CPU. */
static uint32_t loss_of_sample(struct losses *ls, const struct session *se,
			       const struct cookie_entry *e)
{
	const struct session *p = se;
	uint32_t loss;

	do {
		loss = loss_between(ls, p, e->chain.asked_cpu, e->before,
				    e->chain.time);
		p = p->next;
	} while (!loss && p != se);
	return loss;
}

/* A capture whose rings overwrite their oldest records; NULL: none. */
static const struct session *overwriter(const struct session *se)
{
	const struct session *p = se;

	do {
		if (p->overwrite)
			return p;
		p = p->next;
	} while (p != se);
	return NULL;
}

static enum chain_verdict no_sample(struct losses *ls, const struct session *se,
				    const struct cookie_entry *e,
				    struct fact_chain *c)
{
	const struct session *over = overwriter(se);

	if (e->has_mark)
		return CHAIN_UNJOINABLE;
	c->loss = loss_of_sample(ls, se, e);
	if (!over)
		return c->loss ? CHAIN_SAMPLE_LOST : CHAIN_FOREIGN;
	/* Such a ring drops its oldest and never the newest. */
	if (!c->loss)
		c->loss = losses_any(ls, over->source);
	return CHAIN_OVERWRITTEN;
}

void excuse_chain(struct losses *ls, const struct session *se,
		  const struct cookie_entry *e, struct fact_chain *c)
{
	c->loss = 0;
	c->from = e->before;
	c->confidence = CONF_EXPLAINED;
	c->verdict = no_sample(ls, se, e, c);
}
