/* segments.h - the folder of segments that follow makes.
 *
 * segment-000001.db is a finished database. .segment-000002.data holds the part
 * of the stream that is being received or waits to be read; with several
 * inputs, .segment-000002.data.1 holds the part of the second input, and so on.
 * No other program opens these files; those that a killed run left are read by
 * the next run. segment-000003.bad is a part that could not be read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct folder_lock;
struct err;
struct disk_space;

/* ---- the lock of the folder: one follow uses it at a time.
 *
 * The folder is opened once, and all files are made relative to that
 * descriptor, so that no other file is written, whatever the folder's name
 * leads to later and whatever links other users put into it. The lock ends with
 * the process that holds it. */

/* Makes the folder if it does not exist, opens and locks it. Borrows dir.
 * Returns NULL and *err, which names the process that holds the lock. */
struct folder_lock *folder_lock_open(const char *dir, struct err *err);
/* Unlocks and closes the folder. If failed, also removes it if it is empty and
 * was made by folder_lock_open(). NULL is fine. */
void folder_lock_close(struct folder_lock *c, bool failed);
/* Returns the name that folder_lock_open() got, borrowed. */
const char *folder_lock_dir(const struct folder_lock *c);
/* Returns the descriptor of the folder, which the lock owns. */
int folder_lock_fd(const struct folder_lock *c);
/* Returns a path that leads to the folder in this process and its children even
 * after a rename; folder_lock_dir() where there is no /proc. Borrowed. */
const char *folder_lock_path(const struct folder_lock *c);
/* Returns 0, or -1 and *err if the name leads to another folder or to none. */
int folder_lock_check(const struct folder_lock *c, struct err *err);
/* Creates a file for writing. Returns its descriptor for close(), or -1 and
 * *err, also if the name exists: each name is used once. */
int folder_lock_create(const struct folder_lock *c, const char *name,
		       struct err *err);
/* Opens a file with flags of open(). Returns a descriptor, or -1 and errno:
 * ELOOP for a link, EEXIST for other than a regular file with one name. */
int folder_lock_open_file(const struct folder_lock *c, const char *name,
			  int flags);

#define SEGMENT_PATH 4096
#define SEGMENT_NAME 64 /* without the folder */
/* The most parts of a segment. */
#define SEGMENT_PARTS 64

/* A limit in time or in bytes; 0: none. */
struct segment_limit {
	int64_t ns;
	uint64_t bytes;
};

/* The segment that is being received; all streams share it. */
struct segment {
	const struct folder_lock *claim;
	struct disk_space *room;
	struct segment_limit limit;
	uint32_t number;
	int64_t since, now; /* monotonic ns: its start, and this round */
	uint64_t events, bytes;
	uint64_t bytes_before; /* of segments that may lack a database */
	uint64_t more;	       /* bytes that each stream may receive now */
	bool cut_now;	       /* the segment ends, however full it is */
};

/* Returns whether the segment has events and has reached its limit. */
bool segment_is_full(const struct segment *g);
/* Begins the next segment. */
void segment_next(struct segment *g);

/* Reads "10s", "5m", "2h", "64M" or "4G". Returns 0, or -1 and *err. */
int segments_limit(const char *opt, const char *text, struct segment_limit *out,
		   struct err *err);
/* Segments of which an earlier run left parts, in ascending order. */
struct segments_left {
	uint32_t *number;
	size_t n, cap;
};

/* Sets *last to the highest number in use (0: none), and *left to the segments
 * with parts, whose array the caller frees. Returns 0, or -1 and *err. */
int segments_scan(const struct folder_lock *c, uint32_t *last,
		  struct segments_left *left, struct err *err);
/* Removes unfinished databases of killed processes, unless a process locks
 * them: one of the last run may still be alive when this run starts. */
void segments_sweep(const struct folder_lock *c);
/* Write the path of a database, and the name of the part of input `index`. */
void segments_database(const char *dir, uint32_t number,
		       char out[SEGMENT_PATH]);
void segments_part_name(uint32_t number, unsigned int index,
			char out[SEGMENT_NAME]);
/* Returns whether there are parts of a segment. */
bool segments_waits(const struct folder_lock *c, uint32_t number);
/* Returns whether the database of a segment is finished. */
bool segments_is_made(const struct folder_lock *c, uint32_t number);
/* Returns the number of the newest database that is finished; 0: none is. */
uint32_t segments_newest(const struct folder_lock *c);
/* Removes the parts of a segment, and chunks of live.h that they link to. */
void segments_remove(const struct folder_lock *c, uint32_t number);
/* Renames the parts of a segment to .bad, so that no later run reads them. */
void segments_set_aside(const struct folder_lock *c, uint32_t number);
/* Removes the oldest databases beyond the limit, but never the newest, and none
 * for which ask() returns false. ask() may set *age, in ns, if it knows better
 * than the time stamp of the file. Returns how many were removed. */
typedef bool segments_ask_fn(void *arg, uint32_t number, int64_t *age);
uint32_t segments_keep(const struct folder_lock *c,
		       const struct segment_limit *keep, segments_ask_fn *ask,
		       void *arg);

/* ---- free space on the disk of the folder.
 *
 * The databases of what was received need space too. While the disk is full,
 * nothing is received and writes wait; the recorder counts the events that it
 * loses meanwhile, as it does when too many segments wait. */

struct disk_space {
	const struct folder_lock *claim; /* borrowed */
	/* Called while the disk is full: waits a little for space. Returns
	 * false if the user wants to stop. */
	bool (*wait)(void *arg);
	void *arg;
	bool told;	/* a message said that the disk is full */
	int64_t waited; /* ns, in all */
};

/* Returns the free bytes; UINT64_MAX: unknown. */
uint64_t disk_space_left(const struct disk_space *r);
/* Returns how many more bytes of streams fit on the disk, with their databases
 * and those of `received` bytes; 0: too few. */
uint64_t disk_space_for_more(const struct disk_space *r, uint64_t received);
/* Returns whether a full disk may be why a database of so many bytes of streams
 * could not be written, and not a limit of the process or on files. */
bool disk_space_may_be_short(const struct folder_lock *c, uint64_t bytes);
/* Waits a little for space; the first call prints a message. Returns false if
 * the user wants to stop. */
bool disk_space_wait(struct disk_space *r);
/* Creates a file as folder_lock_create() does. Writes to it wait for space. */
FILE *disk_space_create(struct disk_space *r, const char *name,
			struct err *err);
