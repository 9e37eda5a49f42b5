/* rings.h - switches and wake-ups by an instance of ftrace of our own, while
 * perf takes samples: its pages are copied into a folder as they come.
 *
 * The instance has buffers, a clock and events of its own, so nothing that
 * others trace is changed, nor is ftrace_enabled of the kernel, which trace-cmd
 * writes and containers may not. Its clock is CLOCK_MONOTONIC, by which perf's
 * samples are put on its timeline.
 *
 * Order of calls: rings_open(), rings_start(), rings_drain() several times a
 * second, rings_close(). */
#pragma once
#include <limits.h>
#include <stdbool.h>

struct err;
struct rings;

/* Returns whether an instance can be made here: root may, where tracefs is. */
bool rings_may(void);
/* Makes the instance, and removes those whose makers were killed; and the
 * folder, whose pages of an earlier recording are removed. Returns NULL and
 * *err. */
struct rings *rings_open(const char *folder, struct err *err);
/* Turns the events on. Returns 0, or -1 and *err. */
int rings_start(struct rings *r, struct err *err);
/* Copies what the rings have, at most twice what they hold. Returns -1 and *err
 * when a write fails first: from then on nothing is copied; else 0. */
int rings_drain(struct rings *r, struct err *err);
/* Copies the rest, and what describes it, and takes the instance away; r may be
 * NULL. Returns 0, or -1 and *err if something could not be written. */
int rings_close(struct rings *r, struct err *err);
/* Writes the name of the folder beside a capture of perf. */
void rings_folder(const char *capture, char out[PATH_MAX]);
