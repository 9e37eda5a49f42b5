/* offcpu_opts.c - the options that ask for the time off the CPU. */
#include "cli/commands/offcpu_opts.h"

#include <string.h>

#include "cli/commands/filter_opts.h"
#include "stitch/base/err.h"
#include "stitch/task_state.h"

struct offcpu_opts offcpu_opts;

const struct opt offcpu_opt_table[] = {
	OPT_HEADING("What to count"),
	OPT_FLAG(0, "off-cpu", &offcpu_opts.on,
		 "the time that threads were off the CPU, by switches"),
	{ .kind = OPT_END }
};

const struct opt wall_opt_table[] = {
	OPT_FLAG(0, "wall", &offcpu_opts.wall,
		 "time on and off the CPU in one: samples of a clock, and the "
		 "waits"),
	OPT_STRING(0, "state", "LIST", &filter.state,
		   "with --off-cpu, --wall: only waits that began in these "
		   "states: S, D, R "
		   "(ready), R+ (preempted), ..."),
	{ .kind = OPT_END }
};

int offcpu_check(struct err *err)
{
	if (offcpu_opts.on && offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--wall has the waits of --off-cpu and the "
			       "samples; choose one");
	if (filter.state && !offcpu_opts.on && !offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--state needs --off-cpu or --wall");
	if ((offcpu_opts.on || offcpu_opts.wall) && filter.event)
		return err_set(err, ERR_USAGE,
			       "--%s reads the events of the scheduler; "
			       "leave out --event",
			       offcpu_opts.on ? "off-cpu" : "wall");
	for (const char *p = filter.state; p && *p;) {
		size_t n = strcspn(p, ",");
		bool known = n == 1 && *p == '?';

		for (size_t i = 0; task_state(i); i++)
			known |= n == strlen(task_state(i)->name) &&
				 !strncmp(p, task_state(i)->name, n);
		if (!known)
			return err_set(err, ERR_USAGE,
				       "--state knows S, D, R, R+, T, t, X, Z, "
				       "P, I and ?, not '%.*s'",
				       (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}
