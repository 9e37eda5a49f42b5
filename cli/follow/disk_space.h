/* disk_space.h - room on the disk of the folder of segments.
 *
 * What is received needs room for the databases that are made of it. While
 * there is none, nothing more is received, and writing waits: the recorder
 * counts what it loses meanwhile, as it does when segments wait. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct folder_lock;
struct err;

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
