/* rings.h - switches and wake-ups, while perf takes samples, or calls of kernel
 * functions, by an instance of ftrace of our own: its pages are copied into a
 * folder as they come.
 *
 * The instance has buffers, a clock and events of its own, so nothing that
 * others trace is changed, nor is ftrace_enabled of the kernel, which trace-cmd
 * writes and containers may not. Its clock is CLOCK_MONOTONIC, by which perf's
 * samples are put on its timeline.
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

/* Returns whether an instance can be made here: root may, where tracefs is. */
bool rings_may(void);
/* Makes the instance, and removes those whose makers were killed; and the
 * folder, whose pages of an earlier recording are removed. calls: names of
 * functions with '*' and '?', separated by commas, whose calls are recorded by
 * function_graph, and with them switches and system calls of all; NULL:
 * switches and wake-ups; both from rings_begin() on. *functions: how many
 * match. folder: NULL to only try it. megabytes: of perf's buffers, four times
 * of which are taken; 0: as usual. Returns NULL and *err.
 */
struct rings *rings_open(const char *folder, const char *calls,
			 unsigned int megabytes, uint64_t *functions,
			 struct err *err);
/* Turns the events on, and leaves recording off. Returns 0, or -1 and *err. */
int rings_start(struct rings *r, struct err *err);
/* Records a task and those that it makes from now on. Safe after fork(). */
void rings_follow(const struct rings *r, long tid);
/* Begins to record: the tasks that are followed or, if there are none, all. */
void rings_begin(struct rings *r);
/* Lets the kernel begin when a task of this name is woken: rings_begin(), which
 * has to follow, is too late for that. */
void rings_begin_with(struct rings *r, const char *comm);
/* Copies what the rings have, at most twice what they hold. Returns -1 and *err
 * when a write fails first: from then on nothing is copied; else 0. */
int rings_drain(struct rings *r, struct err *err);
/* Copies the rest, and what describes it, and takes the instance away; r may be
 * NULL. *any, unless it is NULL: whether anything was recorded. Returns 0, or
 * -1 and *err if something could not be written. */
int rings_close(struct rings *r, bool *any, struct err *err);
/* Writes the name of the folder next to a capture of perf. */
void rings_folder(const char *capture, char out[PATH_MAX]);
