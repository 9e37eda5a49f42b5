/* path_code.h - which code threads were in: where they computed, by samples of
 * a clock, and which of their waits were for a lock, by the stacks of their
 * switches. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/offcpu.h"
#include "stitch/base/intern.h"

struct chain;
struct chain_segment;
struct path_run;

/* In which function a thread was at a time: a label of struct path_run,
 * TIMELINE_NONE: not known. */
struct path_code_sample {
	int64_t time;
	uint32_t thread, in;
	struct offcpu_stack at;
};

/* The samples of a time, thread by thread in time order. */
struct path_code {
	struct path_code_sample *at;
	size_t n, cap;
};

/* Reads them; none where no clock was sampled. The caller frees code->at.
 * Returns 0, or -1 and *err. */
int path_code_load(struct path_code *code, struct path_run *r, int64_t from,
		   int64_t to, struct err *err);
/* Returns the first sample of a thread at or after a time, and how many follow
 * until another one. */
const struct path_code_sample *path_code_of(const struct path_code *code,
					    uint32_t thread, int64_t from,
					    int64_t to, size_t *n);
/* Returns the function that has more than half of the samples of a thread in a
 * time, as it is shown; "" if none has. */
const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to);

/* Which stacks wait for a lock. All zeros but for r, which is borrowed. */
struct path_locks {
	struct path_run *r;
	struct intern stack; /* of waits that were looked at: addresses */
	uint8_t *lock;	     /* of each */
	size_t n, cap;
};

void path_locks_release(struct path_locks *l);
/* Returns whether the wait that began with an event, its switch out, is for a
 * lock. Each stack is looked at once. */
bool path_locks_is(struct path_locks *l, int64_t event);
/* Returns the function that takes the lock which such a wait is for: the
 * innermost one that has a name, outside of the libraries of C and C++, and
 * of the kernel only if no such one is known. */
const char *path_locks_in(struct path_run *r, int64_t event);
/* Returns the switch out of the innermost wait for a lock on the way from the
 * asker of a chain to a piece of it, which is what the lock's holder did
 * meanwhile; 0: there is none. */
int64_t path_locks_on_way(struct path_locks *l, const struct chain *c,
			  const struct chain_segment *s);
