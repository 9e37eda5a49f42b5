/* new_file.h - writes files that get their name when they are complete.
 *
 * Whatever happens - a full disk, no memory, a signal - the old file stays as
 * it is, or the new one is whole. Until then the bytes are in a file without a
 * name (O_TMPFILE) or, where the file system has none or SQLite needs one, in
 * NAME.PID-N.tmp next to it. A file gets its name when its bytes are on the
 * disk, and the folder is written then. Such a file is removed when the program
 * ends; what a killed run left behind is found by the next one with the same
 * NAME, because no process locks it and its process is gone. A process does not
 * search a folder again in which there was no such file. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct err;
struct new_file;

/* Set and return whether files are synced to disk, which is the default:
 * without it, a crash of the machine may leave an empty file. */
void new_file_wait(bool wait);
bool new_file_waits(void);
/* Waits until the bytes of a file are on the disk. Returns 0, or -1 and errno;
 * a file system without this operation is no failure. */
int new_file_flush(int fd);
/* The same for the folder that contains a path. */
int new_file_flush_folder(const char *path);

/* Begins a regular file; an existing one keeps its mode and, if possible, its
 * owner. A link that leads to a file stays. In a folder where nothing can be
 * created, an existing file is written over. Returns NULL and *err on failure:
 * if path is no regular file, is not writable, or exists and may not be
 * replaced. */
struct new_file *new_file_open(const char *path, bool replace, struct err *err);
/* The descriptor, open for reading and writing, or a stream on it. Both belong
 * to nf; use one of them. */
int new_file_fd(struct new_file *nf);
FILE *new_file_stream(struct new_file *nf);
/* Gives the file its name once all bytes are written. Returns 0, or -1 and
 * *err. */
int new_file_finish(struct new_file *nf, struct err *err);
/* Frees nf; removes what new_file_finish() did not put in place. */
void new_file_free(struct new_file *nf);

/* Creates an empty file NAME.PID-N.tmp next to path, and removes those of dead
 * runs. Returns its name, for new_file_drop() or new_file_place(), or NULL and
 * errno. The reader of the name must lock the file soon, as SQLite does. */
char *new_file_temp(const char *path, mode_t mode);
/* Returns whether a process has ended. A zombie counts as ended: it stays until
 * its parent asks for its status, which the first process of a container may
 * never do. */
bool new_file_has_ended(pid_t pid);
/* Returns true if `name` is that of a file or folder which an ended process
 * made for `base`. Processes of other machines and pid namespaces are not
 * visible, but hold a lock on their file. */
bool new_file_owner_is_gone(const char *name, const char *base);
/* Returns the same for a file in an open folder, and that no process locks
 * it. */
bool new_file_is_left(int dir, const char *name, const char *base);
/* Removes all files of this process that did not get their names, before it
 * ends. Safe in a signal handler. */
void new_file_abandon(void);
/* Removes the file and frees its name, which may be NULL. */
void new_file_drop(char *temp);
/* Renames *temp, which was flushed, to path and frees it: it is NULL then.
 * Returns 0, or -1 and *err. */
int new_file_place(char **temp, const char *path, bool replace,
		   struct err *err);

/* Opens a file without a name in a folder, for reading and writing; it vanishes
 * when it is closed. Returns a descriptor with close-on-exec, or -1 and
 * errno. */
int temp_open(const char *dir);
