/* filter.h - the filters that report, flame, script and export share: which
 * samples they read. */
#pragma once
#include <stdbool.h>

#include "schema/db/rows.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct sql_gap;

#define FILTER_LISTS 6
/* For each list option: whether a database has one of its names, while
 * databases are read one by one. All zeros: none was read. */
struct filter_apart {
	bool found[FILTER_LISTS];
	struct err missing[FILTER_LISTS]; /* the error for the first database */
};

/* The options; NULL: not given. */
struct filter {
	const char *time; /* perf's syntax: "start,stop" in seconds, or
			   * "10%-20%" */
	const char *cpu;  /* "0,2-4" */
	const char *pid, *tid, *comm, *cgroup, *event; /* comma lists */
	const char *expr;  /* SQL, which weight_rows() evaluates */
	const char *state; /* comma list of the states in which waits began;
			    * only waits.h uses it */
	/* For databases that are read one by one: if a database has no name of
	 * a list, that is noted here, and is no error. filter_end_apart() is to
	 * be called after the last one. Else NULL. */
	struct filter_apart *apart;
};

/* Lets everything through. */
extern const struct filter filter_none;

#define FILTER_TEXT 65536 /* room for a condition */
/* The strings of a condition, bound as ?1 to ?n. */
#define FILTER_VALUES 256
struct filter_values {
	struct value item[FILTER_VALUES];
	size_t n, len;
	char text[FILTER_TEXT];
};

/* Writes the filter as an SQL condition on view `samples` ("1" if it lets
 * everything through), and its values. Returns 0, or -1 and *err if an option
 * is malformed, or its names are not in db; without --time db may be NULL, and
 * names are not looked for. */
int filter_sql(const struct filter *filter, struct store *db,
	       char out[FILTER_TEXT], struct filter_values *values,
	       struct err *err);
/* Reads the number of ns to add to a time of the database for the time since
 * 1970. Returns 1, 0 if its captures do not have it, or -1 and *err. */
int filter_wall_offset(struct store *db, int64_t *offset, struct err *err);
/* Opens the rows of query filter_cgroups, the cgroups of a database. Returns
 * NULL and *err on failure. */
struct rows *filter_cgroups(struct store *db, struct err *err);
/* Opens the rows of a named query. Its gap {filter} becomes the condition of
 * filter_sql(), and {wanted} a condition on rows `e` of table event; gap[]
 * fills its other gaps, at most seven. Returns NULL and *err as filter_sql()
 * and rows_open() do. */
struct rows *filter_rows(const struct filter *filter, struct store *db,
			 const char *query, const struct sql_gap *gap, size_t n,
			 struct err *err);
/* How a condition is written for a server. */
struct filter_dialect {
	const char *time; /* SQL expression of the time, ns on the clock of the
			   * capture */
	/* returns a text as a literal, to be freed */
	char *(*quote)(const char *text);
};
/* Writes the filter as a condition on table sample of backstitch-fleet(7).
 * Returns 0, or -1 and *err if an option is malformed, or one that no server
 * can answer. */
int filter_server_sql(const struct filter *filter,
		      const struct filter_dialect *d, char out[FILTER_TEXT],
		      struct err *err);
/* Returns 0, or -1 and *err if no database has any name of a list option. */
int filter_end_apart(const struct filter_apart *apart, struct err *err);
/* Returns whether an option other than expr and state is given. */
bool filter_given(const struct filter *filter);
/* The same, other than time and event: what these leave out, shows. */
bool filter_leaves_out_tasks(const struct filter *filter);
/* Returns whether an option other than state is given. */
bool filter_narrows(const struct filter *filter);
/* Returns what follows "no samples" in a message: " that the filters let
 * through", or, without filters, which command says what there is. */
const char *filter_that_passed(const struct filter *filter);
/* Returns whether --event selects the event; true if it was not given. */
bool filter_takes_event(const struct filter *filter, const char *name);
/* The same for --cpu, and for --pid, --tid and --comm together. */
bool filter_takes_cpu(const struct filter *filter, int32_t cpu);
bool filter_takes_thread(const struct filter *filter, int64_t pid, int64_t tid,
			 const char *comm);
/* Stores the time that --time selects: from *from, inclusive, to *to,
 * exclusive, or INT64_MIN and INT64_MAX where --time has no limit. Returns 0,
 * or -1 and *err if any option is malformed, or its names are not in db. */
int filter_window(const struct filter *filter, struct store *db, int64_t *from,
		  int64_t *to, struct err *err);
/* Refuses a --time in which nothing was recorded: no word is true of it.
 * Returns 0, or -1 and *err. */
int filter_check_recorded(const struct filter *filter, struct store *db,
			  struct err *err);
