/* entry.c - compares the length of an entry with what its format describes.
 *
 * The length is what leads from one entry to the next: one that is too long
 * hides the entries after it, one that is too short makes entries of the rest.
 */
#include "formats/ftrace/entry.h"

#include <inttypes.h>

#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Linux 6.12.117 has the times of a call in the struct that an entry copies,
 * and still room for both after it, which it does not write
 * (kernel/trace/trace_entries.h, funcgraph_exit). */
#define FT_TIMES_AGAIN 16

/* Whether an entry may go on after the bytes that this field describes.
 *
 * The kernel measures the strings and arrays of a probe before it copies them.
 * Where the copy fails, the entry keeps the bytes that were reserved
 * (kernel/trace/trace_probe_tmpl.h, store_trace_args()); the same holds for
 * strings of system calls (kernel/trace/trace_syscalls.c).
 *
 * Of a synthetic event each string of fixed size takes STR_VAR_LEN_MAX bytes,
 * whatever its size says (kernel/trace/trace_events_synth.c), which nothing
 * shows of the last one. */
static bool ft_entry_may_be_longer(const struct tp_format *fmt,
				   const struct tp_field *f)
{
	if (f->kind == FMT_TEXT)
		return !strcmp(fmt->system, "synthetic");
	return tp_field_is_dynamic(f) &&
	       (tp_format_is_probe(fmt) || !strcmp(fmt->system, "syscalls"));
}

void ft_entry_set_size(struct ft_type *t)
{
	bool stack = t->role == ROLE_KSTACK;

	t->open = t->fmt.n_stack || (stack && t->part.size < 0);
	if (t->fmt.name && !strcmp(t->fmt.name, "funcgraph_exit"))
		t->spare = FT_TIMES_AGAIN;
	for (size_t i = 0; i < t->fmt.n; i++) {
		const struct tp_field *f = &t->fmt.field[i];
		uint32_t end;

		if (f->off >= FT_SYMBOL_OFF)
			continue;
		t->open |= !f->size && !stack;
		t->dynamic |= tp_field_is_dynamic(f);
		t->open |= ft_entry_may_be_longer(&t->fmt, f);
		/* The format of kernel_stack declares more addresses than an
		 * entry may have. */
		if (__builtin_add_overflow(f->off, f->size, &end) ||
		    (stack && f->off == (uint32_t)t->part.at))
			continue;
		raise_to(t->least, end);
	}
}

uint64_t ft_entry_dynamic_end(const struct ft_type *t, const struct bytes *b)
{
	uint64_t end = 0;

	for (size_t i = 0; i < t->fmt.n; i++) {
		const struct tp_field *f = &t->fmt.field[i];
		uint32_t at;

		if (!tp_field_is_dynamic(f) || bytes_peek_u32(b, f->off, &at))
			continue;
		uint64_t to = (at & 0xffff) + (at >> 16) +
			      (f->relative ? f->off + f->size : 0);

		raise_to(end, to);
	}
	return end;
}

void ft_entry_misfit(const struct ft_type *t, const struct bytes *b,
		     unsigned int width, struct err *err)
{
	err_at(err, b->path, bytes_off(b),
	       "an entry of '%s' has %zu bytes, needs %" PRIu64 "%s",
	       t->fmt.name ? t->fmt.name : "", bytes_left(b),
	       ft_entry_end(t, b, width), t->open ? " or more" : "");
}
