/* rings.h - one input that is the rings of a live buffer of ftrace: pages of
 * per_cpu/cpuN/trace_pipe_raw go into the parts of segments, each a folder.
 *
 * The calls are those of stream.h. No setting of the tracer is changed. The
 * pages of a CPU end where a segment ends, but for stacks whose events are in
 * the page before. */
#ifndef CLI_FOLLOW_RINGS_H
#define CLI_FOLLOW_RINGS_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct rings;
struct segment;

/* input: the folder of a buffer, or its per_cpu. Returns NULL and *err on
 * failure, such as when another program reads the same rings. */
struct rings *rings_open(struct segment *g, const char *input,
			 unsigned int index, struct err *err);
void rings_close(struct rings *rs); /* NULL is fine */
void rings_leave(struct rings *rs);
/* Returns the descriptor to wait for; -1: it was stopped. */
int rings_fd(const struct rings *rs);
/* Takes the pages that are there; stop: and ends the part. Returns 0, or -1 and
 * *err. */
int rings_receive(struct rings *rs, bool stop, struct err *err);
/* Returns the oldest segment that still gets pages; UINT32_MAX: none. */
uint32_t rings_oldest(const struct rings *rs);
/* Returns whether part of the pages could not be read, or is described by
 * nothing. */
bool rings_damaged(const struct rings *rs);
#endif
