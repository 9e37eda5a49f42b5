/* loss_rows.h - the losses of a database, in time order.
 *
 * --time and -C select losses; the other filters do not, because lost records
 * may have belonged to any thread and event. Memory is bounded by the number of
 * records about losses. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

struct err;
struct filter;
struct store;

/* A loss in the interval (from, to]. n and cpu are -1 if not known. */
struct loss_row {
	int64_t id, cpu, from, to, n;
	const char *what; /* "lost", "throttled", ... */
	uint32_t capture;
	bool counts;	       /* n counts towards the number of lost records */
	bool has_from, has_to; /* whether from, to are known */
};

/* They are ordered by their end; those without one come last. */
struct loss_rows {
	struct loss_row *row;
	size_t n, cap;
	struct arena text;
};

/* Returns NULL and *err if the database or a filter option is refused. */
struct loss_rows *loss_rows_load(struct store *db, const struct filter *filter,
				 struct err *err);
void loss_rows_free(struct loss_rows *l);

/* Returns how many megabytes of buffers for each CPU a command line of perf
 * asks for by -m, rounded up; 0: it does not. */
unsigned int loss_buffer_megabytes(const char *cmdline);
/* Returns how many megabytes to ask for where so many, of these, were too few;
 * 0: more would not help. */
unsigned int loss_larger_megabytes(unsigned int had);
/* Returns what to record in place of a capture of this format that lost
 * records: "larger buffers: ...". had: loss_buffer_megabytes(); record: it is
 * one that record --waits made. */
const char *loss_larger_buffers(const char *format, unsigned int had,
				bool record);
/* The same where records are missing that no recorder counted; NULL: nothing is
 * known to help. */
const char *loss_own_ring(const char *format);

/* Counts the lost records of the whole database, whatever the filters select.
 * *unknown: and more, their number is not known. Returns 0, or -1 and *err. */
int loss_rows_sum(struct store *db, uint64_t *n, bool *unknown,
		  struct err *err);
