/* push_counts.h - how a push is to go, and what it did. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;

struct push_options {
	const struct filter *filter; /* which samples */
	size_t connections;	     /* inserts at a time */
	long retry;		     /* seconds for which we try again */
	bool dry_run;		     /* only tell what would be sent */
	bool replace;		     /* runs that are there with other rows */
	bool fields;		     /* table field too */
	bool progress;		     /* on the terminal */
};

/* With dry_run, "sent" is what would be. */
struct push_counts {
	uint64_t runs;	/* that were sent, or completed */
	uint64_t there; /* that the server had already */
	uint64_t other; /* that it has with other rows, which were left alone */
	/* of the runs that were sent: of all tables but stack and name */
	uint64_t blocks, rows;
	uint64_t blocks_sent, rows_sent;
	uint64_t stacks, stacks_sent;
	uint64_t names, names_sent;    /* rows */
	uint64_t plain, packed;	       /* bytes of all rows sent */
	uint64_t samples, sample_rows; /* that were read: with --weighted a row
					* stands for several */
	uint64_t retries;
};
