/* live.h - receives a live LTTng session from its relay daemon.
 *
 * A separate process speaks the daemon's protocol and writes the packets into
 * chunks: complete folders of CTF like those of a rotated session, which
 * follow.c finds. */
#pragma once
#include <stdbool.h>

struct err;
struct folder_lock;
struct live;
struct segment_limit;

/* Returns whether an input is the URL of a live session. */
bool live_is_url(const char *input);
/* Connects, and starts the process that receives. Returns NULL and *err if the
 * URL is invalid or the session cannot be reached. Borrows all arguments. */
struct live *live_open(const struct folder_lock *c, const char *url,
		       const struct segment_limit *limit, struct err *err);
/* Returns the folder in which the chunks appear, borrowed. */
const char *live_folder(const struct live *l);
/* Returns whether the process has ended: no more chunks will appear. */
bool live_ended(struct live *l);
/* Makes the process finish its last chunk and end, and waits for that. */
void live_stop(struct live *l);
/* Returns whether the connection broke or data was lost, once it has ended. */
bool live_damaged(const struct live *l);
void live_close(struct live *l); /* stops it first; NULL is fine */
