/* told.c - does the audit say what was done? From the change and from what
 * was said before it alone, without the model. */
#include <inttypes.h>
#include <string.h>

#include "tests/truth/truth.h"

static const struct ledger_entry *told_row_of(const struct result *got,
					      uint32_t id)
{
	for (size_t i = 0; id && i < got->n_loss; i++)
		if (got->loss[i].id == id)
			return &got->loss[i];
	return NULL;
}

/* Is the loss of that number the one in which this record was dropped? */
static bool is_loss_of(const struct result *got, uint32_t id,
		       const struct record *gone)
{
	const struct ledger_entry *e = told_row_of(got, id);

	/* its row ends with the last record that there is */
	return e && e->cpu == gone->cpu && e->t0 <= gone->time &&
	       (gone->time <= e->t1 || !strcmp(e->what, "lost_end"));
}

/* Was it possible to tell of the loss of this record: is there a LOST record,
 * or a sum at the end? */
static bool told_is_told(const struct change *ch, const struct record *gone)
{
	if (ch->totals)
		return true;
	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;

		if (r->kind == REC_LOST && r->cpu == gone->cpu &&
		    r->time >= gone->time)
			return true;
	}
	return false;
}

/* Does anything follow from which it can be told that the chain is missing? */
static bool is_followed(const struct change *ch, const struct record *chain,
			int64_t from)
{
	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;

		if (r->tid == chain->tid && truth_time_of(r) > from &&
		    (r->kind == REC_EXIT ||
		     (has_cookie(r) && cookie_of(r) != cookie_of(chain))))
			return true;
	}
	return false;
}

/* The chain is gone: each of its samples says so. */
static void tell_chain(const struct change *ch, const struct result *base,
		       const struct result *got, struct report *rp)
{
	const struct item *gone = &ch->gone[0];

	for (size_t i = 0; i < ch->list.n; i++) {
		uint32_t o = ch->list.at[i].origin;
		const struct fact_request *q = &got->request[i].f;

		if (o == NOWHERE || !base->request[o].has ||
		    base->request[o].chain != gone->origin)
			continue;
		bool followed = is_followed(ch, gone->rec,
					    truth_time_of(ch->list.at[i].rec));
		bool told = ch->lost && told_is_told(ch, gone->rec);
		bool pending = q->verdict == REQ_PENDING_END ||
			       q->verdict == REQ_EXIT_PER_TASK;

		if (q->chain || q->verdict == REQ_MATCHED)
			report_add(rp, "#%u: matched, its chain is gone\n", o);
		else if (!followed && !pending)
			report_add(rp, "#%u: %s, nothing follows\n", o,
				   request_verdict_name(q->verdict));
		else if (followed && told && !pending &&
			 !is_loss_of(got, q->loss, gone->rec))
			report_add(rp, "#%u: its loss is another one\n", o);
		else if (followed && !pending && !told &&
			 q->verdict != REQ_UNEXPLAINED)
			report_add(rp, "#%u: %s, but nobody told of a loss\n",
				   o, request_verdict_name(q->verdict));
	}
}

/* All samples are gone: the chain says so. The first of them made the cookie,
 * on its CPU. */
static void tell_samples(const struct slice *s, const struct change *ch,
			 const struct result *got, struct report *rp)
{
	const struct record *first = ch->gone[ch->n_gone - 1].rec;

	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;
		const struct fact_chain *c = &got->chain[i].f;
		bool told = ch->lost && told_is_told(ch, first);

		if (r->kind != REC_CHAIN || cookie_of(r) != ch->cookie[0])
			continue;
		if (told && (c->verdict != CHAIN_SAMPLE_LOST ||
			     !is_loss_of(got, c->loss, first)))
			report_add(rp, "chain: %s by loss %u\n",
				   chain_verdict_name(c->verdict), c->loss);
		if (!ch->lost && c->verdict != CHAIN_UNEXPLAINED)
			report_add(rp, "chain: %s, but nobody told of a loss\n",
				   chain_verdict_name(c->verdict));
		if (s->info.system_wide == TRI_YES && got->session[0].reason)
			report_add(rp, "one chain stops the counters from "
				       "proving\n");
	}
}

/* Both are gone: the counter is missing, unless none is above or below. */
static void tell_cookie(const struct slice *s, const struct change *ch,
			const struct result *got, struct report *rp)
{
	const struct record *first = ch->gone[ch->n_gone - 1].rec;
	uint32_t count = cookie_count(ch->cookie[0]);
	int32_t cpu = cookie_cpu(ch->cookie[0]);
	bool above = false;
	bool below = false;
	size_t n = 0;

	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;

		if (!has_cookie(r) || cookie_cpu(cookie_of(r)) != cpu)
			continue;
		above |= cookie_count(cookie_of(r)) > count;
		below |= cookie_count(cookie_of(r)) < count;
	}
	for (size_t i = 0; i < got->n_gap; i++) {
		const struct fact_gap *g = &got->gap[i];

		n++;
		if (g->cpu != cpu || g->first != count || g->n != 1 ||
		    g->t0 >= truth_time_of(first) ||
		    g->t1 <= truth_time_of(first))
			report_add(rp, "the gap is not where the cookie was\n");
		if (ch->lost && !is_loss_of(got, g->loss, first))
			report_add(rp, "gap: by loss %u\n", g->loss);
		if (!ch->lost && g->loss)
			report_add(rp, "gap: nobody told of a loss\n");
		if (g->verdict != (s->info.system_wide != TRI_YES ? GAP_FOREIGN
				   : ch->lost			  ? GAP_LOST
					      : GAP_UNCOUNTED))
			report_add(rp, "gap: %s\n",
				   gap_verdict_name(g->verdict));
	}
	if (n != (above && below))
		report_add(rp, "%zu gaps for one missing cookie\n", n);
}

/* One of several samples is gone: at the most that the first one is. */
static void tell_sample(const struct change *ch, const struct result *got,
			struct report *rp)
{
	uint32_t flagged = 0;

	for (size_t i = 0; i < ch->list.n; i++) {
		const struct request_row *q = &got->request[i];

		if (!q->has || !(q->f.flags & VERDICT_FIRST_LOST))
			continue;
		flagged++;
		if (ch->kind != CHANGE_FIRST || q->f.cookie != ch->cookie[0])
			report_add(rp, "#%d: first sample said to be lost\n",
				   (int)ch->list.at[i].origin);
	}
	if (flagged > 1 || got->n_gap)
		report_add(rp, "%u first samples and %zu gaps of one sample\n",
			   flagged, got->n_gap);
}

/* Whatever was lost is in the rows of losses, once. */
static void tell_sums(const struct change *ch, const struct result *got,
		      struct report *rp)
{
	uint64_t n = 0;
	uint64_t told = 0;

	for (size_t i = 0; i < got->n_loss; i++)
		n += got->loss[i].counts ? got->loss[i].n : 0;
	for (size_t i = 0; i < ch->list.n; i++)
		if (ch->list.at[i].rec->kind == REC_LOST)
			told += ch->list.at[i].rec->lost.n;
	if (ch->totals)
		told = ch->n_gone;
	if (n != told)
		report_add(rp, "%" PRIu64 " lost of %" PRIu64 "\n", n, told);
}

void check_told(const struct slice *s, const struct change *ch,
		const struct result *base, const struct result *got,
		struct report *rp)
{
	tell_sums(ch, got, rp);
	if (ch->kind == CHANGE_CHAIN)
		tell_chain(ch, base, got, rp);
	else if (ch->kind == CHANGE_SAMPLES)
		tell_samples(s, ch, got, rp);
	else if (ch->kind == CHANGE_COOKIE)
		tell_cookie(s, ch, got, rp);
	else if (ch->kind == CHANGE_FIRST || ch->kind == CHANGE_OTHER)
		tell_sample(ch, got, rp);
}
