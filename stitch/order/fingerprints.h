/* fingerprints.h - what a capture has in common with others of the same run:
 * the events that every tracer sees, by what they say and when.
 *
 * fingerprints_new(), fingerprints_take() for every record in time order,
 * fingerprints_end(), then match.h compares two of them. Memory is bounded:
 * where there are too many, those stay whose hash ends in zeros, and they are
 * the same ones in every capture. Hashes hold within one run of the program. */
#ifndef STITCH_ORDER_FINGERPRINTS_H
#define STITCH_ORDER_FINGERPRINTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/order/oncpu_match.h"

struct record;

enum fingerprint_kind {
	FINGERPRINT_SWITCH, /* CPU, thread that leaves, thread that comes */
	FINGERPRINT_RUN,    /* three switches of a CPU in a row */
	FINGERPRINT_CHAIN,  /* cookie, thread */
	FINGERPRINT_FORK,   /* child, parent */
	FINGERPRINT_KINDS
};

struct fingerprint {
	uint64_t hash, time;
};

struct fingerprint_list {
	struct fingerprint
		*p; /* by hash, then time, after fingerprints_end() */
	size_t n, cap;
	uint64_t mask;	      /* of hashes: those that are kept have 0 there */
	uint64_t first, last; /* times of all, kept or not */
};

/* A name that a thread had. */
struct fingerprint_name {
	int32_t tid;
	uint64_t hash;
};

struct fingerprints {
	struct fingerprint_list list[FINGERPRINT_KINDS];
	struct fingerprint_name
		*name; /* by tid, each once, after fingerprints_end() */
	size_t n_name, cap_name;
	uint64_t first, last; /* times of all records; 0, 0: none has one */
	uint64_t switches,
		joined; /* whose thread is the one that came before */
	bool records;	/* the switches are perf's records, not its samples of
			 * the tracepoint, which is some us away */
	struct oncpu_match
		oncpu; /* who was on a CPU, by its samples and switches */
	struct fingerprints_cpus *cpus;
};

struct fingerprints *fingerprints_new(void);
void fingerprints_free(struct fingerprints *p);
void fingerprints_take(struct fingerprints *p, const struct record *rec);
void fingerprints_end(struct fingerprints *p);
/* Are the switches those of all threads? */
bool fingerprints_see_all_switches(const struct fingerprints *p);
#endif
