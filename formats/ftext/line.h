/* line.h - one line of a text of ftrace, taken apart.
 *
 * The grammar: backstitch-formats(5), "Text of ftrace". It depends on nothing
 * but the line and, for lines without a context, on what the header said. */
#ifndef FORMATS_FTEXT_LINE_H
#define FORMATS_FTEXT_LINE_H
#include <stdbool.h>
#include <stdint.h>

#include "formats/reader/scan.h"

enum line_kind {
	LINE_OTHER, /* none of these */
	LINE_BLANK,
	LINE_HEAD,    /* starts with '#', or says what the report is of */
	LINE_STARTED, /* from here on the text has entries of a CPU */
	LINE_LOST,
	LINE_EVENT,
	LINE_FRAME,
	LINE_COOKIE, /* of a deferred user stack */
	LINE_REFUSED,
};

/* How its time is said. */
enum line_clock {
	CLOCK_NS,
	CLOCK_TICKS,	/* a number without a unit */
	CLOCK_RELATIVE, /* since the first entry of the buffer */
	CLOCK_NONE,
};

struct line {
	enum line_kind kind;
	enum line_clock clock;
	struct scan buffer, comm, name, text; /* name empty: not said */
	int32_t pid, tgid, cpu;		      /* -1: not said */
	uint64_t time;
	char context;	 /* 0, or which interrupt: 's', 'h', 'z' */
	bool cut_comm;	 /* only its first 8 bytes */
	uint64_t n_lost; /* 0: not known */
	const char *why; /* LINE_REFUSED: what it is and what to do */
};

/* bare: events have no task, CPU and time (option nocontext-info). */
void line_parse(struct scan s, bool bare, struct line *out);

enum line_stack {
	STACK_NONE,
	STACK_KERNEL,
	STACK_USER,
	STACK_UNWIND, /* of the user, deferred: its cookie comes next */
};

/* Is the event a stack? */
enum line_stack line_stack(const struct line *l);

/* A frame's line. key: what it says of the place, without the address. */
struct line_frame {
	uint64_t addr; /* 0: not said */
	struct scan key;
	struct scan path, symbol; /* empty: not said. Of a kernel frame path
				   * is the module with its brackets */
	uint64_t off, size;
	uint64_t ino; /* of a deferred stack: off is in that file */
	uint32_t maj, min;
	bool has_ino;
};

bool line_is_frame(struct scan s);
/* false: it is none of any known form. */
bool line_frame(struct scan s, bool kernel, struct line_frame *out);
#endif
