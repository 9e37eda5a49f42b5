/* event_kind.c - what an event is by its attributes: name, unit, and how its
 * samples come about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/perf/perf.h"

#define TYPE_HARDWARE 0
#define TYPE_SOFTWARE 1
#define TYPE_CACHE 3
#define TYPE_RAW 4
#define TYPE_BREAKPOINT 5
#define NAME_SIZE 96

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

#define SOFTWARE_CLOCKS 2 /* the first ones, which count ns */
#define SOFTWARE_DUMMY 9
#define SOFTWARE_BPF_OUTPUT 10

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* Since Linux 5.13 the upper half of config may have the number of the PMU. */
static uint64_t event_kind_config(const struct perf_attr *a)
{
	return a->type == TYPE_HARDWARE || a->type == TYPE_CACHE
		       ? (uint32_t)a->config
		       : a->config;
}

/* Writes the name of a cache event: the cache, the operation, and whether its
 * misses are counted. Returns false if there is no such event. */
static bool event_kind_cache(uint64_t config, char *out)
{
	static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC",
					     "dTLB",	  "iTLB",      "branch",
					     "node" };
	static const char *const op[][2] = {
		{ "loads", "load-misses" },
		{ "stores", "store-misses" },
		{ "prefetches", "prefetch-misses" },
	};
	uint64_t c = config & 0xff, o = config >> 8 & 0xff;
	uint64_t result = config >> 16;

	if (c >= ARRAY_SIZE(cache) || o >= ARRAY_SIZE(op) || result > 1)
		return false;
	snprintf(out, NAME_SIZE, "%s-%s", cache[c], op[o][result]);
	return true;
}

/* Writes the name without modifiers. Returns false if perf has none, either. */
static bool event_kind_plain_name(const struct perf_attr *a, char *out)
{
	static const char *const access[] = { "", "r", "w", "rw" };
	uint64_t config = event_kind_config(a);

	if (a->type == TYPE_SOFTWARE && config < ARRAY_SIZE(software))
		snprintf(out, NAME_SIZE, "%s", software[config]);
	else if (a->type == TYPE_HARDWARE && config < ARRAY_SIZE(hardware))
		snprintf(out, NAME_SIZE, "%s", hardware[config]);
	else if (a->type == TYPE_CACHE)
		return event_kind_cache(config, out);
	else if (a->type == TYPE_RAW)
		snprintf(out, NAME_SIZE, "raw 0x%" PRIx64, config);
	else if (a->type == TYPE_BREAKPOINT)
		snprintf(out, NAME_SIZE, "mem:0x%" PRIx64 ":%s%s", a->bp_addr,
			 access[a->bp_type & 3], a->bp_type & 4 ? "x" : "");
	else
		return false;
	return true;
}

/* Writes the modifiers as perf 7.2 does: u, k, h where the others are excluded,
 * p for each step of precision, H and G where the other one is excluded. perf
 * 6.1 does not write the last two. */
static void event_kind_modifiers(uint64_t flags, char *out)
{
	uint64_t precise = flags >> PA_PRECISE_SHIFT & 3;
	bool host = flags & PA_EXCLUDE_HOST;
	bool guest = flags & PA_EXCLUDE_GUEST;
	char *p = out;

	*p++ = ':';
	if (flags & (PA_EXCLUDE_USER | PA_EXCLUDE_KERNEL | PA_EXCLUDE_HV)) {
		if (!(flags & PA_EXCLUDE_KERNEL))
			*p++ = 'k';
		if (!(flags & PA_EXCLUDE_USER))
			*p++ = 'u';
		if (!(flags & PA_EXCLUDE_HV))
			*p++ = 'h';
	}
	while (precise--)
		*p++ = 'p';
	if (guest && !host)
		*p++ = 'H';
	if (host && !guest)
		*p++ = 'G';
	if (p == out + 1)
		p = out;
	*p = '\0';
}

const char *event_kind_name(struct perf *p, const struct perf_attr *a)
{
	char name[NAME_SIZE];
	char modifiers[16];
	char both[NAME_SIZE + sizeof(modifiers)];

	if (!event_kind_plain_name(a, name)) {
		if (a->type == PERF_TYPE_TRACEPOINT)
			snprintf(name, sizeof(name), "tracepoint:%" PRIu64,
				 a->config);
		else
			snprintf(name, sizeof(name),
				 "type %" PRIu32 " config 0x%" PRIx64, a->type,
				 a->config);
		return arena_strdup(&p->arena, name);
	}
	event_kind_modifiers(a->flags, modifiers);
	snprintf(both, sizeof(both), "%s%s", name, modifiers);
	return arena_strdup(&p->arena, both);
}

enum event_how event_kind_how(const struct perf_attr *a)
{
	if (a->type == TYPE_SOFTWARE && a->config == SOFTWARE_DUMMY)
		return EVENT_MARK;
	/* Asked for the period of each sample too, the kernel makes one of each
	 * hit, whatever -c says (perf_swevent_event(), since Linux 3.7). */
	if (a->type == PERF_TYPE_TRACEPOINT && !(a->flags & PA_FREQ) &&
	    a->period && a->sample_type & PS_PERIOD)
		return EVENT_COUNT;
	if (a->flags & PA_FREQ || a->period > 1)
		return EVENT_SAMPLE;
	if (a->period == 1)
		return EVENT_COUNT;
	return a->sample_type & PS_READ ? EVENT_READ : EVENT_MARK;
}

bool event_kind_is_off_cpu(const struct perf_attr *a, const char *name)
{
	return a->type == TYPE_SOFTWARE && a->config == SOFTWARE_BPF_OUTPUT &&
	       !strcmp(name, "offcpu-time");
}

const char *event_kind_unit(const struct perf_attr *a)
{
	uint64_t config = event_kind_config(a);

	if (a->type == TYPE_SOFTWARE && config < SOFTWARE_CLOCKS)
		return "ns";
	if (a->type == TYPE_HARDWARE && config < ARRAY_SIZE(hardware) &&
	    strstr(hardware[config], "cycles"))
		return "cycles";
	return "events";
}
