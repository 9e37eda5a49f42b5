/* push.h - sends the runs of databases to a server, each row exactly once.
 *
 * Any error but Ctrl-C leaves blocks that are whole behind; pushing again sends
 * the others. The row of table run is the last one: a run without it is not
 * there yet. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fleet/fleet.h"
#include "stitch/base/intern.h"
#include "stitch/base/err.h"
#include "stitch/base/blob.h"
#include "stitch/base/table.h"

struct push;
struct push_server;

/* The rows of an insert, as RowBinary packed with gzip. */
struct push_body {
	struct blob packed;
	uint32_t rows;
	uint64_t plain;	   /* bytes before they were packed */
	struct pack *pack; /* NULL: rows are only counted */
	struct blob buf;
	struct push_body *next; /* for its sender */
};

struct push_sender {
	struct clickhouse *c;
	size_t connections; /* inserts at a time, at most */
	bool failed;	/* one has; then err is set, nothing more is sent, */
	bool may_pass;	/* and this tells whether to try again: once all are
			 * drained, by clearing `failed` */
	struct err err; /* of the first that failed */
	struct push_body *bodies; /* under way */
	/* what was stored */
	uint64_t inserts, rows, plain, packed;
};

/* How a push is to go. */
struct push_options {
	struct fleet_ask rows; /* what is sent */
	size_t connections;    /* inserts at a time */
	long retry;	       /* seconds for which we try again */
	bool dry_run;	       /* only tell what would be sent */
	bool replace;	       /* runs that are there with other rows */
	bool fields;	       /* table field too */
	bool progress;	       /* on the terminal */
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

struct push {
	struct push_server *server;
	const struct push_options *o;
	struct push_sender sender;
	struct push_counts counts;
	struct fleet *f; /* the database that is pushed */
	uint64_t total;	 /* samples of its runs, */
	uint64_t done;	 /* and rows so far, for progress */
	/* What the server has, or is sent: of this database, and of all so far
	 * if nothing is sent. */
	struct intern stacks;
	struct table names; /* places, and how good their names are there */
	/* The keys of the batch that the server is asked for, the first n_asked
	 * of these, and the rows that may still come. */
	struct intern asked;
	size_t n_asked, to_come;
	bool name_is_new;      /* of the place before, */
	uint64_t name_version; /* and its version */
};

/* s and o are borrowed. */
struct push *push_new(struct push_server *s, const struct push_options *o);
void push_free(struct push *p); /* NULL is fine */
/* Pushes the runs of a database, stacks and names. path is for messages on
 * stderr. Returns 0, or -1 and *err. */
int push_database(struct push *p, struct store *db, const char *path,
		  struct err *err);
/* Pushes the names of a database only. */
int push_database_names(struct push *p, struct store *db, struct err *err);
struct push_counts push_counts(const struct push *p);
