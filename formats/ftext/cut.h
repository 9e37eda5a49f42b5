/* cut.h - cuts a stream of ftrace's text (trace_pipe) into texts that can be
 * read alone.
 *
 * ftext_cut_take() looks at one line after the other, which the caller stores
 * as they are: in the piece that is received, or in the one before it, if the
 * line belongs to an event there. The stack of an event is printed after it,
 * with events of other CPUs between them. What tracefs tells next to the stream
 * is in each piece. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ftext_cut;

/* What the line is that ftext_cut_take() took last. */
struct ftext_cut_line {
	bool may_begin; /* a piece */
	bool is_event;	/* or a mark of lost ones */
	bool is_late;	/* it belongs to an event of the piece before */
};

/* Returns whether the first bytes of a stream are such a text. */
bool ftext_cut_probe(const void *head, size_t n);
/* path: of the stream, next to which tracefs may be, or a copy of it. */
struct ftext_cut *ftext_cut_new(const char *path);
void ftext_cut_free(struct ftext_cut *c); /* NULL is fine */
/* Looks at the line at the begin of len bytes, and stores its length; NULL: it
 * is not whole. Lines are taken in parts of 64 KiB at most. */
const struct ftext_cut_line *ftext_cut_take(struct ftext_cut *c,
					    const void *data, size_t len,
					    uint64_t *used);
/* Says that a piece begins with that line, and writes the header of the text,
 * with which each begins. Errors are those of the stream. */
void ftext_cut_head(struct ftext_cut *c, FILE *out);
/* Says that a piece is complete, and writes what ends it. */
void ftext_cut_tail(struct ftext_cut *c, FILE *out);
