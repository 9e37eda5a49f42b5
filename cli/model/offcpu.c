/* offcpu.c - words of the time that threads were off the CPU. */
#include "cli/model/offcpu.h"

#include <string.h>

#include "cli/model/filter.h"
#include "cli/model/stacks.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/task_state.h"

struct offcpu_opts offcpu_opts;

const struct opt offcpu_opt_table[] = {
	OPT_HEADING("What to count"),
	OPT_FLAG(0, "off-cpu", &offcpu_opts.on,
		 "the time that threads were off the CPU, by switches"),
	OPT_FLAG(0, "wall", &offcpu_opts.wall,
		 "time on and off the CPU in one: samples of a clock, and the "
		 "waits"),
	OPT_STRING(0, "state", "LIST", &offcpu_opts.state,
		   "with --off-cpu, --wall: only waits that began in these "
		   "states: S, D, R "
		   "(ready), R+ (preempted), ..."),
	{ .kind = OPT_END }
};

int offcpu_check(const struct filter *filter, struct err *err)
{
	if (offcpu_opts.on && offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--wall has the waits of --off-cpu and the "
			       "samples; choose one");
	if (offcpu_opts.state && !offcpu_opts.on && !offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--state needs --off-cpu or --wall");
	if ((offcpu_opts.on || offcpu_opts.wall) && filter->event)
		return err_set(err, ERR_USAGE,
			       "--%s reads the events of the scheduler; "
			       "leave out --event",
			       offcpu_opts.on ? "off-cpu" : "wall");
	for (const char *p = offcpu_opts.state; p && *p;) {
		size_t n = strcspn(p, ",");
		bool known = n == 1 && *p == '?';

		for (size_t i = 0; task_state(i); i++)
			known |= n == strlen(task_state(i)->name) &&
				 !strncmp(p, task_state(i)->name, n);
		if (!known)
			return err_set(err, ERR_USAGE,
				       "--state knows S, D, R, R+, T, t, X, Z, "
				       "P, I and ?, not '%.*s'",
				       (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

const char *offcpu_state(int64_t state)
{
	const struct task_state *s = task_state_of(state);

	return s ? s->name : "?";
}

/* Bits above the known ones differ between kernels, and mean that the thread
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

bool offcpu_takes_state(int64_t state)
{
	const char *name = offcpu_state(state);

	if (!offcpu_opts.state)
		return true;
	for (const char *p = offcpu_opts.state; *p;) {
		size_t n = strcspn(p, ",");

		if ((n == strlen(name) && !strncmp(p, name, n)) ||
		    (n == 1 && *p == 'R' && name[0] == 'R'))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}
