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

/* The clocks that may explain a finding: those of its CPU and of `cpu` (-1:
 * none), if they differ by `by` ns; UINT64_MAX: none do. */
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

/* A sample or a chain that may contradict earlier records. */
struct join_half {
	uint16_t source;
	int32_t cpu; /* -1: unknown */
	int64_t time;
	uint32_t thread, process, event; /* row ids; 0: unknown or none */
	bool again;			 /* by counters_see() */
	bool late;			 /* newer records were read before */
};

/* Outputs a finding that clocks cannot explain: the half contradicts a record
 * at `since`. */
void contradiction_found(const struct contradictions *k, enum rule_number rule,
			 const struct join_half *half, int64_t since);
/* Returns whether a newer cookie of the thread had ended this cookie when the
 * half was made; reports that as a finding. */
bool contradiction_is_over(const struct contradictions *k,
			   const struct cookie_entry *e,
			   const struct session *se,
			   const struct join_half *half);
/* Returns whether a chain was certainly made before its nonce was requested, at
 * that time and on that CPU: clocks of CPUs may differ a little, as those of
 * ftrace's default clock do. */
bool contradiction_is_early(const struct join_chain *c, int64_t asked,
			    int32_t cpu);
/* The oldest and newest kept cookie of a thread; NULL: it had fewer than are
 * kept. */
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
