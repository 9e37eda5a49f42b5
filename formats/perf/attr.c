/* attr.c - events: attributes, ids, and the event of a record. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/order/clocks.h"

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
	[PR_BPF_METADATA] =
		"BPF_METADATA: what BPF programs say about themselves",
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

/* Writes the name without modifiers. Returns false if perf has none, either. */
static bool event_kind_plain_name(const struct perf_attr *a, char *out)
{
	static const char *const access[] = { "", "r", "w", "rw" };
	uint64_t config = event_kind_config(a);

	if (a->type == TYPE_SOFTWARE && config < ARRAY_SIZE(software))
		snprintf(out, NAME_SIZE, "%s", software[config]);
	else if (a->type == TYPE_HARDWARE && config < ARRAY_SIZE(hardware))
		snprintf(out, NAME_SIZE, "%s", hardware[config]);
	else if (a->type == TYPE_CACHE) {
		/* Write the name of a cache event: the cache, the operation,
		 * and whether its misses are counted. */
		static const char *const cache[] = { "L1-dcache", "L1-icache",
						     "LLC",	  "dTLB",
						     "iTLB",	  "branch",
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
	} else if (a->type == TYPE_RAW)
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

#define ATTR_SIZE_0 64 /* PERF_ATTR_SIZE_VER0 */
#define EVENTS_MAX 65536
#define BRANCH_CALL_STACK ((uint64_t)1 << 11)

/* The bit of a field of 8 bytes, and where to store its offset. */
struct attr_field {
	uint64_t bit;
	uint8_t *place; /* NULL: nowhere */
};

/* Sets the offset of each field that the event has; end: of its end, not its
 * start. Returns the end of the last field. */
static uint8_t perf_attr_lay_fields(const struct perf_attr *a,
				    const struct attr_field *field, size_t n,
				    uint8_t at, bool end)
{
	for (size_t i = 0; i < n; i++) {
		if (!(a->sample_type & field[i].bit))
			continue;
		/* IDENTIFIER and ID are equal: use the first */
		if (field[i].place && !*field[i].place)
			*field[i].place = end ? at + 8 : at;
		at += 8;
	}
	return at;
}

static const char *perf_attr_clock_name(const struct perf_attr *a)
{
	static const char *const names[] = {
		[0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw",
		[7] = "boottime", [11] = "tai",
	};
	uint32_t id = (uint32_t)a->clockid;

	if (!(a->flags & PA_USE_CLOCKID))
		return "perf";
	return id < ARRAY_SIZE(names) && names[id] ? names[id] : "unknown";
}

int perf_attr_add(struct perf *p, struct bytes *b, struct err *err)
{
	struct perf_attr a = { 0 };
	uint64_t flags = 0;
	uint32_t u = 0;

	if (bytes_left(b) < ATTR_SIZE_0)
		return bytes_short(b, ATTR_SIZE_0, err);
	if (p->n_attr >= EVENTS_MAX)
		return err_at(err, b->path, bytes_off(b), "more than %d events",
			      EVENTS_MAX);
	/* older perf writes a shorter struct: the rest is 0 */
	bytes_peek_u32(b, 0, &a.type);
	bytes_peek_u32(b, 4, &a.size);
	bytes_peek_u64(b, 8, &a.config);
	bytes_peek_u64(b, 16, &a.period);
	bytes_peek_u64(b, 24, &a.sample_type);
	bytes_peek_u64(b, 32, &a.read_format);
	bytes_peek_u64(b, 40, &flags);
	bytes_peek_u32(b, 52, &a.bp_type);
	bytes_peek_u64(b, 56, &a.bp_addr);
	bytes_peek_u64(b, 72, &a.branch_type);
	bytes_peek_u64(b, 80, &a.regs_user);
	bytes_peek_u32(b, 88, &a.stack_user);
	if (!bytes_peek_u32(b, 92, &u))
		a.clockid = (int32_t)u;
	bytes_peek_u64(b, 96, &a.regs_intr);
	bytes_peek_u16(b, 108, &a.max_stack);
	uint64_t y = 0;

	for (int i = 0; i < 64; i++)
		y |= (flags >> i & 1) << (63 - i);
	a.flags = p->src.info.big_endian ? y : flags;
	a.lbr = (a.sample_type & PS_BRANCH) &&
		(a.branch_type & BRANCH_CALL_STACK);
	/* Set where fields are, by sample_type and flags: in samples counted
	 * from the start, in other records back from the end. */
	const struct attr_field head[] = {
		{ PS_IDENTIFIER, &a.s_id }, { PS_IP, &a.s_ip },
		{ PS_TID, &a.s_tid },	    { PS_TIME, &a.s_time },
		{ PS_ADDR, &a.s_addr },	    { PS_ID, &a.s_id },
		{ PS_STREAM_ID, NULL },	    { PS_CPU, &a.s_cpu },
		{ PS_PERIOD, &a.s_period },
	};
	const struct attr_field tail[] = {
		{ PS_IDENTIFIER, &a.t_id }, { PS_CPU, &a.t_cpu },
		{ PS_STREAM_ID, NULL },	    { PS_ID, &a.t_id },
		{ PS_TIME, &a.t_time },	    { PS_TID, &a.t_tid },
	};

	a.s_end = perf_attr_lay_fields(&a, head, ARRAY_SIZE(head), 8, false);
	a.id_all = a.flags & PA_SAMPLE_ID_ALL;
	if (a.id_all)
		a.t_size = perf_attr_lay_fields(&a, tail, ARRAY_SIZE(tail), 0,
						true);
	*mem_add(p->attr, p->n_attr, p->cap_attr) = a;
	uint64_t t = a.sample_type;

	mem_grow(p->event, p->cap_event, p->n_attr);
	p->event[p->n_attr - 1] = (struct event_def){
		.name = event_kind_name(p, &a),
		.type = a.type,
		.config = a.config,
		.sample_type = t,
		.period = a.period,
		.freq = a.flags & PA_FREQ,
		.has_chain = t & PS_CALLCHAIN,
		.has_cpu = t & PS_CPU,
		.has_time = t & PS_TIME,
		.defer = a.flags & PA_DEFER,
		.defer_output = a.flags & PA_DEFER_OUTPUT,
		.how = event_kind_how(&a),
		.unit = event_kind_unit(&a),
	};
	p->src.events = p->event;
	p->src.n_events = (uint32_t)p->n_attr;
	/* Add the newest event to what all have in common, and to facts about
	 * the whole capture. */
	const struct perf_attr *first = &p->attr[0];
	struct source_info *info = &p->src.info;

	if (p->n_attr == 1)
		p->same_sample_time = p->same_time = true;
	if (a.s_time != first->s_time)
		p->same_sample_time = false;
	if (a.s_time != first->s_time || a.t_time != first->t_time ||
	    a.id_all != first->id_all)
		p->same_time = false;
	p->newer |= a.flags >= PA_UNKNOWN;
	p->asks_build_ids |= (a.flags & PA_BUILD_ID) != 0;
	info->has_time |= (a.sample_type & PS_TIME) != 0;
	info->dumps |= (a.sample_type & PS_STACK_USER) != 0;
	if ((a.sample_type & PS_STACK_USER) && a.stack_user > info->dump_bytes)
		info->dump_bytes = a.stack_user;
	if (t & PS_CALLCHAIN) {
		/* 0 is what the kernel's sysctl says */
		info->max_stack = !p->chains || info->max_stack == a.max_stack
					  ? a.max_stack
					  : 0;
		p->chains = true;
	}
	info->overwrite |= (a.flags & PA_WRITE_BACKWARD) != 0;
	info->maps_code |= (a.flags & PA_MMAP) != 0;
	/* a ring that overwrites its start keeps no mapping */
	info->maps_code = info->maps_code && !info->overwrite;
	info->clock = perf_attr_clock_name(first);
	info->clock_id = clock_id_of(info->clock);
	memset(p->recent, 0, sizeof(p->recent));
	p->layout.known = false;
	return 0;
}

void perf_attr_set_name(struct perf *p, uint32_t attr, const char *name)
{
	if (attr >= p->n_attr || !*name)
		return;
	p->event[attr].name = arena_strdup(&p->arena, name);
	/* Is this the event of perf record --off-cpu? It is an ordinary one of
	 * BPF programs otherwise. */
	if (p->attr[attr].type == TYPE_SOFTWARE &&
	    p->attr[attr].config == SOFTWARE_BPF_OUTPUT &&
	    !strcmp(name, "offcpu-time")) {
		p->attr[attr].off_cpu = true;
		p->event[attr].has_chain = true;
		p->event[attr].unit = "ns";
	}
}

struct perf_id *perf_id_find(struct perf *p, uint64_t id)
{
	uint32_t at = table_find_hash(&p->by_id, hash_u64(id));

	return at == TABLE_NONE ? NULL : &p->id[at];
}

void perf_id_add(struct perf *p, uint64_t id, uint32_t attr)
{
	struct perf_id *known = perf_id_find(p, id);

	memset(p->recent, 0, sizeof(p->recent));
	p->layout.known = false;
	if (known) {
		known->attr = attr;
		return;
	}
	mem_grow(p->id, p->cap_id, p->n_id + 1);
	p->id[p->n_id] = (struct perf_id){ id, attr, -2, -2 };
	table_add(&p->by_id, hash_u64(id), (uint32_t)p->n_id++);
}

/* Reads the id in a record; it has the same offset for all events. Returns
 * false if there is none. */
static bool perf_attr_read_id(const struct perf *p, const struct perf_rec *r,
			      uint64_t *id)
{
	const struct perf_attr *a = &p->attr[0];
	uint64_t at = r->type == PR_SAMPLE ? a->s_id : r->size - a->t_id;

	if (r->type == PR_SAMPLE ? !a->s_id : !a->t_id || r->size < 8 + a->t_id)
		return false;
	return !bytes_peek_u64(&r->b, at, id);
}

const struct perf_attr *perf_attr_of_record(struct perf *p,
					    const struct perf_rec *r)
{
	const struct perf_attr *first = p->attr;
	uint64_t id;

	if (p->n_attr <= 1)
		return p->n_attr ? first : NULL;
	if (r->type != PR_SAMPLE && !first->id_all)
		return first;
	if (!perf_attr_read_id(p, r, &id) || !id)
		return first;
	size_t at = id % RECENT_IDS;

	if (p->recent[at].id == id && p->recent[at].attr)
		return &p->attr[p->recent[at].attr - 1];
	struct perf_id *known = perf_id_find(p, id);

	if (known) {
		p->recent[at].id = id;
		p->recent[at].attr = known->attr + 1;
		return &p->attr[known->attr];
	}
	return p->n_id ? NULL : first;
}
