/* last_recording.h - what a capture teaches the next recording: were its
 * buffers and stack dumps large enough? */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define LAST_RECORDING_PROVES 256

struct err;

struct last_recording {
	/* bytes and MB that are enough, as far as is known; 0: perf's own */
	unsigned int dump, megabytes;
	bool cut, lost;	       /* more than those of the capture */
	int64_t stacks, whole; /* of user mode */
	/* what 'path' will prove of recordings here, if it reads switches */
	char proves[LAST_RECORDING_PROVES];
	const char *ftrace; /* what '--tracer ftrace' does better; NULL */
};

/* Reads a capture, or its database; `name` stands for it in what is said of it,
 * NULL: nothing is, and it is a trial, of which .proves is wanted. all: it is
 * of all CPUs, and the stacks of this process, of what it started and of what
 * started it do not count: the recording has few of them. */
int last_recording_read(const char *file, const char *name, bool all,
			struct last_recording *out, struct err *err);
