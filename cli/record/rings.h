/* rings.h - records switches and wake-ups while perf takes samples, or calls of
 * kernel functions, with ftrace instances of our own, whose pages are copied to
 * a folder during the recording.
 *
 * An instance has its own buffers, clock and events, so that nothing changes
 * for other users of ftrace. The kernel's ftrace_enabled, which trace-cmd
 * writes and containers may not, is left alone. Our clock is CLOCK_MONOTONIC,
 * as perf's, so that both have one timeline.
 *
 * Order of calls: rings_open(), rings_start(), with calls rings_follow(),
 * rings_begin(), before it perhaps rings_begin_with(), rings_drain() several
 * times a second, rings_close(). */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct rings;

/* Returns whether an instance can be made: we are root and tracefs exists. */
bool rings_may(void);
/* Makes the instances and the folder, and removes instances whose makers were
 * killed, and pages of an earlier recording in the folder. calls: names of
 * functions with '*' and '?', separated by commas, whose calls function_graph
 * records, next to all switches and system calls; *functions is how many match.
 * calls NULL: switches and wake-ups. folder NULL: only try it. megabytes: size
 * of perf's buffers, of which a ring has four times; 0: the default.
 * rings_close() frees the result; NULL and *err on failure. */
struct rings *rings_open(const char *folder, const char *calls,
			 unsigned int megabytes, uint64_t *functions,
			 struct err *err);
/* Turns the events on, but not yet recording. Returns 0, or -1 and *err. */
int rings_start(struct rings *r, struct err *err);
/* Restricts function calls to a task and the tasks that it creates from now
 * on. Safe after fork(). */
void rings_follow(const struct rings *r, long tid);
/* Begins to record. */
void rings_begin(struct rings *r);
/* Makes the kernel begin to record when a task named comm is woken, for which
 * rings_begin(), which has to follow, is too late. */
void rings_begin_with(struct rings *r, const char *comm);
/* Copies the content of the rings, at most twice their size. Returns 0, or -1
 * and *err at the first write that fails; later calls copy nothing. */
int rings_drain(struct rings *r, struct err *err);
/* Copies the rest and the files that describe it, removes the instances and
 * frees r, which may be NULL. Sets *any, unless any is NULL, to whether there
 * were records. Returns 0, or -1 and *err if a write failed. */
int rings_close(struct rings *r, bool *any, struct err *err);
/* Sets out to the name of the folder next to a capture of perf. */
void rings_folder(const char *capture, char out[PATH_MAX]);
