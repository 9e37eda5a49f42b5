/* perfdata_switch.c - switches and throttling in a perf.data file. */
#include "cli/export/perfdata/perfdata_switch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/model/row_cursor.h"
#include "cli/export/perfdata/perfdata.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

struct pd_switches {
	struct perfdata *pd;
	struct row_cursor records;
};

struct pd_switches *pd_switches_new(struct perfdata *pd, struct err *err)
{
	struct pd_switches *s = mem_new(1, sizeof(*s));

	s->pd = pd;
	for (size_t i = 0; i < pd->n_event; i++)
		pd->switches |= pd->event[i].n && !pd->event[i].sample &&
				!strcmp(pd->event[i].name, "switch");
	if (!pd->switches || !row_cursor_open(&s->records, pd->db,
					      store_sql("switch_records"), err))
		return s;
	pd_switches_free(s);
	return NULL;
}

void pd_switches_free(struct pd_switches *s)
{
	if (!s)
		return;
	row_cursor_close(&s->records);
	free(s);
}

/* The record of a session over all threads also names the other thread. */
static int pd_switch_put_switch(struct pd_switches *s,
				const struct event_row *e,
				const struct pd_when *when, struct err *err)
{
	const struct rows *r = s->records.rows;
	unsigned int misc = 0;
	int64_t pid = -1;
	int64_t tid = -1;
	bool wide;
	int rc = row_cursor_seek(&s->records, e->id, err);

	if (rc < 0)
		return -1;
	if (rc > 0) {
		misc = (rows_int(r, SWITCH_RECORDS_AWAY) ? PD_SWITCH_OUT : 0) |
		       (rows_int(r, SWITCH_RECORDS_PREEMPT) ? PD_SWITCH_PREEMPT
							    : 0);
		pid = rows_int(r, SWITCH_RECORDS_OTHER_PID);
		tid = rows_int(r, SWITCH_RECORDS_OTHER_TID);
	}
	wide = pid >= 0 || tid >= 0;
	struct pd_buf *b = perfdata_begin(
		s->pd, wide ? PD_SWITCH_CPU_WIDE : PD_SWITCH, misc);

	if (wide) {
		pd_u32(b, (uint32_t)pid);
		pd_u32(b, (uint32_t)tid);
	}
	perfdata_end(s->pd, when);
	return 0;
}

static void put_throttle(struct pd_switches *s, enum pd_type type,
			 const struct pd_when *when)
{
	struct pd_buf *b = perfdata_begin(s->pd, type, 0);

	pd_u64(b, when->time < 0 ? 0 : (uint64_t)when->time);
	pd_u64(b, 1); /* the ids of the event and its stream are not known */
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
		return pd_switch_put_switch(s, e, when, err);
	if (!strcmp(type->name, "throttle"))
		put_throttle(s, PD_THROTTLE, when);
	else if (!strcmp(type->name, "unthrottle"))
		put_throttle(s, PD_UNTHROTTLE, when);
	return 0;
}
