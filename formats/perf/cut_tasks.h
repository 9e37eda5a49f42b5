/* cut_tasks.h - the threads of a stream that is cut, with their names and
 * mappings, as records with which a piece begins.
 *
 * A process lives as long as one of its threads. A new thread has the name of
 * the one that made it, a new process the mappings of its parent. These are
 * records and no regions of stitch/tasks/: a piece needs the bytes as they were
 * written, of all processes at once and without rows of a database. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct cut_kept;
struct cut_read;
struct cut_tasks;
struct perf_rec;
struct record;

/* Borrows both; what is kept counts in `kept`. */
struct cut_tasks *cut_tasks_new(struct cut_read *read, struct cut_kept *kept);
void cut_tasks_free(struct cut_tasks *c); /* NULL is fine */
/* Takes a COMM, an MMAP of a process, a FORK or an EXIT, and what is in it.
 * time: its own; 0: it has none. */
void cut_tasks_take(struct cut_tasks *c, const struct perf_rec *r,
		    const struct record *rec, uint64_t time);
/* Writes the names and mappings of all that live. */
void cut_tasks_write(const struct cut_tasks *c, FILE *out);
