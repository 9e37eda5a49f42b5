/* glance.h - what is said of a finished segment: its samples, losses, trust and
 * hot functions. The process that made the database writes a glance, and the
 * one that receives the stream reads it. */
#ifndef CLI_FOLLOW_GLANCE_H
#define CLI_FOLLOW_GLANCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/model/trust.h"

struct err;

/* A function that samples of one thread name ran; texts are clean. */
struct glance_row {
	char *comm, *function;
	uint64_t self, total; /* weight */
};

/* How long the deferred stacks of an event were waited for. */
struct glance_wait {
	char *event;
	int32_t cpu;				/* -1: unknown */
	bool all;				/* of all CPUs */
	uint64_t n;				/* stacks */
	int64_t p50_ns, p90_ns, p99_ns, max_ns; /* from sample to stack */
};

struct glance {
	uint64_t samples, weight;
	uint64_t lost;		 /* records */
	uint64_t lost_unknown;	 /* losses of unknown size */
	uint64_t requests, open; /* deferred stacks; those still to come */
	int64_t p50_ns, p99_ns;	 /* from sample to stack; -1: none */
	char trust[TRUST_SENTENCE];
	struct glance_row *row;
	size_t n, cap;
	struct glance_wait *wait; /* by event, then by event and CPU */
	size_t n_wait, cap_wait;
};

/* Writes the glance of a database; rows: with functions. Returns 0, or -1 and
 * *err. */
int glance_write(FILE *out, const char *db, bool rows, struct err *err);
/* Reads what glance_write() wrote. Returns false if it is not whole. */
bool glance_read(FILE *in, struct glance *g);
void glance_release(struct glance *g);
#endif
