/* live_chunk.h - removes what was received of a live session. */
#pragma once

struct folder_lock;

/* Removes the chunk to which a part leads, if it is one of live.h below the
 * folder of segments. */
void live_chunk_remove(const struct folder_lock *c, const char *part);
