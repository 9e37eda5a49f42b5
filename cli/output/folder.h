/* folder.h - output that is a folder: written aside and renamed, so that a
 * failure leaves nothing half-written. */
#pragma once

struct err;

/* Returns where temporary files go: $TMPDIR, or /tmp. */
const char *folder_for_temp(void);
/* Removes a folder, in the one of that descriptor, with its files, and with
 * folders up to that depth. */
void folder_remove(int dir, const char *name, unsigned int depth);
/* Returns -1 and *err if there is something at the path that is no empty
 * folder. */
int folder_check(const char *path, struct err *err);
/* Calls write() with the path of a folder that does not exist and is next to
 * `path`, and renames it to `path`. If write() fails, the folder's files are
 * removed. Returns 0, or -1 and *err. */
typedef int folder_write_fn(const char *path, void *arg, struct err *err);
int folder_write(const char *path, folder_write_fn *write, void *arg,
		 struct err *err);
/* Makes an empty folder for files that are read and not kept, until
 * folder_was_read(), or the next call. Returns its path, which is borrowed, and
 * a descriptor of it, to be closed then, or NULL and *err. */
const char *folder_to_read(int *fd, struct err *err);
void folder_was_read(void);
/* Removes what a folder_write() that did not return has made, for whoever ends
 * the program without exit(). */
void folder_drop(void);
