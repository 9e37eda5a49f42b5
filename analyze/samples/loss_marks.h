/* loss_marks.h - the losses of a database; and marks and bands of losses and
 * missing stacks, by time and CPU, as the page shows them.
 *
 * A capture of hours has more marks than the page has pixels: those of one
 * kind, capture and CPU that share one of LOSS_COLUMNS columns are one mark
 * with a count, and bands that overlap or are narrower than a column are one
 * band. Their numbers are added up, so none is lost. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

struct err;
struct store;

#define LOSS_COLUMNS 1000 /* columns of the whole time */

/* Marks: things that happen at one time. The page's scripts know the order of
 * both enums. */
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
	int64_t t0, t1; /* ns of the first and last */
};

struct loss_band {
	struct loss_place at;
	int64_t t0, t1;
	uint64_t n;    /* records or counters */
	uint64_t rows; /* number of intervals merged into this band */
};

struct loss_marks {
	int64_t t0, t1; /* ns, of the whole database */
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

/* --time and -C select losses, also those of which the time or the CPU is not
 * known; the other filters do not, because lost records may have belonged to
 * any thread and event. Memory is bounded by the number of
 * records about losses. */

struct filter;

/* A loss in the interval (from, to]. n and cpu are -1 if not known. */
struct loss_row {
	int64_t id, cpu, from, to, n;
	int64_t type;	  /* event_type.id; 0: of any */
	const char *what; /* "lost", "throttled", ... */
	uint32_t capture;
	bool counts;	       /* n counts towards the number of lost records */
	bool has_from, has_to; /* whether from, to are known */
};

/* Losses, ordered by their end; those without one come last. */
struct loss_rows {
	struct loss_row *row;
	size_t n, cap;
	struct arena text;
};

/* Loads the losses that the filter selects. Returns NULL and *err if the
 * database cannot be read or a filter option is refused. */
struct loss_rows *loss_rows_load(struct store *db, const struct filter *filter,
				 struct err *err);
void loss_rows_free(struct loss_rows *l);

/* Returns the megabytes of buffer for each CPU that a command line of perf sets
 * by -m, rounded up; 0: it has no -m. */
unsigned int loss_buffer_megabytes(const char *cmdline);
/* Returns how many megabytes to record with if `had` megabytes were too few; 0:
 * more would not help. */
unsigned int loss_larger_megabytes(unsigned int had);
/* Returns advice on how to repeat a capture of this format that lost records:
 * "larger buffers: ...". had: loss_buffer_megabytes(); record: the capture was
 * made by record --waits. */
const char *loss_larger_buffers(const char *format, unsigned int had,
				bool record);
/* Returns advice for a capture that lacks records which its recorder did not
 * count as lost; NULL: nothing is known to help. */
const char *loss_own_ring(const char *format);

/* Counts the lost records of the whole database, whatever the filters select.
 * *unknown: there are more, whose number is not known. Returns 0, or -1 and
 * *err. */
int loss_rows_sum(struct store *db, uint64_t *n, bool *unknown,
		  struct err *err);
