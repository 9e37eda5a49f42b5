/* orphans.h - chains without a sample, until it is decided who asked for them.
 *
 * The samples of such a chain may have vanished uncounted, or another session
 * asked for the chain. One chain cannot tell these apart. Another session is
 * proved by its traces in several threads: a session that samples again and
 * again leaves chains that directly follow each other in a thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/fact.h"

struct cookie_entry;
struct fact_queue;
struct sessions;

struct orphan {
	struct fact_chain f;
	uint16_t line;	   /* first source of its line */
	uint64_t told_by;  /* set of captures that have the chain */
	int32_t asked_cpu; /* CPU on which its cookie was made; -1: unknown */
};

/* All zeros but out: empty. */
struct orphans {
	struct fact_queue *out;
	struct orphan *at;
	size_t n, cap;
	/* By row id of the thread: whether one of its samples asked. */
	bool *asked;
	size_t n_asked, cap_asked;
};

void orphans_release(struct orphans *os);
/* A sample of the thread asked for a stack. */
void orphans_requested(struct orphans *os, uint32_t thread);
/* Takes a chain without a sample and without a loss. It is output when it is
 * known who asked. */
void orphans_take(struct orphans *os, struct sessions *ss,
		  const struct cookie_entry *e, const struct fact_chain *f);
/* Outputs all that wait, with what is known now. */
void orphans_judge(struct orphans *os, struct sessions *ss);
