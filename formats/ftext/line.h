/* line.h - parses one line of a text of ftrace.
 *
 * Grammar: backstitch-formats(5), "Text of ftrace". The result depends only on
 * the line and, for lines without a context, on the header. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "formats/reader/scan.h"

/* The bits of common_flags for the context on the CPU: hardirq, softirq,
 * NMI. */
#define LINE_CONTEXT 0x58u

enum line_kind {
	LINE_OTHER, /* none of the following */
	LINE_BLANK,
	LINE_HEAD,    /* starts with '#', or is a heading of trace-cmd report */
	LINE_STARTED, /* entries of a CPU begin here */
	LINE_LOST,
	LINE_EVENT,
	LINE_FRAME,
	LINE_COOKIE, /* the cookie of a deferred user stack */
	LINE_TASK,   /* function_graph: the task that a CPU runs from now on */
	LINE_REFUSED,
};

/* The unit of a time. */
enum line_clock {
	CLOCK_NS,
	CLOCK_TICKS,	/* a number without a unit */
	CLOCK_RELATIVE, /* since the first entry of the buffer */
	CLOCK_NONE,
};

struct line {
	enum line_kind kind;
	enum line_clock clock;
	struct scan buffer, comm, name, text; /* empty: the line has none */
	int32_t pid, tgid, cpu;		      /* -1: the line has none */
	uint64_t time;
	bool has_flags;
	uint8_t flags;	 /* common_flags, as far as the line shows them */
	bool raw;	 /* the line is of trace-cmd report -R */
	bool comment;	 /* function_graph: the comment ends in a later line */
	uint64_t n_lost; /* 0: unknown */
	const char *why; /* LINE_REFUSED: what the text is and what to do */
};

/* Parses a line. `bare`: events have no task, CPU and time (option
 * nocontext-info). */
void line_parse(struct scan s, bool bare, struct line *out);

/* graph.c: sets the flags of a line from their column, such as "d.h1". */
void line_set_flags(struct scan column, struct line *out);

/* graph.c: parses a line of function_graph, from after its time. Returns false
 * if it is none. */
bool line_parse_graph(struct scan s, struct line *out);

/* A call in the text of an event of function_graph. */
struct line_call {
	struct scan name; /* of the function; empty: an end without a name */
	uint32_t depth;
	int64_t ns; /* duration of the call; -1: the line has none */
	bool leaf;  /* the line is both begin and end */
	bool has_ret;
	int64_t ret;
};

/* Parses the text that line_parse_graph() sets, or that of trace-cmd. Returns
 * false if it has another form. */
bool line_graph_call(struct scan text, struct line_call *out);

/* Parses a line of the tracer mmiotrace. Returns false if it is none. */
bool line_parse_mmio(struct scan s, struct line *out);
/* Returns true if lines of mmiotrace follow this line. */
bool line_starts_mmio(struct scan s);

enum line_stack {
	STACK_NONE,
	STACK_KERNEL,
	STACK_USER,
	STACK_UNWIND, /* a deferred user stack, with its cookie on the next line
		       */
};

/* Returns which stack follows the event, if any. */
enum line_stack line_stack(const struct line *l);

/* The line of a frame. key: its text without the address. */
struct line_frame {
	uint64_t addr; /* 0: the line has none */
	struct scan key;
	struct scan path, symbol; /* empty: the line has none. path of a kernel
				     frame: the module with its brackets */
	uint64_t off, size;
	uint64_t ino; /* deferred stack: `off` is an offset in this file */
	uint32_t maj, min;
	bool has_ino;
};

/* Returns whether a line is a frame of a stack: it begins with an arrow. */
bool line_is_frame(struct scan s);
/* Parses the line of a frame. Returns false if it has no known form. */
bool line_frame(struct scan s, bool kernel, struct line_frame *out);
