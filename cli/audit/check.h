/* check.h - what the parts of the check command share.
 *
 * Every number is the answer of a named statement (check_queries), as --sql
 * prints it: nothing is added up behind its back. With filters a WITH goes
 * in front, which narrows the tables; what filters cannot narrow is left
 * out, and is said. */
#ifndef CLI_AUDIT_CHECK_H
#define CLI_AUDIT_CHECK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/filter.h"
#include "schema/store.h"

struct check_answer;
struct err;

/* Which filters a statement can follow. */
enum check_scope {
	CHECK_ANY,    /* all of them */
	CHECK_THREAD, /* all but --event */
	CHECK_RING,   /* --time and -C */
	CHECK_WHOLE,  /* none */
};

/* When it is asked. */
enum check_when {
	CHECK_ALWAYS,
	CHECK_AS_PERF,
	CHECK_AS_TID,
	CHECK_EVIDENCE, /* --verbose, and always as JSON */
};

/* SQL: store_sql("check_NAME"). */
struct check_query {
	const char *name;
	const char *what; /* what it counts, or what a row is */
	bool one;	  /* always one row: an object, else an array */
	enum check_when when;
	enum check_scope scope;
};

extern const struct check_query check_queries[]; /* ends with name NULL */

/* --max-loss, --max-unjoined. */
struct check_limit {
	bool percent;
	uint64_t n; /* a count, or millionths */
};

/* The one row of check_breaks: what is broken, and how much. */
struct check_breaks {
	int64_t requests, chains, lost, lost_unknown, out_of_order, findings;
	int64_t records;     /* that were read: for percents of loss */
	int64_t all_stacks;  /* requests, and chains without one */
	bool loss, unjoined; /* more than is tolerated */
	bool bad;	     /* these, or what cannot be tolerated */
	bool tolerated;	     /* not bad because of the limits */
};

struct check {
	struct store *db;
	const char *path;
	bool verbose, as_perf, as_tid;
	long limit; /* rows of evidence; 0: all */
	int status; /* of opening the capture */
	struct check_limit max_loss, max_unjoined;
	struct check_breaks breaks;

	/* With filters: the text in front of each statement. */
	char *prefix;
	struct value bind[FILTER_BIND];
	size_t n_bind;

	struct check_answer *answers; /* check_forget() */
};

/* check_sql.c: the statements. */
int check_filters(struct check *c, struct err *err);
const struct check_query *check_query(const char *name);
bool check_asks(const struct check *c, const struct check_query *q);
/* Can the filters that were given narrow it? */
bool check_covers(enum check_scope scope);
/* --limit, of what is evidence. */
long check_limit(const struct check *c, const struct check_query *q);
/* limit 0: all. NULL and *err. */
struct rows *check_rows(const struct check *c, const struct check_query *q,
			long limit, struct err *err);
void check_print_sql(const struct check *c);

/* check_rows.c: their answers; those of CHECK_ALWAYS are asked for once. */
struct check_row;
typedef void check_fn(void *arg, const struct check_row *r);
/* Calls fn for every row, at most `max` (0: all); gives the number of all
 * rows, or -1. Nothing, when the filters cannot narrow the statement. */
int64_t check_each(struct check *c, const char *name, int64_t max, check_fn *fn,
		   void *arg, struct err *err);
/* The same for the first `max` rows, without looking at the others. */
int check_some(const struct check *c, const char *name, int64_t max,
	       check_fn *fn, void *arg, struct err *err);
/* By the name of the column; NULL counts as 0 and "". */
int64_t check_int(const struct check_row *r, const char *column);
const char *check_text(const struct check_row *r, const char *column);
bool check_null(const struct check_row *r, const char *column);
void check_forget(struct check *c);

/* check_json.c */
int check_print_json(struct check *c, struct err *err);

/* check_judge.c: the verdict. */
int check_judge(struct check *c, struct err *err);
/* "broken", "clean", "damaged" */
const char *check_verdict(const struct check *c);
int check_status(const struct check *c);

/* check_screen.c: what a person sees first. */
int check_screen(struct check *c, struct err *err);
/* check_advice.c: what to do about it; fn gets each sentence. */
typedef void check_advice_fn(void *arg, const char *sentence);
int check_advice(struct check *c, check_advice_fn *fn, void *arg,
		 struct err *err);
/* check_frames.c: frames that cannot be, in lines and as advice. */
struct lines;
int check_frames(struct check *c, struct lines *l, struct err *err);
/* *said: frame pointers are what is missing. */
int check_frames_advice(struct check *c, check_advice_fn *fn, void *arg,
			bool *said, struct err *err);
/* check_others.c: --as-perf, --as-tid. */
int check_others(struct check *c, struct err *err);
/* check_evidence.c: --verbose. */
int check_evidence(struct check *c, struct err *err);
#endif
