/* flame_opts.h - the options of the flame command. */
#ifndef CLI_PICTURES_FLAME_OPTS_H
#define CLI_PICTURES_FLAME_OPTS_H
#include <stdbool.h>

#include "cli/command.h"

struct err;
struct svg_opts;

struct flame_opts {
	const char *out_path, *title, *subtitle, *minwidth, *colors;
	long width;
	bool reverse, inverted, upward, by_pid, by_thread, by_verdict, no_comm,
		from_folded, inlined, inlined_rows, collapse;
	struct opt_list include, exclude; /* regular expressions */
	bool diff, absolute, wakeups, by_state;
	const char *diff_by, *weight;
};

extern struct flame_opts flame_opts;
extern const struct opt flame_opt_table[];

/* Checks the options and fills *o from them. Returns 0, or -1 and *err. */
int flame_opts_check(struct svg_opts *o, struct err *err);
#endif
