/* chrome_slices.h - the slices of a Chrome trace: times in which a thread ran,
 * from one switch to the next, and arrows from who woke a thread to the slice
 * that this began, as cli/waits/waits.h tells them. About 64 bytes each. */
#pragma once
#include <stdint.h>

#include "cli/waits/waits.h"

struct slices;
struct tracks;

/* t, stacks: borrowed. Returns NULL and *err on failure; there may be no
 * slices. */
struct slices *slices_load(struct tracks *t, struct store *db, const char *path,
			   struct stacks *stacks, struct err *err);
void slices_free(struct slices *s);
/* Returns what was read, and what has no end. */
const struct offcpu_sums *slices_sums(const struct slices *s);
/* Writes the begins and ends of slices up to an event, which has that time. */
void slices_put(struct slices *s, int64_t time, int64_t event);
