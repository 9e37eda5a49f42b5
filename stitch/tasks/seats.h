/* seats.h - who is on each CPU by the last switch, and the name that it told.
 */
#ifndef STITCH_TASKS_SEATS_H
#define STITCH_TASKS_SEATS_H
#include <stddef.h>
#include <stdint.h>

#include "stitch/record.h"

struct seat {
	int32_t tid; /* 0: idle, or unknown */
	char name[THREAD_NAME];
};

/* Empty if it is all 0. */
struct seats {
	struct seat *at; /* by CPU */
	size_t n, cap;
};

void seats_release(struct seats *s);
/* A thread came to a CPU. Does nothing if the CPU is not known. */
void seats_take(struct seats *s, int32_t cpu, int32_t tid, const char *name);
/* Returns the name of a thread that came to this CPU last, valid until another
 * one comes; NULL: another thread came, or nobody. */
const char *seats_name(const struct seats *s, int32_t cpu, int32_t tid);
#endif
