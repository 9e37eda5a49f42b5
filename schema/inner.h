/* inner.h - what the files of schema/ share: the store's own struct.
 *
 * Only one thread uses the connection at a time. While a database is being
 * made, rows go main thread -> bulk (blocks) -> writer; whoever wants to run
 * a statement on the main thread calls store_drain() first, which waits
 * until every block is in and the writer sleeps. */
#ifndef SCHEMA_INNER_H
#define SCHEMA_INNER_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/bulk.h"
#include "stitch/base/table.h"

struct err;
struct fields;
struct frames;
struct naming;
struct source;
struct tally;
struct writer;

#define APPLICATION_ID 0x62737463 /* "bstc" in the file's header */

/* The fixed tables that are filled in bulk: places in store.table. */
enum store_table {
	T_PROCESS,
	T_THREAD,
	T_COMM,
	T_IMAGE,
	T_MAPPING,
	T_EVENT,
	T_EVENT_RAW,
	T_EXTRA,
	T_BRANCH,
	T_FRAME,
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
	T_FIXED
};

/* Event types that come from records instead of events, by name. */
struct mark_type {
	char *name;
	uint32_t id;
};

/* What event_type says of its rows in event, by id - 1. */
struct type_count {
	uint64_t events, weight;
};

/* One capture: its event types. */
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

struct store {
	sqlite3 *db;
	char *path; /* for messages; "" for a temporary one */
	char *temp; /* the name it has until it is finished */
	bool making, writable, force, finished;
	const struct frames *fr;

	struct bulk_table **table;
	size_t n_table, cap_table;
	struct bulk bulk;
	struct writer *wr; /* NULL while only reading */

	struct capture_map *capture;
	size_t n_capture, cap_capture;
	uint32_t n_types;
	struct type_count *count;
	size_t n_count, cap_count;
	struct fields *fields;
	struct naming *naming;
	struct tally *tally;

	/* Highest ids written so far. */
	uint32_t images, frames, stacks, raws;
	unsigned char *used; /* a bit per stack that has its path */
	size_t cap_used;
	uint32_t *late; /* stacks written before they were used */
	size_t n_late, cap_late;
	uint32_t *work; /* scratch of flush */
	size_t cap_work;

	/* What must be in the tables at the end. */
	uint64_t events, requests, chains, copies, deferred, chain_events;
	uint64_t joined;
	uint64_t weight_sum, grouped;
	uint32_t max_chain;
};

/* Runs SQL of ours, several statements; the message names path and cause. */
int store_exec(struct store *db, const char *sql, struct err *err);
/* One value of one row; 0, or -1. No row: *out is 0. */
int store_number(struct store *db, const char *sql, int64_t *out,
		 struct err *err);
/* Fills *err from the connection's last error; -1. */
int store_error(const struct store *db, int rc, struct err *err);
/* NULL and *err when it cannot be prepared. */
sqlite3_stmt *store_prepare(struct store *db, const char *sql, struct err *err);
/* Runs a statement that gives no rows, and resets it. */
int store_step(struct store *db, sqlite3_stmt *st, struct err *err);
/* Every row is in and the connection is the caller's. */
int store_drain(struct store *db, struct err *err);
/* A row of table t with room for `data` bytes of text and blobs. */
int store_row(struct store *db, unsigned int t, size_t data, struct row *row,
	      struct err *err);
/* Adds a table to the bulk tables; its number, or -1. */
/* The fixed tables. */
void store_tables_new(struct store *db);
/* A file's name that SQLite cannot take for a URI; the caller's to free. */
char *store_plain_name(const char *path);
int store_table_add(struct store *db, const struct bulk_shape *shape);

/* Sends open blocks on when they hold much: keeps memory bounded with
 * hundreds of ev_ tables. */
int store_tidy(struct store *db, struct err *err);

/* capture.c: event_type.id of a source's event; 0 and *err on failure. */
uint32_t store_type(struct store *db, unsigned int source, uint32_t event,
		    struct err *err);
uint32_t store_mark_type(struct store *db, unsigned int source,
			 const char *name, struct err *err);
struct capture_map *store_capture_map(struct store *db, unsigned int index);
void store_captures_release(struct store *db);
int store_captures_end(struct store *db, struct err *err);
/* Fills table word. */
int store_words(struct store *db, struct err *err);
/* A view of the findings of each rule. */
int store_rule_views(struct store *db, struct err *err);
/* What is known of the threads that switches take away, for the views. */
int store_switch_view(struct store *db, struct err *err);

/* ledger.c */
struct ledger;
int store_ledger(struct store *db, struct ledger *lg, struct err *err);

/* flush.c */
int store_write_frames(struct store *db, struct err *err);
int store_late_hashes(struct store *db, struct err *err);

/* schema/write/sample_groups.c: samples added up. weighs: the event has a
 * weight. */
struct fact_event;
struct fact_request;
void tally_comm(struct store *db, uint32_t id, const char *name);
int tally_event(struct store *db, const struct capture_map *c,
		const struct fact_event *e, uint32_t type, bool weighs,
		struct err *err);
int tally_request(struct store *db, const struct fact_request *q,
		  struct err *err);
int tally_end(struct store *db, struct err *err);
void tally_free(struct tally *ta);

/* check.c: do the tables add up? */
int store_check(struct store *db, struct err *err);

/* rows.c: from now on nothing but reading is allowed. */
int store_guard(struct store *db, struct err *err);

/* fields.c */
struct fields *fields_new(const char *patterns);
void fields_free(struct fields *fs);
/* Is the raw payload of events without ev_ table kept? */
bool fields_keep_raw(const struct fields *fs);

/* jitted.c: bytes and lines of an image, if it is jitted code. */
struct arena;
struct jit_code;
int jitted_put(struct store *db, uint32_t id, struct err *err);
/* Its lines again, in text. */
int jitted_lines(struct store *db, uint32_t image, struct arena *text,
		 struct jit_code *out, struct err *err);

/* naming.c */
/* The symbol that a capture said is at an offset of an image: its id, 0 for
 * none. */
int naming_said(struct store *db, uint32_t image, uint64_t off, uint32_t *id,
		uint64_t *symoff, struct err *err);
int naming_end(struct store *db, struct err *err);
void naming_free(struct naming *nm);
/* The SQL function that finish.sql calls; only while writing. */
int naming_functions(struct store *db, struct err *err);
/* Symbols of an older database are numbered on. */
int naming_resume(struct store *db, struct err *err);

/* text.c: s with what would break a line of folded stacks replaced; always
 * ends with 0; gives the length. */
size_t text_label(const char *s, char *out, size_t size);

/* All SQL files: generated by embed.sh, found by queries.c. */
struct sql_file {
	const char *name, *text;
};
extern const struct sql_file sql_files[];
const char *sql_file(const char *name);

/* The columns of each named query, separated by blanks, as columns.awk names
 * them; "..." at the end: the caller knows of more. For the test that compares
 * them with what SQLite says. */
struct query_columns {
	const char *query, *columns;
};
extern const struct query_columns query_columns[];
#endif
