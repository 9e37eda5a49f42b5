/* parse.c - parses one line of a text of ftrace, except frames. */
#include "formats/ftext/line.h"
#include "stitch/base/mem.h"

/* ---- parses the lines of the tracer mmiotrace.
 *
 * Documentation/trace/mmiotrace.rst of the kernel lists them: a word, the width
 * of an access, the time, and values. They have no CPU, and the pid at their
 * end is always 0 (kernel/trace/trace_mmiotrace.c). */

/* The first words of lines, and the events of events/ftrace that print them. */
static const struct mmio_word {
	const char *word, *event;
	bool has_width;
} mmio_words[] = {
	{ "R ", "mmiotrace_rw", true },
	{ "W ", "mmiotrace_rw", true },
	{ "UNKNOWN ", "mmiotrace_rw", false },
	{ "MAP ", "mmiotrace_map", false },
	{ "UNMAP ", "mmiotrace_map", false },
	{ "MARK ", "print", false },
};

/* Takes seconds with six digits after the point. Returns false if they are not
 * there. */
static bool mmio_take_time(struct scan *s, uint64_t *ns)
{
	uint64_t sec, us;

	if (!scan_u64(s, &sec) || !scan_take(s, ".") || !scan_u64(s, &us) ||
	    us > 999999 || sec > INT64_MAX / 1000000000 - 1 ||
	    !scan_take(s, " "))
		return false;
	*ns = sec * 1000000000 + us * 1000;
	return true;
}

bool line_parse_mmio(struct scan s, struct line *out)
{
	*out = (struct line){ .pid = -1, .tgid = -1, .cpu = -1 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (scan_starts(s, "PCIDEV ") || scan_starts(s, "VERSION ")) {
		out->kind = LINE_HEAD;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(mmio_words); i++) {
		const struct mmio_word *w = &mmio_words[i];
		const bool mark = !strcmp(w->event, "print");
		struct scan t = s;
		uint64_t width;

		if (!scan_take(&t, w->word) ||
		    (w->has_width &&
		     (!scan_u64(&t, &width) || !scan_take(&t, " "))) ||
		    !mmio_take_time(&t, &out->time))
			continue;
		/* the kernel writes this mark when it finds that events are
		 * lost */
		if (mark && scan_take(&t, "Lost ") &&
		    scan_u64(&t, &out->n_lost) && scan_is(t, " events.")) {
			out->kind = LINE_LOST;
			return true;
		}
		out->kind = LINE_EVENT;
		out->clock = CLOCK_NS;
		out->name = scan_of(w->event, strlen(w->event));
		out->text = mark ? t : s;
		return true;
	}
	return false;
}

bool line_starts_mmio(struct scan s)
{
	return scan_starts(s, "# tracer: mmiotrace") ||
	       scan_starts(s, "VERSION 20070824");
}

/* The width of a task's name in tables, and in latency tables. */
#define COMM_WIDTH 16
#define COMM_SHORT 8
#define FLAGS_MIN 4
#define FLAGS_MAX 8
#define FLAGS_GLUED 5

static const char again[] =
	"record again without the options raw, hex and bin of trace_options";

static bool line_take_time(struct scan *s, uint64_t *ns, enum line_clock *clock)
{
	struct scan t = *s;
	uint64_t whole, frac = 0;

	if (!scan_u64(&t, &whole))
		return false;
	*clock = CLOCK_TICKS;
	if (t.n && t.p[0] == '.') {
		scan_skip(&t, 1);
		size_t digits = t.n;

		if (!scan_u64(&t, &frac) || digits - t.n > 9)
			return false;
		for (digits -= t.n; digits < 9; digits++)
			frac *= 10;
		if (__builtin_mul_overflow(whole, 1000000000u, &whole) ||
		    __builtin_add_overflow(whole, frac, &whole))
			return false;
		*clock = CLOCK_NS;
	}
	*s = t;
	*ns = whole;
	return whole <= INT64_MAX;
}

/* Sets the flags from a number, which verbose tables and trace-cmd report -R
 * print. */
static void line_set_flag_bits(uint64_t flags, struct line *out)
{
	out->has_flags = true;
	out->flags = (uint8_t)flags;
}

/* Takes the flags, if there are any, and the time. trace-cmd omits the blank
 * between them if the time has many digits; then there are five flags. */
static bool line_take_flags_time(struct scan *s, struct line *out)
{
	struct scan t = *s;
	struct scan token = scan_token(t);
	bool has_time = scan_find_char(token, ':') < token.n;

	if (!token.n)
		return false;
	if (!has_time || !scan_is_digit(token.p[0])) {
		size_t n = has_time ? FLAGS_GLUED : token.n;

		if (n < FLAGS_MIN || n > FLAGS_MAX || n > token.n)
			return false;
		for (size_t i = 0; i < n; i++)
			if (!scan_is_word(token.p[i]) &&
			    !memchr(".#?", token.p[i], 3))
				return false;
		line_set_flags(scan_head(token, n), out);
		scan_skip(&t, n);
		scan_blanks(&t);
	}
	if (!line_take_time(&t, &out->time, &out->clock))
		return false;
	*s = t;
	return true;
}

/* Takes ": " or ":"; the event's text follows. */
static bool line_take_colon(struct scan *s)
{
	if (!scan_take(s, ":"))
		return false;
	scan_blanks(s);
	return true;
}

/* Takes the name of a task, which is right-aligned in a column; the name of the
 * buffer precedes the column if a report has several buffers. */
static bool line_take_comm(struct scan head, size_t width, struct line *out)
{
	if (head.n > width + 2) {
		size_t at = head.n - width - 2;

		if (head.p[at] == ':' && head.p[at + 1] == ' ') {
			out->buffer = scan_head(head, at);
			scan_blanks(&out->buffer);
			scan_trim(&out->buffer);
			scan_skip(&head, at + 2);
		}
	}
	const bool full = head.n >= width;

	scan_blanks(&head);
	out->comm = head;
	return head.n > 0 || full; /* prctl() accepts an empty name too */
}

/* ---- "comm-pid (tgid) [cpu] flags time: text" */

/* Takes the task before "[cpu]". */
static bool line_take_task(struct scan s, struct line *out)
{
	scan_trim(&s);
	if (s.n && s.p[s.n - 1] == ')') {
		size_t open = s.n;

		while (open && s.p[open - 1] != '(')
			open--;
		if (!open)
			return false;
		struct scan in = scan_tail(s, open);

		in.n--;
		scan_blanks(&in);
		if (scan_is_digit(in.n ? in.p[0] : 0) &&
		    (!scan_i32(&in, &out->tgid) || in.n))
			return false;
		s.n = open - 1;
		scan_trim(&s);
	}
	if (!scan_back_i32(&s, &out->pid) || !s.n || s.p[s.n - 1] != '-')
		return false;
	s.n--;
	return line_take_comm(s, COMM_WIDTH, out);
}

static bool line_table_at(struct scan s, size_t bracket, struct line *out)
{
	struct scan right = scan_tail(s, bracket + 1);
	uint64_t flags = 0;

	out->tgid = -1;
	if (!scan_i32(&right, &out->cpu) || !scan_take(&right, "]") ||
	    !line_take_task(scan_head(s, bracket), out))
		return false;
	out->raw = scan_take(&right, "-0x");
	if (out->raw && !scan_hex(&right, &flags))
		return false;
	scan_blanks(&right);
	if (!line_take_flags_time(&right, out) || !line_take_colon(&right))
		return false;
	if (out->raw)
		line_set_flag_bits(flags, out);
	out->text = right;
	out->kind = LINE_EVENT;
	return true;
}

/* Parses "comm-pid cpuflags time us: text"; dash: the offset of its '-'. */
static bool line_latency_at(struct scan s, size_t dash, struct line *out)
{
	struct scan right = scan_tail(s, dash + 1);

	if (!dash || !scan_i32(&right, &out->pid) || !scan_blanks(&right) ||
	    !scan_i32(&right, &out->cpu) || !right.n ||
	    !line_take_flags_time(&right, out))
		return false;
	if (scan_take(&right, "us")) {
		if (out->clock != CLOCK_TICKS || out->time > INT64_MAX / 1000)
			return false;
		out->time *= 1000;
		out->clock = CLOCK_RELATIVE;
	}
	/* skip the mark of a long wait */
	if (right.n && memchr(" $@*#!+", right.p[0], 7))
		scan_skip(&right, 1);
	scan_blanks(&right);
	if (!line_take_colon(&right))
		return false;
	out->text = right;
	out->kind = LINE_EVENT;
	return line_take_comm(scan_head(s, dash), COMM_SHORT, out);
}

/* ---- "comm pid cpu flags preempt index [us] ms (+ms): text", or "[ticks]
 * ticks (+ticks)" */

/* Takes "NUMBER.NUMBERms", or "NUMBER" of a clock that has no nanoseconds. */
static bool line_take_since(struct scan *s, bool ms)
{
	struct scan t = *s;
	uint64_t n;

	if (!scan_u64(&t, &n) ||
	    (ms && (!scan_take(&t, ".") || !scan_u64(&t, &n) ||
		    !scan_take(&t, "ms"))))
		return false;
	*s = t;
	return true;
}

/* Takes the times that lat_print_timestamp() of kernel/trace/trace_output.c
 * prints. */
static bool line_take_verbose_time(struct scan *s, bool ms, struct line *out)
{
	struct scan t = *s;
	const uint64_t unit = ms ? 1000 : 1;

	if (!scan_hex(&t, &out->time) || !scan_take(&t, "] ") ||
	    !line_take_since(&t, ms) || !scan_take(&t, " (+") ||
	    !line_take_since(&t, ms) || !scan_take(&t, ")") ||
	    !line_take_colon(&t) || out->time > INT64_MAX / unit)
		return false;
	out->time *= unit;
	out->clock = ms ? CLOCK_NS : CLOCK_TICKS;
	*s = t;
	return true;
}

/* Removes the last word and returns it. */
static struct scan line_take_last_word(struct scan *s)
{
	scan_trim(s);
	size_t n = s->n;

	while (n && !scan_is_blank(s->p[n - 1]))
		n--;
	struct scan word = scan_tail(*s, n);

	s->n = n;
	return word;
}

static bool line_is_hex(struct scan s)
{
	uint64_t n;

	return s.n >= 8 && scan_hex(&s, &n) && !s.n;
}

/* Parses a line of a verbose table; bracket: the offset of '[' before the
 * time. */
static bool line_verbose_at(struct scan s, size_t bracket, struct line *out)
{
	struct scan right = scan_tail(s, bracket + 1);
	struct scan left = scan_head(s, bracket);
	int32_t flags, *const number[] = { &flags, &out->cpu, &out->pid };

	if (!line_take_verbose_time(&right, true, out) &&
	    !line_take_verbose_time(&right, false, out))
		return false;
	if (!line_is_hex(line_take_last_word(&left)) ||
	    !line_is_hex(line_take_last_word(&left)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(number); i++) {
		scan_trim(&left);
		if (!scan_back_i32(&left, number[i]))
			return false;
	}
	line_set_flag_bits((uint64_t)flags, out);
	out->text = right;
	out->kind = LINE_EVENT;
	if (left.n > COMM_WIDTH)
		left.n = COMM_WIDTH;
	else
		scan_trim(&left);
	return line_take_comm(left, COMM_WIDTH, out);
}

/* Returns true for a heading of trace-cmd report. */
static bool line_is_report_head(struct scan s)
{
	uint64_t n;

	if (scan_take(&s, "cpus="))
		return scan_u64(&s, &n) && !s.n;
	if (scan_take(&s, "CPU "))
		return scan_u64(&s, &n) && scan_is(s, " is empty");
	/* of the options --debug and --wakeup */
	return scan_starts(s, "version = ") || scan_starts(s, "trace.dat:") ||
	       scan_is(s, "RT task timings:") ||
	       scan_starts(s, "Average wakeup latency: ") ||
	       scan_starts(s, "Maximum Latency: ") ||
	       scan_starts(s, "Minimum Latency: ");
}

/* Returns true for "145 2 41563954298 type: 310", in decimal or hexadecimal. */
static bool line_is_raw(struct scan s)
{
	uint64_t n;

	for (int i = 0; i < 3; i++)
		if (!scan_hex(&s, &n) || !scan_blanks(&s))
			return false;
	return scan_starts(s, "type: ");
}

static bool line_parse_other(struct scan s, struct line *out)
{
	char c = s.p[0];

	if (c == '#') {
		out->kind = scan_take(&s, "##### CPU ") &&
					    scan_i32(&s, &out->cpu) &&
					    scan_starts(s, " buffer started")
				    ? LINE_STARTED
				    : LINE_HEAD;
		return true;
	}
	if (scan_starts(s, "cookie=")) {
		out->kind = LINE_COOKIE;
		out->text = s;
		return true;
	}
	/* atrace prints these before the trace */
	if (line_is_report_head(s) || scan_is(s, "TRACE:") ||
	    scan_starts(s, "capturing trace...")) {
		out->kind = LINE_HEAD;
		return true;
	}
	if (scan_is_digit(c) && line_is_raw(s)) {
		out->kind = LINE_REFUSED;
		out->why = again;
		return true;
	}
	/* "CPU:1 [LOST 5 EVENTS]" and "CPU:1 [5 EVENTS DROPPED]", with or
	 * without the number, and "CPU:1 [SUBBUFFER START]" of the options
	 * --boundary and --debug */
	size_t at = scan_find(s, "CPU:");
	struct scan before = scan_head(s, at);
	struct scan t = scan_tail(s, at);

	scan_trim(&before);
	if (before.n && before.p[before.n - 1] != ':')
		return false;
	if (!scan_take(&t, "CPU:") || !scan_i32(&t, &out->cpu) ||
	    !scan_take(&t, " ["))
		return false;
	const bool starts = scan_starts(t, "SUBBUFFER START]");
	const bool kernel = scan_take(&t, "LOST ");

	out->n_lost = 0;
	if (scan_u64(&t, &out->n_lost) && !scan_take(&t, " "))
		return false;
	if (!starts && !scan_is(t, kernel ? "EVENTS]" : "EVENTS DROPPED]"))
		return false;
	if (before.n) {
		before.n--;
		scan_blanks(&before);
		out->buffer = before;
	}
	out->kind = starts ? LINE_HEAD : LINE_LOST;
	return true;
}

/* Returns true for fields as only 'trace-cmd report -R' prints them. The
 * kernel's option `fields` prints numbers in hexadecimal, and in brackets. */
static bool line_is_raw_report(const struct line *l)
{
	if (scan_find(l->text, "=ARRAY[") < l->text.n)
		return true;
	if (scan_is(l->name, "sched_switch"))
		return scan_starts(l->text, "prev_comm=") &&
		       scan_find(l->text, " next_comm=") < l->text.n &&
		       scan_find(l->text, " ==> ") == l->text.n &&
		       scan_find(l->text, "=0x") == l->text.n;
	if (scan_is(l->name, "sys_exit"))
		return scan_starts(l->text, "id=") &&
		       !scan_starts(l->text, "id=0x");
	return false;
}

/* Returns s without the offset and address that some options print after a
 * function's name: lines of trace_marker have a function as their name. */
static struct scan line_skip_offset(struct scan s)
{
	uint64_t n;
	struct scan t = s;

	if (scan_take(&t, "+") && scan_hex(&t, &n) && scan_take(&t, "/") &&
	    scan_hex(&t, &n))
		s = t;
	t = s;
	if (scan_take(&t, " <") && scan_hex(&t, &n) && scan_take(&t, ">"))
		s = t;
	return s;
}

/* Skips "(+17) ", the time since the previous event, of trace-cmd report
 * --ts-diff. */
static void line_skip_difference(struct scan *s)
{
	struct scan t = *s;
	uint64_t n;

	if (scan_take(&t, "(+") && scan_u64(&t, &n) && scan_take(&t, ")") &&
	    scan_blanks(&t))
		*s = t;
}

/* Splits "name: text". Entries of the kernel's own tracers have no name. */
static void line_split_name(struct line *l)
{
	line_skip_difference(&l->text);
	struct scan t = l->text;
	size_t n = 0;

	while (n < t.n &&
	       (scan_is_word(t.p[n]) || t.p[n] == '-' || t.p[n] == '.'))
		n++;
	struct scan rest = line_skip_offset(scan_tail(t, n));

	if (!n || !scan_take(&rest, ":") ||
	    (rest.n && !scan_is_blank(rest.p[0])))
		return;
	l->name = scan_head(t, n);
	while (rest.n && rest.p[0] == ' ')
		scan_skip(&rest, 1);
	l->text = rest;
	/* trace-cmd prints "print" before the name of the function */
	if (!scan_is(l->name, "print"))
		return;
	n = scan_find(rest, " buf=");
	if (scan_starts(rest, "ip=") && n < rest.n) { /* report -R */
		l->text = scan_tail(rest, n + 5);
		return;
	}
	n = scan_find_char(rest, ':');
	if (scan_starts(rest, "tracing_mark_write") && n < rest.n) {
		l->text = scan_tail(rest, n + 1);
		scan_take(&l->text, " ");
	}
}

/* Tries a form of event at each character c, since names of tasks may contain
 * any character; the first place that fits is used. */
static bool line_try(struct scan s, char c,
		     bool (*form)(struct scan s, size_t at, struct line *out),
		     struct line *out)
{
	for (size_t at = 0; at < s.n; at++) {
		at += scan_find_char(scan_tail(s, at), c);
		if (at < s.n && form(s, at, out))
			return true;
	}
	return false;
}

/* Tries the tables of the kernel, in which the name of a task always has its
 * column, so that a name that looks like the start of a line is not taken for
 * one. */
static bool line_try_column(struct scan s, struct line *out)
{
	if (s.n > COMM_SHORT && s.p[COMM_SHORT] == '-' &&
	    line_latency_at(s, COMM_SHORT, out))
		return true;
	if (s.n <= COMM_WIDTH || !memchr("- ", s.p[COMM_WIDTH], 2))
		return false;
	const size_t at =
		COMM_WIDTH + scan_find_char(scan_tail(s, COMM_WIDTH), '[');

	if (at == s.n)
		return false;
	return s.p[COMM_WIDTH] == ' '
		       ? line_verbose_at(s, at, out)
		       : line_table_at(s, at, out) &&
				 out->comm.p + out->comm.n == s.p + COMM_WIDTH;
}

/* Parses "[TIME |] CPU) ...". */
static bool line_try_graph(struct scan s, struct line *out)
{
	enum line_clock clock = CLOCK_NONE;
	struct scan t = s;
	uint64_t time = 0;

	scan_blanks(&t);
	if (line_take_time(&t, &time, &clock) && scan_blanks(&t) &&
	    scan_take(&t, "|"))
		s = t;
	else
		clock = CLOCK_NONE;
	if (!line_parse_graph(s, out))
		return false;
	out->clock = clock;
	out->time = clock == CLOCK_NONE ? 0 : time;
	return true;
}

/* Parses "[CPU]<tab>SECONDS.MICROS: EVENT ARGS" of tracefs remotes/NAME/trace,
 * which has no task and no flags (trace_remote_iter_print_event() of
 * kernel/trace/trace_remote.c, Linux 7.1). */
static bool line_remote(struct scan s, struct line *out)
{
	struct line l = *out;

	if (!scan_take(&s, "[") || !scan_i32(&s, &l.cpu) ||
	    !scan_take(&s, "]\t"))
		return false;
	scan_blanks(&s);
	if (!line_take_time(&s, &l.time, &l.clock) || l.clock != CLOCK_NS ||
	    !line_take_colon(&s))
		return false;
	l.name = scan_token(s);
	if (!l.name.n)
		return false;
	scan_skip(&s, l.name.n);
	scan_blanks(&s);
	l.text = s;
	l.kind = LINE_EVENT;
	*out = l;
	return true;
}

/* Removes " [25228:0x2c:48]" from the end of an entry: the time since the one
 * before it, its offset in the page, and its size, of trace-cmd report
 * --debug. */
static void line_drop_place(struct scan *s)
{
	size_t at = s->n;
	uint64_t n;

	if (!at || s->p[at - 1] != ']')
		return;
	while (at && s->p[at - 1] != '[')
		at--;
	struct scan t = scan_tail(*s, at);

	if (at > 1 && s->p[at - 2] == ' ' && scan_u64(&t, &n) &&
	    scan_take(&t, ":0x") && scan_hex(&t, &n) && scan_take(&t, ":") &&
	    scan_u64(&t, &n) && scan_is(t, "]"))
		s->n = at - 2;
}

void line_parse(struct scan s, bool bare, struct line *out)
{
	*out = (struct line){ .pid = -1, .tgid = -1, .cpu = -1 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	line_drop_place(&s);
	if (!s.n) {
		out->kind = LINE_BLANK;
		return;
	}
	if (line_is_frame(s)) {
		out->kind = LINE_FRAME;
		out->text = s;
		/* a comment of function_graph */
		scan_take_end(&out->text, " */");
		return;
	}
	if (!line_try_graph(s, out) && !line_try_column(s, out) &&
	    !line_try(s, '[', line_table_at, out) &&
	    !line_parse_other(s, out) &&
	    !line_try(s, '-', line_latency_at, out) &&
	    !line_try(s, '[', line_verbose_at, out)) {
		*out = (struct line){ .pid = -1, .tgid = -1, .cpu = -1 };
		if (!line_remote(s, out)) {
			if (!bare)
				return;
			out->kind = LINE_EVENT;
			out->clock = CLOCK_NONE;
			out->text = s;
		}
	}
	if (out->kind != LINE_EVENT)
		return;
	if (!out->name.n)
		line_split_name(out);
	out->raw |= line_is_raw_report(out);
}

enum line_stack line_stack(const struct line *l)
{
	if (!l->name.n || scan_is(l->name, "kernel_stack") ||
	    scan_is(l->name, "user_stack")) {
		if (scan_starts(l->text, "<stack trace>") ||
		    scan_starts(l->text, "<stack trace >"))
			return STACK_KERNEL;
		if (scan_starts(l->text, "<user stack trace>"))
			return STACK_USER;
		if (scan_starts(l->text, "<user stack unwind>"))
			return STACK_UNWIND;
	}
	/* trace-cmd prints the first frame on the event's line, with -N that of
	 * a kernel stack too */
	if (!scan_starts(l->text, "\t=>"))
		return STACK_NONE;
	return scan_is(l->name, "user_stack")	  ? STACK_USER
	       : scan_is(l->name, "kernel_stack") ? STACK_KERNEL
						  : STACK_NONE;
}
