/* filter.h - the filters that report, flame, script and export share: which
 * samples they read. */
#pragma once
#include <stdbool.h>

#include "schema/db/rows.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct sql_gap;

#define FILTER_LISTS 6
/* What is known of each list while databases are read one by one. A zeroed
 * struct knows nothing. */
struct filter_apart {
	bool found[FILTER_LISTS];
	struct err missing[FILTER_LISTS]; /* what the first database said */
};

/* NULL: not asked for. */
struct filter {
	const char *time; /* perf's syntax: "start,stop" in seconds, or
			   * "10%-20%" */
	const char *cpu;  /* "0,2-4" */
	const char *pid, *tid, *comm, *cgroup, *event; /* comma lists */
	const char *expr;  /* SQL, which weight_rows() evaluates */
	const char *state; /* comma list: in which states waits began; waits.h
			    * alone asks */
	/* For databases that are read one by one: a name that a database does
	 * not have is noted here, and is no error. Whoever reads them calls
	 * filter_end_apart() after the last one. */
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
 * is malformed, or names only what is not in db; without --time db may be NULL,
 * and names are not looked for. */
int filter_sql(const struct filter *filter, struct store *db,
	       char out[FILTER_TEXT], struct filter_values *values,
	       struct err *err);
/* Reads what to add to a time of a database for ns since 1970. Returns 1, 0 if
 * its captures do not have it, or -1 and *err. */
int filter_wall_offset(struct store *db, int64_t *offset, struct err *err);
/* Opens the rows of filter_cgroups: the cgroups of a database. */
struct rows *filter_cgroups(struct store *db, struct err *err);
/* Opens the rows of a named query, whose gap {filter} is that condition, or
 * {wanted} one that lets rows `e` of table event through; gap[] fills its
 * others, seven at most. Returns NULL and *err as filter_sql() and rows_open()
 * do. */
struct rows *filter_rows(const struct filter *filter, struct store *db,
			 const char *query, const struct sql_gap *gap, size_t n,
			 struct err *err);
/* How a server wants the condition. */
struct filter_dialect {
	const char *time; /* an expression: ns on the clock of the capture */
	/* returns a text as a literal, to be freed */
	char *(*quote)(const char *text);
};
/* Writes the filter as a condition on table sample of backstitch-fleet(7).
 * Returns 0, or -1 and *err if an option is malformed, or one that no server
 * can answer. */
int filter_server_sql(const struct filter *filter,
		      const struct filter_dialect *d, char out[FILTER_TEXT],
		      struct err *err);
/* Returns 0, or -1 and *err if none of the databases has a name that the filter
 * asks for. */
int filter_end_apart(const struct filter_apart *apart, struct err *err);
/* Returns whether it selects anything but by expr and state. */
bool filter_given(const struct filter *filter);
/* The same, or by expr. */
bool filter_narrows(const struct filter *filter);
/* Returns what follows "no samples" in a message: " that the filters let
 * through", or, without filters, which command says what there is. */
const char *filter_that_passed(const struct filter *filter);
/* Returns whether --event selects the event; true if it was not given. */
bool filter_takes_event(const struct filter *filter, const char *name);
/* The same of --cpu, and of --pid, --tid and --comm together. */
bool filter_takes_cpu(const struct filter *filter, int32_t cpu);
bool filter_takes_thread(const struct filter *filter, int64_t pid, int64_t tid,
			 const char *comm);
/* Writes the time that --time selects: *to is not in it. Without --time, and
 * where it has no end, from INT64_MIN to INT64_MAX. Returns 0, or -1 and *err
 * if an option is malformed, or names only what is not in db. */
int filter_window(const struct filter *filter, struct store *db, int64_t *from,
		  int64_t *to, struct err *err);
