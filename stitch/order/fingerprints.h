/* fingerprints.h - what a capture has in common with others of the same run:
 * the events that every tracer sees, by what they say and when.
 *
 * prints_new(), prints_take() for every record in time order, prints_end(),
 * then clock_fit.h compares two of them. Memory is bounded: where there are too
 * many, those stay whose hash ends in zeros, and they are the same ones in
 * every capture. Hashes hold within one run of the program. */
#ifndef STITCH_ORDER_FINGERPRINTS_H
#define STITCH_ORDER_FINGERPRINTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/order/oncpu_match.h"

struct record;

enum print_kind {
	PRINT_SWITCH, /* CPU, thread that leaves, thread that comes */
	PRINT_RUN,    /* three switches of a CPU in a row */
	PRINT_CHAIN,  /* cookie, thread */
	PRINT_FORK,   /* child, parent */
	PRINT_KINDS
};

struct print {
	uint64_t hash, time;
};

struct print_list {
	struct print *p; /* by hash, then time, after prints_end() */
	size_t n, cap;
	uint64_t mask;	      /* of hashes: those that are kept have 0 there */
	uint64_t first, last; /* times of all, kept or not */
};

/* A name that a thread had. */
struct print_name {
	int32_t tid;
	uint64_t hash;
};

struct prints {
	struct print_list list[PRINT_KINDS];
	struct print_name *name; /* by tid, each once, after prints_end() */
	size_t n_name, cap_name;
	uint64_t first, last; /* times of all records; 0, 0: none has one */
	uint64_t switches,
		joined; /* whose thread is the one that came before */
	bool records;	/* the switches are perf's records, not its samples of
			 * the tracepoint, which is some us away */
	struct ran ran; /* who was on a CPU, by its samples and switches */
	struct prints_cpus *cpus;
};

struct prints *prints_new(void);
void prints_free(struct prints *p);
void prints_take(struct prints *p, const struct record *rec);
void prints_end(struct prints *p);
/* Are the switches those of all threads? */
bool prints_whole(const struct prints *p);
#endif
