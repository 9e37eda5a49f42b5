/* glance.h - what is said of a finished segment. The process that made the
 * database writes a glance, and the one that receives the stream reads it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

struct glance {
	uint64_t samples;
	uint64_t lost;	   /* records */
	bool lost_unknown; /* and more, nobody knows how many */
	uint64_t open;	   /* deferred stacks still to come */
};

/* Writes the glance of a database. Returns 0, or -1 and *err. */
int glance_write(FILE *out, const char *db, struct err *err);
/* Reads what glance_write() wrote. Returns false if it is not whole. */
bool glance_read(FILE *in, struct glance *g);
