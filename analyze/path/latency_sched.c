/* latency_sched.c - finds intervals of the scheduler: "wake-up" and
 * "off-cpu". */
#include "analyze/path/latency_sched.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/latency/intervals.h"
#include "analyze/latency/pair_kinds.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

static const char sched_kinds[2][8] = { "wake-up", "off-cpu" };

bool latency_sched_has(const char *kind)
{
	return !strcmp(kind, sched_kinds[0]) || !strcmp(kind, sched_kinds[1]);
}

bool latency_has_kind(const char *kind)
{
	return latency_sched_has(kind) ||
	       any_where(pair_kinds_n, i, !strcmp(pair_kinds[i].word, kind));
}

struct latency_sched *latency_sched_open(struct store *db, const char *path,
					 bool calls, struct err *err)
{
	struct latency_sched *s = mem_new(1, sizeof(*s));

	s->r.calls = calls;
	s->ask.tid = s->ask.pid = -1;
	s->r.ask = &s->ask;
	if (path_open(&s->r, db, path, err)) {
		latency_sched_close(s);
		return NULL;
	}
	s->thread = mem_new(s->r.t->n_thread + 1, sizeof(*s->thread));
	for (uint32_t i = 0; i < s->r.t->n_thread; i++) {
		int64_t tid = timeline_tid(s->r.t, i);

		s->thread[i] = (struct intervals_thread){
			.tid = tid,
			.pid = causes_pid(s->r.causes, tid),
			.comm = path_comm(&s->r, i),
		};
	}
	return s;
}

void latency_sched_close(struct latency_sched *s)
{
	if (!s)
		return;
	free(s->thread);
	path_close(&s->r);
	free(s);
}

static void latency_sched_tell(struct latency_sched *s, uint32_t thread,
			       struct interval *i, enum proof proof)
{
	bool proved = proof == PROOF_PROVED;

	i->thread = thread;
	i->most = interval_span(i->begin, i->end);
	i->least = proved ? i->most : 0;
	i->verdict = proved ? INTERVAL_PROVED : INTERVAL_CONSISTENT;
	i->reason = proved ? INTERVAL_NO_REASON : INTERVAL_BY_LOSS;
	s->fn(s->arg, i, s->kind, s->thread[thread].comm, &s->thread[thread]);
}

/* Returns the CPU of the switch that began a wait; -1: not known. The run
 * before it may be too short for a piece. */
static int32_t latency_sched_left(const struct timeline *t,
				  const struct path_wait *w)
{
	const struct numbers id = lists_get(&t->stays, w->thread);
	size_t i = search_where(
		id.n, k, timeline_stay(t, numbers_get(&id, k)).to > w->from);
	struct timeline_stay s;

	if (!i)
		return -1;
	s = timeline_stay(t, numbers_get(&id, i - 1));
	return s.to == w->from ? s.cpu : -1;
}

void latency_sched_each(struct latency_sched *s, const char *kind,
			latency_sched_fn *fn, void *arg)
{
	s->kind = kind;
	s->fn = fn;
	s->arg = arg;
	for (uint32_t i = 0; i < s->r.t->n_thread; i++) {
		struct path_walk at = { .thread = i };
		struct path_wait w;

		if (!strcmp(kind, sched_kinds[0])) {
			/* each time in which a thread was ready, if both of
			 * its ends are recorded switches or wake-ups */
			struct proofs *p = s->r.proofs;
			size_t n = proofs_pieces(p, i);

			for (size_t k = 0; k < n; k++) {
				const struct proof_piece pc =
					proofs_piece(p, i, k);
				struct interval j = { .begin = pc.from,
						      .end = pc.to,
						      .begin_event = pc.out,
						      .cpu = pc.cpu };
				bool cut = k + 1 == n ||
					   proofs_piece(p, i, k + 1).state !=
						   PIECE_RUN;

				if (!piece_is_runnable(&pc) ||
				    pc.from == TIMELINE_START ||
				    pc.to == TIMELINE_END)
					continue;
				cut |= !k || proofs_piece(p, i, k - 1).state ==
						     PIECE_UNKNOWN;
				latency_sched_tell(
					s, i, &j,
					cut || pc.open ? PROOF_LIKELY
						       : (enum proof)pc.proof);
			}
		} else {
			while (path_next_of_thread(&s->r, &at, &w)) {
				/* proved if no piece of it may hide a run */
				struct proofs *p = s->r.proofs;
				struct interval m = { .begin = w.from,
						      .end = w.to,
						      .begin_event = w.out,
						      .cpu = -1 };
				enum proof least = PROOF_PROVED;

				m.cpu = latency_sched_left(s->r.t, &w);
				for (size_t k = w.piece;
				     k < proofs_pieces(p, w.thread); k++) {
					const struct proof_piece pc =
						proofs_piece(p, w.thread, k);

					if (pc.from >= w.to)
						break;
					if (pc.proof < (uint8_t)least ||
					    pc.open)
						least = PROOF_LIKELY;
				}
				latency_sched_tell(s, w.thread, &m, least);
			}
		}
		proofs_forget(s->r.proofs);
	}
}

const char *latency_sched_caller(struct latency_sched *s, int64_t event)
{
	return path_function(&s->r, event);
}

void latency_sched_behind(struct latency_sched *s, uint32_t thread,
			  int64_t from, int64_t to, char *out, size_t size)
{
	struct path_sum *sum;
	struct chain c = { 0 };
	size_t n;

	if (thread != TIMELINE_NONE)
		path_chain(&s->r, thread, from, to, &c);
	for (size_t i = 0; i < c.n; i++) {
		const struct path_sum first =
			path_first(&s->r, &c, &c.segment[i]);
		bool proved = first.proof == PROOF_PROVED;

		c.segment[i].thread = proved ? first.thread : TIMELINE_NONE;
		c.segment[i].state = proved ? first.state : CHAIN_UNKNOWN;
	}
	sum = path_sums(NULL, &c, false, &n);
	if (n && sum[0].thread != TIMELINE_NONE && sum[0].state != CHAIN_SIGNAL)
		snprintf(out, size, "%s/%" PRId32,
			 path_comm(&s->r, sum[0].thread),
			 timeline_tid(s->r.t, sum[0].thread));
	else
		snprintf(out, size, "%s",
			 path_doing(n ? sum[0].state : CHAIN_UNKNOWN));
	free(sum);
	chain_release(&c);
}
