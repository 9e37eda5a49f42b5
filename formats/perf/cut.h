/* cut.h - cuts a stream of perf record -o - into streams that can be read
 * alone.
 *
 * perf_cut_take() looks at one record after the other, which the caller stores
 * as they are. perf_cut_head() gives what a new piece begins with: the header,
 * the events, and the names and mappings of all threads that live, as perf
 * record writes them at its start. Memory grows with the threads that live and
 * their mappings.
 *
 * Mapping records are never undone: of a process that maps other files all the
 * time, those that a later mapping covers are left out. */
#ifndef FORMATS_PERF_CUT_H
#define FORMATS_PERF_CUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct perf_cut;

/* path is for messages; copied. */
struct perf_cut *perf_cut_new(const char *path);
void perf_cut_free(struct perf_cut *c); /* NULL is fine */
/* Looks at the record at the begin of len bytes. Returns 1 and its length in
 * *used; 0 if it is not whole, and the bytes that are needed in *used; -1 and
 * *err if this is no such stream. */
int perf_cut_take(struct perf_cut *c, const void *data, size_t len,
		  uint64_t *used, struct err *err);
/* Returns whether a piece may end behind the record that was taken last: a
 * round has ended there, or the stream has none. */
bool perf_cut_may_end(const struct perf_cut *c);
/* Returns whether that record is one for which a piece is made: not of the
 * session, and no name or mapping, which the next piece begins with anyway. */
bool perf_cut_is_event(const struct perf_cut *c);
/* Returns whether that record tells of threads or their code. The ring of one
 * CPU may be read a round later than that of another: of the round behind its
 * end, a piece needs these records too. */
bool perf_cut_is_state(const struct perf_cut *c);
/* Returns whether the stream has rounds. */
bool perf_cut_has_rounds(const struct perf_cut *c);
/* Writes what a piece begins with. Errors are those of the stream. */
void perf_cut_head(const struct perf_cut *c, FILE *out);
#endif
