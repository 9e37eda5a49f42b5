/* payload.c - makes the text of a tracepoint's payload without its capture. */
#include "formats/tracepoint/payload.h"

#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/kernel_names.h"
#include "formats/tracepoint/tracepoint.h"

struct payload {
	struct tp tp;
	struct tp_format fmt;
	struct arena arena;
};

struct payload *payload_new(const char *format,
			    const struct payload_machine *on)
{
	struct payload *pl = mem_new(1, sizeof(*pl));
	struct bytes text;

	pl->tp.swap = bytes_must_swap(on->big);
	pl->tp.long32 = on->long32;
	pl->tp.release = on->release ? kernel_release_number(on->release) : 0;
	bytes_init(&text, format, strlen(format), "format", 0, false);
	if (tp_format_parse(&pl->arena, "", &text, &pl->fmt))
		return pl;
	payload_free(pl);
	return NULL;
}

void payload_free(struct payload *pl)
{
	if (!pl)
		return;
	tp_format_release(&pl->fmt);
	tp_release(&pl->tp);
	arena_release(&pl->arena);
	free(pl);
}

const struct field_def *payload_defs(const struct payload *pl, size_t *n)
{
	*n = pl->fmt.n;
	return pl->fmt.def;
}

void payload_fields(struct payload *pl, const void *raw, size_t len,
		    struct field *field)
{
	tp_fields_take(&pl->tp, &pl->fmt, raw, len, field);
}

size_t payload_text(struct payload *pl, const void *raw, size_t len, char *buf,
		    size_t size)
{
	return tp_print(&pl->tp, &pl->fmt, raw, len, buf, size);
}

size_t payload_fields_text(struct payload *pl, const struct field *field,
			   char *buf, size_t size)
{
	return tp_print_fields(&pl->tp, &pl->fmt, field, buf, size);
}

const char *payload_value_text(struct payload *pl, size_t i,
			       const struct field *f, char *buf, size_t size)
{
	return tp_print_value_of(&pl->tp, &pl->fmt, i, f, buf, size);
}

void payload_name_by(struct payload *pl, payload_symbol_fn *fn, void *of)
{
	pl->tp.symbol = fn;
	pl->tp.symbols_of = of;
}

const char *payload_problem(struct payload *pl)
{
	return tp_print_problem(&pl->tp, &pl->fmt);
}

char *payload_perf_format(const struct payload *pl, const char *name,
			  uint32_t id)
{
	return tp_make_format(&pl->fmt, name, id);
}

const void *payload_perf(struct payload *pl, const void *raw, size_t raw_len,
			 uint32_t id, uint32_t tid, size_t *len)
{
	return tp_copy_payload(&pl->tp, &pl->fmt, raw, raw_len, id, tid, len);
}

const void *payload_fields_perf(struct payload *pl, const struct field *field,
				uint32_t id, uint32_t tid, size_t *len)
{
	return tp_make_payload(&pl->tp, &pl->fmt, field, id, tid, len);
}
