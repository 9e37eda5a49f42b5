/* learn.h - what a capture teaches the next recording: were its buffers and
 * stack dumps large enough? */
#ifndef CLI_RECORD_LEARN_H
#define CLI_RECORD_LEARN_H
#include <stdbool.h>

/* perf's largest dump: a multiple of 8, whose size is in 16 bits. */
#define DUMP_MAX 65528u
#define DUMP 16384u

struct err;

struct learned {
	/* bytes and MB that are enough, as far as is known; 0: perf's own */
	unsigned int dump, megabytes;
	bool cut, lost; /* more than those of the capture */
};

/* Reads a capture, or its database; `name` stands for it in what is said of it,
 * NULL: nothing is. */
int learn_from(const char *file, const char *name, struct learned *out,
	       struct err *err);
#endif
