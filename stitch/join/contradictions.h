/* contradictions.h - records whose cookies contradict each other.
 *
 * The kernel gives a cookie to one stay of one thread in the kernel, and the
 * stay has one user stack. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/verdict.h"

struct cookie_entry;
struct fact_finding;
struct join_chain;
struct join_task;
struct session;

/* What clocks explain a finding: those of its CPU and of these (-1: none), if
 * they differ by this much; UINT64_MAX: none. */
struct join_clocks {
	uint64_t by;
	int32_t cpu[2];
};

/* Receives each finding. */
typedef void join_found_fn(void *arg, const struct fact_finding *f,
			   const struct join_clocks *clocks);

struct contradictions {
	join_found_fn *fn; /* NULL: findings are not wanted */
	void *arg;
};

/* A sample or a chain, as the one that may contradict what was known. */
struct join_half {
	uint16_t source;
	int32_t cpu; /* -1: unknown */
	int64_t time;
	uint32_t thread, process, event; /* row ids; 0: unknown or none */
	bool again;			 /* by counters_see() */
	bool late;			 /* newer records were read before */
};

/* Outputs a finding about the half, which clocks do not explain; it contradicts
 * a record at `since`. */
void contradiction_found(const struct contradictions *k, enum rule_number rule,
			 const struct join_half *half, int64_t since);
/* Returns whether the cookie was over, by a newer one of its thread, when this
 * half was made; then that is a finding. */
bool contradiction_is_over(const struct contradictions *k,
			   const struct cookie_entry *e,
			   const struct session *se,
			   const struct join_half *half);
/* Returns whether a chain was certainly made before its nonce was asked for, at
 * that time and CPU: clocks of CPUs may differ a little, as those of ftrace's
 * default clock do. */
bool contradiction_is_early(const struct join_chain *c, int64_t asked,
			    int32_t cpu);
/* Other cookies of a thread, if it had as many as are kept; NULL: it had
 * fewer. */
struct join_past {
	const struct cookie_entry *oldest, *newest;
};

/* Checks a cookie that is new for its thread. older: another thread's entry of
 * the same cookie; NULL: none. past, task: of the thread. */
void contradiction_new_cookie(const struct contradictions *k,
			      const struct cookie_entry *e,
			      const struct cookie_entry *older,
			      const struct join_past *past,
			      const struct session *se,
			      const struct join_task *task,
			      const struct join_half *half);
