/* server_ask.h - declarations that the files of cli/server share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/clickhouse/clickhouse.h"
#include "schema/db/rows.h"
#include "stitch/base/intern.h"
#include "stitch/base/table.h"

struct served;

#define SERVER_HASH 16
/* The most runs; the most stacks, threads, events or places. */
#define SERVER_RUNS_MAX 100000
#define SERVER_ITEMS_MAX (1 << 28)

/* Tables of which table run has the number of rows of each run. */
enum server_part {
	SERVER_LOSS,
	SERVER_VERDICT,
	SERVER_TRUST,
	SERVER_FINDING,
	SERVER_PARTS
};

struct server_run {
	uint8_t id[SERVER_HASH];
	int64_t boot;	 /* ns that were added to its times */
	uint64_t kept;	 /* its samples in table sample */
	uint64_t period; /* of --weighted; 0: not given */
	bool counted;	 /* rows[] is known */
	uint64_t rows[SERVER_PARTS];
};

/* A stack as it was recorded. */
struct server_raw {
	uint32_t stack; /* in hashes */
	uint8_t ended;	/* enum unwind_end */
	bool bogus;	/* some frames cannot be callers */
};

struct server {
	struct clickhouse *c;
	struct maker *mk;   /* of the database */
	struct served *out; /* writes its rows */
	const struct server_ask *ask;
	const char *where;	/* the condition in the URL */
	struct server_run *run; /* by capture.id - 1 */
	size_t n_run, cap_run;
	bool filtered;	      /* not all samples of the runs are asked for */
	struct intern chosen; /* ids of runs, in the order of run[] */
	struct intern events; /* names of events */
	uint32_t *type;	      /* the first event_type.id of each name */
	size_t n_type, cap_type;
	uint32_t types;	    /* the highest event_type.id */
	struct table typed; /* from run and event to event_type.id */
	struct intern comm_names;
	struct intern comms;  /* struct server_comm: comm.id - 1 */
	struct intern hashes; /* of stacks; the first n_stacks are asked for */
	size_t n_stacks;
	struct server_raw *raw; /* by raw_chain.id - 1 */
	size_t n_raw, cap_raw;
	struct table raws;
	uint64_t samples; /* in all groups */
	uint64_t there;	  /* in all rows of the runs, without filters */
	uint64_t marks;	  /* of a statement's rows: MARKS in server_sums.c */
};

/* Runs a statement, by server_ask_counted() if `counted`. It may read the table
 * `chosen` with the ids of runs, and in `counted` whether rows[] is known. */
int server_select(struct server *s, const char *sql, const char *types,
		  rowbinary_fn *row, bool counted, struct err *err);
/* Runs a statement whose result may be empty: the server counts the rows first,
 * so that an empty reply is not taken for an empty result. */
int server_ask_counted(const struct server *s, const struct clickhouse_ask *ask,
		       struct err *err);
/* Sets *err for an invalid value and returns -1. For functions that take rows:
 * their caller adds the server's name to *err. */
int server_bad(const char *what, struct err *err);
/* As server_bad(), with the server's name, for all other functions. */
int server_bad_reply(const struct server *s, const char *what, struct err *err);

/* Returns whether v is the text `word`. */
bool server_is(const struct rowbinary_value *v, const char *word);
/* Values for served_put(). */
struct value server_int(int64_t v);
struct value server_text_of(const char *text, size_t len);
struct value server_blob(const void *data, size_t len);
/* SQL's NULL for an empty text, and for the number `unknown`. */
struct value server_text_or_null(const struct rowbinary_value *v);
struct value server_known(int64_t v, int64_t unknown);

/* server_sums.c: fetches the sums of samples. cond: SQL about table sample. */
int server_groups(struct server *s, const char *cond, struct err *err);
/* server_code.c: fetches the stacks of the groups, and their names. */
int server_code(struct server *s, struct err *err);
/* Fetches the places of all stacks that have no name. */
int server_unnamed(struct server *s, struct err *err);
/* server_sums.c: fetches events; losses, verdicts, findings, and the trust of
 * samples with cond. */
int server_events(struct server *s, struct err *err);
int server_sums(struct server *s, const char *cond, struct err *err);
/* Returns the index of a run; SIZE_MAX if it was not chosen. */
size_t server_run_of(const struct server *s, const struct rowbinary_value *id);
