/* flame_diff.h - what changed between two recordings, as a flame graph.
 *
 * The picture is that of the second recording; the color of a frame says
 * whether its function has more or less there than in the first, and only where
 * samples and loss leave no other explanation (diff_stats.h). */
#pragma once

struct err;
struct flame_opts;
struct sides;
struct svg_opts;

/* Runs flame --diff. Returns an enum status, or -1 and *err. */
int flame_diff(const struct sides *s, const struct flame_opts *f,
	       const struct svg_opts *o, struct err *err);
