/* calls.h - names of system calls by their numbers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define CALLS_NAME 48

/* Writes the name of a system call of a machine ("x86_64", "i386", "aarch64",
 * "s390x"), and "NR 123" for others and for numbers that are new: O(table).
 * Returns out. */
const char *calls_name(const char *machine, int64_t number,
		       char out[CALLS_NAME]);
/* Finds the number of a system call of a machine. Returns false if there is
 * none of that name. */
bool calls_number(const char *machine, const char *name, int64_t *number);
/* Returns whether a call waits for what others do, or for a time, and so takes
 * long in a server without work. either: in *either, whether it may as well
 * work, as a read does of a file. */
bool calls_wait(const char *name, bool *either);
/* Returns whether the first argument of a call is a descriptor that it reads,
 * writes, or waits for. */
bool calls_descriptor(const char *name);
