/* cut.h - cuts a stream of ftrace's text (trace_pipe) into texts that can be
 * read separately.
 *
 * ftext_cut_take() looks at one line after the other. The caller stores each as
 * it is: in the current piece, or in the previous one if the line belongs to an
 * event there, as the stack of an event is printed after it, with events of
 * other CPUs in between. Each piece also has what tracefs has besides the
 * stream. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ftext_cut;

/* The line that ftext_cut_take() took last. */
struct ftext_cut_line {
	bool may_begin; /* a piece may begin with this line */
	bool is_event;	/* it is an event, or a mark of lost ones */
	bool is_late;	/* it belongs to an event of the previous piece */
};

/* Returns whether a stream with these first bytes is such a text. */
bool ftext_cut_probe(const void *head, size_t n);
/* Returns a cutter, for ftext_cut_free(). path: the stream, or a copy of it;
 * tracefs may be in the same folder. */
struct ftext_cut *ftext_cut_new(const char *path);
void ftext_cut_free(struct ftext_cut *c); /* NULL is allowed */
/* Takes the line at the start of len bytes and sets *used to its length;
 * returns NULL if it is not complete. A line longer than 64 KiB is taken in
 * parts. The result is valid until the next call. */
const struct ftext_cut_line *ftext_cut_take(struct ftext_cut *c,
					    const void *data, size_t len,
					    uint64_t *used);
/* Begins a piece with the line that was taken last: writes the header of the
 * text. Errors are those of `out`. */
void ftext_cut_head(struct ftext_cut *c, FILE *out);
/* Ends a piece: writes its totals. */
void ftext_cut_tail(struct ftext_cut *c, FILE *out);
