/* timeline_model.h - what a timeline picture shows, cut down to its pixels.
 *
 * Call order: the captures, the range of time, any number of _event, _mark,
 * _band and _untimed, then _finish once; after that lanes, marks and bands
 * are sorted and few enough to be drawn. Nothing that was added is left out
 * silently: it is in a lane, in a mark's or band's count, or in a counter. */
#ifndef CLI_PICTURES_TIMELINE_MODEL_H
#define CLI_PICTURES_TIMELINE_MODEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define TIMELINE_COLUMNS 1000 /* px of the whole time */
#define TIMELINE_LANES 1024   /* further CPUs are only counted */
#define TIMELINE_STRIPS 32    /* so are further kinds without a time */
#define TIMELINE_MARKS 2500   /* at most this many marks have a tooltip, */
#define TIMELINE_BANDS 1500   /* to keep the file below a megabyte */

/* Marks: things that happen at one time, the most severe first, in the order of
 * their rows. */
enum timeline_mark_kind {
	MARK_FINDING,
	MARK_UNEXPLAINED, /* requests */
	MARK_CHAIN_LOST,
	MARK_UNJOINABLE,
	MARK_STRIPPED,
	MARK_EXIT_PER_TASK,
	MARK_PENDING_END,
	MARK_UNWINDER,
	MARK_NO_REASON, /* chains: unexplained */
	MARK_NO_SAMPLE,
	MARK_OVERWRITTEN,
	MARK_NO_COOKIE,
	MARK_FOREIGN,
	MARK_DUPLICATE,
	MARK_KINDS,
	MARK_CHAINS = MARK_NO_REASON
};

/* Bands: things that last, the most severe first. */
enum timeline_band_kind {
	BAND_LOST,
	BAND_OVERWRITTEN,
	BAND_DAMAGE,
	BAND_OTHER,
	BAND_FILTERED,
	BAND_THROTTLED,
	BAND_GAP_UNCOUNTED, /* counters of cookies that no record has */
	BAND_GAP_LOST,
	BAND_GAP_FOREIGN,
	BAND_KINDS,
	BAND_GAPS = BAND_GAP_UNCOUNTED
};

struct timeline_capture {
	int64_t id;
	const char *path, *host, *clock;
	bool timed;
	bool whole; /* all CPUs were recorded; their number is in cpus */
	int64_t cpus;
};

struct timeline_lane {
	int64_t capture;
	int32_t cpu; /* -1: not known */
	uint64_t events, lost, losses;
	uint64_t requests,
		chains;	  /* requests not joined; chains without a sample */
	uint64_t missing; /* counters */
	uint64_t findings;
	uint32_t column[TIMELINE_COLUMNS]; /* events */
};

struct timeline_mark {
	uint32_t lane;
	uint32_t column;
	enum timeline_mark_kind kind;
	uint64_t n;
	int64_t t0, t1;	 /* first and last */
	const char *who; /* thread of the first; NULL: not known */
	uint64_t rules;	 /* of findings: bit set of rule ids below 64 */
};

struct timeline_band {
	uint32_t lane;
	enum timeline_band_kind kind;
	int64_t t0, t1;
	bool from_start,
		to_end; /* t0 or t1 is not known and stands for the edge */
	bool some;	/* the number of some records is not known */
	bool mixed;	/* merged from losses of several kinds */
	const char *what;
	uint64_t n;    /* records or counters */
	uint64_t rows; /* number of intervals merged into this band */
};

/* Losses without a time: rows of one capture, kind and CPU. */
struct timeline_untimed {
	int64_t capture;
	const char *what;
	bool counts;
	int32_t cpu;
	uint64_t n, rows;
};

struct timeline {
	struct arena text;
	struct timeline_capture *capture;
	size_t n_capture, cap_capture;
	int64_t t0, t1; /* the whole time */
	struct timeline_lane **lane;
	size_t n_lane, cap_lane;
	struct table lanes; /* by capture and CPU */
	struct timeline_mark *mark;
	size_t n_mark, cap_mark;
	struct timeline_band *band;
	size_t n_band, cap_band;
	struct timeline_untimed *untimed;
	size_t n_untimed, cap_untimed, n_strip;
	struct timeline_size {
		unsigned int bin; /* px over which items of a kind are merged */
		bool plain;	  /* too many for tooltips; bin is then 1 */
	} marks, bands;
	uint64_t events, lost, losses; /* all, including those without a lane */
	uint64_t requests, joined, refused;
	uint64_t n[MARK_KINDS];			    /* of each kind */
	uint64_t rows[BAND_KINDS], sum[BAND_KINDS]; /* intervals; records */
	bool some[BAND_KINDS];
	uint64_t no_time, no_lane; /* items counted but not drawn */
	const char *rule[64];	   /* names */
};

void timeline_release(struct timeline *tl);
/* Returns a + b, or UINT64_MAX if the sum does not fit. */
uint64_t timeline_add(uint64_t a, uint64_t b);
/* Returns the position of a time in 1/10 px from the left; times outside the
 * range are at the edges. */
uint32_t timeline_px(const struct timeline *tl, int64_t time);

/* A cpu that is negative or above INT32_MAX is stored as -1, "not known". */
void timeline_event(struct timeline *tl, int64_t capture, int64_t cpu,
		    int64_t time);
void timeline_mark(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_mark *m);
void timeline_band(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_band *b, bool counts);
void timeline_untimed(struct timeline *tl, const struct timeline_untimed *u);
void timeline_finish(struct timeline *tl);
#endif
