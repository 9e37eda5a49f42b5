/* interval.c - how long intervals take, and words for what is proved. */
#include "analyze/latency/interval.h"

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
