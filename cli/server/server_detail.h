/* server_detail.h - what the groups of samples are told apart by, besides
 * event, thread name, stacks and fate. */
#pragma once

struct clickhouse_options;
struct filter;
struct merge_choice;

enum server_detail {
	SERVER_SUMS = 0,
	SERVER_THREADS = 1, /* process and thread */
	SERVER_CPUS = 2,
	SERVER_VERDICTS = 4 /* of joined requests, too */
};

/* What is read of a server; borrowed. */
struct server_ask {
	const struct filter *filter;	   /* which samples */
	unsigned int detail;		   /* of enum server_detail */
	const char *where;		   /* which runs; NULL: all, but */
	const struct merge_choice *choice; /* those of these times */
	const struct clickhouse_options *how;
};
