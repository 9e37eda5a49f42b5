/* filter_opts.c - the options that say which samples a command reads, and which
 * time off the CPU. */
#include "cli/commands/filter_opts.h"

#include <string.h>

#include "stitch/base/err.h"
#include "stitch/task_state.h"

struct filter filter;

static const struct opt each_filter[] = {
	OPT_STRING(0, "time", "FROM,TO", &filter.time,
		   "only this time, in seconds as 'script' shows it: 12.5,13 "
		   "or ,13 or 12.5, or a share: 10%-20%"),
	OPT_STRING('C', "cpu", "LIST", &filter.cpu, "only these CPUs: 0,2-4"),
	OPT_STRING(0, "pid", "LIST", &filter.pid, "only these processes"),
	OPT_STRING(0, "tid", "LIST", &filter.tid, "only these threads"),
	OPT_STRING(0, "comm", "LIST", &filter.comm,
		   "only threads with these names; * and ? are wild"),
	OPT_STRING(0, "cgroup", "LIST", &filter.cgroup,
		   "only samples in these cgroups, of perf record "
		   "--all-cgroups: '/web*'; * and ? are wild"),
	OPT_STRING(0, "event", "LIST", &filter.event,
		   "only these events; * and ? are wild"),
	{ .kind = OPT_END }
};

const struct opt filter_opts[] = {
	OPT_HEADING("Which samples"),
	OPT_GROUP_TOLD(each_filter,
		       "--time, --cpu, --pid, --tid, --comm, --cgroup, "
		       "--event: see 'backstitch help options'"),
	{ .kind = OPT_END }
};

const struct opt filter_expr_opts[] = {
	OPT_STRING(0, "filter", "EXPR", &filter.expr,
		   "only samples for which an SQL expression is true: "
		   "--filter 'bytes_req > 4096'"),
	{ .kind = OPT_END }
};

static const char *by;
static const char *const by_words[] = { "weight", "samples", NULL };

const struct opt by_opts[] = { OPT_CHOICE(0, "by", "WHAT", &by, by_words,
					  "count weight or samples (weight)"),
			       { .kind = OPT_END } };

bool by_given(void)
{
	return by;
}

bool by_samples(void)
{
	return by && !strcmp(by, "samples");
}

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
