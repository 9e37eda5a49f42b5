/* perfdata_switch.c - switches and throttling in a perf.data file. */
#include "cli/export/perfdata/perfdata_switch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/export/perfdata/perfdata.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

struct pd_switches {
	struct perfdata *pd;
	struct rows *rows; /* what is said of switches, by event */
	bool more;
};

/* Of one switch. */
struct said {
	int64_t out, preempt, pid, tid;
};

static int step(struct pd_switches *s, struct err *err)
{
	int rc = rows_next(s->rows, err);

	s->more = rc > 0;
	return rc < 0 ? -1 : 0;
}

struct pd_switches *pd_switches_new(struct perfdata *pd, struct err *err)
{
	struct pd_switches *s = mem_new(1, sizeof(*s));

	s->pd = pd;
	for (size_t i = 0; i < pd->n_event; i++)
		pd->switches |= pd->event[i].n && !pd->event[i].sample &&
				!strcmp(pd->event[i].name, "switch");
	s->rows =
		rows_open(pd->db, store_sql("perfdata_switches"), NULL, 0, err);
	if (s->rows && (!pd->switches || !step(s, err)))
		return s;
	pd_switches_free(s);
	return NULL;
}

void pd_switches_free(struct pd_switches *s)
{
	if (!s)
		return;
	rows_close(s->rows);
	free(s);
}

static int read_said(struct pd_switches *s, int64_t event, struct said *out,
		     struct err *err)
{
	*out = (struct said){ .pid = -1, .tid = -1 };
	while (s->more && rows_int(s->rows, 0) <= event) {
		const char *name = rows_text(s->rows, 1);
		int64_t v = rows_int(s->rows, 2);

		if (rows_int(s->rows, 0) == event) {
			if (!strcmp(name, "out"))
				out->out = v;
			else if (!strcmp(name, "preempt"))
				out->preempt = v;
			else if (!strcmp(name, "other_pid"))
				out->pid = v;
			else if (!strcmp(name, "other_tid"))
				out->tid = v;
		}
		if (step(s, err))
			return -1;
	}
	return 0;
}

/* A whole CPU's says who is the other one. */
static int put_switch(struct pd_switches *s, const struct event_row *e,
		      const struct pd_when *when, struct err *err)
{
	struct said said;
	unsigned int misc;
	bool wide;

	if (read_said(s, e->id, &said, err))
		return -1;
	wide = said.pid >= 0 || said.tid >= 0;
	misc = (said.out ? PD_SWITCH_OUT : 0) |
	       (said.preempt ? PD_SWITCH_PREEMPT : 0);
	struct pd_buf *b = perfdata_begin(
		s->pd, wide ? PD_SWITCH_CPU_WIDE : PD_SWITCH, misc);

	if (wide) {
		pd_u32(b, (uint32_t)said.pid);
		pd_u32(b, (uint32_t)said.tid);
	}
	perfdata_end(s->pd, when);
	return 0;
}

static void put_throttle(struct pd_switches *s, enum pd_type type,
			 const struct pd_when *when)
{
	struct pd_buf *b = perfdata_begin(s->pd, type, 0);

	pd_u64(b, when->time < 0 ? 0 : (uint64_t)when->time);
	pd_u64(b, 1); /* which event is not known, nor its stream */
	pd_u64(b, 1);
	perfdata_end(s->pd, when);
}

int pd_switches_put(struct pd_switches *s, const struct event_row *e,
		    const struct pd_when *when, struct err *err)
{
	const struct pd_event *type = perfdata_event(s->pd, e->type);

	if (type->sample)
		return 0;
	if (!strcmp(type->name, "switch"))
		return put_switch(s, e, when, err);
	if (!strcmp(type->name, "throttle"))
		put_throttle(s, PD_THROTTLE, when);
	else if (!strcmp(type->name, "unthrottle"))
		put_throttle(s, PD_UNTHROTTLE, when);
	return 0;
}
