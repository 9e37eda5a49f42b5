/* perf_trace.c - tracepoints: their formats, and the fields of their payload.
 *
 * The field lines of a format are read here, because
 * offsets and sizes come from the file and every access must be checked. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf.h"
#include "stitch/err.h"

#define TYPE_TRACEPOINT 2
#define FORMAT_MAX ((uint64_t)1 << 20)
#define FIELDS_MAX 512
#define MAGIC "\x17\x08\x44tracing"

bool perf_number_behind(const char *s, const char *end, const char *key,
			uint32_t *out)
{
	const char *at = memmem(s, (size_t)(end - s), key, strlen(key));
	uint64_t v = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (at >= end || !isdigit((unsigned char)*at))
		return false;
	for (; at < end && isdigit((unsigned char)*at); at++) {
		v = v * 10 + (uint64_t)(*at - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

static bool has_word(const char *s, const char *end, const char *word)
{
	return memmem(s, (size_t)(end - s), word, strlen(word)) != NULL;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "char comm[16]", "__data_loc char[] name", "const char * path": the name is
 * the last word that is not inside brackets. */
static const char *field_name(const char *s, const char *end, size_t *len)
{
	const char *e = end;

	if (e > s && e[-1] == ']') {
		while (e > s && *e != '[')
			e--;
	}
	while (e > s && !word_char(e[-1]))
		e--;
	const char *b = e;

	while (b > s && word_char(b[-1]))
		b--;
	*len = (size_t)(e - b);
	return b;
}

static enum fmt_kind kind_of(const char *decl, const char *end, uint32_t size)
{
	bool text = has_word(decl, end, "char") &&
		    !has_word(decl, end, "unsigned char");

	if (has_word(decl, end, "__data_loc") ||
	    has_word(decl, end, "__rel_loc"))
		return text ? FMT_DYN_TEXT : FMT_DYN_BLOB;
	if (has_word(decl, end, "["))
		return text ? FMT_TEXT : FMT_BLOB;
	if (size == 1 || size == 2 || size == 4 || size == 8)
		return FMT_NUM;
	return FMT_BLOB;
}

/* "[6]" behind the name and the size of all give that of one. Dynamic arrays
 * say the type of their items only: bytes, as far as we are concerned. */
static uint32_t elem_size(const char *s, const char *end, uint32_t size)
{
	uint32_t n;

	return perf_number_behind(s, end, "[", &n) && n && size % n == 0
		       ? size / n
		       : 1;
}

/* Of the common fields only the thread id says something of its own. */
static bool is_wanted(const char *name, size_t len)
{
	return len && (len < 7 || memcmp(name, "common_", 7) ||
		       (len == 10 && !memcmp(name, "common_pid", 10)));
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;" */
static void field_line(struct perf *p, struct perf_fmt *fmt, const char *s,
		       const char *end)
{
	struct fmt_field f = { 0 };
	uint32_t is_signed = 0;
	const char *semi = memchr(s, ';', (size_t)(end - s));
	size_t len;

	if (!semi || fmt->n >= FIELDS_MAX ||
	    !perf_number_behind(semi, end, "offset:", &f.off) ||
	    !perf_number_behind(semi, end, "size:", &f.size))
		return;
	perf_number_behind(semi, end, "signed:", &is_signed);
	const char *name = field_name(s, semi, &len);

	f.elem = elem_size(name + len, semi, f.size);
	if (!is_wanted(name, len))
		return;
	f.kind = kind_of(s, semi, f.size);
	f.is_signed = is_signed != 0;
	f.relative = has_word(s, semi, "__rel_loc");
	fmt->field =
		mem_grow(fmt->field, &fmt->cap_field, fmt->n + 1, sizeof(f));
	fmt->def = mem_grow(fmt->def, &fmt->cap_def, fmt->n + 1,
			    sizeof(*fmt->def));
	char *copy = mem_dup(name, len);

	fmt->field[fmt->n] = f;
	fmt->def[fmt->n++] = (struct field_def){
		.name = arena_strdup(&p->arena, copy),
		.is_text = f.kind == FMT_TEXT || f.kind == FMT_DYN_TEXT,
		.is_blob = f.kind == FMT_BLOB || f.kind == FMT_DYN_BLOB,
		.is_signed = f.is_signed,
	};
	free(copy);
}

/* A copy of what stands behind key on its line; NULL: not there. */
static const char *line_behind(struct perf *p, const char *s, const char *end,
			       const char *key)
{
	const char *at = memmem(s, (size_t)(end - s), key, strlen(key));

	if (!at)
		return NULL;
	at += strlen(key);
	const char *nl = memchr(at, '\n', (size_t)(end - at));
	char *copy = mem_dup(at, (size_t)((nl ? nl : end) - at));
	const char *kept = arena_strdup(&p->arena, copy);

	free(copy);
	return kept;
}

static bool is_recorded(const struct perf *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_attr; i++)
		if (p->attr[i].type == TYPE_TRACEPOINT &&
		    p->attr[i].config == id)
			return true;
	return false;
}

static uint16_t field_index(const struct perf_fmt *fmt, const char *name)
{
	for (size_t i = 0; i < fmt->n; i++)
		if (!strcmp(fmt->def[i].name, name) &&
		    fmt->field[i].kind == FMT_NUM)
			return (uint16_t)(i + 1);
	return 0;
}

/* Is it an event of the scheduler? The kernel calls threads pids here. */
static void find_sched(struct perf_fmt *fmt)
{
	struct fmt_sched s = { 0 };

	if (!fmt->name || strcmp(fmt->system, "sched") != 0)
		return;
	if (!strcmp(fmt->name, "sched_switch")) {
		s.tid = field_index(fmt, "prev_pid");
		s.next = field_index(fmt, "next_pid");
		s.state = field_index(fmt, "prev_state");
		s.kind = s.next && s.state ? SCHED_SWITCH : SCHED_NONE;
	} else if (!strcmp(fmt->name, "sched_wakeup") ||
		   !strcmp(fmt->name, "sched_wakeup_new")) {
		s.tid = field_index(fmt, "pid");
		s.success = field_index(fmt, "success");
		s.kind = fmt->name[12] ? SCHED_NEW : SCHED_WAKEUP;
	}
	if (s.tid)
		fmt->sched = s;
}

void perf_format_add(struct perf *p, const char *system, const struct bytes *b)
{
	const char *s = (const char *)b->pos;
	const char *end = (const char *)b->end;
	struct perf_fmt fmt = { 0 };
	uint32_t id;

	if (!perf_number_behind(s, end, "ID: ", &id) || !is_recorded(p, id))
		return;
	for (size_t i = 0; i < p->n_fmt; i++)
		if (p->fmt[i].id == id)
			return;
	fmt.id = id;
	fmt.system = arena_strdup(&p->arena, system);
	fmt.name = line_behind(p, s, end, "name: ");
	fmt.len = (size_t)(end - s);
	char *text = mem_dup(s, fmt.len);

	fmt.text = arena_strdup(&p->arena, text);
	free(text);
	for (const char *at = s; at < end;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		if (stop - at > 7 && !memcmp(at, "\tfield:", 7))
			field_line(p, &fmt, at + 7, stop);
		at = stop + 1;
	}
	find_sched(&fmt);
	p->fmt = mem_grow(p->fmt, &p->cap_fmt, p->n_fmt + 1, sizeof(*p->fmt));
	p->fmt[p->n_fmt++] = fmt;
}

/* name, 0, u64 length, as many bytes. */
static int skip_named(struct bytes *b, struct err *err)
{
	const char *name;
	uint64_t n;

	return bytes_str(b, &name, err) || bytes_u64(b, &n, err) ||
			       bytes_skip(b, n, err)
		       ? -1
		       : 0;
}

static int take_format(struct perf *p, const char *system, struct bytes *b,
		       struct err *err)
{
	struct bytes text;
	uint64_t n;

	if (bytes_u64(b, &n, err) || bytes_take(b, n, &text, err))
		return -1;
	if (system && n <= FORMAT_MAX)
		perf_format_add(p, system, &text);
	return 0;
}

static int take_system(struct perf *p, struct bytes *b, struct err *err)
{
	const char *system;
	uint32_t n;

	if (bytes_str(b, &system, err) || bytes_u32(b, &n, err))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (take_format(p, system, b, err))
			return -1;
	return 0;
}

static int take_all(struct perf *p, struct bytes *b, struct err *err)
{
	const char *version;
	uint8_t big, long_size;
	uint32_t page, n;

	if (bytes_left(b) < 10 || memcmp(b->pos, MAGIC, 10))
		return err_at(err, b->path, bytes_off(b),
			      "no tracing data here, needs its magic");
	if (bytes_skip(b, 10, err) || bytes_str(b, &version, err) ||
	    bytes_u8(b, &big, err) || bytes_u8(b, &long_size, err))
		return -1;
	p->data_big = big != 0;
	p->long32 = long_size == 4;
	b->swap = (p->swap == p->src.info.big_endian) == (big != 0);
	if (bytes_u32(b, &page, err) || skip_named(b, err) ||
	    skip_named(b, err) || bytes_u32(b, &n, err))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (take_format(p, NULL, b, err))
			return -1;
	if (bytes_u32(b, &n, err))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (take_system(p, b, err))
			return -1;
	return 0; /* kallsyms, printk formats, names follow: not needed */
}

void perf_tracing_data(struct perf *p, struct bytes *b)
{
	struct bytes at = *b;
	struct err e;

	if (take_all(p, &at, &e))
		perf_damage(p, "tracing data", bytes_off(&at), bytes_left(&at),
			    &e);
}

void perf_trace_events(struct perf *p)
{
	char name[256];

	for (size_t i = 0; i < p->n_attr; i++) {
		struct perf_attr *a = &p->attr[i];
		struct event_def *ev = &p->event[i];

		if (a->type != TYPE_TRACEPOINT || a->fmt)
			continue;
		for (size_t j = 0; j < p->n_fmt && !a->fmt; j++)
			if (p->fmt[j].id == a->config)
				a->fmt = (uint32_t)j + 1;
		if (!a->fmt)
			continue;
		const struct perf_fmt *fmt = &p->fmt[a->fmt - 1];

		a->sched = fmt->sched.kind != SCHED_NONE;
		ev->sched = fmt->sched.kind;
		ev->format = fmt->text;
		ev->fields = fmt->def;
		ev->n_fields = (uint32_t)fmt->n;
		if (fmt->name && !strncmp(ev->name, "tracepoint:", 11)) {
			snprintf(name, sizeof(name), "%s:%s", fmt->system,
				 fmt->name);
			perf_event_name(p, (uint32_t)i, name);
		}
	}
}

const struct perf_fmt *perf_fmt_of(const struct perf *p, uint32_t event)
{
	if (event >= p->n_attr || !p->attr[event].fmt)
		return NULL;
	return &p->fmt[p->attr[event].fmt - 1];
}

static int take_number(struct bytes b, const struct fmt_field *f, int64_t *out)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (f->size) {
	case 1:
		if (bytes_u8(&b, &u8, NULL))
			return -1;
		*out = f->is_signed ? (int8_t)u8 : (int64_t)u8;
		return 0;
	case 2:
		if (bytes_u16(&b, &u16, NULL))
			return -1;
		*out = f->is_signed ? (int16_t)u16 : (int64_t)u16;
		return 0;
	case 4:
		if (bytes_u32(&b, &u32, NULL))
			return -1;
		*out = f->is_signed ? (int32_t)u32 : (int64_t)u32;
		return 0;
	default:
		if (bytes_u64(&b, &u64, NULL))
			return -1;
		*out = (int64_t)u64;
		return 0;
	}
}

/* A number inside the payload; false: there is no such field or byte. */
static bool number(const struct perf_fmt *fmt, const struct bytes *raw,
		   uint16_t at, int64_t *out)
{
	struct bytes b = *raw;
	struct bytes data;

	if (!at)
		return false;
	const struct fmt_field *f = &fmt->field[at - 1];

	return !bytes_skip(&b, f->off, NULL) &&
	       !bytes_take(&b, f->size, &data, NULL) &&
	       !take_number(data, f, out);
}

/* The low byte of the state is the same in all kernels: 0 is runnable. The
 * bit for a task that was preempted, whatever it was about to do, is above
 * it. Kernels before 4.3 also tell of wakeups that did nothing. */
void perf_sched(const struct perf *p, struct rec_sample *s)
{
	const struct perf_fmt *fmt = perf_fmt_of(p, s->event);
	int64_t tid, next = -1, state = 0, success;
	struct bytes raw;

	if (!fmt || !s->raw)
		return;
	const struct fmt_sched *fs = &fmt->sched;

	bytes_init(&raw, s->raw, s->raw_len, p->src.path, 0, p->swap);
	if (!number(fmt, &raw, fs->tid, &tid) ||
	    (fs->next && !number(fmt, &raw, fs->next, &next)) ||
	    (fs->state && !number(fmt, &raw, fs->state, &state)) ||
	    (number(fmt, &raw, fs->success, &success) && !success))
		return;
	s->sched = (struct sched){
		.kind = fs->kind,
		.tid = (int32_t)tid,
		.next_tid = (int32_t)next,
		.sleeps = (state & 0xff) != 0,
	};
}

/* Text ends at its 0; one without is copied to have one. */
static void give_text(struct perf *p, const struct bytes *b, struct field *out)
{
	const void *nul = memchr(b->pos, 0, bytes_left(b));
	size_t n = bytes_left(b);

	out->present = true;
	if (nul) {
		out->text = (const char *)b->pos;
		out->len = (uint32_t)((const unsigned char *)nul - b->pos);
		return;
	}
	char *copy = arena_take(&p->scratch, n + 1);

	memcpy(copy, b->pos, n);
	copy[n] = 0;
	out->text = copy;
	out->len = (uint32_t)n;
}

/* Where a dynamic field's bytes are: false when not inside the entry. */
static bool find_dynamic(const struct bytes *raw, const struct fmt_field *f,
			 struct bytes *out)
{
	struct bytes b = *raw;
	uint32_t loc;
	uint64_t at;

	if (bytes_peek_u32(raw, f->off, &loc))
		return false;
	at = loc & 0xffff;
	if (f->relative)
		at += (uint64_t)f->off + 4;
	return !bytes_skip(&b, at, NULL) &&
	       !bytes_take(&b, loc >> 16, out, NULL);
}

static void take_field(struct perf *p, const struct bytes *raw,
		       const struct fmt_field *f, struct field *out)
{
	struct bytes b = *raw;
	struct bytes data;
	bool dynamic = f->kind == FMT_DYN_TEXT || f->kind == FMT_DYN_BLOB;

	*out = (struct field){ 0 };
	if (dynamic ? !find_dynamic(raw, f, &data)
		    : bytes_skip(&b, f->off, NULL) ||
			      bytes_take(&b, f->size, &data, NULL))
		return;
	if (f->kind == FMT_NUM) {
		out->present = !take_number(data, f, &out->num);
	} else if (f->kind == FMT_TEXT || f->kind == FMT_DYN_TEXT) {
		give_text(p, &data, out);
	} else {
		out->present = true;
		out->blob = data.pos;
		out->len = (uint32_t)bytes_left(&data);
	}
}

int perf_fields(struct source *src, const struct rec_sample *s,
		struct field *out, struct err *err)
{
	struct perf *p = perf_of(src);
	const struct perf_fmt *fmt = perf_fmt_of(p, s->event);
	struct bytes raw;

	if (!fmt)
		return err_set(err, ERR_FORMAT, "%s: event has no field format",
			       src->path);
	if (p->scratch.used)
		arena_release(&p->scratch);
	bytes_init(&raw, s->raw ? s->raw : "", s->raw ? s->raw_len : 0,
		   src->path, 0, p->swap);
	for (size_t i = 0; i < fmt->n; i++)
		take_field(p, &raw, &fmt->field[i], &out[i]);
	return 0;
}

void perf_trace_release(struct perf *p)
{
	for (size_t i = 0; i < p->n_fmt; i++) {
		free(p->fmt[i].field);
		free(p->fmt[i].def);
	}
	free(p->fmt);
}
