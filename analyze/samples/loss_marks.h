/* loss_marks.h - what was lost and which stacks are missing, when and on which
 * CPU, as the page shows it.
 *
 * A capture of hours has more marks than the page has pixels: those of one
 * kind, capture and CPU that share one of LOSS_COLUMNS columns are one mark
 * with a count, and bands that overlap or are narrower than a column are one
 * band. No number gets lost by that. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

#define LOSS_COLUMNS 1000 /* of the whole time */

/* Marks: things that happen at one time. The page's scripts know the order of
 * both lists. */
enum loss_mark_kind {
	MARK_FINDING,
	MARK_UNEXPLAINED, /* requests */
	MARK_CHAIN_LOST,
	MARK_UNJOINABLE,
	MARK_STRIPPED,
	MARK_EXIT_PER_TASK,
	MARK_PENDING_END,
	MARK_UNWINDER,
	MARK_EMPTY,
	MARK_NO_REASON, /* chains: unexplained */
	MARK_NO_SAMPLE,
	MARK_OVERWRITTEN,
	MARK_NO_COOKIE,
	MARK_FOREIGN,
	MARK_DUPLICATE,
	MARK_KINDS
};

/* Bands: things that last. */
enum loss_band_kind {
	BAND_LOST,
	BAND_OVERWRITTEN,
	BAND_DAMAGE,
	BAND_OTHER,
	BAND_FILTERED,
	BAND_THROTTLED,
	BAND_GAP_UNCOUNTED, /* counters of cookies that no record has */
	BAND_GAP_LOST,
	BAND_GAP_FOREIGN,
	BAND_KINDS
};

struct loss_place {
	int64_t capture;
	int32_t cpu; /* -1: not known */
	int kind;
};

struct loss_mark {
	struct loss_place at;
	uint32_t column;
	uint64_t n;
	int64_t t0, t1; /* first and last */
};

struct loss_band {
	struct loss_place at;
	int64_t t0, t1;
	uint64_t n;    /* records or counters */
	uint64_t rows; /* number of intervals merged into this band */
};

struct loss_marks {
	int64_t t0, t1; /* the whole time */
	struct loss_mark *mark;
	size_t n_mark, cap_mark;
	struct loss_band *band;
	size_t n_band, cap_band;
};

/* Fills *tl, which the caller has zeroed, and sorts marks and bands by place
 * and time. Stores in *timed whether the database has times; if not, tl stays
 * empty. What has no time is in the tables of the page only. Returns 0, or -1
 * and *err. The caller releases tl in both cases. */
int loss_marks_load(struct loss_marks *tl, bool *timed, struct store *db,
		    struct err *err);
void loss_marks_release(struct loss_marks *tl);

/* For tests: the parts of loss_marks_load(), with t0 and t1 set before. t1 of a
 * band may be before its t0. */
void loss_mark(struct loss_marks *tl, const struct loss_mark *m);
void loss_band(struct loss_marks *tl, const struct loss_band *b);
void loss_marks_finish(struct loss_marks *tl);

/* What a kind is called on the page, and what it is. */
struct loss_words {
	const char *name, *says;
};

extern const struct loss_words loss_mark_words[MARK_KINDS];
extern const struct loss_words loss_band_words[BAND_KINDS];
