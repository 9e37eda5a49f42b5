/* callsites.h - the call-site check of a database: which return addresses of
 * user stacks are bogus, and between which frames one is missing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct frames;
struct maker;
struct symbolizer;

/* Called for each file with the number of return addresses that were looked at
 * so far. Returns false if the user wants to stop. */
typedef bool callsites_seen_fn(uint64_t n);

/* Checks each distinct frame and pair of frames of all stored user stacks once,
 * and stores the results, and how far the user stacks of samples can be
 * trusted. fr: what the database was made of, if it did not change since; NULL:
 * it is read from the database. sy NULL: stores only how far stacks can be
 * trusted, of those whose code is not known. Call store_groups_end() before,
 * and this function after naming; call it again when missing programs were
 * added. Returns 0, or -1 and *err if the database fails or seen() returned
 * false; missing code is not an error. */
int callsites_check(struct maker *mk, const struct frames *fr,
		    struct symbolizer *sy, callsites_seen_fn *seen,
		    struct err *err);
/* Judges the user stacks of a merged database, whose frames and pairs of frames
 * were checked in the databases that it was merged from. Returns 0, or -1 and
 * *err. */
int callsites_judge_again(struct maker *mk, struct err *err);
