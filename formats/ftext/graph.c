/* graph.c - parses the lines of the tracer function_graph.
 *
 * A line is CPU) [TASK-PID |] [FLAGS |] DURATION | CALL
 * (kernel/trace/trace_functions_graph.c). DURATION is blank, "[MARK] N us", or
 * an arrow where an interrupt begins or ends. CALL is "f() {", "f();", "}" or
 * an event as a comment. "CPU) TASK-PID => TASK-PID" between two rulers tells
 * which task runs from there on. */
#include "formats/ftext/line.h"

#define FLAGS_LEAST 4
#define FLAGS_MOST 8

/* Takes the text up to '|' and removes the blanks around it. */
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

/* Returns true for "12.345 us" behind a mark of a long duration. */
static bool graph_is_duration(struct scan s)
{
	uint64_t n;

	if (s.n && memchr("$@*#!+", s.p[0], 6))
		scan_skip(&s, 1);
	scan_blanks(&s);
	if (!scan_u64(&s, &n))
		return false;
	if (scan_take(&s, ".") && !scan_u64(&s, &n))
		return false;
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

/* Names the event of a call. The text keeps duration and nesting. */
static bool graph_set_call(struct scan call, struct scan text, struct line *out)
{
	scan_blanks(&call);
	scan_trim(&call);
	scan_blanks(&text);
	scan_trim(&text);
	out->text = text;
	if (scan_take(&call, "/* ")) {
		size_t end = scan_find(call, " */");

		out->text = scan_head(call, end);
		return end < call.n;
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

/* Takes what stands behind "CPU)". */
static bool graph_take_event(struct scan s, struct line *out)
{
	struct scan text = s;
	struct scan column;

	while (graph_take_column(&s, &column)) {
		if (!column.n || graph_is_duration(column))
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
	return false;
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
	if (!scan_i32(&s, &l.cpu) || !scan_take(&s, ")") ||
	    (!graph_take_switch(s, &l) && !graph_take_event(s, &l)))
		return false;
	*out = l;
	return true;
}
