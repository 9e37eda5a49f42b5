/* path.h - the answers of the command path: why a thread took so long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/path/path_run.h"

struct asleep;
struct json;
struct path_code;
struct term_lines;

struct path_opts {
	struct path_ask ask;
	const char *of; /* [KIND:]NAME of calls; NULL: option not given */
	size_t worst;	/* number of waits whose chains to print; 0: none */
	size_t limit;	/* rows of a table; SIZE_MAX: all */
	size_t lines;	/* lines of a chain; SIZE_MAX: all */
	bool waits, tree, blame, idle, json;
	bool all;      /* all threads, not only the recorded program's */
	int64_t least; /* ns; shorter pieces are summed */
	int fail;      /* percent not known that fails; -1: option not given */
	const int64_t *wall; /* result of wall_clock_take() */
};

/* Prints the chains, or the tables of waits. Returns an enum status, or -1 and
 * *err. */
int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err);

/* ---- shared by the files of this folder */

/* Returns STATUS_LOSS if a larger share of the chains made so far is not known
 * than the options allow, else 0. */
int path_status(const struct path_run *r, const struct path_opts *o);
/* Writes that proofs rest on a premise, or with ask.premises the premise itself
 * (", if ..."): that of chain c or, if c is NULL, of all chains so far. */
void path_put_premise(const struct path_run *r, const struct chain *c,
		      FILE *out);
/* Returns a stream for lines, which term_lines_end() prints to stdout, wrapped
 * at 80 columns. */
FILE *path_lines_begin(struct term_lines *l);
/* Writes ", nothing lost in this time", or a line about the losses. */
void path_put_losses(const struct path_run *r, FILE *out, int64_t from,
		     int64_t to);
/* Writes `before` and the largest of n sums, "45.63 % owner computing, ...",
 * except those of thread `without`. all: 100 percent, in ns. */
void path_put_sums(const struct path_run *r, struct path_sum *sum, size_t n,
		   uint64_t all, uint32_t without, const char *before,
		   FILE *out);
/* Prints what to record so that less is unknown. */
void path_put_advice(const struct path_run *r, int64_t from, int64_t to);
/* Writes the member "evidence": what was lost and which records there are. */
void path_json_evidence(const struct path_run *r, struct json *j, int64_t from,
			int64_t to);

/* Writes `before` and a function. It writes nothing and returns false if f is
 * only an image, or a function of a library whose caller is missing. */
bool path_put_function(FILE *out, const char *before, const char *f);
/* Makes chain c, which the caller releases, and prints its first lines: with
 * own, what the thread itself did first. code: the samples of that time. */
void path_head(struct path_run *r, const struct path_code *code,
	       uint32_t thread, int64_t from, int64_t to, bool own,
	       struct chain *c);
/* Returns the call on a descriptor in which a thread waits at a time, as
 * path_sum.detail, and sets *cause, unless cause is NULL, to what such a call
 * waits for. Returns 0, or PATH_ELSEWHERE if it is known that there is none,
 * and leaves *cause alone if no call is known. */
uint32_t path_call(struct path_run *r, uint32_t thread, int64_t time,
		   enum wait_cause *cause);
/* Returns n sums, for path_add_details(), of what the thread of a chain did
 * itself, and for whom and what it waited; the caller frees them. Threads of
 * `process` are PATH_OWN; -1: no thread is. */
struct path_sum *path_own(struct path_run *r, const struct chain *c,
			  uint32_t thread, int64_t process, size_t *n);
/* Writes "prog (3 threads)" and returns true if a sum is of several threads. */
bool path_put_several(const struct path_run *r, const struct path_sum *s,
		      FILE *out);
/* Writes " 58.12 % computing in count_words, 31.40 % waiting for a lock that
 * prog (4711) released", of n parts of `all` ns. in: the function in which it
 * computed; "": not known. */
void path_put_own(const struct path_run *r, struct path_sum *own, size_t n,
		  uint64_t all, const char *in, FILE *out);
/* Writes "; its threads took 1.20 s for reclaim of memory, 300 times", if such
 * times are recorded and proved, else nothing. */
void path_put_memory(const struct path_run *r, int64_t pid, int64_t from,
		     int64_t to, FILE *out);
/* Prints one chain as text. Returns 0, or -1 and *err. */
int path_screen(struct path_run *r, const struct path_opts *o, uint32_t thread,
		int64_t from, int64_t to, struct err *err);
/* Writes one chain as members of a JSON object that the caller opened. */
void path_json(struct path_run *r, struct json *j, uint32_t thread,
	       int64_t from, int64_t to);
/* Writes which threads wait for one another, if some do, and how many of the
 * selected process never ran. */
void path_put_asleep(const struct path_run *r, const struct asleep *a,
		     FILE *out);
/* Writes the member "asleep", if a thread never ran. */
void path_json_asleep(const struct path_run *r, const struct asleep *a,
		      struct json *j);
/* Prints which threads of the selected process never ran, in place of its
 * waits. Returns 1; 0, and prints nothing, if no thread is known to be one. */
int path_asleep(const struct path_run *r, const struct path_opts *o,
		const struct asleep *a);
/* Print the longest waits, or with path_shares() shares of time, by path of
 * edges or by whom waits are put down to. Both return 0, or -1 and *err. began:
 * the program with which the recording began; told: print its chain, too. */
int path_waits(struct path_run *r, const struct path_opts *o,
	       const struct path_program *began, bool told, struct err *err);
int path_shares(struct path_run *r, const struct path_opts *o, struct err *err);
/* Writes what a page says first: of the process of 'record --waits -p' its
 * waits and whether it hangs, of a program that was started only a deadlock.
 * Returns 0, or -1 and *err. */
int path_put_recorded(struct store *db, const char *path, FILE *out,
		      struct err *err);
