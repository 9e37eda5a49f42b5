/* perf_print.c - the text of a tracepoint's payload, as perf script shows it.
 *
 * libtraceevent interprets the print format of an event. It trusts lengths
 * and indexes in the payload, so it is used only for formats in which those
 * cannot lead outside, and on a copy with zeros behind; all others are shown
 * field by field. */
#include <event-parse.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "formats/perf.h"
#include "stitch/err.h"

/* A dynamic field's place and length are 16 bits each. */
#define PADDING ((size_t)2 * 65536)
#define FORMAT_MAX 65536
/* A field's place, and 60 times the size of an element, stay in the padding. */
#define PLACE_MAX 65535
#define SIZE_MAX_ELEMENT 1024
#define DEPTH_MAX 64

struct perf_tep {
	struct tep_handle *tep;
	signed char *use; /* per fmt: 0 not known, 1 by the library, -1 not */
	unsigned char *copy;
	size_t cap_copy;
	struct field *field;
	size_t cap_field;
};

/* Parts of a print format that make the library read where the payload says,
 * or divide by what it says. */
static const char *const unsafe[] = {
	"__print_hex",
	"__print_array",
	"__get_dynamic_array",
	"__get_rel_dynamic_array",
	"__print_dynamic_array",
	"__print_hex_dump",
	"%*p",
	"%pI",
	"%pM",
	"%pU",
	"%pB",
	"__get_cpumask",
	"__get_rel_cpumask",
	"__get_sockaddr",
	"__get_rel_sockaddr",
	"__get_bitmask",
	"__get_rel_bitmask",
	"%m",
};

/* "3]": REC->args[3]. */
static bool small_index(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && s[n] == ']' && (n == 1 || (n == 2 && s[0] < '6'));
}

/* Outside of strings: how deep it nests, and no division, and no
 * index but small constant ones. */
static bool is_simple(const char *s)
{
	int depth = 0;
	bool quoted = false;

	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '"') {
			quoted = !quoted;
		} else if (quoted) {
			continue;
		} else if (*s == '(' || *s == '{') {
			if (++depth > DEPTH_MAX)
				return false;
		} else if (*s == ')' || *s == '}') {
			depth--;
		} else if (*s == '[') {
			if (!small_index(s + 1))
				return false;
		} else if (*s == '/' || *s == '%' || *s == '*') {
			return false;
		}
	}
	return !quoted && depth == 0;
}

static bool is_safe(const struct perf_fmt *fmt)
{
	const char *print = strstr(fmt->text, "print fmt: ");

	if (!print || fmt->len > FORMAT_MAX || strlen(fmt->text) != fmt->len)
		return false;
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++)
		if (strstr(print, unsafe[i]))
			return false;
	for (size_t i = 0; i < fmt->n; i++)
		if (fmt->field[i].off > PLACE_MAX ||
		    fmt->field[i].size > SIZE_MAX_ELEMENT)
			return false;
	return is_simple(print + 11);
}

static struct perf_tep *tep_of(struct perf *p)
{
	struct perf_tep *t = p->tep;

	if (t)
		return t;
	t = p->tep = mem_new(1, sizeof(*t));
	t->use = mem_new(p->n_fmt, 1);
	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = tep_alloc();
	if (!t->tep)
		return t;
	tep_set_flag(t->tep, TEP_NSEC_OUTPUT);
	tep_set_long_size(t->tep, p->long32 ? 4 : 8);
	tep_set_file_bigendian(t->tep, p->data_big ? TEP_BIG_ENDIAN
						   : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(t->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN
							   : TEP_LITTLE_ENDIAN);
	return t;
}

/* Has the library taken this format? Asked once for each. */
static bool by_library(struct perf_tep *t, const struct perf_fmt *fmt,
		       size_t at)
{
	if (!t->use[at]) {
		bool ok = t->tep && fmt->name && is_safe(fmt) &&
			  !tep_parse_event(t->tep, fmt->text, fmt->len,
					   fmt->system);

		t->use[at] = ok ? 1 : -1;
	}
	return t->use[at] > 0;
}

static int print_library(struct perf_tep *t, const struct rec_sample *s,
			 char *buf, size_t size)
{
	struct trace_seq seq;
	struct tep_record rec = { 0 };

	t->copy = mem_grow(t->copy, &t->cap_copy, s->raw_len + PADDING, 1);
	memcpy(t->copy, s->raw, s->raw_len);
	memset(t->copy + s->raw_len, 0, PADDING);
	rec.data = t->copy;
	rec.size = rec.record_size = (int)s->raw_len;
	trace_seq_init(&seq);
	tep_print_event(t->tep, &seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	snprintf(buf, size, "%s", seq.buffer ? seq.buffer : "");
	trace_seq_destroy(&seq);
	return 0;
}

/* Appends as far as there is room. */
static void append(char *buf, size_t size, size_t *len, const char *fmt, ...)
	__attribute__((format(__printf__, 4, 5)));
static void append(char *buf, size_t size, size_t *len, const char *fmt, ...)
{
	va_list ap;

	if (*len + 1 >= size)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(buf + *len, size - *len, fmt, ap);

	va_end(ap);
	if (n > 0)
		*len += (size_t)n < size - *len ? (size_t)n : size - *len - 1;
}

static int print_fields(struct perf *p, const struct perf_fmt *fmt,
			const struct rec_sample *s, char *buf, size_t size)
{
	struct perf_tep *t = p->tep;
	size_t len = 0;

	t->field = mem_grow(t->field, &t->cap_field, fmt->n, sizeof(*t->field));
	if (perf_fields(&p->src, s, t->field, NULL))
		return -1;
	for (size_t i = 0; i < fmt->n; i++) {
		const struct field *f = &t->field[i];

		if (!f->present || !strncmp(fmt->def[i].name, "common_", 7))
			continue;
		append(buf, size, &len, "%s%s=", len ? " " : "",
		       fmt->def[i].name);
		if (f->text)
			append(buf, size, &len, "%s", f->text);
		else if (!f->blob && fmt->def[i].is_signed)
			append(buf, size, &len, "%" PRId64, f->num);
		else if (!f->blob)
			append(buf, size, &len, "%" PRIu64, (uint64_t)f->num);
		for (uint32_t j = 0; f->blob && j < f->len; j++)
			append(buf, size, &len, "%02x",
			       ((const unsigned char *)f->blob)[j]);
	}
	return 0;
}

int perf_print(struct source *src, const struct rec_sample *s, char *buf,
	       size_t size)
{
	struct perf *p = perf_of(src);
	const struct perf_fmt *fmt = perf_fmt_of(p, s->event);

	if (!size)
		return -1;
	buf[0] = 0;
	if (!fmt || !s->raw || s->raw_len > INT_MAX / 2)
		return -1;
	struct perf_tep *t = tep_of(p);

	/* the library finds the event by the entry's own type number */
	if (s->raw_len >= 8 && by_library(t, fmt, (size_t)(fmt - p->fmt)))
		return print_library(t, s, buf, size);
	return print_fields(p, fmt, s, buf, size);
}

void perf_print_release(struct perf *p)
{
	struct perf_tep *t = p->tep;

	if (!t)
		return;
	tep_free(t->tep);
	free(t->use);
	free(t->copy);
	free(t->field);
	free(t);
	p->tep = NULL;
}
