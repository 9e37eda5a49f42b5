/* causes_spans.h - which of several captures of one kernel tells of which time.
 *
 * The capture with the most context switches tells of all its time. The others,
 * those with more switches first, tell of times of which none before them does,
 * less what the clocks may be off by: so whatever a later span tells happened
 * after all that an earlier one tells.
 *
 * causes_spans_type() for each type, causes_spans_note() for each of context
 * switches, causes_spans_choose(), then questions. */
#ifndef CLI_MODEL_CAUSES_SPANS_H
#define CLI_MODEL_CAUSES_SPANS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/causes/timeline.h"

struct causes_spans;
struct err;
struct rows;
struct store;

struct causes_capture {
	int64_t id;
	int64_t switches; /* of the type that has most */
	struct timeline_rules rules;
	bool tracks; /* the reader knows threads by their switches only */
	bool some;   /* some tasks or CPUs only */
	bool filtered;
	bool text; /* of ftrace */
	bool x86_64;
	const char *larger; /* buffers: what to record where they were full */
	const char *ring;   /* the same where records are missing; or NULL */
	/* times of its events, and by how much they may be off; first > last:
	 * it is of another kernel, or its clock is not known */
	int64_t first, last, error;
};

struct causes_span {
	int64_t from, to; /* both count; the first begins at TIMELINE_START,
			   * the last ends at TIMELINE_END */
	const struct causes_capture *capture;
};

struct causes_spans *causes_spans_new(void);
void causes_spans_free(struct causes_spans *s);
/* r: a row of query causes_types; all of them come, in their order. */
void causes_spans_type(struct causes_spans *s, const struct rows *r);
/* And this for each type of context switches. */
void causes_spans_note(struct causes_spans *s, const struct rows *r);
/* only: the one capture to read; 0: that with the most switches, and others of
 * its kernel. Returns 1, 0 if there is none, or -1 and *err. */
int causes_spans_choose(struct causes_spans *s, struct store *db, int64_t only,
			struct err *err);
/* Returns spans in time order; valid until the next call. */
const struct causes_span *causes_spans_get(const struct causes_spans *s,
					   size_t *n);
/* Returns the capture with the most switches of those that were chosen from. */
const struct causes_capture *causes_spans_main(const struct causes_spans *s);
/* Returns what holds in all of them. */
struct timeline_rules causes_spans_rules(const struct causes_spans *s);
/* Returns the span in which this capture tells of a time; NULL: it does not. */
const struct causes_span *causes_spans_find(const struct causes_spans *s,
					    int64_t capture, int64_t time);
#endif
