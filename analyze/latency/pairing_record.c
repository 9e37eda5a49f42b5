/* pairing_record.c - intervals of one record or two. */
#include "analyze/latency/pairing_record.h"

#include "analyze/latency/lost_times.h"

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
