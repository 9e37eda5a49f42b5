/* missing_reason.c - finds out why a sample has no chain, or a chain no
 * sample. */
#include "stitch/join/missing_reason.h"

#include <inttypes.h>

#include "stitch/base/log.h"
#include "stitch/join/cookies.h"
#include "stitch/base/losses.h"
#include "stitch/join/sessions.h"
#include "stitch/fact.h"
#include "stitch/join/unwinders.h"

/* Time from EXIT to the chain; up to 0.4 ms was seen (backstitch-formats(5),
 * "Deferred stacks: order of records"). */
#define AFTER_EXIT_NS 2000000

/* Returns a loss in (from, to) that may be on that CPU (-1: any), or 0. */
static uint32_t loss_between(struct losses *ls, const struct session *se,
			     int32_t cpu, int64_t from, int64_t to)
{
	if (!se->has_time)
		return losses_any(ls, se->source);
	return losses_find(ls, se->source, cpu, from, to);
}

/* Returns what closed the entry while this capture ran, or 0. Another capture
 * may have run longer. */
static enum request_end request_end_in(const struct session *se,
				       const struct cookie_entry *e)
{
	if (!session_is_alone(se) && se->has_time && se->last &&
	    e->closed_at > se->last)
		return 0;
	return e->end;
}

/* Returns when the chain was due at the latest; TIME_NONE: unknown. The chain
 * of a thread that ended follows its EXIT. */
static int64_t chain_due_time(const struct session *se,
			      const struct cookie_entry *e)
{
	if (!request_end_in(se, e))
		return se->last && se->has_time ? se->last : TIME_NONE;
	if (e->end == END_EXIT && e->closed_at != TIME_NONE &&
	    e->closed_at < INT64_MAX - AFTER_EXIT_NS)
		return e->closed_at + AFTER_EXIT_NS;
	return e->closed_at;
}

/* Returns the loss that may have removed the chain, or 0. */
static uint32_t loss_of_chain(struct losses *ls, const struct session *se,
			      const struct cookie_entry *e, int64_t to)
{
	/* A task may return to user mode on any CPU. Few samples are later than
	 * their chain, so a loss after the last sample is the most likely. */
	uint32_t loss = loss_between(ls, se, -1, e->last_time, to);

	if (!loss)
		loss = loss_between(ls, se, -1, e->sample_time, to);
	if (!loss && se->overwrite)
		loss = losses_any(ls, se->source);
	return loss;
}

/* Returns why the kernel's chain is missing; may set r->loss. */
static enum request_verdict why_no_chain(struct losses *ls,
					 const struct session *se,
					 const struct cookie_entry *e,
					 struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;
	bool perf = se->cookies == COOKIES_PERF;

	/* perf inject (7.2 and 7.3) removes every chain, whatever was lost
	 * before, and may leave no trace of itself. */
	if (perf && !se->n_chains &&
	    (se->injected || (se->n_closed && !losses_any(ls, se->source))))
		return REQ_STRIPPED;
	/* Without a thread (LTTng without its contexts), nothing shows that it
	 * still waits. */
	if (!request_end_in(se, e) && (perf || e->tid >= 0))
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

/* Returns why a process that had to log the stack itself did not: its stacks
 * before and after show the reason. A lost stack may have been its first. */
static enum request_verdict why_no_answer(struct losses *ls,
					  const struct session *se,
					  const struct cookie_entry *e,
					  const struct unwinder_life *life,
					  struct fact_request *r)
{
	int64_t to = r->until == TIME_NONE ? INT64_MAX : r->until;

	if (!request_end_in(se, e))
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

/* Returns true if the capture records chains. */
static bool records_chains(const struct session *se, bool nonce)
{
	if (nonce)
		return se->n_logged != 0;
	return se->cookies == COOKIES_PERF || se->n_chains;
}

/* Finds out why this capture has no chain for the entry. */
static void judge_request(struct losses *ls, const struct session *se,
			  const struct cookie_entry *e,
			  const struct unwinder_life *life,
			  struct fact_request *r)
{
	enum request_end end = request_end_in(se, e);

	r->loss = 0;
	r->end = end ? end : END_CAPTURE;
	r->until = chain_due_time(se, e);
	r->verdict = e->nonce ? why_no_answer(ls, se, e, life, r)
			      : why_no_chain(ls, se, e, r);
	r->confidence = r->verdict == REQ_UNEXPLAINED ? CONF_UNEXPLAINED
						      : CONF_EXPLAINED;
}

/* Returns how much a capture's verdict counts: one of all CPUs should have
 * every chain. */
static int verdict_weight(const struct session *se,
			  const struct fact_request *r)
{
	return 2 * (se->system_wide == TRI_YES) +
	       (r->verdict != REQ_UNEXPLAINED);
}

/* A capture that records no chains itself relies on the others of its line. */
void missing_reason_request(struct losses *ls, const struct session *se,
			    const struct cookie_entry *e,
			    const struct unwinder_life *life,
			    struct fact_request *r)
{
	int most = -1;

	judge_request(ls, se, e, life, r);
	LOG(LOG_JOIN, "cookie %#" PRIx64 " of thread %d: %s, loss %" PRIu32,
	    e->cookie, (int)e->tid, request_verdict_name(r->verdict), r->loss);
	if (records_chains(se, e->nonce))
		return;
	for (const struct session *p = se->next; p != se; p = p->next) {
		struct fact_request other = *r;

		if (!records_chains(p, e->nonce))
			continue;
		judge_request(ls, p, e, life, &other);
		if (verdict_weight(p, &other) <= most)
			continue;
		most = verdict_weight(p, &other);
		*r = other;
	}
}

/* Returns a capture whose rings overwrite their oldest records, or NULL. */
static const struct session *find_overwriter(const struct session *se)
{
	const struct session *p = se;

	do {
		if (p->overwrite)
			return p;
		p = p->next;
	} while (p != se);
	return NULL;
}

/* Returns why a chain has no sample; sets c->loss. */
static enum chain_verdict why_no_sample(struct losses *ls,
					const struct session *se,
					const struct cookie_entry *e,
					struct fact_chain *c)
{
	const struct session *over = find_overwriter(se);

	if (e->has_mark)
		return CHAIN_UNJOINABLE;
	/* The sample that made the cookie was on the cookie's CPU. */
	const struct session *p = se;
	uint32_t loss;

	do {
		loss = loss_between(ls, p, e->chain.asked_cpu, e->before,
				    e->chain.time);
		p = p->next;
	} while (!loss && p != se);
	c->loss = loss;
	if (!over)
		return c->loss ? CHAIN_SAMPLE_LOST : CHAIN_FOREIGN;
	/* Such a ring drops the oldest records and never the newest. */
	if (!c->loss)
		c->loss = losses_any(ls, over->source);
	return CHAIN_OVERWRITTEN;
}

void missing_reason_chain(struct losses *ls, const struct session *se,
			  const struct cookie_entry *e, struct fact_chain *c)
{
	c->loss = 0;
	c->from = e->before;
	c->confidence = CONF_EXPLAINED;
	c->verdict = why_no_sample(ls, se, e, c);
}
