/* stack.c - finds the fields of a tracepoint that are kernel stacks, once, and
 * takes the stacks of each event. Synthetic events have such fields: "s32 pid;
 * unsigned long[] stack" of tracefs' synthetic_events. __get_stacktrace(NAME)
 * in the print format distinguishes them from other arrays. */
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"

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

/* Linux 7.2 stores the number of addresses before them; no address is that
 * small. A 0 also ends the stack. */
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
