/* timeline_words.c - what the marks and bands of the page are called, and what
 * they are. */
#include "analyze/samples/loss_marks_words.h"

const struct timeline_words timeline_marks[MARK_KINDS] = {
	[MARK_FINDING] = { "finding", "what must not happen in a capture" },
	[MARK_CHAIN_LOST] = { "chain_lost",
			      "request whose chain was lost: records were "
			      "dropped meanwhile" },
	[MARK_UNJOINABLE] = { "unjoinable",
			      "request with the marker but without a cookie" },
	[MARK_STRIPPED] = { "stripped",
			    "request in a file whose chains were removed" },
	[MARK_EXIT_PER_TASK] = { "exit_per_task",
				 "request of a thread that ended before its "
				 "chain could be written" },
	[MARK_PENDING_END] = { "pending_end",
			       "request still in the kernel when the capture "
			       "ended" },
	[MARK_UNWINDER] = { "no answer",
			    "request to a process that unwinds itself: it had "
			    "not opted in, was at it already, or gave up" },
	[MARK_EMPTY] = { "empty", "request whose chain has no address" },
	[MARK_UNEXPLAINED] = { "unexplained",
			       "request without a chain, and without a "
			       "reason" },
	[MARK_NO_SAMPLE] = { "chain: sample_lost",
			     "chain whose samples were lost" },
	[MARK_OVERWRITTEN] = { "chain: overwritten",
			       "chain whose samples were overwritten in the "
			       "ring" },
	[MARK_FOREIGN] = { "chain: foreign",
			   "chain that another session asked for" },
	[MARK_DUPLICATE] = { "chain: duplicate",
			     "chain that was there already" },
	[MARK_NO_COOKIE] = { "chain: unjoinable",
			     "chain whose samples carry no cookie" },
	[MARK_NO_REASON] = { "chain: unexplained",
			     "chain without a sample, and without a reason" },
};

const struct timeline_words timeline_bands[BAND_KINDS] = {
	[BAND_LOST] = { "lost", "records dropped: the ring was full" },
	[BAND_OVERWRITTEN] = { "overwritten",
			       "the ring overwrote its oldest records" },
	[BAND_DAMAGE] = { "damage", "a part of the file could not be read" },
	[BAND_OTHER] = { "other", "not recorded" },
	[BAND_FILTERED] = { "filtered", "dropped by a filter, on purpose" },
	[BAND_THROTTLED] = { "throttled", "the kernel stopped the event" },
	[BAND_GAP_LOST] = { "missing cookies: lost",
			    "counters of cookies that no record has; a loss "
			    "explains them" },
	[BAND_GAP_UNCOUNTED] = { "missing cookies: uncounted",
				 "counters of cookies that no record has, and "
				 "no loss explains them" },
	[BAND_GAP_FOREIGN] = { "missing cookies: lost or foreign",
			       "counters of cookies that no record has: lost, "
			       "or asked for by somebody else" },
};
