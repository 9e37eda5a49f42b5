/* piece.h - a part of a segment that is a folder: pages of the rings of ftrace,
 * and what tells how to read them, as backstitch-formats(5) describes.
 *
 * The folder gets its name with its first pages. All that a reader needs is in
 * it then, so that what a killed run leaves can be read. */
#ifndef CLI_FOLLOW_PIECE_H
#define CLI_FOLLOW_PIECE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/follow/segments.h"

struct err;
struct threads;
struct tracefs;

struct piece {
	char path[SEGMENT_PATH];
	uint32_t number; /* of the segment; 0: there is no such piece */
	unsigned int index;
	const char *dir;
	bool named;	       /* it has pages */
	uint64_t format[1024]; /* a bit for each event that is described */
};

/* What the pieces of one input have in common. */
struct piece_source {
	struct tracefs *fs;
	struct threads *threads;
	char *kallsyms, *modules; /* NULL: not read */
	size_t kallsyms_len;
};

/* Makes the folder, without pages. clock: the text of trace_clock. Returns 0,
 * or -1 and *err. */
int piece_begin(struct piece *p, const char *dir, uint32_t number,
		unsigned int index, struct piece_source *src, const char *clock,
		struct err *err);
static inline bool piece_has_format(const struct piece *p, uint16_t id)
{
	return p->format[id / 64] >> (id % 64) & 1;
}
/* Stores the format of an event. Returns 0, or -1 and *err. */
int piece_add_format(struct piece *p, uint16_t id, const char *name,
		     const char *text, size_t len, struct err *err);
/* Stores pages of a CPU. Returns 0, or -1 and *err. */
int piece_add_pages(struct piece *p, int32_t cpu, const void *data, size_t len,
		    struct err *err);
/* Stores how many events of a CPU were lost, as its file stats has it. */
int piece_set_stats(struct piece *p, int32_t cpu, uint64_t overrun,
		    uint64_t commit_overrun, uint64_t dropped, struct err *err);
/* Stores names and processes of the threads that were seen. */
int piece_set_threads(struct piece *p, struct threads *threads,
		      struct err *err);
#endif
