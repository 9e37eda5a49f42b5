/* firefox_out.h - a whole profile for the Firefox Profiler as JSON. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct firefox;
struct firefox_threads;
struct store;

struct firefox_doc {
	const char *path, *event;
	bool weighted; /* else every sample weighs 1 */
	bool is_time;  /* weights are ns */
	uint64_t samples, weight;
	struct firefox *f;
	struct firefox_threads *threads;
};

/* Writes the profile. Returns 0, or -1 and *err. */
int firefox_write(FILE *out, struct store *db, const struct firefox_doc *d,
		  struct err *err);
