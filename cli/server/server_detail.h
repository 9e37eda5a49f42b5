/* server_detail.h - by what samples are grouped, besides event, thread name,
 * stacks and fate. */
#pragma once

struct clickhouse_options;
struct filter;
struct merge_choice;

enum server_detail {
	SERVER_SUMS = 0,
	SERVER_THREADS = 1, /* process and thread */
	SERVER_CPUS = 2,
	SERVER_VERDICTS = 4 /* those of joined requests, too */
};

/* What is read from a server; borrowed. */
struct server_ask {
	const struct filter *filter;	   /* which samples */
	unsigned int detail;		   /* of enum server_detail */
	const char *where;		   /* which runs, as SQL; NULL: all */
	const struct merge_choice *choice; /* which runs, by time */
	const struct clickhouse_options *how;
};
