/* cut_mark.h - backstitch's own records in the pieces of a stream that was cut:
 * where a piece begins and ends, and what is missing in it.
 *
 * A piece that begins with PERF_CUT_BEGINS has a record for its end. If that is
 * missing, the rest of the piece was not stored, and its reader reports that.
 * In version 1.0, the last piece of a stream has none. */
#pragma once

/* The misc of such a record, which has the type PR_CUT and a u64. */
enum perf_cut_mark {
	PERF_CUT_BEGAN = 0, /* the piece begins at that place, version 1.0 */
	PERF_CUT_ENDS =
		1, /* it ends at that place, and another one begins there */
	PERF_CUT_PACKED = 2, /* compressed data at that offset of the stream is
				damaged, and was not stored */
	PERF_CUT_BROKEN = 4, /* like PERF_CUT_LAST: the size of the record at
				that offset is damaged */
	PERF_CUT_LAST = 8,   /* the stream ended at that offset */
	PERF_CUT_BEGINS =
		16, /* the piece begins at that place; 0: nothing precedes it */
};
#define PERF_CUT_MARK_SIZE 16
