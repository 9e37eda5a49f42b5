/* fields.c - reads the fields of a tracepoint's payload.
 *
 * Offsets and sizes come from the capture, so every access is checked. */
#include "formats/tracepoint/fields.h"

#include <string.h>

#include "stitch/source.h"

int tp_field_index(const struct tp_format *fmt, const char *name)
{
	for (size_t i = 0; name && i < fmt->n; i++)
		if (!strcmp(fmt->def[i].name, name))
			return (int)i;
	return -1;
}

bool tp_field_small(const struct bytes *raw, const struct tp_field *f,
		    int64_t *out)
{
	uint16_t u16;

	if (f->size == 1) {
		*out = f->is_signed ? (int8_t)raw->pos[f->off]
				    : (int64_t)raw->pos[f->off];
		return true;
	}
	if (bytes_peek_u16(raw, f->off, &u16))
		return false;
	*out = f->is_signed ? (int16_t)u16 : (int64_t)u16;
	return true;
}

/* Finds the bytes of a dynamic field. Returns false if they are not inside the
 * entry. */
static bool tp_field_find_dynamic(const struct bytes *raw,
				  const struct tp_field *f, struct bytes *out)
{
	struct bytes b = *raw;
	uint32_t loc;

	if (bytes_peek_u32(raw, f->off, &loc))
		return false;
	uint64_t at = loc & 0xffff;
	if (f->relative)
		at += (uint64_t)f->off + 4;
	return !bytes_skip(&b, at, NULL) &&
	       !bytes_take(&b, loc >> 16, out, NULL);
}

/* Reads a field that is not a number; *out must be zeroed. */
static void tp_field_take_data(struct tp *tp, const struct bytes *raw,
			       const struct tp_field *f, struct field *out)
{
	struct bytes b = *raw;
	struct bytes data;

	if (tp_field_is_dynamic(f)
		    ? !tp_field_find_dynamic(raw, f, &data)
		    : bytes_skip(&b, f->off, NULL) ||
			      bytes_take(&b, f->size ? f->size : bytes_left(&b),
					 &data, NULL))
		return;
	const size_t n = bytes_left(&data);

	/* an empty string of a probe has its NUL, so no bytes at all mean a
	 * fault: kernel/trace/trace_probe.c, PRINT_TYPE_FUNC_NAME(string) */
	if (!n && f->of_probe) {
		out->text = TP_FAULT;
		return;
	}
	out->present = true;
	out->len = (uint32_t)n;
	if (f->kind != FMT_TEXT && f->kind != FMT_DYN_TEXT) {
		out->blob = data.pos;
		return;
	}
	/* text ends at its first NUL; text without one is copied */
	const unsigned char *nul = memchr(data.pos, 0, n);

	if (nul) {
		out->text = (const char *)data.pos;
		out->len = (uint32_t)(nul - data.pos);
		return;
	}
	out->text = arena_strndup(&tp->scratch, (const char *)data.pos, n);
}

/* Reads one field. Text without a NUL is copied to tp->scratch. */
static void tp_field_take(struct tp *tp, const struct bytes *raw,
			  const struct tp_field *f, struct field *out)
{
	*out = (struct field){ 0 };
	if (f->kind == FMT_NUM)
		out->present = tp_field_number(raw, f, &out->num);
	else
		tp_field_take_data(tp, raw, f, out);
}

void tp_field_take_alone(struct tp *tp, const struct tp_format *fmt, int field,
			 const struct bytes *raw, struct field *out)
{
	*out = (struct field){ 0 };
	if (field < 0)
		return;
	if (tp->scratch.used)
		arena_release(&tp->scratch);
	tp_field_take(tp, raw, &fmt->field[field], out);
}

void tp_fields_take(struct tp *tp, const struct tp_format *fmt, const void *raw,
		    size_t len, struct field *out)
{
	struct bytes b;

	if (tp->scratch.used)
		arena_release(&tp->scratch);
	bytes_init(&b, raw ? raw : "", raw ? len : 0, "payload", 0, tp->swap);
	for (size_t i = 0; i < fmt->n; i++)
		tp_field_take(tp, &b, &fmt->field[i], &out[i]);
}

/* ---- reads scheduling events of any capture format */

/* The low byte of the state means the same in all kernels; 0 is runnable. It is
 * 0 for a preempted task too, which stays runnable whatever state it had set:
 * the bit for that is above the low byte. */
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

/* In these fields the kernel calls a thread id a pid. */
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

/* Reads a number. Returns false if the event has no such field, or the payload
 * ends before it. */
static bool tp_sched_number(const struct tp_format *fmt,
			    const struct bytes *raw, uint16_t at, int64_t *out)
{
	return at && tp_field_number(raw, &fmt->field[at - 1], out);
}

/* success: kernels before 4.3 also record wakeups that woke nothing. */
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

/* Returns a thread name in the payload, or NULL. Borrowed from raw. */
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

/* ---- finds the fields of a tracepoint that are kernel stacks, once, and takes
 * the stacks of each event. Synthetic events have such fields: "s32 pid;
 * unsigned long[] stack" of tracefs' synthetic_events. Only
 * __get_stacktrace(NAME) in the print format distinguishes them from other
 * arrays. */

#define CALL "__get_stacktrace("

void tp_stack_find(struct tp_format *fmt)
{
	const char *s = strstr(fmt->text, "print fmt:");

	while (s && fmt->n_stack < TP_STACKS && (s = strstr(s, CALL))) {
		s += strlen(CALL);
		const size_t len = strcspn(s, ") \t\n");

		for (size_t i = 0; i < fmt->n; i++) {
			struct field_def *d = &fmt->def[i];

			if (strncmp(d->name, s, len) || d->name[len] ||
			    !d->is_blob || d->is_stack)
				continue;
			d->is_stack = true;
			fmt->n_stack++;
		}
	}
}

/* Copies the addresses of a stack to ip, and returns their number. Linux 7.2
 * stores the number before them; no address is that small. A 0 also ends the
 * stack. */
static uint32_t tp_stack_take_addrs(const struct field *f, bool swap,
				    bool long32, uint64_t *ip)
{
	uint64_t width = long32 ? 4 : 8;
	struct bytes b;
	uint64_t addr;
	uint32_t n = 0;

	if (!f->present || !f->blob)
		return 0;
	bytes_init(&b, f->blob, f->len, "", 0, swap);
	if (tp_take_long(&b, long32, &addr, NULL))
		return 0;
	uint64_t most = f->len / width;

	if (addr < most)
		most = addr;
	else
		ip[n++] = addr;
	while (n < most && !tp_take_long(&b, long32, &addr, NULL) && addr)
		ip[n++] = addr;
	return n;
}

void tp_stacks_take(struct tp *tp, const struct tp_format *fmt,
		    const struct bytes *raw, bool long32, struct rec_sample *s)
{
	size_t most = bytes_left(raw) / (long32 ? 4 : 8) + 1;
	uint32_t at = 0;
	struct field f;

	s->n_held = 0;
	if (!fmt->n_stack && !fmt->n_code)
		return;
	if (tp->scratch.used)
		arena_release(&tp->scratch);
	mem_grow(tp->ip, tp->cap_ip, fmt->n_stack * most + fmt->n_code);
	for (size_t i = 0; fmt->n_stack && i < fmt->n && s->n_held < TP_STACKS;
	     i++) {
		if (!fmt->def[i].is_stack)
			continue;
		tp_field_take(tp, raw, &fmt->field[i], &f);
		tp->held[s->n_held] = (struct addrs){
			.ip = tp->ip + at,
			.n = tp_stack_take_addrs(&f, tp->swap, long32,
						 tp->ip + at),
		};
		at += tp->held[s->n_held++].n;
	}
	for (size_t i = 0; i < fmt->n_code; i++) {
		int64_t addr = 0;

		if (!tp_field_number(raw, &fmt->field[fmt->code[i]], &addr) ||
		    !addr)
			continue;
		tp->ip[at] = (uint64_t)addr;
		tp->held[s->n_held++] =
			(struct addrs){ .ip = tp->ip + at, .n = 1 };
		at++;
	}
	tp->n_ip = at;
	s->held = tp->held;
}
