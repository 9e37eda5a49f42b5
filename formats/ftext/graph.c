/* graph.c - parses the lines of the tracer function_graph.
 *
 * A line is CPU) [TASK-PID |] [FLAGS |] DURATION | CALL
 * (kernel/trace/trace_functions_graph.c). DURATION is blank, "[MARK] N us", or
 * an arrow where an interrupt begins or ends; without the option
 * funcgraph-duration it and its '|' are missing. CALL is "f() {", "f();", "}"
 * or an event as a comment. The option funcgraph-overrun puts "(Overruns: N)"
 * after a '}'. "CPU) TASK-PID => TASK-PID" between two rulers is a switch to
 * the second task. */
#include "formats/ftext/line.h"

/* ---- converts the flags of a line, which are letters, to bits of
 * common_flags */

/* Bits of common_flags. */
#define BIT_IRQS_OFF 0x01
#define BIT_LAZY 0x02
#define BIT_RESCHED 0x04
#define BIT_HARDIRQ 0x08
#define BIT_SOFTIRQ 0x10
#define BIT_PREEMPT 0x20
#define BIT_NMI 0x40
#define BIT_BH_OFF 0x80

/* By column and letter, as trace_print_lat_fmt() of Linux prints them. Before
 * 6.13 the bit of the lazy letters meant that the machine does not show whether
 * interrupts are off. */
static const uint8_t flag_bits[3][256] = {
	{
		['d'] = BIT_IRQS_OFF,
		['D'] = BIT_IRQS_OFF | BIT_BH_OFF,
		['b'] = BIT_BH_OFF,
	},
	{
		['N'] = BIT_RESCHED | BIT_PREEMPT,
		['n'] = BIT_RESCHED,
		['p'] = BIT_PREEMPT,
		['B'] = BIT_RESCHED | BIT_PREEMPT | BIT_LAZY,
		['b'] = BIT_RESCHED | BIT_LAZY,
		['L'] = BIT_PREEMPT | BIT_LAZY,
		['l'] = BIT_LAZY,
	},
	{
		['s'] = BIT_SOFTIRQ,
		['h'] = BIT_HARDIRQ,
		['H'] = BIT_HARDIRQ | BIT_SOFTIRQ,
		['z'] = BIT_NMI,
		['Z'] = BIT_NMI | BIT_HARDIRQ,
	},
};

void line_set_flags(struct scan column, struct line *out)
{
	if (column.n < 3)
		return;
	out->has_flags = true;
	out->flags = flag_bits[0][(uint8_t)column.p[0]] |
		     flag_bits[1][(uint8_t)column.p[1]] |
		     flag_bits[2][(uint8_t)column.p[2]];
}

#define FLAGS_LEAST 4
#define FLAGS_MOST 8

/* Takes the text up to '|', without blanks around it. Returns false if there is
 * no '|'. */
static bool graph_take_column(struct scan *s, struct scan *out)
{
	size_t n = scan_find_char(*s, '|');

	if (n == s->n)
		return false;
	*out = scan_head(*s, n);
	scan_skip(s, n + 1);
	scan_blanks(out);
	scan_trim(out);
	return true;
}

/* Returns true for "12.345 us", which may follow the mark of a long duration,
 * and sets *ns. The line has as many digits after the point as fit. */
static bool graph_is_duration(struct scan s, int64_t *ns)
{
	uint64_t us, part = 0;

	if (s.n && memchr("$@*#!+", s.p[0], 6))
		scan_skip(&s, 1);
	scan_blanks(&s);
	if (!scan_u64(&s, &us) || us > INT64_MAX / 1000 - 1)
		return false;
	if (scan_take(&s, ".")) {
		size_t n = s.n;

		if (!scan_u64(&s, &part) || n - s.n > 3)
			return false;
		for (n -= s.n; n < 3; n++)
			part *= 10;
	}
	*ns = (int64_t)(us * 1000 + part);
	scan_blanks(&s);
	return scan_is(s, "us");
}

static bool graph_take_task(struct scan s, struct line *out)
{
	int32_t pid;

	if (!scan_back_i32(&s, &pid) || s.n < 2 || s.p[s.n - 1] != '-')
		return false;
	out->pid = pid;
	out->comm = scan_head(s, s.n - 1);
	return true;
}

static bool graph_take_flags(struct scan s, struct line *out)
{
	if (s.n < FLAGS_LEAST || s.n > FLAGS_MOST)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!scan_is_word(s.p[i]) && s.p[i] != '.' && s.p[i] != '#')
			return false;
	line_set_flags(s, out);
	return true;
}

/* Returns true if s is a call and nothing else, as in a line without duration:
 * names and events may contain '|', so the column alone does not show it. */
static bool graph_is_call(struct scan s)
{
	size_t n = 0;

	scan_blanks(&s);
	scan_trim(&s);
	if (scan_starts(s, "/* ") || scan_is(s, "}") || scan_starts(s, "} "))
		return true;
	while (n < s.n && (scan_is_word(s.p[n]) || s.p[n] == '.'))
		n++;
	if (n && scan_starts(scan_tail(s, n), " ["))
		n += scan_find_char(scan_tail(s, n), ']') + 1;
	s = scan_tail(s, n);
	return n && scan_starts(s, "(") &&
	       (scan_find(s, ");") < s.n || scan_find(s, ") {") < s.n);
}

/* Sets the name and text of a call. The text keeps duration and nesting.
 * Returns false if the call has no known form. */
static bool graph_set_call(struct scan call, struct scan text, struct line *out)
{
	scan_blanks(&call);
	scan_trim(&call);
	scan_trim(&text);
	out->text = text;
	/* the comment of a stack, or of a marker of several lines, ends in a
	 * later line */
	if (scan_take(&call, "/* ")) {
		out->text = call;
		out->comment = !scan_take_end(&out->text, " */");
		return call.n > 0;
	}
	if (!call.n)
		return false;
	bool leaves = call.p[0] == '}';

	out->name = leaves ? scan_of("funcgraph_exit", 14)
			   : scan_of("funcgraph_entry", 15);
	/* The options funcgraph-retval and funcgraph-retaddr add a comment. */
	return leaves || scan_find_char(call, '{') < call.n ||
	       scan_find_char(call, ';') < call.n;
}

/* Parses what follows "CPU)". */
static bool graph_take_event(struct scan s, struct line *out)
{
	struct scan text = s;
	struct scan column;
	int64_t ns;

	while (!graph_is_call(s) && graph_take_column(&s, &column)) {
		scan_blanks(&text);
		if (!column.n || graph_is_duration(column, &ns))
			return graph_set_call(s, text, out);
		if (scan_is(column, "==========>") ||
		    scan_is(column, "<==========")) {
			out->name = column.p[0] == '='
					    ? scan_of("funcgraph_irq_entry", 19)
					    : scan_of("funcgraph_irq_exit", 18);
			out->text = column;
			return true;
		}
		if (!graph_take_flags(column, out) &&
		    !graph_take_task(column, out))
			return false;
		text = s;
	}
	return graph_is_call(s) && graph_set_call(s, s, out);
}

static bool graph_take_switch(struct scan s, struct line *out)
{
	size_t at = scan_find(s, " => ");
	struct scan next = scan_tail(s, at + 4);

	if (at >= s.n)
		return false;
	scan_blanks(&next);
	scan_trim(&next);
	if (!graph_take_task(next, out))
		return false;
	out->kind = LINE_TASK;
	return true;
}

bool line_parse_graph(struct scan s, struct line *out)
{
	struct line l = { .pid = -1,
			  .tgid = -1,
			  .cpu = -1,
			  .kind = LINE_EVENT,
			  .clock = CLOCK_NONE };

	scan_blanks(&s);
	if (scan_starts(s, "-----")) {
		while (s.n && s.p[0] == '-')
			scan_skip(&s, 1);
		l.kind = LINE_HEAD;
		*out = l;
		return !s.n;
	}
	if (scan_starts(s, "(Overruns: ")) {
		l.kind = LINE_HEAD;
		*out = l;
		return true;
	}
	if (!scan_i32(&s, &l.cpu) || !scan_take(&s, ")") ||
	    (!graph_take_switch(s, &l) && !graph_take_event(s, &l)))
		return false;
	*out = l;
	return true;
}

/* Parses what the options funcgraph-retval, funcgraph-retaddr and
 * funcgraph-tail add to a line: "FUNCTION <-CALLER = 0x0", or "ret=0x0". */
static void graph_take_comment(struct scan s, struct line_call *out)
{
	const bool ends = !out->name.n;
	struct scan value = scan_tail(s, scan_find_char(s, '=') + 1);
	struct scan name = scan_token(s);
	uint64_t n;

	/* "FUNCTION [MODULE]" */
	if (scan_starts(scan_tail(s, name.n), " ["))
		name = scan_head(s, scan_find_char(s, ']') + 1);

	scan_blanks(&value);
	const bool minus = scan_take(&value, "-");

	if (scan_starts(value, "0x") ? scan_hex(&value, &n)
				     : scan_u64(&value, &n)) {
		out->has_ret = true;
		out->ret = (int64_t)(minus ? 0 - n : n);
	}
	if (ends && scan_find_char(name, '=') == name.n &&
	    !scan_starts(name, "<-") && !scan_is(name, "*/"))
		out->name = name;
}

bool line_graph_call(struct scan text, struct line_call *out)
{
	struct scan column, s = text;
	size_t blanks;

	*out = (struct line_call){ .ns = -1 };
	const bool timed = !graph_is_call(s);

	if (timed && (!graph_take_column(&s, &column) ||
		      (column.n && !graph_is_duration(column, &out->ns))))
		return false;
	blanks = s.n;
	scan_blanks(&s);
	blanks -= s.n;
	/* two blanks for each depth, after two others, or after one in a line
	 * without duration */
	if (blanks < 1u + timed || !s.n)
		return false;
	out->depth = (uint32_t)(blanks - 1 - timed) / 2;
	const size_t comment = scan_find(s, "/* ");

	if (s.p[0] != '}') {
		const struct scan code = scan_head(s, comment);

		out->name = scan_head(code, scan_find_char(code, '('));
		out->leaf = scan_find_char(code, '{') == code.n;
		if (out->name.n == code.n)
			return false;
	}
	if (comment < s.n)
		graph_take_comment(scan_tail(s, comment + 3), out);
	return true;
}
