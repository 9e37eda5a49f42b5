/* merge.h - several databases become one: captures keep their identity, and
 * what is equal by content is stored once.
 *
 * merge_new(), merge_add() for each database, merge_choose() for a part of
 * them, merge_write() into a database that maker_create() or
 * maker_create_temp() made without frames; then the caller judges the user
 * stacks (callsites_judge_again()) and calls maker_finish().
 *
 * A capture is known by its content, not by its path: in a second database it
 * is left out. Events are in time order; of the same time, in the order of
 * their captures. Images, frames, stacks, lists of addresses and symbols are
 * equal if their content is. Threads, names and mappings are those of their
 * capture. All other rows add up. So the result does not depend on the order
 * of the databases, and merged databases can be merged again.
 *
 * A request that waited when its capture ended is joined to the chain that
 * another capture of the same host, kernel and clock has for its cookie and
 * thread id: that is how the pieces of a recording fit together.
 *
 * A database is open only while its events are read, so that the number of
 * those open is the number of those that overlap in time. Memory grows with
 * what is distinct in them, not with their events. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct merge;
struct maker;

struct merge_counts {
	size_t databases; /* that were read */
	size_t captures;
	size_t twice;	 /* captures left out, because another database has
			  * them too */
	uint64_t events; /* that were stored */
	uint64_t joined; /* requests whose chain was in another capture */
};

/* What merge_choose() keeps. Times are ns on the clock of the captures, or
 * since 1970 if all captures know the difference and the time is of this
 * century; both ends may be missing. */
struct merge_choice {
	bool has_from, has_to;
	int64_t from, to;
	int64_t since; /* ns before the last event of all; 0: all */
	size_t last;   /* only this many databases, the newest; 0: all */
};

/* Writes the 32 hex digits by which a capture is known: a hash of what the
 * query merge_known gives of it, which is the same in a merged database and in
 * its own. */
#define MERGE_KEY_SIZE 33
void merge_content_key(const char *content, char key[MERGE_KEY_SIZE]);

/* Stores whether a merge made the database. Returns 0, or -1 and *err. */
int merge_is_result(const char *path, bool *is_result, struct err *err);

struct merge *merge_new(void);
void merge_free(struct merge *m); /* NULL is fine */
/* Reads which captures a database has, and their times. path is copied.
 * Returns 0, or -1 and *err. */
int merge_add(struct merge *m, const char *path, struct err *err);
/* The same for databases of which merge_choose() will leave some: reads only
 * the times of this one, if that is possible without opening it.
 * merge_load_chosen() reads the captures of those that are left. */
int merge_add_later(struct merge *m, const char *path, struct err *err);
int merge_load_chosen(struct merge *m, struct err *err);
/* Leaves whole databases out that have no event in the times that are asked
 * for. Returns the number of databases that are left. */
size_t merge_choose(struct merge *m, const struct merge_choice *c);
/* Returns the bytes of the databases that are left, and the path of the only
 * one, or NULL if there are several. */
uint64_t merge_bytes(const struct merge *m);
const char *merge_only(const struct merge *m);
/* Copies everything into out. Called once. Returns 0, or -1 and *err. */
int merge_write(struct merge *m, struct maker *out, struct merge_counts *counts,
		struct err *err);

/* TIME_NONE: not known. */
struct database_times {
	int64_t first, last; /* of the events of all captures */
	bool has_wall;
	int64_t wall; /* of the first capture: to add for ns since 1970 */
};

/* Returns false if the file is not as a database of this version is after it
 * was made; SQLite may read it all the same. What is returned is what the
 * tables say, and may be wrong if somebody wrote to the file. */
bool database_times_read(const char *path, struct database_times *out);
