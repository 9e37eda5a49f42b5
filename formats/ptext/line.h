/* line.h - the lines of a text of 'perf script', and of folded stacks. What a
 * line is made into is borrowed from it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "formats/reader/scan.h"

/* The first line of a sample: "comm pid/tid [cpu] time: period event: text",
 * each of which may be missing. */
struct ptext_head {
	struct scan comm, event;
	struct scan text; /* after the event: of a tracepoint, or an address */
	int32_t pid, tid, cpu; /* -1: not known */
	bool timed, has_period;
	uint64_t time, period;
};

/* A line of a callchain: "ip symbol+off (path)". */
struct ptext_frame {
	uint64_t ip;
	struct scan said; /* all after the address */
	struct scan symbol, path;
	uint64_t off;
	bool inlined; /* the path is that of the next frame that is not */
};

/* chain: a frame follows, so that a thread or an event is enough. */
bool ptext_take_head(struct scan s, bool chain, struct ptext_head *out);
bool ptext_take_frame(struct scan s, struct ptext_frame *out);
/* Takes a record of perf itself, as --show-task-events, --show-mmap-events and
 * their like print it. *lost: how many records it says are lost, 0: it is no
 * record of a loss. */
bool ptext_take_record(struct scan s, struct ptext_head *out, uint64_t *lost);
/* Returns whether a line starts no sample: it is what -F insn, insnlen or
 * brstack prints after the frames of one. */
bool ptext_is_more(struct scan s);
/* Takes what follows the address apart. */
void ptext_take_place(struct ptext_frame *f);
/* Whether the file of a frame is the kernel's, or a module. */
bool ptext_is_kernel(struct scan path);
/* "outer;inner 12" */
bool ptext_take_folded(struct scan s, struct scan *stack, uint64_t *n);
