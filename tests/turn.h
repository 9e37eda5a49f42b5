/* turn.h - a part of a long loop for each commit, the next one for the next. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Is it the turn of the i-th try, of each `of` one? run.sh says the commit; all
 * are tried with LONG, and when nobody says it. */
static inline bool turn_is(uint64_t i, uint64_t of)
{
	const char *commit = getenv("SHARE_OF");
	const char *is = getenv("LONG");

	return !commit || (is && *is) ||
	       i % of == strtoull(commit, NULL, 10) % of;
}
