/* cgroups.h - what may keep threads from the CPU, read while perf records: the
 * cgroups with a quota of CPU time, or that are frozen, and their threads; and
 * threads that may not use all CPUs, or are real-time.
 *
 * It goes into a text of ftrace next to the capture, on perf's clock, to be
 * read together with it; backstitch-formats(5) has its lines. A cgroup that is
 * made and gone between two readings is in none. */
#pragma once
#include <stdbool.h>

struct cgroups;
struct err;

/* Begins the text, with the first reading. pid: of the process that the user
 * asked for; 0: of none. Returns NULL and *err. */
struct cgroups *cgroups_open(const char *name, long pid, struct err *err);
/* Reads once more, if the last time was a second ago. */
void cgroups_read(struct cgroups *c);
/* Reads in which calls on descriptors the threads of a process wait, or those
 * of all that it started, unless the last time was too short ago for what that
 * costs. */
void cgroups_read_calls(struct cgroups *c, long pid, bool children);
/* Reads for the last time; c may be NULL. Returns 0, or -1 and *err if the text
 * could not be written. */
int cgroups_close(struct cgroups *c, struct err *err);
