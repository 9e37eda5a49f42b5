/* rest.c - what a change does not concern comes out as before; and nobody is
 * accused where nothing was changed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/audit/rules.h"
#include "tests/truth/truth.h"

static bool of_cookie(const struct change *ch, const struct record *r)
{
	for (size_t i = 0; i < ch->n_cookie; i++)
		if (has_cookie(r) && cookie_of(r) == ch->cookie[i])
			return true;
	return false;
}

static bool of_tid(const struct change *ch, const struct record *r)
{
	for (size_t i = 0; i < ch->n_tid; i++)
		if (r->tid == ch->tid[i] || r->pid == ch->tid[i])
			return true;
	return false;
}

/* Flags that follow from what others did. */
#define FREE_FLAGS VERDICT_PERF_LATE

static bool same_request(const struct request_row *a,
			 const struct request_row *b, bool tid)
{
	uint32_t free_flags = FREE_FLAGS;

	if (tid)
		free_flags |= VERDICT_REUSED_TID | VERDICT_EXEC;
	/* whose EXIT is gone has not ended, or nobody knows how */
	if (tid && a->f.verdict == REQ_EXIT_PER_TASK)
		return b->has && b->f.verdict != REQ_MATCHED;
	/* the capture ended between EXIT and chain: a loss says as much */
	if (a->f.verdict == REQ_PENDING_END && a->f.end == END_EXIT)
		return b->f.verdict == REQ_PENDING_END ||
		       b->f.verdict == REQ_CHAIN_LOST;
	return a->has == b->has && a->f.verdict == b->f.verdict &&
	       a->f.confidence == b->f.confidence &&
	       a->f.latency == b->f.latency &&
	       !((a->f.flags ^ b->f.flags) & ~free_flags);
}

static bool same_chain(const struct chain_row *a, const struct chain_row *b,
		       bool tid)
{
	uint32_t free_flags = FREE_FLAGS;

	if (tid)
		free_flags |= VERDICT_REUSED_TID | VERDICT_AFTER_EXIT;
	return a->has == b->has && a->f.verdict == b->f.verdict &&
	       a->f.confidence == b->f.confidence &&
	       a->f.quality == b->f.quality && a->f.n_events == b->f.n_events &&
	       a->f.cpu == b->f.cpu &&
	       !((a->f.flags ^ b->f.flags) & ~free_flags);
}

/* Do the addresses of chain r mean the same in both lists? */
static bool same_places(const struct list *a, size_t ia, const struct list *b,
			size_t ib, const struct expect *ex,
			const struct addrs *at)
{
	int32_t pa = a->at[ia].rec->pid;
	int32_t pb = b->at[ib].rec->pid;

	for (uint32_t i = 0; i < at->n; i++) {
		const struct record *x = model_map(a, NULL, ia, pa, at->ip[i]);
		const struct record *y = model_map(b, ex, ib, pb, at->ip[i]);

		if (!x != !y)
			return false;
		if (x && (x->map.ino != y->map.ino ||
			  strcmp(x->map.path, y->map.path) != 0 ||
			  x->map.pgoff - x->map.start !=
				  y->map.pgoff - y->map.start))
			return false;
	}
	return true;
}

static void check_stack(const struct slice *s, const struct change *ch,
			const struct expect *ex, size_t i, uint64_t was,
			uint64_t is, struct report *rp)
{
	const struct list *l = &ch->list;
	uint32_t o = l->at[i].origin;
	const struct record *r = l->at[i].rec;
	bool same = true;

	if (r->kind == REC_CHAIN && ch->names)
		same = same_places(&s->list, o, l, i, ex, &r->chain.user);
	if ((was == is) == same)
		return;
	report_add(rp, "#%u pid %d: its stack is %s, should be %s\n", o,
		   (int)r->pid, was == is ? "as before" : "another",
		   same ? "as before" : "another");
}

static void rest_check_event(const struct change *ch, size_t i,
			     const struct event_row *was,
			     const struct event_row *is, struct report *rp)
{
	uint32_t o = ch->list.at[i].origin;

	if (was->has != is->has || was->f.time != is->f.time ||
	    was->f.cpu != is->f.cpu || was->f.weight != is->f.weight ||
	    was->f.type != is->f.type || was->kern != is->kern)
		report_add(rp, "#%u: another event than before\n", o);
	if (!ch->names &&
	    (strcmp(was->comm, is->comm) != 0 || was->user != is->user))
		report_add(rp, "#%u: another name or stack than before\n", o);
}

void check_rest(const struct slice *s, const struct change *ch,
		const struct result *base, const struct result *got,
		const struct expect *ex, struct report *rp)
{
	for (size_t i = 0; i < ch->list.n; i++) {
		const struct record *r = ch->list.at[i].rec;
		uint32_t o = ch->list.at[i].origin;
		bool tid = of_tid(ch, r);

		if (o == NOWHERE)
			continue;
		rest_check_event(ch, i, &base->event[o], &got->event[i], rp);
		if (r->kind == REC_CHAIN)
			check_stack(s, ch, ex, i, base->chain[o].user,
				    got->chain[i].user, rp);
		if (of_cookie(ch, r))
			continue;
		if (!same_request(&base->request[o], &got->request[i], tid))
			report_add(rp, "#%u: another request than before\n", o);
		if (!same_chain(&base->chain[o], &got->chain[i], tid))
			report_add(rp, "#%u: another chain than before\n", o);
	}
}

void check_clean(const struct slice *s, const struct result *got,
		 struct report *rp)
{
	for (size_t i = 0; i < got->n; i++) {
		const struct request_row *q = &got->request[i];
		const struct chain_row *c = &got->chain[i];

		if (q->has && (q->f.verdict == REQ_CHAIN_LOST ||
			       q->f.verdict == REQ_UNEXPLAINED ||
			       q->f.verdict == REQ_STRIPPED ||
			       q->f.flags & VERDICT_FIRST_LOST))
			report_add(rp, "%s #%zu: request: %s, flags %#x\n",
				   s->cap->name, i,
				   request_verdict_name(q->f.verdict),
				   q->f.flags);
		if (c->has && c->f.verdict != CHAIN_USED)
			report_add(rp, "%s #%zu: chain: %s\n", s->cap->name, i,
				   chain_verdict_name(c->f.verdict));
	}
	if (got->n_gap)
		report_add(rp, "%s: %zu gaps\n", s->cap->name, got->n_gap);
	for (size_t i = 0; i < got->n_finding; i++)
		report_add(rp, "%s: finding %s\n", s->cap->name,
			   rules[got->finding[i].f.rule].name);
}

static void dump_row(const struct record *r, const struct result *got, size_t i)
{
	const struct request_row *q = &got->request[i];
	const struct chain_row *c = &got->chain[i];

	if (has_cookie(r))
		printf(" cookie %" PRIx64 " (cpu %d, %u)", cookie_of(r),
		       (int)cookie_cpu(cookie_of(r)),
		       cookie_count(cookie_of(r)));
	if (r->kind == REC_COMM)
		printf(" '%s'%s", r->comm.name,
		       r->flags & REC_F_EXEC ? " exec" : "");
	if (r->kind == REC_MAP)
		printf(" %" PRIx64 "+%" PRIx64 " %s", r->map.start, r->map.len,
		       r->map.path);
	if (r->kind == REC_LOST || r->kind == REC_LOST_TOTAL)
		printf(" %" PRIu64, r->lost.n);
	if (q->has)
		printf(" -> %s, flags %#x, end %d until %" PRId64 " loss %u",
		       request_verdict_name(q->f.verdict), q->f.flags,
		       (int)q->f.end, q->f.until, q->f.loss);
	if (c->has)
		printf(" -> %s, flags %#x, from %" PRId64 " loss %u",
		       chain_verdict_name(c->f.verdict), c->f.flags, c->f.from,
		       c->f.loss);
	printf("\n");
}

void dump_case(const struct slice *s, const struct list *l,
	       const struct result *got)
{
	static const char *const kinds[] = { "none",  "sample",	 "chain",
					     "map",   "ksymbol", "comm",
					     "fork",  "exit",	 "lost",
					     "total", "switch",	 "mark" };

	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		if (l->at[i].origin < s->start)
			continue;
		printf("%5d%s %" PRIu64 " cpu %d %d/%d %s",
		       (int)l->at[i].origin, l->at[i].source ? "b" : "",
		       r->time, (int)r->cpu, (int)r->pid, (int)r->tid,
		       kinds[r->kind]);
		dump_row(r, got, i);
	}
}
