/* filter_opts.c - the options that say which samples a command reads. */
#include "cli/commands/filter_opts.h"

struct filter filter;

const struct opt filter_opts[] = {
	OPT_HEADING("Which samples"),
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

const struct opt filter_expr_opts[] = {
	OPT_STRING(0, "filter", "EXPR", &filter.expr,
		   "only samples for which an SQL expression is true: "
		   "--filter 'bytes_req > 4096'"),
	{ .kind = OPT_END }
};
