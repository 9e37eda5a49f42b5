/* merging.h - what the files of schema/merge share: the state of databases
 * being merged, and functions that they call of each other.
 *
 * A part is a database that is open for reading. For each kind of row that
 * others refer to it has an array from its id there to the id in the result; 0
 * is a row that was left out. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

#include "schema/db/rows.h"
#include "stitch/base/intern.h"
#include "stitch/base/table.h"

struct merge_code;
struct merge_groups;

/* The rows that others refer to. */
enum merge_kind {
	MERGE_NONE,
	MERGE_CAPTURE,
	MERGE_PROCESS,
	MERGE_THREAD,
	MERGE_COMM,
	MERGE_IMAGE,
	MERGE_TYPE,
	MERGE_FRAME,
	MERGE_STACK,
	MERGE_RAW,
	MERGE_SYMBOL,
	MERGE_CHAIN,
	MERGE_LOSS,
	MERGE_PAYLOAD,
	MERGE_KINDS,
	/* whose ids are in merge_part.run */
	MERGE_EVENT = MERGE_KINDS
};

struct merge_map {
	uint32_t *id; /* by the part's id */
	size_t n, cap;
};

/* A capture of an input: key is its index in merge.keys. */
struct merge_capture {
	uint32_t id; /* in its database */
	uint32_t key;
	int64_t first; /* TIME_NONE: not known */
	bool aligned;  /* with another one of its database */
	bool out;      /* another input has it */
};

/* A database to be merged. */
struct merge_input {
	char *path;
	char *place; /* host and kernel of its first capture: only there is a
			file without a build-id the same */
	struct merge_capture *capture;
	size_t n_capture, cap_capture;
	uint32_t rank;	     /* number of the first one in the result */
	int64_t first, last; /* of its events; TIME_NONE: not known */
	int64_t wall;	     /* to add for ns since 1970, if has_wall */
	bool has_wall;
	bool aligned; /* its captures share threads */
	bool out;
	int64_t named; /* frames with a name, and with a line */
	uint64_t bytes;
};

/* An event, in the order of the columns of its table. */
enum merge_event_value {
	MERGE_EVENT_ID,
	MERGE_EVENT_TIME,
	MERGE_EVENT_CPU,
	MERGE_EVENT_THREAD,
	MERGE_EVENT_COMM,
	MERGE_EVENT_TYPE,
	MERGE_EVENT_WEIGHT,
	MERGE_EVENT_KRAW,
	MERGE_EVENT_URAW,
	MERGE_EVENT_PAYLOAD,
	MERGE_EVENT_RAW,
	MERGE_EVENT_VALUES
};

/* Events that have consecutive ids in both databases; to 0: left out. */
struct merge_run {
	uint32_t from, to, n;
};

struct merge_part {
	struct merge_input *in;
	struct store *db;
	struct merge_map map[MERGE_KINDS];
	uint32_t *rank;	 /* by event_type.id: the new id of its capture */
	bool *is_sample; /* and whether events of the type have stacks */
	size_t n_type;
	struct merge_run *run;
	size_t n_run, cap_run;
	/* the next event */
	struct rows *events;
	struct int_row event;  /* by enum merge_event_value */
	int64_t time;	       /* the time by which it is sorted */
	uint32_t at;	       /* capture.id of the result */
	struct rows *payloads; /* in the order of their ids */
	int64_t payload;       /* id of the last one read */
};

struct merge {
	struct merge_input *input;
	size_t n_input, cap_input;
	struct intern keys;   /* of captures */
	uint32_t *capture;    /* by key: capture.id of the result; 0: none */
	size_t n_capture;     /* captures of the result */
	struct intern notes;  /* notes of no capture that were written */
	struct intern kernel; /* mappings of the kernel, by content */
	uint32_t last[MERGE_KINDS]; /* the highest ids in the result */
	uint32_t mappings;
	struct maker *out; /* the result */
	struct merge_code *code;
	struct merge_groups *groups;
	struct merge_counts *counts;
	uint64_t joined; /* see merge_counts */
};

/* The first two columns of the queries that number rows, and of those that
 * begin with an id. */
#define MERGE_ID 0
#define MERGE_REFERENCE 1
#define MERGE_COLUMNS_MAX 32

/* Called for a row before it is written; v[] has its values, with new ids, and
 * may be changed. Returns 1, 0 if the row is to be left out, or -1 and *err. */
typedef int merge_row_fn(struct merge *m, struct merge_part *p,
			 const struct rows *r, struct value *v,
			 struct err *err);

/* How a table is copied. The columns of the query are those of its row in the
 * result. A column with the name of a reference (merge_copy.c) has an id of the
 * part, which is replaced by the new id, or by NULL if the row that it refers
 * to was left out. If that is the first column, or the row must have it, the
 * row is left out too. */
struct merge_copy {
	const char *query;
	unsigned int table;   /* in store.table of the result */
	enum merge_kind kind; /* the kind of row that column "id" numbers;
				 MERGE_NONE: the id stays */
	merge_row_fn *take;   /* NULL: all rows are written unchanged */
	const char *put;      /* a query that writes the rows; NULL: in bulk */
	bool many; /* large: read by pages, as its columns are plain and the
		      first is the key */
};

/* ---- merge_copy.c */

/* Returns the new id of a row, or 0 if it was left out or does not exist. */
uint32_t merge_map_get(const struct merge_map *map, int64_t id);
void merge_map_put(struct merge_map *map, int64_t id, uint32_t to);
/* Stores the new id of a row of a part, whose ids must follow each other.
 * Returns 0, or -1 and *err. */
int merge_part_map(struct merge_part *p, enum merge_kind kind, int64_t id,
		   uint32_t to, struct err *err);
/* Returns the new id of an event, 0 if it was left out. */
uint32_t merge_part_event(const struct merge_part *p, int64_t event);
/* Copies the rows of n queries, one after the other. */
int merge_copy_rows(struct merge *m, struct merge_part *p,
		    const struct merge_copy *c, size_t n, struct err *err);

/* ---- merge_part.c */

/* Opens a database and numbers its rows. Returns the part, for
 * merge_part_close(), or NULL and *err. */
struct merge_part *merge_part_open(struct merge *m, struct merge_input *in,
				   struct err *err);
/* Copies the rows of tables other than event. */
int merge_part_rest(struct merge *m, struct merge_part *p, struct err *err);
void merge_part_close(struct merge_part *p);
/* ---- merge_code.c: images, frames, stacks, symbols and their checks. They
 * are in memory until merge_code_write(). */
struct merge_code *merge_code_new(struct maker *out);
void merge_code_free(struct merge_code *c);
/* Takes the code of a part, and fills its maps. Returns 0, or -1 and *err. */
int merge_code_take(struct merge *m, struct merge_part *p, struct err *err);
int merge_code_write(struct merge *m, struct err *err);

/* ---- merge_groups.c: sample_group. */
struct merge_group {
	uint32_t type, comm, kernel, user;
	int32_t mark, kernel_mark; /* 0: NULL */
	bool weighs;		   /* false: the weight is NULL */
};
struct merge_groups *merge_groups_new(void);
void merge_groups_free(struct merge_groups *g);
/* Sets the name of a comm of the result. */
void merge_groups_comm(struct merge_groups *g, uint32_t comm, const char *name);
/* Changes a group of samples without user stack into that of samples with it;
 * after_exec: the stack is of the program after an exec. */
void merge_group_join(struct merge_group *g, uint32_t user, bool after_exec);
/* Returns the mark of samples without a user stack. */
static inline int32_t merge_group_mark(int64_t verdict)
{
	return (int32_t)(0 - (uint32_t)verdict);
}
/* Removes one sample from its group. */
void merge_groups_leave(struct merge_groups *g, const struct merge_group *key,
			int64_t weight);
/* Adds n samples; n may be negative. */
void merge_groups_add(struct merge_groups *g, const struct merge_group *key,
		      int64_t weight, int64_t n);
int merge_groups_take(struct merge *m, struct merge_part *p, struct err *err);
int merge_groups_write(struct merge *m, struct err *err);

/* ---- merge_settle.c: requests whose chain is in another capture, or in no
 * piece of their stream. Call it when all rows but those of groups are
 * written. */
int merge_join(struct merge *m, struct err *err);
