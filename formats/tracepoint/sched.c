/* sched.c - reads scheduling events of any capture. */
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"

/* The low byte of the state is the same in all kernels; 0 is runnable. Of a
 * preempted task, which stays runnable whatever state it had set, it is 0 too:
 * the bit that marks it is above. */
#define ASLEEP 0xff

static uint16_t tp_sched_field(const struct tp_format *fmt, const char *name,
			       enum fmt_kind kind)
{
	for (size_t i = 0; i < fmt->n; i++)
		if (!strcmp(fmt->def[i].name, name) &&
		    fmt->field[i].kind == kind)
			return (uint16_t)(i + 1);
	return 0;
}

/* The kernel calls thread ids pids here. */
void tp_sched_find(struct tp_format *fmt)
{
	struct tp_sched s = { 0 };

	if (!fmt->name || strcmp(fmt->system, "sched") != 0)
		return;
	if (!strcmp(fmt->name, "sched_switch")) {
		s.tid = tp_sched_field(fmt, "prev_pid", FMT_NUM);
		s.next = tp_sched_field(fmt, "next_pid", FMT_NUM);
		s.state = tp_sched_field(fmt, "prev_state", FMT_NUM);
		s.leaves = tp_sched_field(fmt, "prev_comm", FMT_TEXT);
		s.comes = tp_sched_field(fmt, "next_comm", FMT_TEXT);
		s.kind = s.next && s.state ? SCHED_SWITCH : SCHED_NONE;
	} else if (!strcmp(fmt->name, "sched_wakeup") ||
		   !strcmp(fmt->name, "sched_wakeup_new")) {
		s.tid = tp_sched_field(fmt, "pid", FMT_NUM);
		s.success = tp_sched_field(fmt, "success", FMT_NUM);
		s.kind = fmt->name[12] ? SCHED_NEW : SCHED_WAKEUP;
	}
	if (s.tid)
		fmt->sched = s;
}

/* Reads a number. Returns false if there is no such field, or it is cut. */
static bool tp_sched_number(const struct tp_format *fmt,
			    const struct bytes *raw, uint16_t at, int64_t *out)
{
	return at && tp_field_number(raw, &fmt->field[at - 1], out);
}

/* Kernels before 4.3 also record wakeups that did nothing. */
void tp_sched_take(const struct tp_format *fmt, const struct bytes *raw,
		   struct sched *out)
{
	const struct tp_sched *fs = &fmt->sched;
	int64_t tid, next = -1, state = 0, success;

	*out = (struct sched){ .kind = SCHED_NONE };
	if (fs->kind == SCHED_NONE ||
	    !tp_sched_number(fmt, raw, fs->tid, &tid) ||
	    (fs->next && !tp_sched_number(fmt, raw, fs->next, &next)) ||
	    (fs->state && !tp_sched_number(fmt, raw, fs->state, &state)) ||
	    (tp_sched_number(fmt, raw, fs->success, &success) && !success))
		return;
	*out = (struct sched){
		.kind = fs->kind,
		.tid = (int32_t)tid,
		.next_tid = (int32_t)next,
		.sleeps = (state & ASLEEP) != 0,
	};
}

/* Returns a name in the payload, or NULL. */
static const char *tp_sched_name(const struct tp_format *fmt,
				 const struct bytes *raw, uint16_t at)
{
	struct bytes b = *raw;
	struct bytes name;

	if (!at)
		return NULL;
	const struct tp_field *f = &fmt->field[at - 1];
	if (f->size != THREAD_NAME || bytes_skip(&b, f->off, NULL) ||
	    bytes_take(&b, f->size, &name, NULL) || !*name.pos ||
	    !memchr(name.pos, 0, THREAD_NAME))
		return NULL;
	return (const char *)name.pos;
}

void tp_sched_take_names(const struct tp_format *fmt, const struct bytes *raw,
			 struct rec_sample *out)
{
	if (out->sched.kind != SCHED_SWITCH)
		return;
	out->leaves = tp_sched_name(fmt, raw, fmt->sched.leaves);
	out->comes = tp_sched_name(fmt, raw, fmt->sched.comes);
}
