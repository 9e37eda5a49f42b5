/* type.c - the name and the sort class of each record type. */
#include "formats/perf/perf.h"
#include "stitch/base/mem.h"

#define KERNEL(type, kind) [PR_##type] = { #type, CLASS_##kind },
#define TOOL(type) [PR_##type] = { #type, 0 },

static const struct {
	const char *name;
	uint8_t kind; /* enum record_class */
} perf_types[PR_TOOL_KNOWN] = { [PR_HEADER_ATTR] = { "ATTR", 0 },
				PERF_KERNEL_TYPES(KERNEL)
					PERF_TOOL_TYPES(TOOL) };

const char *perf_type_name(uint32_t type)
{
	const char *name = type < PR_TOOL_KNOWN ? perf_types[type].name : NULL;

	return name ? name : "UNKNOWN";
}

/* What perf writes and this reader leaves out, and how to see it. */
static const char *const perf_types_skipped[PR_TOOL_KNOWN] = {
	[PR_EVENT_TYPE] = "EVENT_TYPE: names of events, which are in the "
			  "header too",
	[PR_AUXTRACE] = "AUXTRACE: a trace of the processor (Intel PT, Arm SPE "
			"and such), which is not decoded; 'perf script "
			"--itrace' shows it, 'perf inject --itrace' makes "
			"samples of it",
	[PR_AUXTRACE_ERROR] = "AUXTRACE_ERROR: perf could not decode a part of "
			      "a trace of the processor",
	[PR_STAT_CONFIG] = "STAT_CONFIG: 'perf stat record' wrote this file, "
			   "which has counts and no samples; 'perf stat "
			   "report -i FILE' prints them",
	[PR_STAT] = "STAT: counts of 'perf stat record'",
	[PR_STAT_ROUND] = "STAT_ROUND: times of 'perf stat record'",
	[PR_BPF_METADATA] = "BPF_METADATA: what BPF programs say of themselves",
	[PR_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU: counters of 'perf sched stats "
			     "record'; 'perf sched stats report' shows them",
	[PR_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN: as SCHEDSTAT_CPU",
};

/* The same of simpleperf, by the number less PR_SIMPLEPERF. */
static const char *const perf_types_simpleperf[] = {
	[1] = "simpleperf KERNEL_SYMBOL: names of the kernel's functions; give "
	      "them with --kallsyms",
	[2] = "simpleperf DSO: files of old versions; give them with --symfs",
	[3] = "simpleperf SYMBOL: as simpleperf DSO",
	[4] = "simpleperf SPLIT: a part of a record above 64 KiB; 'simpleperf "
	      "dump' shows it",
	[5] = "simpleperf SPLIT_END: as simpleperf SPLIT",
	[7] = "simpleperf CALLCHAIN: stacks that simpleperf joined; "
	      "'simpleperf report -g' shows them",
	[8] = "simpleperf UNWINDING_RESULT: why simpleperf could not unwind a "
	      "stack; 'simpleperf debug-unwind' shows it",
	[9] = "simpleperf TRACING_DATA: formats of tracepoints, without which "
	      "their fields are not decoded; 'simpleperf trace-sched' shows "
	      "some",
	[10] = "simpleperf DEBUG: messages of the recorder",
};

const char *perf_type_skipped(uint32_t type)
{
	size_t own = type - PR_SIMPLEPERF;

	if (perf_type_is_simpleperf(type))
		return own < ARRAY_SIZE(perf_types_simpleperf)
			       ? perf_types_simpleperf[own]
			       : "simpleperf: of a later version";
	return type < PR_TOOL_KNOWN ? perf_types_skipped[type] : NULL;
}

uint8_t perf_type_class(uint32_t type, uint16_t misc)
{
	uint8_t kind = perf_types[type].kind;

	if (kind == CLASS_SWITCH_IN && (misc & PM_BIT13))
		return CLASS_SWITCH_OUT;
	return kind;
}
