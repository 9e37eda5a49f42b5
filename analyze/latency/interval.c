/* interval.c - intervals made of one or two records, how long they take, and
 * the words for their verdicts. */
#include "analyze/latency/interval.h"

#include "analyze/latency/lost_times.h"
#include "stitch/base/mem.h"
#include "stitch/base/words.h"

WORDS_FUNCTION(interval_verdict_word, uint8_t, "proved", "consistent",
	       "began before", "unfinished", "begin lost", "end lost",
	       "unexplained", "cancelled", "ambiguous");

WORDS_FUNCTION(interval_reason_word, uint8_t, "", "loss", "silent", "start",
	       "restart", "cancel", "exec", "sigreturn", "merged");

WORDS_FUNCTION(interval_premise_word, uint8_t, "idle", "alone", "not cancelled",
	       "started", "probed", "returned");

int64_t interval_span(int64_t from, int64_t to)
{
	int64_t ns;

	if (from == INTERVAL_NEVER || to == INTERVAL_NEVER || to < from)
		return 0;
	return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

int64_t interval_ns(const struct interval *i)
{
	return i->verdict == INTERVAL_PROVED ? i->most
					     : interval_span(i->begin, i->end);
}

struct interval_range interval_range(const struct interval *i, int64_t first,
				     int64_t last)
{
	struct interval_range r = { i->least, i->most };

	if (i->verdict == INTERVAL_BEFORE)
		raise_to(r.least, interval_span(first, i->end));
	else if (i->verdict == INTERVAL_UNFINISHED)
		raise_to(r.least, interval_span(i->begin, last));
	return r;
}

uint8_t pairing_reason(const struct lost_sum *lost)
{
	return lost->id	      ? INTERVAL_BY_LOSS
	       : lost->silent ? INTERVAL_BY_SILENT
			      : INTERVAL_NO_REASON;
}

struct interval pairing_of(const struct pairing_record *r)
{
	return (struct interval){
		.begin = INTERVAL_NEVER,
		.end = INTERVAL_NEVER,
		.key = r->key[0],
		.self = -1,
		.depth = r->depth,
		.most = INT64_MAX,
		.pair = r->pair,
		.thread = r->thread,
		.name = r->name,
		.by = r->by,
		.cpu = r->cpu,
		.premise = r->premise,
	};
}

struct interval pairing_of_both(const struct pairing_record *begin,
				const struct pairing_record *end)
{
	struct interval i = pairing_of(begin);

	i.begin = begin->time;
	i.begin_event = begin->event;
	i.end = end->time;
	i.end_event = end->event;
	i.premise |= end->premise;
	i.most = interval_span(i.begin, i.end);
	i.ret = end->ret;
	i.has_ret = end->has_ret && begin->call != PAIRING_SIGRETURN;
	if (!i.name)
		i.name = end->name;
	if (!i.by)
		i.by = end->by;
	return i;
}
