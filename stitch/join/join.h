/* join.h - which deferred chain belongs to which sample, and why one is
 * missing. See backstitch-formats(5), "Deferred stacks: join rules" and
 * "Failure modes". Parts:
 * cookies.h (what is known of each cookie), pending_requests.h (samples that
 * wait, and what others would have shown), missing_reason.h (why
 * one is missing), sessions.h (captures of one kernel) and shared_threads.h
 * (their threads).
 *
 * Key is (cookie, tid) within the captures of one kernel; the nonces of a
 * process that unwinds itself are cookies of another kind, which have nothing
 * to do with the kernel's (unwinders.h says what is known of such processes). A
 * thread has one open cookie; a new one closes it. The last few cookies of a
 * thread are remembered, because samples may come after their chain. What is
 * closed without its other half waits for the end (or until there are too
 * many), since the record that tells of a loss comes after the loss. A request
 * is handed out once, when both its verdict and what others show are known.
 * Work per record is O(1) however many samples wait. */
#ifndef STITCH_JOIN_JOIN_H
#define STITCH_JOIN_JOIN_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/join/join_data.h"
#include "stitch/tasks/join_task.h"

struct facts;
struct frames;
struct join;
struct cookie_totals;
struct losses;
struct source_info;

/* fr: where the addresses of chains are; NULL: equal ids alone mean equal
 * chains. */
struct join *join_new(struct facts *out, struct losses *ls,
		      const struct frames *fr);
void join_free(struct join *jn);
/* As stitch_together(). */
void join_together(struct join *jn, uint16_t source, uint16_t first);
/* Before the first record of a source. */
void join_source(struct join *jn, uint16_t source,
		 const struct source_info *info);

/* What there is of a thread behind a capture's own view of it; row: its row
 * id. Holds until the next call. */
struct join_task *join_task_of(struct join *jn, uint16_t source, uint32_t row,
			       struct join_task *view);

void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s);
/* False: another capture recorded it before, so that its id is not taken. */
bool join_chain(struct join *jn, struct join_task *task,
		const struct join_chain *c);
/* A marker without its cookie; a user half taken at once. */
void join_mark(struct join *jn, struct join_task *task,
	       const struct join_sample *s);
void join_refused(struct join *jn, const struct join_sample *s);
/* A sample that waits for nothing: perf gives it out at once. Events come in
 * the order of their ids. */
void join_other(struct join *jn, uint16_t source, uint32_t event);
/* end: the time of the end of its life; TIME_NONE: not known. task: the
 * capture's own view. */
void join_retire(struct join *jn, struct join_task *task, enum join_reason why,
		 int64_t end);
/* No record of the source is later; TIME_NONE: it has no times. Before the
 * threads that still live are retired. */
void join_last(struct join *jn, uint16_t source, int64_t time);
/* Gives out everything that still waits. */
void join_end(struct join *jn);

/* After the end, of one source: cookies, not samples or records. */
void join_totals(const struct join *jn, uint16_t source,
		 struct cookie_totals *out);
#endif
