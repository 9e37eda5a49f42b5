/* check.c - compares what stitch says with the model, and with what it said
 * before the change. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/truth/truth.h"

void report_add(struct report *rp, const char *fmt, ...)
{
	va_list ap;

	rp->n++;
	if (rp->len >= sizeof(rp->text) - 1)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(rp->text + rp->len, sizeof(rp->text) - rp->len, fmt,
			  ap);

	va_end(ap);
	rp->len += n > 0 ? (size_t)n : 0;
	if (rp->len > sizeof(rp->text) - 1)
		rp->len = sizeof(rp->text) - 1;
}

/* A number that must be the same; where: the item. */
static void check_same(struct report *rp, const struct list *l, size_t i,
		       const char *what, int64_t got, int64_t want)
{
	const struct record *r = l->at[i].rec;

	if (got == want)
		return;
	report_add(rp,
		   "#%d tid %d time %" PRIu64 " cookie %" PRIx64
		   ": %s is %" PRId64 ", should be %" PRId64 "\n",
		   (int)l->at[i].origin, (int)r->tid, r->time,
		   has_cookie(r) ? cookie_of(r) : 0, what, got, want);
}

/* ---- losses: by what they are, their numbers are free */

static const struct ledger_entry *loss_row(const struct result *got,
					   uint32_t id)
{
	for (size_t i = 0; i < got->n_loss; i++)
		if (got->loss[i].id == id)
			return &got->loss[i];
	return NULL;
}

/* The ledger has 0 for "not known" and for the end of the capture. */
static bool same_loss(const struct ledger_entry *e, const struct expect_loss *x)
{
	uint64_t t0 = x->t0 == TIME_NONE ? 0 : (uint64_t)x->t0;

	return e->capture == x->source && e->cpu == x->cpu && e->t0 == t0 &&
	       (x->t1 == INT64_MAX || e->t1 == (uint64_t)x->t1);
}

static void check_loss(struct report *rp, const struct expect *ex,
		       const struct result *got, const char *what, size_t at,
		       uint32_t id, uint32_t want)
{
	const struct ledger_entry *e = id ? loss_row(got, id) : NULL;

	if (!id && want == NOWHERE)
		return;
	if (e && want != NOWHERE && same_loss(e, &ex->loss[want]))
		return;
	report_add(rp, "%s %zu: loss %u", what, at, id);
	if (e)
		report_add(rp, " (cpu %d, %" PRIu64 " to %" PRIu64 ")",
			   (int)e->cpu, e->t0, e->t1);
	if (want == NOWHERE)
		report_add(rp, ", should be none\n");
	else
		report_add(rp,
			   ", should be cpu %d, %" PRId64 " to %" PRId64 "\n",
			   (int)ex->loss[want].cpu, ex->loss[want].t0,
			   ex->loss[want].t1);
}

static void check_losses(struct report *rp, const struct expect *ex,
			 const struct result *got)
{
	uint64_t want = 0;
	uint64_t n = 0;

	for (size_t i = 0; i < got->n_loss; i++)
		n += got->loss[i].counts ? got->loss[i].n : 0;
	for (uint32_t i = 0; i < ex->n_loss; i++) {
		bool found = false;

		want += ex->loss[i].n;
		for (size_t k = 0; k < got->n_loss; k++)
			found |= got->loss[k].counts &&
				 same_loss(&got->loss[k], &ex->loss[i]) &&
				 got->loss[k].n == ex->loss[i].n;
		if (!found)
			report_add(rp,
				   "no row for the loss of %" PRIu64
				   " on cpu %d up to %" PRId64 "\n",
				   ex->loss[i].n, (int)ex->loss[i].cpu,
				   ex->loss[i].t1);
	}
	if (n != want)
		report_add(rp,
			   "%" PRIu64 " records lost, should be %" PRIu64 "\n",
			   n, want);
}

/* ---- against the model */

static void check_request(struct report *rp, const struct list *l, size_t i,
			  const struct result *got, const struct expect *ex)
{
	const struct request_row *q = &got->request[i];
	const struct expect_request *x = &ex->request[i];

	check_same(rp, l, i, "request", q->has + q->twice, x->has);
	if (!q->has || !x->has)
		return;
	check_same(rp, l, i, "verdict", q->f.verdict, x->verdict);
	check_same(rp, l, i, "confidence", q->f.confidence, x->confidence);
	check_same(rp, l, i, "flags", q->f.flags, x->flags);
	check_same(rp, l, i, "chain", (int32_t)q->chain, (int32_t)x->chain);
	check_same(rp, l, i, "latency", q->f.latency, x->latency);
	if (x->verdict == REQ_REFUSED)
		return;
	check_same(rp, l, i, "end", q->f.end, x->end);
	if (x->end)
		check_same(rp, l, i, "until", q->f.until, x->until);
	check_loss(rp, ex, got, "request", i, q->f.loss, x->loss);
	check_same(rp, l, i, "as_perf", q->f.as_perf, x->as_perf);
	if (x->as_perf == AS_PERF_BARE)
		check_same(rp, l, i, "held", q->f.held, x->held);
	check_same(rp, l, i, "as_tid", (int32_t)q->as_tid, (int32_t)x->as_tid);
	if (x->chain != NOWHERE && q->user != got->chain[x->chain].user)
		report_add(rp, "#%d: has another stack than its chain\n",
			   (int)l->at[i].origin);
}

static void check_check_chain(struct report *rp, const struct list *l, size_t i,
			      const struct result *got, const struct expect *ex)
{
	const struct chain_row *c = &got->chain[i];
	const struct expect_chain *x = &ex->chain[i];

	check_same(rp, l, i, "chain row", c->has + c->twice, x->has);
	if (!c->has || !x->has)
		return;
	check_same(rp, l, i, "chain verdict", c->f.verdict, x->verdict);
	check_same(rp, l, i, "chain confidence", c->f.confidence,
		   x->confidence);
	check_same(rp, l, i, "chain flags", c->f.flags, x->flags);
	check_same(rp, l, i, "chain samples", c->f.n_events, x->n_events);
	if (!x->n_events)
		check_same(rp, l, i, "chain from", c->f.from, x->from);
	check_loss(rp, ex, got, "chain", i, c->f.loss, x->loss);
}

static void check_copies(struct report *rp, const struct list *l,
			 const struct result *got, const struct expect *ex)
{
	size_t n = got->n_copy;

	for (size_t k = 0; k < got->n_copy; k++) {
		const struct fact_copy *f = &got->copy[k];
		uint32_t i = got->copy_item[k];

		check_same(rp, l, i, "copy", true, ex->chain[i].copy);
		check_same(rp, l, i, "copy of", got->item_of_chain[f->chain],
			   ex->chain[i].of);
		check_same(rp, l, i, "copy's capture", f->source,
			   l->at[i].source);
		check_same(rp, l, i, "copy's time", f->time,
			   truth_time_of(l->at[i].rec));
	}
	for (size_t i = 0; i < l->n; i++)
		n -= ex->chain[i].copy;
	if (n)
		report_add(rp, "%zu copies, should be %zu\n", got->n_copy,
			   got->n_copy - n);
}

/* A run whose lower neighbour may have been made before it was first seen may
 * be said to begin earlier: what must be said of it then. */
static struct fact_gap gap_from(const struct expect *ex, size_t i,
				const struct fact_gap *g)
{
	struct fact_gap x = ex->gap[i];

	if (!g || !ex->gap_late[i] || g->t0 >= x.t0)
		return x;
	x.t0 = g->t0;
	x.loss = model_any_loss(ex, ex->witness, x.cpu, x.t0, x.t1);
	if (x.verdict != GAP_FOREIGN)
		x.verdict = x.loss != NOWHERE  ? GAP_LOST
			    : x.t0 < ex->there ? GAP_FOREIGN
					       : GAP_UNCOUNTED;
	return x;
}

static void check_gaps(struct report *rp, const struct result *got,
		       const struct expect *ex)
{
	for (size_t i = 0; i < ex->n_gap; i++) {
		const struct fact_gap *g = NULL;
		struct fact_gap x = ex->gap[i];

		for (size_t k = 0; k < got->n_gap; k++)
			if (got->gap[k].cpu == x.cpu &&
			    got->gap[k].first == x.first)
				g = &got->gap[k];
		x = gap_from(ex, i, g);
		if (!g || g->n != x.n || g->t0 != x.t0 || g->t1 != x.t1 ||
		    g->source != ex->witness || g->verdict != x.verdict)
			report_add(rp,
				   "gap: cpu %d, %" PRIu64 " from %" PRIu64
				   ", %" PRId64 " to %" PRId64
				   ", verdict %d; got %" PRIu64 ", %" PRId64
				   " to %" PRId64 ", verdict %d\n",
				   (int)x.cpu, x.n, x.first, x.t0, x.t1,
				   x.verdict, g ? g->n : 0, g ? g->t0 : 0,
				   g ? g->t1 : 0, g ? (int)g->verdict : 0);
		if (g)
			check_loss(rp, ex, got, "gap", i, g->loss, x.loss);
	}
	if (got->n_gap != ex->n_gap)
		report_add(rp, "%zu gaps, should be %zu\n", got->n_gap,
			   ex->n_gap);
}

static void say_counter(struct report *rp, const char *who,
			const struct fact_counter *c)
{
	report_add(rp,
		   "counters of cpu %d %s: %" PRIu64 " to %" PRIu64
		   ", seen %" PRIu64 ", missing %" PRIu64 " in %" PRIu64
		   ", late %" PRIu64 ", elsewhere %" PRIu64 ", wraps %" PRIu64
		   "\n",
		   (int)c->cpu, who, c->first, c->last, c->seen, c->missing,
		   c->gaps, c->late, c->elsewhere, c->wraps);
}

static bool same_counter(const struct fact_counter *a,
			 const struct fact_counter *b)
{
	return a->first == b->first && a->last == b->last &&
	       a->seen == b->seen && a->missing == b->missing &&
	       a->gaps == b->gaps && a->late == b->late &&
	       a->elsewhere == b->elsewhere && a->wraps == b->wraps;
}

static void check_counters(struct report *rp, const struct result *got,
			   const struct expect *ex)
{
	for (size_t i = 0; i < ex->n_counter; i++) {
		const struct fact_counter *x = &ex->counter[i];
		const struct fact_counter *c = NULL;

		for (size_t k = 0; k < got->n_counter; k++)
			if (got->counter[k].cpu == x->cpu)
				c = &got->counter[k];
		if (c && same_counter(c, x))
			continue;
		say_counter(rp, "should be", x);
		if (c)
			say_counter(rp, "are", c);
	}
	if (got->n_counter != ex->n_counter)
		report_add(rp, "%zu CPUs have counters, should be %zu\n",
			   got->n_counter, ex->n_counter);
}

static void check_session(struct report *rp, const struct result *got,
			  const struct expect *ex, uint16_t source)
{
	const struct expect_session *x = &ex->session[source];
	bool proves = ex->proves && !ex->foreign && source == ex->witness;
	const struct fact_session *f = NULL;

	for (size_t i = 0; i < got->n_session; i++)
		if (got->session[i].source == source)
			f = &got->session[i];
	if (!f != !x->has) {
		report_add(rp, "%s session of %d\n", f ? "a" : "no", source);
		return;
	}
	if (!f)
		return;
	if (f->no_chain != x->no_chain || f->no_sample != x->no_sample ||
	    f->missing != x->missing || !f->reason != proves)
		report_add(rp,
			   "cookies of %d: %" PRIu64 " without chain, %" PRIu64
			   " without sample, %" PRIu64 " missing, reason '%s'; "
			   "should be %" PRIu64 ", %" PRIu64 ", %" PRIu64
			   ", %s\n",
			   source, f->no_chain, f->no_sample, f->missing,
			   f->reason ? f->reason : "", x->no_chain,
			   x->no_sample, x->missing, proves ? "none" : "one");
}

static bool check_is_tid(const struct result *got, uint32_t thread, int32_t tid)
{
	for (size_t k = 0; k < got->n_thread; k++)
		if (got->thread[k].id == thread)
			return got->thread[k].tid == tid;
	return false;
}

static void check_names(struct report *rp, const struct list *l,
			const struct result *got, const struct expect *ex)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct record *rec = l->at[i].rec;
		char name[32];

		if (!got->event[i].has)
			continue;
		/* who is no longer hashed may be known, by the switch */
		if (rec->tid < 0 && rec->kind == REC_SAMPLE &&
		    check_is_tid(got, got->event[i].f.thread,
				 rec->sample.sched.tid))
			continue;
		model_comm(l, ex, i, name, sizeof(name));
		if (strcmp(name, got->event[i].comm) != 0)
			report_add(rp, "#%d: is of '%s', should be of '%s'\n",
				   (int)l->at[i].origin, got->event[i].comm,
				   name);
	}
}

static void check_lives(struct report *rp, const struct result *got,
			const struct expect *ex)
{
	int64_t diff = 0;

	for (size_t i = 0; i < got->n_thread; i++)
		diff += got->thread[i].tid >= 0;
	for (size_t i = 0; i < ex->n_lives; i++) {
		const struct life *x = &ex->lives[i];
		bool found = false;

		if (x->tid < 0)
			continue;
		diff--;
		for (size_t k = 0; k < got->n_thread && !found; k++)
			found = got->thread[k].tid == x->tid &&
				got->thread[k].start == x->start &&
				got->thread[k].end == x->end;
		if (!found)
			report_add(rp,
				   "no life of %d from %" PRId64 " to %" PRId64
				   "\n",
				   (int)x->tid, x->start, x->end);
	}
	if (diff)
		report_add(rp, "%" PRId64 " threads too many\n", diff);
}

void check_model(const struct slice *s, const struct list *l,
		 const struct result *got, const struct expect *ex,
		 struct report *rp)
{
	if (got->failed)
		report_add(rp, "stitch failed: %s\n", got->error);
	for (size_t i = 0; i < l->n; i++) {
		check_request(rp, l, i, got, ex);
		check_check_chain(rp, l, i, got, ex);
	}
	if (!s->pair) {
		check_names(rp, l, got, ex);
		check_lives(rp, got, ex);
	}
	check_copies(rp, l, got, ex);
	check_losses(rp, ex, got);
	check_gaps(rp, got, ex);
	check_counters(rp, got, ex);
	check_session(rp, got, ex, 0);
	check_session(rp, got, ex, 1);
}
