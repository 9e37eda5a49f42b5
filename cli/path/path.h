/* path.h - the answers of the command path: why a thread took so long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/path/path_run.h"

struct json;
struct path_code;
struct term_lines;

struct path_opts {
	struct path_ask ask;
	const char *of; /* [KIND:]NAME of calls; NULL: not asked for */
	size_t worst;	/* waits whose chains to print; 0: none */
	size_t limit;	/* rows of a table; SIZE_MAX: all */
	size_t lines;	/* of a chain; SIZE_MAX: all */
	bool waits, tree, blame, idle, json;
	bool all;      /* not only the program with which a recording began */
	int64_t least; /* ns; shorter pieces are summed */
	int fail;      /* percent; -1: not asked for */
	const int64_t *wall; /* wall_clock_take() */
};

/* Prints the chains, or the tables of waits. Returns an enum status, or -1 and
 * *err. */
int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err);

/* ---- for other answers of the same */

/* Returns STATUS_LOSS if more of the chains so far is not known than the
 * options allow, else 0. */
int path_status(const struct path_run *r, const struct path_opts *o);
/* Writes that proofs rest on a premise, or with ask.premises ", if ...", which:
 * of a chain, or if c is NULL of any. */
void path_put_premise(const struct path_run *r, const struct chain *c,
		      FILE *out);
/* Returns where to write lines that term_lines_end() prints, wrapped at 80
 * columns. */
FILE *path_lines_begin(struct term_lines *l);
/* Writes ", nothing lost in this time", or a line that says what was. */
void path_put_losses(const struct path_run *r, FILE *out, int64_t from,
		     int64_t to);
/* Writes the largest of n sums: " 45.63 % owner computing, ...", but for those
 * of a thread; before: what comes in front of the first. */
void path_put_sums(const struct path_run *r, struct path_sum *sum, size_t n,
		   uint64_t all, uint32_t without, const char *before,
		   FILE *out);
/* Prints what to record so that less is unknown. */
void path_put_advice(const struct path_run *r, int64_t from, int64_t to);
/* Writes what was lost as member "evidence". */
void path_json_evidence(const struct path_run *r, struct json *j, int64_t from,
			int64_t to);

/* Writes `before` and a function as it is shown, but no image alone, and no
 * function of a library whose caller is missing. Returns whether it did. */
bool path_put_function(FILE *out, const char *before, const char *f);
/* Adds a chain, and prints its first lines. own: what the thread itself did
 * comes first. code: the samples of that time. */
void path_head(struct path_run *r, const struct path_code *code,
	       uint32_t thread, int64_t from, int64_t to, bool own,
	       struct chain *c);
/* Returns the call on a descriptor in which a thread waits at a time, as a
 * detail of struct path_sum, and in *cause what such a call waits for; 0: none
 * is known, and *cause stays. cause may be NULL. */
uint32_t path_call(struct path_run *r, uint32_t thread, int64_t time,
		   enum wait_cause *cause);
/* Returns what the thread of a chain did itself, or for whom and what it
 * waited, for path_add_details(); the caller frees them. process: whose threads
 * are PATH_OWN; -1: none. */
struct path_sum *path_own(struct path_run *r, const struct chain *c,
			  uint32_t thread, int64_t process, size_t *n);
/* Writes "prog (3 threads)" of a sum of several of one name, and returns true.
 */
bool path_put_several(const struct path_run *r, const struct path_sum *s,
		      FILE *out);
/* Writes " 58.12 % computing in count_words, 31.40 % waiting for a lock that
 * prog (4711) held", of n parts of `all` ns. in: the function; "": not known.
 */
void path_put_own(const struct path_run *r, struct path_sum *own, size_t n,
		  uint64_t all, const char *in, FILE *out);
/* Writes "; its threads took 1.20 s for reclaim of memory, 300 times", as far
 * as that is recorded and proved; nothing where it is not. */
void path_put_memory(const struct path_run *r, int64_t pid, int64_t from,
		     int64_t to, FILE *out);
/* One chain, as text and as JSON. path_screen() returns 0, or -1 and *err. */
int path_screen(struct path_run *r, const struct path_opts *o, uint32_t thread,
		int64_t from, int64_t to, struct err *err);
/* The members of an object that the caller begins and ends. */
void path_json(struct path_run *r, struct json *j, uint32_t thread,
	       int64_t from, int64_t to);
/* The longest waits; shares by path of edges; whom waits are put down to.
 * began: with which the recording began; told: JSON has it in front of them. */
int path_waits(struct path_run *r, const struct path_opts *o,
	       const struct path_program *began, bool told, struct err *err);
int path_shares(struct path_run *r, const struct path_opts *o, struct err *err);
/* Writes the first sentence of the process that 'record --waits -p' was to
 * record; nothing if there is none. Returns 0, or -1 and *err. */
int path_put_recorded(struct store *db, const char *path, FILE *out,
		      struct err *err);
