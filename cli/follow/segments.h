/* segments.h - the folder of segments that follow makes.
 *
 * segment-000001.db is a finished database. .segment-000002.data is the part of
 * the stream that is being received, or waits to be read; if there are several
 * inputs, .segment-000002.data.1 is that of the second one, and so on. No other
 * program looks at them, and what a killed run left behind is read by the next
 * one. segment-000003.bad is a part that could not be read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct folder_lock;
struct err;
struct disk_space;

/* ---- the folder of segments, which one follow has for itself.
 *
 * The folder is opened once, and all that follow writes goes below that
 * descriptor: whatever the folder's name leads to later, and whatever links
 * others put into it, no other file is written. The lock ends with the process
 * that holds it. */

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

#define SEGMENT_PATH 4096
#define SEGMENT_NAME 64 /* without the folder */
/* Parts of a segment. */
#define SEGMENT_PARTS 64

/* A limit in time or in bytes; 0: none. */
struct segment_limit {
	int64_t ns;
	uint64_t bytes;
};

/* The segment that is received, which all streams share. */
struct segment {
	const struct folder_lock *claim;
	struct disk_space *room;
	struct segment_limit limit;
	uint32_t number;
	int64_t since, now; /* monotonic: its begin, and the time of a round */
	uint64_t events, bytes;
	uint64_t bytes_before; /* of segments that may have no database yet */
	uint64_t more;	       /* bytes of each stream that may come now */
	bool cut_now;	       /* end it, however full it is */
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

/* Stores the highest number that is used, and the segments that were left,
 * which the caller frees. Returns 0, or -1 and *err. */
int segments_scan(const struct folder_lock *c, uint32_t *last,
		  struct segments_left *left, struct err *err);
/* Removes what processes that were killed left of databases, unless somebody
 * locks it. One of the last run may not have ended when this one begins. */
void segments_sweep(const struct folder_lock *c);
/* Write the path of a database, and the name of the part of an input. */
void segments_database(const char *dir, uint32_t number,
		       char out[SEGMENT_PATH]);
void segments_part_name(uint32_t number, unsigned int index,
			char out[SEGMENT_NAME]);
/* Returns whether there are parts of a segment. */
bool segments_waits(const struct folder_lock *c, uint32_t number);
/* Returns whether the database of a segment is finished. */
bool segments_is_made(const struct folder_lock *c, uint32_t number);
/* Removes the parts of a segment. */
void segments_remove(const struct folder_lock *c, uint32_t number);
/* Renames the parts of a segment, so that no later run tries to read them. */
void segments_set_aside(const struct folder_lock *c, uint32_t number);
/* Removes the oldest databases beyond the limit, but never the newest, and none
 * for which ask() returns false. It may set *age, in ns, where that is known
 * better than by the time of the file. Returns how many. */
typedef bool segments_ask_fn(void *arg, uint32_t number, int64_t *age);
uint32_t segments_keep(const struct folder_lock *c,
		       const struct segment_limit *keep, segments_ask_fn *ask,
		       void *arg);

/* ---- room on the disk of the folder of segments.
 *
 * What is received needs room for the databases that are made of it. While
 * there is none, nothing more is received, and writing waits: the recorder
 * counts what it loses meanwhile, as it does when segments wait. */

struct disk_space {
	const struct folder_lock *claim; /* borrowed */
	/* Called while there is no room: waits a little for what may make some.
	 * Returns false if the user wants an end. */
	bool (*wait)(void *arg);
	void *arg;
	bool told;	/* that there is none */
	int64_t waited; /* ns */
};

/* Returns the bytes that are free; UINT64_MAX: unknown. */
uint64_t disk_space_left(const struct disk_space *r);
/* Returns how many bytes of streams have room, with their databases, next to
 * the databases of those that were received; 0: too few. */
uint64_t disk_space_for_more(const struct disk_space *r, uint64_t received);
/* Returns whether the disk may be why a database of so many bytes of streams
 * had no room, and not a limit of the process or of files. */
bool disk_space_may_be_short(const struct folder_lock *c, uint64_t bytes);
/* Waits a little, and says once what for. Returns false if the user wants an
 * end. */
bool disk_space_wait(struct disk_space *r);
/* Creates a file as folder_lock_create() does. Writing to it waits for room. */
FILE *disk_space_create(struct disk_space *r, const char *name,
			struct err *err);
