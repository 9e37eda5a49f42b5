/* firefox_marks.h - markers of threads of a profile for the Firefox Profiler:
 * what was lost, and when a thread was off its CPU. */
#ifndef CLI_EXPORT_FIREFOX_FIREFOX_MARKS_H
#define CLI_EXPORT_FIREFOX_FIREFOX_MARKS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct firefox;
struct firefox_marks;

/* Those of one thread. Zero-initialised is empty. */
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
	bool counts;	    /* they add to the records lost */
	const char *what;   /* borrowed until they are written */
};

/* NULL and *err. */
struct firefox_marks *firefox_marks_new(struct err *err);
void firefox_marks_free(struct firefox_marks *m);
/* Adds one to the list; it can be changed through firefox_mark_last(). 0, or
 * -1 and *err. */
int firefox_mark_add(struct firefox_marks *m, struct firefox_mark_list *l,
		     const struct firefox_mark *mark, struct err *err);
/* NULL: the list is empty. Borrowed until the next one is added. */
struct firefox_mark *firefox_mark_last(struct firefox_marks *m,
				       const struct firefox_mark_list *l);
/* "markers": {...}; begin is the time that is 0, end the last one. */
void firefox_put_marks(struct firefox_marks *m,
		       const struct firefox_mark_list *l, struct firefox *f,
		       int64_t begin, int64_t end, FILE *out);
/* "markerSchema": [...], what the program shows of them. */
void firefox_put_mark_schema(FILE *out);
#endif
