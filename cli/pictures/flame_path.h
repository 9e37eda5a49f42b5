/* flame_path.h - a flame graph of chains of waits: who waited for whom, and
 * with which functions. */
#pragma once

struct err;
struct path_opts;
struct store;

/* Writes the chains that the options choose to a file as SVG: each from the
 * stack of the wait over that of the wake-up, innermost frame first, to what
 * was done meanwhile. Returns an enum status, or -1 and *err. */
int flame_path(struct store *db, const char *path, const struct path_opts *o,
	       const char *file, struct err *err);
