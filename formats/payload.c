/* payload.c - the text of a tracepoint's payload, away from its capture.
 *
 * The reader of perf's formats works on a capture: here it gets one that has
 * nothing but the one event. */
#include "formats/payload.h"

#include <stdlib.h>
#include <string.h>

#include "formats/perf.h"

#define TYPE_TRACEPOINT 2

struct payload {
	struct perf perf;
	struct perf_attr attr;
};

struct payload *payload_new(const char *format, bool big, bool long32)
{
	size_t len = strlen(format);
	struct bytes text;
	uint32_t id;

	if (!perf_number_behind(format, format + len, "ID: ", &id))
		return NULL;
	struct payload *pl = mem_new(1, sizeof(*pl));

	pl->perf.src.path = "payload";
	pl->perf.swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	pl->perf.long32 = long32;
	pl->perf.attr = &pl->attr;
	pl->perf.n_attr = 1;
	pl->attr.type = TYPE_TRACEPOINT;
	pl->attr.config = id;
	bytes_init(&text, format, len, "format", 0, false);
	perf_format_add(&pl->perf, "", &text);
	pl->attr.fmt = (uint32_t)pl->perf.n_fmt;
	if (pl->attr.fmt)
		return pl;
	payload_free(pl);
	return NULL;
}

void payload_free(struct payload *pl)
{
	if (!pl)
		return;
	perf_trace_release(&pl->perf);
	arena_release(&pl->perf.arena);
	arena_release(&pl->perf.scratch);
	free(pl->perf.field);
	free(pl);
}

const struct field_def *payload_defs(const struct payload *pl, size_t *n)
{
	const struct perf_fmt *fmt = perf_fmt_of(&pl->perf, 0);

	*n = fmt->n;
	return fmt->def;
}

void payload_text(struct payload *pl, const void *raw, size_t len, char *buf,
		  size_t size)
{
	struct rec_sample s = { .raw = raw, .raw_len = (uint32_t)len };

	if (len > UINT32_MAX || perf_print(&pl->perf.src, &s, buf, size))
		buf[0] = '\0';
}

void payload_fields_text(struct payload *pl, const struct field *field,
			 char *buf, size_t size)
{
	perf_print_fields(&pl->perf, perf_fmt_of(&pl->perf, 0), field, buf,
			  size);
}
