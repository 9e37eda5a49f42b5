/* sessions.h - the captures that the join knows, and which of them are of one
 * kernel.
 *
 * Captures of one kernel form a line (stitch_together()): all share its
 * cookies, so that a chain which one of them recorded may complete a request
 * of another. By itself each capture is a line of its own. Pointers hold until
 * sessions_release(). */
#ifndef STITCH_JOIN_SESSIONS_H
#define STITCH_JOIN_SESSIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/source.h"

/* Captures of one line beyond these are alone: a set of them is a u64. */
#define LINE_MAX 64

/* What the join knows at the end, of one source. */
struct cookie_totals {
	uint64_t no_chain;  /* distinct cookies of samples without a chain */
	uint64_t no_sample; /* distinct cookies of chains without a sample */
	uint64_t foreign;   /* chains that somebody else asked for */
};

/* What is known of one capture. */
struct session {
	uint16_t source, line; /* line: the source it is named after */
	uint64_t bit;	       /* its place in sets of the line's captures */
	struct session *next;  /* the ring of its line; alone: itself */
	unsigned int members;  /* of whom the line is named after */
	bool overwrite, injected, has_time;
	enum tri system_wide;
	enum cookie_maker cookies;
	int64_t last;	   /* time of the last record; 0: not known */
	uint64_t n_chains; /* by the kernel */
	uint64_t n_logged; /* by processes that unwind themselves */
	uint64_t n_closed; /* cookies that ended without a chain */
	struct cookie_totals totals;
};

/* All zeros is empty. */
struct sessions {
	struct session **at;
	size_t n, cap;
};

void sessions_release(struct sessions *ss);
/* Made when it is not there yet. */
struct session *sessions_at(struct sessions *ss, uint16_t source);
/* It belongs to the line that `first` names. */
void sessions_together(struct sessions *ss, uint16_t source, uint16_t first);

static inline bool session_is_alone(const struct session *se)
{
	return se->next == se;
}
#endif
