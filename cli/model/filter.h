/* filter.h - the filters that report, flame, script and export share. */
#ifndef CLI_MODEL_FILTER_H
#define CLI_MODEL_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"
#include "schema/db/rows.h"

struct err;
struct rows;
struct sql_gap;
struct store;

struct filter {
	const char *time; /* perf's syntax: "start,stop" in seconds, or
			   * "10%-20%" */
	const char *cpu;  /* "0,2-4" */
	const char *pid, *tid, *comm, *cgroup, *event; /* comma lists */
	const char *expr; /* SQL, which weight_rows() evaluates */
};

extern struct filter filter;
/* --time -C --pid --tid --comm --cgroup --event: for OPT_GROUP */
extern const struct opt filter_opts[];
/* --filter, of commands that read samples by stacks_load() */
extern const struct opt filter_expr_opts[];

#define FILTER_TEXT 65536 /* room for a condition */
/* The strings of a condition, bound as ?1 to ?n; they live until the program
 * ends. */
#define FILTER_VALUES 256
struct filter_values {
	struct value item[FILTER_VALUES];
	size_t n;
};

/* Writes the options as an SQL condition on view `samples` ("1" if none is
 * given), and its values. Returns 0, or -1 and *err if an option is malformed,
 * or names only what is not in db; without --time db may be NULL, and names are
 * not looked for. */
int filter_sql(struct store *db, char out[FILTER_TEXT],
	       struct filter_values *values, struct err *err);
/* Opens the rows of filter_cgroups: the cgroups of a database. */
struct rows *filter_cgroups(struct store *db, struct err *err);
/* Opens the rows of a named query, whose gap {filter} is that condition, or
 * {wanted} one that lets rows `e` of table event through; gap[] fills its
 * others, seven at most. Returns NULL and *err as filter_sql() and rows_open()
 * do. */
struct rows *filter_rows(struct store *db, const char *query,
			 const struct sql_gap *gap, size_t n, struct err *err);
/* How a server wants the condition. */
struct filter_dialect {
	const char *time; /* an expression: ns on the clock of the capture */
	/* writes a text as a literal */
	void (*quote)(FILE *f, const char *text);
};
/* Writes the options as a condition on table sample of backstitch-fleet(7).
 * Returns 0, or -1 and *err if an option is malformed, or one that no server
 * can answer. */
int filter_server_sql(const struct filter_dialect *d, char out[FILTER_TEXT],
		      struct err *err);
/* For databases that are read one by one: filter_sql() takes a name that a
 * database does not have, until filter_end_apart(), which returns 0, or -1 and
 * *err if none of them has it. */
void filter_begin_apart(void);
int filter_end_apart(struct err *err);
/* Returns whether any of filter_opts was given. */
bool filter_given(void);
/* The same, or --filter. */
bool filter_narrows(void);
/* Returns what follows "no samples" in a message: " that the filters let
 * through", or, without filters, which command says what there is. */
const char *filter_that_passed(void);
/* Returns whether --event selects the event; true if it was not given. */
bool filter_takes_event(const char *name);
/* The same of --cpu, and of --pid, --tid and --comm together. */
bool filter_takes_cpu(int32_t cpu);
bool filter_takes_thread(int64_t pid, int64_t tid, const char *comm);
/* Writes the time that --time selects: *to is not in it. Without --time, and
 * where it has no end, from INT64_MIN to INT64_MAX. Returns 0, or -1 and *err
 * if an option is malformed, or names only what is not in db. */
int filter_window(struct store *db, int64_t *from, int64_t *to,
		  struct err *err);
#endif
