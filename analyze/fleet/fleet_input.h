/* fleet_input.h - what the files of this room share: a database as its rows
 * need it, and how a table makes rows. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fleet/fleet_schema.h"
#include "stitch/base/intern.h"

struct err;
struct fleet_ask;
struct known_code;
struct store;

/* The most addresses that a record of perf has room for, whose size is a u16.
 * Without a limit a small database could make rows of any size. */
#define FLEET_FRAMES_MAX 8192

/* Ids in words and in hashes that never change. */
#define FLEET_NO_WORD 0 /* "" */
#define FLEET_NO_HASH 0 /* 16 bytes 0 */

#define FLEET_VERDICTS 32
#define FLEET_CONFIDENCES 8

/* A number of requests or chains by verdict and confidence. Numbers beyond
 * these, which only a damaged database has, count as 0. */
struct fleet_counts {
	uint64_t n[FLEET_VERDICTS][FLEET_CONFIDENCES];
};

static inline void fleet_count(struct fleet_counts *c, int64_t verdict,
			       int64_t confidence)
{
	bool known = verdict >= 0 && verdict < FLEET_VERDICTS;
	bool sure = confidence >= 0 && confidence < FLEET_CONFIDENCES;

	c->n[known ? verdict : 0][sure ? confidence : 0]++;
}

struct fleet_capture {
	struct fleet_run run;
	int64_t id;
	int64_t wall; /* ns to add to times; 0 if it is not known */
	bool has_wall;
	bool counted; /* its samples were read to the end: the next three are
		       * complete */
	uint64_t kept, rows; /* samples, and rows of table sample */
	struct fleet_counts requests;
	/* By enum fleet_table_id: ended if all rows were read, and their
	 * number. */
	bool ended[FLEET_TABLES];
	uint64_t n[FLEET_TABLES];
};

struct fleet_chain {
	uint32_t stack; /* id in hashes */
	uint32_t ended; /* a mark, id in words */
};

/* A stack with bogus frames. Besides its own hash it has one of its frames and
 * of which of them are bogus. */
struct fleet_wrong {
	uint32_t first; /* position of the first bogus frame; 0: none */
	uint32_t hash;	/* id in hashes */
	bool sound;	/* a chain with it was not walked by frame pointers */
};

struct fleet {
	struct store *db;
	const struct fleet_ask *ask;
	struct intern words, hashes;
	struct fleet_capture *capture;
	size_t n_capture, cap_capture;
	uint32_t *stack; /* id in hashes, by stack.id */
	size_t n_stack, cap_stack;
	struct fleet_wrong *wrong; /* by stack.id */
	size_t n_wrong, cap_wrong;
	struct fleet_chain *chain; /* by raw_chain.id; [0] is empty */
	size_t n_chain, cap_chain;
	uint32_t after_exec;	 /* a mark, id in words */
	uint32_t verdict[32];	 /* ids in words, by enum request_verdict */
	struct known_code *code; /* NULL: not loaded */
};

/* Returns the id of a text in words. Bytes that are not UTF-8 are escaped. */
uint32_t fleet_word(struct fleet *f, const char *s, size_t len);
/* The same for a string; NULL: FLEET_NO_WORD. */
uint32_t fleet_word_of(struct fleet *f, const char *s);
/* Loads the code, the first time it is called. Returns 0, or -1 and *err. */
int fleet_load_code(struct fleet *f, struct err *err);
/* Returns whether something can have been called from a frame, at `pos` of a
 * stack whose first bogus frame is `first`. */
enum fleet_frame fleet_bogus(const struct known_code *c, uint32_t frame,
			     uint32_t pos, uint32_t first);
/* Returns a CPU, process or thread; -1 if v cannot be one. */
static inline int32_t fleet_small(int64_t v)
{
	return v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}
/* Returns a time of a capture as the fleet's tables have it. */
static inline int64_t fleet_time(const struct fleet_capture *c, int64_t time)
{
	return (int64_t)((uint64_t)time + (uint64_t)c->wall);
}

/* A batch of rows while it is filled, value by value in the order of the
 * columns: the values of a column. */

struct fleet_values {
	void *data;
	uint32_t *first; /* see struct fleet_cells; NULL: no list */
	size_t n, cap, cap_first;
};

struct fleet_fill {
	const struct fleet_table *table;
	struct fleet_values of[FLEET_COLUMNS_MAX];
	struct fleet_cells cell[FLEET_COLUMNS_MAX];
	size_t at;	   /* the column of the next value */
	size_t rows, room; /* room: rows that fit */
	size_t items;	   /* values of all lists, bytes of texts of fields */
	struct fleet_batch batch;
};

struct fleet_rows {
	struct fleet *f;
	struct fleet_capture *capture; /* NULL: the table is not by_run */
	uint32_t run;		       /* its id, in hashes */
	bool whole;		       /* step() sets all columns */
	struct fleet_fill fill;
	bool ended;
	uint64_t n; /* rows so far */
	/* Adds the next row to fill, all but the run unless it is `whole`.
	 * Returns 1, 0 at the end, or -1. */
	int (*step)(struct fleet_rows *r, struct err *err);
	void (*close)(struct fleet_rows *r);
	void *of; /* their state */
};
