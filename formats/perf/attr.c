/* attr.c - reads events: attributes, ids, and the event that a record belongs
 * to. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
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

/* Records that perf writes and this reader skips, and how to see them. */
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

/* The same for simpleperf, indexed by the type minus PR_SIMPLEPERF. */
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

#define SOFTWARE_CLOCKS 2 /* the first events, which count ns */
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

/* Returns config without the number of the PMU, which its upper half may have
 * since Linux 5.13. */
static uint64_t event_kind_config(const struct perf_attr *a)
{
	return a->type == TYPE_HARDWARE || a->type == TYPE_CACHE
		       ? (uint32_t)a->config
		       : a->config;
}

/* Writes the name without modifiers. Returns false if perf has no name for it
 * either. */
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
	/* The modifiers are those of perf 7.2: u, k, h if the others are
	 * excluded, p for each step of precision, H and G if the other one is
	 * excluded. perf 6.1 does not write the last two. */
	uint64_t precise = a->flags >> PA_PRECISE_SHIFT & 3;
	bool host = a->flags & PA_EXCLUDE_HOST;
	bool guest = a->flags & PA_EXCLUDE_GUEST;
	char *m = modifiers;

	*m++ = ':';
	if (a->flags & (PA_EXCLUDE_USER | PA_EXCLUDE_KERNEL | PA_EXCLUDE_HV)) {
		if (!(a->flags & PA_EXCLUDE_KERNEL))
			*m++ = 'k';
		if (!(a->flags & PA_EXCLUDE_USER))
			*m++ = 'u';
		if (!(a->flags & PA_EXCLUDE_HV))
			*m++ = 'h';
	}
	while (precise--)
		*m++ = 'p';
	if (guest && !host)
		*m++ = 'H';
	if (host && !guest)
		*m++ = 'G';
	if (m == modifiers + 1)
		m = modifiers;
	*m = '\0';
	snprintf(both, sizeof(both), "%s%s", name, modifiers);
	return arena_strdup(&p->arena, both);
}

enum event_how event_kind_how(const struct perf_attr *a)
{
	if (a->type == TYPE_SOFTWARE && a->config == SOFTWARE_DUMMY)
		return EVENT_MARK;
	/* With PERF_SAMPLE_PERIOD the kernel writes a sample for each hit,
	 * whatever -c says (perf_swevent_event(), since Linux 3.7). */
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

uint64_t event_kind_key(const struct perf *p, size_t i)
{
	const struct perf_attr *a = &p->attr[i];

	if ((a->type == TYPE_HARDWARE || a->type == TYPE_CACHE) &&
	    a->config >> 32)
		return hash_pair(a->type, (uint32_t)a->config);
	if (a->type == TYPE_RAW || a->type > TYPE_BREAKPOINT)
		return hash_pair(TYPE_RAW, a->config);
	return hash_pair(UINT32_MAX, i);
}

#define ATTR_SIZE_0 64 /* PERF_ATTR_SIZE_VER0, in bytes */
#define EVENTS_MAX 65536
#define BRANCH_CALL_STACK ((uint64_t)1 << 11)

/* The bit of a field of 8 bytes, and where its offset is stored. */
struct attr_field {
	uint64_t bit;
	uint8_t *place; /* NULL: not stored */
};

/* Sets the offset of each field that the event has, or the offset of its end if
 * `end`. Returns the end of the last field. */
static uint8_t perf_attr_lay_fields(const struct perf_attr *a,
				    const struct attr_field *field, size_t n,
				    uint8_t at, bool end)
{
	for (size_t i = 0; i < n; i++) {
		if (!(a->sample_type & field[i].bit))
			continue;
		/* IDENTIFIER and ID are equal: the first one is used */
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
	/* Set the offsets of fields by sample_type and flags: in samples from
	 * the start, in other records back from the end. */
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
	/* Combine the newest event with those before it: layouts that all
	 * share, and facts about the whole capture. */
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
		/* 0 stands for the kernel's sysctl */
		info->max_stack = !p->chains || info->max_stack == a.max_stack
					  ? a.max_stack
					  : 0;
		p->chains = true;
	}
	info->overwrite |= (a.flags & PA_WRITE_BACKWARD) != 0;
	info->maps_code |= (a.flags & PA_MMAP) != 0;
	/* a ring that overwrites its start loses mappings */
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
	/* Only with this name is it the event of perf record --off-cpu;
	 * otherwise it is an ordinary event of BPF programs. */
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

const struct perf_attr *perf_attr_of_record(struct perf *p,
					    const struct perf_rec *r)
{
	const struct perf_attr *first = p->attr;
	uint64_t id = 0;

	if (p->n_attr <= 1)
		return p->n_attr ? first : NULL;
	if (r->type != PR_SAMPLE && !first->id_all)
		return first;
	/* the id has the same offset in the records of all events */
	if (r->type == PR_SAMPLE ? first->s_id
				 : first->t_id && r->size >= 8 + first->t_id)
		bytes_peek_u64(&r->b,
			       r->type == PR_SAMPLE ? first->s_id
						    : r->size - first->t_id,
			       &id);
	if (!id)
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

/* ---- writes to the ledger: damage, notes, skipped records */

void perf_damage(struct perf *p, const char *what, uint64_t off, uint64_t len,
		 const struct err *err)
{
	p->damaged++;
	if (p->loud)
		reader_damage(&p->src, what, off, len, err);
}

void perf_note(struct perf *p, const char *what, const char *detail)
{
	if (p->loud)
		reader_note(&p->src, what, detail);
}

void perf_note_event(struct perf *p, uint32_t event, enum perf_noted what)
{
	static const char *const word[][2] = {
		[NOTED_REGISTERS] = { "registers",
				      "have registers of a kind that this "
				      "program does not know: they are read as far as "
				      "these, without registers and stack dump" },
		[NOTED_MODE] = { "mode",
				 "have the kernel's mode and an address of a "
				 "program, as precise events of Linux 3.11 to 4.16: "
				 "they count as user mode" },
		[NOTED_UNMAPPED] = { "unmapped",
				     "have addresses that perf inject could "
				     "not map and made 0" },
		[NOTED_LOW] = { "firmware",
				"have kernel addresses below the kernel's half, where "
				"firmware runs" },
		[NOTED_CPU] = { "CPU",
				"are of a CPU beyond those that the machine had when "
				"recording ended" },
	};
	char note[256];

	if (p->attr[event].noted & what)
		return;
	p->attr[event].noted |= what;
	snprintf(note, sizeof(note), "samples of event '%.64s' %s",
		 p->event[event].name, word[what][1]);
	reader_note(&p->src, word[what][0], note);
}

void perf_skip_type(struct perf *p, const struct perf_rec *r)
{
	bool simpleperf = perf_type_is_simpleperf(r->type);
	size_t own = r->type - PR_SIMPLEPERF;
	const char *meaning =
		simpleperf ? "simpleperf: of a later version" : NULL;

	/* A kernel writes a new type only if a flag of an event asks for it.
	 * perf numbers its own types without gaps, simpleperf from 32768 on. */
	if (r->type < PR_TOOL
		    ? !r->type || (r->type >= PR_KERNEL_KNOWN && !p->newer)
		    : r->type >= 2 * PR_TOOL && !simpleperf) {
		perf_damage_text(p, r->b.path, "record", r->off, r->size,
				 "record of type %" PRIu32
				 ", which no recorder writes; "
				 "the size of the one before it may be wrong",
				 r->type);
		return;
	}
	if (simpleperf && own < ARRAY_SIZE(perf_types_simpleperf))
		meaning = perf_types_simpleperf[own];
	else if (r->type < PR_TOOL_KNOWN)
		meaning = perf_types_skipped[r->type];
	ledger_skip(p->src.ledger, p->src.index, "record type", r->type, r->off,
		    meaning);
}

void perf_damage_id(struct perf *p, const struct perf_rec *r)
{
	reader_damage_text(
		&p->src, r->b.path, "event id", r->off, r->size,
		"a record of type %s has the id of no event of the header",
		perf_type_name(r->type));
}

/* ---- values that no recorder can have written: they are damage, not facts.
 *
 * Fields with arbitrary values are not checked: a user stack that was walked by
 * frame pointers has any number as a return address, and a clock that is set
 * may jump. */

int perf_check_build_id(const struct bytes *id, unsigned int n, struct err *err)
{
	struct bytes rest = *id;

	if (n > bytes_left(id))
		return err_at(err, id->path, bytes_off(id),
			      "build-id of %u bytes, needs at most %zu", n,
			      bytes_left(id));
	bytes_skip(&rest, n, NULL);
	return rest_zeros(&rest, err);
}

bool perf_check_time_is_far(const struct perf *p, struct perf_file *f,
			    uint64_t time)
{
	/* These clocks change by years when a machine without a battery
	 * starts. */
	enum clock_id clock = p->src.info.clock_id;

	return clock != CLOCK_ID_REAL && clock != CLOCK_ID_TAI &&
	       near_time_is_far(&f->near, time);
}

static int perf_check_thread(const struct perf_rec *r, int32_t id,
			     struct err *err)
{
	if (thread_id_can_be(id))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "thread or process id %" PRId32 ", needs -1 to %d", id,
		      THREAD_ID_MAX);
}

static int perf_check_address(const struct perf *p, const struct perf_rec *r,
			      uint64_t addr, struct err *err)
{
	if (halves_have(&p->halves, addr, false))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "address 0x%" PRIx64
		      " is in no half of the address space",
		      addr);
}

/* Checks an address in the kernel's half of a chain. Kernel code is not always
 * in the kernel's half: AArch64 maps the firmware (EFI) at low addresses while
 * it calls it, and x86-64 that of 32 bits. perf inject --aslr writes 0 for an
 * address for which it has no mapping, and before the half of a precise event
 * there may be the address of a program (perf_sample_decode()). Returns 0, or
 * -1 and *err if the address is damage. */
static int perf_check_kernel_address(struct perf *p, const struct perf_rec *r,
				     const struct record *rec, uint64_t addr,
				     struct err *err)
{
	const struct rec_sample *s = &rec->sample;

	if (halves_have(&p->halves, addr, true))
		return 0;
	if (!addr && !p->src.info.injected)
		return err_at(err, r->b.path, r->off,
			      "address 0 in the kernel's half of a chain");
	if (!addr)
		perf_note_event(p, s->event, NOTED_UNMAPPED);
	else if (rec->flags & REC_F_KERNEL)
		perf_note_event(p, s->event, NOTED_LOW);
	return perf_check_address(p, r, addr, err);
}

int perf_check_record(struct perf *p, const struct perf_rec *r,
		      const struct record *rec, struct err *err)
{
	if ((r->misc & PM_CPUMODE) > PM_GUEST_USER)
		return err_at(err, r->b.path, r->off, "mode %u, needs 0 to %d",
			      r->misc & PM_CPUMODE, PM_GUEST_USER);
	if (perf_check_thread(r, rec->pid, err) ||
	    perf_check_thread(r, rec->tid, err))
		return -1;
	/* NRCPUS is the number of CPUs when the recording ended: one that was
	 * removed from a virtual machine before has a higher number. */
	int32_t n = p->src.info.cpus_avail;

	if (rec->cpu < -1 || rec->cpu > CPU_ID_MAX)
		return err_at(err, r->b.path, r->off,
			      "CPU %" PRId32 ", needs -1 to %d", rec->cpu,
			      CPU_ID_MAX);
	if (rec->kind == REC_SAMPLE && n > 0 && rec->cpu >= n)
		perf_note_event(p, rec->sample.event, NOTED_CPU);
	switch (rec->kind) {
	case REC_SAMPLE: {
		const struct rec_sample *s = &rec->sample;

		/* The weight of a tracepoint is a field of its event:
		 * sched_stat_wait has a negative time if the clock went
		 * back. */
		if (s->weight >> 63 &&
		    p->attr[s->event].type != PERF_TYPE_TRACEPOINT)
			return err_at(err, r->b.path, r->off,
				      "period 0x%" PRIx64
				      ", needs less than 2^63",
				      s->weight);
		if (!p->halves.kernel_start || rec->flags & REC_F_GUEST ||
		    !(rec->flags & (REC_F_KERNEL | REC_F_USER)))
			return 0;
		if (s->ip && perf_check_address(p, r, s->ip, err))
			return -1;
		if (s->ip && rec->flags & REC_F_KERNEL &&
		    perf_check_kernel_address(p, r, rec, s->ip, err))
			return -1;
		for (uint32_t i = 0; i < s->kern.n; i++)
			if (perf_check_kernel_address(p, r, rec, s->kern.ip[i],
						      err))
				return -1;
		for (uint32_t i = 0; i < s->n_branch; i++)
			if (perf_check_address(p, r, s->branch[i].from, err) ||
			    perf_check_address(p, r, s->branch[i].to, err))
				return -1;
		return 0;
	}
	case REC_MAP: {
		const struct rec_map *m = &rec->map;
		uint64_t last;

		/* perf writes a kernel whose addresses it may not see as a
		 * mapping from 0 on */
		if (rec->flags & (REC_F_KERNEL | REC_F_GUEST))
			return 0;
		if (__builtin_add_overflow(m->start, m->len ? m->len - 1 : 0,
					   &last))
			return err_at(err, r->b.path, r->off,
				      "mapping of 0x%" PRIx64
				      " bytes at 0x%" PRIx64
				      " goes beyond the last address",
				      m->len, m->start);
		if (!p->halves.kernel_start)
			return 0;
		return perf_check_address(p, r, m->start, err)
			       ?: perf_check_address(p, r, last, err);
	}
	case REC_FORK:
	case REC_EXIT:
		return perf_check_thread(r, rec->fork.ppid, err)
			       ?: perf_check_thread(r, rec->fork.ptid, err);
	case REC_SWITCH:
		return perf_check_thread(r, rec->sw.other_pid, err)
			       ?: perf_check_thread(r, rec->sw.other_tid, err);
	default:
		return 0;
	}
}
