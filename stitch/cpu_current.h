/* cpu_current.h - who is on each CPU by the last switch, and the name that it
 * told.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/record.h"

struct current_thread {
	int32_t tid; /* 0: idle, or unknown */
	bool unsure; /* records of this CPU were lost since */
	char name[THREAD_NAME];
};

/* Empty if it is all 0. */
struct cpu_current {
	struct current_thread *at; /* by CPU */
	size_t n, cap;
};

void cpu_current_release(struct cpu_current *s);
/* A thread came to a CPU. Does nothing if the CPU is not known. */
void cpu_current_take(struct cpu_current *s, int32_t cpu, int32_t tid,
		      const char *name);
/* Records of a CPU were lost; -1: of any. */
void cpu_current_lose(struct cpu_current *s, int32_t cpu);
/* Returns who came to this CPU last; 0: idle, or not known. */
int32_t cpu_current_tid(const struct cpu_current *s, int32_t cpu);
/* Returns the name of a thread that came to this CPU last, valid until another
 * one comes; NULL: another thread came, or none. */
const char *cpu_current_name(const struct cpu_current *s, int32_t cpu,
			     int32_t tid);
