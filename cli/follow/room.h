/* room.h - room on the disk of the folder of segments.
 *
 * What is received needs room for the databases that are made of it. While
 * there is none, nothing more is received, and writing waits: the recorder
 * counts what it loses meanwhile, as it does when segments wait. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct claim;
struct err;
struct room;

/* Called while there is no room: waits a little for what may make some. Returns
 * false if the user wants an end. */
typedef bool room_wait_fn(void *arg);

/* Borrows the claim. */
struct room *room_new(const struct claim *c);
void room_free(struct room *r); /* NULL is fine */
/* Is to be called before anything is written. */
void room_wait_by(struct room *r, room_wait_fn *fn, void *arg);
/* Returns the bytes that are free; UINT64_MAX: unknown. */
uint64_t room_left(const struct room *r);
/* Returns how many bytes of streams have room, with their databases, beside the
 * databases of those that were received; 0: too few. */
uint64_t room_for_more(const struct room *r, uint64_t received);
/* Returns whether the disk may be why a database of so many bytes of streams
 * had no room, and not a limit of the process or of files. */
bool room_may_be_short(const struct claim *c, uint64_t bytes);
/* Waits a little, and says once what for. Returns false if the user wants an
 * end. */
bool room_wait(struct room *r);
/* Returns how long was waited, in ns. */
int64_t room_waited(const struct room *r);
/* Creates a file as claim_create() does. Writing to it waits for room. */
FILE *room_create(struct room *r, const char *name, struct err *err);
