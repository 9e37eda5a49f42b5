/* frame.c - parses the lines of stacks in texts of ftrace. */
#include "formats/ftext/line.h"

#include "stitch/record.h"

static const char trampoline[] = FTRACE_TRAMPOLINE;

static bool line_take_arrow(struct scan *s)
{
	return scan_take(s, " => ") || scan_take(s, "=> ") ||
	       scan_take(s, "\t=> ");
}

bool line_is_frame(struct scan s)
{
	return line_take_arrow(&s);
}

/* Removes " <addr>" or " (addr)" from the end of s, if it is there, and sets
 * *addr. */
static void line_take_addr(struct scan *s, char open, char close,
			   uint64_t *addr)
{
	size_t at = s->n;

	if (!s->n || s->p[s->n - 1] != close)
		return;
	while (at && s->p[at - 1] != open)
		at--;
	struct scan in = scan_tail(*s, at);

	if (!at || !scan_hex(&in, addr) || in.n != 1)
		return;
	s->n = at - 1;
	scan_trim(s);
}

/* Parses a kernel frame. Returns false if it has no known form. */
static bool line_kernel_frame(struct scan s, struct line_frame *out)
{
	struct scan t = s;

	if (scan_is(s, trampoline)) {
		out->addr = FTRACE_TRAMPOLINE_ADDR;
		out->symbol = out->key = s;
		return true;
	}
	/* An address without a name; a short one could be a name. */
	if ((s.n >= 8 || scan_is(s, "0") || scan_starts(s, "0x")) &&
	    scan_hex(&t, &out->addr) && !t.n) {
		if (out->addr == FTRACE_TRAMPOLINE_ADDR)
			out->symbol = out->key =
				scan_of(trampoline, sizeof(trampoline) - 1);
		return true;
	}
	out->addr = 0;
	line_take_addr(&s, '<', '>', &out->addr);
	if (!out->addr)
		line_take_addr(&s, '(', ')', &out->addr);
	out->key = s;
	/* a module: "[module]" at the end */
	const size_t module = scan_find(s, " [");

	if (module < s.n && s.p[s.n - 1] == ']') {
		out->path = scan_tail(s, module + 1);
		s.n = module;
	}
	/* Parse "name+0xoff/0xsize", or parts of it. */
	size_t plus = scan_find(s, "+0x");
	struct scan rest = scan_tail(s, plus + 1);

	if (scan_token(s).n != s.n)
		return false;
	out->symbol = scan_head(s, plus);
	if (plus == s.n)
		return s.n > 0;
	if (!plus || !scan_hex(&rest, &out->off))
		return false;
	return !rest.n || (scan_take(&rest, "/") &&
			   scan_hex(&rest, &out->size) && !rest.n);
}

/* Parses " : inode : major:minor" at the end. The number before it is then an
 * offset in that file; with inode -1 it is an address. Only patches print this,
 * no released kernel. */
static void line_take_inode(struct scan *s, struct line_frame *out)
{
	size_t at = scan_find(*s, "> : ");
	struct scan t = scan_tail(*s, at + 4);
	uint64_t maj = 0;
	uint64_t min = 0;

	if (at == s->n)
		return;
	bool none = scan_take(&t, "-1");

	if ((!none && !scan_u64(&t, &out->ino)) ||
	    (t.n && (!scan_take(&t, " : ") || !scan_u64(&t, &maj) ||
		     !scan_take(&t, ":") || !scan_u64(&t, &min) || t.n)))
		return;
	out->has_ino = !none;
	out->maj = (uint32_t)maj;
	out->min = (uint32_t)min;
	s->n = at + 1;
}

/* Parses a user frame. The path may contain blanks: the offset from the start
 * of the mapping follows the last "[+0x". */
static bool line_user_frame(struct scan s, struct line_frame *out)
{
	struct scan t = s;
	size_t at = 0;
	size_t found = 0;

	if (scan_hex(&t, &out->addr) && !t.n)
		return true;
	out->addr = 0;
	t = s;
	line_take_inode(&s, out);
	line_take_addr(&s, '<', '>', &out->addr);
	scan_trim(&s);
	scan_blanks(&s);
	out->key = out->has_ino ? t : s;
	if (!s.n || scan_is(s, "??"))
		return out->addr || s.n;
	while ((at += scan_find(scan_tail(s, at), "[+0x")) < s.n)
		found = at++;
	if (!found)
		return false;
	t = scan_tail(s, found + 2);
	out->path = scan_head(s, found);
	return scan_hex(&t, &out->off) && scan_is(t, "]");
}

bool line_frame(struct scan s, bool kernel, struct line_frame *out)
{
	*out = (struct line_frame){ .addr = 0 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (!line_take_arrow(&s))
		return false;
	if (!kernel && scan_is(s, ""))
		return true;
	scan_trim(&s);
	return kernel ? line_kernel_frame(s, out) : line_user_frame(s, out);
}
