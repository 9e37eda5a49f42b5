/* files.h - in which system call on a descriptor a thread was at a time, and
 * which file that descriptor was.
 *
 * A call is known by its events, or by a reading of 'record --waits' while the
 * thread waited in it (cli/record/cgroups.h). Which file a descriptor was is
 * proved by the call that made it, or by LTTng's dump of the state, if the
 * capture has that, no call since then closed or replaced it, and no loss is in
 * between; otherwise only a reading in that wait can show it. Threads of a
 * process share descriptors, a child begins with those of its parent, and exec
 * closes those with O_CLOEXEC. io_uring, and a child that shares its parent's
 * descriptors (CLONE_FILES without CLONE_THREAD), may close one unseen. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct causes_kernel;
struct err;
struct files;
struct store;

struct files_call {
	const char *call; /* "read"; borrowed from struct files, as is .name */
	int64_t fd;
	const char *name; /* of the file, socket or timer; NULL: not known */
	bool elsewhere;	  /* events show that it is none on a descriptor */
};

/* Returns what files_free() frees, or NULL and *err if the database fails. k:
 * only the calls of this kernel; NULL: of all in the database. */
struct files *files_load(struct store *db, const struct causes_kernel *k,
			 struct err *err);
void files_free(struct files *f); /* NULL is fine */
/* Returns the pid of 'record --waits -p PID'; -1: none is known. */
int64_t files_process(const struct files *f);
/* Finds the call in which a thread was at `from`, or which a reading between
 * `from` and `to` shows, and stores it in *out. Returns false if there is none,
 * with *out empty but for .elsewhere. */
bool files_call(const struct files *f, int64_t tid, int64_t from, int64_t to,
		struct files_call *out);
