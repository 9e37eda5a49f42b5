/* format.c - parses the formats of tracepoints, and finds those of system
 * calls. */
#include "formats/tracepoint/tracepoint.h"

#include <ctype.h>

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/words.h"
#include "stitch/source.h"

/* ---- reads events of system calls that change mappings or open files that are
 * mapped, of any capture format */

static const struct {
	const char *name; /* the event's name after sys_enter_ or sys_exit_ */
	enum call_what what;
} calls[] = {
	{ "mmap", CALL_MMAP },	   { "munmap", CALL_MUNMAP },
	{ "mremap", CALL_MREMAP }, { "openat", CALL_OPENAT },
	{ "close", CALL_CLOSE },   { "dup", CALL_DUP },
	{ "dup2", CALL_DUP },	   { "dup3", CALL_DUP },
	{ "execve", CALL_EXECVE }, { "execveat", CALL_EXECVE },
};

static uint16_t tp_call_field(const struct tp_format *fmt, const char *name)
{
	return (uint16_t)(tp_field_index(fmt, name) + 1);
}

static bool tp_call_skip(const char *s, const char *start, const char **rest)
{
	size_t n = strlen(start);

	*rest = s + n;
	return !strncmp(s, start, n);
}

enum call_what tp_call_what(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].what;
	return CALL_NONE;
}

/* LTTng's events have no number of the call, and have the arguments by name
 * among other fields; mmap's flags may be a structure. */
static const struct {
	const char *name;
	enum call_what what;
	const char *path;
	const char *arg[CALL_ARGS];
} lttng[] = {
	{ "mmap",
	  CALL_MMAP,
	  NULL,
	  { "addr", "len", "prot", "flags", "fd", "offset" } },
	{ "munmap", CALL_MUNMAP, NULL, { "addr", "len" } },
	{ "mremap",
	  CALL_MREMAP,
	  NULL,
	  { "addr", "old_len", "new_len", "flags", "new_addr" } },
	{ "open", CALL_OPENAT, "filename", { NULL } },
	{ "openat", CALL_OPENAT, "filename", { "dfd" } },
	{ "close", CALL_CLOSE, NULL, { "fd" } },
	{ "dup", CALL_DUP, NULL, { "fildes" } },
	{ "dup2", CALL_DUP, NULL, { "oldfd" } },
	{ "dup3", CALL_DUP, NULL, { "oldfd" } },
};

static void tp_call_find_lttng(struct tp_format *fmt, const char *name,
			       bool end)
{
	struct tp_call c = { .exit = end };
	size_t k = 0;

	while (k < ARRAY_SIZE(lttng) && strcmp(lttng[k].name, name) != 0)
		k++;
	if (k == ARRAY_SIZE(lttng))
		return;
	c.what = lttng[k].what;
	if (end)
		c.ret = tp_call_field(fmt, "ret");
	for (size_t i = 0; !end && i < CALL_ARGS && lttng[k].arg[i]; i++)
		c.arg[i] = tp_call_field(fmt, lttng[k].arg[i]);
	if (!end && lttng[k].path)
		c.path = tp_call_field(fmt, lttng[k].path);
	if (c.ret || c.arg[0] || c.path)
		fmt->call = c;
}

/* Sets fmt->call by the system and name of the event. */
static void tp_call_find(struct tp_format *fmt)
{
	const char *rest;

	if (!fmt->name)
		return;
	if (!strcmp(fmt->system, "syscalls")) {
		/* "__syscall_nr" was "nr" before Linux 4.6 (commit
		 * 026842d148b9); the arguments follow it. Newer kernels (7.2)
		 * add copies of strings after those. */
		struct tp_call c = { 0 };

		c.nr = tp_call_field(fmt, "__syscall_nr");
		c.nr = c.nr ? c.nr : tp_call_field(fmt, "nr");
		if (tp_call_skip(fmt->name, "sys_exit_", &rest)) {
			c.exit = true;
			c.ret = tp_call_field(fmt, "ret");
		} else if (tp_call_skip(fmt->name, "sys_enter_", &rest)) {
			for (uint16_t i = 0; c.nr && i < CALL_ARGS; i++)
				c.arg[i] = (uint16_t)(c.nr + 1 + i);
			c.path = tp_call_field(fmt, "__filename_val");
		}
		c.what = tp_call_what(rest);
		if (c.what != CALL_NONE && (c.ret || c.arg[0]))
			fmt->call = c;
	} else if (!strcmp(fmt->system, "raw_syscalls")) {
		const char *name = fmt->name;
		struct tp_call c = { .what = CALL_RAW,
				     .nr = tp_call_field(fmt, "id") };

		if (!strcmp(name, "sys_exit")) {
			c.exit = true;
			c.ret = tp_call_field(fmt, "ret");
		} else if (!strcmp(name, "sys_enter")) {
			c.arg[0] = tp_call_field(fmt, "args");
		}
		if (c.nr && (c.ret || c.arg[0]))
			fmt->call = c;
	} else if (tp_call_skip(fmt->name, "syscall_entry_", &rest))
		tp_call_find_lttng(fmt, rest, false);
	else if (tp_call_skip(fmt->name, "syscall_exit_", &rest))
		tp_call_find_lttng(fmt, rest, true);
}

static inline int64_t tp_call_number(const struct tp_format *fmt,
				     const struct bytes *raw, uint16_t at,
				     bool *ok)
{
	int64_t v = 0;

	*ok &= at && at <= fmt->n && fmt->field[at - 1].kind == FMT_NUM &&
	       tp_field_number(raw, &fmt->field[at - 1], &v);
	return v;
}

/* Copies the arguments. The field is unsigned long args[6], of 8 bytes each on
 * the machines that are supported. */
static bool tp_call_raw_args(const struct tp_format *fmt,
			     const struct bytes *raw, uint64_t arg[CALL_ARGS])
{
	const struct tp_field *f = &fmt->field[fmt->call.arg[0] - 1];

	if (bytes_peek(raw, f->off, arg, CALL_ARGS * sizeof(*arg)))
		return false;
	for (size_t i = 0; raw->swap && i < CALL_ARGS; i++)
		arg[i] = __builtin_bswap64(arg[i]);
	return true;
}

void tp_call_take(struct tp *tp, const struct tp_format *fmt,
		  const struct bytes *raw, struct call *out)
{
	const struct tp_call *c = &fmt->call;
	struct field f;
	bool ok = true;

	*out = (struct call){ .what = c->what, .exit = c->exit, .nr = -1 };
	if (c->what == CALL_NONE)
		return;
	if (c->nr)
		out->nr = (int32_t)tp_call_number(fmt, raw, c->nr, &ok);
	if (c->exit) {
		out->ret = tp_call_number(fmt, raw, c->ret, &ok);
	} else if (c->what == CALL_RAW) {
		ok &= tp_call_raw_args(fmt, raw, out->arg);
	} else {
		for (size_t i = 0; i < CALL_ARGS; i++) {
			bool any = true; /* a field that is not a number is 0 */

			out->arg[i] = (uint64_t)tp_call_number(fmt, raw,
							       c->arg[i], &any);
		}
	}
	if (!ok)
		out->what = CALL_NONE;
	if (!c->path)
		return;
	tp_field_take_alone(tp, fmt, c->path - 1, raw, &f);
	out->path = f.text;
}

#define FIELDS_MAX 512

bool tp_number_after(const char *s, const char *end, const char *key,
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

static bool tp_format_has_word(const char *s, const char *end, const char *word)
{
	return memmem(s, (size_t)(end - s), word, strlen(word)) != NULL;
}

static bool tp_format_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the name in a declaration, and its length: the last word outside of
 * brackets, as in "char comm[16]", "__data_loc char[] name" and "const char *
 * path". */
static const char *tp_format_field_name(const char *s, const char *end,
					size_t *len)
{
	const char *e = end;

	if (e > s && e[-1] == ']') {
		while (e > s && *e != '[')
			e--;
	}
	while (e > s && !tp_format_is_word(e[-1]))
		e--;
	const char *b = e;

	while (b > s && tp_format_is_word(b[-1]))
		b--;
	*len = (size_t)(e - b);
	return b;
}

static enum fmt_kind tp_format_kind(const char *decl, const char *end,
				    uint32_t size)
{
	bool text = tp_format_has_word(decl, end, "char") &&
		    !tp_format_has_word(decl, end, "unsigned char");

	if (tp_format_has_word(decl, end, "__data_loc") ||
	    tp_format_has_word(decl, end, "__rel_loc"))
		return text ? FMT_DYN_TEXT : FMT_DYN_BLOB;
	/* Linux before 5.9 declares the array at the end of an entry as
	 * "char buf", with size 0. */
	if (!size || tp_format_has_word(decl, end, "["))
		return text ? FMT_TEXT : FMT_BLOB;
	if (size == 1 || size == 2 || size == 4 || size == 8)
		return FMT_NUM;
	return FMT_BLOB;
}

static bool tp_format_is_name(const char *name, size_t len, const char *is)
{
	return len == strlen(is) && !memcmp(name, is, len);
}

/* Adds the field of "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;" to
 * fmt. */
static void tp_format_take_field(struct arena *arena, struct tp_format *fmt,
				 const char *s, const char *end)
{
	struct tp_field f = { 0 };
	uint32_t is_signed = 0;
	const char *semi = memchr(s, ';', (size_t)(end - s));
	size_t len;

	if (!semi || fmt->n >= FIELDS_MAX ||
	    !tp_number_after(semi, end, "offset:", &f.off) ||
	    !tp_number_after(semi, end, "size:", &f.size))
		return;
	tp_number_after(semi, end, "signed:", &is_signed);
	const char *name = tp_format_field_name(s, semi, &len);

	uint32_t n;

	/* "[6]" after the name divides the size. For dynamic arrays and those
	 * of probes ("s32 arr[]; size:8") only the type determines it. */
	f.elem = tp_number_after(name + len, semi, "[", &n) && n &&
				 f.size % n == 0
			 ? f.size / n
			 : expr_types_element(s, semi);
	/* Of the common fields, only those for the thread and for the context
	 * on its CPU are kept. */
	if (!len || (len >= 7 && !memcmp(name, "common_", 7) &&
		     !tp_format_is_name(name, len, "common_pid") &&
		     !tp_format_is_name(name, len, "common_flags")))
		return;
	f.kind = tp_format_kind(s, semi, f.size);
	f.is_signed = is_signed != 0;
	f.relative = tp_format_has_word(s, semi, "__rel_loc");
	mem_grow(fmt->field, fmt->cap_field, fmt->n + 1);
	mem_grow(fmt->def, fmt->cap_def, fmt->n + 1);
	fmt->field[fmt->n] = f;
	fmt->def[fmt->n++] = (struct field_def){
		.name = arena_strndup(arena, name, len),
		.is_text = f.kind == FMT_TEXT || f.kind == FMT_DYN_TEXT,
		.is_blob = f.kind == FMT_BLOB || f.kind == FMT_DYN_BLOB,
		.is_signed = f.is_signed,
	};
}

int tp_format_check(const char *system, const struct bytes *text,
		    struct err *err)
{
	size_t n = bytes_left(text);
	char first[6];
	char last = 0;

	for (const char *s = system; *s; s++)
		if (*s <= ' ' || *s > '~')
			return err_at(err, text->path, bytes_off(text),
				      "the system in front of this format has "
				      "a name with byte %u",
				      (unsigned char)*s);
	if (bytes_peek(text, 0, first, sizeof(first)) ||
	    memcmp(first, "name: ", sizeof(first)) ||
	    bytes_peek(text, n - 1, &last, 1) || last != '\n')
		return err_at(err, text->path, bytes_off(text),
			      "a format of %zu bytes, needs 'name: ' at its "
			      "start and a line feed at its end",
			      n);
	return 0;
}

bool tp_format_is_probe(const struct tp_format *fmt)
{
	return words_find("kprobes uprobes eprobes fprobes", fmt->system,
			  strlen(fmt->system)) >= 0 ||
	       any_where(fmt->n, i, !strncmp(fmt->def[i].name, "__probe", 7));
}

bool tp_format_parse(struct arena *arena, const char *system,
		     const struct bytes *b, struct tp_format *out)
{
	const char *s = (const char *)b->pos;
	const char *end = (const char *)b->end;
	uint32_t id;

	if (!tp_number_after(s, end, TP_ID, &id))
		return false;
	*out = (struct tp_format){ .id = id, .len = (size_t)(end - s) };
	out->system = arena_strdup(arena, system);
	const char *name = memmem(s, out->len, "name: ", 6);

	if (name) {
		name += 6;
		const char *nl = memchr(name, '\n', (size_t)(end - name));

		out->name = arena_strndup(arena, name,
					  (size_t)((nl ? nl : end) - name));
	}
	out->text = arena_strndup(arena, s, out->len);
	for (const char *at = s; at < end;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		if (stop - at > 7 && !memcmp(at, "\tfield:", 7))
			tp_format_take_field(arena, out, at + 7, stop);
		at = stop + 1;
	}
	const bool probe = tp_format_is_probe(out);

	for (size_t i = 0; i < out->n; i++)
		out->field[i].of_probe =
			probe && out->field[i].kind == FMT_DYN_TEXT;
	tp_sched_find(out);
	tp_call_find(out);
	tp_stack_find(out);
	return true;
}

void tp_format_release(struct tp_format *fmt)
{
	free_all(fmt->field, fmt->def);
}

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
