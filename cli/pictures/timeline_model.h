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
#define TIMELINE_LANES 1024   /* more CPUs than that are only counted, */
#define TIMELINE_STRIPS 32    /* and more kinds without a time */
#define TIMELINE_MARKS 2500   /* as many have a tooltip each at most, */
#define TIMELINE_BANDS 1500   /* so that the file stays below a megabyte */

/* Things at a moment, the worst first: in the order of their rows. */
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

/* Things that last, the worst first. */
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
	bool whole; /* all CPUs were recorded, cpus of them */
	int64_t cpus;
};

struct timeline_lane {
	int64_t capture;
	int32_t cpu; /* -1: not known */
	uint64_t events, lost, losses;
	uint64_t requests, chains; /* not joined; without a sample */
	uint64_t missing;	   /* counters */
	uint64_t findings;
	uint32_t column[TIMELINE_COLUMNS]; /* events */
};

struct timeline_mark {
	uint32_t lane;
	uint32_t column;
	enum timeline_mark_kind kind;
	uint64_t n;
	int64_t t0, t1;	 /* first and last */
	const char *who; /* of the first; NULL: not known */
	uint64_t rules;	 /* of findings: bit set of rule ids below 64 */
};

struct timeline_band {
	uint32_t lane;
	enum timeline_band_kind kind;
	int64_t t0, t1;
	bool from_start, to_end; /* t0, t1: not known, it may be that long */
	bool some;		 /* of some it is not known how many */
	bool mixed;		 /* not all are what */
	const char *what;
	uint64_t n;    /* records, counters */
	uint64_t rows; /* how many it stands for */
};

/* Said without a time: rows of one capture, kind and CPU. */
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
		unsigned int bin; /* px that those of a kind are merged over */
		bool plain;	  /* too many for tooltips; bin is 1 then */
	} marks, bands;
	uint64_t events, lost, losses; /* all, with those without a lane */
	uint64_t requests, joined, refused;
	uint64_t n[MARK_KINDS];			    /* of each kind */
	uint64_t rows[BAND_KINDS], sum[BAND_KINDS]; /* intervals; records */
	bool some[BAND_KINDS];
	uint64_t no_time, no_lane; /* counted, not drawn */
	const char *rule[64];	   /* names */
};

void timeline_release(struct timeline *tl);
/* A value of 64 bits that cannot be reached is as good as the largest. */
uint64_t timeline_add(uint64_t a, uint64_t b);
/* 1/10 px from the left; times outside are at the edges. */
uint32_t timeline_px(const struct timeline *tl, int64_t time);

/* cpu: what does not fit is "not known". */
void timeline_event(struct timeline *tl, int64_t capture, int64_t cpu,
		    int64_t time);
void timeline_mark(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_mark *m);
void timeline_band(struct timeline *tl, int64_t capture, int64_t cpu,
		   const struct timeline_band *b, bool counts);
void timeline_untimed(struct timeline *tl, const struct timeline_untimed *u);
void timeline_finish(struct timeline *tl);
#endif
