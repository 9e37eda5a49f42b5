/* fingerprints.h - collects events of a capture that other captures have too.
 *
 * Every tracer sees the same switches, forks and chains. Their contents are
 * hashed, to be compared with another capture.
 *
 * Call order: fingerprints_new(), fingerprints_take() for every record in time
 * order, fingerprints_end(); then align.c compares two captures. Memory is
 * bounded: of too many events, those whose hash ends in zeros are kept, which
 * are the same in every capture. Hashes are valid within one run of the
 * program. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_map;
struct record;

/* If one capture has samples and the other has switches, they have no equal
 * events. But a sampled thread must be on a CPU: if many samples agree with the
 * switches, both captures are of one kernel, and their clocks fit.
 *
 * Call order: oncpu_match_add_switch() and oncpu_match_add_hit() in time order,
 * oncpu_match_end(), then oncpu_match_compare(). Memory is bounded: samples are
 * thinned out, and late switches are dropped. */

/* A thread comes to a CPU or leaves it. */
struct oncpu_edge {
	uint64_t time;
	int32_t tid, cpu;
	bool comes;
};

struct oncpu_hit {
	uint64_t time;
	int32_t tid, cpu; /* cpu -1: unknown */
};

/* All zeros: empty. */
struct oncpu_match {
	struct oncpu_edge *edge; /* sorted by thread, then time, by
				  * oncpu_match_end() */
	size_t n_edge, cap_edge;
	struct oncpu_hit *hit;
	size_t n_hit, cap_hit;
	uint64_t seen, every; /* samples seen; one in `every` is kept */
	uint64_t first, last; /* times of the switches that are kept */
	uint64_t cpus;	      /* bit n: a CPU whose number modulo 64 is n had a
			       * switch */
};

struct oncpu_result {
	uint64_t yes, no; /* samples while their thread was on the CPU; while
			   * it was not */
	uint64_t unknown; /* samples of threads without switches */
};

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
	uint64_t kernel, kernel_by;   /* address of the kernel's code (0: not
				       * known), and hash of the name of its
				       * mapping, with the symbol there */
	uint64_t first, last;	      /* times of all records; 0, 0: none */
	uint64_t switches, joined;    /* switches away from the thread that the
					 previous one brought */
	bool records; /* switches come from perf's records; samples of the
		       * tracepoint are some us away */
	struct oncpu_match oncpu; /* which thread was on a CPU, by samples and
				   * switches */
	struct fingerprints_cpus *cpus;
};

struct fingerprints *fingerprints_new(void);
void fingerprints_free(struct fingerprints *p);
void fingerprints_take(struct fingerprints *p, const struct record *rec);
void fingerprints_end(struct fingerprints *p);
/* The order of two struct fingerprint_name: by tid, then hash. */
int fingerprint_names_compare(const void *a, const void *b);
/* Returns true if the switches seem to be those of all threads, on the CPUs
 * that have any. */
bool fingerprints_see_all_switches(const struct fingerprints *p);
/* Returns whether both are of the same samples and switches, and of any. */
bool fingerprints_equal(const struct fingerprints *a,
			const struct fingerprints *b);
/* Returns whether both may have switches of the same CPU. */
bool fingerprints_share_cpus(const struct fingerprints *a,
			     const struct fingerprints *b);

void oncpu_match_release(struct oncpu_match *r);
void oncpu_match_add_switch(struct oncpu_match *r, int32_t cpu, int32_t prev,
			    int32_t next, uint64_t t);
void oncpu_match_add_hit(struct oncpu_match *r, int32_t cpu, int32_t tid,
			 uint64_t t);
void oncpu_match_end(struct oncpu_match *r);
/* Compares the samples of a, whose times map converts to b's clock, with the
 * switches of b. Samples closer than `within` to a switch do not count, nor do
 * those of a CPU of which b has no switches. */
void oncpu_match_compare(const struct oncpu_match *a,
			 const struct oncpu_match *b,
			 const struct clock_map *map, uint64_t within,
			 struct oncpu_result *out);
