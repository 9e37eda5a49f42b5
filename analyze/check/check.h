/* check.h - what was lost in a database, and what that breaks.
 *
 * Every number that check prints is the result of a named statement
 * (check_queries) that --sql prints as well. Filters put a WITH clause in front
 * of each statement, which narrows the tables. Statements that filters cannot
 * narrow are skipped, and check says so. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/names/name_opts.h"
#include "analyze/samples/filter.h"
#include "analyze/causes/silent_tasks.h"
#include "analyze/stacks/trust.h"
#include "schema/store.h"

struct check_answer;

/* Which filters can narrow a statement. */
enum check_scope {
	CHECK_ANY,    /* all filters */
	CHECK_THREAD, /* all filters but --event */
	CHECK_RING,   /* --time and -C only */
	CHECK_WHOLE,  /* no filter */
};

/* When check runs a statement. */
enum check_when {
	CHECK_ALWAYS,
	CHECK_AS_PERF,
	CHECK_AS_TID,
	CHECK_EVIDENCE, /* with --verbose, and always with --json */
};

/* The SQL text is store_sql("check_NAME"). */
struct check_query {
	const char *name;
	const char *what; /* what it counts, or what a row stands for */
	bool one;	  /* one row: a JSON object instead of an array */
	enum check_when when;
	enum check_scope scope;
};

extern const struct check_query check_queries[]; /* ends with name NULL */

/* The value of --max-loss or --max-unjoined. */
struct check_limit {
	bool percent;
	uint64_t n; /* a count, or millionths of a percent */
};

/* The result of statement breaks, and what follows from it. */
struct check_breaks {
	int64_t requests, chains, lost, lost_unknown, out_of_order, findings;
	int64_t unlisted; /* processes whose mappings are not all known */
	int64_t vanished; /* stays in the kernel without a record; they count as
			   * lost */
	/* Not provable: counters missing because of another session; findings
	 * that clocks may explain; chains whose samples are missing unless
	 * another session asked for them. */
	int64_t not_provable, open_findings, open_chains;
	int64_t records; /* records that were read, for --max-loss in
			  * percent */
	int64_t asked, joined, refused; /* requests: all, with their chain,
					 * answered at once */
	int64_t all_stacks;		/* requests, and chains without one */
	bool loss, unjoined;		/* more than the limits tolerate */
	bool few_whole;			/* less than min_whole */
	/* Gaps, where records are missing without a loss: ns that they touch,
	 * and ns of all CPUs; and the findings, open findings and losses due to
	 * them, which count above unless limits_gaps is set. */
	int64_t touched, all_time, gaps_broken, gaps_open, gaps_lost;
	bool gaps;     /* touched is more than max_gaps, or unjudged */
	bool unjudged; /* not all switches were to be recorded */
	bool bad;      /* loss, unjoined, or what no limit covers */
	bool untold; /* a capture is a text that could not say what was lost */
	bool tolerated; /* something is broken, but within the limits */
};

struct check {
	struct store *db;
	const char *path;
	const struct filter *filter; /* selects samples; borrowed */
	struct name_opts names;	     /* of functions */
	bool verbose, as_perf, as_tid;
	long limit;   /* rows of evidence; 0: all */
	bool damaged; /* a part of the capture could not be read */
	bool served;  /* the database has the sums of a server */
	bool banner; /* another line reports filters that check cannot follow */
	struct check_limit max_loss, max_unjoined;
	struct check_limit min_whole; /* a percentage; 0: any */
	struct check_limit max_gaps;  /* a percentage, if limits_gaps */
	bool limits_gaps;
	struct check_breaks breaks;
	struct silent_tasks silent; /* of check_judge(), if there are gaps */
	struct trust
		*trust; /* read by check_judge(), freed by check_forget() */

	/* The WITH clause in front of each statement; NULL without filters. */
	char *prefix;
	struct filter_values values; /* of the clause */

	struct check_answer *answers; /* freed by check_forget() */
};

/* Sets c->served, and c->prefix by the filters. Returns 0, or -1 and *err. */
int check_filters(struct check *c, struct err *err);
/* Returns a statement by its name; its name is NULL if there is none. */
const struct check_query *check_query(const char *name);
/* Returns whether check shows a statement. */
bool check_asks(const struct check *c, const struct check_query *q);
/* Returns whether statements of that scope can follow the filters. */
bool check_covers(const struct check *c, enum check_scope scope);
/* Returns whether the filters and the database allow the statement. */
bool check_can(const struct check *c, const char *name);
/* Returns --limit for evidence, 0 (all rows) for other statements. */
long check_limit(const struct check *c, const struct check_query *q);
/* Opens the rows of a statement, at most `limit` (0: all). Returns NULL and
 * *err on failure; the caller closes them. */
struct rows *check_rows(const struct check *c, const struct check_query *q,
			long limit, struct err *err);
/* Returns the text of a statement, to be freed, with ?N for the values of the
 * filters. */
char *check_sql_statement(const struct check *c, const char *name, long limit);

/* A row of a result. Results of CHECK_ALWAYS are read once and kept. */
struct check_row {
	struct rows *live; /* of a running statement; NULL: kept */
	const struct check_answer *kept;
	size_t first, next; /* indexes of the first value in kept */
	int64_t n;	    /* rows of the kept result */
};

/* Stores the place before the first row of a statement of CHECK_ALWAYS. Returns
 * the number of rows, 0 if the filters cannot narrow the statement, -1 and *err
 * on failure; there are none then. Rows are there until check_forget(). */
int64_t check_open(struct check *c, const char *name, struct check_row *r,
		   struct err *err);
/* The same for any statement, whose rows are read one by one, at most `limit`
 * (0: all), to the end, and then closed. Returns 0, or -1 and *err. */
int check_open_live(const struct check *c, const char *name, long limit,
		    struct check_row *r, struct err *err);
/* Goes to the next row. Returns false at the end. */
bool check_next(struct check_row *r);
/* Returns 0, or -1 and *err if the end was an error. */
int check_close(struct check_row *r, struct err *err);
/* The largest count that check_sum() returns. */
#define CHECK_COUNT_MAX (INT64_MAX / 4)
/* Adds the counts of a column to the count *sum. Returns 0, or -1 and *err. */
int check_sum(struct check *c, const char *name, const char *column,
	      int64_t *sum, struct err *err);
/* The value of a column by its name; a NULL is 0 or "". */
int64_t check_int(const struct check_row *r, const char *column);
const char *check_text(const struct check_row *r, const char *column);
bool check_null(const struct check_row *r, const char *column);
/* Frees all but c itself. */
void check_forget(struct check *c);

/* Compares what is broken with the limits. Returns 0, or -1 and *err. */
int check_judge(struct check *c, struct err *err);
/* Returns whether something may be broken that cannot be proved. */
bool check_is_open(const struct check_breaks *b);
/* What the verdict says if it is true of enough user stacks. */
enum check_doubt {
	DOUBT_NONE,
	DOUBT_UNTOLD,  /* a text cannot say what was lost */
	DOUBT_FEW,     /* few user stacks are whole */
	DOUBT_WRONG,   /* many are wrong */
	DOUBT_UNPROVED /* many samples have names that nothing proves */
};
enum check_doubt check_doubt(const struct check *c);
/* Returns "broken", "clean", "unproved", "damaged" or "doubtful". */
const char *check_verdict(const struct check *c);

/* Calls fn with each sentence of advice. Returns 0, or -1 and *err. */
typedef void check_advice_fn(void *arg, const char *sentence);
int check_advice(struct check *c, check_advice_fn *fn, void *arg,
		 struct err *err);
