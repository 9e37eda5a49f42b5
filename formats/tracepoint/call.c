/* call.c - reads events of system calls that change mappings, or files that are
 * mapped, of any capture. */

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

static const struct {
	const char *name; /* after sys_enter_ or sys_exit_ */
	enum call_what what;
} calls[] = {
	{ "mmap", CALL_MMAP },	     { "munmap", CALL_MUNMAP },
	{ "mremap", CALL_MREMAP },   { "openat", CALL_OPENAT },
	{ "close", CALL_CLOSE },     { "execve", CALL_EXECVE },
	{ "execveat", CALL_EXECVE },
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

/* "__syscall_nr" was "nr" before Linux 4.6 (commit 026842d148b9); the arguments
 * follow it. Newer kernels (7.2) add copies of strings after those. */
static void tp_call_find_named(struct tp_format *fmt, const char *name)
{
	struct tp_call c = { 0 };
	const char *rest;

	c.nr = tp_call_field(fmt, "__syscall_nr");
	c.nr = c.nr ? c.nr : tp_call_field(fmt, "nr");
	if (tp_call_skip(name, "sys_exit_", &rest)) {
		c.exit = true;
		c.ret = tp_call_field(fmt, "ret");
	} else if (tp_call_skip(name, "sys_enter_", &rest)) {
		for (uint16_t i = 0; c.nr && i < CALL_ARGS; i++)
			c.arg[i] = (uint16_t)(c.nr + 1 + i);
		c.path = tp_call_field(fmt, "__filename_val");
	}
	c.what = tp_call_what(rest);
	if (c.what != CALL_NONE && (c.ret || c.arg[0]))
		fmt->call = c;
}

/* LTTng's events have no number, and have the arguments by name among other
 * fields; mmap's flags may be a structure. */
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

void tp_call_find(struct tp_format *fmt)
{
	const char *rest;

	if (!fmt->name)
		return;
	if (!strcmp(fmt->system, "syscalls"))
		tp_call_find_named(fmt, fmt->name);
	else if (!strcmp(fmt->system, "raw_syscalls")) {
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

/* The field is unsigned long args[6], with 8 bytes each on the machines of
 * interest. */
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
			bool any = true; /* what is no number is 0 */

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
