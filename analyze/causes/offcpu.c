/* offcpu.c - words for the states of threads off the CPU, and their stacks. */
#include "analyze/causes/offcpu.h"

#include <string.h>

#include "analyze/samples/events.h"
#include "analyze/stacks/stacks.h"
#include "schema/store.h"
#include "stitch/task_state.h"
#include "stitch/verdict.h"

const char *offcpu_state(int64_t state)
{
	const struct task_state *s = task_state_of(state);

	return s ? s->name : "?";
}

/* Bits above the known ones differ between kernels; they mean that the thread
 * was preempted. */
const char *offcpu_state_word(int64_t state)
{
	const struct task_state *s = task_state_of(state);

	return s ? s->word : state > 0 ? "preempted" : "waiting";
}

int64_t offcpu_state_bits(const struct value *v)
{
	if (v->kind == VALUE_INT)
		return v->num;
	for (size_t i = 0; v->kind == VALUE_TEXT && task_state(i); i++)
		if (!strcmp(v->text, task_state(i)->name))
			return task_state(i)->bits;
	return STATE_UNKNOWN;
}

int offcpu_stack_of(struct event_rows *r, const struct event_row *e,
		    struct offcpu_stack *s, struct err *err)
{
	struct event_row with = *e;
	int rc = event_rows_ask(r, &with, err);

	*s = (struct offcpu_stack){
		.type = id_of_row(e->type),
		.comm = id_of_row(e->comm),
		.kraw = id_of_row(e->kraw),
		.uraw = id_of_row(with.uraw),
		.verdict = (uint8_t)with.verdict,
		.flags = (uint8_t)with.flags & VERDICT_EXEC,
	};
	return rc;
}

struct stacks_group offcpu_group(const struct offcpu_stack *s)
{
	return (struct stacks_group){
		.type = s->type,
		.comm = s->comm,
		.cpu = -1,
		.kraw = s->kraw,
		.uraw = s->uraw,
		.verdict = s->verdict,
		.flags = s->flags,
	};
}

bool offcpu_takes_state(const char *list, int64_t state)
{
	const char *name = offcpu_state(state);

	if (!list)
		return true;
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");

		if ((n == strlen(name) && !strncmp(p, name, n)) ||
		    (n == 1 && *p == 'R' && name[0] == 'R'))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}
