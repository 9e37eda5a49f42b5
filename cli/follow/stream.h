/* stream.h - one input that is a stream: its records go into the parts of
 * segments.
 *
 * stream_receive() reads what is there. A segment ends for all streams at once:
 * whoever finds it full raises its number, and each stream begins a part of the
 * new one as soon as its records allow that. Until then, and while a part gets
 * what still belongs to it, stream_oldest() is a lower number. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/follow/segments.h"

struct stream;

/* Opens "-", a FIFO or a file; index: of the input. Returns NULL and *err on
 * failure. */
struct stream *stream_open(struct segment *g, const char *input,
			   unsigned int index, struct err *err);
void stream_free(struct stream *s); /* NULL is fine */
/* Closes the input in a child process: it is not held open. */
void stream_leave(struct stream *s);
/* Returns the descriptor to wait for; -1: the stream has ended. */
int stream_fd(const struct stream *s);
/* Reads bytes that are there, and stores whole records. At the end, or with
 * stop, ends the part. Returns 0, or -1 and *err. */
int stream_receive(struct stream *s, bool stop, struct err *err);
/* To be called now and then: a stream that is silent is cut between any two
 * records. If perf reads its rings in rounds, the part is complete when the
 * next round has ended, or when a cut is asked for at once. Returns 0, or -1
 * and *err. */
int stream_idle(struct stream *s, struct err *err);
/* Ends the segment at once, between any two records: there is no room for more
 * of it. Returns 0, or -1 and *err. */
int stream_cut_now(struct stream *s, struct err *err);
/* Returns the oldest segment that still gets bytes of the stream; UINT32_MAX if
 * it has ended. */
uint32_t stream_oldest(const struct stream *s);
/* Returns whether part of the stream could not be read. */
bool stream_damaged(const struct stream *s);
/* Returns the mappings and kernel objects that later segments lack, because
 * there were too many. */
uint64_t stream_dropped(const struct stream *s);
