/* sessions.h - keeps the captures, and which of them are of one kernel.
 *
 * Captures of one kernel form a line (stitch_together()). They share its
 * cookies, so a chain that one of them recorded may complete a request of
 * another. A capture is a line of its own at first. Pointers are valid until
 * sessions_release(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"
#include "stitch/join/join_data.h"
#include "stitch/source.h"
#include "stitch/tasks/join_task.h"

/* Each capture has its own struct join_task for a thread, its view. In captures
 * of one kernel, the view only refers to a struct join_task that all of them
 * share, which is found by the thread's row id. It is removed with its last
 * view. */

struct shared_thread {
	struct join_task task;
	uint32_t row, views; /* views 0: unused */
	enum join_reason why;
	int64_t end;
};

/* All zeros: empty. */
struct shared_threads {
	struct shared_thread *at;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
	struct table by_row;
};

void shared_threads_release(struct shared_threads *ps);
/* Returns the state of a thread that all captures share; view is one capture's
 * part. Gives the view a shared task if it has none, and copies to it the execs
 * that the view has seen since the last call. Valid until the next call. */
struct join_task *shared_threads_task(struct shared_threads *ps, uint32_t row,
				      struct join_task *view);
/* Removes a view, as in join_retire(). If it was the last one, returns true and
 * the task, with what all views know about its end. */
bool shared_threads_retire(struct shared_threads *ps,
			   const struct join_task *view, enum join_reason *why,
			   int64_t *end, struct join_task *out);

/* Most captures in a line, because sets of them are uint64_t; others stay
 * alone. */
#define LINE_MAX 64

/* Totals of one source, after join_end(). They count cookies, not samples or
 * records. */
struct cookie_totals {
	uint64_t no_chain;  /* cookies of samples without a chain */
	uint64_t no_sample; /* cookies of chains without a sample */
	uint64_t foreign;   /* chains that another session asked for */
	/* By CPU: whether one of these chains was requested there. Borrowed
	 * from the join. */
	const bool *foreign_cpu;
	size_t n_foreign_cpu;
};

/* What is known about a capture. */
struct session {
	uint16_t source, line; /* line: first source of the line */
	uint64_t bit;	       /* bit in sets of the line's captures */
	struct session *next;  /* ring of the line; itself if alone */
	unsigned int members;  /* in the line's first source: number of
				* captures */
	bool overwrite, injected, has_time;
	bool filtered; /* samples were left out on purpose */
	enum tri system_wide;
	enum cookie_maker cookies;
	int64_t last;	   /* time of the last record; 0: unknown */
	uint64_t n_chains; /* chains that the kernel wrote */
	uint64_t n_logged; /* chains that processes logged */
	uint64_t n_closed; /* cookies that were closed without a chain */
	/* In the line's first source: number of requests of the kernel that
	 * nothing explains; whether another session is proved. */
	uint64_t n_unexplained;
	bool other_session;
	bool *foreign_cpu; /* see cookie_totals */
	size_t n_foreign_cpu, cap_foreign_cpu;
	struct cookie_totals totals;
};

/* All zeros: empty. */
struct sessions {
	struct session **at;
	size_t n, cap;
};

void sessions_release(struct sessions *ss);
/* Returns the session of a source; creates it if there is none. */
struct session *sessions_at(struct sessions *ss, uint16_t source);
/* Adds the source to the line of source `first`. */
void sessions_together(struct sessions *ss, uint16_t source, uint16_t first);

/* Counts a chain that another session asked for on that CPU; -1: unknown. */
void session_add_foreign(struct session *se, int32_t cpu);

static inline bool session_is_alone(const struct session *se)
{
	return se->next == se;
}
