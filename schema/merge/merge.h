/* merge.h - makes one database of several: captures keep their identity, and
 * equal content is stored once.
 *
 * merge_new(), merge_add() for each database, merge_choose() for a part of
 * them, merge_write() into a database that maker_create() or
 * maker_create_temp() made without frames; then the caller judges the user
 * stacks (callsites_judge_again()) and calls maker_finish().
 *
 * A capture is identified by its content, not by its path: in a second database
 * it is left out. Events are in time order; of the same time, in the order of
 * their captures. Images, frames, stacks, lists of addresses and symbols are
 * equal if their content is. Threads, names and mappings belong to their
 * capture. All other rows add up. So the result does not depend on the order of
 * the databases, and merged databases can be merged again.
 *
 * A request that waited when its capture ended is joined to the chain that
 * another capture of the same host, kernel and clock has for its cookie and
 * thread id: that is how the pieces of a recording fit together.
 *
 * A database is open only while its events are read, so only those that overlap
 * in time are open at once. Memory grows with what is distinct in them, not
 * with their events. */
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
 * since 1970 if the offset of all captures is known and the time is of this
 * century; both ends may be missing. */
struct merge_choice {
	bool has_from, has_to;
	int64_t from, to;
	int64_t since; /* keep ns before the last event of all; 0: all */
	size_t last;   /* keep only this many of the newest databases; 0: all */
};

/* Writes the 32 hex digits that identify a capture: a hash of the result of the
 * query merge_known for it, which is the same in a merged database and in its
 * own. */
#define MERGE_KEY_SIZE 33
void merge_content_key(const char *content, char key[MERGE_KEY_SIZE]);

/* Stores whether a merge made the database. Returns 0, or -1 and *err. */
int merge_is_result(const char *path, bool *is_result, struct err *err);

struct merge *merge_new(void);
void merge_free(struct merge *m); /* NULL is allowed */
/* Reads which captures a database has, and their times. path is copied.
 * Returns 0, or -1 and *err. */
int merge_add(struct merge *m, const char *path, struct err *err);
/* merge_add() for databases of which merge_choose() will leave some out: reads
 * only the times of this one, if that is possible without opening it.
 * merge_load_chosen() reads the captures of those that are kept. */
int merge_add_later(struct merge *m, const char *path, struct err *err);
int merge_load_chosen(struct merge *m, struct err *err);
/* Leaves out databases without an event in the chosen times. Returns 0, or -1
 * and *err if none is kept. */
int merge_choose(struct merge *m, const struct merge_choice *c,
		 struct err *err);
/* Return the size in bytes of the databases that are kept, and the path of the
 * only one, or NULL if there are several. */
uint64_t merge_bytes(const struct merge *m);
const char *merge_only(const struct merge *m);
/* Copies everything into out. Call it once. Returns 0, or -1 and *err. */
int merge_write(struct merge *m, struct maker *out, struct merge_counts *counts,
		struct err *err);

/* TIME_NONE: not known. */
struct database_times {
	int64_t first, last; /* of the events of all captures */
	bool has_wall;
	int64_t wall; /* of the first capture: to add for ns since 1970 */
};

/* Reads the times of a database without SQLite. Returns false if the file is
 * not as this version makes it; SQLite may still be able to read it. The result
 * is what the tables have, and may be wrong if another program wrote to the
 * file. */
bool database_times_read(const char *path, struct database_times *out);
