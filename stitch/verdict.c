/* verdict.c - the words for verdicts, confidence and quality. */
#include "stitch/verdict.h"

#include "stitch/base/words.h"
#include "stitch/unwinder.h"

WORDS_FUNCTION(
	request_verdict_name, unsigned int, [REQ_MATCHED] = "matched",
	[REQ_CHAIN_LOST] = "chain_lost", [REQ_EXIT_PER_TASK] = "exit_per_task",
	[REQ_PENDING_END] = "pending_end", [REQ_UNJOINABLE] = "unjoinable",
	[REQ_REFUSED] = "refused", [REQ_STRIPPED] = "stripped",
	[REQ_UNEXPLAINED] = "unexplained",
	[REQ_BEFORE_OPT_IN] = "before_opt_in",
	[REQ_IN_UNWINDER] = "in_unwinder",
	[REQ_UNWINDER_DIED] = "unwinder_died", [REQ_EMPTY] = "empty");

WORDS_FUNCTION(
	chain_verdict_name, unsigned int, [CHAIN_USED] = "used",
	[CHAIN_SAMPLE_LOST] = "sample_lost", [CHAIN_FOREIGN] = "foreign",
	[CHAIN_OVERWRITTEN] = "overwritten", [CHAIN_DUPLICATE] = "duplicate",
	[CHAIN_UNEXPLAINED] = "unexplained", [CHAIN_UNJOINABLE] = "unjoinable");

WORDS_FUNCTION(
	confidence_name, unsigned int, [CONF_PROVED] = "proved",
	[CONF_EXPLAINED] = "explained", [CONF_UNEXPLAINED] = "unexplained");

WORDS_FUNCTION(quality_name, unsigned int, [QUALITY_EMPTY] = "empty",
	       [QUALITY_ONE] = "one_frame", [QUALITY_CUT] = "cut",
	       [QUALITY_OUTERMOST] = "outermost", [QUALITY_OPEN] = "open");

WORDS_FUNCTION(request_end_name,
	       unsigned int, [END_COOKIE] = "newer_cookie", [END_EXIT] = "exit",
	       [END_REUSED] = "reused_tid", [END_CAPTURE] = "end_of_capture");

WORDS_FUNCTION(as_perf_name, unsigned int, [AS_PERF_MERGED] = "merged",
	       [AS_PERF_BARE] = "bare", [AS_PERF_BARE_END] = "bare_at_end");

WORDS_FUNCTION(
	unwind_end_name, unsigned int, [UNWIND_OUTERMOST] = "outermost",
	[UNWIND_TRUNCATED] = "truncated_dump", [UNWIND_NO_MAP] = "no_map",
	[UNWIND_NO_FILE] = "no_file", [UNWIND_NO_TABLE] = "no_table",
	[UNWIND_FOREIGN] = "foreign_stack", [UNWIND_COMPLEX] = "complex",
	[UNWIND_LOOP] = "loop", [UNWIND_LIMIT] = "limit",
	[UNWIND_BAD] = "contradiction", [UNWIND_HIT] = "hit_only",
	[UNWIND_EMPTY] = "empty_dump", [UNWIND_UNREAD] = "unread",
	[UNWIND_CONVERTED] = "converted");

WORDS_FUNCTION(gap_verdict_name,
	       unsigned int, [GAP_LOST] = "lost", [GAP_UNCOUNTED] = "uncounted",
	       [GAP_FOREIGN] = "lost_or_foreign");
