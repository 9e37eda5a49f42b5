/* watched.h - one input that is a folder in which finished files appear.
 *
 * Files of 'perf record --switch-output' have a time at the end of their names
 * once they are finished: perf.data.2026112110203045. LTTng moves a chunk into
 * the folder archives when a rotation is complete. Of those that 'trace-cmd
 * listen' receives, trace.HOST:PORT.dat, the files trace.HOST:PORT.cpuN next to
 * one are gone then. All stay where they are: a segment gets a link. The file
 * .followed in the folder of segments has the names of those that are in
 * segments, so that no run reads them again. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folder_lock;
struct err;
struct watched;

/* c: the folder of segments. Returns NULL and *err on failure. */
struct watched *watched_open(const struct folder_lock *c, const char *input,
			     struct err *err);
void watched_close(struct watched *w); /* NULL is fine */
/* Looks for finished files, and stores how many wait. Returns false if the
 * folder cannot be read now: nothing is to be linked then, and what was seen
 * before is still known. */
bool watched_scan(struct watched *w, size_t *waiting);
/* Links the oldest one that waits as a part of a segment. Returns 1 and its
 * bytes, 0 if there is none, -1 and *err. */
int watched_link(struct watched *w, uint32_t number, unsigned int index,
		 uint64_t *bytes, struct err *err);
/* Returns how many were seen to wait, and were removed before they were linked.
 */
uint64_t watched_missed(const struct watched *w);
