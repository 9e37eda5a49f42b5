/* firefox_marks.h - markers of threads of a profile for the Firefox Profiler:
 * what was lost, and when a thread was off its CPU. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct firefox;
struct firefox_marks;
struct json;

/* The markers of one thread. Zero-initialised is empty. */
struct firefox_mark_list {
	uint64_t first, last, n;
};

enum firefox_mark_kind {
	FIREFOX_MARK_LOSS,
	FIREFOX_MARK_OFF_CPU
};

struct firefox_mark {
	enum firefox_mark_kind kind;
	int64_t start, end; /* INT64_MIN, INT64_MAX: not known */
	int64_t cpu;	    /* -1: not known */
	int64_t n;	    /* lost records; -1: not known */
	bool counts;	    /* n counts towards the number of lost records */
	const char *what;   /* borrowed until the markers are written */
};

/* Returns NULL and *err on failure. */
struct firefox_marks *firefox_marks_new(struct err *err);
void firefox_marks_free(struct firefox_marks *m);
/* Adds a marker. Returns 0, or -1 and *err. */
int firefox_mark_add(struct firefox_marks *m, struct firefox_mark_list *l,
		     const struct firefox_mark *mark, struct err *err);
/* Writes "markers": {...}. Times are relative to begin; end is the last time.
 */
void firefox_put_marks(struct firefox_marks *m,
		       const struct firefox_mark_list *l, struct firefox *f,
		       int64_t begin, int64_t end, struct json *j);
/* Writes "markerSchema": [...], which tells the profiler what to show. */
void firefox_put_mark_schema(struct json *j);
