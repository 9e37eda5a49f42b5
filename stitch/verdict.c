/* verdict.c - the words for verdicts, confidence and quality. */
#include "stitch/verdict.h"

#include "stitch/unwinder.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *word_at(const char *const *words, size_t n, unsigned int v)
{
	return v < n ? words[v] : NULL;
}

const char *request_verdict_name(unsigned int v)
{
	static const char *const words[] = {
		[REQ_MATCHED] = "matched",
		[REQ_CHAIN_LOST] = "chain_lost",
		[REQ_EXIT_PER_TASK] = "exit_per_task",
		[REQ_PENDING_END] = "pending_end",
		[REQ_UNJOINABLE] = "unjoinable",
		[REQ_REFUSED] = "refused",
		[REQ_STRIPPED] = "stripped",
		[REQ_UNEXPLAINED] = "unexplained",
		[REQ_BEFORE_OPT_IN] = "before_opt_in",
		[REQ_IN_UNWINDER] = "in_unwinder",
		[REQ_UNWINDER_DIED] = "unwinder_died",
		[REQ_EMPTY] = "empty",
	};

	return word_at(words, COUNT(words), v);
}

const char *chain_verdict_name(unsigned int v)
{
	static const char *const words[] = {
		[CHAIN_USED] = "used",
		[CHAIN_SAMPLE_LOST] = "sample_lost",
		[CHAIN_FOREIGN] = "foreign",
		[CHAIN_OVERWRITTEN] = "overwritten",
		[CHAIN_DUPLICATE] = "duplicate",
		[CHAIN_UNEXPLAINED] = "unexplained",
		[CHAIN_UNJOINABLE] = "unjoinable",
	};

	return word_at(words, COUNT(words), v);
}

const char *confidence_name(unsigned int v)
{
	static const char *const words[] = {
		[CONF_PROVED] = "proved",
		[CONF_EXPLAINED] = "explained",
		[CONF_UNEXPLAINED] = "unexplained",
	};

	return word_at(words, COUNT(words), v);
}

const char *quality_name(unsigned int v)
{
	static const char *const words[] = {
		[QUALITY_EMPTY] = "empty", [QUALITY_ONE] = "one_frame",
		[QUALITY_CUT] = "cut",	   [QUALITY_OUTERMOST] = "outermost",
		[QUALITY_OPEN] = "open",
	};

	return word_at(words, COUNT(words), v);
}

const char *request_end_name(unsigned int v)
{
	static const char *const words[] = {
		[END_COOKIE] = "newer_cookie",
		[END_EXIT] = "exit",
		[END_REUSED] = "reused_tid",
		[END_CAPTURE] = "end_of_capture",
	};

	return word_at(words, COUNT(words), v);
}

const char *as_perf_name(unsigned int v)
{
	static const char *const words[] = {
		[AS_PERF_MERGED] = "merged",
		[AS_PERF_BARE] = "bare",
		[AS_PERF_BARE_END] = "bare_at_end",
	};

	return word_at(words, COUNT(words), v);
}

const char *unwind_end_name(unsigned int v)
{
	static const char *const words[] = {
		[UNWIND_OUTERMOST] = "outermost",
		[UNWIND_TRUNCATED] = "truncated_dump",
		[UNWIND_NO_MAP] = "no_map",
		[UNWIND_NO_FILE] = "no_file",
		[UNWIND_NO_TABLE] = "no_table",
		[UNWIND_FOREIGN] = "foreign_stack",
		[UNWIND_COMPLEX] = "complex",
		[UNWIND_LOOP] = "loop",
		[UNWIND_LIMIT] = "limit",
		[UNWIND_BAD] = "contradiction",
		[UNWIND_HIT] = "hit_only",
	};

	return word_at(words, COUNT(words), v);
}

const char *gap_verdict_name(unsigned int v)
{
	static const char *const words[] = {
		[GAP_LOST] = "lost",
		[GAP_UNCOUNTED] = "uncounted",
		[GAP_FOREIGN] = "lost_or_foreign",
	};

	return word_at(words, COUNT(words), v);
}
