/* calls.h - names of system calls by their numbers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define CALLS_NAME 48

/* Writes the name of a system call of a machine ("x86_64", "i386", "aarch64",
 * "s390x"), or "NR 123" for other machines and unknown numbers. It searches the
 * table: O(its size). Returns out. */
const char *calls_name(const char *machine, int64_t number,
		       char out[CALLS_NAME]);
/* Finds the number of a system call of a machine. Returns false if there is no
 * call of that name. */
bool calls_number(const char *machine, const char *name, int64_t *number);
/* Returns whether a call waits for others, or for a time, and so takes long in
 * a server without work. Sets *either if the call may just as well work, as the
 * read of a file does. */
bool calls_wait(const char *name, bool *either);
/* Returns whether the first argument of a call is a descriptor that the call
 * reads, writes, or waits for. */
bool calls_descriptor(const char *name);
