/* live.h - receives a live LTTng session from its relay daemon.
 *
 * A process of its own speaks the daemon's protocol, and writes the packets as
 * they come into chunks, which are finished folders of CTF as those of a
 * session that is rotated: follow.c finds them. */
#pragma once
#include <stdbool.h>

struct err;
struct folder_lock;
struct live;
struct segment_limit;

/* Returns whether an input is the URL of a live session. */
bool live_is_url(const char *input);
/* Starts receiving. Returns NULL and *err if the URL is none, or if no such
 * session is there. Borrows the claim and the URL. */
struct live *live_open(const struct folder_lock *c, const char *url,
		       const struct segment_limit *limit, struct err *err);
/* Returns the folder in which the chunks appear. */
const char *live_folder(const struct live *l);
/* Returns whether nothing more comes. */
bool live_ended(struct live *l);
/* Has the last chunk finished, and waits for that. */
void live_stop(struct live *l);
/* Returns whether the connection broke, or something could not be received. */
bool live_damaged(const struct live *l);
void live_close(struct live *l); /* NULL is fine */
