/* orphans.h - chains without a sample, until it is decided who asked for them.
 *
 * The samples of such a chain may have vanished uncounted, or another session
 * asked for the chain. One chain cannot tell these apart. Another session is
 * proved by its traces in several threads: a session that samples again and
 * again leaves chains that directly follow each other in a thread. */
#ifndef STITCH_JOIN_ORPHANS_H
#define STITCH_JOIN_ORPHANS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/fact.h"

struct orphan {
	struct fact_chain f;
	uint16_t line;	   /* first source of its line */
	uint64_t told_by;  /* set of captures that have the chain */
	int32_t asked_cpu; /* CPU on which its cookie was made; -1: unknown */
};

/* All zeros: empty. */
struct orphans {
	struct orphan *at;
	size_t n, cap;
	/* By row id of the thread: whether one of its samples asked. */
	bool *asked;
	size_t n_asked, cap_asked;
};

void orphans_release(struct orphans *os);
void orphans_add(struct orphans *os, const struct orphan *o);
/* A sample of the thread asked for a stack. */
void orphans_asked(struct orphans *os, uint32_t thread);
/* Sorts the orphans by line, thread and time. */
void orphans_sort(struct orphans *os);
/* Returns whether the orphans from..to-1 prove another session: two threads
 * have orphans that directly follow each other, or a thread has several but
 * never asked here. Call orphans_sort() first. */
bool orphans_prove_session(const struct orphans *os, size_t from, size_t to);
#endif
