/* clickhouse.h - asks a ClickHouse server, by its HTTP interface.
 *
 * Call clickhouse_open(), then any number of statements, clickhouse_close(). No
 * statement is sent again: after an insert failed, ask whether the server has
 * its rows. Inserts go on while other statements are run.
 *
 * Ctrl-C ends a statement with ERR_STOPPED. All versions from 18.16 on. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>

struct err;
struct rowbinary;

/* ---- the rows of a reply in ClickHouse's format RowBinary, which
 * comes in pieces from a server that is not trusted.
 *
 * Memory is bounded by the longest row. */

/* Limits: */
#define ROWBINARY_COLUMNS 40
#define ROWBINARY_ROW ((size_t)64 << 20) /* bytes of a row */
#define ROWBINARY_ITEMS (1 << 20)	 /* of all lists of a row */

/* A value of a row; lists have items. Only the member for its type is set. */
struct rowbinary_value {
	union {
		uint64_t u; /* u8, u16, u32, u64 */
		int64_t i;  /* i32, i64 */
		double f;   /* f64 */
	};
	const char *text; /* string, hash: len bytes, no 0 follows */
	size_t len;
	const struct rowbinary_value *item; /* of a list */
	size_t n;
};

/* Takes a row: a value for each column, valid until it returns. Returns 0, or
 * -1 and *err. */
typedef int rowbinary_fn(void *arg, const struct rowbinary_value *row,
			 struct err *err);

/* Returns a reader for rowbinary_free(). types: names of types with blanks
 * between them, as "hash u64 string [u16]"; they are u8, u16, u32, u64, i32,
 * i64, f64, string and hash (16 bytes), and lists of these. */
struct rowbinary *rowbinary_new(const char *types, rowbinary_fn *fn, void *arg);
void rowbinary_free(struct rowbinary *r); /* NULL is fine */
/* Takes the next n bytes, and calls fn() for complete rows, for the last of
 * them perhaps later. Returns 0, or -1 and *err if fn() failed, or a row is
 * larger than the limits above. */
int rowbinary_add(struct rowbinary *r, const void *data, size_t n,
		  struct err *err);
/* Calls fn() for the last rows. Returns 0, or -1 and *err; it is an error if
 * the bytes do not end with a row. */
int rowbinary_finish(struct rowbinary *r, struct err *err);

/* A connection to a server. */
struct clickhouse {
	const char *name; /* the URL without the user, for messages */
	const char *database;
	/* The statement that failed last may succeed if it is tried again
	 * later: the server could not be reached or was busy. */
	bool may_pass;
	/* the code of the exception with which the server refused the last
	 * statement; 0: it did not, or the failure was another one */
	long code;
	long timeout;	/* seconds for one request */
	size_t inserts; /* begun, and not returned by clickhouse_step() */
	struct clickhouse_own *own;
};

/* Options of a connection; borrowed. */
struct clickhouse_options {
	const char *password_file, *ca_file; /* NULL each: not given */
	long timeout;			     /* seconds for one request */
};

/* Returns whether the text begins like a URL of a server: "clickhouse://" or
 * "clickhouses://" (TLS). */
bool clickhouse_is_url(const char *text);
/* Connects, and asks for the version of the server. url is
 * "clickhouse://user@host:8123/database"; may be left out: user ("default"),
 * port (8123; TLS: 8443), database ("default"). Returns NULL and *err if the
 * URL is wrong (ERR_USAGE; a URL with a password is), or the server does not
 * answer or refuses the user. */
struct clickhouse *clickhouse_open(const char *url,
				   const struct clickhouse_options *o,
				   struct err *err);
void clickhouse_close(struct clickhouse *c); /* NULL is fine */

/* Runs a statement that returns no rows. Returns 0, or -1 and *err. */
int clickhouse_run(struct clickhouse *c, const char *sql, struct err *err);
/* Makes the database of the URL if it is missing. Returns 0, or -1 and *err. */
int clickhouse_create_database(struct clickhouse *c, struct err *err);

/* A SELECT without FORMAT, and the types of its columns, as for
 * rowbinary_new(). */
struct clickhouse_ask {
	const char *sql;
	const char *types;
	rowbinary_fn *row;
	void *arg;
	/* If not NULL, a table with this name can be read by the statement: its
	 * columns ("stack FixedString(16)"), and its rows as RowBinary. */
	const char *extra, *extra_columns;
	const void *data;
	size_t len;
};
/* Calls row() for each row of the answer as it comes, in bounded memory.
 * Returns 0 once the whole answer came, which its gzip trailer proves, or -1
 * and *err: row() may have been called for some rows then. */
int clickhouse_select(struct clickhouse *c, const struct clickhouse_ask *ask,
		      struct err *err);
/* Runs a SELECT of exactly one row, and sets v[] to its values, of which
 * strings are not valid after the call. Returns 0, or -1 and *err. */
int clickhouse_select_one(struct clickhouse *c, const char *sql,
			  const char *types, struct rowbinary_value *v,
			  struct err *err);

/* Begins "INSERT INTO table (columns) FORMAT RowBinary", whose rows are body,
 * packed by formats/pack.h. body is borrowed until clickhouse_step() returns
 * it. id is the query's id, or NULL. The statement ends when all shards have
 * the rows. */
void clickhouse_insert(struct clickhouse *c, const char *sql, const char *id,
		       const void *body, size_t len, void *arg);
/* How an insert ended. */
struct clickhouse_done {
	void *arg;
	int rc;	       /* 0, or -1 and *err */
	bool may_pass; /* as in struct clickhouse */
};
/* Continues the inserts, and waits up to `ms` for the end of one. Returns 1 and
 * *done if one has ended; 0 if none has, -1 and *err (ERR_STOPPED) after
 * Ctrl-C. */
int clickhouse_step(struct clickhouse *c, int ms, struct clickhouse_done *done,
		    struct err *err);
/* Cancels all inserts: the server may have stored any, or still do so. */
void clickhouse_drop_inserts(struct clickhouse *c);

/* Write a text as a literal of SQL, in quotes; or a name, in backquotes. Both
 * may have any bytes and length: a name that is cut is another one. */
void clickhouse_quote(FILE *f, const char *text);
void clickhouse_quote_name(FILE *f, const char *name);

/* ---- what only the files of cli/clickhouse use: where a server is, and what
 * its refusals mean. */

/* A URL in its parts. */
struct clickhouse_place {
	bool tls;
	char user[256];
	char host[256]; /* as in the URL: with brackets if it is IPv6 */
	unsigned int port;
	char database[256];
	char name[600]; /* the URL without the user */
};
/* Parses a URL. Returns 0, or -1 and *err (ERR_USAGE). */
int clickhouse_place_parse(struct clickhouse_place *p, const char *url,
			   struct err *err);
/* Reads the password from a file or, if path is NULL, from the environment. The
 * caller frees *out, which is NULL if there is none. Returns 0, or -1 and
 * *err. */
int clickhouse_password(const char *path, char **out, struct err *err);

/* A reply with a status other than 200. */
struct clickhouse_refusal {
	long status;	  /* of HTTP */
	const char *text; /* its body, perhaps cut; ends with a 0 */
};
/* Sets *err to a message, *code to the exception's code (0: not known), and
 * *may_pass. Returns -1. */
int clickhouse_refused(const struct clickhouse_place *p,
		       const struct clickhouse_refusal *r, long *code,
		       bool *may_pass, struct err *err);
