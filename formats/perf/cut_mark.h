/* cut_mark.h - records of ours in the pieces of a stream that was cut: where a
 * piece begins and ends, and what it lacks.
 *
 * A piece that begins with PERF_CUT_BEGINS has one that says how it ends.
 * Otherwise the rest of the piece was not stored, and its reader says so. Of
 * version 1.0, the last piece of a stream has none. */
#pragma once

/* The misc of such a record, which has the type PR_CUT and a u64. */
enum perf_cut_mark {
	PERF_CUT_BEGAN = 0,  /* at that place, in a piece of version 1.0 */
	PERF_CUT_ENDS = 1,   /* at that place, where another one begins */
	PERF_CUT_PACKED = 2, /* compressed data at that offset of the stream is
			      * damaged, and was not stored */
	PERF_CUT_BROKEN = 4, /* as PERF_CUT_LAST, because the size of the record
			      * at that offset is damaged */
	PERF_CUT_LAST = 8,   /* the stream ended at that offset */
	PERF_CUT_BEGINS = 16, /* at that place; 0: nothing is before it */
};
#define PERF_CUT_MARK_SIZE 16
