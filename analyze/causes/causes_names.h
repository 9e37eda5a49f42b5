/* causes_names.h - the names of the threads of a database by thread id: the
 * last one of each.
 *
 * causes_names_load(), then causes_names_add() where a thread has none. */
#pragma once
#include <stdint.h>

struct causes_names;
struct err;
struct store;
struct thread_names;
struct timeline;

/* Returns NULL and *err on failure. */
struct causes_names *causes_names_load(struct store *db, struct err *err);
void causes_names_free(struct causes_names *n);
/* Adds the names in the fields of the ev_ table, of threads that nothing else
 * names: where only some tasks are recorded, those to which these switched.
 * Returns 0, or -1 and *err. */
int causes_names_add(struct causes_names *n, struct store *db,
		     const char *table, struct err *err);
/* Returns "swapper" for 0, "" if it has no name. */
const char *causes_names_comm(const struct causes_names *n, int64_t tid);
/* Returns the process of a thread; -1: not known. */
int64_t causes_names_pid(const struct causes_names *n, int64_t tid);
/* Returns the names of silent tasks, "swapper/1 and NAME", which the caller
 * frees; NULL: there are none. told: of the timeline's threads. */
char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names);
/* Returns the premise that only records of these names are missing, likewise.
 */
char *causes_silent_premise(const struct timeline *t, const char *names);
