/* push.h - sends the runs of databases to a server, each row exactly once.
 *
 * Any error but Ctrl-C leaves blocks that are whole behind; pushing again sends
 * the others. The row of table run is the last one: a run without it is not
 * there yet. */
#ifndef CLI_PUSH_PUSH_H
#define CLI_PUSH_PUSH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct push;
struct push_server;
struct store;

struct push_options {
	size_t jobs;   /* connections */
	long retry;    /* seconds for which we try again */
	bool dry_run;  /* only tell what would be sent */
	bool replace;  /* runs that are there with other rows */
	bool fields;   /* table field too */
	bool progress; /* on the terminal */
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

/* s and o are borrowed. */
struct push *push_new(struct push_server *s, const struct push_options *o);
void push_free(struct push *p); /* NULL is fine */
/* Pushes the runs of a database, stacks and names. path is for messages on
 * stderr. Returns 0, or -1 and *err. */
int push_database(struct push *p, struct store *db, const char *path,
		  struct err *err);
struct push_counts push_counts(const struct push *p);
#endif
