/* flame.h - flame graphs: the options of the command flame, and the kinds of
 * graphs that have files of their own. */
#pragma once
#include <stdbool.h>

#include "analyze/names/matching.h"
#include "analyze/names/name_opts.h"
#include "analyze/stacks/pick.h"

struct diff_limit;
struct drawing;
struct filter;
struct open_ask;
struct path_opts;
struct sides;
struct store;
struct svg_opts;

struct flame_opts {
	const struct open_ask *open; /* how the input is opened; borrowed */
	const struct filter *filter; /* which samples; borrowed */
	const char *out_path, *title, *subtitle, *minwidth, *colors;
	long width;
	bool reverse, upward, by_pid, by_thread, by_verdict, no_comm,
		from_folded, inlined, inlined_rows, collapse;
	struct pick_opts pick; /* --include, --exclude */
	bool diff, absolute, wakeups, by_state;
	bool off_cpu, wall; /* waits, alone or with samples */
	bool samples;	    /* each sample weighs 1 */
	const char *diff_by, *weight;
	const char *latency; /* a kind of intervals, as 'latency' */
	struct name_opts names;
	/* for comparisons */
	struct match_opts match;
	struct diff_limit *fail; /* what may not grow; borrowed */
	/* as in struct compare_opts */
	void (*each)(void *arg, int side, struct store *db, const char *path);
	void *each_arg;
};

/* Fills the drawing with the time that threads were off the CPU. Returns 0, or
 * -1 and *err. With --wakeups the waker's stack is put above each stack, its
 * innermost frame first, after a frame "[woken by NAME]". */
int flame_offcpu(struct drawing *d, const char *path, int *status,
		 struct err *err);
/* Writes the chains of waits that the options choose to a file as SVG: who
 * waited for whom, and in which functions. Each goes from the stack of the wait
 * over that of the wake-up, innermost frame first, to what was done meanwhile.
 * Returns an enum status, or -1 and *err. */
int flame_path(struct store *db, const char *path, const struct path_opts *o,
	       const char *file, struct err *err);
/* Writes what changed between two recordings: flame --diff. The picture is that
 * of the second one; the color of a frame says whether its function has more or
 * less there than in the first, and only where samples and loss leave no other
 * explanation (diff_stats.h). Returns an enum status, or -1 and *err. */
int flame_diff(const struct sides *s, const struct flame_opts *f,
	       const struct svg_opts *o, struct err *err);
