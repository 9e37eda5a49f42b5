/* cgroups.h - what may keep threads from the CPU, read while perf records:
 * cgroups that are frozen or have a quota of CPU time, and their threads; and
 * threads that may not use all CPUs or are real-time.
 *
 * It is written as ftrace text to a file next to the capture, on perf's clock,
 * and read together with the capture; backstitch-formats(5) describes its
 * lines. A cgroup that exists only between two readings is not seen. */
#pragma once
#include <stdbool.h>

struct cgroups;
struct err;

/* Creates the file and makes the first reading. pid is the process that the
 * user asked for, or 0. cgroups_close() frees the result; NULL and *err if the
 * file cannot be created. */
struct cgroups *cgroups_open(const char *name, long pid, struct err *err);
/* Makes another reading if the last one began at least a second ago. */
void cgroups_read(struct cgroups *c);
/* Reads also the threads of the program that this command has started, from now
 * on with each reading, as it may hang until Ctrl-C ends it. */
void cgroups_program(struct cgroups *c, long pid);
/* Writes in which system calls on descriptors the threads of a process wait
 * or, with children, those of its descendants. It does nothing if it would take
 * more than 1/50 of a CPU. */
void cgroups_read_calls(struct cgroups *c, long pid, bool children);
/* Makes the last reading and frees c, which may be NULL. Returns 0, or -1 and
 * *err if the file could not be written. */
int cgroups_close(struct cgroups *c, struct err *err);
