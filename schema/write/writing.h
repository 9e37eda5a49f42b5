/* writing.h - what the files of schema/write share: the state of a database
 * being written, and functions that they call of each other. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/door.h"
#include "schema/db/filling.h"
#include "schema/db/rows.h"
#include "stitch/base/table.h"

struct deferral_sums;
struct fact_chain;
struct fact_event;
struct fact_mapping;
struct fact_request;

struct fields;
struct frame_names;
struct frames;
struct mapped_code;
struct naming;
struct payload_rows;
struct sample_groups;
struct source;
struct symbol;

/* The fixed tables that are filled in bulk: indices in store.table. */
enum store_table {
	T_PROCESS,
	T_THREAD,
	T_COMM,
	T_IMAGE,
	T_MAPPING,
	T_EVENT,
	T_PAYLOAD,
	T_EXTRA,
	T_BRANCH,
	T_FRAME,
	T_NAMED, /* the same, with all columns; see naming.c */
	T_STACK,
	T_PATH,
	T_RAW,
	T_REQUEST,
	T_CHAIN,
	T_CHAIN_COPY,
	T_LOSS,
	T_ORDERING,
	T_DAMAGE,
	T_SYMBOL,
	T_INLINE,
	T_JIT_CODE,
	T_JIT_LINE,
	T_GROUP,
	T_FINDING,
	T_GAP,
	T_COUNTER,
	T_COOKIES,
	T_STACK_CHECK,
	T_JUDGED,
	T_LABEL,
	T_CALLSITE,
	T_CALLSITE_LINK,
	T_END,
	T_USER_TRUST,
	T_DEFERRAL,
	T_SEGMENT,
	T_FIXED
};

/* An event type that stands for a kind of record, by name. */
struct mark_type {
	char *name;
	uint32_t id;
};

/* The sums of event_type for its rows in event, by id - 1. */
struct type_count {
	uint64_t events, weight;
};

/* A capture and its event types. */
struct capture_map {
	const struct source *src; /* borrowed; NULL: never announced */
	uint32_t *type;		  /* event index -> event_type.id */
	size_t n_type, cap_type;
	struct mark_type *mark;
	size_t n_mark, cap_mark;
	uint64_t samples, bad_weights;
	int64_t first, last; /* of stored events; TIME_NONE: none */
	bool damaged;
};

struct writing {
	char *temp; /* the file's name until it is finished; NULL: none */
	bool force; /* replaces an existing file in the end */
	struct frames *fr; /* borrowed; NULL: an older database */
	struct capture_map *capture;
	size_t n_capture, cap_capture;
	uint32_t n_types;
	struct type_count *count;
	size_t n_count, cap_count;
	struct fields *fields;
	struct naming *naming;
	bool naming_ended; /* all frames that existed had their turn */
	struct sample_groups *groups;
	struct mapped_code *mapped;	 /* NULL: no mapping so far */
	struct frame_names *frame_names; /* NULL: frames do not wait */

	/* Highest ids written so far. */
	uint32_t images, frames, stacks, raws, symbols, payloads;
	struct payload_rows *payload_rows; /* NULL: not yet made */
	/* (image, start) of each symbol that a capture named -> symbol.id */
	struct table said;
	uint32_t *named; /* by id: the frames that have such a symbol */
	size_t n_named, cap_named;
	bool asked;    /* frames without names were listed once */
	bool renamed;  /* frames got other names after their labels were made */
	bool labelled; /* labels were made */

	unsigned char *used; /* a bit for each stack whose path was written */
	size_t cap_used;
	uint32_t *late; /* stacks written before they were used */
	size_t n_late, cap_late;
	uint32_t *work; /* scratch memory of flush.c */
	size_t cap_work;

	struct deferral_sums *deferral; /* NULL: none waited */

	/* The sums that the tables must have at the end: see sums.c. */
	uint64_t events, requests, chains, copies, deferred, chain_events;
	uint64_t joined;
	/* For requests and chains, by enum sums_of: rows whose verdict
	 * contradicts the rest of the row; and rows without a loss, which are
	 * right only if records were overwritten, as is known at the end. */
	uint64_t unsound[2], unnamed[2];
	bool merged; /* rows change after they were stored */
	uint64_t weight_sum, grouped;
	uint32_t max_chain;
};

/* tables.c: adds the fixed tables to store.table. */
void tables_new(struct maker *mk);
/* The values of a row: a number, which is NULL if unknown; a number that is
 * NULL if it is 0, TIME_NONE or below 0; and text, which may be NULL. */
struct value value_known(bool known, int64_t v);
#define VALUE_OF(v) value_known(true, (int64_t)(v))
#define VALUE_ID(v) value_known((v) != 0, (int64_t)(v))
#define VALUE_TIME(v) value_known((v) != TIME_NONE, v)
#define VALUE_CPU(v) value_known((v) >= 0, v)
struct value value_text(const char *text);
/* p NULL makes NULL. */
struct value value_blob(const void *p, size_t n);
/* Puts a row of a table in bulk: the values of its first columns, which
 * PUT_ROW() takes as arguments. */
int tables_put(struct maker *mk, unsigned int table, const struct value *v,
	       size_t n, struct err *err);
#define VALUES(...)                                                            \
	(const struct value[]){ __VA_ARGS__ },                                 \
		sizeof((const struct value[]){ __VA_ARGS__ }) /                \
			sizeof(struct value)
#define PUT_ROW(mk, table, err, ...)                                           \
	tables_put(mk, table, VALUES(__VA_ARGS__), err)
/* Runs a statement with these values for ?1 and those after it, which
 * PUT_VALUES() takes as arguments; PUT_BY() also prepares the statement. */
int tables_run(struct maker *mk, sqlite3_stmt *st, const struct value *v,
	       size_t n, struct err *err);
#define PUT_VALUES(mk, st, err, ...)                                           \
	tables_run(mk, st, VALUES(__VA_ARGS__), err)
int tables_run_once(struct maker *mk, const char *sql, const struct value *v,
		    size_t n, struct err *err);
#define PUT_BY(mk, sql, err, ...)                                              \
	tables_run_once(mk, sql, VALUES(__VA_ARGS__), err)
/* Runs one statement for each of n items, with values that refer to the item's
 * index as i. Is 0, or -1 and *err. */
#define PUT_EACH(mk, sql, err, n, i, ...)                                      \
	({                                                                     \
		sqlite3_stmt *each_ = maker_prepare(mk, sql, err);             \
		int rc_ = each_ ? 0 : -1;                                      \
                                                                               \
		for (size_t i = 0; !rc_ && i < (n); i++)                       \
			rc_ = PUT_VALUES(mk, each_, err, __VA_ARGS__);         \
		sqlite3_finalize(each_);                                       \
		rc_;                                                           \
	})
/* Makes the rows of large tables visible to SQL: writes those that wait, and
 * calls link_pages(). */
int tables_link(struct maker *mk, struct err *err);
/* Submits the open blocks of ev_ tables if all open blocks together are large:
 * bounds the memory with hundreds of ev_ tables. */
int tables_tidy(struct maker *mk, struct err *err);

/* capture.c: return the event_type.id of a source's event, or of a kind of
 * record; 0 and *err on failure. */
uint32_t capture_type(struct maker *mk, unsigned int source, uint32_t event,
		      struct err *err);
uint32_t capture_mark_type(struct maker *mk, unsigned int source,
			   const char *name, struct err *err);
/* Writes what is known only at the end: numbers of events, times. Returns 0, or
 * -1 and *err. */
int captures_end(struct maker *mk, struct err *err);

/* tables.c: fills the tables word and internal_rule. */
int words_write(struct maker *mk, struct err *err);

/* mapped_code.c: takes a mapping. Returns whether it differs from those before
 * in image, offset, length or protection, which is all that sums need of one;
 * false too if there are too many to know, unless sums are made. */
bool mapped_code_add(struct maker *mk, const struct fact_mapping *m);
void mapped_code_free(struct mapped_code *mc); /* NULL is allowed */

/* flush.c: writes new images, frames, stacks and raw chains. */
int flush_frames(struct maker *mk, struct err *err);
/* Writes a frame of a stack. Call it for the outermost frame first, which has
 * the highest pos: the order of the table's key. */
int flush_path_row(struct maker *mk, uint32_t stack, size_t pos, uint32_t frame,
		   struct err *err);
/* Writes the hashes of stacks that were used after they were written. */
int flush_late_hashes(struct maker *mk, struct err *err);

/* sample_groups.c. weighs: the event has a weight. */
void sample_groups_comm(struct maker *mk, uint32_t id, const char *name);
int sample_groups_event(struct maker *mk, const struct capture_map *c,
			const struct fact_event *e, uint32_t type, bool weighs,
			struct err *err);
int sample_groups_request(struct maker *mk, const struct fact_request *q,
			  struct err *err);
/* Notes that SQL has written rows of table sample_group, so that those in
 * memory are not complete. */
void sample_groups_by_sql(struct maker *mk);
/* Frees sg, except groups that the database has taken over. */
void sample_groups_free(struct sample_groups *sg, const struct store *db);

/* deferral.c: adds up how long requests waited. Takes a request and the type
 * and CPU of its event. */
void deferral_request(struct writing *w, const struct fact_request *q,
		      uint32_t type, int32_t cpu);
/* Writes the sums. For merged databases they are made from the rows, which must
 * be written. */
int deferral_end(struct maker *mk, struct err *err);
void deferral_free(struct deferral_sums *d); /* NULL is allowed */

/* sums.c: note a row of request or chain. */
void sums_request(struct writing *w, const struct fact_request *q);
void sums_chain(struct writing *w, const struct fact_chain *f);
/* Returns -1 and *err if the tables do not add up. */
int sums_check(struct maker *mk, struct err *err);

/* fields.c */
struct fields *fields_new(const char *patterns);
void fields_free(struct fields *fs);
/* Returns true if the raw payload of events without an ev_ table is kept. */
bool fields_keep_raw(const struct fields *fs);

/* For merging: find or make the table of an event, and its columns. ev is for
 * fields_reach_column(), *table is the table's index in store.table; *at is 0
 * if there is no room for it. is_stack: its values are raw_chain ids. */
int fields_reach_table(struct maker *mk, const char *event, unsigned int *ev,
		       unsigned int *table, struct err *err);
int fields_reach_column(struct maker *mk, unsigned int ev, const char *column,
			bool is_stack, unsigned int *at, struct err *err);
/* Writes the name of an event's table, if it has one, into event_type. */
int fields_name_type(struct maker *mk, uint32_t type, const char *event,
		     struct err *err);

/* fact_rows.c: stores a payload, unless an equal one is known. Sets *id to the
 * row's id. */
int payload_rows_put(struct maker *mk, const void *p, size_t len, uint32_t *id,
		     struct err *err);

/* flush.c: continues the numbers of symbols after the last one of an older
 * database. */
int symbol_rows_resume(struct maker *mk, struct err *err);
/* Writes a symbol and sets *id to its new id. */
int symbol_rows_put(struct maker *mk, uint32_t image, const struct symbol *s,
		    uint32_t *id, struct err *err);

/* naming.c: writes the names of the current image. */
int naming_end(struct maker *mk, struct err *err);
void naming_free(struct naming *nm);
