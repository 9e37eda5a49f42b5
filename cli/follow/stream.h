/* stream.h - one input that is a stream: its records go into the parts of
 * segments.
 *
 * A segment ends for all streams at once: the stream that finds it full raises
 * segment.number, and each other stream begins its part of the new segment at
 * the next record that allows a cut. Until then, and while the earlier part
 * still gets late records, stream_oldest() is a lower number. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/follow/segments.h"

struct stream;

/* Opens "-", a FIFO or a file as input number `index`. Borrows g and input.
 * Returns NULL and *err on failure. */
struct stream *stream_open(struct segment *g, const char *input,
			   unsigned int index, struct err *err);
void stream_free(struct stream *s); /* NULL is fine */
/* Closes the input in a child process, which must not hold it open. */
void stream_leave(struct stream *s);
/* Returns the descriptor to wait for; -1: the stream has ended. */
int stream_fd(const struct stream *s);
/* Reads available bytes and stores complete records. At the end of the stream,
 * or with stop, ends the part. Returns 0, or -1 and *err. */
int stream_receive(struct stream *s, bool stop, struct err *err);
/* Call this in each round: it cuts a silent stream between any two records. If
 * perf reads its rings in rounds, the part is complete when the next round has
 * ended, or at once with segment.cut_now. Returns 0, or -1 and *err. */
int stream_idle(struct stream *s, struct err *err);
/* Ends the part at once, between any two records, as the disk has no space for
 * more. Returns 0, or -1 and *err. */
int stream_cut_now(struct stream *s, struct err *err);
/* Returns whether it has a part: nothing may have come yet, or it has ended. */
bool stream_has_begun(const struct stream *s);
/* Returns the oldest segment that still gets bytes of the stream; UINT32_MAX if
 * the stream has ended. */
uint32_t stream_oldest(const struct stream *s);
/* Returns whether part of the stream could not be read. */
bool stream_damaged(const struct stream *s);
/* Returns how many mappings and kernel objects are missing in later segments,
 * because there were too many. */
uint64_t stream_dropped(const struct stream *s);
