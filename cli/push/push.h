/* push.h - sends the runs of databases to a server, each row exactly once.
 *
 * After a failure the server has complete blocks, and pushing again sends the
 * others. The row of table run is sent last: a run counts only with it. */
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
	uint64_t plain;	   /* bytes of the rows, not packed */
	struct pack *pack; /* NULL: rows are only counted, or finished */
	struct blob buf;
	struct push_body *next; /* in push_sender.bodies */
};

struct push_sender {
	struct clickhouse *c;
	size_t connections; /* inserts at a time, at most */
	bool failed;	    /* one has: err is set, nothing more is sent */
	bool may_pass;	    /* trying again may help: drain, clear failed */
	struct err err;	    /* of the first insert that failed */
	struct push_body *bodies; /* of inserts under way */
	/* what the server stored */
	uint64_t inserts, rows, plain, packed;
};

/* The options of a push. */
struct push_options {
	struct fleet_ask rows; /* which rows are sent */
	size_t connections;    /* inserts at a time */
	long retry;	       /* seconds of trying again */
	bool dry_run;	       /* only count what would be sent */
	bool replace;	       /* replace runs that have other rows there */
	bool fields;	       /* send table field too */
	bool progress;	       /* show it on the terminal */
};

/* What was done. With dry_run, "sent" is what would be sent. */
struct push_counts {
	uint64_t runs;	/* sent, or completed */
	uint64_t there; /* the server had them already */
	uint64_t other; /* the server has other rows, left alone */
	/* of the runs sent, in all tables but stack and name */
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
	uint64_t total;	 /* samples of its runs */
	uint64_t done;	 /* rows so far, for progress */
	/* What the server has or is being sent, of this database; with dry_run,
	 * of all databases so far. */
	struct intern stacks;
	struct table names; /* the rank of each place's names */
	/* The keys of a batch that the server was asked for are the first
	 * n_asked of `asked`; to_come rows of the reply may still come. */
	struct intern asked;
	size_t n_asked, to_come;
	bool name_is_new;      /* the names of the last place are sent, */
	uint64_t name_version; /* with this version */
};

/* Returns a push for push_free(). s and o are borrowed. */
struct push *push_new(struct push_server *s, const struct push_options *o);
void push_free(struct push *p); /* NULL is fine */
/* Pushes runs, stacks and names of a database. path is for messages on stderr.
 * Returns 0, or -1 and *err. */
int push_database(struct push *p, struct store *db, const char *path,
		  struct err *err);
/* Pushes only the names of a database. Returns 0, or -1 and *err. */
int push_database_names(struct push *p, struct store *db, struct err *err);
struct push_counts push_counts(const struct push *p);
