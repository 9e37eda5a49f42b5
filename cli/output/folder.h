/* folder.h - output that is a folder: written under another name and renamed
 * when complete, so that a failure leaves no part of it. */
#pragma once

struct err;

/* Returns where temporary files go: $TMPDIR, or /tmp. */
const char *folder_for_temp(void);
/* Removes folder `name` in the folder of descriptor dir, with its files and
 * with folders up to `depth` levels deep. Safe in a signal handler. */
void folder_remove(int dir, const char *name, unsigned int depth);
/* Returns 0 if nothing or an empty folder is at the path, else -1 and *err. */
int folder_check(const char *path, struct err *err);
/* Calls write() with the path of a folder that does not exist and is next to
 * `path`, and renames it to `path`. If write() fails, the folder's files are
 * removed. Returns 0, or -1 and *err. */
typedef int folder_write_fn(const char *path, void *arg, struct err *err);
int folder_write(const char *path, folder_write_fn *write, void *arg,
		 struct err *err);
/* Makes an empty folder for temporary files, which is removed by
 * folder_was_read() or the next call. Returns its path, borrowed until then,
 * and in *fd a descriptor that the caller closes; or NULL and *err. */
const char *folder_to_read(int *fd, struct err *err);
void folder_was_read(void);
/* Removes the folders that folder_write() and folder_to_read() have made so
 * far, before the program ends without exit(). */
void folder_drop(void);
