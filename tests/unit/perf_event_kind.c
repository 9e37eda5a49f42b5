/* perf_event_kind.c - the names, units and kinds of events without a name. */
#include "formats/perf/perf.h"

#include <string.h>

#include "tests/unit/run.h"

#define K PA_EXCLUDE_KERNEL
#define U PA_EXCLUDE_USER
#define HV PA_EXCLUDE_HV
#define HOST PA_EXCLUDE_HOST
#define GUEST PA_EXCLUDE_GUEST
#define PRECISE(n) ((uint64_t)(n) << PA_PRECISE_SHIFT)

/* Names as perf evlist 7.2 prints them for a file without EVENT_DESC. */
struct name_row {
	const char *name; /* of the event, and of the test */
	uint32_t type;
	uint64_t config, flags;
	const char *unit;
	uint32_t bp_type;
};

static const struct name_row name_rows[] = {
	{ "cycles", 0, 0, 0, "cycles", 0 },
	{ "cycles:pp", 0, 0, PRECISE(2), "cycles", 0 },
	{ "cycles:ppH", 0, 0, PRECISE(2) | GUEST, "cycles", 0 },
	{ "cycles:G", 0, 0, HOST, "cycles", 0 },
	{ "cycles", 0, 0, HOST | GUEST, "cycles", 0 },
	{ "cycles:u", 0, 0, K | HV, "cycles", 0 },
	{ "cycles:uhppG", 0, 0, K | PRECISE(2) | HOST, "cycles", 0 },
	{ "cycles:khH", 0, 0, U | GUEST, "cycles", 0 },
	{ "cycles:hpp", 0, 0, U | K | PRECISE(2), "cycles", 0 },
	{ "cycles:ku", 0, 0, HV, "cycles", 0 },
	{ "cycles", 0, 0, U | K | HV, "cycles", 0 },
	{ "cycles:pp", 0, 0, U | K | HV | PRECISE(2), "cycles", 0 },
	{ "instructions:ppp", 0, 1, PRECISE(3), "events", 0 },
	{ "ref-cycles", 0, 9, 0, "cycles", 0 },
	{ "cycles", 0, 4ull << 32, 0, "cycles", 0 }, /* perf: cpu/cycles/ */
	{ "cpu-clock:uh", 1, 0, K, "ns", 0 },
	{ "task-clock", 1, 1, 0, "ns", 0 },
	{ "page-faults:u", 1, 2, K | HV, "events", 0 },
	{ "L1-dcache-loads", 3, 0, 0, "events", 0 },
	{ "L1-dcache-load-misses:uh", 3, 0x10000, K, "events", 0 },
	{ "LLC-prefetches", 3, 0x202, 0, "events", 0 },
	{ "node-stores", 3, 0x106, 0, "events", 0 },
	{ "L1-icache-prefetch-misses", 3, 0x10201, 0, "events", 0 },
	{ "raw 0x1234:uhpp", 4, 0x1234, K | PRECISE(2), "events", 0 },
	{ "mem:0x1000:rw", 5, 0, 0, "events", 3 },
	{ "mem:0x1000:x", 5, 0, 0, "events", 4 },
	/* perf: unknown-ext-hardware-cache-type, unknown-hardware, ... */
	{ "type 3 config 0x7", 3, 7, 0, "events", 0 },
	{ "type 0 config 0xa", 0, 10, 0, "events", 0 },
	{ "type 9 config 0x55", 9, 0x55, 0, "events", 0 },
	{ "tracepoint:77", 2, 77, 0, "events", 0 },
};

START_TEST(an_event_without_a_name_has_perfs)
{
	const struct name_row *row = &name_rows[_i];
	const struct perf_attr a = { .type = row->type,
				     .config = row->config,
				     .flags = row->flags,
				     .bp_type = row->bp_type,
				     .bp_addr = 0x1000 };
	struct perf p = { .n_attr = 0 };

	ck_assert_str_eq(event_kind_name(&p, &a), row->name);
	ck_assert_str_eq(event_kind_unit(&a), row->unit);
	arena_release(&p.arena);
}
END_TEST

START_TEST(samples_come_about_in_four_ways)
{
	const struct {
		struct perf_attr a;
		enum event_how how;
	} rows[] = {
		{ { .type = 1, .period = 4000, .flags = PA_FREQ },
		  EVENT_SAMPLE },
		{ { .type = 1, .period = 1, .flags = PA_FREQ }, EVENT_SAMPLE },
		{ { .type = 0, .period = 100000 }, EVENT_SAMPLE },
		{ { .type = 1, .config = 3, .period = 1 }, EVENT_COUNT },
		{ { .type = 2, .period = 1 }, EVENT_COUNT },
		{ { .type = 2, .period = 2 }, EVENT_SAMPLE },
		{ { .type = 2, .period = 2, .sample_type = PS_PERIOD },
		  EVENT_COUNT },
		{ { .type = 2,
		    .period = 2,
		    .sample_type = PS_PERIOD,
		    .flags = PA_FREQ },
		  EVENT_SAMPLE },
		{ { .type = 0, .sample_type = PS_READ }, EVENT_READ },
		{ { .type = 0 }, EVENT_MARK },
		{ { .type = 1, .config = 9, .period = 4000, .flags = PA_FREQ },
		  EVENT_MARK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ck_assert_int_eq(event_kind_how(&rows[i].a), rows[i].how);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(an_event_without_a_name_has_perfs, name_rows),
};

RUN_TABLES("perf_event_kind", tables, samples_come_about_in_four_ways)
