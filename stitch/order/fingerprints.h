/* fingerprints.h - collects events of a capture that other captures have too.
 *
 * Every tracer sees the same switches, forks and chains. Their contents are
 * hashed, to be compared with another capture.
 *
 * Call order: fingerprints_new(), fingerprints_take() for every record in time
 * order, fingerprints_end(); then clock_fit.h compares two captures. Memory is
 * bounded: of too many events, those whose hash ends in zeros are kept, which
 * are the same in every capture. Hashes are valid within one run of the
 * program. */
#pragma once
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
	struct fingerprint *p; /* sorted by hash, then time, by
				* fingerprints_end() */
	size_t n, cap;
	uint64_t mask; /* the hashes of all kept events have 0 in these bits */
	uint64_t first, last; /* times of all events, kept or not */
};

/* A name of a thread, or a page of a process. */
struct fingerprint_name {
	int32_t tid; /* or pid */
	uint64_t hash;
};

/* Sorted by tid, without duplicates, by fingerprints_end(). */
struct fingerprint_names {
	struct fingerprint_name *p;
	size_t n, cap;
};

struct fingerprints {
	struct fingerprint_list list[FINGERPRINT_KINDS];
	struct fingerprint_names name;
	struct fingerprint_names map; /* pages of code at addresses that the
				       * kernel chose at random */
	uint64_t first, last;	      /* times of all records; 0, 0: none */
	uint64_t switches,
		joined; /* switches away from the thread that came before */
	bool records;	/* switches come from perf's records; samples of the
			 * tracepoint are some us away */
	struct oncpu_match oncpu; /* who was on a CPU, by samples and
				   * switches */
	struct fingerprints_cpus *cpus;
};

struct fingerprints *fingerprints_new(void);
void fingerprints_free(struct fingerprints *p);
void fingerprints_take(struct fingerprints *p, const struct record *rec);
void fingerprints_end(struct fingerprints *p);
/* The order of two struct fingerprint_name: by tid, then hash. */
int fingerprint_names_compare(const void *a, const void *b);
/* Returns true if the switches seem to be those of all threads. */
bool fingerprints_see_all_switches(const struct fingerprints *p);
