/* call.c - parses the lines of system calls that change mappings, or files that
 * are mapped.
 *
 * The kernel prints "sys_munmap(addr: 7f0000, len: 1000)" and "sys_munmap ->
 * 0x0"; trace-cmd prints the same after the event's name and without the
 * call's; raw_syscalls print "NR 11 (7f0000, 1000, ...)" and "NR 11 = 0".
 * Numbers are hexadecimal, with or without 0x, except the number after NR and
 * the result after it. */
#include <string.h>

#include "formats/ftext/ftext.h"
#include "formats/tracepoint/tracepoint.h"

void ftext_call_find(const char *key, struct ftext_event *e)
{
	static const char enter[] = "sys_enter";
	static const char leave[] = "sys_exit";
	const char *rest = key;

	if (!strncmp(key, enter, sizeof(enter) - 1))
		rest += sizeof(enter) - 1;
	else if (!strncmp(key, leave, sizeof(leave) - 1))
		rest += sizeof(leave) - 1;
	else
		return;
	e->call = *rest == '_' ? tp_call_what(rest + 1)
		  : *rest      ? CALL_NONE
			       : CALL_RAW;
	e->leaves = rest == key + sizeof(leave) - 1;
}

/* Takes a path in quotes after a number. The path may contain quotes. */
static struct scan ftext_call_take_path(struct scan *s)
{
	size_t n = 0;

	if (!scan_take(s, " \""))
		return scan_of("", 0);
	while (n < s->n &&
	       (s->p[n] != '"' ||
		!(n + 1 == s->n || s->p[n + 1] == ',' || s->p[n + 1] == ')')))
		n++;
	struct scan path = scan_head(*s, n);
	scan_skip(s, n + 1);
	return path;
}

/* Returns false if an argument is words instead of a number: openat() has words
 * for its flags, which are not needed. */
static bool ftext_call_take_args(struct scan s, bool named, struct call *out,
				 struct scan *path)
{
	bool ok = true;

	for (size_t i = 0; i < CALL_ARGS && s.n; i++) {
		if (named)
			scan_skip(&s, scan_find(s, ": ") + 2);
		ok &= scan_hex(&s, &out->arg[i]);
		struct scan quoted = ftext_call_take_path(&s);

		if (quoted.n)
			*path = quoted;
		scan_skip(&s, scan_find(s, ", ") + 2);
	}
	return ok || out->what == CALL_OPENAT;
}

bool ftext_call_parse(struct ftext *ft, const struct ftext_event *e,
		      struct scan text, struct call *out)
{
	struct scan path = { NULL, 0 };
	struct scan s = text;
	bool raw = e->call == CALL_RAW;

	*out = (struct call){ .what = e->call, .exit = e->leaves, .nr = -1 };
	if (scan_starts(text, "__syscall_nr=")) /* trace-cmd report -R */
		return false;
	if (raw && (!scan_take(&s, "NR ") || !scan_i32(&s, &out->nr)))
		return false;
	if (e->leaves) {
		if (raw)
			scan_take(&s, " = ");
		else if (scan_starts(s, "sys_"))
			scan_skip(&s, scan_find(s, " -> ") + 4);
		const bool minus = scan_take(&s, "-");
		uint64_t v = 0;

		if (raw ? !scan_u64(&s, &v) : !scan_hex(&s, &v))
			return false;
		out->ret = (int64_t)(minus ? 0 - v : v);
		return true;
	}
	if (raw || scan_starts(s, "sys_"))
		scan_skip(&s, scan_find_char(s, '(') + 1);
	if (!ftext_call_take_args(s, !raw, out, &path))
		return false;
	if (path.n) {
		mem_grow(ft->path, ft->cap_path, path.n + 1);
		memcpy(ft->path, path.p, path.n);
		ft->path[path.n] = '\0';
		out->path = ft->path;
	}
	return true;
}
