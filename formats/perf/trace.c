/* trace.c - reads the tracing data of a perf capture: the formats of
 * tracepoints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"

#define FORMAT_MAX ((uint64_t)1 << 20)
#define MAGIC "\x17\x08\x44tracing"

/* Skips a file of tracefs: name, 0, u64 length, as many bytes. */
static int perf_trace_skip_file(struct bytes *b, struct err *err)
{
	const char *name;
	uint64_t n;

	return bytes_str(b, &name, err)
		       ?: bytes_u64(b, &n, err)
		       ?: bytes_skip(b, n, err);
}

/* Takes one format, and keeps it if the capture has samples of it. system is
 * NULL for formats of ftrace itself, which no event of perf uses. */
static int perf_trace_take_format(struct perf *p, const char *system,
				  struct bytes *b, struct err *err)
{
	struct tp_format fmt;
	struct bytes text;
	struct err why;
	uint64_t n;
	uint32_t id;

	if (bytes_u64(b, &n, err) || bytes_take(b, n, &text, err))
		return -1;
	if (tp_format_check(system ? system : "", &text, &why))
		perf_damage(p, "tracing data", bytes_off(&text), n, &why);
	if (!system || n > FORMAT_MAX ||
	    !tp_number_after((const char *)text.pos, (const char *)text.end,
			     TP_ID, &id) ||
	    !any_where(p->n_attr, i,
		       p->attr[i].type == PERF_TYPE_TRACEPOINT &&
			       p->attr[i].config == id))
		return 0;
	if (any_where(p->n_fmt, i, p->fmt[i].id == id) ||
	    !tp_format_parse(&p->arena, system, &text, &fmt))
		return 0;
	tp_print_find_code(&p->look, &fmt);
	*mem_add(p->fmt, p->n_fmt, p->cap_fmt) = fmt;
	return 0;
}

/* Appends the strings of the kernel to formats that print some by address, so
 * that a database has them too. */
static void perf_trace_take_strings(struct perf *p, const struct bytes *strings)
{
	const size_t n = bytes_left(strings);

	for (size_t i = 0; n && n <= FORMAT_MAX && i < p->n_fmt; i++) {
		struct tp_format *fmt = &p->fmt[i];

		if (!tp_print_lacks_strings(&p->look, fmt))
			continue;
		const size_t head = strlen(fmt->text);
		char *text = arena_take(&p->arena,
					head + sizeof("\n" TP_STRINGS) + n);

		memcpy(text, fmt->text, head);
		memcpy(text + head, "\n" TP_STRINGS, sizeof(TP_STRINGS));
		memcpy(text + head + sizeof(TP_STRINGS), strings->pos, n);
		text[head + sizeof(TP_STRINGS) + n] = '\0';
		fmt->text = text;
		fmt->len = strlen(text);
	}
}

static int perf_trace_parse(struct perf *p, struct bytes *b, size_t padding,
			    struct err *err)
{
	const char *version, *system;
	uint8_t big, long_size;
	uint32_t page, n, formats;

	if (bytes_left(b) < 10 || memcmp(b->pos, MAGIC, 10))
		return err_at(err, b->path, bytes_off(b),
			      "no tracing data here, needs its magic");
	if (bytes_skip(b, 10, err) || bytes_str(b, &version, err) ||
	    bytes_u8(b, &big, err) || bytes_u8(b, &long_size, err))
		return -1;
	p->tp.swap = p->look.swap = p->swap;
	p->tp.long32 = p->look.long32 = long_size == 4;
	b->swap = (p->swap == p->src.info.big_endian) == (big != 0);
	if (bytes_u32(b, &page, err) || perf_trace_skip_file(b, err) ||
	    perf_trace_skip_file(b, err) || bytes_u32(b, &n, err))
		return -1;
	for (; n; n--)
		if (perf_trace_take_format(p, NULL, b, err))
			return -1;
	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		if (bytes_str(b, &system, err) || bytes_u32(b, &formats, err))
			return -1;
		for (; formats; formats--)
			if (perf_trace_take_format(p, system, b, err))
				return -1;
	}
	/* Kallsyms, strings of the kernel, and since version 0.6 names of
	 * threads. Parts that are not used must have lengths that lead to the
	 * end. */
	struct bytes strings;
	uint64_t names;

	if (bytes_u32(b, &n, err) || bytes_skip(b, n, err) ||
	    bytes_u32(b, &n, err) || bytes_take(b, n, &strings, err))
		return -1;
	perf_trace_take_strings(p, &strings);
	if (strcmp(version, "0.5") &&
	    (bytes_u64(b, &names, err) || bytes_skip(b, names, err)))
		return -1;
	return rest_padding(b, padding, err);
}

void perf_tracing_data(struct perf *p, struct bytes *b, size_t padding)
{
	struct bytes at = *b;
	struct err e;

	if (perf_trace_parse(p, &at, padding, &e))
		perf_damage(p, "tracing data", bytes_off(&at), bytes_left(&at),
			    &e);
}

void perf_trace_join_events(struct perf *p)
{
	char name[256];

	for (size_t i = 0; i < p->n_attr; i++) {
		struct perf_attr *a = &p->attr[i];
		struct event_def *ev = &p->event[i];

		if (a->type != PERF_TYPE_TRACEPOINT || a->fmt)
			continue;
		for (size_t j = 0; j < p->n_fmt && !a->fmt; j++)
			if (p->fmt[j].id == a->config)
				a->fmt = (uint32_t)j + 1;
		if (!a->fmt)
			continue;
		const struct tp_format *fmt = &p->fmt[a->fmt - 1];

		a->sched = fmt->sched.kind != SCHED_NONE ||
			   fmt->call.what != CALL_NONE || fmt->n_stack ||
			   fmt->n_code;
		ev->sched = fmt->sched.kind;
		ev->format = fmt->text;
		ev->fields = fmt->def;
		ev->n_fields = (uint32_t)fmt->n;
		if (fmt->name && !strncmp(ev->name, "tracepoint:", 11)) {
			snprintf(name, sizeof(name), "%s:%s", fmt->system,
				 fmt->name);
			perf_attr_set_name(p, (uint32_t)i, name);
		}
	}
}

/* Returns the format of an event, or NULL. */
static const struct tp_format *perf_trace_format(const struct perf *p,
						 uint32_t event)
{
	if (event >= p->n_attr || !p->attr[event].fmt)
		return NULL;
	return &p->fmt[p->attr[event].fmt - 1];
}

void perf_trace_sample(struct perf *p, struct rec_sample *s)
{
	const struct tp_format *fmt = perf_trace_format(p, s->event);
	struct bytes raw;

	if (!fmt || !s->raw)
		return;
	bytes_init(&raw, s->raw, s->raw_len, p->src.path, 0, p->swap);
	if (fmt->sched.kind != SCHED_NONE) {
		tp_sched_take(fmt, &raw, &s->sched);
		tp_sched_take_names(fmt, &raw, s);
	}
	if (fmt->n_stack || fmt->n_code)
		tp_stacks_take(&p->look, fmt, &raw, p->look.long32, s);
	if (fmt->call.what == CALL_NONE)
		return;
	tp_call_take(&p->look, fmt, &raw, &p->call);
	s->call = &p->call;
}

int perf_trace_fields(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err)
{
	struct perf *p = perf_of(src);
	const struct tp_format *fmt = perf_trace_format(p, s->event);

	if (!fmt)
		return err_set(err, ERR_FORMAT, "%s: event has no field format",
			       src->path);
	tp_fields_take(&p->tp, fmt, s->raw, s->raw_len, out);
	return 0;
}

int perf_trace_print(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size)
{
	struct perf *p = perf_of(src);
	const struct tp_format *fmt = perf_trace_format(p, s->event);

	if (!size)
		return -1;
	buf[0] = 0;
	if (!fmt || !s->raw)
		return -1;
	tp_print(&p->tp, fmt, s->raw, s->raw_len, buf, size);
	return 0;
}
