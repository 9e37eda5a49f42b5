/* folder_lock.h - the folder of segments, which one follow has for itself.
 *
 * The folder is opened once, and all that follow writes goes below that
 * descriptor: whatever the folder's name leads to later, and whatever links
 * others put into it, no other file is written. The lock ends with the process
 * that holds it. */
#pragma once
#include <stdbool.h>

struct folder_lock;
struct err;

/* Makes the folder if it is not there, opens and locks it. Borrows dir. Returns
 * NULL and *err, with the process that has it, if there is one. */
struct folder_lock *folder_lock_open(const char *dir, struct err *err);
/* Gives the folder up; failed: removes it if it was made here and is empty.
 * NULL is fine. */
void folder_lock_close(struct folder_lock *c, bool failed);
/* Returns the name of the folder, for messages and readers. */
const char *folder_lock_dir(const struct folder_lock *c);
/* Returns the descriptor for openat() and others. */
int folder_lock_fd(const struct folder_lock *c);
/* Returns a name by which the folder is found in this process and its children,
 * whatever became of its name; folder_lock_dir() where there is no /proc. */
const char *folder_lock_path(const struct folder_lock *c);
/* Returns -1 and *err if the name of the folder leads elsewhere by now. */
int folder_lock_check(const struct folder_lock *c, struct err *err);
/* Creates a file for writing. Returns its descriptor, or -1 and *err if that
 * fails, or if something is there: names are used once. */
int folder_lock_create(const struct folder_lock *c, const char *name,
		       struct err *err);
/* Opens a file with flags of open(). Returns a descriptor, or -1 and errno:
 * ELOOP if it is a link, EEXIST if it is no regular file or has two names. */
int folder_lock_open_file(const struct folder_lock *c, const char *name,
			  int flags);
