/* orphans.c - chains without a sample, until it is decided who asked for
 * them. */
#include "stitch/join/orphans.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/fact_queue.h"
#include "stitch/join/cookies.h"
#include "stitch/join/sessions.h"
#include "stitch/record.h"

/* Number of orphans that wait for the end. More of them than this are enough to
 * see who asked. */
#define ORPHANS_MAX (1u << 16)

/* Threads that must have orphans which directly follow each other. */
#define THREADS_MIN 2

void orphans_release(struct orphans *os)
{
	free_all(os->at, os->asked);
}

void orphans_requested(struct orphans *os, uint32_t thread)
{
	*mem_at(os->asked, os->n_asked, os->cap_asked, thread) = true;
}

COMPARE_BY(orphan_compare, struct orphan, line, f.thread, f.time, f.id);

/* Returns whether the orphans from..to-1 prove another session: two threads
 * have orphans that directly follow each other, or a thread has several but
 * never asked here. They are sorted. */
static bool orphans_prove_session(const struct orphans *os, size_t from,
				  size_t to)
{
	size_t threads = 0;

	for (size_t i = from, next; i < to; i = next) {
		uint32_t thread = os->at[i].f.thread;
		bool follows = false;

		for (next = i + 1; next < to && os->at[next].f.thread == thread;
		     next++)
			follows |=
				os->at[next].f.from != TIME_NONE &&
				os->at[next].f.from == os->at[next - 1].f.time;
		if (next - i > 1 &&
		    (thread >= os->n_asked || !os->asked[thread]))
			return true;
		threads += follows;
	}
	return threads >= THREADS_MIN;
}

/* Gives an orphan its verdict. foreign: another session asked for it. */
static void orphans_push(struct orphans *os, struct sessions *ss,
			 const struct orphan *o, bool foreign)
{
	struct session *head = ss->at[o->line];
	struct session *se = head;
	struct fact f = { .kind = FACT_CHAIN, .chain = o->f };

	f.chain.verdict = foreign ? CHAIN_FOREIGN : CHAIN_UNEXPLAINED;
	f.chain.confidence = foreign ? CONF_EXPLAINED : CONF_UNEXPLAINED;
	*fact_queue_add(os->out) = f;
	if (!foreign)
		return;
	do {
		if (o->told_by & se->bit)
			session_add_foreign(se, o->asked_cpu);
		se = se->next;
	} while (se != head);
}

/* Decides who asked for the orphans so far. If requests of this session lack
 * their chain without a reason, then records vanished, and the samples of the
 * orphans may have vanished as well. */
void orphans_judge(struct orphans *os, struct sessions *ss)
{
	sort_items(os->at, os->n, orphan_compare);
	for (size_t i = 0, next; i < os->n; i = next) {
		struct session *head = ss->at[os->at[i].line];

		for (next = i; next < os->n && os->at[next].line == head->line;)
			next++;
		head->other_session |= !head->n_unexplained &&
				       orphans_prove_session(os, i, next);
		for (size_t k = i; k < next; k++)
			orphans_push(os, ss, &os->at[k], head->other_session);
	}
	os->n = 0;
}

/* The nonce of a stack that a process logged may be older than the capture. */
void orphans_take(struct orphans *os, struct sessions *ss,
		  const struct cookie_entry *e, const struct fact_chain *f)
{
	const struct session *se = ss->at[e->chain.source];
	const struct orphan o = { *f, e->line, e->told_by, e->chain.asked_cpu };

	if (se->filtered || ss->at[e->line]->other_session)
		orphans_push(os, ss, &o, true);
	else if (e->nonce || se->cookies != COOKIES_PERF)
		orphans_push(os, ss, &o, e->before == TIME_NONE);
	else
		*mem_add(os->at, os->n, os->cap) = o;
	if (os->n >= ORPHANS_MAX)
		orphans_judge(os, ss);
}
