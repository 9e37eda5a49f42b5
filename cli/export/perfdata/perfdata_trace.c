/* perfdata_trace.c - payloads of tracepoints in a perf.data file. */
#include "cli/export/perfdata/perfdata_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/samples/events.h"
#include "cli/samples/payloads.h"
#include "cli/export/perfdata/perfdata.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/base/table.h"

#define TYPE_TRACEPOINT 2u
#define ID_MAX 65535u /* common_type is a u16 */
#define PAGE 4096u

struct pd_trace {
	struct perfdata *pd;
	struct payloads *payloads;
	struct table by_id; /* event type by id */
	uint32_t free_id;
	const struct pd_capture
		*machine; /* whose byte order the payloads have */
	unsigned char none[16];
};

/* A file can hold tracepoints of one kind of machine only. */
static bool is_tracepoint(struct pd_trace *t, const struct pd_event *e)
{
	const struct pd_capture *c;

	if (!e->n || !e->sample || !e->format || !e->payload ||
	    e->type != TYPE_TRACEPOINT || !e->capture ||
	    e->capture > t->pd->n_capture)
		return false;
	c = &t->pd->capture[e->capture - 1];
	if (!t->machine)
		t->machine = c;
	return t->machine->big_endian == c->big_endian &&
	       t->machine->long32 == c->long32;
}

static uint32_t pd_trace_find_id(const struct pd_trace *t, uint64_t id)
{
	return table_find_hash(&t->by_id, hash_u64(id));
}

/* Uses the kernel's id, unless it is taken by an event of another kernel, or of
 * a tracer that numbers its events from 0. */
static void take_id(struct pd_trace *t, size_t i)
{
	struct pd_event *e = &t->pd->event[i];
	uint32_t is = e->config <= ID_MAX ? pd_trace_find_id(t, e->config)
					  : TABLE_NONE;

	if (is != TABLE_NONE && !strcmp(e->name, t->pd->event[is].name) &&
	    !strcmp(e->format, t->pd->event[is].format))
		return;
	if (!e->config || e->config > ID_MAX || is != TABLE_NONE) {
		while (pd_trace_find_id(t, t->free_id) != TABLE_NONE)
			t->free_id--;
		e->config = t->free_id;
	}
	table_add(&t->by_id, hash_u64(e->config), (uint32_t)i);
}

/* ---- tracing data: in the machine's byte order */

static void pd_trace_put_number(const struct pd_trace *t, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pd_u8(&t->pd->tracing,
		      (uint8_t)(v >>
				8 * (t->machine->big_endian ? n - 1 - i : i)));
}

static void pd_trace_put_section(const struct pd_trace *t, const char *name,
				 const char *text)
{
	pd_text(&t->pd->tracing, name, PD_NAME_MAX, 1);
	pd_trace_put_number(t, strlen(text), 8);
	pd_bytes(&t->pd->tracing, text, strlen(text));
}

static void pd_trace_put_header(const struct pd_trace *t)
{
	struct pd_buf *b = &t->pd->tracing;
	unsigned int size = t->machine->long32 ? 4 : 8;
	char page[512];

	pd_bytes(b, "\x17\x08\x44tracing", 10);
	pd_text(b, "0.5", 8, 1);
	pd_u8(b, t->machine->big_endian);
	pd_u8(b, (uint8_t)size);
	pd_trace_put_number(t, PAGE, 4);
	snprintf(page, sizeof(page),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		 size, 8 + size, PAGE - 8 - size);
	pd_trace_put_section(t, "header_page", page);
	pd_trace_put_section(t, "header_event", "");
	pd_trace_put_number(t, 0, 4); /* formats of ftrace events */
}

/* Splits "sched:sched_switch", "INSTANCE/sched:sched_switch" or "sched_switch".
 */
static void pd_trace_split_name(const char *name, char system[64],
				const char **event)
{
	const char *from = path_base(name);
	const char *colon = strchr(from, ':');

	snprintf(system, 64, "%.*s", colon ? (int)(colon - from) : 6,
		 colon ? from : "events");
	*event = colon ? colon + 1 : from;
}

static void pd_trace_put_formats(const struct pd_trace *t)
{
	struct pd_buf *b = &t->pd->tracing;
	uint32_t n = 0;

	for (size_t i = 0; i < t->pd->n_event; i++)
		n += t->pd->event[i].raw &&
		     pd_trace_find_id(t, t->pd->event[i].config) == i;
	pd_trace_put_header(t);
	pd_trace_put_number(t, n, 4);
	for (size_t i = 0; i < t->pd->n_event; i++) {
		const struct pd_event *e = &t->pd->event[i];
		char system[64];
		const char *name;
		char *text;

		if (!e->raw || pd_trace_find_id(t, e->config) != i)
			continue;
		pd_trace_split_name(e->name, system, &name);
		text = payloads_perf_format(t->payloads, (int64_t)i + 1, name,
					    (uint32_t)e->config);
		pd_text(b, system, sizeof(system), 1);
		pd_trace_put_number(t, 1, 4);
		pd_trace_put_number(t, text ? strlen(text) : 0, 8);
		pd_bytes(b, text ? text : "", text ? strlen(text) : 0);
		free(text);
	}
	pd_trace_put_number(t, 0, 4); /* kallsyms */
	pd_trace_put_number(t, 0, 4); /* printk_formats */
}

struct pd_trace *pd_trace_new(struct perfdata *pd, struct err *err)
{
	struct pd_trace *t = mem_new(1, sizeof(*t));

	t->pd = pd;
	t->free_id = ID_MAX;
	t->payloads = payloads_open(pd->db, err);
	if (!t->payloads) {
		pd_trace_free(t);
		return NULL;
	}
	for (size_t i = 0; i < pd->n_event; i++) {
		char *text;

		if (!is_tracepoint(t, &pd->event[i]))
			continue;
		/* can its format be made for perf at all? */
		text = payloads_perf_format(t->payloads, (int64_t)i + 1, "name",
					    1);
		if (text && *text) {
			pd->event[i].raw = true;
			take_id(t, i);
		}
		free(text);
	}
	if (t->machine)
		pd_trace_put_formats(t);
	return t;
}

void pd_trace_free(struct pd_trace *t)
{
	if (!t)
		return;
	payloads_close(t->payloads);
	table_release(&t->by_id);
	free(t);
}

int pd_trace_get(struct pd_trace *t, const struct event_row *e, int64_t tid,
		 const void **data, size_t *len, struct err *err)
{
	const struct pd_event *type = perfdata_event(t->pd, e->type);
	const struct payload_of of = { (uint32_t)type->config, (uint32_t)tid };
	int rc = payloads_perf(t->payloads, e, &of, data, len, err);

	/* a payload with only a type, as perf crashes without one */
	if (!rc) {
		bool big = t->machine->big_endian;

		t->none[big] = (unsigned char)of.id;
		t->none[!big] = (unsigned char)(of.id >> 8);
		*data = t->none;
		*len = sizeof(t->none);
	}
	return rc < 0 ? -1 : 0;
}
